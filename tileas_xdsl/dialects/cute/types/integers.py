"""Types of numbers: integers with a known divisor, and divisors that are divided by often.

`!cute.i32<divby 128>` is an integer of 32 bits that is a multiple of 128; without `<...>` nothing
is known of it.  `!cute.fast_divmod_divisor<32>` is a divisor with its multiplier and shifts.
"""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tileas_xdsl.dialects.cute.types.elements import integer_bits


class DivisibleType(Data[int]):
    """An integer that is a multiple of `data`."""

    WIDTH: ClassVar[int]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        if parser.parse_optional_punctuation("<") is None:
            return 1
        parser.parse_keyword("divby")
        start = parser.pos
        divisor = parser.parse_integer(allow_boolean=False, allow_negative=False)
        if divisor < 1:
            parser.raise_error("a divisor is at least 1", start)
        parser.parse_punctuation(">")
        return divisor

    def print_parameter(self, printer: Printer) -> None:
        if self.data != 1:
            printer.print_string(f"<divby {self.data}>")


def _integer(width: int) -> type[DivisibleType]:
    members = {
        "__doc__": f"An integer of {width} bits.",
        "__module__": __name__,
        "WIDTH": width,
        "name": f"cute.i{width}",
    }
    bases = (DivisibleType, TypeAttribute)
    return irdl_attr_definition(cast("type[DivisibleType]", type(f"I{width}Type", bases, members)))


DIVISIBLE = {width: _integer(width) for width in (4, 8, 16, 32, 64)}
"""The integers, by their bits."""
I4Type, I8Type, I16Type, I32Type, I64Type = DIVISIBLE.values()  # The dialect finds its types here.


@irdl_attr_definition
class FastDivisorType(Data[int], TypeAttribute):
    """A divisor of `data` bits, prepared so that division is a multiplication."""

    name = "cute.fast_divmod_divisor"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        with parser.in_angle_brackets():
            start = parser.pos
            width = parser.parse_integer(allow_boolean=False, allow_negative=False)
            if width != 32:
                parser.raise_error(f"fast division is of 32 bits, not {width}", start)
        return width

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


def width_and_divisor(type_: Attribute) -> tuple[int, int] | None:
    """The bits of an integer and what it is a multiple of; None for any other type."""
    if isinstance(type_, DivisibleType):
        return type_.WIDTH, type_.data
    if isinstance(type_, IndexType):
        return 64, 1
    width = integer_bits(type_)
    return (width, 1) if width else None
