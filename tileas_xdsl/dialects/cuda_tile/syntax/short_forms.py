"""How types and operations of the dialect read without `!cuda_tile.` and `cuda_tile.`.

As in the open dialect, types are written unprefixed in every operation of the dialect and inside
its types, and operations inside the regions of its operations.  Both forms are read everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import UnregisteredAttr
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, Region, TypeAttribute
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tileas_xdsl.diagnostics.printed_operations import NotesOperations

PREFIX = "cuda_tile."


def parse_type(parser: AttrParser) -> TypeAttribute:
    """A type; one of the dialect may stand without its prefix."""
    token = parser._current_token  # pyright: ignore[reportPrivateUsage]
    if token.kind is not MLIRTokenKind.BARE_IDENT:
        if (found := parser.parse_optional_type()) is None:
            parser.raise_error("expected valid keyword", at_position=token.span)
        return found
    definition = parser.ctx.get_optional_type(PREFIX + token.text)
    if definition is None or not issubclass(definition, ParametrizedAttribute):
        return parser.parse_type()
    if issubclass(definition, UnregisteredAttr):  # `i32`, where types of no dialect are allowed
        return parser.parse_type()
    parser.parse_keyword(token.text)
    try:
        return cast(TypeAttribute, definition.new(definition.parse_parameters(parser)))
    except VerifyException as error:
        parser.raise_error(str(error), at_position=token.span)


def parse_types(parser: AttrParser) -> list[TypeAttribute]:
    """Types between commas, at least one."""
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_type(parser))


def print_type(printer: Printer, type_: Attribute) -> None:
    """The type, unprefixed if it is one of the dialect, and then never by an alias."""
    if not (type_.name.startswith(PREFIX) and isinstance(type_, ParametrizedAttribute)):
        printer.print_attribute(type_)
        return
    printer.print_string(type_.name.removeprefix(PREFIX))
    type_.print_parameters(printer)


def print_types(printer: Printer, types: Iterable[Attribute]) -> None:
    """Types between commas."""
    printer.print_list(types, lambda type_: print_type(printer, type_))


def parse_arguments(parser: Parser) -> list[Parser.Argument]:
    """`(%a: TYPE, %b: TYPE)`; an attribute dictionary after a type is refused."""

    def parse_argument() -> Parser.Argument:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation(":")
        return argument.resolve(parse_type(parser))

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_argument)


def print_arguments(printer: Printer, block: Block) -> None:
    """`(%a: TYPE, %b: TYPE)`: the arguments of a block."""
    with printer.in_parens():
        for index, argument in enumerate(block.args):
            if index:
                printer.print_string(", ")
            printer.print_ssa_value(argument)
            printer.print_string(": ")
            print_type(printer, argument.type)


def parse_body(
    parser: Parser,
    arguments: Sequence[Parser.Argument],
    terminator: type[Operation] | None,
) -> Region:
    """A region of one block; `terminator`, without operands, is what it ends with if left out."""
    region = parser.parse_region(arguments)
    if not region.blocks:
        region.add_block(Block(arg_types=[argument.type for argument in arguments]))
    if terminator is not None:
        ensure_terminator(region, terminator)
    return region


def ensure_terminator(region: Region, terminator: type[Operation]) -> None:
    """End a region of one block with `terminator` if it does not end with any."""
    if (block := region.blocks.first) is None or region.blocks.last is not block:
        return
    last = block.last_op
    if last is None or last.name not in TERMINATORS:
        block.add_op(terminator.create())


TERMINATORS = frozenset(f"{PREFIX}{name}" for name in ("break", "continue", "return", "yield"))
"""The operations that end blocks."""


def print_body(printer: Printer, region: Region, implicit: str | None = None) -> None:
    """A region without the arguments of its first block; operations of the dialect unprefixed.

    `implicit` names the terminator that is left out if it has no operands.
    """
    with printer.in_braces():
        for index, block in enumerate(region.blocks):
            _print_block(printer, block, implicit, labelled=index > 0)
        printer.print_string("\n")


def _print_block(printer: Printer, block: Block, implicit: str | None, *, labelled: bool) -> None:
    if labelled:
        printer.print_block(block)
        return
    with printer.indented():
        for op in block.ops:
            if op is block.last_op and op.name == implicit and not op.operands:
                continue
            printer.print_string("\n")
            print_operation(printer, op)


def print_operation(printer: Printer, op: Operation) -> None:
    """One operation as `Printer.print_op` does, but without the prefix of the dialect."""
    if not op.name.startswith(PREFIX) or printer.print_generic_format:
        printer.print_op(op)
        return
    if isinstance(printer, NotesOperations):
        printer.note_operation(op)
    isolated = op.has_trait(IsolatedFromAbove)
    if op.results:
        printer.print_list(op.results, printer.print_ssa_value)
        printer.print_string(" = ")
    if isolated:
        printer.enter_scope()
    printer.print_string(op.name.removeprefix(PREFIX))
    op.print(printer)
    if printer.print_debuginfo:
        printer.print_string(" ")
        printer.print_attribute(op.location)
    if isolated:
        printer.exit_scope()
