"""Checks of the operands of two-CTA MMAs (`cta_group::2`), each of which is split over a CTA pair.

Each CTA has its rows of A and half of the rows of shared memory that B occupies; any other reader
of such a stage would miss the half of the peer CTA.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import BlockArgument, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, pipelines_of
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.target.tensor_memory import LANES
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan


def check_pair(plan: KernelPlan, op: AsyncDotOp | DotOp, rows: int, *, is_mn_major: bool) -> None:
    """Raise a located error where a CTA pair cannot compute such a product together."""
    if not plan.is_of_pair:
        return
    if rows != LANES:
        raise op_error(op, f"of two blocks has {LANES} rows in each, not {rows}")
    if is_mn_major:
        raise op_error(op, "of two blocks takes B as N x K, of which each has half of the rows")
    for tile in (stage_tile(op.a), whole_stage_tile(op.b)):
        if tile is None:
            raise op_error(op, "of two blocks reads stages, A or some of its rows and all of B")
        readers = (r for one in pipelines_of_tile(tile) for r in plan.readers(one).values())
        if any(reader.by_threads for reader in readers):
            raise op_error(op, "of two blocks shares its stages with threads, which lack half of B")


def stage_tile(operand: SSAValue) -> BlockArgument | None:
    """Return the stage tile that an operand is, or is a slice of."""
    while isinstance(operand.owner, ExtractSliceOp):
        operand = operand.owner.source
    return whole_stage_tile(operand)


def whole_stage_tile(operand: SSAValue) -> BlockArgument | None:
    """Return the stage tile that an operand is all of, perhaps transposed."""
    while isinstance(operand.owner, ViewOp):
        operand = operand.owner.source
    if isinstance(operand, BlockArgument) and isinstance(operand.owner.parent_op(), StageOp):
        return operand
    return None


def pipelines_of_tile(tile: BlockArgument) -> Sequence[CreatePipelineOp]:
    """Return the pipelines to whose stages a tile may belong."""
    stage = tile.owner.parent_op()
    assert isinstance(stage, StageOp)
    found = pipelines_of(stage.operands[0])
    return () if isinstance(found, TokenFault) else found
