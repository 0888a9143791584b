"""The pass `tileas-sum-rows-early`: loops carry sums of rows, not the tile that is added up later.

    scf.for carrying %t : 128x128 {                scf.for carrying %r : 128 {
      %k = mulf %t, (%f for each row)                %s = reduce add of %p
      %n = addf %k, %p                       ->      %n = fma %r, %f, %s
    }                                              }
    %s = reduce add of %t                          use %r
    use %s

What a loop only scales by rows and adds to is linear, so that the sum of rows may be carried: as
many registers less as the tile takes, for sums in another order, which a reduction has anyway.
Lanes that share a row exchange their parts behind the loop as before (`tileas-defer-lane-sums`).
"""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import math, scf
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.rows.row_sums import ScaledSum, is_sum, readers, rows_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import set_type

BOUNDS = 3
"""Operands of a loop in front of what it carries."""


@dataclass(frozen=True)
class TileasSumRowsEarly(ModulePass):
    """Let loops carry sums of rows in place of tiles that are added up along rows behind them.

    Needs: kernels of tiles, whose element-wise operations are not fused yet.

    Leaves: loops that carry, for each such tile that begins with zeros and is scaled by a number
    for each row, its sums.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-sum-rows-early"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in instances_in(op, scf.ForOp):
            for index in range(len(loop.iter_args)):
                if (found := _late_sum(loop, index)) is not None:
                    _carry_rows(loop, index, *found)


def _late_sum(loop: scf.ForOp, index: int) -> tuple[ScaledSum, SSAValue, ReduceOp] | None:
    """Return how a loop makes a tile, the factors of its rows, and the only reader, its sum."""
    total, read = ScaledSum.of(loop, index), readers(loop.results[index])
    rows = None if total is None else rows_of(total.factor)
    if total is None or rows is None or len(read) != 1 or not shape_of(rows[0].type):
        return None
    reduction, begin = read.pop(), uniform_constant(loop.iter_args[index])
    if not isinstance(reduction, ReduceOp) or not is_sum(reduction, rows[1]):
        return None
    if reduction.source is not loop.results[index]:
        return None
    is_zero = isinstance(begin, FloatAttr) and begin.value.data == 0
    is_carried = readers(loop.body.block.args[index + 1]) == {total.product}
    is_added = readers(total.op.results[0]) == {loop.body.block.last_op}
    return (total, rows[0], reduction) if is_zero and is_carried and is_added else None


def _carry_rows(
    loop: scf.ForOp, index: int, total: ScaledSum, factor: SSAValue, reduction: ReduceOp
) -> None:
    """Add up rows in the loop; their sums are a tile as the numbers that scale rows are."""
    argument, result = loop.body.block.args[index + 1], loop.results[index]
    for value in (argument, result):
        set_type(value, factor.type)
    builder, axis = Builder(InsertPoint.before(total.op)), reduction.axis.value.data
    rows = builder.insert(ReduceOp(total.term, axis, reduction.body.clone())).result
    if rows.type != factor.type:
        rows = builder.insert(ExpandDimsOp(rows, axis)).result
    made = builder.insert(math.FmaOp(argument, factor, rows)).result
    total.op.results[0].replace_all_uses_with(made)
    loop.operands[BOUNDS + index] = constant(Builder(InsertPoint.before(loop)), 0.0, factor.type)
    whole = result
    if factor.type != reduction.result.type:
        whole = (
            Builder(InsertPoint.before(reduction))
            .insert(ViewOp(result, reduction.result.type))
            .result
        )
    Rewriter.replace_op(reduction, [], [whole])
    for op in dict.fromkeys((total.op, total.product)):
        Rewriter.erase_op(op)
