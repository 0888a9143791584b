"""Pipelines: full and empty mbarriers of each stage, stages as index and phase parity.

    produce_one %token, %it { tiled_load }       wait empty[stage], parity ^ 1
                                                 arrive.expect_tx full[stage], bytes
                                                 cp.async.bulk.tensor ..., full[stage]
    consume_one %token, %it { dot }              wait full[stage], parity
                                                 wgmma ...
                                                 arrive empty[stage]
    inc_iter %it                                 next stage; the parity flips at wrap-around

Here are pipelines and their iterators; `pipeline_producers` fills stages, `pipeline_consumers`
reads them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Block, OpResult

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import (
    BarrierOp,
    ClusterArriveOp,
    ClusterWaitOp,
    GetDynSmemOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    CreateIteratorOp,
    IncIterOp,
)
from tileas_xdsl.dialects.nv_tileas.types import IteratorType
from tileas_xdsl.dialects.xdsl_ops import binary_op, cast_op
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    i32_constant,
    is_equal,
)
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    OrderToken,
    StageIndex,
    Stages,
)
from tileas_xdsl.threads.codegen.structured_control_flow import run_if
from tileas_xdsl.threads.codegen.thread_ids import (
    thread_id,
)
from tileas_xdsl.threads.pipeline.mbarriers import (
    allocate_mbarriers,
    initialize_mbarriers,
    next_stage,
)
from tileas_xdsl.threads.pipeline.staged_tiles import staged_tiles
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT


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


HANDLERS: Handlers = {
    CreateIteratorOp: create_iterator,
    CreatePipelineOp: create_pipeline,
    IncIterOp: increment,
}
