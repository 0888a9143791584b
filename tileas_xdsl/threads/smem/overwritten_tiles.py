"""Write tiles in shared memory by all threads of an agent, so that all of them see them whole.

    barrier              who read what was there before has done so
    store ...
    fence.proxy.async    tensor cores and TMA read it, too
    barrier

Nobody may have read it yet, or all may have met since.  An operand of a product that runs on has
places in turn (`pipeline/late_products.py`): it is stored while the product before it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.dialects import gpu
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cute_nvgpu import FenceProxyAsyncOp
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ReinterpretOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import LateOperand, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    PendingTile,
    RegisterTile,
    SharedTile,
)
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.smem.shared_tile import NOBODY, shared_tile
from tileas_xdsl.threads.smem.swizzled_tile_access import write_shared
from tileas_xdsl.threads.smem.warpgroup_rows import synchronize_writers


def put_shared(e: ThreadBuilder, op: Operation, tile: RegisterTile, target: SSAValue) -> None:
    """Store a register tile to shared memory, visible to all threads of the agent."""
    overwrite_shared(e, op, target, partial(write_shared, e, tile))


def overwrite_shared(
    e: ThreadBuilder, op: Operation, target: SSAValue, write: Callable[[SharedTile], None]
) -> None:
    """Have all threads of the agent write a tile in shared memory, and see it whole afterwards.

    A newly allocated tile needs no barrier before (it has no readers yet, unless it gets the memory
    of a dead one), and none behind if the program has a barrier of the block next.
    """
    if (late := e.late_operands.pop(target, None)) is not None:
        _write_beside(e, target, late, write)
        return
    found = e.get(target)
    is_new = isinstance(found, PendingTile) and found.offset is None and not runs_again(op)
    tile = shared_tile(e, target)
    was_other = isinstance(found, PendingTile) and found.visible_to == NOBODY
    if was_other:
        synchronize_agent(e)
    elif not is_new and not _is_free(e, found):
        synchronize_writers(e, target)
    write(tile)
    if not _is_read_by_threads_only(target):
        e.insert(FenceProxyAsyncOp("shared::cta"))
    if not isinstance(op.next_op, gpu.BarrierOp):
        synchronize_writers(e, target)
    if isinstance(found, PendingTile):
        found.visible_to = e.agent.number


def _write_beside(
    e: ThreadBuilder, target: SSAValue, late: LateOperand, write: Callable[[SharedTile], None]
) -> None:
    """Write an operand where the one before it is not, whose product is waited for behind.

    All have waited for the last product that read the place when they met a round ago.
    """
    found = e.get(target)
    assert isinstance(found, PendingTile)
    found.places, found.place = late.places, late.place
    tile = shared_tile(e, target)
    if found.visible_to == NOBODY:
        synchronize_agent(e)
    write(tile)
    e.insert(FenceProxyAsyncOp("shared::cta"))
    late.wait()
    synchronize_writers(e, target)
    found.visible_to = e.agent.number


def _is_free(e: ThreadBuilder, found: Lowered) -> bool:
    """Whether threads have met behind the last reader of a tile, in this block of code."""
    if not isinstance(found, PendingTile):
        return False
    met, found.is_free_in = found.is_free_in, None
    return met is e.builder.insertion_point.block


def _is_read_by_threads_only(tile: SSAValue) -> bool:
    """Return whether neither TMA nor tensor cores may read a tile in shared memory."""
    for use in tile.uses:
        match use.operation:
            case ConvertLayoutOp() | CopyOp() | TiledLoadBase() | TiledStoreOp():
                continue
            case ExtractSliceOp() | ReinterpretOp() | ViewOp():
                if not all(map(_is_read_by_threads_only, use.operation.results)):
                    return False
            case _:
                return False
    return True
