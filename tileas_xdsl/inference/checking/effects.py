"""Check that a layout does not repeat or reorder side effects of a loop.

Two rules, decided on tables of (element, iteration) pairs, by enumeration:

* a loop whose iterations run on several threads (replicas) must not store to shared or global
  memory more than once per iteration, unless the decision says that one replica stores
  (`runs_once`); nor may a replica read what another has already overwritten:

      for i in parallel(64), 128 threads:  s[i] = s[i] + 1; f[i] = s[i]    thread 64 reads s[0] + 1

* iterations are unordered: two that write one element, or one that reads what another writes, race
  under any layout. `for i, j: m[i] = max(m[i], x[i, j])` is reported as a reduction in disguise.

Shares no code with inference: it is its judge (`checking/`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileas_xdsl.inference.checking.checked_program import (
    CheckedProgram,
    Mask,
    elements,
    executors,
    extents_of,
    is_effect,
    is_replicated,
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
from tileas_xdsl.inference.program import Access, AccessKind, Buffer, Loop, Scope
from tileas_xdsl.layout.expr.tables import Table

MEMORY = (Scope.GLOBAL, Scope.SHARED)


def repeated_effects(question: CheckedProgram) -> Iterator[Finding]:
    """Iterations that several threads run and whose stores no thread leaves to the others."""
    for number, loop, decision in question.loops:
        if not is_replicated(decision.owners):
            continue
        yield from first(_repeated(question, number, loop, decision))
        yield from first(_overtaken(question, number, loop, decision))


def _repeated(
    question: CheckedProgram, number: int, loop: Loop, decision: LoopDecision
) -> Iterator[Finding]:
    if decision.runs_once:
        return
    row, threads = _copies(decision)
    for access in question.accesses(loop, *MEMORY):
        if is_effect(access):
            text = (
                f"{access.buffer} is changed by {threads_text(threads)}, which all run "
                f"{iteration(loop.extents, row)} of loop {number}"
            )
            yield Finding(Rule.COPIES, text, access.location)


def _copies(decision: LoopDecision) -> tuple[int, list[int]]:
    """An iteration that runs on several threads, and these."""
    threads = executors(decision)
    row = int(np.argmax((threads != threads[:1]).any(axis=0)))
    return row, sorted(set(threads[:, row].tolist()))


def _overtaken(
    question: CheckedProgram, number: int, loop: Loop, decision: LoopDecision
) -> Iterator[Finding]:
    """Find a replica that stores to memory which another replica may still have to read."""
    if not any(is_effect(a) for a in question.accesses(loop, Scope.FRAGMENT)):
        return
    copied = executors(decision)
    copied = (copied != copied[:1]).any(axis=0)
    for read in question.accesses(loop, *MEMORY):
        for write in question.accesses(loop, *MEMORY):
            if is_effect(read) or not is_effect(write):
                continue
            row = _overlap(question, loop, read, write, copied)
            if row is not None:
                threads = threads_text(executors(decision)[:, row])
                text = (
                    f"{threads} run {iteration(loop.extents, row)} of loop {number}, which reads "
                    f"{read.buffer} and changes it: one may read what another has stored"
                )
                yield Finding(Rule.COPIES, text, read.location)


def _overlap(
    question: CheckedProgram, loop: Loop, read: Access, write: Access, copied: Mask
) -> int | None:
    """Return a replicated iteration that both reads and writes one element, if there is one."""
    buffers = question.program.buffers
    a, b = buffers[read.buffer], buffers[write.buffer]
    if _storage(a) != _storage(b):
        return None
    if a.name != b.name:
        return int(np.argmax(copied))
    for symbols in samples((*read.indices, *write.indices), extents_of(a))[:4]:
        reads, writes = (_pairs(loop, access, a, symbols) for access in (read, write))
        both = np.isin(_keys(reads, loop), _keys(writes, loop))
        rows = reads[both, 1]
        if copied[rows].any():
            return int(rows[copied[rows]][0])
    return None


def _storage(buffer: Buffer) -> str:
    return buffer.storage or buffer.name


def dependent_iterations(question: CheckedProgram) -> Iterator[Finding]:
    """Iterations that write one element, or of which one reads what another writes."""
    for number, loop, _ in question.loops:
        for name in dict.fromkeys(a.buffer for a in loop.accesses if _is_plain_write(a)):
            if question.scope(name) is not Scope.LOCAL:
                buffer = question.program.buffers[name]
                yield from first(_dependent(number, loop, buffer))


def _is_plain_write(access: Access) -> bool:
    return access.kind is AccessKind.WRITE and _is_certain(access)


def _is_certain(access: Access) -> bool:
    return not access.is_guarded and None not in access.indices


def _dependent(number: int, loop: Loop, buffer: Buffer) -> Iterator[Finding]:
    accesses = [a for a in loop.accesses if a.buffer == buffer.name and _is_certain(a)]
    shape = extents_of(buffer)
    tried = samples((e for a in accesses for e in a.indices), (*shape, *loop.extents))
    for symbols in tried[:4]:
        written = np.empty((0, 2), dtype=np.int64)
        for access in accesses:
            if access.kind is AccessKind.WRITE:
                pairs = _pairs(loop, access, buffer, symbols)
                written = np.unique(np.concatenate([written, pairs]), axis=0)
                yield from _two_writers(number, loop, access, buffer, written)
        for access in accesses:
            if access.kind is AccessKind.READ:
                pairs = _pairs(loop, access, buffer, symbols)
                yield from _reader(number, loop, access, buffer, pairs, written)


def _two_writers(
    number: int, loop: Loop, access: Access, buffer: Buffer, written: Table
) -> Iterator[Finding]:
    for k in np.flatnonzero(written[1:, 0] == written[:-1, 0])[:1]:
        a, b = (iteration(loop.extents, int(written[r, 1])) for r in (k, k + 1))
        at = element(buffer.name, extents_of(buffer), int(written[k, 0]))
        text = f"{at} is written by {a} and by {b} of loop {number}: a reduction in disguise"
        yield Finding(Rule.RACE, text, access.location)


def _reader(
    number: int, loop: Loop, access: Access, buffer: Buffer, pairs: Table, written: Table
) -> Iterator[Finding]:
    if not written.size:
        return
    at = np.minimum(np.searchsorted(written[:, 0], pairs[:, 0]), written.shape[0] - 1)
    wrong = (written[at, 0] == pairs[:, 0]) & (written[at, 1] != pairs[:, 1])
    for k in np.flatnonzero(wrong)[:1]:
        reads, writes = (iteration(loop.extents, int(r)) for r in (pairs[k, 1], written[at[k], 1]))
        what = element(buffer.name, extents_of(buffer), int(pairs[k, 0]))
        text = f"{what} is read by {reads} and written by {writes} of loop {number}"
        yield Finding(Rule.RACE, text, access.location)


def _pairs(loop: Loop, access: Access, buffer: Buffer, symbols: list[int]) -> Table:
    """Return the pairs (element, iteration) of an access, `(n, 2)`, sorted and unique."""
    touched = elements(loop, access, buffer, symbols)
    rows = np.broadcast_to(np.arange(loop.total)[:, None], touched.shape)
    pairs = np.stack([touched.ravel(), rows.ravel()], axis=1)
    return np.unique(pairs[pairs[:, 0] >= 0], axis=0)


def _keys(pairs: Table, loop: Loop) -> Table:
    """Encode each pair as one integer."""
    return pairs[:, 0] * loop.total + pairs[:, 1]
