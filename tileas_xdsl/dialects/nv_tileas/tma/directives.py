"""The list of operand types of a TMA operation: those of its coordinates are in the middle."""

from __future__ import annotations

from collections.abc import Sequence

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


def _parse(
    parser: Parser,
    state: ParsingState,
    before: Sequence[TypeDirective],
    coords: TypeDirective,
    after: Sequence[TypeDirective],
) -> None:
    start = parser.pos
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    first, last = len(before), len(types) - len(after)
    if last < first:
        needed = first + len(after)
        parser.raise_error(f"expected {needed} types and those of the coordinates", start)
    for directive, type_ in zip((*before, *after), (*types[:first], *types[last:]), strict=True):
        directive.set(state, [type_])
    coords.set(state, types[first:last])


def _print(
    printer: Printer, state: PrintingState, op: IRDLOperation, directives: Sequence[TypeDirective]
) -> None:
    state.print_whitespace(printer)
    types = [type_ for directive in directives for type_ in directive.get(op)]
    printer.print_list(types, printer.print_attribute)


@custom_directive
class TransferTypes(CustomDirective):
    """`descriptor, buffer, coordinates...`."""

    desc: TypeDirective
    buffer: TypeDirective
    coords: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        _parse(parser, state, (self.desc, self.buffer), self.coords, ())

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        _print(printer, state, op, (self.desc, self.buffer, self.coords))


@custom_directive
class TransferTypesAndOne(CustomDirective):
    """`descriptor, buffer, coordinates..., barrier or rows`."""

    desc: TypeDirective
    buffer: TypeDirective
    coords: TypeDirective
    last: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        _parse(parser, state, (self.desc, self.buffer), self.coords, (self.last,))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        _print(printer, state, op, (self.desc, self.buffer, self.coords, self.last))


@custom_directive
class TransferTypesAndTwo(CustomDirective):
    """`descriptor, buffer, coordinates..., rows, barrier`."""

    desc: TypeDirective
    buffer: TypeDirective
    coords: TypeDirective
    rows: TypeDirective
    barrier: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        _parse(parser, state, (self.desc, self.buffer), self.coords, (self.rows, self.barrier))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        directives = (self.desc, self.buffer, self.coords, self.rows, self.barrier)
        _print(printer, state, op, directives)
