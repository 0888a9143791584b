"""Types of `cute`: pointers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.cute.elements import element_bits
from tileas_xdsl.dialects.cute.spaces import ADDRESS_BITS, AddressSpace, AddressSpaceAttr


@irdl_attr_definition
class PtrType(ParametrizedAttribute, TypeAttribute):
    """`!cute.ptr<f16, smem, align<128>>`: element, space and alignment in bytes.

    Without `align` the pointer is aligned to one element.
    """

    name = "cute.ptr"
    element_type: Attribute
    address_space: AddressSpaceAttr
    alignment: IntAttr

    def __init__(
        self,
        element_type: Attribute,
        space: AddressSpace | AddressSpaceAttr | str,
        alignment: int | IntAttr | None = None,
    ) -> None:
        if isinstance(space, str):
            space = AddressSpace(space)
        if alignment is None:
            alignment = natural_alignment(element_type)
        super().__init__(
            element_type,
            space if isinstance(space, AddressSpaceAttr) else AddressSpaceAttr(space),
            IntAttr(alignment) if isinstance(alignment, int) else alignment,
        )

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
        if align < 1 or align & (align - 1):
            raise VerifyException(f"the alignment of a pointer is a power of two, not {align}")
        if align % self.element_bytes:
            raise VerifyException(
                f"a pointer to {self.element_type} is aligned to {self.element_bytes} bytes at "
                f"least, not to {align}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        alignment: int | None = None
        with parser.in_angle_brackets():
            element = parser.parse_type()
            parser.parse_punctuation(",", ": a pointer says where it points to")
            space = parser.parse_str_enum(AddressSpace)
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("align")
                with parser.in_angle_brackets():
                    alignment = parser.parse_integer(allow_boolean=False, allow_negative=False)
        if alignment is None:
            alignment = natural_alignment(element)
        return element, AddressSpaceAttr(space), IntAttr(alignment)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element_type)
            printer.print_string(f", {self.space.value}")
            if self.align != natural_alignment(self.element_type):
                printer.print_string(f", align<{self.align}>")


def natural_alignment(element_type: Attribute) -> int:
    """The alignment in bytes that one element has."""
    return (element_bits(element_type) or 8) // 8
