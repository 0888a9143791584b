"""The pass `fuse-fma`: products of Tile IR that are only added to something become fused.

    %p = mulf %a, %b : tile<64xf32>
    %r = addf %p, %c : tile<64xf32>
    // becomes
    %r = fma %a, %b, %c : tile<64xf32>

The pass of the public Tile IR repository has this name.  It changes results: a fused operation
rounds once where two operations round twice.  So it fuses only operations that round alike and
flush alike, whose product nothing else reads, and it runs only where somebody asks for it.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.rewriting import apply_patterns
from tileas_xdsl.dialects.cuda_tile.tiles.floats import AddFOp, FmaOp, MulFOp, SubFOp
from tileas_xdsl.dialects.cuda_tile.tiles.functions import NegFOp
from tileas_xdsl.transforms.canonicalization.cuda_tile import FLOAT_SUM_PATTERNS
from tileas_xdsl.transforms.extension import with_added


class FuseSum(RewritePattern):
    """`a * b + c`, the product on either side."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddFOp, rewriter: PatternRewriter) -> None:
        for product, addend in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if (multiplication := _fusible(product, op)) is not None:
                rewriter.replace(op, _fused(multiplication, addend))
                rewriter.erase(multiplication)
                return


class FuseDifference(RewritePattern):
    """`a * b - c` is `a * b + (-c)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SubFOp, rewriter: PatternRewriter) -> None:
        if (multiplication := _fusible(op.lhs, op)) is None:
            return
        negated = NegFOp(operands=[op.rhs], result_types=[op.rhs.type])
        rewriter.replace(op, [negated, _fused(multiplication, negated.result)])
        rewriter.erase(multiplication)


def _fusible(product: SSAValue, sum_: AddFOp | SubFOp) -> MulFOp | None:
    """The multiplication of a sum's operand, if the two round alike and nothing else reads it."""
    multiplication = product.owner
    if not isinstance(multiplication, MulFOp) or not product.has_one_use():
        return None
    is_same_rounding = (
        multiplication.rounding_mode == sum_.rounding_mode
        and multiplication.flush_to_zero == sum_.flush_to_zero
    )
    return multiplication if is_same_rounding else None


def _fused(multiplication: MulFOp, addend: SSAValue) -> FmaOp:
    return FmaOp(
        operands=[multiplication.lhs, multiplication.rhs, addend],
        result_types=[multiplication.result.type],
        properties=dict(multiplication.properties),
    )


PATTERNS = (FuseSum(), FuseDifference(), *FLOAT_SUM_PATTERNS)


@dataclass(frozen=True)
class FuseFma(ModulePass):
    """Fuse products of Tile IR with the sums and differences that alone read them."""

    name = "fuse-fma"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, with_added(FuseFma.name, PATTERNS))
