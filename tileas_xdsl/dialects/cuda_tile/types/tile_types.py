"""Values of the dialect: tiles, pointers and tokens.  Views are in `view_types.py`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, Float4E2M1FNType, IntAttr, NoneAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.enums import PtrAttr
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import parse_type, print_type
from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS, NUMBERS
from tileas_xdsl.dialects.interned import int_list

MAX_TILE_ELEMENTS = 1 << 24
"""The elements of a tile, at most."""


def integers(values: Iterable[int]) -> ArrayAttr[IntAttr]:
    """Numbers as the parameter of a type."""
    return int_list(tuple(values))


def listed(values: Iterable[object]) -> str:
    """`1, 2`: a shape as messages show it."""
    return ", ".join(map(str, values))


def parse_dimensions(parser: AttrParser) -> list[int]:
    """`2x4x` before an element type; `?` is a dynamic extent."""
    dimensions = parser.parse_dimension_list()
    if dimensions:
        parser.parse_shape_delimiter()
    return dimensions


_NUMBERS = frozenset(ELEMENTS[name] for name in NUMBERS)


def is_number(type_: Attribute) -> bool:
    """Whether memory may hold elements of this type; all scalars but `i4`."""
    return type_ in _NUMBERS


def _check_number(type_: Attribute) -> None:
    if not is_number(type_):
        numbers = " or ".join(NUMBERS)
        raise VerifyException(f"failed to verify 'pointeeType': {numbers} values, but got {type_}")


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute):
    """`!cuda_tile.ptr<f32>`: the address of one element in global memory.

    `ptr<f32, #cuda_tile.ptr_attr<none>>` carries a classification, which is not the same type.
    """

    name = "cuda_tile.ptr"
    pointee: Attribute
    ptr_attr: PtrAttr | NoneAttr

    def __init__(self, pointee: Attribute, ptr_attr: PtrAttr | NoneAttr | None = None) -> None:
        super().__init__(pointee, ptr_attr or NoneAttr())

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return parse_type(parser), parse_ptr_attr(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_type(printer, self.pointee)
            print_ptr_attr(printer, self.ptr_attr)

    def verify(self) -> None:
        _check_number(self.pointee)


def parse_ptr_attr(parser: AttrParser) -> PtrAttr | NoneAttr:
    """`, #cuda_tile.ptr_attr<none>` if it is there."""
    if parser.parse_optional_punctuation(",") is None:
        return NoneAttr()
    position = parser.pos
    attribute = parser.parse_optional_attribute()
    if not isinstance(attribute, PtrAttr):
        parser.raise_error(message("cuda_tile.expected.ptr_attr"), at_position=position)
    return attribute


def print_ptr_attr(printer: Printer, ptr_attr: PtrAttr | NoneAttr) -> None:
    """The text that `parse_ptr_attr` reads."""
    if isinstance(ptr_attr, PtrAttr):
        printer.print_string(", ")
        printer.print_attribute(ptr_attr)


def check_tile(shape: Sequence[int], element: Attribute) -> None:
    """Raise `VerifyException` if there is no tile of this shape and element type."""
    if isinstance(element, Float4E2M1FNType) and all(extent % 2 for extent in shape):
        raise VerifyException(message("cuda_tile.tile.f4e2m1fn_even"))
    size = 1
    for extent in shape:
        if extent <= 0:
            raise VerifyException(
                message("cuda_tile.tile.dimensions_positive", shape=listed(shape))
            )
        if extent & (extent - 1):
            raise VerifyException(
                message("cuda_tile.tile.dimensions_powers_of_two", shape=listed(shape))
            )
        size *= extent
        if size > MAX_TILE_ELEMENTS:
            raise VerifyException(message("cuda_tile.tile.too_large", limit=MAX_TILE_ELEMENTS))


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute):
    """`!cuda_tile.tile<8x16xf32>`: an array of values or of pointers; `tile<f32>` is a scalar.

    Extents are powers of two, and there are at most 16777216 elements.
    """

    name = "cuda_tile.tile"
    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    def __init__(self, shape: Iterable[int] | ArrayAttr[IntAttr], element_type: Attribute) -> None:
        super().__init__(
            shape if isinstance(shape, ArrayAttr) else integers(shape),
            element_type,
        )

    def get_shape(self) -> tuple[int, ...]:
        """The extents; none for a scalar."""
        return tuple(extent.data for extent in self.shape)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.get_shape())

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            dimensions = parse_dimensions(parser)
            if DYNAMIC_INDEX in dimensions:
                parser.raise_error("expected static shape", at_position=position)
            return integers(dimensions), parse_type(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for extent in self.get_shape():
                printer.print_string(f"{extent}x")
            print_type(printer, self.element_type)

    def verify(self) -> None:
        if not (isinstance(self.element_type, PtrType) or self.element_type in ELEMENT_TYPES):
            elements = " or ".join(ELEMENTS)
            raise VerifyException(
                message(
                    "cuda_tile.tile.failed_verify_element_type",
                    elements=elements,
                    given=self.element_type,
                )
            )
        check_tile(self.get_shape(), self.element_type)


ELEMENT_TYPES = frozenset(ELEMENTS.values())


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """`!cuda_tile.token`: an edge in the order of memory accesses, no value."""

    name = "cuda_tile.token"


def scalar(element: Attribute) -> TileType:
    """A tile of rank 0."""
    return TileType((), element)


def element_of(type_: Attribute) -> Attribute:
    """The element type of a tile; anything else is its own."""
    return type_.element_type if isinstance(type_, TileType) else type_
