"""Assembly format directives: types without prefix, and keywords with defaults."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import UnitAttr, i32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    VariadicOperandVariable,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.enums import (
    AtomicRMWModeAttr,
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    IntegerOverflow,
    IntegerOverflowAttr,
    RoundingMode,
    RoundingModeAttr,
    SignednessAttr,
)
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import (
    parse_type,
    parse_types,
    print_type,
    print_types,
)
from tileas_xdsl.dialects.cuda_tile.types.tile_types import scalar
from tileas_xdsl.dialects.custom_directive import custom_directive


class Shared(CustomDirective):
    """One type for several values, written once."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        type_ = parse_type(parser)
        for name in self.parameters:
            getattr(self, name).set(state, [type_])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        *_, last = self.parameters
        _print_types(printer, state, getattr(self, last).get(op))


def _print_types(printer: Printer, state: PrintingState, types: Any) -> None:
    state.print_whitespace(printer)
    print_types(printer, types)


@custom_directive
class Type(Shared):
    """The type of one value."""

    a: TypeDirective


@custom_directive
class SameType2(Shared):
    """The type of two values."""

    a: TypeDirective
    b: TypeDirective


@custom_directive
class SameType3(Shared):
    """The type of three values."""

    a: TypeDirective
    b: TypeDirective
    c: TypeDirective


@custom_directive
class SameType4(Shared):
    """The type of four values."""

    a: TypeDirective
    b: TypeDirective
    c: TypeDirective
    d: TypeDirective


@custom_directive
class Types(CustomDirective):
    """The types of any number of values, between commas."""

    values: TypeDirective

    def is_anchorable(self) -> bool:
        return True

    def is_present(self, op: IRDLOperation) -> bool:
        return bool(self.values.get(op))

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.values.set(state, parse_types(parser))

    def set_empty(self, state: ParsingState) -> None:
        self.values.set(state, [])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        _print_types(printer, state, self.values.get(op))


@custom_directive
class Indices(CustomDirective):
    """`[%i, %j]`: scalars of `i32`, whose type goes without saying."""

    values: VariadicOperandVariable
    types: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        values = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        self.values.set(state, values)
        self.types.set(state, [scalar(i32)] * len(values))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        with printer.in_square_brackets():
            printer.print_list(self.values.get(op), printer.print_ssa_value)
        state.should_emit_space, state.last_was_punctuation = True, False


@custom_directive
class OptionalType(CustomDirective):
    """`, TYPE` for an operand that is there."""

    value: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        given = parser.parse_optional_punctuation(",")
        self.value.set(state, [] if given is None else [parse_type(parser)])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for type_ in self.value.get(op):
            printer.print_string(", ")
            print_type(printer, type_)


class Word(CustomDirective):
    """A keyword of an enum, printed without the name of its attribute."""

    ATTRIBUTE: ClassVar[type[EnumAttribute[Any]]]
    ERROR: ClassVar[str]
    """The id of the message for any other keyword."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.attribute.set(state, parse_word(parser, self.ATTRIBUTE, self.ERROR))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(_text(self.attribute.get(op)))


def _text(attribute: Attribute | None) -> str:
    word = cast("EnumAttribute[Any]", attribute).data
    return str(word.value)


def parse_word(
    parser: Parser, attribute: type[EnumAttribute[Any]], error: str
) -> EnumAttribute[Any]:
    """Return the attribute of a keyword; `error` is the id of the message for any other keyword."""
    position = parser.pos
    word = parser.parse_optional_identifier()
    if word is None:
        text = f"expected valid keyword; {message(error, keyword='')}"
        parser.raise_error(text, at_position=position)
    if word not in _words(attribute):
        parser.raise_error(message(error, keyword=word), at_position=position)
    return attribute(attribute.enum_type(word))


def _words(attribute: type[EnumAttribute[Any]]) -> list[str]:
    members: type[StrEnum] = attribute.enum_type
    return [member.value for member in members]


@custom_directive
class Signed(Word):
    """`signed` or `unsigned`."""

    ATTRIBUTE: ClassVar = SignednessAttr
    ERROR: ClassVar = "cuda_tile.expected.signedness"
    attribute: AttributeVariable


@custom_directive
class Predicate(Word):
    """`less_than` and others."""

    ATTRIBUTE: ClassVar = ComparisonPredicateAttr
    ERROR: ClassVar = "cuda_tile.expected.comparison_predicate"
    attribute: AttributeVariable


@custom_directive
class Ordering(Word):
    """`ordered` or `unordered`."""

    ATTRIBUTE: ClassVar = ComparisonOrderingAttr
    ERROR: ClassVar = "cuda_tile.expected.comparison_ordering"
    attribute: AttributeVariable


@custom_directive
class Mode(Word):
    """What an atomic operation does."""

    ATTRIBUTE: ClassVar = AtomicRMWModeAttr
    ERROR: ClassVar = "cuda_tile.atomic.unknown_mode"
    attribute: AttributeVariable


@custom_directive
class Extremes(CustomDirective):
    """`flush_to_zero` and `propagate_nan`, in any order."""

    flush_to_zero: AttributeVariable
    propagate_nan: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        while (word := self._parse_word(parser)) is not None:
            getattr(self, word).set(state, UnitAttr())

    def _parse_word(self, parser: Parser) -> str | None:
        words = (parser.parse_optional_keyword(name) for name in self.parameters)
        return next((word for word in words if word is not None), None)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for name in self.parameters:
            if getattr(self, name).get(op) is not None:
                state.print_whitespace(printer)
                printer.print_string(name)


@custom_directive
class Overflow(CustomDirective):
    """`overflow<no_wrap>`; left out it is `none`."""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        overflow = IntegerOverflowAttr(IntegerOverflow.NONE)
        if parser.parse_optional_keyword("overflow") is not None:
            overflow = IntegerOverflowAttr(IntegerOverflowAttr.parse_parameter(parser))
        self.attribute.set(state, overflow)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        overflow = self.attribute.get(op)
        if overflow is not None and _text(overflow) != IntegerOverflow.NONE:
            state.print_whitespace(printer)
            printer.print_string(f"overflow<{_text(overflow)}>")


IEEE = ("nearest_even", "zero", "negative_inf", "positive_inf")
"""The rounding modes of arithmetic."""


class Rounding(CustomDirective):
    """`rounding<zero>`; `DEFAULT` is left out.

    What the operation does not take its verifier refuses, if it is not refused here.
    """

    MODES: ClassVar[tuple[str, ...]]
    """The modes that the error names."""
    DEFAULT: ClassVar[RoundingMode] = RoundingMode.NEAREST_EVEN
    STRICT: ClassVar[bool] = False
    """Is a mode that is not in `MODES` refused already here?"""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        mode = self.DEFAULT
        if parser.parse_optional_keyword("rounding") is not None:
            with parser.in_angle_brackets():
                mode = self._parse_mode(parser)
        self.attribute.set(state, RoundingModeAttr(mode))

    def _parse_mode(self, parser: Parser) -> RoundingMode:
        position = parser.pos
        word = parser.parse_identifier()
        known = self.MODES if self.STRICT else _words(RoundingModeAttr)
        if word not in known:
            modes = ", ".join(f"'{mode}'" for mode in self.MODES)
            key = (
                "cuda_tile.expected.rounding_mode_got"
                if self.STRICT
                else "cuda_tile.expected.rounding_mode"
            )
            parser.raise_error(message(key, modes=modes, given=word), at_position=position)
        return RoundingMode(word)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        mode = self.attribute.get(op)
        if mode is not None and _text(mode) != self.DEFAULT:
            state.print_whitespace(printer)
            printer.print_string(f"rounding<{_text(mode)}>")


@custom_directive
class IEEERounding(Rounding):
    """The modes of arithmetic and conversions."""

    MODES: ClassVar = (*IEEE, "nearest_away")
    STRICT: ClassVar = True
    attribute: AttributeVariable


@custom_directive
class DivisionRounding(Rounding):
    """The modes of arithmetic, and two approximations."""

    MODES: ClassVar = (*IEEE, "approx", "full")
    attribute: AttributeVariable


@custom_directive
class SqrtRounding(Rounding):
    """The modes of arithmetic, and an approximation."""

    MODES: ClassVar = (*IEEE, "approx")
    attribute: AttributeVariable


@custom_directive
class FullRounding(Rounding):
    """Exact or approximate; exact is left out."""

    MODES: ClassVar = ("approx", "full")
    DEFAULT: ClassVar = RoundingMode.FULL
    attribute: AttributeVariable


@custom_directive
class IntegerRounding(Rounding):
    """The one mode of conversions to integers, which is left out."""

    MODES: ClassVar = ("nearest_int_to_zero",)
    DEFAULT: ClassVar = RoundingMode.NEAREST_INT_TO_ZERO
    STRICT: ClassVar = True
    attribute: AttributeVariable


@custom_directive
class DivisionDirection(Rounding):
    """The direction of an integer division; towards zero is left out."""

    MODES: ClassVar = ("zero", "negative_inf", "positive_inf")
    DEFAULT: ClassVar = RoundingMode.ZERO
    attribute: AttributeVariable
