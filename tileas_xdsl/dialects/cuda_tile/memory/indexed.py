"""The assembly format of accesses through views: `%view[%i, %j] ... : TYPES`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.lexer import Position

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.hints import OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.memory.access_directives import (
    parse_hints,
    parse_token,
    print_hints,
)
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import parse_type, print_type
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TokenType

SEGMENT_SIZES = "operandSegmentSizes"
INBOUNDS = "inbounds"


@dataclass
class Indexed:
    """`%view[%i, %j]` as it stands in the text."""

    view: UnresolvedOperand
    indices: list[UnresolvedOperand]
    position: Position
    """Where the indices begin."""


def parse_indexed(parser: Parser) -> Indexed:
    """`%view[%i, %j]`."""
    view = parser.parse_unresolved_operand()
    position = parser.pos
    indices = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )
    return Indexed(view, indices, position)


def print_indexed(printer: Printer, view: SSAValue, indices: Sequence[SSAValue]) -> None:
    """The text that `parse_indexed` reads."""
    printer.print_ssa_value(view)
    with printer.in_square_brackets():
        printer.print_list(indices, printer.print_ssa_value)


@dataclass
class Values:
    """The operands that an access has in common with all others, resolved."""

    view: SSAValue
    indices: Sequence[SSAValue]
    token: Sequence[SSAValue]


def parse_values(parser: Parser, indexed: Indexed, token: UnresolvedOperand | None) -> Values:
    """`VIEW_TYPE, INDEX_TYPES`: the types of the operands that were read before."""
    view = parser.resolve_operand(indexed.view, parse_type(parser))
    types = _parse_index_types(parser, indexed)
    indices = [
        parser.resolve_operand(index, type_)
        for index, type_ in zip(indexed.indices, types, strict=True)
    ]
    tokens = [] if token is None else [parser.resolve_operand(token, TokenType())]
    return Values(view, indices, tokens)


def _parse_index_types(parser: Parser, indexed: Indexed) -> list[Attribute]:
    """`, TYPE` for all indices, or one type for each."""
    count = len(indexed.indices)
    position = parser.pos
    types: list[Attribute] = []
    while parser.parse_optional_punctuation(",") is not None:
        position = parser.pos if not types else position
        types.append(parse_type(parser))
    if count and not types:
        parser.raise_error(message("cuda_tile.index_types.missing"), at_position=indexed.position)
    if len(types) == 1:
        return types * count
    if len(types) != count:
        text = message("cuda_tile.index_types.count", expected=count, given=len(types))
        parser.raise_error(text, at_position=position)
    return types


def print_types_of(printer: Printer, view: SSAValue, indices: Sequence[SSAValue]) -> None:
    """The text that `parse_values` reads; one type for all indices where they agree."""
    print_type(printer, view.type)
    types = [index.type for index in indices]
    for type_ in types[:1] if len(set(types)) == 1 else types:
        printer.print_string(", ")
        print_type(printer, type_)


def _parse_flag(parser: Parser) -> bool:
    position = parser.pos
    word = parser.parse_identifier()
    if word not in ("true", "false"):
        parser.raise_error(
            message("cuda_tile.inbounds.keyword", keyword=word), at_position=position
        )
    return word == "true"


def parse_inbounds(parser: Parser, indexed: Indexed) -> DenseArrayBase:
    """`inbounds = [true, false]`; left out no index is known to be in bounds."""
    if parser.parse_optional_keyword(INBOUNDS) is None:
        return inbounds([False] * len(indexed.indices))
    parser.parse_punctuation("=")
    position = parser.pos
    flags = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_flag(parser))
    if len(flags) != len(indexed.indices):
        text = message("cuda_tile.inbounds.size", given=len(flags), expected=len(indexed.indices))
        parser.raise_error(text, at_position=position)
    return inbounds(flags)


def inbounds(flags: Sequence[bool]) -> DenseArrayBase:
    """Along which dimensions a tile is known to be in bounds, as an attribute."""
    return DenseArrayBase.from_list(i1, [-1 if flag else 0 for flag in flags])


def flags_of(attribute: Attribute | None) -> list[bool]:
    """Along which dimensions a tile is known to be in bounds."""
    assert isinstance(attribute, DenseArrayBase)
    return [bool(value) for value in attribute.get_values()]


@dataclass
class Extras:
    """What stands between the indices of a load or a store and its types."""

    token: UnresolvedOperand | None
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]


_PRINTED = (
    "memory_ordering_semantics",
    "memory_scope",
    "optimization_hints",
    SEGMENT_SIZES,
    INBOUNDS,
)


def parse_extras(parser: Parser, indexed: Indexed) -> Extras:
    """`[token = %t] [optimization_hints = <...>] [inbounds = [...]] [attributes {...}]`."""
    token = parse_token(parser)
    properties: dict[str, Attribute] = {}
    if (hints := parse_hints(parser)) is not None:
        properties["optimization_hints"] = hints
    properties[INBOUNDS] = parse_inbounds(parser, indexed)
    return Extras(token, properties, parse_attributes(parser, _PRINTED))


def parse_attributes(parser: Parser, reserved: Sequence[str]) -> dict[str, Attribute]:
    """`attributes {...}` without the attributes that the format prints elsewhere."""
    position = parser.pos
    given = parser.parse_optional_attr_dict_with_keyword()
    attributes = {} if given is None else dict(given.data)
    for key in reserved:
        if key in attributes:
            parser.raise_error(
                message("cuda_tile.attribute.reserved", name=key), at_position=position
            )
    return attributes


def print_token(printer: Printer, token: SSAValue | None) -> None:
    """`token = %t`, after a blank, if it is there."""
    if token is not None:
        printer.print_string(" token = ")
        printer.print_ssa_value(token)


def print_attributes(printer: Printer, op: Operation) -> None:
    """`attributes {...}`, after a blank, if there are any."""
    printer.print_op_attributes(op.attributes, print_keyword=True)


def print_extras(printer: Printer, op: Operation, token: SSAValue | None) -> None:
    """The text that `parse_extras` reads."""
    print_token(printer, token)
    hints = op.properties.get("optimization_hints")
    print_hints(printer, hints if isinstance(hints, OptimizationHintsAttr) else None)
    print_inbounds(printer, op.properties[INBOUNDS])
    print_attributes(printer, op)


def print_inbounds(printer: Printer, attribute: Attribute) -> None:
    """The text that `parse_inbounds` reads: nothing where no index is known to be in bounds."""
    flags = flags_of(attribute)
    if any(flags):
        words = ", ".join("true" if flag else "false" for flag in flags)
        printer.print_string(f" inbounds = [{words}]")


def segments(*sizes: int) -> DenseArrayBase:
    """How many operands each name stands for."""
    return DenseArrayBase.from_list(i32, sizes)
