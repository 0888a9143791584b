"""Tiles made of other tiles by moving elements, and the simplest tiles there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.nv_tileaa.base import (
    Axes,
    Shape,
    check_elements,
    check_shape,
    element_of,
    listed,
    number,
    numbers,
    shape_of,
    tile_like,
    type_at,
)
from tileas_xdsl.dialects.nv_tileaa.compute.bodies import check_body
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Coordinates
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

_ARROW = "$source attr-dict `:` type($source) `->` type($result)"


@tileas_op
class ViewOp(TileasOp):
    """The same elements, in row-major order, in another shape; a scalar is a shape too."""

    name = "nv_tileaa.view"

    source: fields.Operand = fields.operand()
    result: fields.Result[Attribute] = fields.typed_result(alias="result_type")

    traits = traits_def(Pure(), Canonicalized("nv_tileaa.SHAPE_PATTERNS"))
    assembly_format = _ARROW

    def verify_(self) -> None:
        check_elements(self, self.source.type, self.result.type)
        there, here = (prod(shape_of(v.type)) for v in (self.source, self.result))
        if there != here:
            raise op_error(self, f"keeps {there} elements, but gives {here}")


def _unsqueezed(shape: Sequence[int], axis: int) -> Sequence[int]:
    return (*shape[:axis], 1, *shape[axis:])


def _expanded(given: Mapping[str, Any]) -> Attribute:
    type_ = type_at(given, "source")
    return tile_like(_unsqueezed(shape_of(type_), given["axis"]), type_)


@tileas_op
class ExpandDimsOp(TileasOp):
    """A tile with a dimension of extent one more, before dimension `axis` of the source."""

    name = "nv_tileaa.expand_dims"

    source: fields.Operand = fields.operand(TensorType)
    axis: fields.Int = fields.prop(IntegerAttr.constr(i32))
    result: fields.Result[Attribute] = fields.typed_result(TensorType, type=_expanded, init=False)

    traits = traits_def(Pure(), Canonicalized("nv_tileaa.SHAPE_PATTERNS"))
    assembly_format = _ARROW

    def verify_(self) -> None:
        check_elements(self, self.source.type, self.result.type)
        shape, axis = shape_of(self.source.type), self.axis.value.data
        if not 0 <= axis <= len(shape):
            raise op_error(self, f"the new axis of a rank {len(shape)} tile is not {axis}")
        check_shape(self, "the result", self.result.type, _unsqueezed(shape, axis))


@tileas_op
class BroadcastOp(TileasOp):
    """The same elements again along dimensions of extent one."""

    name = "nv_tileaa.broadcast"

    source: fields.Operand = fields.operand(TensorType)
    result: Shape = fields.typed_result(TensorType, convert=tile_like, alias="shape", of="source")

    traits = traits_def(Pure(), Canonicalized("nv_tileaa.SHAPE_PATTERNS"))
    assembly_format = _ARROW

    def verify_(self) -> None:
        check_elements(self, self.source.type, self.result.type)
        source, result = shape_of(self.source.type), shape_of(self.result.type)
        fits = len(source) == len(result)
        if not fits or any(a not in (1, b) for a, b in zip(source, result, strict=True)):
            raise op_error(
                self, f"repeats extents of 1 of ({listed(source)}) to ({listed(result)})"
            )


def _permuted(given: Mapping[str, Any]) -> Attribute:
    type_, permutation = type_at(given, "source"), cast("Sequence[int]", given["permutation"])
    return tile_like([shape_of(type_)[k] for k in permutation], type_)


@tileas_op
class PermuteOp(TileasOp):
    """Dimension `i` of the result is dimension `permutation[i]` of the source."""

    name = "nv_tileaa.permute"

    source: fields.Operand = fields.operand(TensorType)
    permutation: Axes = fields.prop(DenseArrayBase.constr(i64), convert=numbers)
    result: fields.Result[Attribute] = fields.typed_result(TensorType, type=_permuted, init=False)

    traits = traits_def(Pure())
    assembly_format = _ARROW

    def verify_(self) -> None:
        check_elements(self, self.source.type, self.result.type)
        order: Sequence[int] = self.permutation.get_values()
        shape = shape_of(self.source.type)
        if sorted(order) != list(range(len(shape))):
            raise op_error(self, f"({listed(order)}) is no order of {len(shape)} dimensions")
        check_shape(self, "the result", self.result.type, [shape[k] for k in order])


def _concatenated(a: Attribute, b: Attribute, axis: int) -> Sequence[int]:
    first, second = shape_of(a), shape_of(b)
    return (*first[:axis], first[axis] + second[axis], *first[axis + 1 :])


def _joined(given: Mapping[str, Any]) -> Attribute:
    left, right = type_at(given, "lhs"), type_at(given, "rhs")
    return tile_like(_concatenated(left, right, given["axis"]), left)


@tileas_op
class CatOp(TileasOp):
    """`lhs`, then `rhs`, along dimension `axis`."""

    name = "nv_tileaa.cat"

    lhs: fields.Operand = fields.operand(TensorType)
    rhs: fields.Operand = fields.operand(TensorType)
    axis: fields.Int = fields.prop(IntegerAttr.constr(i32))
    result: fields.Result[Attribute] = fields.typed_result(TensorType, type=_joined, init=False)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"

    def verify_(self) -> None:
        left, right, axis = self.lhs.type, self.rhs.type, self.axis.value.data
        check_elements(self, left, right)
        check_elements(self, left, self.result.type)
        if not 0 <= axis < len(shape_of(left)):
            raise op_error(self, f"a tile of rank {len(shape_of(left))} has no axis {axis}")
        a, b = shape_of(left), shape_of(right)
        if (*a[:axis], *a[axis + 1 :]) != (*b[:axis], *b[axis + 1 :]):
            raise op_error(self, f"joins ({listed(a)}) and ({listed(b)}) along axis {axis} only")
        check_shape(self, "the result", self.result.type, _concatenated(left, right, axis))


def check_slices(
    op: TileasOp, whole: Attribute, part: Attribute, indices: Sequence[SSAValue]
) -> None:
    """A whole number of parts along each dimension, and an index for each."""
    check_elements(op, whole, part)
    extents, pieces = shape_of(whole), shape_of(part)
    fits = len(extents) == len(pieces)
    if not fits or any(n % m for n, m in zip(extents, pieces, strict=True)):
        raise op_error(op, f"({listed(extents)}) is not made of parts of ({listed(pieces)})")
    if len(indices) != len(extents):
        raise op_error(op, f"expects {len(extents)} indices, but got {len(indices)}")


@tileas_op
class ExtractOp(TileasOp):
    """A part of a tile, by its number along each dimension."""

    name = "nv_tileaa.extract"

    source: fields.Operand = fields.operand(TensorType)
    indices: fields.Operands = fields.operands(IndexType)
    result: Shape = fields.typed_result(TensorType, convert=tile_like, alias="shape", of="source")

    traits = traits_def(Pure())
    custom_directives = (Coordinates,)
    assembly_format = (
        "$source `` custom<Coordinates>($indices, type($indices)) attr-dict"
        " `:` type($source) `->` type($result)"
    )

    def verify_(self) -> None:
        check_elements(self, self.source.type, self.result.type)
        check_slices(self, self.source.type, self.result.type, self.indices)


@tileas_op
class InsertOp(TileasOp):
    """`destination` with the part replaced that has these numbers along each dimension."""

    name = "nv_tileaa.insert"

    source: fields.Operand = fields.operand(TensorType)
    destination: fields.Operand = fields.operand(TensorType)
    indices: fields.Operands = fields.operands(IndexType)
    result: fields.Result[Attribute] = fields.typed_result(
        TensorType, type=fields.type_of("destination"), init=False
    )

    traits = traits_def(Pure())
    custom_directives = (Coordinates,)
    assembly_format = (
        "$source `into` $destination `` custom<Coordinates>($indices, type($indices)) attr-dict"
        " `:` type($source) `,` type($destination) `->` type($result)"
    )

    def verify_(self) -> None:
        check_slices(self, self.destination.type, self.source.type, self.indices)
        if self.result.type != self.destination.type:
            raise op_error(self, f"gives {self.destination.type}, not {self.result.type}")


@tileas_op
class MakeRangeOp(TileasOp):
    """The numbers `start`, `start + 1` and so on, up to `end`."""

    name = "nv_tileaa.make_range"

    start: fields.Int = fields.prop(IntegerAttr.constr(i64), convert=number)
    end: fields.Int = fields.prop(IntegerAttr.constr(i64), convert=number)
    result: fields.Result[Attribute] = fields.typed_result(TensorType, alias="result_type")

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def verify_(self) -> None:
        if not isinstance(element_of(self.result.type), IntegerType):
            raise op_error(self, f"counts in integers, not in {self.result.type}")
        count = self.end.value.data - self.start.value.data
        if count < 1:
            raise op_error(self, "ends after its start")
        check_shape(self, "the result", self.result.type, [count])


@tileas_op
class SplatOp(TileasOp):
    """A scalar as every element of a tile."""

    name = "nv_tileaa.splat"

    source: fields.Operand = fields.operand()
    result: Shape = fields.typed_result(TensorType, convert=tile_like, alias="shape", of="source")

    traits = traits_def(Pure())
    assembly_format = _ARROW

    def verify_(self) -> None:
        if element_of(self.result.type) != self.source.type:
            raise op_error(
                self, f"repeats {self.source.type} in tiles of it, not {self.result.type}"
            )


@tileas_op
class GenerateOp(TileasOp):
    """A tile whose elements the body computes from their coordinates, one `index` a dimension."""

    name = "nv_tileaa.generate"

    result: fields.Result[Attribute] = fields.typed_result(TensorType, alias="result_type")
    body: fields.Body = fields.body(single_block=True)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result) $body"

    def verify_(self) -> None:
        wanted = (IndexType(),) * len(shape_of(self.result.type))
        check_body(self, self.body, wanted, (element_of(self.result.type),))
