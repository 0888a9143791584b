"""Products whose computed operand is B: their transposes have it as A, in registers.

    %s = convert_layout %q : 128x64, smem       // %q is computed from a tile of a stage
    %b = view %s : 64x128, columns of %s        %c0 = permute %c
    %d = dot %a, %b, %c                     ->  %t = view %a : 64x256, columns of %a
                                                %d0 = dot %q, %t, %c0       // 128 x 256
                                                %d = permute %d0

wgmma reads A from registers and B from shared memory only.  Loops carry the transposed accumulator
(`CarryUnpermuted`), and what is computed of it behind them keeps its registers: only the addresses
that are stored to change (`stmatrix.trans`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.layouts.tile_groups import taken_in_place
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.product_ends import exchange_ends
from tileas_xdsl.dialects.nv_tileas.compute.row_order import set_rows_in_pairs
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import (
    is_dense_transpose,
    transposed_encoding,
)
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.layout.units import WARPGROUP_WARPS
from tileas_xdsl.target.costs.latencies import Latencies, latencies
from tileas_xdsl.target.mma.warp_tiles import fits_accumulators
from tileas_xdsl.transforms.choose_tma.byte_columns import computed_columns, takes_columns
from tileas_xdsl.transforms.normalize_dot_operands.permutations import Permuted, permutation
from tileas_xdsl.transforms.normalize_dot_operands.register_operands import (
    in_whole_rows,
    is_computed_fragment,
    is_of_stage,
)
from tileas_xdsl.transforms.tileaa_to_tileas.products import kernel_warps
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert

BARRIERS = 2
"""Around a store of an operand to shared memory: it is read by no one, and written by all."""


class ExchangeOperands(RewritePattern):
    """Multiply the transposes where B is computed, A is in a stage, and that takes less time."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter) -> None:
        computed, columns = _computed_b(op), computed_columns(op.b)
        insert, transposed = Insert(rewriter.insert), (1, 0)
        if len(shape_of(op.a.type)) != len(transposed) or not is_of_stage(op.a):
            return
        if not _is_accumulated_apart(op) or not _is_cheaper(op):
            return
        if computed is None and columns is not None and takes_columns(op, columns):
            computed = permutation(Permuted(columns, transposed), insert)
        elif computed is None or not is_computed_fragment(op, computed):
            return
        rows, depth = shape_of(op.a.type)
        type_ = TensorType(element_of(op.a.type), (depth, rows), transposed_encoding(depth, rows))
        made = insert(
            DotOp(
                *(computed, insert(ViewOp(op.a, type_)).result),
                permutation(Permuted(op.c, transposed), insert),
                op.atom,
                signedness_a=op.signedness_b,
                signedness_b=op.signedness_a,
                promote=op.promote is not None,
            )
        )
        made.attributes |= op.attributes
        if columns is not None:
            set_rows_in_pairs(made)
        exchange_ends(made, rows)
        rewriter.replace(op, [], [permutation(Permuted(made.results[0], transposed), insert)])


def _computed_b(op: DotOp) -> SSAValue | None:
    """The matrix whose rows are the columns of B, where threads store it to shared memory."""
    view = op.b.owner
    if not isinstance(view, ViewOp) or not is_dense_transpose(op.b.type):
        return None
    stored = view.source.owner
    return stored.source if isinstance(stored, ConvertLayoutOp) else None


def _is_accumulated_apart(op: DotOp) -> bool:
    """Whether nothing but loops and element-wise code has the accumulator, until it is stored."""
    return _begins_uniform(op.c) and _ends_elementwise(op.result, op)


def _begins_uniform(value: SSAValue) -> bool:
    """Whether an accumulator begins as one number in all places, perhaps in front of loops."""
    owner = value.owner
    if isinstance(owner, Operation):
        return isinstance(owner, tensor.SplatOp | arith.ConstantOp)
    loop = owner.parent_op()
    if not isinstance(loop, scf.ForOp) or not value.has_one_use():
        return False
    return _begins_uniform(loop.iter_args[owner.args.index(value) - 1])


@memoized_walk
def _ends_elementwise(value: SSAValue, product: DotOp) -> bool:
    """Whether all that is computed of a tile is computed element by element, and then stored."""
    for use in value.uses:
        following = _computed_of(use, value, product)
        if following is None or not all(_ends_elementwise(v, product) for v in following):
            return False
    return True


def _computed_of(use: Use, value: SSAValue, product: DotOp) -> Sequence[SSAValue] | None:
    """The tiles that an operation computes of one, element by element; None if it does otherwise.

    Loops around the product carry its value; a copy, to where it is stored, computes nothing.
    """
    op = use.operation
    match op:
        case CopyOp():
            return ()
        case scf.YieldOp():
            loop = op.parent_op()
            if not isinstance(loop, scf.ForOp) or not loop.is_ancestor(product):
                return None
            return [loop.results[use.index]]
        case tensor.ExtractOp():
            made = op.parent_op()
            if not isinstance(made, GenerateOp) or value not in taken_in_place(made):
                return None
            return made.results
        case _:
            is_elementwise = layout_role(op) is LayoutRole.ELEMENTWISE and not op.regions
            return op.results if is_elementwise else None


def _is_cheaper(op: DotOp) -> bool:
    """Whether shared memory is busy for fewer cycles where A is B in registers.

    Each warpgroup reads its rows of A and all of B; a computed B is stored first, between barriers.
    """
    module = enclosing(op, ModuleOp)
    assert module is not None
    times = latencies(module_target(module, None).name)
    groups = kernel_warps(op) // WARPGROUP_WARPS
    (m, k), (_, n) = shape_of(op.a.type), shape_of(op.b.type)
    if not fits_accumulators(n, m, groups) or not in_whole_rows(n, groups):
        return False
    size = bits_of(element_of(op.a.type)) // 8
    stored = (n + m + groups * n) * k * size
    return groups * m * k * size / times.shared_rate < _stored_cycles(stored, times)


def _stored_cycles(count: int, times: Latencies) -> float:
    return count / times.shared_rate + BARRIERS * times.barrier
