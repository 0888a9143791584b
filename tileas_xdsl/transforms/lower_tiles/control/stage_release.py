"""Release stages of pipelines: a warp for itself, the tensor core, or behind a late product.

A stage is released in every block that loads into it.  Where a product runs on while its next
operand is computed (`threads/pipeline/late_products.py`), the stage of the round before is.
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.cute_nvgpu import LaneIdxOp, MbarrierArriveOp, UmmaCommitOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import ConsumeOneOp
from tileas_xdsl.dialects.xdsl_ops import binary_op, selection
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    cta_mask,
    i32_constant,
    is_equal,
    logical_and,
)
from tileas_xdsl.threads.codegen.lowered_values import (
    LateSums,
    Lowered,
    OrderToken,
    RegisterTile,
    StageIndex,
    Stages,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.thread_ids import is_elected_in_warp, is_mma_issuer
from tileas_xdsl.threads.dot.dot_wgmma import before_late_products, finished
from tileas_xdsl.threads.pipeline.late_products import LateProduct, late_product
from tileas_xdsl.threads.tmem.accumulator_barriers import commit
from tileas_xdsl.transforms.lower_tiles.control.stage_access import reader_of, stages_of


def release(e: ThreadBuilder, stages: Stages, index: StageIndex, *, done: bool = False) -> None:
    """Release a stage; `done` says that its tcgen05 MMAs are complete, and need no commit."""
    barrier, reader = advance(e, stages.empty, index.stage), reader_of(e, stages)
    if reader.by_pair:
        commit(e, barrier)
    elif reader.by_tensor_core and done:
        _arrive(e, barrier, stages, is_mma_issuer(e))
    elif reader.by_tensor_core:
        mask = None if stages.group == 1 else cta_mask(e, (1 << stages.group) - 1)
        e.insert(UmmaCommitOp(barrier, mask, is_mma_issuer(e)))
    if reader.by_threads:
        _arrive_of_warp(e, barrier, stages)


def _arrive_of_warp(
    e: ThreadBuilder, barrier: SSAValue, stages: Stages, condition: SSAValue | None = None
) -> None:
    """Arrive once for a warp in every block that loads into the stage, a lane in each of them."""
    if stages.group == 1 or e.by_one_thread:
        _arrive(e, barrier, stages, logical_and(e, is_elected_in_warp(e), condition))
        return
    lane = e.insert(LaneIdxOp()).result
    is_of_group = e.insert(arith.CmpiOp(lane, i32_constant(e, stages.group), "ult")).result
    e.insert(MbarrierArriveOp(barrier, logical_and(e, is_of_group, condition), lane))


def _arrive(e: ThreadBuilder, barrier: SSAValue, stages: Stages, elected: SSAValue | None) -> None:
    """Arrive at a barrier of a stage, in every block that loads into the stage."""
    if stages.group == 1:
        e.insert(MbarrierArriveOp(barrier, elected))
        return
    for rank in range(stages.group):
        e.insert(MbarrierArriveOp(barrier, elected, i32_constant(e, rank)))


def finish_in_loop(
    e: ThreadBuilder, late: LateProduct, stages: Stages, index: StageIndex, is_later: SSAValue
) -> None:
    """Wait for the product of the round before, behind the store of its next operand."""
    sums = e.get(late.product.c)
    assert isinstance(sums, LateSums)
    e.values[late.product.c] = _finish(e, sums, stages, index, is_later)


def _finish(
    e: ThreadBuilder, sums: LateSums, stages: Stages, index: StageIndex, is_any: SSAValue
) -> LateSums:
    """Wait for the product of the round before a stage, if there was one, and release its stage.

    Without a branch, which parts code that ptxas would schedule as one.
    """
    done = finished(e, sums)
    is_first = is_equal(e, index.stage, 0)
    before = e.insert(binary_op(arith.SubiOp, index.stage, i32_constant(e, 1))).result
    last = i32_constant(e, stages.count - 1)
    stage = e.insert(selection(is_first, last, before)).result
    _arrive_of_warp(e, advance(e, stages.empty, stage), stages, is_any)
    return done


def begin_late_products(e: ThreadBuilder, loop: scf.ForOp, begin: list[Lowered]) -> None:
    """Let a loop carry sums of products that run on from round to round."""
    arguments = list(loop.body.block.args[1:])
    for op in loop.body.block.ops:
        if not isinstance(op, ConsumeOneOp):
            continue
        carried = [value for one, value in zip(arguments, begin, strict=True) if one is op.token]
        token = carried[0] if carried else e.get(op.token)
        assert isinstance(token, OrderToken)
        assert token.stages is not None
        late = late_product(op, token.stages.count)
        if late is None:
            continue
        sums = begin[late.position]
        assert isinstance(sums, RegisterTile)
        begin[late.position] = before_late_products(e, late.product, sums)


def finish_behind_loop(e: ThreadBuilder, loop: scf.ForOp, left: list[Lowered]) -> None:
    """Wait for the product of the last round of a loop, and release its stage."""
    for op in loop.body.block.ops:
        if not isinstance(op, ConsumeOneOp):
            continue
        stages = stages_of(e, op.token)
        late = late_product(op, stages.count)
        if late is None:
            continue
        arguments = list(loop.body.block.args[1:])
        position = next(k for k, one in enumerate(arguments) if one is op.iterator)
        index, sums = left[position], left[late.position]
        assert isinstance(index, StageIndex)
        assert isinstance(sums, LateSums)
        is_any = e.insert(arith.CmpiOp(e.scalar(loop.lb), e.scalar(loop.ub), "slt")).result
        left[late.position] = _finish(e, sums, stages, index, is_any).sums
