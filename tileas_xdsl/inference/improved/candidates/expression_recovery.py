"""Quasi-affine expressions for tables of threads and slots.

An expression is read off the digits of a table and certified against it, so that any composition
of layouts and indices comes back in its simplest form.
"""

from __future__ import annotations

import numpy as np

from tileas_xdsl.inference.fragment_map import REPLICA, FragmentMap
from tileas_xdsl.layout.expr.expression import Number
from tileas_xdsl.layout.expr.tables import Table, expression_of, linearized, variables_of_box


def slot_expression(slots: Table) -> Number | None:
    """`slots`, a table over a box, as an expression over its coordinates; None if none is found."""
    variables = variables_of_box(slots.ndim)
    found = expression_of(slots, variables)
    if found is not None:
        return found
    return expression_of(slots.ravel(), [linearized(variables, slots.shape)])


def thread_expression(threads: Table) -> Number | None:
    """`threads`, `(replicas, *shape)`, over coordinates and replica; None if none is found."""
    shape = threads.shape[1:]
    variables = variables_of_box(len(shape))
    if len(threads) == 1:
        return slot_expression(threads[0])
    found = expression_of(np.moveaxis(threads, 0, -1), (*variables, REPLICA))
    if found is not None:
        return found
    flat = threads.reshape(len(threads), -1).T
    return expression_of(flat, (linearized(variables, shape), REPLICA))


def map_of(threads: Table, slots: Table, block: int) -> FragmentMap | None:
    """The map with these tables, `(replicas, *shape)` and `shape`; None if no expression is found.

    A table of threads that no digits describe may still be one where `map_from` has expressions.
    """
    return map_from(threads, None, slots, None, block)


def map_from(
    threads: Table,
    thread: Number | None,
    slots: Table,
    slot: Number | None,
    block: int,
) -> FragmentMap | None:
    """`map_of`; where digits fail, with the expressions `thread` and `slot` that give the tables.

    None also where a thread is outside of the block.
    """
    if threads.size and (threads.min() < 0 or threads.max() >= block):
        return None
    found_thread, found_slot = thread_expression(threads), slot_expression(slots)
    thread = thread if found_thread is None else found_thread
    slot = slot if found_slot is None else found_slot
    if thread is None or slot is None:
        return None
    return FragmentMap(slots.shape, thread, slot, block, len(threads))
