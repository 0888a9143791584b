"""What accesses of threads to memory cost: one block of the PTX runs, and its accesses are counted.

Counts are exact for that block: wavefronts by the banks that the lanes of each access name, sectors
by their addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.diagnostics.errors import ArgumentError, DiagnosticError
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.explanation.bounds.made_arguments import UnknownArgumentError, made_arguments
from tileas_xdsl.explanation.facts import AccessFacts
from tileas_xdsl.interpreters.ptx import LaunchError, PtxError
from tileas_xdsl.interpreters.ptx.memory.access_counts import AccessCount
from tileas_xdsl.runtime.emulation import Emulation

INSTRUCTIONS = 200_000
"""After so many a run ends: loops repeat their accesses."""


def counted_run(
    compiled: CompiledKernel, arguments: Sequence[Any] | None, grid: tuple[int, int, int] | None
) -> Emulation | str:
    """Return a run of one block that counts, or why there is none."""
    if compiled.interface is None:
        return "the passes do not lower the kernel to PTX"
    try:
        given = made_arguments(compiled) if arguments is None else arguments
        return compiled.emulate(
            *given, grid=grid or 1, checks=False, limit=INSTRUCTIONS, count_accesses=1
        )
    except UnknownArgumentError as error:
        return str(error)
    except (LaunchError, PtxError, ArgumentError, DiagnosticError) as error:
        return f"a block did not run on the emulator: {str(error).splitlines()[0]}"


def merged(counts: Iterable[AccessCount]) -> tuple[AccessFacts, ...]:
    """Sum what one source line does by one kind of instruction, the costliest first."""
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
