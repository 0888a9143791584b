"""Reuse of dead shared memory: tiles after their last use, pipeline stages after their loop.

    %q = alloc_tensor            ; a tile of its own
    create_pipeline %stages      ; filled by a producer
    scf.for { consume_one ... dot %q, %stage ... }
    convert_layout %sum          ; may exchange through the memory of %q and of the stages

Of two tiles in one round of a loop, the second may have the memory of the first if products read
both, and are waited for in that round (on tcgen05 where their sums are first read): threads meet
before they or TMA fill a tile in a loop.  Otherwise what runs again could be read again, so that
nothing in a loop counts.  Bulk stores and asynchronous products read their tiles until somebody
waits for them, so the tile of a loop may have the memory of one of a loop before:

    scf.for { %a = alloc_tensor ... async.dot %a ... async.wait }    ; whole iterations
    scf.for { %b = alloc_tensor ... async.dot %b ... async.wait }    ; masked: %b is where %a was
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from tileas_xdsl.analysis.memory.shared_memory import first_free_offset, is_staging
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, MatrixProduct
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import STAGES_ARE_A_HINT, CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumerReadOp,
    PipelineYieldOp,
    StageOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ReinterpretOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase, TmaTransferOp
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import OrderToken, PendingTile
from tileas_xdsl.threads.codegen.shared_allocations import ScratchAllocation
from tileas_xdsl.threads.pipeline.stage_consumers import users_of
from tileas_xdsl.threads.pipeline.tile_properties import LOOPS, runs_again

_MAKERS = (AllocTensorOp, ConvertLayoutOp)
_VIEWS = (ExtractSliceOp, ReinterpretOp, ViewOp)


def dead_memory(e: ThreadBuilder, op: Operation) -> Iterator[tuple[int, int]]:
    """Yield offset and bytes of memory that no thread of the block reads from `op` on."""
    for value, found in e.values.items():
        if isinstance(found, PendingTile) and found.offset is not None and _is_dead(e, value, op):
            yield found.offset, found.bytes
        elif (
            isinstance(found, OrderToken) and found.stages is not None and _is_drained(e, value, op)
        ):
            yield found.stages.offset, found.stages.count * found.stages.slot_bytes


def memory_for_operand(e: ThreadBuilder, tile: SSAValue, size: int) -> int | None:
    """Return the offset of dead memory that holds an operand of products; None without any."""
    made = tile.owner
    if not isinstance(made, _MAKERS) or not is_operand(tile):
        return None
    place = _free_place(e, made, size)
    if place is not None:
        _forget_scratch(e, place, size)
    return place


def memory_for_staging(e: ThreadBuilder, tile: SSAValue, size: int) -> int | None:
    """Return the offset of dead memory for a tile that threads fill and TMA stores, or None.

    Threads meet before they fill it, for some may still read what was there.  In a loop they would
    meet in each round; there it is the memory of such a tile of a loop before, whose stores all
    have waited for.
    """
    made = tile.owner
    if isinstance(made, Block) or not is_staging(made):
        return None
    if runs_again(made):
        return _staging_before(e, made, size)
    place = _free_place(e, made, size)
    if place is not None:
        _forget_scratch(e, place, size)
        kept = ScratchAllocation(place, size, made, is_kept=True)
        e.scratch_buffers.setdefault(e.agent.number, []).append(kept)
    return place


def _staging_before(e: ThreadBuilder, op: Operation, size: int) -> int | None:
    """Return the offset of a tile that threads have filled and TMA has stored before, all of it."""
    for value, found in e.values.items():
        if not isinstance(found, PendingTile) or found.offset is None or found.bytes < size:
            continue
        made = value.owner
        is_done = not isinstance(made, Block) and is_staging(made) and _is_dead(e, value, op)
        if is_done and is_free(e, found.offset, size, op):
            return found.offset
    return None


def _free_place(e: ThreadBuilder, op: Operation, size: int) -> int | None:
    """Return the first offset from which on so many bytes are free; None without any."""
    return first_free_offset(dead_memory(e, op), size, lambda offset: is_free(e, offset, size, op))


def is_free(e: ThreadBuilder, offset: int, size: int, op: Operation) -> bool:
    """Whether all other tiles with a part of the memory are dead too."""
    return all(
        _is_dead(e, value, op)
        for value, found in e.values.items()
        if isinstance(found, PendingTile)
        and found.offset is not None
        and isinstance(value.owner, _MAKERS)
        and offset < found.offset + found.bytes
        and found.offset < offset + size
    )


def _forget_scratch(e: ThreadBuilder, offset: int, size: int) -> None:
    """Exchange nothing any more through memory that a tile has now."""
    for scratch_buffers in e.scratch_buffers.values():
        scratch_buffers[:] = [
            buffer
            for buffer in scratch_buffers
            if buffer.offset + buffer.bytes <= offset or offset + size <= buffer.offset
        ]


def is_operand(tile: SSAValue) -> bool:
    """Whether TMA or threads fill a tile, and only products read it."""
    users = [*users_of_tile(tile)]
    fills = [user for user in users if _fills(user, tile)]
    return bool(fills or isinstance(tile.owner, ConvertLayoutOp)) and all(
        user in fills or isinstance(user, (MatrixProduct, *_VIEWS)) for user in users
    )


def _fills(user: Operation, tile: SSAValue) -> bool:
    return isinstance(user, TmaLoadBase) or (isinstance(user, CopyOp) and user.source is not tile)


def _is_dead(e: ThreadBuilder, tile: SSAValue, op: Operation) -> bool:
    made = tile.owner
    if not isinstance(made, _MAKERS) or (block := common_block(made, op)) is None:
        return False
    parent = block.parent_op()
    in_loop = parent is not None and (LOOPS[type(parent)] or runs_again(parent))
    if in_loop and not (is_operand(tile) and _is_operand_in_time(e, op)):
        return False
    return all(_is_over(e, user, block, op) for user in users_of_tile(tile))


def _is_operand_in_time(e: ThreadBuilder, op: Operation) -> bool:
    """Whether an operation makes an operand of products that are complete in its round."""
    return (
        isinstance(op, _MAKERS)
        and is_operand(op.results[0])
        and all(
            _wait_for_product(e, user) is not None
            for user in users_of_tile(op.results[0])
            if isinstance(user, AsyncDotOp)
        )
    )


def _wait_for_product(e: ThreadBuilder, product: AsyncDotOp) -> WaitOp | None:
    """Return the wait for a product of warpgroups in the round that issues it; None without one.

    %token, %sums = consumer_read { async.dot ... yield }
    async.wait %sums
    """
    if e.tensor is not None:
        return None
    value: SSAValue = product.result
    user = value.get_user_of_unique_use()
    if isinstance(user, PipelineYieldOp) and isinstance(read := user.parent_op(), ConsumerReadOp):
        value = read.payload[list(user.operands).index(value)]
        user = value.get_user_of_unique_use()
    if not isinstance(user, WaitOp) or user.parent is None:
        return None
    return user if user.parent.find_ancestor_op_in_block(product) is not None else None


def common_block(first: Operation, second: Operation) -> Block | None:
    """The innermost block that has both operations, or what they are inside of."""
    block = second.parent
    while block is not None and block.find_ancestor_op_in_block(first) is None:
        parent = block.parent_op()
        block = None if parent is None else parent.parent
    return block


def users_of_tile(tile: SSAValue) -> Iterator[Operation]:
    """The operations that use a tile, or what shows it."""
    for use in tile.uses:
        yield use.operation
        if isinstance(use.operation, _VIEWS):
            yield from users_of_tile(use.operation.results[0])


def _is_over(e: ThreadBuilder, user: Operation, block: Block, op: Operation) -> bool:
    """Whether an operation has read its tile in all threads when they have come to `op`."""
    is_late = user.has_trait(IsTerminator)  # under another name
    if isinstance(user, AsyncDotOp):
        wait = _wait_for_product(e, user)
        is_late, user = wait is None, wait or user
    elif isinstance(user, TmaTransferOp) and not isinstance(user, TmaLoadBase):
        wait = _wait_for(user.results[0])
        is_late, user = wait is None, wait or user
    before, here = (block.find_ancestor_op_in_block(each) for each in (_end(e, user), op))
    if is_late or before is None or here is None:
        return False
    return before.is_before_in_block(here)


def _wait_for(token: SSAValue) -> WaitOp | None:
    """The only wait for a bulk store, which may be behind the loop that carries its token."""
    uses = list(token.uses)
    if len(uses) != 1:
        return None
    (use,), user = uses, uses[0].operation
    if isinstance(user, scf.YieldOp) and isinstance(loop := user.parent_op(), scf.ForOp):
        return _wait_for(loop.results[use.index])
    return user if isinstance(user, WaitOp) else None


def _end(e: ThreadBuilder, user: Operation) -> Operation:
    """What all threads wait for a product by: the first read of its sums in tensor memory."""
    if e.tensor is None or not isinstance(user, MatrixProduct) or user in e.plan.waited:
        return user
    place = e.tensor.of_value.get(user.result)
    if place is None or place.ring is None:
        return user
    return next(one.ready_at for one in place.ring.accumulators if user in one.products)


def _is_drained(e: ThreadBuilder, token: SSAValue, op: Operation) -> bool:
    """Whether all stages of a pipeline are filled and read, by the agent that `op` is of alone."""
    pipeline = token.owner
    if not isinstance(pipeline, CreatePipelineOp) or token is not pipeline.producer:
        return False
    if STAGES_ARE_A_HINT not in pipeline.attributes or runs_again(pipeline):
        return False
    block = _agent_body(op)
    readers = [user for user in users_of(pipeline) if _reads(user)]
    if block is None or not readers:
        return False
    return all(_is_over(e, reader, block, op) for reader in readers)


def _reads(user: StageOp) -> bool:
    return "consumer_idx" in user.properties


def _agent_body(op: Operation) -> Block | None:
    """The body of the agent around an operation."""
    inner: Operation | None = op
    while inner is not None:
        if isinstance(inner.parent_op(), AgentSwitchOp):
            return inner.parent
        inner = inner.parent_op()
    return None
