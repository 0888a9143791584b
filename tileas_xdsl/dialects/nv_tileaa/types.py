"""Types of `nv_tileaa` that operations of `nv_tileas` accept."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tileas_xdsl.dialects.clauses import INTEGER, TYPE, Clause, ClausedType
from tileas_xdsl.dialects.shared_parsing import parse_shape_and_element, print_shape_and_element


@irdl_attr_definition
class AAMemTokenType(ParametrizedAttribute, TypeAttribute):
    """An edge in the order of memory effects."""

    name = "nv_tileaa.mem_token"


@irdl_attr_definition
class AATiledViewType(ParametrizedAttribute, TypeAttribute):
    """`!nv_tileaa.tiled_view<2x128x128xf16>`: a tile-shaped view; where it lives is not decided."""

    name = "nv_tileaa.tiled_view"
    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    def __init__(self, shape: Sequence[int] | ArrayAttr[IntAttr], element_type: Attribute) -> None:
        super().__init__(
            shape if isinstance(shape, ArrayAttr) else ArrayAttr([IntAttr(d) for d in shape]),
            element_type,
        )

    def get_shape(self) -> tuple[int, ...]:
        """The extents; `DYNAMIC_INDEX` for one that is not known."""
        return tuple(d.data for d in self.shape)

    def get_element_type(self) -> Attribute:
        """The type of the elements."""
        return self.element_type

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return parse_shape_and_element(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_shape_and_element(printer, self.get_shape(), self.element_type)


@irdl_attr_definition
class PtrType(ClausedType, TypeAttribute):
    """`!nv_tileaa.ptr<f16, 1>`: a pointer to elements in a numbered address space."""

    name = "nv_tileaa.ptr"
    pointee: Attribute
    address_space: IntAttr

    CLAUSES = (Clause(TYPE), Clause(INTEGER))

    def __init__(self, pointee: Attribute, address_space: int | IntAttr = 1) -> None:
        super().__init__(pointee, IntAttr.get(address_space))
