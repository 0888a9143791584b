"""Types of `ptx`: registers, tuples of registers of one kind, and parameters of an entry."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.target.isa.kinds import KINDS, PARAMETER_BYTES

MAX_REGISTERS = 256
"""The longest tuple: the accumulators of the widest instruction are 128 or 256 registers."""


@irdl_attr_definition
class RegType(ParametrizedAttribute, TypeAttribute):
    """`!ptx.reg<f32, 128>`: a tuple of 128 per-thread registers of one kind; one by default."""

    name = "ptx.reg"

    kind: StringAttr
    count: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<kind>` or `<kind, count>`."""
        with parser.in_angle_brackets():
            kind = parser.parse_identifier(" of a kind of register")
            count = 1
            if parser.parse_optional_punctuation(","):
                count = parser.parse_integer(allow_boolean=False, allow_negative=False)
        return [StringAttr(kind), IntAttr(count)]

    def print_parameters(self, printer: Printer) -> None:
        """Print what `parse_parameters` reads."""
        count = self.count.data
        printer.print_string(
            f"<{self.kind.data}>" if count == 1 else f"<{self.kind.data}, {count}>"
        )

    def verify(self) -> None:
        """Kinds are those of PTX; a tuple has at least one register."""
        if self.kind.data not in KINDS:
            raise VerifyException(
                f"unknown kind of register '{self.kind.data}'; kinds are {', '.join(KINDS)}"
            )
        if not 1 <= self.count.data <= MAX_REGISTERS:
            raise VerifyException(
                f"a tuple has 1 to {MAX_REGISTERS} registers, not {self.count.data}"
            )


@cache
def reg(kind: str, count: int = 1) -> RegType:
    """The type of `count` registers of `kind`: pred, b16, b32, b64, f32 or f64."""
    return RegType(StringAttr(kind), IntAttr(count))


@irdl_attr_definition
class ParamType(ParametrizedAttribute, TypeAttribute):
    """`!ptx.param<u64>` or `!ptx.param<b8, 128, align 64>`: a parameter in `.param` space."""

    name = "ptx.param"

    element: StringAttr
    count: IntAttr
    align: IntAttr
    """Bytes; 0 is the natural alignment of the element."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<element>`, `<element, count>` or `<element, count, align n>`."""
        with parser.in_angle_brackets():
            element = parser.parse_identifier(" of the type of a parameter")
            count, align = 1, 0
            while parser.parse_optional_punctuation(","):
                if parser.parse_optional_keyword("align"):
                    align = parser.parse_integer(allow_boolean=False, allow_negative=False)
                else:
                    count = parser.parse_integer(allow_boolean=False, allow_negative=False)
        return [StringAttr(element), IntAttr(count), IntAttr(align)]

    def print_parameters(self, printer: Printer) -> None:
        """Print what `parse_parameters` reads."""
        parts = [self.element.data]
        if self.count.data != 1:
            parts.append(str(self.count.data))
        if self.align.data:
            parts.append(f"align {self.align.data}")
        printer.print_string(f"<{', '.join(parts)}>")

    @property
    def size(self) -> int:
        """Bytes."""
        return PARAMETER_BYTES[self.element.data] * self.count.data

    def verify(self) -> None:
        """Elements are PTX's fundamental types; alignments are powers of two up to 128."""
        if self.element.data not in PARAMETER_BYTES:
            known = ", ".join(PARAMETER_BYTES)
            raise VerifyException(
                f"unknown type '{self.element.data}' of a parameter; known: {known}"
            )
        if self.count.data < 1:
            raise VerifyException("a parameter has at least one element")
        align = self.align.data
        if align and (align & (align - 1) or align > 128):
            raise VerifyException(f"an alignment is a power of two up to 128, not {align}")


@cache
def param(element: str, count: int = 1, align: int = 0) -> ParamType:
    """The type of a parameter: `param("u64")`, `param("b8", 128, 64)` for a tensor map."""
    return ParamType(StringAttr(element), IntAttr(count), IntAttr(align))
