"""What accesses of threads to memory cost: one block of the PTX runs, and its accesses are counted.

Counts are exact for that block: wavefronts by the banks that the lanes of each access name, sectors
by their addresses.  Without arguments, arrays are made for the signature, large enough that the
tiles of the first block lie inside of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.diagnostics.emission import DiagnosticError
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.explanation.facts import AccessFacts
from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Extent,
    Leaf,
    Parameter,
    TupleParameter,
)
from tileas_xdsl.interpreters.ptx import LaunchError, PtxError
from tileas_xdsl.interpreters.ptx.memory.access_counts import AccessCount
from tileas_xdsl.interpreters.tile.arguments import ArgumentError
from tileas_xdsl.layout.integers import align_up

INSTRUCTIONS = 200_000
"""After so many a run ends: loops repeat their accesses."""

EXTENTS = (1 << 16, 1 << 10, 1 << 7, 1 << 5)
"""Extents of arrays of one to four dimensions that a signature leaves open."""

INDICES = 64
"""Integers of arrays are below this, as they may be indices."""


class UnknownArgumentError(Exception):
    """A parameter whose value a signature does not tell."""


def access_facts(
    compiled: CompiledKernel, arguments: Sequence[Any] | None, grid: tuple[int, int, int] | None
) -> tuple[tuple[AccessFacts, ...], str]:
    """Return the costs of accesses by source line, the costliest first; or why there are none."""
    if compiled.interface is None:
        return (), "the passes do not lower the kernel to PTX"
    try:
        given = made_arguments(compiled) if arguments is None else arguments
        run = compiled.emulate(
            *given, grid=grid or 1, checks=False, limit=INSTRUCTIONS, count_accesses=1
        )
    except UnknownArgumentError as error:
        return (), str(error)
    except (LaunchError, PtxError, ArgumentError, DiagnosticError) as error:
        return (), f"a block did not run on the emulator: {str(error).splitlines()[0]}"
    return merged(run.accesses), ""


def merged(counts: Sequence[AccessCount]) -> tuple[AccessFacts, ...]:
    """Sum what one source line does by one kind of instruction."""
    found: dict[tuple[Location | None, str, str], list[AccessCount]] = {}
    for count in counts:
        key = (_location(count), count.instruction.opcode, count.memory)
        found.setdefault(key, []).append(count)
    facts = [
        AccessFacts(
            *key,
            sum(one.accesses for one in same),
            sum(one.bytes for one in same),
            sum(one.transactions for one in same),
            sum(one.ideal for one in same),
        )
        for key, same in found.items()
    ]
    return tuple(sorted(facts, key=lambda one: (-one.excess, -one.transactions)))


def _location(count: AccessCount) -> Location | None:
    origin = count.instruction.origin
    return None if origin is None else Location(origin.path, origin.line, origin.column)


def made_arguments(compiled: CompiledKernel) -> Sequence[Any]:
    """Return arguments for a kernel of cuTile by its signature.

    Raises `UnknownArgumentError` for numbers that only a launch knows, and for other kernels.
    """
    if compiled.parameters is None:
        text = "say --grid and --arg for each argument: the kernel has no signature to make them of"
        raise UnknownArgumentError(text)
    generator = np.random.default_rng(0)
    return [_made(parameter, generator) for parameter in compiled.parameters]


def _made(parameter: Parameter, generator: np.random.Generator) -> Any:
    if isinstance(parameter, TupleParameter):
        return tuple(_made(item, generator) for item in parameter.items)
    return _leaf(parameter, generator)


def _leaf(parameter: Leaf, generator: np.random.Generator) -> Any:
    if isinstance(parameter, ConstantParameter):
        return parameter.value
    if not isinstance(parameter, ArrayParameter):
        what = f"say --grid and --arg for each argument: nothing tells '{parameter.name}'"
        raise UnknownArgumentError(what)
    usual = EXTENTS[min(len(parameter.shape), len(EXTENTS)) - 1] if parameter.shape else 1
    shape = [_extent(extent, usual) for extent in parameter.shape]
    dtype = _dtype(parameter.element)
    if dtype.kind in "iub":
        return generator.integers(0, INDICES, shape).astype(dtype)
    return generator.uniform(-1, 1, shape).astype(dtype)


def _dtype(element: str) -> np.dtype[Any]:
    """The type of numpy for an element as `cuda.tile` calls it; tf32 is kept as f32."""
    name = "float32" if element == "tfloat32" else element.removesuffix("_")
    return np.dtype(getattr(ml_dtypes, name, name))


def _extent(extent: Extent, usual: int) -> int:
    if extent.constant is not None:
        return extent.constant
    return align_up(usual, extent.divisor)
