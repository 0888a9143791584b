"""Products whose A threads compute of the columns of bytes in a stage: A stays in registers.

    %q = convert_layout %stage : 128x64xi8       %q = convert_layout %stage   // ldmatrix.trans
    %y = sitofp %q : 128x64xf16                  %y = sitofp %q
    %s = convert_layout %y : smem                %a = permute %y : 64x128
    %a = view %s : 64x128, columns of %s    ->   %d = dot %a, %b, %c {nv_tileas.rows_in_pairs}
    %d = dot %a, %b, %c

Weights that are stored K x N, of a product of few rows that is computed transposed.  Through shared
memory they would be written with twice as many bytes as they have there, between barriers, and read
again; `ldmatrix.trans` gives lanes two bytes side by side, which are two rows of A
(`nv_tileas.rows_in_pairs`).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.row_order import set_rows_in_pairs
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_dense_transpose
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.units import BYTE_BITS, WARPGROUP_WARPS
from tileas_xdsl.threads.dot.operands.wgmma_operand_a import takes_registers
from tileas_xdsl.transforms.normalize_dot_operands.permutations import Permuted, permutation
from tileas_xdsl.transforms.normalize_dot_operands.register_operands import (
    element_wise_sources,
    in_whole_rows,
    is_computed_fragment,
    is_of_stage,
)
from tileas_xdsl.transforms.tileaa_to_tileas.products import kernel_warps
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert


class ColumnsOfBytes(RewritePattern):
    """Keep A in registers, if it is computed of columns of bytes in a stage."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter) -> None:
        view = op.a.owner
        if not isinstance(view, ViewOp) or not is_dense_transpose(op.a.type):
            return
        columns = computed_columns(view.source)
        if columns is None or not takes_columns(op, columns):
            return
        if not in_whole_rows(shape_of(op.a.type)[-2], kernel_warps(op) // WARPGROUP_WARPS):
            return
        op.operands[0] = permutation(Permuted(columns, (1, 0)), Insert(rewriter.insert))
        set_rows_in_pairs(op)
        rewriter.notify_op_modified(op)


def computed_columns(stored: SSAValue) -> SSAValue | None:
    """Return the matrix that threads store to shared memory, whose columns would be rows of A."""
    made = stored.owner
    return made.source if isinstance(made, ConvertLayoutOp) else None


def takes_columns(op: DotOp, columns: SSAValue) -> bool:
    """Whether a product may have columns that are computed of bytes in a stage as A in registers.

    No other product is in the kernel, whose accumulator would have its rows in order.  Columns of
    words that are two of a product are not beside one another in a stage.
    """
    if not takes_registers(op) or not is_computed_fragment(op, columns) or not _is_alone(op):
        return False
    stages = [*_stages(columns)]
    are_bytes = all(bits_of(element_of(tile.type)) == BYTE_BITS for tile in stages)
    return are_bytes and {shape_of(tile.type) for tile in stages} == {shape_of(columns.type)}


def _is_alone(op: DotOp) -> bool:
    """Whether a kernel has no other product."""
    kernel = enclosing(op, func.FuncOp)
    return kernel is not None and len(instances_in(kernel, DotOp)) == 1


def _stages(tile: SSAValue) -> Iterator[SSAValue]:
    """The tiles in stages that a tile is computed of, element by element."""
    pending, seen = [tile], {tile}
    while pending:
        value = pending.pop()
        made = value.owner
        if isinstance(made, ConvertLayoutOp) and is_of_stage(made.source):
            yield made.source
            continue
        new = [source for source in element_wise_sources(value) if source not in seen]
        seen.update(new)
        pending += new
