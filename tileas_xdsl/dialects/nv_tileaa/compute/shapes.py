"""Tiles made of other tiles by moving elements, and the simplest tiles there are."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.base import (
    Value,
    check_elements,
    check_shape,
    element_of,
    listed,
    numbers,
    shape_of,
)
from tileas_xdsl.dialects.nv_tileaa.compute.bodies import check_body
from tileas_xdsl.dialects.nv_tileaa.folding import ShapePatterns
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Coordinates
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

_ARROW = "attr-dict `:` type($source) `->` type($result)"


class ShapeOp(TileasOp):
    """A tile of the elements of another one."""

    source = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(Pure())

    def check(self) -> None:
        """What else must hold."""

    def verify_(self) -> None:
        check_elements(self, self.source.type, self.result.type)
        self.check()


@tileas_op
class ViewOp(TileasOp):
    """The same elements, in row-major order, in another shape; a scalar is a shape too."""

    name = "nv_tileaa.view"

    source = operand_def()
    result = result_def()

    traits = traits_def(Pure(), ShapePatterns())
    assembly_format = f"$source {_ARROW}"

    def __init__(self, source: Value, result_type: Attribute) -> None:
        super().__init__(operands=[source], result_types=[result_type])

    def verify_(self) -> None:
        check_elements(self, self.source.type, self.result.type)
        there, here = (prod(shape_of(v.type)) for v in (self.source, self.result))
        if there != here:
            raise op_error(self, f"keeps {there} elements, but gives {here}")


@tileas_op
class ExpandDimsOp(ShapeOp):
    """A tile with a dimension of extent one more, before dimension `axis` of the source."""

    name = "nv_tileaa.expand_dims"

    axis = prop_def(IntegerAttr.constr(i32))

    traits = traits_def(Pure(), ShapePatterns())
    assembly_format = f"$source {_ARROW}"

    def __init__(self, source: Value, axis: int) -> None:
        type_ = SSAValue.get(source).type
        shape = shape_of(type_)
        super().__init__(
            operands=[source],
            properties={"axis": IntegerAttr(axis, i32)},
            result_types=[TensorType(element_of(type_), (*shape[:axis], 1, *shape[axis:]))],
        )

    def check(self) -> None:
        shape, axis = shape_of(self.source.type), self.axis.value.data
        if not 0 <= axis <= len(shape):
            raise op_error(self, f"the new axis of a rank {len(shape)} tile is not {axis}")
        check_shape(self, "the result", self.result.type, (*shape[:axis], 1, *shape[axis:]))


@tileas_op
class BroadcastOp(ShapeOp):
    """The same elements again along dimensions of extent one."""

    name = "nv_tileaa.broadcast"

    traits = traits_def(Pure(), ShapePatterns())
    assembly_format = f"$source {_ARROW}"

    def __init__(self, source: Value, shape: Sequence[int]) -> None:
        element = element_of(SSAValue.get(source).type)
        super().__init__(operands=[source], result_types=[TensorType(element, shape)])

    def check(self) -> None:
        source, result = shape_of(self.source.type), shape_of(self.result.type)
        fits = len(source) == len(result)
        if not fits or any(a not in (1, b) for a, b in zip(source, result, strict=True)):
            raise op_error(
                self, f"repeats extents of 1 of ({listed(source)}) to ({listed(result)})"
            )


@tileas_op
class PermuteOp(ShapeOp):
    """Dimension `i` of the result is dimension `permutation[i]` of the source."""

    name = "nv_tileaa.permute"

    permutation = prop_def(DenseArrayBase.constr(i64))

    assembly_format = f"$source {_ARROW}"

    def __init__(self, source: Value, permutation: Sequence[int]) -> None:
        type_ = SSAValue.get(source).type
        shape = shape_of(type_)
        super().__init__(
            operands=[source],
            properties={"permutation": numbers(permutation)},
            result_types=[TensorType(element_of(type_), [shape[k] for k in permutation])],
        )

    def check(self) -> None:
        order: Sequence[int] = self.permutation.get_values()
        shape = shape_of(self.source.type)
        if sorted(order) != list(range(len(shape))):
            raise op_error(self, f"({listed(order)}) is no order of {len(shape)} dimensions")
        check_shape(self, "the result", self.result.type, [shape[k] for k in order])


@tileas_op
class CatOp(TileasOp):
    """`lhs`, then `rhs`, along dimension `axis`."""

    name = "nv_tileaa.cat"

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    axis = prop_def(IntegerAttr.constr(i32))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"

    def __init__(self, lhs: Value, rhs: Value, axis: int) -> None:
        left, right = (SSAValue.get(value).type for value in (lhs, rhs))
        shape = _joined(shape_of(left), shape_of(right), axis)
        super().__init__(
            operands=[lhs, rhs],
            properties={"axis": IntegerAttr(axis, i32)},
            result_types=[TensorType(element_of(left), shape)],
        )

    def verify_(self) -> None:
        left, right, axis = self.lhs.type, self.rhs.type, self.axis.value.data
        check_elements(self, left, right)
        check_elements(self, left, self.result.type)
        if not 0 <= axis < len(shape_of(left)):
            raise op_error(self, f"a tile of rank {len(shape_of(left))} has no axis {axis}")
        a, b = shape_of(left), shape_of(right)
        if (*a[:axis], *a[axis + 1 :]) != (*b[:axis], *b[axis + 1 :]):
            raise op_error(self, f"joins ({listed(a)}) and ({listed(b)}) along axis {axis} only")
        check_shape(self, "the result", self.result.type, _joined(a, b, axis))


def _joined(a: Sequence[int], b: Sequence[int], axis: int) -> tuple[int, ...]:
    return (*a[:axis], a[axis] + b[axis], *a[axis + 1 :])


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
class ExtractOp(ShapeOp):
    """A part of a tile, by its number along each dimension."""

    name = "nv_tileaa.extract"

    source = operand_def(TensorType)
    indices = var_operand_def(IndexType)
    result = result_def(TensorType)

    custom_directives = (Coordinates,)
    assembly_format = f"$source `` custom<Coordinates>($indices, type($indices)) {_ARROW}"

    def __init__(self, source: Value, indices: Sequence[Value], shape: Sequence[int]) -> None:
        element = element_of(SSAValue.get(source).type)
        super().__init__(operands=[source, indices], result_types=[TensorType(element, shape)])

    def check(self) -> None:
        check_slices(self, self.source.type, self.result.type, self.indices)


@tileas_op
class InsertOp(TileasOp):
    """`destination` with the part replaced that has these numbers along each dimension."""

    name = "nv_tileaa.insert"

    source = operand_def(TensorType)
    destination = operand_def(TensorType)
    indices = var_operand_def(IndexType)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    custom_directives = (Coordinates,)
    assembly_format = (
        "$source `into` $destination `` custom<Coordinates>($indices, type($indices)) attr-dict"
        " `:` type($source) `,` type($destination) `->` type($result)"
    )

    def __init__(self, source: Value, destination: Value, indices: Sequence[Value]) -> None:
        super().__init__(
            operands=[source, destination, indices],
            result_types=[SSAValue.get(destination).type],
        )

    def verify_(self) -> None:
        check_slices(self, self.destination.type, self.source.type, self.indices)
        if self.result.type != self.destination.type:
            raise op_error(self, f"gives {self.destination.type}, not {self.result.type}")


@tileas_op
class MakeRangeOp(TileasOp):
    """The numbers `start`, `start + 1` and so on, up to `end`."""

    name = "nv_tileaa.make_range"

    start = prop_def(IntegerAttr.constr(i64))
    end = prop_def(IntegerAttr.constr(i64))
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, start: int, end: int, element: Attribute = i32) -> None:
        super().__init__(
            properties={"start": IntegerAttr(start, i64), "end": IntegerAttr(end, i64)},
            result_types=[TensorType(element, [end - start])],
        )

    def verify_(self) -> None:
        if not isinstance(element_of(self.result.type), IntegerType):
            raise op_error(self, f"counts in integers, not in {self.result.type}")
        count = self.end.value.data - self.start.value.data
        if count < 1:
            raise op_error(self, "ends behind its start")
        check_shape(self, "the result", self.result.type, [count])


@tileas_op
class SplatOp(TileasOp):
    """A scalar as every element of a tile."""

    name = "nv_tileaa.splat"

    source = operand_def()
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = f"$source {_ARROW}"

    def __init__(self, source: Value, shape: Sequence[int]) -> None:
        element = SSAValue.get(source).type
        super().__init__(operands=[source], result_types=[TensorType(element, shape)])

    def verify_(self) -> None:
        if element_of(self.result.type) != self.source.type:
            raise op_error(
                self, f"repeats {self.source.type} in tiles of it, not {self.result.type}"
            )


@tileas_op
class GenerateOp(TileasOp):
    """A tile whose elements the body computes from their coordinates, one `index` a dimension."""

    name = "nv_tileaa.generate"

    result = result_def(TensorType)
    body = region_def("single_block")

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result) $body"

    def __init__(self, result_type: Attribute, body: Region | Block) -> None:
        super().__init__(
            result_types=[result_type], regions=[Region(body) if isinstance(body, Block) else body]
        )

    def verify_(self) -> None:
        wanted = (IndexType(),) * len(shape_of(self.result.type))
        check_body(self, self.body, wanted, (element_of(self.result.type),))
