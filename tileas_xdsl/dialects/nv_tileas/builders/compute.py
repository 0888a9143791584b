"""Builders of matrix products: onto zero, under a predicate, stage by stage, with a masked K.

All of them keep atom and signedness of the product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant, select
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.enums import Signedness, SignednessAttr
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, InsertSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile


@dataclass(frozen=True)
class DotInputs:
    """The operands of a product, and the instruction."""

    a: SSAValue
    b: SSAValue
    atom: AtomAttr | str | None = None
    signedness_a: SignednessAttr | Signedness | str | None = None
    signedness_b: SignednessAttr | Signedness | str | None = None

    def dot(self, accumulator: SSAValue) -> DotOp:
        """The product onto an accumulator, not inserted yet."""
        return DotOp(
            self.a,
            self.b,
            accumulator,
            self.atom,
            signedness_a=self.signedness_a,
            signedness_b=self.signedness_b,
        )


@dataclass(frozen=True)
class StageLoop:
    """The bounds of a loop over the stages of a product."""

    first: SSAValue
    end: SSAValue
    step: SSAValue


def build_zero_accumulator_dot(builder: Builder, inputs: DotInputs, acc_type: Tile) -> DotOp:
    """A product onto a new accumulator of zeros."""
    shape = acc_type.get_shape()
    accumulator = builder.insert(AllocTensorOp(acc_type))
    zero = constant(builder, 0, TensorType(acc_type.element_type, shape))
    cleared = builder.insert(InsertSliceOp(zero, accumulator, [0] * len(shape), shape))
    return builder.insert(inputs.dot(cleared.result))


def build_predicated_dot(
    builder: Builder, inputs: DotInputs, accumulator: SSAValue, predicate: SSAValue
) -> SSAValue:
    """The product where the predicate (`i1`) holds, else the accumulator as it is."""
    dot = inputs.dot(accumulator)
    guarded = scf.IfOp(
        predicate,
        [accumulator.type],
        [dot, scf.YieldOp(dot.result)],
        [scf.YieldOp(accumulator)],
    )
    return builder.insert(guarded).output[0]


def build_staged_dot(
    builder: Builder,
    loop: StageLoop,
    accumulator: SSAValue,
    inputs_of: Callable[[Builder, SSAValue], DotInputs],
    guard_of: Callable[[Builder, SSAValue], SSAValue] | None = None,
) -> SSAValue:
    """A loop that adds one product for each stage.

    `inputs_of` builds the operands of the stage that the induction variable names; `guard_of`, if
    given, the predicate under which the stage counts.
    """
    body = Block(arg_types=[loop.first.type, accumulator.type])
    stage, carried = body.args
    inside = Builder(InsertPoint.at_end(body))
    inputs = inputs_of(inside, stage)
    if guard_of is None:
        result = inside.insert(inputs.dot(carried)).result
    else:
        result = build_predicated_dot(inside, inputs, carried, guard_of(inside, stage))
    inside.insert(scf.YieldOp(result))
    return builder.insert(scf.ForOp(loop.first, loop.end, loop.step, [accumulator], body)).res[0]


def build_masked_dot(
    builder: Builder,
    inputs: DotInputs,
    accumulator: SSAValue,
    k_extent: SSAValue,
    *,
    a_type: Attribute | None = None,
    b_type: Attribute | None = None,
) -> DotOp:
    """Multiply the first `k_extent` (`index`) columns of A by the same rows of B.

    The rest of both operands is replaced by zeros, because out-of-bounds elements may be infinite.
    `a_type` and `b_type` are the operand types, with layouts, that the instruction needs.
    """
    a = _masked(builder, inputs.a, -1, k_extent)
    b = _masked(builder, inputs.b, -2, k_extent)
    laid_out = replace(inputs, a=_converted(builder, a, a_type), b=_converted(builder, b, b_type))
    return builder.insert(laid_out.dot(accumulator))


def _masked(builder: Builder, value: SSAValue, axis: int, extent: SSAValue) -> SSAValue:
    tile = as_tile(value.type)
    if tile is None:
        raise ValueError(f"only tiles are masked, not {value.type}")
    shape = tile.get_shape()
    body = Block(arg_types=[IndexType()] * len(shape))
    inside = Builder(InsertPoint.at_end(body))
    holds = inside.insert(arith.CmpiOp(body.args[axis], extent, "slt"))
    element = inside.insert(tensor.ExtractOp(value, body.args, tile.element_type))
    zero = constant(inside, 0, tile.element_type)
    inside.insert(YieldOp(select(inside, holds, element, zero)))
    return builder.insert(GenerateOp(TensorType(tile.element_type, shape), body)).result


def _converted(builder: Builder, value: SSAValue, type_: Attribute | None) -> SSAValue:
    if (type_ := as_tile(type_)) is None or type_ == value.type:
        return value
    return builder.insert(ConvertLayoutOp(value, type_)).result
