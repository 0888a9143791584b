"""Bytes of global memory that a loop moves, as TileLang's io-aware model estimates them.

A statement costs the larger of what its warps fetch, in segments of 128 bytes, and of what all
threads could have fetched in as many steps.  What has no closed form costs a segment per element.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.default_slots import with_replica_last
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import DYNAMIC, Access, AccessKind, Loop, Program, Scope
from tileas_xdsl.layout.expr.digits import digits_of
from tileas_xdsl.layout.expr.expression import Number, dimension, substituted, symbols_of
from tileas_xdsl.layout.expr.tables import Table, table_of
from tileas_xdsl.layout.units import WARP

SEGMENT = 128
"""Bytes that a warp fetches at once."""


@dataclass(frozen=True)
class Stream:
    """The elements of one access, by an address over the iteration; `size` is in bytes."""

    address: Number | None
    size: int
    is_store: bool
    repeat: int


def traffic(program: Program, loop: Loop, owners: FragmentMap) -> int:
    """What the accesses of a loop to global memory cost in bytes."""
    streams = tuple(
        _stream(program, loop, access)
        for access in loop.accesses
        if program.buffers[access.buffer].scope is Scope.GLOBAL
    )
    if not streams:
        return 0
    scopes = {program.buffers[access.buffer].scope for access in loop.accesses}
    is_wide = program.arch.startswith("sm_10") and Scope.SHARED not in scopes
    measured = _measured(streams, owners, 32 if is_wide else 16)
    if measured is None:
        return sum(loop.total * stream.repeat * SEGMENT for stream in streams)
    return measured


def _stream(program: Program, loop: Loop, access: Access) -> Stream:
    buffer = program.buffers[access.buffer]
    size = max(1, buffer.bits // 8)
    is_store = access.kind is not AccessKind.READ
    repeat = prod(loop.inner)
    if DYNAMIC in buffer.shape or None in access.indices or buffer.bits < 8:
        return Stream(None, size, is_store, repeat)
    address: Number = 0
    for index, extent in zip(access.indices, buffer.shape, strict=True):
        if index is not None:
            address = address * extent + index
    symbols = [0] * (max(symbols_of(address), default=-1) + 1)
    own = [dimension(k) for k in range(len(loop.extents))]
    others = [0] * len(loop.inner)
    return Stream(substituted(address, [*own, *others], symbols), size, is_store, repeat)


@lru_cache(maxsize=1 << 10)
def _measured(streams: tuple[Stream, ...], owners: FragmentMap, lane_bytes: int) -> int | None:
    """The cost of all streams together, or None where the layout or an address has no digits."""
    cells = _cells(owners)
    if cells is None:
        return None
    addresses: list[Table] = []
    for stream in streams:
        if stream.address is None or SEGMENT % stream.size:
            return None
        if digits_of(stream.address, owners.shape) is None:
            return None
        addresses.append(_by_cell(stream.address, owners, cells))
    sizes = [stream.size for stream in streams]
    width = _width(addresses, min(owners.slots, *(lane_bytes // size for size in sizes)))
    steps, threads = owners.slots // width, len(cells)
    issued = sum(steps * stream.repeat * threads * lane_bytes for stream in streams)
    replica = cells // prod(owners.shape)
    fetched = 0
    for stream, address in zip(streams, addresses, strict=True):
        asleep = replica[:, ::width] != 0 if stream.is_store else None
        segments = _segments(address[:, ::width], width, SEGMENT // stream.size, asleep)
        fetched += stream.repeat * segments * SEGMENT
    return max(fetched, issued)


def _cells(owners: FragmentMap) -> Table | None:
    """`(threads, slots)`: the row-major number of replica and iteration, where all are taken."""
    threads = int(owners.thread_table.max(initial=0)) + 1
    if threads * owners.slots != owners.thread_table.size:
        return None
    extents = (*owners.shape, owners.replicas)
    cell = with_replica_last(owners.thread, len(owners.shape)) * owners.slots + owners.slot
    if digits_of(cell, extents) is None:
        return None
    result = np.full((threads, owners.slots), -1, dtype=np.int64)
    points = np.arange(owners.thread_table.size).reshape(owners.thread_table.shape)
    result[owners.thread_table, np.broadcast_to(owners.slot_table, points.shape)] = points
    return None if (result < 0).any() else result


def _by_cell(address: Number, owners: FragmentMap, cells: Table) -> Table:
    table = table_of(address, owners.shape).ravel()
    return table[cells % len(table)]


def _width(addresses: Sequence[Table], limit: int) -> int:
    """The widest power of two whose groups of slots are aligned neighbours in every stream."""
    for width in (32, 16, 8, 4, 2):
        if width <= limit and all(_sustains(address, width) for address in addresses):
            return width
    return 1


def _sustains(address: Table, width: int) -> bool:
    if address.shape[1] % width:
        return False
    groups = address.reshape(len(address), -1, width)
    firsts = groups[..., :1]
    is_run = np.array_equal(groups, firsts + np.arange(width))
    return is_run and not ((firsts - address[0, 0]) % width).any()


def _segments(firsts: Table, width: int, elements: int, asleep: Table | None) -> int:
    """How many segments all warps touch in all steps; `firsts` is `(threads, steps)`."""
    total = 0
    for start in range(0, len(firsts), WARP):
        part = firsts[start : start + WARP]
        low, high = part // elements, (part + width - 1) // elements
        if asleep is not None:
            sleeping = asleep[start : start + WARP].astype(bool)
            low, high = np.where(sleeping, -1, low), np.where(sleeping, -1, high)
        touched = np.sort(np.concatenate([low, high]), axis=0)
        is_new = np.vstack([touched[:1] >= 0, (touched[1:] != touched[:-1]) & (touched[1:] >= 0)])
        total += int(np.count_nonzero(is_new))
    return total
