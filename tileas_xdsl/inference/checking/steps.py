"""Check of vectorised loops: declared padding, contiguous vector accesses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileas_xdsl.inference.checking.checked_program import CheckedProgram
from tileas_xdsl.inference.checking.findings import Finding, Rule, first, iteration
from tileas_xdsl.inference.checking.memory_offsets import byte_offsets
from tileas_xdsl.inference.decisions import LoopDecision
from tileas_xdsl.inference.program import Access, AccessKind, Buffer, Loop, Scope
from tileas_xdsl.layout.expr.tables import Table
from tileas_xdsl.target.arch import get_target


def hidden_padding(question: CheckedProgram) -> Iterator[Finding]:
    """Yield threads with fewer iterations than steps, in loops that declare no padding."""
    for number, loop, decision in question.loops:
        idle = decision.owners.held < 0
        busy = ~np.all(idle, axis=1, keepdims=True)
        if decision.is_padded:
            continue
        for thread, step in np.argwhere(idle & busy)[:1]:
            text = f"thread {thread} has nothing to do in step {step} of loop {number}"
            yield Finding(Rule.PADDING, f"{text}, which is not padded", loop.location)


def false_vectors(question: CheckedProgram) -> Iterator[Finding]:
    """Accesses of several steps at once to what is not adjacent, aligned and all inside."""
    for number, loop, decision in question.loops:
        if decision.vector == 1:
            continue
        yield from first(_torn_groups(number, loop, decision))
        for access in question.accesses(loop, Scope.GLOBAL, Scope.SHARED):
            if access.kind is not AccessKind.UPDATE:
                yield from first(_access(question, number, loop, decision, access))


def _groups(decision: LoopDecision) -> Table:
    """`(groups, vector)`: the iterations that run at once, -1 where a step is padding."""
    held, vector = decision.owners.held, decision.vector
    missing = -held.shape[1] % vector
    padded = np.pad(held, ((0, 0), (0, missing)), constant_values=-1)
    groups = padded.reshape(-1, vector)
    return groups[(groups >= 0).any(axis=1)]


def _torn_groups(number: int, loop: Loop, decision: LoopDecision) -> Iterator[Finding]:
    groups = _groups(decision)
    for row in np.flatnonzero((groups < 0).any(axis=1))[:1]:
        index = int(groups[row].max())
        text = (
            f"loop {number} takes {decision.vector} steps at once, and not all of them exist "
            f"beside {iteration(loop.extents, index)}"
        )
        yield Finding(Rule.VECTOR, text, loop.location)


def _access(
    question: CheckedProgram, number: int, loop: Loop, decision: LoopDecision, access: Access
) -> Iterator[Finding]:
    buffer = question.program.buffers[access.buffer]
    groups = _groups(decision)
    groups = groups[(groups >= 0).all(axis=1)]
    if None in access.indices:
        text = f"loop {number} reaches {access.buffer} at an index that depends on data"
        yield Finding(Rule.VECTOR, f"{text}, {decision.vector} at once", access.location)
        return
    for offsets in byte_offsets(question, loop, access):
        # (groups, vector, inner): an element that lies outside has the offset -1.
        yield from _apart(number, loop, decision, access, buffer, groups, offsets[groups])
    most = get_target(question.program.arch).vector_bytes
    if decision.vector * buffer.bits // 8 > most:
        text = f"loop {number} accesses {decision.vector * buffer.bits // 8} bytes at once"
        yield Finding(Rule.VECTOR, f"{text}: no more than {most} are possible", access.location)


def _apart(
    number: int,
    loop: Loop,
    decision: LoopDecision,
    access: Access,
    buffer: Buffer,
    groups: Table,
    offsets: Table,
) -> Iterator[Finding]:
    size = buffer.bits // 8
    begin, steps = offsets[:, :1], np.arange(decision.vector)[None, :, None] * size
    adjacent = (offsets == begin + steps).all(axis=1) & (begin[:, 0] % (size * steps.size) == 0)
    outside = (offsets < 0).all(axis=1)
    same = (offsets == begin).all(axis=1) & (begin[:, 0] >= 0)
    allowed = adjacent | outside | (same & (access.kind is AccessKind.READ))
    for row, column in np.argwhere(~allowed)[:1]:
        listed = ", ".join("outside" if o < 0 else str(int(o)) for o in offsets[row, :4, column])
        text = (
            f"loop {number} accesses {access.buffer} {decision.vector} at once at "
            f"{iteration(loop.extents, int(groups[row, 0]))}: the bytes {listed} are not "
            f"neighbours at a multiple of {size * steps.size}"
        )
        yield Finding(Rule.VECTOR, text, access.location)
