"""From `#tl.fragment` to the function it stands for, and back."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from tileas_xdsl.dialects.affine_expressions import affine_map_of
from tileas_xdsl.dialects.tl.attributes import FragmentAttr
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.expr.expression import Number
from tileas_xdsl.layout.expr.tables import Table, expression_of, variables_of_box

MAX_POSITIONS = 1 << 24
"""The elements of a layout times their copies, at most."""


class FragmentError(ValueError):
    """An attribute that is no layout of a box of elements on a block of threads."""


@lru_cache(maxsize=256)
def layout_of(attribute: FragmentAttr, shape: tuple[int, ...], threads: int) -> FragmentMap:
    """The layout of a box of extents `shape` on `threads` threads; raises `FragmentError`."""
    map_ = attribute.map.data
    if map_.num_dims != len(shape):
        raise FragmentError(f"has {map_.num_dims} dimensions for extents {list(shape)}")
    replicas = attribute.replicas.data
    if (positions := prod(shape) * replicas) > MAX_POSITIONS:
        raise FragmentError(f"has {positions} places, of which at most {MAX_POSITIONS} are checked")
    slot = attribute.slot
    layout = FragmentMap(shape, attribute.thread, 0 if slot is None else slot, threads, replicas)
    try:
        _check_threads(layout)
        least = 0 if slot is None else int(layout.slot_table.min(initial=0))
    except OverflowError:
        raise FragmentError("has a constant of more than 64 bits") from None
    if slot is None:
        layout = FragmentMap(shape, layout.thread, _slots_left(layout), threads, replicas)
    if least < 0:
        raise FragmentError(f"gives slot {least}, but slots count from 0")
    if not layout.is_injective:
        raise FragmentError(_collision(layout))
    return layout


def attribute_of(layout: FragmentMap) -> FragmentAttr:
    """The attribute that stands for a layout, its slots written out."""
    symbols = 1 if layout.replicas > 1 else 0
    map_ = affine_map_of(len(layout.shape), symbols, (layout.thread, layout.slot))
    return FragmentAttr(map_, layout.replicas)


def _check_threads(layout: FragmentMap) -> None:
    table = layout.thread_table
    wrong = np.argwhere((table < 0) | (table >= layout.threads))
    if not len(wrong):
        return
    copy, *coordinates = (int(i) for i in wrong[0])
    thread = int(table[(copy, *coordinates)])
    of = f" (copy {copy})" if layout.replicas > 1 else ""
    raise FragmentError(
        f"puts {coordinates}{of} on thread {thread}, but the block has {layout.threads}"
    )


def _collision(layout: FragmentMap) -> str:
    """Which two elements share a slot of a thread."""
    slots = np.broadcast_to(layout.slot_table, layout.thread_table.shape)
    held: dict[tuple[int, int], list[int]] = {}
    for index in np.ndindex(layout.thread_table.shape):
        coordinates = [int(i) for i in index[1:]]
        key = int(layout.thread_table[index]), int(slots[index])
        if (other := held.setdefault(key, coordinates)) != coordinates:
            return f"puts both {other} and {coordinates} into slot {key[1]} of thread {key[0]}"
    raise AssertionError("an injective layout has no collision")


def _slots_left(layout: FragmentMap) -> Number:
    """The row-major number of an element among those that its thread holds, as an expression."""
    ranks = _ranks(layout.thread_table[0])
    found = expression_of(ranks, variables_of_box(len(layout.shape)))
    if found is None:
        raise FragmentError(f"has no simple slots for thread {layout.thread}: give the slot too")
    return found


def _ranks(owners: Table) -> Table:
    """For each element how many of the same owner come before it, row-major."""
    flat = owners.ravel()
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    starts = np.searchsorted(ordered, ordered)
    result = np.empty(flat.size, dtype=np.int64)
    result[order] = np.arange(flat.size) - starts
    return result.reshape(owners.shape)
