"""What a PTX text says of a kernel: instructions by unit, loops, shared memory, registers by type.

Cycles are not told: without tiles nothing says what a loop moves and computes.  With the arguments
of a launch a block runs on the emulator, and its accesses are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tileas_xdsl.explanation.facts import AccessFacts
from tileas_xdsl.explanation.text import access_lines
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction, Kernel, PtxModule

OTHERS = "arithmetic and moves"

_UNITS = (
    ("tensor core", ("wgmma.mma_async", "mma", "wmma", "tcgen05.mma")),
    ("TMA", ("cp.async.bulk", "cp.reduce.async.bulk")),
    ("tensor memory", ("tcgen05.ld", "tcgen05.st", "tcgen05.cp")),
    ("synchronisation", ("bar", "barrier", "mbarrier", "fence", "membar", "wgmma", "tcgen05")),
    ("special functions", ("ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh")),
    ("shared memory", ("ldmatrix", "stmatrix")),
    ("global memory", ("cp.async", "prefetch")),
    ("branches", ("bra", "brx", "ret", "exit", "call", "trap")),
)
"""By unit the begins of opcodes; the first that fits counts."""

_MEMORY = ("ld", "st", "atom", "red")
_SPACES = {"shared": "shared memory", "global": "global memory", "local": "local memory"}


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

    def to_json(self) -> dict[str, Any]:
        """Return the facts as plain data."""
        return asdict(self)


def ptx_kernel_facts(
    module: PtxModule,
    kernel: Kernel,
    accesses: tuple[AccessFacts, ...] = (),
    accesses_unknown: str = "",
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
    )


def by_unit(code: Sequence[Instruction]) -> dict[str, int]:
    """Count instructions by the unit that they are for, the most first."""
    return dict(Counter(map(unit_of, code)).most_common())


def unit_of(instruction: Instruction) -> str:
    """Return the unit that an instruction is for."""
    parts = instruction.parts
    if parts[0] in _MEMORY:
        spaces = (part.partition("::")[0] for part in parts)
        return next((_SPACES[space] for space in spaces if space in _SPACES), "other memory")
    opcode = f"{instruction.opcode}."
    for unit, begins in _UNITS:
        if any(opcode.startswith(f"{begin}.") for begin in begins):
            return unit
    return OTHERS


def _loops(kernel: Kernel) -> Iterator[PtxLoop]:
    """Yield the ranges that a branch goes back over, the shortest once for each label."""
    found: dict[str, int] = {}
    for at, instruction in enumerate(kernel.code):
        if instruction.parts[0] != "bra":
            continue
        for word in re.findall(r"[$\w]+", instruction.text):
            if word in kernel.labels and kernel.labels[word] <= at:
                found[word] = max(at, found.get(word, 0))
    for label, last in found.items():
        code = kernel.code[kernel.labels[label] : last + 1]
        lines = [instruction.location.line for instruction in code]
        yield PtxLoop(label, min(lines), max(lines), by_unit(code))


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
    for name, size in facts.shared:
        yield f"shared memory {name}: {f'{size} bytes' if size else 'as the launch gives'}"
    if facts.accesses:
        yield from access_lines(facts.accesses, "accesses of the threads of the first block")
    else:
        yield f"accesses are not counted: {facts.accesses_unknown}"


def _counts(found: dict[str, int]) -> str:
    return ", ".join(f"{count} {unit}" for unit, count in found.items())
