"""What a PTX text says of a kernel: instructions by unit, loops, shared memory, registers by type.

Cycles are not told: without tiles nothing says what a loop moves and computes.  With the arguments
of a launch a block runs on the emulator, and its accesses are counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.explanation.facts import AccessFacts, Json, LoopFacts, as_json
from tileas_xdsl.explanation.ptx.assembly import PtxAssembly
from tileas_xdsl.explanation.ptx.instructions import by_unit, loops_of
from tileas_xdsl.explanation.text import access_lines, loop_lines, occupancy_lines
from tileas_xdsl.interpreters.ptx.parsing.syntax import Kernel, PtxModule


@dataclass(frozen=True)
class PtxLoop:
    """Instructions between a label and a branch back to it."""

    label: str
    first_line: int
    last_line: int
    instructions: dict[str, int]
    """By unit."""


@dataclass(frozen=True)
class PtxKernelFacts:
    """What is known of one entry of a text."""

    name: str
    target: str
    instructions: dict[str, int]
    """By unit, of the text: how often they run is not told."""
    loops: tuple[PtxLoop, ...]
    shared: tuple[tuple[str, int], ...]
    """Variables in shared memory with their bytes; 0 for what a launch gives."""
    accesses: tuple[AccessFacts, ...] = ()
    accesses_unknown: str = ""
    """Why accesses are not counted."""
    assembly: PtxAssembly | None = None
    executed: tuple[LoopFacts, ...] = ()
    """What bounds the loops, where the accesses are counted."""

    def to_json(self) -> Json:
        """Return the facts as plain data."""
        return as_json(self)


def ptx_kernel_facts(
    module: PtxModule,
    kernel: Kernel,
    accesses: tuple[AccessFacts, ...],
    accesses_unknown: str,
    assembly: PtxAssembly | None,
    executed: tuple[LoopFacts, ...] = (),
) -> PtxKernelFacts:
    """Return what the text of a kernel says."""
    variables = [v for v in (*module.variables, *kernel.variables) if v.space == "shared"]
    return PtxKernelFacts(
        kernel.name,
        module.target,
        by_unit(kernel.code),
        tuple(_loops(kernel)),
        tuple((variable.name, variable.size) for variable in variables),
        accesses,
        accesses_unknown,
        assembly,
        executed,
    )


def _loops(kernel: Kernel) -> Iterator[PtxLoop]:
    for loop in loops_of(kernel):
        code = kernel.code[loop.first : loop.last + 1]
        lines = [instruction.location.line for instruction in code]
        yield PtxLoop(loop.label, min(lines), max(lines), by_unit(code))


def ptx_explanation(facts: PtxKernelFacts) -> str:
    """Return the facts as lines of text."""
    return "\n".join(_lines(facts))


def _lines(facts: PtxKernelFacts) -> Iterator[str]:
    yield f"@{facts.name} on {facts.target}, from PTX"
    yield f"{sum(facts.instructions.values())} instructions: {_counts(facts.instructions)}"
    for loop in facts.loops:
        yield f"loop {loop.label}, lines {loop.first_line} to {loop.last_line}"
        yield f"  {sum(loop.instructions.values())} instructions: {_counts(loop.instructions)}"
    if not facts.loops:
        yield "no loops"
    for one in facts.executed:
        yield from loop_lines(one)
    if facts.assembly is not None:
        yield from _assembly(facts.assembly)
    for name, size in facts.shared:
        yield f"shared memory {name}: {f'{size} bytes' if size else 'as the launch gives'}"
    if facts.accesses:
        yield from access_lines(facts.accesses, "accesses of the threads of the first block")
    else:
        yield f"accesses are not counted: {facts.accesses_unknown}"


def _assembly(found: PtxAssembly) -> Iterator[str]:
    yield from found.problems
    yield from (f"assembles with {one}" for one in found.works)
    if found.occupancy is not None:
        yield from occupancy_lines(found.occupancy)
    elif found.registers is not None:
        yield f"registers of a thread: {found.registers}, {found.spills} bytes spilled"
        yield "occupancy is not known: no .reqntid and no .maxntid says the threads of a block"


def _counts(found: dict[str, int]) -> str:
    return ", ".join(f"{count} {unit}" for unit, count in found.items())
