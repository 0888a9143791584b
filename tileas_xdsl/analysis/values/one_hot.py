"""Tiles of which one element along an axis is chosen, and all others are one constant.

A program without subscripts takes row `%k` of a tile as the sum of what a mask leaves of it:

    %m = nv_tileas.generate : tensor<32x32xf32> {
    ^bb0(%i: index, %j: index):
      %r = arith.index_cast %i : index to i32
      %here = arith.cmpi eq, %r, %k : i32           chosen along axis 0 by %k
      %x = tensor.extract %t[%i, %j]
      %y = arith.select %here, %x, %zero : f32      the others are 0
      nv_tileas.yield %y : f32
    }
    %row = nv_tileas.reduce %m {axis = 0 : i32} ... arith.addf

Further conditions may exclude the chosen element, too.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import uniform_constant, uniform_integer
from tileas_xdsl.dialects.nv_tileas.compute.combiners import COMBINERS, identity_of
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of

EQUAL = 0
"""The predicate `eq` of `arith.cmpi`."""

_IDEMPOTENT = ("max", "min", "and", "or")
"""Reductions of equal elements that give one of them."""

Position: TypeAlias = SSAValue | int


@dataclass(frozen=True)
class OneHot:
    """The position of the only element along an axis that is not `other`, for all lines alike.

    Where it is not a position of the tile, all elements are `other`.
    """

    position: Position
    other: FloatAttr | IntegerAttr


def one_hot_line(op: ReduceOp) -> OneHot | None:
    """Return what a reduction chooses of each line; None where it may combine several elements."""
    found = _chosen(op.source, op.axis.value.data) if len(op.sources) == 1 else None
    return found if found is not None and keeps(op, found.other) else None


def keeps(op: ReduceOp, other: FloatAttr | IntegerAttr) -> bool:
    """Whether a reduction of one element and any number of constants gives the element."""
    inner = op.body.block.first_op
    is_one = inner is not None and len(list(op.body.block.ops)) == 2
    return inner is not None and is_one and _keeps(inner, other.value.data)


def _keeps(combiner: Operation, other: float) -> bool:
    """Whether an operation makes of a constant and the same one that constant."""
    kind = COMBINERS.get(combiner.name)
    if kind is None or set(combiner.operands) != set(_arguments(combiner)):
        return False
    return kind in _IDEMPOTENT or other == identity_of(combiner.name, _bits(combiner))


def _arguments(combiner: Operation) -> tuple[SSAValue, ...]:
    block = combiner.parent_block()
    return () if block is None else tuple(block.args)


def _bits(combiner: Operation) -> int:
    type_: Attribute = combiner.results[0].type
    return bits_of(type_)


def _chosen(tile: SSAValue, axis: int) -> OneHot | None:
    owner = tile.owner
    while isinstance(owner, ConvertLayoutOp):
        owner = owner.source.owner
    if not isinstance(owner, GenerateOp):
        return None
    block = owner.body.block
    choice = None if block.last_op is None else block.last_op.operands[0].owner
    if not isinstance(choice, arith.SelectOp):
        return None
    position, other = _position(choice.cond, block, axis), uniform_constant(choice.rhs)
    return None if position is None or other is None else OneHot(position, other)


def _position(condition: SSAValue, block: Block, axis: int) -> Position | None:
    """Return what the coordinate along an axis is equal to wherever a condition holds."""
    match condition.owner:
        case arith.AndIOp() as both:
            found = [_position(one, block, axis) for one in both.operands]
            return next((one for one in found if one is not None), None)
        case arith.CmpiOp() as compared if compared.predicate.value.data == EQUAL:
            sides = [_without_casts(one, block) for one in compared.operands]
            if block.args[axis] not in sides:
                return None
            other = sides[1 - sides.index(block.args[axis])]
            return _outside(other, block)
        case _:
            return None


def _without_casts(value: SSAValue, block: Block) -> SSAValue:
    """Return what a value of the body is cast from; casts keep the bits that tell positions."""
    while isinstance(value.owner, arith.IndexCastOp) and value.owner.parent_block() is block:
        value = value.owner.input
    return value


def _outside(value: SSAValue, block: Block) -> Position | None:
    number = uniform_integer(value)
    if number is not None:
        return number
    made_in = value.owner if isinstance(value.owner, Block) else value.owner.parent_block()
    return None if made_in is block else value
