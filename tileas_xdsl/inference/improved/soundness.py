"""Reject loops whose iterations race on an element under any layout.

Iterations of a parallel loop run in any order, on any thread.  Three tables of element indices,
`(iterations, columns)`, decide whether a loop depends on that order:

    f[i + 1] with i < extent       an index outside of a fragment          _check_bounds
    s[i // 4] = a[i]               two iterations write one element        _check_once
    f[i] = f[i - 1]                one reads what another one writes       _check_apart

Guarded accesses and those whose index depends on data are not judged: they may be right.  Symbols
(values that all iterations share) are tried at one value, since a conflict at one is a conflict.
"""

from __future__ import annotations

from itertools import product as pairs
from math import prod

import numpy as np

from tileas_xdsl.inference.decisions import InferenceError, Note
from tileas_xdsl.inference.improved.accesses.fragment_access import (
    FragmentUse,
    access_symbols,
    point_of,
)
from tileas_xdsl.inference.improved.accesses.memory_access import MemoryUse
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.inference.program import AccessKind, Loop, Scope
from tileas_xdsl.layout.expr.tables import Table, evaluated


def check_sound(item: WorkItem) -> None:
    """Raise `InferenceError` where a loop leaves a fragment or has iterations that interfere."""
    if not isinstance(item.operation, Loop):
        return
    for use in item.uses:
        _check_bounds(use, item)
        if use.access.kind is AccessKind.UPDATE:
            raise InferenceError(
                f"an atomic update of {use.name}, a fragment: registers belong to one thread; "
                f"reduce with tl.reduce, or update shared or global memory",
                use.access.location or item.location,
            )
    writes = [a for a in (*item.uses, *item.memory) if _is_plain_write(a)]
    for write in writes:
        _check_once(write, item)
    reads = [a for a in (*item.uses, *item.memory) if a.access.kind is AccessKind.READ]
    # Iterations run in any order, so a read must not reach what another iteration writes. An access
    # under a condition, or at an index from data, is trusted: that may keep them apart.
    for write, read in pairs(writes, reads):
        if write.access.buffer == read.access.buffer and read.access.is_certain:
            _check_apart(write, read, item)


def _is_plain_write(access: FragmentUse | MemoryUse) -> bool:
    return access.access.kind is AccessKind.WRITE and access.access.is_certain


def _check_bounds(use: FragmentUse, item: WorkItem) -> None:
    elements = use.elements
    if elements is None or not use.access.is_certain:
        return
    if use.symbols and elements.shape[1] == 0:
        raise InferenceError(
            f"{use.name}[{_indices(use)}] is outside of {list(use.buffer.shape)} in some "
            f"iteration, whatever its symbols are",
            use.access.location or item.location,
        )
    if (elements >= 0).all():
        return
    row = int(np.argmax((elements < 0).any(axis=1)))
    raise InferenceError(
        f"iteration {_brackets(point_of(row, use.extents))} of {item.subject} touches "
        f"{use.name}[{_indices(use, point_of(row, use.extents))}], outside of "
        f"{list(use.buffer.shape)}",
        use.access.location or item.location,
    )


def _indices(access: FragmentUse | MemoryUse, point: tuple[int, ...] = ()) -> str:
    """What an access touches: numbers where the point of an iteration decides them."""
    is_decided = bool(point) and not access.inner and not access_symbols(access.access)
    return ", ".join(
        "?" if i is None else str(evaluated(i, point)) if is_decided else str(i)
        for i in access.access.indices
    )


def _brackets(point: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, point))})"


def _first_column(access: FragmentUse | MemoryUse) -> Table | None:
    """`(iterations, columns)` keys of the elements at one value of the symbols; -1: dropped."""
    if isinstance(access, FragmentUse):
        if access.elements is None or access.elements.shape[1] == 0:
            return None
        return access.elements if not access.symbols else access.elements[:, :1]
    if access.inner or access.offsets is None or access.indices is None:
        return None
    inside = np.ones(prod(access.extents), dtype=np.bool_)
    for index, extent in zip(access.indices, access.buffer.shape, strict=True):
        inside &= (index >= 0) & ((index < extent) | (extent < 0))
    return np.where(inside, access.offsets, -1)[:, None]


def _check_once(write: FragmentUse | MemoryUse, item: WorkItem) -> None:
    """Reject two iterations that write one element: a reduction not expressed as one."""
    keys = _first_column(write)
    if keys is None or (isinstance(write, FragmentUse) and write.is_identity):
        return
    rows = np.repeat(np.arange(len(keys)), keys.shape[1])
    flat = keys.ravel()
    order = np.lexsort((rows, flat))
    flat, rows = flat[order], rows[order]
    clash = (flat[1:] == flat[:-1]) & (rows[1:] != rows[:-1]) & (flat[1:] >= 0)
    if not clash.any():
        return
    at = int(np.argmax(clash))
    first, second = (_brackets(point_of(int(r), write.extents)) for r in rows[at : at + 2])
    raise InferenceError(
        f"iterations {first} and {second} of {item.subject} both write "
        f"{_element(write, int(flat[at]))}: a reduction in disguise; use tl.reduce, a serial loop "
        f"inside, or tl.atomic_add",
        write.access.location or item.location,
    )


def _element(access: FragmentUse | MemoryUse, key: int) -> str:
    shape = tuple(n if n >= 0 else 1 << 20 for n in access.buffer.shape)
    return f"{access.buffer.name}[{', '.join(map(str, point_of(key, shape)))}]"


def _check_apart(
    write: FragmentUse | MemoryUse, read: FragmentUse | MemoryUse, item: WorkItem
) -> None:
    """One iteration reads what another writes: the result would depend on their order."""
    if write.access.indices == read.access.indices or item.extents == ():
        return
    symbols = [*access_symbols(write.access), *access_symbols(read.access)]
    written, seen = _first_column(write), _first_column(read)
    if symbols or written is None or seen is None or _is_dynamic(write):
        return
    writers = np.full(int(max(written.max(), seen.max(), 0)) + 1, -1, dtype=np.int64)
    rows = np.repeat(np.arange(len(written)), written.shape[1]).reshape(written.shape)
    inside = written >= 0
    writers[written[inside]] = rows[inside]
    others = np.where(seen >= 0, writers[seen], -1)
    wrong = (others >= 0) & (others != np.arange(len(seen))[:, None])
    if not wrong.any():
        return
    row, column = (int(n) for n in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    other = point_of(int(others[row, column]), write.extents)
    raise InferenceError(
        f"iteration {_brackets(point_of(row, read.extents))} of {item.subject} reads "
        f"{_element(read, int(seen[row, column]))}, which iteration {_brackets(other)} writes: "
        f"iterations are independent; write to another buffer",
        read.access.location or item.location,
        (Note(write.access.location or item.location, "written here"),),
    )


def _is_dynamic(access: FragmentUse | MemoryUse) -> bool:
    return access.buffer.scope is Scope.GLOBAL and min(access.buffer.shape, default=0) < 0
