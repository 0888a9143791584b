"""Parts and numbers of values: shapes, strides, leaves, sizes, coordinates and indices."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.operands import (
    at,
    has_bases,
    layout_of,
    numbers_of,
    shape_of,
    tree_of,
)
from tileas_xdsl.dialects.cute.base.operation import (
    AlgebraOp,
    cute_family_op,
    integers_of,
)
from tileas_xdsl.dialects.cute.base.symbolic_values import (
    Number,
    Tile,
    Tree,
    View,
    numbers,
    type_of,
)
from tileas_xdsl.dialects.cute.layout_algebra.tuples import tuples_equal
from tileas_xdsl.dialects.cute.types.tuples import (
    CoordType,
    IntTupleType,
    ShapeType,
    StrideType,
)
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import ComposedLayout, Layout, Swizzle, int_tuple
from tileas_xdsl.layout.composed import innermost
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.expr.expression import Expression, compute
from tileas_xdsl.layout.int_tuple import flat, is_tuple


class Projection(AlgebraOp, ABC):
    """A part of one value."""

    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())


def _layout_or_view(op: Projection, value: Any) -> Layout | ComposedLayout:
    layout = layout_of(value)
    if layout is None:
        raise inference_error(op, message("cute.input.layout_or_view", type=op.input.type))
    return layout


@irdl_op_definition
class GetShapeOp(Projection):
    """The shape of a layout or a view."""

    name = "cute.get_shape"

    def compute(self, *operands: Any) -> Any:
        return Tree(ShapeType, _layout_or_view(self, operands[0]).shape)


@irdl_op_definition
class GetStrideOp(Projection):
    """The strides of a layout or a view; of a composed layout those of the outer one."""

    name = "cute.get_stride"

    def compute(self, *operands: Any) -> Any:
        return Tree(StrideType, innermost(_layout_or_view(self, operands[0])).stride)


@irdl_op_definition
class GetLayoutOp(Projection):
    """The layout of a view."""

    name = "cute.get_layout"

    def compute(self, *operands: Any) -> Any:
        return _layout_or_view(self, operands[0])


@irdl_op_definition
class GetIterOp(Projection):
    """The iterator of a view: a pointer, or a coordinate."""

    name = "cute.get_iter"

    def compute(self, *operands: Any) -> Any:
        if not isinstance(operands[0], View):
            raise LayoutError(f"expected a view, not {type_of(operands[0])}")
        return operands[0].iterator


class ModesOp(Projection, ABC):
    """A part that a path of modes leads to: `mode = [0, 1]` is mode 1 of mode 0."""

    mode = opt_prop_def(Attribute)

    @property
    def path(self) -> tuple[int, ...]:
        """The path of modes; the whole value if it is empty."""
        return integers_of(self.mode)

    @property
    def shown_path(self) -> str:
        """The path as messages write it."""
        return ",".join(map(str, self.path))


@irdl_op_definition
class GetOp(ModesOp):
    """A mode of a tuple or a layout."""

    name = "cute.get"

    def compute(self, *operands: Any) -> Any:
        value = operands[0]
        try:
            if isinstance(value, Tree):
                return Tree(value.kind, at(value.tree, self.path))
            if isinstance(value, View):
                return View(value.iterator, at(value.layout, self.path))
            return at(value, self.path)
        except IndexError as error:
            raise LayoutError(f"{type_of(value)} has no mode [{self.shown_path}]") from error


@irdl_op_definition
class SizeOp(ModesOp):
    """How many coordinates a shape, a layout or a view has, or one of its modes."""

    name = "cute.size"

    def check(self, *operands: Any) -> None:
        value = operands[0]
        if isinstance(value, (Swizzle, Number)) or (
            isinstance(value, Tree) and has_bases(value.tree)
        ):
            text = message("cute.size.failed", type=self.input.type, mode=self.shown_path)
            raise inference_error(self, text)
        if isinstance(value, Tree) and any(leaf is None for leaf in flat(value.tree)):
            raise inference_error(self, message("cute.size.input", type=self.input.type))

    def compute(self, *operands: Any) -> Any:
        value = operands[0]
        if isinstance(value, Tile):
            shape: Any = tuple(None if m is None else m.shape for m in value.modes)
        else:
            shape = shape_of(value)
        try:
            part = at(shape, self.path)
        except IndexError as error:
            text = message("cute.size.mode", mode=self.shown_path, type=self.input.type)
            raise inference_error(self, text) from error
        return Tree(IntTupleType, int_tuple.product(part))


@irdl_op_definition
class CosizeOp(ModesOp):
    """One more than the largest offset of a layout; strides are taken not to be negative."""

    name = "cute.cosize"

    def check(self, *operands: Any) -> None:
        layout = layout_of(operands[0])
        if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Layout):
            raise inference_error(self, message("cute.cosize.affine_inner", layout=type_of(layout)))

    def failure(self, error: LayoutError, *operands: Any) -> OpError:
        return inference_error(
            self, message("cute.cosize.failed", type=self.input.type, mode=self.shown_path)
        )

    def compute(self, *operands: Any) -> Any:
        layout = layout_of(operands[0])
        if layout is None:
            raise LayoutError("only layouts have a cosize")
        try:
            part: Any = at(layout, self.path)
        except IndexError as error:
            raise inference_error(
                self, message("cute.cosize.mode", mode=self.shown_path, type=self.input.type)
            ) from error
        return Tree(IntTupleType, cosize(part))


def cosize(layout: Any) -> Any:
    """The cosize, also where numbers are known at run time only."""
    if any(isinstance(n, Expression) for n in numbers(layout)):
        plain = innermost(layout)
        if has_bases(plain.stride) or plain is not layout:
            raise LayoutError(f"{layout} has no cosize")
        return sum((s - 1) * d for s, d in plain.leaves()) + 1
    return layout.cosize()


# Coordinates and indices


@irdl_op_definition
class Crd2IdxOp(AlgebraOp):
    """The offset of a coordinate of a layout; of an integer or a tuple of a shape's profile."""

    name = "cute.crd2idx"
    coord = operand_def()
    layout = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def check(self, *operands: Any) -> None:
        coord, layout = tree_of(operands[0], "the coordinate"), layout_of(operands[1])
        if layout is None:
            raise inference_error(self, self._unable())
        if not int_tuple.weakly_congruent(coord, layout.shape) or _has_underscore(coord):
            raise inference_error(self, message("cute.crd2idx.coordinate", layout=self.layout.type))

    def _unable(self) -> str:
        return message("cute.crd2idx.failed", layout=self.layout.type, coord=self.coord.type)

    def failure(self, error: LayoutError, *operands: Any) -> OpError:
        return inference_error(self, self._unable())

    def compute(self, *operands: Any) -> Any:
        layout: Any = layout_of(operands[1])
        return offset_value(layout.index(tree_of(operands[0], "the coordinate")))


def _has_underscore(coord: Any) -> bool:
    return any(leaf is None for leaf in flat(coord))


def offset_value(offset: Any) -> Tree:
    """An offset as a tuple: an integer, or one for each coordinate mode of scaled bases."""
    return Tree(IntTupleType, coordinates_of(offset))


def coordinates_of(offset: Any) -> Any:
    """An integer, or the tree of the multiples of basis vectors."""
    from tileas_xdsl.layout.axes import AxisSum, mode_path

    if not isinstance(offset, AxisSum):
        return offset
    tree: dict[int, Any] = {}
    for axis, k in offset.terms:
        path = mode_path(axis)
        if path is None:
            raise LayoutError(f"axis '{axis}' is no coordinate mode")
        _put(tree, path, k)
    return _as_tuple(tree)


def _put(tree: Any, path: Sequence[int], k: Any) -> None:
    first, *rest = path
    if not rest:
        tree[first] = k
        return
    part = tree.setdefault(first, {})
    if not isinstance(part, dict):
        raise LayoutError("a coordinate mode is an integer and a tuple at once")
    _put(part, rest, k)


def _as_tuple(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    modes = cast(dict[int, Any], tree)
    return tuple(_as_tuple(modes.get(i, 0)) for i in range(max(modes) + 1))


class CoordinateOp(AlgebraOp, ABC):
    """A coordinate for an index and a shape, which a layout or a view also has."""

    index = operand_def()
    shape = operand_def()
    result = result_def()
    traits = traits_def(Pure())


class NestedCoordinateOp(CoordinateOp):
    """The coordinate of an index, nested as the shape."""

    def compute(self, *operands: Any) -> Any:
        index, shape = numbers_of(operands[0], "the index"), shape_of(operands[1])
        return Tree(CoordType, int_tuple.idx2crd(index, shape))


Idx2CrdOp = cute_family_op(
    NestedCoordinateOp, "Idx2CrdOp", "idx2crd", "The coordinate of an index in a shape."
)
GetHierCoordOp = cute_family_op(
    NestedCoordinateOp, "GetHierCoordOp", "get_hier_coord", "The same under another name."
)


@irdl_op_definition
class GetFlatCoordOp(CoordinateOp):
    """The coordinate of an index, without nesting."""

    name = "cute.get_flat_coord"

    def compute(self, *operands: Any) -> Any:
        index, shape = numbers_of(operands[0], "the index"), shape_of(operands[1])
        crd = int_tuple.idx2crd(index, shape)
        return Tree(CoordType, flat(crd) if is_tuple(crd) else crd)


@irdl_op_definition
class GetIntegralCoordOp(CoordinateOp):
    """The index of a coordinate: colexicographic, as one integer."""

    name = "cute.get_integral_coord"

    def compute(self, *operands: Any) -> Any:
        crd, shape = numbers_of(operands[0], "the coordinate"), shape_of(operands[1])
        return Tree(CoordType, int_tuple.crd2idx(crd, shape))


@irdl_op_definition
class IncrementCoordOp(CoordinateOp):
    """The coordinate after another, colexicographically; the last one is followed by the first."""

    name = "cute.increment_coord"

    def compute(self, *operands: Any) -> Any:
        crd, shape = numbers_of(operands[0], "the coordinate"), shape_of(operands[1])
        following = int_tuple.crd2idx(crd, shape) + 1
        following = compute("floormod", following, int_tuple.product(shape))
        return Tree(CoordType, int_tuple.idx2crd(following, shape))


@irdl_op_definition
class EqualOp(AlgebraOp):
    """Whether two tuples, layouts or views are equal; of views the layouts count."""

    name = "cute.equal"
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        return Number(i1, _equal(*operands))


def _equal(a: Any, b: Any) -> Any:
    one, other = layout_of(a), layout_of(b)
    if one is None or other is None:
        return _trees_equal(tree_of(a, "an operand"), tree_of(b, "an operand"))
    if not isinstance(one, Layout) or not isinstance(other, Layout):
        raise LayoutError("composed layouts are compared component by component")
    shapes = _trees_equal(one.shape, other.shape)
    return compute("and", _trees_equal(one.stride, other.stride), shapes)


def _trees_equal(a: Any, b: Any) -> Any:
    return tuples_equal(a, b) if int_tuple.congruent(a, b) else 0
