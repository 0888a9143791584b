"""Why a kernel is refused: what costs the memory that it lacks, and what change would compile.

The last tiles before the refusal tell which values registers and shared memory hold.  The change is
found by trying: constants of the signature are halved, fewest halvings first, and what is named has
been compiled, by ptxas without spills where it is installed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.analysis.memory.shared_memory import allocated_tiles, tile_bytes
from tileas_xdsl.backend.nvidia_tools import MissingToolError
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.diagnostics.emission import DiagnosticError
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpec, KernelSpecAttr
from tileas_xdsl.explanation.facts import Json, Reason, RegisterHolder, TileLayout, as_json
from tileas_xdsl.explanation.layouts import tile_layouts
from tileas_xdsl.explanation.reasons import reasons_in
from tileas_xdsl.explanation.register_holders import register_holders, type_text
from tileas_xdsl.explanation.snapshots import UNLAID, Snapshots
from tileas_xdsl.frontend.signature import ConstantParameter, Parameter
from tileas_xdsl.target.arch import Target

SHARED_MEMORY, REGISTERS = "shared memory", "registers"

_LACKED: Mapping[str, re.Pattern[str]] = {
    SHARED_MEMORY: re.compile(r"\d+ bytes of shared memory"),
    REGISTERS: re.compile(r"\d+ registers"),
}
"""By resource: what a message says that lacks it.  Verbatim texts say it in a note."""

MAX_HALVINGS = 4
"""Of all constants together."""

SMALLEST = 16
"""Constants that are halved stay at least this: products take no fewer rows, columns or depth."""


@dataclass(frozen=True)
class SharedTile:
    """A tile that is kept in shared memory."""

    type: str
    bytes: int
    location: Location | None


@dataclass(frozen=True)
class Attempt:
    """A change of constants that was compiled."""

    constants: tuple[tuple[str, int], ...]
    """Those that differ from the refused ones, with their new values."""
    problem: str
    """Why it is refused too; empty if it compiles without spills."""


@dataclass(frozen=True)
class Refusal:
    """A kernel that does not compile."""

    target: str
    errors: tuple[str, ...]
    lacks: tuple[str, ...]
    """`shared memory` and `registers`, if the errors say that a block has too little of it."""
    registers: tuple[RegisterHolder, ...]
    """Tiles where most are live, the largest first."""
    shared: tuple[SharedTile, ...]
    """Tiles that shared memory keeps, the largest first."""
    reasons: tuple[Reason, ...]
    layouts: tuple[TileLayout, ...]
    attempts: tuple[Attempt, ...]
    """The changes that were tried, in order."""

    @property
    def works(self) -> Sequence[Attempt]:
        """The smallest changes that compile."""
        return [one for one in self.attempts if not one.problem]

    def to_json(self) -> Json:
        """Return the refusal as what `json.dumps` takes."""
        return as_json(self)


Compile = Callable[[Sequence[Parameter]], CompiledKernel]
"""Compile the kernel with other constants; raises `DiagnosticError`."""


def refusal(
    error: DiagnosticError,
    snapshots: Snapshots,
    target: Target,
    parameters: Sequence[Parameter] | None,
    compile_with: Compile | None,
) -> Refusal:
    """Return why a kernel was refused; `compile_with` tries constants where it has some."""
    modules, lacks = snapshots.modules, lacked(error)
    last = list(modules.values())[-1] if modules else None
    attempts: Sequence[Attempt] = ()
    if lacks and parameters is not None and compile_with is not None:
        attempts = smaller_constants(parameters, compile_with)
    return Refusal(
        target.name,
        tuple(str(one) for one in error.diagnostics),
        lacks,
        () if last is None else register_holders(last, _warps(last), target),
        () if last is None else tuple(_shared_tiles(last)),
        tuple(reasons_in(modules.values())),
        _layouts(modules.get(UNLAID), target),
        tuple(attempts),
    )


def lacked(error: DiagnosticError) -> tuple[str, ...]:
    """Return the resources that a kernel was refused for."""
    texts = [one.message for report in error.diagnostics for one in (report, *report.notes)]
    return tuple(
        what for what, pattern in _LACKED.items() if any(pattern.search(text) for text in texts)
    )


def _warps(module: ModuleOp) -> int:
    for op in module.ops:
        spec = op.attributes.get(KERNEL_SPEC) if isinstance(op, func.FuncOp) else None
        if isinstance(spec, KernelSpecAttr):
            return spec.data.num_warps
    return KernelSpec().num_warps


def _shared_tiles(module: ModuleOp) -> Sequence[SharedTile]:
    found = [
        SharedTile(type_text(type_), tile_bytes(type_), location_of(op))
        for op, type_ in allocated_tiles(module)
    ]
    return sorted(found, key=lambda one: -one.bytes)


def _layouts(unlaid: ModuleOp | None, target: Target) -> tuple[TileLayout, ...]:
    """The layouts that are possible, where their choice is not what is refused."""
    try:
        return () if unlaid is None else tile_layouts(unlaid, target)
    except DiagnosticError:
        return ()


# Smaller constants


def smaller_constants(parameters: Sequence[Parameter], compile_with: Compile) -> Sequence[Attempt]:
    """Halve constants until some compile: all ways with the fewest halvings are tried."""
    constants = {
        one.name: one.value
        for one in parameters
        if isinstance(one, ConstantParameter) and _can_shrink(one.value)
    }
    attempts: list[Attempt] = []
    for halvings in range(1, MAX_HALVINGS + 1):
        found = [_attempt(parameters, made, compile_with) for made in _made(constants, halvings)]
        attempts += found
        if any(not one.problem for one in found):
            break
    return attempts


def _can_shrink(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 2 * SMALLEST


def _made(constants: Mapping[str, int], halvings: int) -> Iterator[Mapping[str, int]]:
    """Yield what constants become by so many halvings in all."""
    names = list(constants)
    for shifts in product(range(halvings + 1), repeat=len(names)):
        made = {name: constants[name] >> by for name, by in zip(names, shifts, strict=True) if by}
        is_whole = all(
            constants[name] % (1 << by) == 0 and constants[name] >> by >= SMALLEST
            for name, by in zip(names, shifts, strict=True)
            if by
        )
        if sum(shifts) == halvings and is_whole:
            yield made


def with_constants(
    parameters: Sequence[Parameter], values: Mapping[str, object]
) -> Sequence[Parameter]:
    """Return parameters with other values of constants."""
    return [
        ConstantParameter(one.name, values[one.name])
        if isinstance(one, ConstantParameter) and one.name in values
        else one
        for one in parameters
    ]


def _attempt(
    parameters: Sequence[Parameter], values: Mapping[str, int], compile_with: Compile
) -> Attempt:
    return Attempt(
        tuple(values.items()), problem_of(compile_with, with_constants(parameters, values))
    )


def problem_of(compile_with: Compile, parameters: Sequence[Parameter]) -> str:
    """Return why a kernel does not compile with these parameters, or spills; empty if neither."""
    try:
        made = compile_with(parameters)
        spilled = made.assemble().spills
    except MissingToolError:
        return ""
    except DiagnosticError as error:
        return error.diagnostics[0].text
    return f"{spilled} bytes are spilled" if spilled else ""
