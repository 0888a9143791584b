"""Producers of a pipeline: wait for an empty stage, announce its bytes, and fill it.

The producer announces the bytes of all loads of a stage (`expect_tx`) when it acquires it, so that
a commit emits nothing.  Threads that copy tiles into a stage synchronise, and one of them arrives
for all.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.memory.copied_chunks import async_copies, copied_load
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import (
    CpAsyncMbarrierArriveOp,
    FenceProxyAsyncOp,
    MbarrierArriveExpectTxOp,
    MbarrierArriveOp,
    MbarrierWaitOp,
)
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
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
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    i32_constant,
    logical_and,
)
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    OrderToken,
    SharedTile,
    StageIndex,
    Stages,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import (
    is_elected_in_agent,
    is_leader_cta,
)
from tileas_xdsl.threads.gmem.async_copies import can_copy
from tileas_xdsl.threads.pipeline.kernel_plan import loads_of
from tileas_xdsl.transforms.lower_tiles.control.stage_access import bind_stage, stages_of


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
    bind_stage(e, body, stages, index)
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
    bind_stage(e, body, stages, index)
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


def producer_commit(e: ThreadBuilder, op: ProducerCommitOp) -> Sequence[Lowered]:
    """Emit nothing: the loads themselves complete the barrier."""
    return [OrderToken(stages_of(e, op.token))]


HANDLERS: Handlers = {
    ProduceOneAsyncOp: produce_one_async,
    ProduceOneOp: produce_one,
    ProducerAcquireOp: producer_acquire,
    ProducerCommitOp: producer_commit,
    ProducerWriteOp: producer_write,
}
