"""Legality of layouts: threads own the elements their iterations access, or a counterexample.

A read needs the element in every thread that runs the iteration; a write is run by exactly the
threads that own the element; the result of a reduction is owned where operands of it are.
Registers have no addresses: where threads have an element in different slots at one step, code has
to select.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import FragmentUse, point_of
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.layout.expr.tables import Table, distinct


class ViolationKind(StrEnum):
    """What is wrong with an access."""

    STRANGER = "a thread does not hold the element"
    IDLE_OWNER = "a thread that holds the element does not run the iteration"
    UNKNOWN = "any element may be touched"


@dataclass(frozen=True)
class Violation:
    """Iteration `iteration` touches `element` on thread `thread`; `owners` hold it."""

    fault: ViolationKind
    use: FragmentUse
    iteration: tuple[int, ...] = ()
    element: tuple[int, ...] = ()
    owners: tuple[int, ...] = ()
    thread: int = 0


def violation(runs: FragmentMap, use: FragmentUse, layout: FragmentMap) -> Violation | None:
    """Return the first violation of an access by the iterations of `runs` to a fragment `layout`.

    Return None if the access is legal.  The order is that of replicas, iterations and columns.
    """
    if runs == layout and use.is_identity:
        return None
    elements = use.elements
    everywhere = layout.is_fully_replicated
    if elements is None:
        is_same = not use.access.writes or runs.is_fully_replicated
        return None if everywhere and is_same else _any(use)
    if not everywhere:
        found = _unowned_access(runs, use, elements, layout)
        if found is not None:
            return found
    if use.access.writes or use.combines:
        return _idle_owner(runs, use, elements, layout)
    return None


def _any(use: FragmentUse) -> Violation:
    return Violation(ViolationKind.UNKNOWN, use)


def _violation(
    fault: ViolationKind, use: FragmentUse, layout: FragmentMap, row: int, flat: int, thread: int
) -> Violation:
    owners = np.unique(layout.thread_table.reshape(layout.replicas, -1)[:, flat])
    return Violation(
        fault,
        use,
        point_of(row, use.extents),
        point_of(flat, use.buffer.shape),
        tuple(int(t) for t in owners),
        thread,
    )


def _held(layout: FragmentMap, threads: Table, elements: Table) -> NDArray[np.bool_]:
    """`(replicas, iterations, columns)`: whether these threads hold these elements."""
    slots = layout.slot_table.ravel()[elements]
    return layout.held[threads[:, :, None], slots[None]] == elements[None]


def _unowned_access(
    runs: FragmentMap, use: FragmentUse, elements: Table, layout: FragmentMap
) -> Violation | None:
    """Return the first access of a thread to an element that the layout gives to other threads."""
    if use.combines or layout.is_fully_replicated:
        return None
    threads = runs.thread_table.reshape(runs.replicas, -1)
    wrong = ~_held(layout, threads, elements) & (elements >= 0)[None]
    if not wrong.any():
        return None
    replica, row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    flat, thread = int(elements[row, column]), int(threads[replica, row])
    return _violation(ViolationKind.STRANGER, use, layout, int(row), flat, thread)


def _idle_owner(
    runs: FragmentMap, use: FragmentUse, elements: Table, layout: FragmentMap
) -> Violation | None:
    if use.combines:
        return _partless(runs, use, elements, layout)
    if runs.replicas == 1 and layout.replicas == 1:
        return None
    running, owning = runs.owner_counts, layout.owner_counts
    wrong = (elements >= 0) & (owning[elements] != running[:, None])
    if not wrong.any():
        return None
    row, column = (int(n) for n in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    flat = int(elements[row, column])
    violation = _violation(ViolationKind.IDLE_OWNER, use, layout, row, flat, 0)
    own = set(runs.thread_table.reshape(runs.replicas, -1)[:, row].tolist())
    idle = [t for t in violation.owners if t not in own]
    return Violation(
        violation.fault,
        use,
        violation.iteration,
        violation.element,
        violation.owners,
        idle[0],
    )


def _partless(
    runs: FragmentMap, use: FragmentUse, elements: Table, layout: FragmentMap
) -> Violation | None:
    """An owner of a result that has no part of it."""
    threads = runs.thread_table.reshape(runs.replicas, -1)
    slots = layout.slot_table.ravel()[elements]
    hits = layout.held[threads[:, :, None], slots[None]] == elements[None]
    served = np.zeros(layout.held.shape, dtype=np.bool_)
    owners = np.broadcast_to(threads[:, :, None], hits.shape)[hits]
    served[owners, np.broadcast_to(slots[None], hits.shape)[hits]] = True
    missing = (layout.held >= 0) & ~served
    if not missing.any():
        return None
    thread, slot = (int(n) for n in np.unravel_index(int(np.argmax(missing)), missing.shape))
    flat = int(layout.held[thread, slot])
    row = int(np.argmax((elements == flat).any(axis=1)))
    return _violation(ViolationKind.IDLE_OWNER, use, layout, row, flat, thread)


def selections(runs: FragmentMap, use: FragmentUse, layout: FragmentMap) -> int:
    """How many selects each thread needs, since others have what it touches in other slots."""
    elements = use.elements
    if (runs == layout and use.is_identity) or elements is None or layout.slots == 1:
        return 0
    columns = elements.shape[1]
    order = np.arange(columns, dtype=np.int64)
    steps: Table = runs.slot_table.ravel()[:, None] * columns + order
    inside = elements >= 0
    slots = layout.slot_table.ravel()[elements[inside]]
    keys: Table = steps[inside] * layout.slots + slots
    registers = distinct(keys, runs.slots * columns * layout.slots)
    return len(registers) - len(distinct(registers // layout.slots, runs.slots * columns))


def is_overtaken(item: WorkItem, runs: FragmentMap) -> bool:
    """Whether a copy of an iteration may read memory after another copy has changed it."""
    if runs.replicas == 1 or not any(use.access.writes for use in item.uses):
        return False
    written = {use.buffer.name for use in item.memory if use.access.writes}
    return any(not use.access.writes and use.buffer.name in written for use in item.memory)
