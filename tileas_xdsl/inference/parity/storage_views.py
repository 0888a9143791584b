"""Layouts of reinterpreting views of one storage."""

from __future__ import annotations

from math import gcd, prod

import numpy as np

from tileas_xdsl.inference.decisions import InferenceError
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import Buffer
from tileas_xdsl.layout.expr.expression import Number, dimension, substituted, symbol
from tileas_xdsl.layout.expr.simplification import simplified


def viewed(layout: FragmentMap, buffer: Buffer, view: Buffer) -> FragmentMap:
    """The layout of a view of `buffer`, whose elements may have other bits.

    Raises InferenceError where elements of one would be split between threads of the other.
    """
    if buffer.shape == view.shape and buffer.bits == view.bits:
        return layout
    if prod(buffer.shape) * buffer.bits != prod(view.shape) * view.bits:
        raise InferenceError(
            f"'{view.name}' is a view of '{buffer.name}', of other bits in all", view.location
        )
    common = gcd(buffer.bits, view.bits)
    narrow, wide = buffer.bits // common, view.bits // common
    flat = 0
    for k, extent in enumerate(view.shape):
        flat = flat * extent + dimension(k)
    first = flat * wide // narrow
    coordinates: list[Number] = []
    for k, extent in enumerate(buffer.shape):
        coordinate = first // prod(buffer.shape[k + 1 :])
        coordinates.append(coordinate % extent if k else coordinate)
    thread = substituted(layout.thread, coordinates, [symbol(0)])
    slot = substituted(layout.slot, coordinates, [])
    slot = (slot * narrow + flat * wide % narrow) // wide
    result = FragmentMap(
        view.shape,
        simplified(thread, view.shape, (layout.replicas,)),
        simplified(slot, view.shape),
        layout.threads,
        layout.replicas,
    )
    if not _is_whole(layout, wide, narrow):
        raise InferenceError(
            f"elements of '{view.name}' are split between registers of '{buffer.name}'",
            view.location,
        )
    return result


def _is_whole(layout: FragmentMap, wide: int, narrow: int) -> bool:
    """Return whether the parts of each wider element are adjacent slots of one thread."""
    if narrow % wide == 0:
        return True
    if wide % narrow:
        return False
    parts = wide // narrow
    threads = layout.thread_table.reshape(layout.replicas, -1, parts)
    slots = layout.slot_table.reshape(-1, parts)
    is_side_by_side = (slots == slots[:, :1] + np.arange(parts)).all()
    return bool(
        (threads == threads[..., :1]).all() and is_side_by_side and not (slots[:, 0] % parts).any()
    )
