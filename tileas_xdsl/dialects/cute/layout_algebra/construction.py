"""Layouts made of shapes and strides, composed ones of swizzles, and their parts."""

from __future__ import annotations

from abc import ABC
from typing import Any, Self

from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from tileas_xdsl.dialects.cute.base.operand_templates import (
    Template,
    filled,
    parse_template,
    print_template,
    typed_tree,
)
from tileas_xdsl.dialects.cute.base.operands import extents_of, numbers_of, tree_of
from tileas_xdsl.dialects.cute.base.operation import (
    INFERRED,
    AlgebraOp,
    CuteOp,
    inferred,
    parse_cute,
    parse_signature,
    print_signature,
    resolved,
)
from tileas_xdsl.dialects.cute.base.symbolic_values import Tree, View, type_of
from tileas_xdsl.dialects.cute.layout_algebra.queries import Projection
from tileas_xdsl.dialects.cute.types.pointers import SwizzleType
from tileas_xdsl.dialects.cute.types.tuples import (
    IntTupleAttr,
    IntTupleType,
    ShapeAttr,
    StrideAttr,
)
from tileas_xdsl.dialects.cute.types.views import ArithTupleIterType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import (
    ComposedLayout,
    Layout,
    Swizzle,
    make_identity_layout,
    make_layout_like,
    make_ordered_layout,
)
from tileas_xdsl.layout.composed import innermost
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import is_tuple, prefix_product


def compact(shape: Any) -> Layout:
    """The compact column-major layout; as CuTe has it, modes of one element have stride 0."""

    def stride(extents: Any, steps: Any) -> Any:
        if is_tuple(extents):
            return tuple(stride(s, d) for s, d in zip(extents, steps, strict=True))
        return 0 if extents == 1 else steps

    return Layout(shape, stride(shape, prefix_product(shape)))


def _is_labelled(parser: Parser, label: str) -> bool:
    """Whether `(label =` follows."""
    return (
        parser.lexer.input.content[parser.pos :].lstrip().removeprefix("(").split("=")[0].strip()
        == label
    )


def _parse_label(parser: Parser, label: str, previous: bool) -> bool:
    if previous:
        parser.parse_punctuation(",")
    if parser.parse_optional_keyword(label) is None:
        return False
    parser.parse_punctuation("=")
    return True


@irdl_op_definition
class MakeLayoutOp(AlgebraOp):
    """A layout of a shape and strides, which are compact and column-major if they are left out.

    Written with a shape and a stride as values, `cute.make_layout(%shape, %stride)`, or leaf by
    leaf, `cute.make_layout(shape = (%M, 64), stride = (1, %s))`, which are the attributes `shape`
    and `stride` and the operands for their unknown leaves.
    """

    name = "cute.make_layout"
    parts = var_operand_def()
    shape = opt_prop_def(ShapeAttr)
    stride = opt_prop_def(StrideAttr)
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        if self.shape is None:
            shape, stride = self._whole(operands)
        else:
            shape, stride = self._leaf_by_leaf(operands)
        return compact(shape) if stride is None else Layout(shape, stride)

    def _whole(self, operands: tuple[Any, ...]) -> tuple[Any, Any]:
        if not 1 <= len(operands) <= 2:
            raise LayoutError("a layout is made of a shape and at most one stride")
        trees = [tree_of(operand, "a part of a layout") for operand in operands]
        return trees[0], trees[1] if len(trees) > 1 else None

    def _leaf_by_leaf(self, operands: tuple[Any, ...]) -> tuple[Any, Any]:
        assert self.shape is not None
        numbers = iter([tree_of(operand, "a leaf") for operand in operands])
        try:
            shape = filled(self.shape.data, numbers)
            stride = None if self.stride is None else filled(self.stride.data, numbers)
        except StopIteration:
            raise LayoutError("fewer operands than unknown leaves") from None
        if next(numbers, None) is not None:
            raise LayoutError("more operands than unknown leaves")
        return shape, stride

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        if not _is_labelled(parser, "shape"):
            return parse_cute(cls, parser)
        parser.parse_punctuation("(")
        _parse_label(parser, "shape", False)
        shape = parse_template(parser)
        stride: Template | None = None
        if parser.parse_optional_punctuation(","):
            parser.parse_keyword("stride")
            parser.parse_punctuation("=")
            stride = parse_template(parser)
        parser.parse_punctuation(")")
        return cls._from_templates(parser, shape, stride)

    @classmethod
    def _from_templates(cls, parser: Parser, shape: Template, stride: Template | None) -> Self:
        attributes = parser.parse_optional_attr_dict()
        types, results = parse_signature(parser)
        operands = [*shape.operands, *([] if stride is None else stride.operands)]
        values = resolved(parser, operands, types)
        cut = len(shape.operands)
        properties: Any = {"shape": ShapeAttr(typed_tree(shape, values[:cut]))}
        if stride is not None:
            properties["stride"] = StrideAttr(typed_tree(stride, values[cut:]))
        return inferred(cls, values, properties, results or [INFERRED], attributes)

    def print(self, printer: Printer) -> None:
        if self.shape is None:
            CuteOp.print(self, printer)
            return
        values = iter(self.operands)
        printer.print_string("(shape = ")
        print_template(printer, self.shape.data, values)
        if self.stride is not None:
            printer.print_string(", stride = ")
            print_template(printer, self.stride.data, values)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_signature(self, printer)


@irdl_op_definition
class MakeLayoutRawOp(AlgebraOp):
    """The layout of a shape and a stride: what `make_layout` is made of."""

    name = "cute.make_layout_raw"
    shape = operand_def()
    stride = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        return Layout(*(tree_of(operand, "a part of a layout") for operand in operands))


@irdl_op_definition
class MakeLayoutLikeOp(Projection):
    """The compact layout of the same shape whose modes keep their order."""

    name = "cute.make_layout_like"

    def compute(self, *operands: Any) -> Any:
        if not isinstance(operands[0], (Layout, ComposedLayout)):
            raise LayoutError(f"expected a layout, not {type_of(operands[0])}")
        return make_layout_like(innermost(operands[0]))


@irdl_op_definition
class MakeOrderedLayoutOp(AlgebraOp):
    """The compact layout that counts the modes of a shape by increasing order."""

    name = "cute.make_ordered_layout"
    shape = operand_def()
    order = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        shape, order = operands
        extents = extents_of(shape, "a shape")
        return make_ordered_layout(extents, numbers_of(order, "an order"))


@irdl_op_definition
class MakeIdentityLayoutOp(Projection):
    """The layout that maps a coordinate to itself."""

    name = "cute.make_identity_layout"

    def compute(self, *operands: Any) -> Any:
        return make_identity_layout(extents_of(operands[0], "a shape"))


@irdl_op_definition
class MakeIdentityTensorOp(Projection):
    """The view of coordinates that gives each coordinate itself."""

    name = "cute.make_identity_tensor"

    def compute(self, *operands: Any) -> Any:
        layout = make_identity_layout(extents_of(operands[0], "a shape"))
        return View(Tree(ArithTupleIterType, _zeros(layout.shape)), layout)


def _zeros(shape: Any) -> Any:
    return tuple(_zeros(s) for s in shape) if is_tuple(shape) else 0


# Composed layouts


@irdl_op_definition
class MakeSwizzleOp(CuteOp):
    """A swizzle: `cute.make_swizzle 3, 4, 3`."""

    name = "cute.make_swizzle"
    result = result_def(SwizzleType)
    traits = traits_def(Pure())

    def __init__(self, swizzle: Swizzle) -> None:
        super().__init__(result_types=[SwizzleType(swizzle)])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        swizzle = _parse_triple(parser)
        attributes = parser.parse_optional_attr_dict()
        _, results = parse_signature(parser)
        declared = (results or [INFERRED])[0]
        if declared != SwizzleType(swizzle) and isinstance(declared, SwizzleType):
            parser.raise_error(f"{swizzle} is not a value of {declared}")
        made = cls(swizzle)
        made.attributes.update(attributes)
        return made

    def print(self, printer: Printer) -> None:
        swizzle = self.result.type.data
        printer.print_string(f" {swizzle.bits}, {swizzle.base}, {swizzle.shift}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


def _parse_triple(parser: Parser) -> Swizzle:
    start = parser.pos
    bits = parser.parse_integer(allow_boolean=False)
    parser.parse_punctuation(",")
    base = parser.parse_integer(allow_boolean=False)
    parser.parse_punctuation(",")
    shift = parser.parse_integer(allow_boolean=False)
    try:
        return Swizzle(bits, base, shift)
    except LayoutError as error:
        parser.raise_error(str(error), start)


def composed(inner: Any, offset: Any, outer: Any) -> ComposedLayout:
    """`inner o offset o outer`; an offset that is a coordinate is one of the outer layout."""
    if not isinstance(inner, (Swizzle, Layout)) or not isinstance(outer, (Layout, ComposedLayout)):
        raise LayoutError(
            "compose_layout: the inner component is a swizzle or a layout and the outer one a "
            f"layout, but got inner {type_of(inner)} and outer {type_of(outer)}"
        )
    crd: Any = tree_of(offset, "an offset")
    if is_tuple(crd):
        if not isinstance(outer, Layout):
            raise LayoutError(f"compose_layout: {outer} has no coordinates as offsets")
        crd = outer.index(crd)
    return ComposedLayout(inner, crd, outer)


class ComposingOp(AlgebraOp, ABC):
    """An operation that composes layouts."""


@irdl_op_definition
class MakeComposedLayoutOp(ComposingOp):
    """`inner o offset o outer`: what is inside is applied last.

    Written with values, `cute.make_composed_layout(%inner, %offset, %outer)`, or
    `cute.make_composed_layout(outer = %outer, swizzle = swizzle<3, 4, 3>, offset = (0, 0))`, which
    are the attributes `swizzle` and `offset`, and the operands %outer and those of the offset.
    """

    name = "cute.make_composed_layout"
    parts = var_operand_def()
    swizzle = opt_prop_def(SwizzleType)
    offset = opt_prop_def(IntTupleAttr)
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        if self.swizzle is None or self.offset is None:
            if len(operands) != 3:
                raise LayoutError("composed are an inner layout, an offset and an outer layout")
            return composed(*operands)
        outer, *leaf_operands = operands
        numbers = iter([tree_of(operand, "a leaf") for operand in leaf_operands])
        offset = Tree(IntTupleType, filled(self.offset.data, numbers))
        return composed(self.swizzle.data, offset, outer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        if not _is_labelled(parser, "outer"):
            return parse_cute(cls, parser)
        parser.parse_punctuation("(")
        _parse_label(parser, "outer", False)
        outer = parser.parse_unresolved_operand()
        if not _parse_label(parser, "swizzle", True):
            parser.raise_error("expected 'swizzle = swizzle<B, M, S>'")
        parser.parse_keyword("swizzle")
        with parser.in_angle_brackets():
            swizzle = _parse_triple(parser)
        if not _parse_label(parser, "offset", True):
            parser.raise_error("expected 'offset = (...)'")
        offset = parse_template(parser)
        parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        types, results = parse_signature(parser)
        values = resolved(parser, [outer, *offset.operands], types)
        properties: Any = {
            "swizzle": SwizzleType(swizzle),
            "offset": IntTupleAttr(typed_tree(offset, values[1:])),
        }
        return inferred(cls, values, properties, results or [INFERRED], attributes)

    def print(self, printer: Printer) -> None:
        if self.swizzle is None or self.offset is None:
            CuteOp.print(self, printer)
            return
        outer, *values = self.operands
        swizzle = self.swizzle.data
        printer.print_string("(outer = ")
        printer.print_ssa_value(outer)
        printer.print_string(
            f", swizzle = swizzle<{swizzle.bits}, {swizzle.base}, {swizzle.shift}>, offset = "
        )
        print_template(printer, self.offset.data, iter(values))
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_signature(self, printer)


@irdl_op_definition
class MakeComposedLayoutRawOp(ComposingOp):
    """The composed layout of an outer layout, what is inside, and an offset, in this order."""

    name = "cute.make_composed_layout_raw"
    outer = operand_def()
    inner = operand_def()
    offset = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        outer, inner, offset = operands
        return composed(inner, offset, outer)


class ComponentOp(Projection, ABC):
    """A component of a composed layout."""

    def composed(self, value: Any) -> ComposedLayout:
        """The composed layout that the operand is."""
        if not isinstance(value, ComposedLayout):
            raise LayoutError(f"expected a composed layout, not {type_of(value)}")
        return value


@irdl_op_definition
class ComposedGetInnerOp(ComponentOp):
    """What is applied last."""

    name = "cute.composed_get_inner"

    def compute(self, *operands: Any) -> Any:
        return self.composed(operands[0]).outer


@irdl_op_definition
class ComposedGetOffsetOp(ComponentOp):
    """What is added between the two."""

    name = "cute.composed_get_offset"

    def compute(self, *operands: Any) -> Any:
        return Tree(IntTupleType, self.composed(operands[0]).offset)


@irdl_op_definition
class ComposedGetOuterOp(ComponentOp):
    """What is applied to coordinates."""

    name = "cute.composed_get_outer"

    def compute(self, *operands: Any) -> Any:
        return self.composed(operands[0]).inner
