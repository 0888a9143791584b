"""The pass `sink-negf-through-shapes`: compute on a row before it is repeated, not behind.

    %b = nv_tileaa.broadcast %x : tensor<64x1xf32> -> tensor<64x128xf32>
    %n = arith.negf %b : tensor<64x128xf32>           // 8,192 elements

    %m = arith.negf %x : tensor<64x1xf32>             // 64 elements
    %n = nv_tileaa.broadcast %m : tensor<64x1xf32> -> tensor<64x128xf32>

The published pass moves `negf` alone, for the sake of operand modifiers.  An exponential or a root
of a row costs more than a sign, so every operation of one operand that works element by element
moves, through every operation that only repeats or reshapes.
"""

from __future__ import annotations

from math import prod

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import Pure

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import emit, note
from tileas_xdsl.diagnostics.rewriting import apply_patterns
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of, tile_of
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import FpToFpOp
from tileas_xdsl.dialects.nv_tileaa.compute.shapes import BroadcastOp, ExpandDimsOp, SplatOp, ViewOp
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.transforms.extension import with_added

SHAPES = (BroadcastOp, ExpandDimsOp, SplatOp, ViewOp)
"""The elements of their source, in order or repeated."""


class SinkThroughShapes(RewritePattern):
    """An operation on elements that were repeated is done before they are."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not _is_elementwise(op):
            return
        shapes = _shapes_of(op.operands[0])
        source = shapes[-1].operands[0] if shapes else op.operands[0]
        if prod(shape_of(source.type)) == prod(shape_of(op.operands[0].type)):
            return
        element = element_of(op.results[0].type)
        value = _again(op, source, tile_of(element, shape_of(source.type)), rewriter)
        for shape in reversed(shapes):
            repeated = tile_of(element, shape_of(shape.results[0].type))
            value = _again(shape, value, repeated, rewriter)
        rewriter.replace(op, [], [value])
        for shape in shapes:
            if not shape.results[0].uses:
                rewriter.erase(shape)


def _again(
    op: Operation, operand: SSAValue, type_: Attribute, rewriter: PatternRewriter
) -> SSAValue:
    """The same operation of another operand."""
    made = on_types(op, [operand], [type_])
    rewriter.insert(made)
    return made.results[0]


def _is_elementwise(op: Operation) -> bool:
    """Whether an operation computes each element of its result from that of one operand."""
    if len(op.operands) != 1 or len(op.results) != 1 or op.regions or not op.has_trait(Pure):
        return False
    if op.name.partition(".")[0] not in ("arith", "math") and not isinstance(op, FpToFpOp):
        return False
    return shape_of(op.operands[0].type) == shape_of(op.results[0].type) != ()


def _shapes_of(value: SSAValue) -> list[Operation]:
    """What repeats and reshapes elements up to a value, the last one first."""
    found: list[Operation] = []
    while isinstance(value.owner, SHAPES):
        found.append(value.owner)
        value = value.owner.source
    return found


@dataclass(frozen=True)
class SinkNegfThroughShapes(ModulePass):
    """Move negations, and all that works on single elements, before shape operations.

    Only where the source has fewer elements.  With `explain`, a note at each negation that stays
    says that it is of no repeated tile.
    """

    name = "sink-negf-through-shapes"

    explain: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, with_added(self.name, [SinkThroughShapes()]))
        for left in operations_in(op) if self.explain else ():
            if isinstance(left, arith.NegfOp) and not _shapes_of(left.operand):
                emit(note(left, message("sink_negf.no_broadcast_expand_dim")))
