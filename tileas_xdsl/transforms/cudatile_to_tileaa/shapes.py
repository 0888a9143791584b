"""Tiles made of other tiles, constants, and numbers of the grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.analysis.values.integer_bounds import is_never_negative
from tileas_xdsl.dialects.cuda_tile.tiles import shapes as ct
from tileas_xdsl.dialects.cuda_tile.tiles.constants import ConstantOp
from tileas_xdsl.dialects.cuda_tile.tiles.reductions import ReduceOp
from tileas_xdsl.dialects.ir_queries import uniform_integer
from tileas_xdsl.dialects.nv_tileaa import grid
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute import shapes as aa
from tileas_xdsl.dialects.xdsl_ops import constant_op
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.elementwise.wrapped_indices import (
    is_python_remainder,
)


def constant(c: Converter, op: ConstantOp) -> Sequence[SSAValue]:
    """A dense literal, or the number of a scalar."""
    value: Any = op.value
    type_: Any = c.type(op.result)
    if shape_of(type_):
        if element_of(type_) != value.get_element_type():
            value = DenseIntOrFPElementsAttr.from_list(type_, [*value.get_values()])
        return [c.insert(constant_op(value)).result]
    (number,) = value.get_values()
    return [c.insert(constant_op(_number(number, type_))).result]


def _number(number: float, element: Any) -> IntegerAttr[Any] | FloatAttr[Any]:
    is_whole = isinstance(cast(Attribute, element), IntegerType)
    return IntegerAttr(int(number), element) if is_whole else FloatAttr(number, element)


def zeros(c: Converter, type_: Attribute) -> SSAValue:
    """Zero, or a tile of zeros."""
    if not shape_of(type_):
        return c.insert(arith.ConstantOp(_number(0, type_))).result
    tile: Any = type_
    return c.insert(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(tile, [0]))).result


def iota(c: Converter, op: ct.IotaOp) -> Sequence[SSAValue]:
    """The numbers from 0 on."""
    type_ = c.type(op.result)
    return [c.insert(aa.MakeRangeOp(0, shape_of(type_)[0], type_)).result]


def broadcast(c: Converter, op: ct.BroadcastOp) -> Sequence[SSAValue]:
    """Convert a broadcast."""
    source, type_ = c.get(op.source), c.type(op.result)
    if source.type == type_:
        return [source]
    if isinstance(source.owner, aa.SplatOp):
        return [c.splat(source.owner.source, shape_of(type_))]
    return [c.insert(aa.BroadcastOp(source, shape_of(type_))).result]


def reshape(c: Converter, op: ct.ReshapeOp) -> Sequence[SSAValue]:
    """Convert a reshape, which keeps the elements in row-major order."""
    return [reshaped(c, c.get(op.source), op.result)]


def reshaped(c: Converter, source: SSAValue, result: SSAValue) -> SSAValue:
    """What `result` of Tile IR is converted to, which has the elements of a tile in their order.

    Where only reductions read it, it keeps dimensions of extent 1.
    """
    there, here = shape_of(source.type), shape_of(c.type(result))
    has_more_units = _without_units(there) == _without_units(here) and len(there) > len(here) > 0
    if has_more_units and {type(use.operation) for use in result.uses} == {ReduceOp}:
        return source
    return viewed(c, source, c.type(result))


def viewed(c: Converter, source: SSAValue, type_: Attribute) -> SSAValue:
    """A tile, or a scalar, under another shape."""
    if isinstance(source.owner, aa.ViewOp) and not shape_of(source.type):
        source = source.owner.source  # The element of a tile stays where the tile is.
    there, here = shape_of(source.type), shape_of(type_)
    if there == here:
        return source
    if not there:
        return c.splat(source, here)
    if isinstance(source.owner, aa.SplatOp):
        return c.splat(source.owner.source, here)
    axis = _new_axis(there, here)
    if axis is not None:
        return c.insert(aa.ExpandDimsOp(source, axis)).result
    return c.insert(aa.ViewOp(source, type_)).result


def _without_units(shape: Sequence[int]) -> Sequence[int]:
    return [extent for extent in shape if extent != 1]


def _new_axis(there: Sequence[int], here: Sequence[int]) -> int | None:
    """The last place where `here` has one more dimension of extent one, None if that is not all."""
    unit_axes = [k for k, extent in enumerate(here) if extent == 1]
    return next((k for k in reversed(unit_axes) if [*here[:k], *here[k + 1 :]] == [*there]), None)


def permute(c: Converter, op: ct.PermuteOp) -> Sequence[SSAValue]:
    """Dimensions in another order."""
    order: Sequence[int] = op.permutation.get_values()
    return [c.insert(aa.PermuteOp(c.get(op.source), order)).result]


def cat(c: Converter, op: ct.CatOp) -> Sequence[SSAValue]:
    """One tile behind the other."""
    return [c.insert(aa.CatOp(c.get(op.lhs), c.get(op.rhs), op.dim.value.data)).result]


def extract(c: Converter, op: ct.ExtractOp) -> Sequence[SSAValue]:
    """A part of a tile."""
    source, shape = c.get(op.source), shape_of(c.type(op.result))
    if not shape:
        return [source]
    indices = [c.as_index(index) for index in c.get_all(op.indices)]
    return [c.insert(aa.ExtractOp(source, indices, shape)).result]


def insert(c: Converter, op: ct.InsertOp) -> Sequence[SSAValue]:
    """A tile with a part replaced."""
    source, destination = c.get(op.source), c.get(op.destination)
    if not shape_of(source.type):
        return [source]
    indices = [c.as_index(index) for index in c.get_all(op.indices)]
    return [c.insert(aa.InsertOp(source, destination, indices)).result]


def select(c: Converter, op: ct.SelectOp) -> Sequence[SSAValue]:
    """One value or the other, for each element; remainders by what they are of.

    Those of numbers that are not negative are as they are.  By a positive constant any others are
    what is left of the quotient: no signs are compared, and neighbours of a row stay neighbours.
    """
    values = c.get_all(op.operands)
    if is_python_remainder(op) and isinstance(remainder := values[2].owner, arith.RemSIOp):
        if all(map(is_never_negative, remainder.operands)):
            return [remainder.result]
        if (uniform_integer(remainder.rhs) or 0) > 0:
            return [_rest_of_quotient(c, *remainder.operands)]
    element = element_of(values[1].type)
    return [c.by_element(element, values, lambda *v: c.insert(arith.SelectOp(*v)).result)]


def _rest_of_quotient(c: Converter, left: SSAValue, by: SSAValue) -> SSAValue:
    """Return `left - left // by * by`, with the quotient rounded down."""
    quotient = c.insert(arith.FloorDivSIOp(left, by)).result
    return c.insert(arith.SubiOp(left, c.insert(arith.MuliOp(quotient, by)).result)).result


def block_id(c: Converter, op: ct.GetTileBlockIdOp) -> Sequence[SSAValue | None]:
    """The numbers of the block."""
    return _along_axes(c, op, grid.GetProgramIdOp)


def num_blocks(c: Converter, op: ct.GetNumTileBlocksOp) -> Sequence[SSAValue | None]:
    """The extents of the grid."""
    return _along_axes(c, op, grid.GetNumProgramsOp)


def _along_axes(
    c: Converter, op: Operation, query: type[grid.GetProgramIdOp | grid.GetNumProgramsOp]
) -> Sequence[SSAValue | None]:
    """A query along each axis that the program reads: most read one."""
    return [
        c.insert(query(axis)).result if result.first_use is not None else None
        for axis, result in enumerate(op.results)
    ]


SHAPES: Mapping[type[Operation], Rule] = {
    ConstantOp: constant,
    ct.BroadcastOp: broadcast,
    ct.CatOp: cat,
    ct.ExtractOp: extract,
    ct.GetNumTileBlocksOp: num_blocks,
    ct.GetTileBlockIdOp: block_id,
    ct.InsertOp: insert,
    ct.IotaOp: iota,
    ct.PermuteOp: permute,
    ct.ReshapeOp: reshape,
    ct.SelectOp: select,
}
