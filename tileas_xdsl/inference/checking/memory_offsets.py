"""Check of memory addresses: byte offsets of accesses to global and shared buffers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tileas_xdsl.inference.checking.checked_program import (
    CheckedProgram,
    elements,
    extents_of,
    samples,
)
from tileas_xdsl.inference.checking.findings import Finding, Rule, element
from tileas_xdsl.inference.program import Access, Buffer, Loop, Scope
from tileas_xdsl.layout.expr.tables import Table
from tileas_xdsl.layout.tables import table


def wrong_shared_layouts(question: CheckedProgram) -> Iterator[Finding]:
    """Layouts of shared buffers of another size, with overlaps, or that views do not share."""
    for name, layout in question.decisions.shared.items():
        buffer = question.program.buffers.get(name)
        if buffer is None or buffer.scope is not Scope.SHARED:
            yield Finding(Rule.SHARED, f"{name} has a layout and is no shared buffer")
        elif layout.size() != int(np.prod(buffer.shape)):
            text = (
                f"the layout of {name}, {layout}, does not have its {list(buffer.shape)} elements"
            )
            yield Finding(Rule.SHARED, text, buffer.location)
        else:
            yield from _overlaps(question, buffer)
    yield from _split_views(question)


def _overlaps(question: CheckedProgram, buffer: Buffer) -> Iterator[Finding]:
    offsets, size = shared_offsets(question, buffer), buffer.bits // 8
    order = np.argsort(offsets, kind="stable")
    if offsets[order[0]] < 0:
        at = element(buffer.name, buffer.shape, int(order[0]))
        text = f"{at} lies at byte {int(offsets[order[0]])}, before its buffer"
        yield Finding(Rule.SHARED, text, buffer.location)
        return
    for index in np.flatnonzero(offsets % size)[:1]:
        at = element(buffer.name, buffer.shape, int(index))
        text = f"{at} lies at byte {int(offsets[index])}: no multiple of its {size} bytes"
        yield Finding(Rule.SHARED, text, buffer.location)
        return
    for k in np.flatnonzero(np.diff(offsets[order]) < size)[:1]:
        a, b = (element(buffer.name, buffer.shape, int(order[n])) for n in (k, k + 1))
        text = f"{a} and {b} overlap at byte {int(offsets[order[k + 1]])}"
        yield Finding(Rule.SHARED, text, buffer.location)


def _split_views(question: CheckedProgram) -> Iterator[Finding]:
    by_storage: dict[str, list[Buffer]] = {}
    for buffer in question.program.buffers.values():
        if buffer.scope is Scope.SHARED:
            by_storage.setdefault(buffer.storage or buffer.name, []).append(buffer)
    for views in by_storage.values():
        for a, b in pairwise(views):
            wide, narrow = (a, b) if a.bits >= b.bits else (b, a)
            parts = np.arange(int(np.prod(narrow.shape)))
            ratio = wide.bits // narrow.bits
            if parts.size != ratio * int(np.prod(wide.shape)):
                continue
            ours = shared_offsets(question, wide)[parts // ratio]
            ours = ours + parts % ratio * (narrow.bits // 8)
            for index in np.flatnonzero(ours != shared_offsets(question, narrow))[:1]:
                one = element(wide.name, wide.shape, int(index) // ratio)
                other = element(narrow.name, narrow.shape, int(index))
                text = f"{one} and {other} are views of one value, at different bytes"
                yield Finding(Rule.ALIAS, text, b.location)


def shared_offsets(question: CheckedProgram, buffer: Buffer) -> Table:
    """The byte offset of each element, by its row-major index; row-major where none is decided."""
    layout = question.decisions.shared.get(buffer.name)
    if layout is None:
        return np.arange(int(np.prod(buffer.shape)), dtype=np.int64) * (buffer.bits // 8)
    return table(layout).reshape(buffer.shape, order="F").ravel()


def byte_offsets(question: CheckedProgram, loop: Loop, access: Access) -> Iterator[Table]:
    """`(iterations, inner)` byte offsets of an access, -1 outside; for some values of symbols."""
    buffer = question.program.buffers[access.buffer]
    for symbols in samples(access.indices, extents_of(buffer)):
        indices = elements(loop, access, buffer, symbols)
        if buffer.scope is Scope.GLOBAL:
            yield np.where(indices < 0, -1, indices * (buffer.bits // 8))
        else:
            yield np.where(indices < 0, -1, shared_offsets(question, buffer)[indices])
