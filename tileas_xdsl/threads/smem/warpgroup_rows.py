"""Tiles whose rows each warpgroup writes to shared memory, and stores by TMA, for itself.

    %staging = alloc_tensor : 128x128              // rows 0 to 63 are of the first warpgroup
    copy %sums, %staging                           // accumulators: whole rows of each warpgroup
    tiled_tma_store %map, %staging[%i, %j]

    all threads:     bar.sync 256; stmatrix; fence; bar.sync 256; one thread: cp.async.bulk 128 rows
    each warpgroup:  bar.sync 128; stmatrix; fence; bar.sync 128; one thread: cp.async.bulk 64 rows

No warpgroup waits for another one then: while one stores its part of a tile, the other multiplies,
and the one that is done begins with the next tile.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cute_nvgpu import BarrierOp
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledTmaStoreOp
from tileas_xdsl.dialects.nv_tileas.tma.slices import SliceTmaDescOp, unsliced
from tileas_xdsl.dialects.nv_tileas.tma.store_order import AFTER_STORES, UNTIL_READ
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.target.isa.tables.asynchronous import NAMED_BARRIERS
from tileas_xdsl.target.mma.warp_tiles import is_accumulator, warpgroup_grid
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, divide, is_equal, logical_and, modulo
from tileas_xdsl.threads.codegen.thread_ids import (
    is_elected_in_agent,
    is_elected_in_warp,
    warp_id,
)
from tileas_xdsl.threads.pipeline.tile_properties import origin
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout


def rows_of_warpgroup(e: ThreadBuilder, tile: SSAValue) -> int | None:
    """Return the rows of a tile that each warpgroup stores for itself; None if threads share it.

    A tensor map has one box: all tiles that are stored through it have to be of as many rows.
    """
    rows = _own_rows(e, tile)
    if rows is None:
        return None
    users = _users(origin(tile))
    through = {unsliced(op.desc) for op in users if isinstance(op, AsyncTiledTmaStoreOp)}
    others = (user for desc in through for user in _stores_through(desc))
    return rows if all(_own_rows(e, user.source) == rows for user in others) else None


def _own_rows(e: ThreadBuilder, tile: SSAValue) -> int | None:
    whole = origin(tile)
    users = [user for user in _users(whole) if not isinstance(user, ViewOp)]
    fills = [user for user in users if isinstance(user, CopyOp)]
    stores = [user for user in users if isinstance(user, AsyncTiledTmaStoreOp)]
    if not isinstance(whole.owner, AllocTensorOp) or e.agent.groups < 2 or not fills:
        return None
    if len(fills) + len(stores) != len(users):
        return None
    if any(UNTIL_READ not in op.attributes or AFTER_STORES in op.attributes for op in stores):
        return None
    layouts = {encoded_layout(e, fill, fill.source.type) for fill in fills}
    layout = layouts.pop()
    if layouts or layout is None or not is_accumulator(layout):
        return None
    rows, groups = layout.shape[0], e.agent.groups
    if warpgroup_grid(rows, groups) != (groups, 1):
        return None
    shapes = (shape_of(op.source.type) or () for op in stores)
    return rows // groups if all(rows in shape[-2:-1] for shape in shapes) else None


def _users(tile: SSAValue) -> Iterator[Operation]:
    for use in tile.uses:
        yield use.operation
        if isinstance(use.operation, ViewOp):
            yield from _users(use.operation.result)


def _stores_through(desc: SSAValue) -> Iterator[AsyncTiledTmaStoreOp]:
    for use in desc.uses:
        if isinstance(use.operation, AsyncTiledTmaStoreOp):
            yield use.operation
        elif isinstance(use.operation, SliceTmaDescOp):
            yield from _stores_through(use.operation.result)


def synchronize_writers(e: ThreadBuilder, tile: SSAValue) -> None:
    """Insert a barrier of the threads that write a row of a tile: a warpgroup's, or the agent's."""
    if rows_of_warpgroup(e, tile) is None:
        synchronize_agent(e)
        return
    # Agents take the first barriers, turns of warpgroups the last ones.
    first = NAMED_BARRIERS - 2 * e.agent.groups
    e.insert(BarrierOp(add(e, warpgroup(e), first), WARPGROUP_WARPS * WARP))


def is_elected_for(e: ThreadBuilder, tile: SSAValue) -> SSAValue | None:
    """Return whether this thread stores a tile, or the rows of its warpgroup."""
    if rows_of_warpgroup(e, tile) is None:
        return is_elected_in_agent(e)
    return logical_and(
        e, is_equal(e, modulo(e, warp_id(e), WARPGROUP_WARPS), 0), is_elected_in_warp(e)
    )


def warpgroup(e: ThreadBuilder) -> SSAValue:
    """The number of the warpgroup in its agent."""
    return divide(e, warp_id(e), WARPGROUP_WARPS)
