"""Registers that some paths or predicates leave unwritten: tracked by lane while a kernel runs.

Which they are is known before: a forward analysis of "must be written" names the registers that
may be read undefined, and what is computed from those.  Each of them gets a predicate that says in
which lanes it is defined; other registers cost nothing:

    @p bra L;          %r0 is a candidate: one way to L does not write it
    mov.u32 %r0, 4;    defined(%r0) = true
L:  add.u32 %r1, %r0, 1;        defined(%r1) = defined(%r0)
    st.global.u32 [%rd0], %r1;  reported in the lanes that took the jump

As in other tools of the kind, a value matters when a branch, an address or a store uses it.  Of the
operands of `selp` only the one that a lane selects counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Value, first_lane, predicate_mask
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.execution.undefined_registers import Accesses, basic_blocks
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Step
from tileas_xdsl.interpreters.ptx.parsing.syntax import Address, Instruction, Kernel
from tileas_xdsl.layout.units import WARP

STORES = ("st", "red", "atom")
"""Instructions whose values leave the thread."""


@dataclass(frozen=True)
class Tracked:
    """What an instruction does with registers that may be undefined, by slot."""

    sources: tuple[int, ...]
    written: tuple[int, ...]
    matters: bool
    """Whether it uses its sources in a way that shows."""


def partly_undefined(
    kernel: Kernel,
    accesses: Sequence[Accesses],
    semantics: Sequence[Semantics],
    ignored: Collection[int],
) -> Mapping[int, Tracked]:
    """Return, by instruction, what has to be tracked; empty where all is written before it is
    read."""
    candidates = _candidates(kernel, accesses) - {*ignored}
    if not candidates:
        return {}
    derived = set(candidates)
    before = -1
    while before != len(derived):
        before = len(derived)
        for one, of, code in zip(accesses, semantics, kernel.code, strict=True):
            if _passes(of, code) and not derived.isdisjoint(one.read):
                derived.update(slot for slot in one.written if slot not in ignored)
    found: dict[int, Tracked] = {}
    for at, (one, of, code) in enumerate(zip(accesses, semantics, kernel.code, strict=True)):
        sources = tuple(s for s in dict.fromkeys(one.read) if s in derived)
        written = tuple(s for s in dict.fromkeys(one.written) if s in derived)
        if sources or written:
            found[at] = Tracked(sources, written, _matters(of, code))
    return found


def _passes(semantics: Semantics, instruction: Instruction) -> bool:
    """Return whether the result of an instruction is as defined as its operands, lane by lane."""
    has_address = any(isinstance(o, Address) for o in instruction.operands)
    return not semantics.waits and not has_address


def _matters(semantics: Semantics, instruction: Instruction) -> bool:
    has_address = any(isinstance(o, Address) for o in instruction.operands)
    return has_address or semantics.name.startswith(("bra", "brx", *STORES))


def _candidates(kernel: Kernel, accesses: Sequence[Accesses]) -> set[int]:
    """Return the registers that are read where not every path has written them."""
    if not kernel.code:
        return set()
    blocks = basic_blocks(kernel)
    entry = dict.fromkeys(blocks, -1)
    entry[0] = 0
    written = {
        start: _surely(kernel, accesses, range(start, end)) for start, (end, _) in blocks.items()
    }
    todo = [0]
    seen: set[int] = set()
    while todo:
        start = todo.pop()
        seen.add(start)
        leaving = entry[start] | written[start]
        for target in blocks[start][1]:
            joined = entry[target] & leaving
            if joined != entry[target] or target not in seen:
                entry[target] = joined
                todo.append(target)
                seen.add(target)
    ever = {slot for one in accesses for slot in one.written}
    found: set[int] = set()
    for start in seen:
        known = entry[start]
        for at in range(start, blocks[start][0]):
            found.update(s for s in accesses[at].read if not known >> s & 1)
            known |= _surely(kernel, accesses, range(at, at + 1))
    return found & ever


def _surely(kernel: Kernel, accesses: Sequence[Accesses], part: range) -> int:
    """Return the registers that instructions without a guard write, as bits."""
    found = 0
    for at in part:
        if kernel.code[at].guard is None:
            for slot in accesses[at].written:
                found |= 1 << slot
    return found


@dataclass(frozen=True)
class Selection:
    """The slots of a `selp`: its predicate, and what says whether each operand is defined."""

    predicate: int
    defined: tuple[int | None, int | None, int | None]
    """Of the first and the second operand and of the predicate; None where it always is."""
    written: int


def with_selected_definedness(step: Step, selection: Selection) -> Step:
    """Return a step of `selp`: the result is as defined as the operand that each lane selects."""

    def run(f: ConvergenceGroup) -> int | None:
        r = f.r
        first, second, of_predicate = (True if s is None else r[s] for s in selection.defined)
        p = r[selection.predicate]
        if p.__class__ is np.ndarray:
            known: Value = np.where(p, first, second)
        else:
            known = first if p else second
        stopped = step(f)
        r[selection.written] = known if of_predicate is True else known & of_predicate
        return stopped

    return run


def with_definedness(
    step: Step, tracked: Tracked, defined: Mapping[int, int], names: Mapping[int, str]
) -> Step:
    """Return a step that tracks definedness: `defined` are the slots of the predicates."""
    sources = [(slot, defined[slot]) for slot in tracked.sources]
    written = [defined[slot] for slot in tracked.written]

    def run(f: ConvergenceGroup) -> int | None:
        known: Value = True
        for slot, predicate in sources:
            mine = f.r[predicate]
            if mine is True:
                continue
            if tracked.matters and predicate_mask(mine, f.mask) != f.mask:
                _report(f, names[slot], f.mask & ~predicate_mask(mine, f.mask))
            known = mine if known is True else known & mine
        stopped = step(f)
        for predicate in written:
            f.r[predicate] = True if tracked.matters else known
        return stopped

    return run


def _report(f: ConvergenceGroup, name: str, lanes: int) -> None:
    checker = f.warpgroup.cta.cluster.checker
    if checker is None:
        return
    lane = first_lane(lanes)
    who = f"lane {lane % WARP} of warp {f.warpgroup.first_warp + lane // WARP}"
    checker.findings.add(
        "undefined-register",
        f.pc,
        f"uses {name}, which is not defined in {who}: no instruction that it executed wrote it, or "
        "what it was computed from",
        ["hint: a branch or predicate left it out; its value is whatever the register held"],
    )
