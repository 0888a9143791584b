"""How the types of atoms are written: a list of clauses, `<16x8x16, elem_type = (f16, f16, f32)>`.

Each class says its clauses as a table, in the order of its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute.types.layouts import LayoutAttr
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType
from tileas_xdsl.dialects.shared_parsing import parse_quoted_layout
from tileas_xdsl.layout.int_tuple import show
from tileas_xdsl.layout.output.text import parse_tuple_type


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of value is read and written."""

    parse: Callable[[AttrParser], Attribute]
    show: Callable[[Attribute], str]


class Clause(NamedTuple):
    """One parameter of a type."""

    form: Form
    key: str = ""
    """What stands in front of it, with an equals sign; nothing for a bare value."""
    before: str = ", "
    """What separates it from the one before."""


class ClausedType(ParametrizedAttribute):
    """A type whose parameters are clauses."""

    CLAUSES: ClassVar[Sequence[Clause]]
    END: ClassVar[str] = ">"
    """How the list ends: some have a blank in front of the bracket."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [_parse(parser, clause, position) for position, clause in enumerate(cls.CLAUSES)]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        for position, (clause, value) in enumerate(zip(self.CLAUSES, self.parameters, strict=True)):
            key = f"{clause.key} = " if clause.key else ""
            printer.print_string(f"{clause.before * (position > 0)}{key}{clause.form.show(value)}")
        printer.print_string(self.END)


def _parse(parser: AttrParser, clause: Clause, position: int) -> Attribute:
    if position and "," in clause.before:
        parser.parse_punctuation(",")
    if clause.key:
        parser.parse_keyword(clause.key)
        parser.parse_punctuation("=")
    return clause.form.parse(parser)


# Values


def integer(attribute: Attribute) -> int:
    """The number that a parameter holds."""
    return cast(IntAttr, attribute).data


def text(attribute: Attribute) -> str:
    """The keyword that a parameter holds."""
    assert isinstance(attribute, StringAttr)
    return attribute.data


def numbers(attribute: Attribute) -> tuple[int, ...]:
    """The numbers of a parameter that holds several."""
    return tuple(map(integer, cast("ArrayAttr[IntAttr]", attribute)))


def keywords(attribute: Attribute) -> tuple[str, ...]:
    """The keywords of a parameter that holds several."""
    return tuple(map(text, cast("ArrayAttr[StringAttr]", attribute)))


def types(attribute: Attribute) -> tuple[Attribute, ...]:
    """The types of a parameter that holds several."""
    return tuple(cast("ArrayAttr[Attribute]", attribute))


# Forms


def parse_extents(parser: AttrParser) -> Attribute:
    """`16x8x16`, three extents."""
    extents = [parser.parse_shape_dimension(allow_dynamic=False)]
    for _ in range(2):
        parser.parse_shape_delimiter()
        extents.append(parser.parse_shape_dimension(allow_dynamic=False))
    return ArrayAttr([IntAttr(extent) for extent in extents])


def _parse_types(parser: AttrParser) -> Attribute:
    return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))


def _parse_word(parser: AttrParser) -> Attribute:
    return StringAttr(parser.parse_identifier(" of the closed set of this type"))


def _parse_keywords(parser: AttrParser) -> Attribute:
    delimiter = parser.Delimiter.PAREN
    return ArrayAttr(parser.parse_comma_separated_list(delimiter, lambda: _parse_word(parser)))


def _parse_integer(parser: AttrParser) -> IntAttr:
    return IntAttr(parser.parse_integer(allow_boolean=False))


def _parse_signature(parser: AttrParser) -> Attribute:
    """`(f32, f32) -> f32`: A and B, then C."""
    operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    parser.parse_punctuation("->")
    return ArrayAttr([*operands, parser.parse_type()])


def _show_signature(attribute: Attribute) -> str:
    *operands, result = map(str, types(attribute))
    return f"({', '.join(operands)}) -> {result} "


def _parse_layout(parser: AttrParser) -> Attribute:
    return LayoutAttr(LayoutAttr.parse_parameter(parser))


def _show_layout(attribute: Attribute) -> str:
    assert isinstance(attribute, LayoutAttr)
    return f'<"{attribute.data}">'


def _parse_tuple(parser: AttrParser) -> Attribute:
    return IntTupleType(parse_quoted_layout(parser, parse_tuple_type))


def _show_tuple(attribute: Attribute) -> str:
    assert isinstance(attribute, IntTupleType)
    return f'<"{show(attribute.data)}">'


def unit(name: str) -> Form:
    """A number with a unit behind it: `128 b`."""

    def parse(parser: AttrParser) -> Attribute:
        value = _parse_integer(parser)
        parser.parse_keyword(name)
        return value

    return Form(parse, lambda value: f"{integer(value)} {name}")


def _parse_times(parser: AttrParser) -> Attribute:
    start = parser.pos
    keyword = parser.parse_identifier()
    if not keyword.startswith("x") or not keyword[1:].isdigit():
        parser.raise_error("a repetition is written x1, x2, ...", start)
    return IntAttr(int(keyword[1:]))


SHAPE = Form(parse_extents, lambda value: "x".join(map(str, numbers(value))))
TYPE = Form(lambda parser: parser.parse_type(), str)
TYPES = Form(_parse_types, lambda value: f"({', '.join(map(str, types(value)))})")
SIGNATURE = Form(_parse_signature, _show_signature)
WORD = Form(_parse_word, text)
KEYWORDS = Form(_parse_keywords, lambda value: f"({', '.join(keywords(value))})")
INTEGER = Form(_parse_integer, lambda value: str(integer(value)))
LAYOUT = Form(_parse_layout, _show_layout)
TUPLE = Form(_parse_tuple, _show_tuple)
TIMES = Form(_parse_times, lambda value: f"x{integer(value)}")
