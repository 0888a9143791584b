"""Composed layouts, `inner o offset o outer`, made and taken apart; swizzles, an inner layout."""

from __future__ import annotations

from abc import ABC
from typing import Any, Self

from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from tileas_xdsl.dialects.cute.base.operand_templates import (
    filled,
    parse_template,
    print_template,
    typed_tree,
)
from tileas_xdsl.dialects.cute.base.operands import tree_of
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
from tileas_xdsl.dialects.cute.base.symbolic_values import Tree, type_of
from tileas_xdsl.dialects.cute.layout_algebra.construction import is_labelled, parse_label
from tileas_xdsl.dialects.cute.layout_algebra.queries import Projection
from tileas_xdsl.dialects.cute.types.pointers import SwizzleType
from tileas_xdsl.dialects.cute.types.tuples import (
    IntTupleAttr,
    IntTupleType,
)
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import (
    ComposedLayout,
    Layout,
    Swizzle,
)
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import is_tuple


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
        if not is_labelled(parser, "outer"):
            return parse_cute(cls, parser)
        parser.parse_punctuation("(")
        parse_label(parser, "outer", False)
        outer = parser.parse_unresolved_operand()
        if not parse_label(parser, "swizzle", True):
            parser.raise_error("expected 'swizzle = swizzle<B, M, S>'")
        parser.parse_keyword("swizzle")
        with parser.in_angle_brackets():
            swizzle = _parse_triple(parser)
        if not parse_label(parser, "offset", True):
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
