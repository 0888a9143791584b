"""Pieces of assembly format for the types of an operation with one source and one result."""

from __future__ import annotations

from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tileas_xdsl.dialects.custom_directive import custom_directive


@custom_directive
class SourceToResult(CustomDirective):
    """`T -> U`, also read as `T to U`."""

    source: TypeDirective
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.source.set(state, [parser.parse_type()])
        if parser.parse_optional_keyword("to") is None:
            parser.parse_punctuation("->", " between the types of the source and the result")
        self.result.set(state, [parser.parse_type()])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        self.source.print(printer, state, op)
        printer.print_string(" ->")
        self.result.print(printer, state, op)


@custom_directive
class SourceOrBoth(CustomDirective):
    """`T -> U`; where source and result have one type, only `T`."""

    source: TypeDirective
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        source = parser.parse_type()
        arrow = parser.parse_optional_punctuation("->")
        self.source.set(state, [source])
        self.result.set(state, [source if arrow is None else parser.parse_type()])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        self.source.print(printer, state, op)
        if tuple(self.source.get(op)) != tuple(self.result.get(op)):
            printer.print_string(" ->")
            self.result.print(printer, state, op)
