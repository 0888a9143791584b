"""Pieces of assembly format that several operations share."""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    VariadicOperandVariable,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from tileas_xdsl.dialects.custom_directive import custom_directive
from tileas_xdsl.dialects.nv_tileas.enums import (
    MemScope,
    MemScopeAttr,
    MemSemantic,
    MemSemanticAttr,
)

_INDEX = IndexType()


@custom_directive
class Coordinates(CustomDirective):
    """`[%i, %j]`; a type other than `index` is written after: `[%i : i32, %j]`.  None: nothing."""

    values: VariadicOperandVariable
    types: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        items = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: _parse_coordinate(parser)
        )
        self.values.set(state, [value for value, _ in items or ()])
        self.types.set(state, [type_ for _, type_ in items or ()])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        if values := self.values.get(op):
            with printer.in_square_brackets():
                printer.print_list(values, lambda value: _print_coordinate(printer, value))
        state.should_emit_space = True
        state.last_was_punctuation = False

    def set_empty(self, state: ParsingState) -> None:
        self.values.set(state, [])
        self.types.set(state, [])

    def is_present(self, op: IRDLOperation) -> bool:
        return bool(self.values.get(op))

    def is_anchorable(self) -> bool:
        return True


def _parse_coordinate(parser: Parser) -> tuple[UnresolvedOperand, Attribute]:
    value = parser.parse_unresolved_operand()
    if parser.parse_optional_punctuation(":"):
        return value, parser.parse_type()
    return value, _INDEX


def _print_coordinate(printer: Printer, value: SSAValue) -> None:
    printer.print_ssa_value(value)
    if value.type != _INDEX:
        printer.print_string(" : ")
        printer.print_attribute(value.type)


@custom_directive
class Ordering(CustomDirective):
    """`relaxed gpu`: the semantic and the scope of a memory access, as far as they are given."""

    semantic: AttributeVariable
    scope: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if (semantic := _parse_optional_word(parser, MemSemantic)) is not None:
            self.semantic.set(state, MemSemanticAttr(semantic))
        if (scope := _parse_optional_word(parser, MemScope)) is not None:
            self.scope.set(state, MemScopeAttr(scope))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for attribute in (self.semantic.get(op), self.scope.get(op)):
            if isinstance(attribute, MemSemanticAttr | MemScopeAttr):
                state.print_whitespace(printer)
                printer.print_string(attribute.data.value)


WordT = TypeVar("WordT", bound=StrEnum)


def _parse_optional_word(parser: Parser, words: type[WordT]) -> WordT | None:
    """Parse one of the keywords `words`; return None if something else follows."""
    return next((word for word in words if parser.parse_optional_keyword(word.value)), None)
