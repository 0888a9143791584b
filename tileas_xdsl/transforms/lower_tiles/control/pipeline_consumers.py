"""Consumers of a pipeline: wait for a full stage, run the body on its tiles, release it.

Each warp arrives once when it has read the stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.cute_nvgpu import (
    FenceProxyAsyncOp,
    MbarrierWaitOp,
    SyncWarpOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumeOneOp,
    ConsumerReadOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    StageOp,
)
from tileas_xdsl.threads.codegen.builder import Handlers, LateOperand, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    modulo,
    xor,
)
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    OrderToken,
    StageIndex,
    Stages,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import (
    is_mma_warp,
)
from tileas_xdsl.threads.pipeline.late_products import (
    PLACES,
    late_product,
    load_first,
    write_first,
)
from tileas_xdsl.threads.pipeline.stage_consumers import (
    is_read_by_threads,
    products_of,
    uses_what_it_reads,
)
from tileas_xdsl.threads.tmem.accumulator_barriers import is_awaited_between, is_awaited_in
from tileas_xdsl.transforms.lower_tiles.control.stage_access import bind_stage, reader_of, stages_of
from tileas_xdsl.transforms.lower_tiles.control.stage_release import (
    finish_in_loop,
    release,
)


def _await_full(e: ThreadBuilder, token: SSAValue, iterator: SSAValue) -> tuple[Stages, StageIndex]:
    stages, index = stages_of(e, token), e.get(iterator)
    assert isinstance(index, StageIndex)
    condition = None if reader_of(e, stages).by_threads else is_mma_warp(e)
    with predicated(e, condition):
        e.insert(MbarrierWaitOp(advance(e, stages.full, index.stage), index.phase))
        if stages.is_copied_to and stages.proxies.multiplies_copies:
            e.insert(FenceProxyAsyncOp("shared::cta"))
    return stages, index


def consumer_wait(e: ThreadBuilder, op: ConsumerWaitOp) -> Sequence[Lowered]:
    """Wait until the stage is full."""
    stages, index = _await_full(e, op.token, op.iterator)
    return [OrderToken(stages, index)]


def consumer_read(e: ThreadBuilder, op: ConsumerReadOp) -> Sequence[Lowered]:
    """Run the body on the tiles of the stage."""
    stages, index = stages_of(e, op.token), e.get(op.iterator)
    assert isinstance(index, StageIndex)
    return [OrderToken(stages, index), *_read(e, op, stages, index)]


def _read(e: ThreadBuilder, op: StageOp, stages: Stages, index: StageIndex) -> Sequence[Lowered]:
    if not op.regions:
        return []
    body = op.regions[0].block
    bind_stage(e, body, stages, index)
    ended = e.run(body)
    if any(map(is_read_by_threads, body.args)):
        # TMA is the next to write what was read through the generic proxy, some of which may still
        # be on its way to registers (PTX ISA, proxies; CUTLASS fences such releases too).  Where
        # all has been used, the thread that issues the copy fences, which waits for nothing then.
        if not uses_what_it_reads(body.args):
            e.insert(FenceProxyAsyncOp("shared::cta"))
        # Lanes that have read come before the one that will arrive for their warp.
        e.insert(SyncWarpOp())
    return ended if op.results[len(op.ENTRY.gives) :] else []


def consumer_release(e: ThreadBuilder, op: ConsumerReleaseOp) -> Sequence[Lowered]:
    """Each warp arrives once, in every block that loads into the stage.

    A commit behind the last wait would arrive when the CTA has ended: where products were awaited,
    a thread arrives for them.
    """
    token = e.get(op.token)
    assert isinstance(token, OrderToken)
    assert token.stages is not None
    assert token.index is not None
    release(e, token.stages, token.index, done=_all_awaited(e, op))
    return [OrderToken(token.stages)]


def _all_awaited(e: ThreadBuilder, release: ConsumerReleaseOp) -> bool:
    """Whether all products that read a stage, since it was waited for, have been awaited.

    A token that a loop carries may be of a stage that was read before: then it is unknown.
    """
    token = release.token
    while isinstance(read := token.owner, ConsumerReadOp):
        tiles = read.regions[0].block.args if read.regions else ()
        products = [product for tile in tiles for product in products_of(tile)]
        if not all(is_awaited_between(e, product, read, release) for product in products):
            return False
        token = read.token
    return isinstance(token.owner, ConsumerWaitOp)


def consume_one(e: ThreadBuilder, op: ConsumeOneOp) -> Sequence[Lowered]:
    """Wait, run the body, release."""
    stages, index = _await_full(e, op.token, op.iterator)
    late = late_product(op, stages.count)
    if late is not None:
        is_later = e.insert(
            arith.CmpiOp(e.scalar(late.loop.body.block.args[0]), e.scalar(late.loop.lb), "ne")
        ).result
        wait = partial(finish_in_loop, e, late, stages, index, is_later)
        if late.operand is None:
            e.late_waits[load_first(late)] = wait
        else:
            write_first(late, late.operand)
            e.late_operands[late.operand] = LateOperand(wait, PLACES, _parity(e, stages, index))
        return [OrderToken(stages), *_read(e, op, stages, index)]
    payload = _read(e, op, stages, index)
    tiles = op.regions[0].block.args if op.regions else ()
    products = [product for tile in tiles for product in products_of(tile)]
    release(e, stages, index, done=all(is_awaited_in(e, product, op) for product in products))
    return [OrderToken(stages), *payload]


def _parity(e: ThreadBuilder, stages: Stages, index: StageIndex) -> SSAValue:
    """Return that of the round: phases of an odd number of stages begin with the other one."""
    stage = modulo(e, index.stage, PLACES)
    return stage if stages.count % PLACES == 0 else xor(e, stage, index.phase)


HANDLERS: Handlers = {
    ConsumeOneOp: consume_one,
    ConsumerReadOp: consumer_read,
    ConsumerReleaseOp: consumer_release,
    ConsumerWaitOp: consumer_wait,
}
