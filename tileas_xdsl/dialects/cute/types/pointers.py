"""Types of `cute`: swizzles and pointers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cute.types.address_spaces import (
    ADDRESS_BITS,
    AddressSpace,
    AddressSpaceAttr,
)
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.interned import int_attr
from tileas_xdsl.dialects.shared_parsing import parse_quoted_layout
from tileas_xdsl.layout import NO_SWIZZLE, LayoutError, Swizzle
from tileas_xdsl.layout.integers import is_power_of_two
from tileas_xdsl.layout.output.text import parse_swizzle

__all__ = ["PtrType", "SwizzleType"]


@irdl_attr_definition
class SwizzleType(Data[Swizzle], TypeAttribute):
    """`!cute.swizzle<"S<3,4,3>">`: an involution of offsets; of a pointer's, in bytes."""

    name = "cute.swizzle"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Swizzle:
        return parse_quoted_layout(parser, parse_swizzle)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f'"{self.data}"')


UNSWIZZLED = SwizzleType(NO_SWIZZLE)


@cache
def _space_attr(space: AddressSpace) -> AddressSpaceAttr:
    return AddressSpaceAttr(space)


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute):
    """`!cute.ptr<f16, smem, align<128>, S<3,4,3>>`: element, space, alignment in bytes, swizzle.

    Without `align` the pointer is aligned to one element.  A swizzle permutes the byte addresses
    that the pointer is followed to; those without bits are not written.
    """

    name = "cute.ptr"
    element_type: Attribute
    address_space: AddressSpaceAttr
    alignment: IntAttr
    address_swizzle: SwizzleType

    def __init__(
        self,
        element_type: Attribute,
        space: AddressSpace | AddressSpaceAttr | str,
        alignment: int | IntAttr | None = None,
        swizzle: Swizzle = NO_SWIZZLE,
    ) -> None:
        if isinstance(space, str):
            space = AddressSpace(space)
        if alignment is None:
            alignment = natural_alignment(element_type)
        super().__init__(
            element_type,
            space if isinstance(space, AddressSpaceAttr) else _space_attr(space),
            int_attr(alignment) if isinstance(alignment, int) else alignment,
            SwizzleType(swizzle) if swizzle.bits else UNSWIZZLED,
        )

    @property
    def swizzle(self) -> Swizzle:
        """How byte addresses are permuted."""
        return self.address_swizzle.data

    @property
    def space(self) -> AddressSpace:
        """Where it points to."""
        return self.address_space.data

    @property
    def align(self) -> int:
        """What the address is a multiple of, in bytes."""
        return self.alignment.data

    @property
    def element_bytes(self) -> int:
        """The bytes of one element."""
        return (element_bits(self.element_type) or 0) // 8

    @property
    def address_bits(self) -> int:
        """The width of the address, 32 or 64."""
        return ADDRESS_BITS[self.space]

    def verify(self) -> None:
        if element_bits(self.element_type) is None:
            raise VerifyException(f"no pointer to {self.element_type}: it has no size in memory")
        align = self.align
        if not is_power_of_two(align):
            raise VerifyException(f"the alignment of a pointer is a power of two, not {align}")
        if align % self.element_bytes:
            raise VerifyException(
                f"a pointer to {self.element_type} is aligned to {self.element_bytes} bytes at "
                f"least, not to {align}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            element, space = parse_element_and_space(parser)
            alignment, swizzle = parse_clauses(parser)
        if alignment is None:
            alignment = natural_alignment(element)
        return element, space, IntAttr(alignment), swizzle

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_pointed(printer, self.element_type, self.space, self.align, self.swizzle)


def parse_element_and_space(parser: AttrParser) -> tuple[Attribute, AddressSpaceAttr]:
    """What a pointer or view points to, and where: `f16, smem`."""
    element = parser.parse_type()
    parser.parse_punctuation(",", ": a pointer says where it points to")
    return element, AddressSpaceAttr(parser.parse_str_enum(AddressSpace))


def parse_clauses(parser: AttrParser) -> tuple[int | None, SwizzleType]:
    """What may follow: `, align<128>, S<3,4,3>`; a comma before a string literal is read too."""
    alignment: int | None = None
    swizzle = UNSWIZZLED
    while parser.parse_optional_punctuation(","):
        if parser.parse_optional_keyword("align") is not None:
            with parser.in_angle_brackets():
                alignment = parser.parse_integer(allow_boolean=False, allow_negative=False)
        elif parser.parse_optional_keyword("S") is not None:
            swizzle = _parse_swizzle(parser)
        elif (word := parser.parse_optional_identifier()) is not None:
            del word
            parser.raise_error(message("cute.ptr.clause"))
        else:
            break
    return alignment, swizzle


def _parse_swizzle(parser: AttrParser) -> SwizzleType:
    start = parser.pos
    triple = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parser.parse_integer)
    if len(triple) != 3:
        parser.raise_error("a swizzle is S<B,M,S>", start)
    try:
        swizzle = Swizzle(*triple)
    except LayoutError as error:
        parser.raise_error(str(error), start)
    return SwizzleType(swizzle) if swizzle.bits else UNSWIZZLED


def print_pointed(
    printer: Printer, element: Attribute, space: AddressSpace, align: int, swizzle: Swizzle
) -> None:
    """What `parse_element_and_space` and `parse_clauses` read."""
    printer.print_attribute(element)
    printer.print_string(f", {space.value}")
    if align != natural_alignment(element):
        printer.print_string(f", align<{align}>")
    if swizzle.bits:
        printer.print_string(f", {swizzle}")


def natural_alignment(element_type: Attribute) -> int:
    """The alignment in bytes that one element has."""
    return (element_bits(element_type) or 8) // 8
