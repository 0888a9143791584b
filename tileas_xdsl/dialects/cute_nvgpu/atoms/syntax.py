"""Values in the clauses of atoms: `<16x8x16, elem_type = (f16, f16, f32), mode = <"(8,8)">>`."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.parser import AttrParser

from tileas_xdsl.dialects.clauses import Form, parameter_of
from tileas_xdsl.dialects.cute.types.layouts import LayoutAttr
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType

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


def show_extents(extents: Attribute) -> str:
    """`16x8x16`."""
    return "x".join(map(str, numbers(extents)))


def _parse_types(parser: AttrParser) -> Attribute:
    return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))


def _parse_keywords(parser: AttrParser) -> Attribute:
    words = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_identifier)
    return ArrayAttr(map(StringAttr, words))


def _parse_signature(parser: AttrParser) -> Attribute:
    """`(f32, f32) -> f32`: A and B, then C."""
    operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    parser.parse_punctuation("->")
    return ArrayAttr([*operands, parser.parse_type()])


def _show_signature(attribute: Attribute) -> str:
    *operands, result = map(str, types(attribute))
    return f"({', '.join(operands)}) -> {result} "


def unit(name: str) -> Form:
    """A number with a unit after it: `128 b`."""

    def parse(parser: AttrParser) -> Attribute:
        value = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword(name)
        return IntAttr(value)

    return Form(parse, lambda value: f"{integer(value)} {name}")


def _parse_times(parser: AttrParser) -> Attribute:
    start = parser.pos
    keyword = parser.parse_identifier()
    if not keyword.startswith("x") or not keyword[1:].isdigit():
        parser.raise_error("a repetition is written x1, x2, ...", start)
    return IntAttr(int(keyword[1:]))


SHAPE = Form(parse_extents, show_extents)
TYPES = Form(_parse_types, lambda value: f"({', '.join(map(str, types(value)))})")
SIGNATURE = Form(_parse_signature, _show_signature)
KEYWORDS = Form(_parse_keywords, lambda value: f"({', '.join(keywords(value))})")
LAYOUT = parameter_of(LayoutAttr)
TUPLE = parameter_of(IntTupleType)
TIMES = Form(_parse_times, lambda value: f"x{integer(value)}")
