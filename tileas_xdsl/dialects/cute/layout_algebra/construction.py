"""Layouts made of shapes and strides: as given, like another one, in an order, identities."""

from __future__ import annotations

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
from tileas_xdsl.dialects.cute.types.tuples import (
    ShapeAttr,
    StrideAttr,
)
from tileas_xdsl.dialects.cute.types.views import ArithTupleIterType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import (
    ComposedLayout,
    Layout,
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


def is_labelled(parser: Parser, label: str) -> bool:
    """Whether `(label =` follows."""
    return (
        parser.lexer.input.content[parser.pos :].lstrip().removeprefix("(").split("=")[0].strip()
        == label
    )


def parse_label(parser: Parser, label: str, previous: bool) -> bool:
    """Parse `label =`, after a comma where something is `previous`; return whether it is there."""
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
        if not is_labelled(parser, "shape"):
            return parse_cute(cls, parser)
        parser.parse_punctuation("(")
        parse_label(parser, "shape", False)
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
