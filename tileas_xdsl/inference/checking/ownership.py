"""Check of ownership: threads own the fragment elements that their iterations access."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileas_xdsl.inference.checking.checked_program import (
    CheckedProgram,
    Mask,
    elements,
    executors,
    holders,
    is_effect,
    samples,
)
from tileas_xdsl.inference.checking.findings import (
    Finding,
    Rule,
    element,
    first,
    iteration,
    threads_text,
)
from tileas_xdsl.inference.decisions import LoopDecision
from tileas_xdsl.inference.program import Access, AccessKind, Loop, Scope
from tileas_xdsl.layout.expr.tables import Table

MAX_SAMPLES = 256
"""How many values of variables outside of the loop are tried: all rows of most fragments."""


def wrong_owners(question: CheckedProgram) -> Iterator[Finding]:
    """Accesses of fragments by threads that do not hold the element, or by too few of those."""
    for number, loop, decision in question.loops:
        for access in question.accesses(loop, Scope.FRAGMENT):
            yield from first(_access(question, number, loop, decision, access))


def _access(
    question: CheckedProgram, number: int, loop: Loop, decision: LoopDecision, access: Access
) -> Iterator[Finding]:
    buffer = question.program.buffers[access.buffer]
    layout = question.layout(number, access.buffer)
    if access.kind is AccessKind.UPDATE:
        text = f"an atomic update of {access.buffer}: registers have none"
        yield Finding(Rule.WRITE, text, access.location)
        return
    held, threads = holders(layout), executors(decision)
    for symbols in samples(access.indices, buffer.shape, at_most=MAX_SAMPLES):
        touched = elements(loop, access, buffer, symbols)
        yield from _beyond(loop, access, touched, symbols)
        yield from _strangers(question, number, loop, access, touched, held, threads)
        if is_effect(access):
            yield from _idle_owners(question, number, loop, access, touched, held, decision)


def _beyond(loop: Loop, access: Access, touched: Table, symbols: list[int]) -> Iterator[Finding]:
    """An access that goes outside of a fragment whatever the data are."""
    if symbols or access.is_guarded:
        return
    for row, _ in np.argwhere(touched < 0)[:1]:
        text = f"{iteration(loop.extents, int(row))} is outside of {access.buffer}"
        yield Finding(Rule.BOUNDS, text, access.location)


def _strangers(
    question: CheckedProgram,
    number: int,
    loop: Loop,
    access: Access,
    touched: Table,
    held: Mask,
    threads: Table,
) -> Iterator[Finding]:
    """Threads that run an iteration and do not hold what it touches."""
    if held.all():
        return
    for row_threads in threads:
        wrong = (touched >= 0) & ~held[touched, row_threads[:, None]]
        for row, column in np.argwhere(wrong)[:1]:
            index = int(touched[row, column])
            verb = "writes" if is_effect(access) else "reads"
            text = (
                f"{element(access.buffer, question.program.buffers[access.buffer].shape, index)} "
                f"lives in {threads_text(np.flatnonzero(held[index]))}; "
                f"loop {number} ({loop.location}) {verb} it on thread {int(row_threads[row])}, "
                f"which runs {iteration(loop.extents, int(row))}"
            )
            rule = Rule.WRITE if is_effect(access) else Rule.READ
            yield Finding(rule, text, access.location)
            return


def _idle_owners(
    question: CheckedProgram,
    number: int,
    loop: Loop,
    access: Access,
    touched: Table,
    held: Mask,
    decision: LoopDecision,
) -> Iterator[Finding]:
    """Threads that hold an element and do not run the iteration which writes it."""
    runs = holders(decision.owners)
    owners, running = held.sum(axis=1), runs.sum(axis=1)
    wrong = (touched >= 0) & (owners[touched] > running[:, None])
    for row, column in np.argwhere(wrong)[:1]:
        index = int(touched[row, column])
        idle = np.flatnonzero(held[index] & ~runs[row])
        text = (
            f"{element(access.buffer, question.program.buffers[access.buffer].shape, index)} "
            f"lives in {threads_text(np.flatnonzero(held[index]))}; loop {number} "
            f"({loop.location}) does not run {iteration(loop.extents, int(row))}, "
            f"which writes it, on {threads_text(idle)}"
        )
        yield Finding(Rule.WRITE, text, access.location)
