"""Pieces of assembly format that several operations of `tl` share."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tileas_xdsl.dialects.custom_directive import custom_directive


@custom_directive
class Offsets(CustomDirective):
    """`[%i, %j]` after a buffer; nothing for the whole of it."""

    values: VariadicOperandVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        items = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        self.values.set(state, items or [])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        if values := self.values.get(op):
            with printer.in_square_brackets():
                printer.print_list(values, printer.print_ssa_value)
        state.should_emit_space = True
        state.last_was_punctuation = False


@custom_directive
class Extents(CustomDirective):
    """`extents(1, 64)`, if the operation gives them."""

    numbers: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_keyword("extents") is None:
            return
        numbers = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_integer(allow_boolean=False)
        )
        self.numbers.set(state, DenseArrayBase.from_list(i64, numbers))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        given = self.numbers.get(op)
        if not isinstance(given, DenseArrayBase):
            return
        numbers = cast("DenseArrayBase[IntegerType]", given).get_values()
        state.print_whitespace(printer)
        printer.print_string(f"extents({', '.join(map(str, numbers))})")
        state.should_emit_space = True
        state.last_was_punctuation = False
