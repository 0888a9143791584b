"""Pipelines: full and empty mbarriers of each stage, stages as index and phase parity.

    produce_one %token, %it { tiled_load }       wait empty[stage], parity ^ 1
                                                 arrive.expect_tx full[stage], bytes
                                                 cp.async.bulk.tensor ..., full[stage]
    consume_one %token, %it { dot }              wait full[stage], parity
                                                 wgmma ...
                                                 arrive empty[stage]
    inc_iter %it                                 next stage; the parity flips at wrap-around

The producer announces the bytes of all loads of a stage (`expect_tx`) when it acquires it, so that
a commit emits nothing.  Threads that copy tiles into a stage synchronise, and one of them arrives
for all.  Each warp of a consumer arrives once when it has read the stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.dialects import arith
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tileas_xdsl.analysis.memory.copied_chunks import async_copies, copied_load
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import (
    BarrierOp,
    ClusterArriveOp,
    ClusterWaitOp,
    CpAsyncMbarrierArriveOp,
    FenceProxyAsyncOp,
    GetDynSmemOp,
    MbarrierArriveExpectTxOp,
    MbarrierArriveOp,
    MbarrierWaitOp,
    SyncWarpOp,
)
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumeOneOp,
    ConsumerReadOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreateIteratorOp,
    IncIterOp,
    ProduceOneAsyncOp,
    ProduceOneOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerWriteOp,
    StageOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of, number_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase
from tileas_xdsl.dialects.nv_tileas.types import IteratorType
from tileas_xdsl.dialects.xdsl_ops import binary_op, cast_op
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import Handlers, LateOperand, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    i32_constant,
    is_equal,
    logical_and,
    modulo,
    multiply,
    xor,
)
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    OrderToken,
    SharedTile,
    StageIndex,
    Stages,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.structured_control_flow import predicated, run_if
from tileas_xdsl.threads.codegen.thread_ids import (
    is_elected_in_agent,
    is_leader_cta,
    is_mma_warp,
    thread_id,
)
from tileas_xdsl.threads.gmem.async_copies import can_copy
from tileas_xdsl.threads.pipeline.kernel_plan import loads_of
from tileas_xdsl.threads.pipeline.late_products import (
    PLACES,
    late_product,
    load_first,
    write_first,
)
from tileas_xdsl.threads.pipeline.mbarriers import (
    allocate_mbarriers,
    initialize_mbarriers,
    next_stage,
)
from tileas_xdsl.threads.pipeline.stage_consumers import (
    is_read_by_threads,
    products_of,
    uses_what_it_reads,
)
from tileas_xdsl.threads.pipeline.staged_tiles import staged_tiles
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT
from tileas_xdsl.threads.tmem.accumulator_barriers import is_awaited_in
from tileas_xdsl.transforms.lower_tiles.control.stage_release import (
    finish_in_loop,
    reader_of,
    release,
    stages_of,
)


def create_pipeline(e: ThreadBuilder, op: CreatePipelineOp) -> Sequence[Lowered]:
    """Allocate stages and barriers; one thread initialises them before a barrier."""
    if e.agent.number:
        raise op_error(
            op, f"is made by {e.agent.name}, but all threads of the block make pipelines"
        )
    group = e.plan.facts.group(op)
    tiles, slot_bytes = staged_tiles(op)
    name = f"%{op.producer.name_hint or 'pipeline'}"
    slots = e.plan.shared.allocate(
        op, name, slot_bytes * op.stages, f"{op.stages} stages of {slot_bytes} bytes"
    )
    full = allocate_mbarriers(e, op, f"full of {name}", op.stages)
    empty = allocate_mbarriers(e, op, f"empty of {name}", op.stages)
    stages = Stages(
        name,
        op.stages,
        slots,
        e.insert(GetDynSmemOp(slots, i8, ALIGNMENT)).result,
        slot_bytes,
        tiles,
        full,
        empty,
        group,
        e.plan.readers(op),
        e.plan.is_copied_to(op),
        e.plan.proxies(op),
    )
    _initialise(e, stages, e.plan.arrivals(op), e.plan.releases(op, stages.readers))
    token = OrderToken(stages)
    return [token, token]


def _initialise(e: ThreadBuilder, stages: Stages, arrivals: int, releases: int) -> None:
    block = Block()
    with e.within(block):
        initialize_mbarriers(e, stages.count, {stages.full: arrivals, stages.empty: releases})
    run_if(e, is_equal(e, thread_id(e), 0), block)
    if stages.group > 1:
        e.insert(ClusterArriveOp(relaxed=True))
        e.insert(ClusterWaitOp())
    else:
        e.insert(BarrierOp(0))


def create_iterator(e: ThreadBuilder, op: CreateIteratorOp) -> Sequence[Lowered]:
    """The first stage, at phase parity 0."""
    return [StageIndex(i32_constant(e, 0), i32_constant(e, 0))]


def increment(e: ThreadBuilder, op: IncIterOp) -> Sequence[Lowered]:
    """Advance to the next stage; the parity flips at the wrap-around."""
    index = e.get(op.iterator)
    assert isinstance(index, StageIndex)
    stage, wraps = next_stage(e, index.stage, _stage_count(e, op))
    flip = e.insert(cast_op(arith.ExtUIOp, wraps, i32)).result
    phase = e.insert(binary_op(arith.XOrIOp, index.phase, flip)).result
    return [StageIndex(stage, phase)]


def _stage_count(e: ThreadBuilder, op: IncIterOp) -> int:
    type_ = op.iterator.type
    if isinstance(type_, IteratorType) and type_.stages is not None:
        return type_.stages
    for value, found in e.values.items():
        if (
            isinstance(found, OrderToken)
            and found.stages is not None
            and isinstance(value, OpResult)
        ):
            return found.stages.count
    raise op_error(op, "rotates through a number of stages that its type does not say")


def _acquired(
    e: ThreadBuilder, op: Operation, token: SSAValue, iterator: SSAValue
) -> tuple[Stages, StageIndex]:
    stages, index = stages_of(e, token), e.get(iterator)
    assert isinstance(index, StageIndex)
    flip = e.insert(arith.XOrIOp(index.phase, i32_constant(e, 1))).result
    e.insert(MbarrierWaitOp(advance(e, stages.empty, index.stage), flip))
    is_used = any(reader.is_used for reader in stages.readers.values())
    if is_used and stages.proxies.reads_loads:
        e.insert(FenceProxyAsyncOp("shared::cta"))
    return stages, index


def producer_acquire(e: ThreadBuilder, op: ProducerAcquireOp) -> Sequence[Lowered]:
    """Wait until the stage is empty."""
    stages, index = _acquired(e, op, op.token, op.iterator)
    return [OrderToken(stages, index)]


def producer_write(e: ThreadBuilder, op: ProducerWriteOp) -> Sequence[Lowered]:
    """Announce the bytes of the loads of the body, and issue them."""
    stages, index = stages_of(e, op.token), e.get(op.iterator)
    assert isinstance(index, StageIndex)
    return [OrderToken(stages, index), *_fill(e, op, stages, index)]


def produce_one(e: ThreadBuilder, op: ProduceOneOp) -> Sequence[Lowered]:
    """Acquire and fill a stage; its loads complete the barrier, so that a commit emits nothing."""
    stages, index = _acquired(e, op, op.token, op.iterator)
    return [OrderToken(stages, index), *_fill(e, op, stages, index)]


def produce_one_async(e: ThreadBuilder, op: ProduceOneAsyncOp) -> Sequence[Lowered]:
    """Lower as the synchronous form: a commit emits nothing, and the token has no users."""
    stages, index = _acquired(e, op, op.token, op.iterator)
    if op.async_token.uses.get_length():
        raise op_error(op, "has a token of its copies that is used; only the barrier tells of them")
    return [OrderToken(stages, index), OrderToken(), *_fill(e, op, stages, index)]


def _fill(e: ThreadBuilder, op: StageOp, stages: Stages, index: StageIndex) -> Sequence[Lowered]:
    body = op.regions[0].block if op.regions else None
    if body is None:
        raise op_error(op, "fills a stage outside its body, which is not lowered to threads yet")
    loads = loads_of(body)
    by_threads = has_instance(body, CopyOp)
    if not loads and by_threads:
        return _fill_by_threads(e, op, stages, index)
    if not loads:
        raise op_error(op, "fills a stage otherwise than by TMA, which is not lowered yet")
    conditional = next((load for load in loads if load.parent is not body), None)
    if conditional is not None:
        raise op_error(conditional, "loads under a condition: the bytes of the stage are not known")
    if not by_threads:
        _keep_together(e)
    barrier = advance(e, stages.full, index.stage)
    if stages.is_of_pair:
        count = PAIR * sum(map(_landing, loads))
        e.insert(
            MbarrierArriveExpectTxOp(
                barrier, count, logical_and(e, is_elected_in_agent(e), is_leader_cta(e))
            )
        )
    else:
        count = sum(_landing(load) * (number_of(load.num_multicast) or 1) for load in loads)
        e.insert(MbarrierArriveExpectTxOp(barrier, count, is_elected_in_agent(e)))
    if by_threads:
        return _fill_by_threads(e, op, stages, index)
    _bind(e, op, body, stages, index)
    ended = e.run(body)
    payload = op.results[len(op.ENTRY.gives) :]
    return ended if payload else []


def _keep_together(e: ThreadBuilder) -> None:
    """Let no warp of an agent fill a stage that others of its warps still wait for.

    Nobody waits for warps that issue no copies.  One that falls behind by the stages of a ring, for
    it waits for an index of its own, misses a phase of `empty` and waits for ever:

        warp 0: wait empty[0], copy, ... wait empty[0], copy, end       empty[0] in phase 2
        warp 1: load index ...................... wait empty[0] for phase 1: it has the parity of 3
    """
    if e.agent.number and e.agent.warps > 1 and not (e.by_one_thread or e.by_one_warp):
        synchronize_agent(e)


def _fill_by_threads(
    e: ThreadBuilder, op: StageOp, stages: Stages, index: StageIndex
) -> Sequence[Lowered]:
    """Fill a stage by copies of all threads of the agent.

    One of them arrives behind a barrier, or each when its copies by `cp.async` do.
    """
    body = op.regions[0].block
    if not isinstance(op, ProduceOneOp):
        raise op_error(op, "fills a stage otherwise than by TMA, which is not lowered yet")
    if stages.is_of_pair:
        raise op_error(op, "fills a stage by threads, for products of two blocks; only TMA does")
    _bind(e, op, body, stages, index)
    e.copied_in_chunks = _in_pieces(e, op) if stages.is_copied_to else frozenset()
    ended = e.run(body)
    full = advance(e, stages.full, index.stage)
    if e.copied_in_chunks:
        e.insert(CpAsyncMbarrierArriveOp(full))
        e.copied_in_chunks = frozenset()
    else:
        e.insert(FenceProxyAsyncOp("shared::cta"))
        synchronize_agent(e)
        e.insert(MbarrierArriveOp(full, None if stages.is_copied_to else is_elected_in_agent(e)))
    return ended if op.payload else []


def _in_pieces(e: ThreadBuilder, op: StageOp) -> frozenset[Operation]:
    """The copies of a body with their loads, if layouts let `cp.async` do all of them."""
    found: list[Operation] = []
    for copy in async_copies(op):
        load = copied_load(copy)
        tile = e.values.get(copy.destination)
        if load is None or not isinstance(tile, SharedTile) or not can_copy(e, load, tile):
            return frozenset()
        found += (copy, load)
    return frozenset(found)


def _landing(load: TmaLoadBase) -> int:
    """Return the bytes that a load writes to a block."""
    destination = load.operands[1].type
    shape, element = shape_of(destination) or (), element_of(destination)
    size = 1
    for extent in shape:
        size *= extent
    return number_of(load.tx_count) or size * bits_of(element) // 8


def _bind(
    e: ThreadBuilder, op: StageOp, body: Block, stages: Stages, index: StageIndex
) -> Sequence[SharedTile]:
    """Bind the arguments of a body to the tiles of the stage."""
    slot = advance(e, stages.slots, multiply(e, index.stage, stages.slot_bytes), ALIGNMENT)
    tiles = [
        SharedTile(advance(e, slot, tile.offset), tile.layout, tile.element)
        for tile in stages.tiles
    ]
    e.values.update(zip(body.args, tiles, strict=True))
    e.stage = (stages, index)
    return tiles


def producer_commit(e: ThreadBuilder, op: ProducerCommitOp) -> Sequence[Lowered]:
    """Emit nothing: the loads themselves complete the barrier."""
    return [OrderToken(stages_of(e, op.token))]


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
    _bind(e, op, body, stages, index)
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
    """Each warp arrives once, in every block that loads into the stage."""
    token = e.get(op.token)
    assert isinstance(token, OrderToken)
    assert token.stages is not None
    assert token.index is not None
    release(e, token.stages, token.index)
    return [OrderToken(token.stages)]


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
    CreateIteratorOp: create_iterator,
    CreatePipelineOp: create_pipeline,
    IncIterOp: increment,
    ProduceOneAsyncOp: produce_one_async,
    ProduceOneOp: produce_one,
    ProducerAcquireOp: producer_acquire,
    ProducerCommitOp: producer_commit,
    ProducerWriteOp: producer_write,
}
