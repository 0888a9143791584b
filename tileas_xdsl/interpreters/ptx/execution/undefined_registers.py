"""Registers that are read although no instruction on any path before has written them.

A forward analysis of "may be written" over basic blocks, with registers as bits of an integer.  It
never blames a register that some path defines:

        @p bra L;            written here: {}
        mov.u32 %r1, 1;      written here: {%r1}
    L:  add.u32 %r2, %r1, %r3;      %r1 may be written; %r3 never is
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from tileas_xdsl.interpreters.ptx.checking.reports.findings import Severity
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Step
from tileas_xdsl.interpreters.ptx.parsing.syntax import (
    Address,
    Instruction,
    Kernel,
    Register,
    Symbol,
)

PASSES_BITS_ON = {"mov", "cvt", "prmt", "selp", "shfl", "st", "bfi", "shf"}
"""Instructions that move bits without looking at them: compilers pass undefined halves and lanes
through them, so that only a note says it."""


class Accesses(Protocol):
    """The registers that an instruction reads and writes (`instructions.base.Site`)."""

    read: list[int]
    written: list[int]


def undefined_reads(kernel: Kernel, accesses: Sequence[Accesses]) -> Mapping[int, list[int]]:
    """Return, by instruction, the registers it reads that no path has written."""
    if not kernel.code:
        return {}
    blocks = basic_blocks(kernel)
    written = {start: _bits(accesses[start:end]) for start, (end, _) in blocks.items()}
    entry = dict.fromkeys(blocks, -1)
    entry[0] = 0
    todo = [0]
    while todo:
        start = todo.pop()
        leaving = entry[start] | written[start]
        for target in blocks[start][1]:
            joined = leaving if entry[target] < 0 else entry[target] | leaving
            if joined != entry[target]:
                entry[target] = joined
                todo.append(target)
    found: dict[int, list[int]] = {}
    for start, (end, _) in blocks.items():
        _check_block(range(start, end), entry[start], accesses, found)
    return found


def _check_block(
    block: range, known: int, accesses: Sequence[Accesses], found: dict[int, list[int]]
) -> None:
    if known < 0:
        return
    for at in block:
        missing = [slot for slot in accesses[at].read if not known >> slot & 1]
        if missing:
            found[at] = missing
        for slot in accesses[at].written:
            known |= 1 << slot


def _bits(accesses: Sequence[Accesses]) -> int:
    found = 0
    for slot in {slot for one in accesses for slot in one.written}:
        found |= 1 << slot
    return found


def basic_blocks(kernel: Kernel) -> dict[int, tuple[int, tuple[int, ...]]]:
    """Return by first instruction of a basic block its end and its successors."""
    code, count = kernel.code, len(kernel.code)
    jumps = {at: _targets(kernel, i) for at, i in enumerate(code) if _ends_block(i)}
    starts = {0, *(at + 1 for at in jumps), *(t for targets in jumps.values() for t in targets)}
    ordered = sorted(start for start in starts if start < count)
    found: dict[int, tuple[int, tuple[int, ...]]] = {}
    for start, end in zip(ordered, [*ordered[1:], count], strict=True):
        last = code[end - 1]
        after = jumps.get(end - 1, ())
        if not _ends_block(last) or last.guard is not None:
            after = (*after, end)
        found[start] = end, tuple(target for target in after if target < count)
    return found


def _ends_block(instruction: Instruction) -> bool:
    return instruction.parts[0] in ("bra", "brx", "ret", "exit", "trap")


def _targets(kernel: Kernel, instruction: Instruction) -> tuple[int, ...]:
    name = instruction.operands[-1] if instruction.operands else None
    if not isinstance(name, Symbol):
        return ()
    if instruction.parts[0] == "brx":
        labels = kernel.branch_targets.get(name.name, ())
        return tuple(kernel.labels[label] for label in labels)
    return (kernel.labels[name.name],)


def passes_on(instruction: Instruction, names: Collection[str]) -> bool:
    """Return whether an instruction only moves the bits of some registers, not as an address."""
    bases = [o.base for o in instruction.operands if isinstance(o, Address)]
    addresses = {base.name for base in bases if isinstance(base, Register)}
    return instruction.parts[0] in PASSES_BITS_ON and addresses.isdisjoint(names)


def with_undefined_registers(step: Step, names: Sequence[str], *, only_passed: bool) -> Step:
    """Return a step that reports registers which nothing has written, when it executes."""
    report = _reporter(", ".join(names), Severity.NOTE if only_passed else None)

    def run(f: ConvergenceGroup) -> int | None:
        report(f)
        return step(f)

    return run


def _reporter(names: str, severity: Severity | None) -> Callable[[ConvergenceGroup], None]:
    def report(f: ConvergenceGroup) -> None:
        checker = f.warpgroup.cta.cluster.checker
        if checker is None:
            return
        checker.findings.add(
            "undefined-register",
            f.pc,
            f"reads {names}, which no instruction on any path before has written",
            ["hint: its value is whatever the register held"],
            severity=severity,
        )

    return report
