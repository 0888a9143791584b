"""Derive a loop's layout from a buffer it accesses, and a buffer's from a loop.

Both directions are relational images of tables, so that they exist for every access; what may fail
is to find expressions for the result.  With `owner(e)` the threads that hold element e:

    pulled: iteration i runs on owner(index(i))                   (read or write where data is)
    pushed: element e is held by {thread(i) : index(i) = e}       (data goes where it is used)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tileas_xdsl.inference.fragment_map import REPLICA, FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import FragmentUse
from tileas_xdsl.inference.improved.candidates.expression_recovery import map_from, map_of
from tileas_xdsl.layout.expr.expression import substituted
from tileas_xdsl.layout.expr.tables import Table, distinct, linearized, variables_of_box

Known = Sequence[tuple[FragmentUse, FragmentMap]]
"""Accesses to buffers that have a layout."""


def ranks(keys: Table) -> Table:
    """Return the index of each key among the distinct ones."""
    return np.unique(keys, return_inverse=True)[1].ravel().astype(np.int64)


def places_in_group(groups: Table) -> Table:
    """How many earlier entries each entry has in its group."""
    order = np.argsort(groups, kind="stable")
    sorted_groups = groups[order]
    begins = np.flatnonzero(np.r_[True, sorted_groups[1:] != sorted_groups[:-1]])
    lengths = np.diff(np.r_[begins, len(groups)])
    result = np.empty(len(groups), dtype=np.int64)
    result[order] = np.arange(len(groups)) - np.repeat(begins, lengths)
    return result


def steps_for(threads: Table, known: Known) -> Table:
    """A step for each iteration: one for each combination of slots, more where a thread has more.

    `threads` is `(iterations,)`.  The slots of all known accesses are then the same in all threads.
    """
    keys = np.zeros(len(threads), dtype=np.int64)
    for use, layout in known:
        elements = use.elements
        if elements is None or elements.shape[1] == 0:
            continue
        slots = layout.slot_table.ravel()[elements[:, 0]]
        keys = ranks(keys * layout.slots + np.where(elements[:, 0] >= 0, slots, 0))
    extra = places_in_group(keys * (int(threads.max(initial=0)) + 1) + threads)
    return keys * (int(extra.max(initial=0)) + 1) + extra


def pulled(
    use: FragmentUse, layout: FragmentMap, known: Known, spread: int = 0, every_copy: bool = True
) -> FragmentMap | None:
    """Map iterations to the owners of the elements of `use`; None where no expression is found.

    The thread is that of the first column.  With `spread`, the replicas of an element divide its
    iterations among them, `spread` adjacent ones at a time; else all replicas run them, or without
    `every_copy` the first one.
    """
    if is_direct(use, layout, known) and every_copy and not spread:
        return FragmentMap(use.extents, layout.thread, layout.slot, layout.threads, layout.replicas)
    replica = REPLICA if every_copy else 0
    if spread:
        box = [use.extents[k] for k in use.free]
        variables = variables_of_box(len(use.extents))
        free = linearized([variables[k] for k in use.free], box)
        replica = free // spread % layout.replicas
    thread = substituted(layout.thread, use.at_rest, [replica])
    copies = layout.replicas if every_copy and not spread else 1
    slot = substituted(layout.slot, use.at_rest, [])
    probe = FragmentMap(use.extents, thread, slot, layout.threads, copies)
    threads = probe.thread_table
    if threads.size == 0 or threads.min() < 0 or threads.max() >= layout.threads:
        return None
    steps = steps_for(threads[0].ravel(), known).reshape(use.extents)
    same = np.array_equal(probe.slot_table, steps)
    return map_from(threads, thread, steps, slot if same else None, layout.threads)


def is_direct(use: FragmentUse, layout: FragmentMap, known: Known) -> bool:
    """Whether the layout of the buffer is that of the loop as it stands."""
    return use.is_identity and all(u.is_identity and m == layout for u, m in known)


def pushed(runs: FragmentMap, use: FragmentUse) -> FragmentMap | None:
    """The buffer where iterations that touch its elements run.

    None where some element is touched by none, or by unequal numbers of threads, or no expression
    is found.
    """
    if use.is_identity:
        return FragmentMap(use.buffer.shape, runs.thread, runs.slot, runs.threads, runs.replicas)
    elements = use.elements
    if elements is None or elements.shape[1] == 0:
        return None
    count = prod(use.buffer.shape)
    touched = np.bincount(elements.ravel()[elements.ravel() >= 0], minlength=count)
    if not touched.all():
        return None
    threads = _owners(runs, elements, count)
    if threads is None:
        return None
    slots = _slots(runs, elements, threads[0], count)
    shape = use.buffer.shape
    found = map_of(threads.reshape(len(threads), *shape), slots.reshape(shape), runs.threads)
    return found if found is not None and found.is_injective else None


def _owners(runs: FragmentMap, elements: Table, count: int) -> Table | None:
    """`(copies, elements)`: the threads that touch each element, ascending; all are touched."""
    if runs.is_fully_replicated:
        return np.repeat(np.arange(runs.threads)[:, None], count, axis=1)
    threads = runs.thread_table.reshape(runs.replicas, -1, 1)
    keys = elements[None] * runs.threads + threads
    touched = keys[np.broadcast_to(elements[None] >= 0, keys.shape)]
    keys = distinct(touched, count * runs.threads)
    if len(keys) % count:
        return None
    copies = len(keys) // count
    if not np.array_equal(keys // runs.threads, np.repeat(np.arange(count), copies)):
        return None
    return (keys % runs.threads).reshape(count, copies).T


def _slots(runs: FragmentMap, elements: Table, threads: Table, count: int) -> Table:
    """One slot for each element, in the order of the steps that touch it first."""
    columns = elements.shape[1]
    order = np.arange(columns, dtype=np.int64)
    steps: Table = runs.slot_table.ravel()[:, None] * columns + order
    first = np.full(count, np.iinfo(np.int64).max)
    inside = elements >= 0
    np.minimum.at(first, elements[inside], steps[inside])
    keys = ranks(first)
    extra = places_in_group(keys * runs.threads + threads)
    return keys * (int(extra.max(initial=0)) + 1) + extra
