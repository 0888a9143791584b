"""Convert operations that move elements to `view`, `expand_dims`, `splat` or `generate`.

`generate` has a body that computes one element from its coordinates, so that a move is an index
expression, which later fuses with what reads it:

    %b = nv_tileaa.broadcast %t        ->  %b = nv_tileas.generate : tensor<4x8xf32> {
      : tensor<1x8xf32>                    ^bb0(%i: index, %j: index):
        -> tensor<4x8xf32>                   %z = arith.constant 0 : index
                                             %e = tensor.extract %t[%z, %j] : tensor<1x8xf32>
                                             nv_tileas.yield %e : f32
                                           }

Operations that keep the row-major order of elements (`view`, `expand_dims`) need no body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith, tensor
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute import bodies, shapes
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.transforms.tileaa_to_tileas.rules import INDEX, Element, Insert, Rule, generated


def taken(source: SSAValue, insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
    """The element of a tile at a place."""
    return insert(tensor.ExtractOp(source, coordinates, element_of(source.type))).result


def filled(insert: Insert, scalar: SSAValue, type_: Any) -> SSAValue:
    """A scalar as every element of a tile."""
    return insert(tensor.SplatOp(scalar, [], type_)).result


def selected(insert: Insert, mask: SSAValue, one: SSAValue, other: SSAValue) -> SSAValue:
    """For each element one value or the other."""
    shape = shape_of(mask.type)
    if not shape:
        return insert(arith.SelectOp(mask, one, other)).result

    def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        condition, *both = (taken(tile, insert, coordinates) for tile in (mask, one, other))
        return insert(arith.SelectOp(condition, *both)).result

    return generated(insert, element_of(one.type), shape, at)


def _made(op: Any, insert: Insert, at: Element) -> Sequence[SSAValue]:
    type_ = op.result.type
    return [generated(insert, element_of(type_), shape_of(type_), at)]


def splat(op: shapes.SplatOp, insert: Insert) -> Sequence[SSAValue]:
    """A scalar in a whole tile."""
    return [filled(insert, op.source, op.result.type)]


def view(op: shapes.ViewOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a change of shape to a view; a scalar is one element."""
    there, here = shape_of(op.source.type), shape_of(op.result.type)
    if not there:
        return [filled(insert, op.source, op.result.type) if here else op.source]
    if not here:
        return [taken(op.source, insert, [insert.index(0)] * len(there))]
    return [insert(ViewOp(op.source, op.result.type)).result]


def expand_dims(op: shapes.ExpandDimsOp, insert: Insert) -> Sequence[SSAValue]:
    """A dimension of one more."""
    return [insert(ExpandDimsOp(op.source, op.axis.value.data, op.result.type)).result]


def broadcast(op: shapes.BroadcastOp, insert: Insert) -> Sequence[SSAValue]:
    """The first element along each dimension that is repeated."""
    source, shape = op.source, shape_of(op.source.type)
    if isinstance(maker := source.owner, tensor.SplatOp):
        return [filled(insert, maker.input, op.result.type)]

    def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        wanted = zip(shape, coordinates, strict=True)
        return taken(source, insert, [insert.index(0) if n == 1 else i for n, i in wanted])

    return _made(op, insert, at)


def permute(op: shapes.PermuteOp, insert: Insert) -> Sequence[SSAValue]:
    """Coordinate `i` of the result is coordinate `permutation[i]` of the source."""
    order: Sequence[int] = op.permutation.get_values()

    def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        return taken(op.source, insert, [coordinates[order.index(k)] for k in range(len(order))])

    return _made(op, insert, at)


def cat(op: shapes.CatOp, insert: Insert) -> Sequence[SSAValue]:
    """Both tiles are asked at places that they have, and one of them is believed."""
    axis = op.axis.value.data
    extent = shape_of(op.lhs.type)[axis]

    def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        here = coordinates[axis]
        border, last = insert.index(extent), insert.index(extent - 1)
        is_left = insert(arith.CmpiOp(here, border, "slt")).result
        left = insert(arith.MinSIOp(here, last)).result
        behind = insert(arith.SubiOp(here, border)).result
        right = insert(arith.MaxSIOp(behind, insert.index(0))).result
        one, other = (
            taken(tile, insert, [*coordinates[:axis], index, *coordinates[axis + 1 :]])
            for tile, index in ((op.lhs, left), (op.rhs, right))
        )
        return insert(arith.SelectOp(is_left, one, other)).result

    return _made(op, insert, at)


def _firsts(insert: Insert, indices: Sequence[SSAValue], part: Sequence[int]) -> list[SSAValue]:
    """Where the part with these numbers begins, as constants where the numbers are."""
    return [_first(insert, index, extent) for index, extent in zip(indices, part, strict=True)]


def _first(insert: Insert, index: SSAValue, extent: int) -> SSAValue:
    made = index.owner
    number = constant_integer(made.input if isinstance(made, arith.IndexCastOp) else index)
    if number is not None:
        return insert.index(number * extent)
    return insert(arith.MuliOp(index, insert.index(extent))).result


def extract(op: shapes.ExtractOp, insert: Insert) -> Sequence[SSAValue]:
    """Elements from the first one of the part on."""
    firsts = _firsts(insert, op.indices, shape_of(op.result.type))

    def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        pairs = zip(coordinates, firsts, strict=True)
        return taken(op.source, insert, [insert(arith.AddiOp(i, n)).result for i, n in pairs])

    return _made(op, insert, at)


def insert_part(op: shapes.InsertOp, insert: Insert) -> Sequence[SSAValue]:
    """Both tiles are asked at places that they have; the part is believed inside of it."""
    part = shape_of(op.source.type)
    firsts = _firsts(insert, op.indices, part)

    def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        zero, inside, in_part = insert.index(0), list[SSAValue](), list[SSAValue]()
        for index, first, extent in zip(coordinates, firsts, part, strict=True):
            offset = insert(arith.SubiOp(index, first)).result
            # Read as unsigned, what lies before the part is far behind it.
            inside.append(insert(arith.CmpiOp(offset, insert.index(extent), "ult")).result)
            low = insert(arith.MaxSIOp(offset, zero)).result
            in_part.append(insert(arith.MinSIOp(low, insert.index(extent - 1))).result)
        chosen = inside[0]
        for one in inside[1:]:
            chosen = insert(arith.AndIOp(chosen, one)).result
        new, old = taken(op.source, insert, in_part), taken(op.destination, insert, coordinates)
        return insert(arith.SelectOp(chosen, new, old)).result

    return _made(op, insert, at)


def make_range(op: shapes.MakeRangeOp, insert: Insert) -> Sequence[SSAValue]:
    """The coordinate, counted from the start."""
    start, element = op.start.value.data, element_of(op.result.type)

    def at(insert: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        number = coordinates[0]
        if start:
            number = insert(arith.AddiOp(number, insert.index(start))).result
        assert number.type == INDEX
        return insert.cast(number, element)

    return _made(op, insert, at)


def generate(op: shapes.GenerateOp, insert: Insert) -> Sequence[SSAValue]:
    """Convert a `generate`, whose body stays."""
    return [insert(GenerateOp(cast(Tile, op.result.type), op.detach_region(op.body))).result]


def yield_(op: bodies.YieldOp, insert: Insert) -> Sequence[SSAValue]:
    """The end of a body."""
    insert(YieldOp(*op.arguments))
    return []


SHAPES: Mapping[type[Operation], Rule] = {
    bodies.YieldOp: yield_,
    shapes.BroadcastOp: broadcast,
    shapes.CatOp: cat,
    shapes.ExpandDimsOp: expand_dims,
    shapes.ExtractOp: extract,
    shapes.GenerateOp: generate,
    shapes.InsertOp: insert_part,
    shapes.MakeRangeOp: make_range,
    shapes.PermuteOp: permute,
    shapes.SplatOp: splat,
    shapes.ViewOp: view,
}
