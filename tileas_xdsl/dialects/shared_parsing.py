"""What the parsers of our types and attributes share: tile shapes, text of the layout package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntAttr, TensorType
from xdsl.ir import Attribute, TypeAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from tileas_xdsl.layout.errors import LayoutError, LayoutSyntaxError

T = TypeVar("T")


def parse_payload_type(parser: AttrParser) -> Attribute:
    """A type; `tile<SxT>` is accepted for `tensor<SxT>`."""
    if (tile := parse_optional_tile(parser)) is not None:
        return tile
    return parser.parse_type()


def parse_optional_tile(parser: AttrParser) -> TypeAttribute | None:
    """`tile<SxT>` as the tensor it means; None if something else follows."""
    if parser.parse_optional_keyword("tile") is None:
        return None
    with parser.in_angle_brackets():
        dims, element = parser.parse_ranked_shape()
    return TensorType(element, dims)


def parse_shape_and_element(parser: AttrParser) -> tuple[ArrayAttr[IntAttr], Attribute]:
    """`128x64xf16`: extents (`?` for a dynamic one) and the element type."""
    dims, element = parser.parse_ranked_shape()
    return ArrayAttr([IntAttr(d) for d in dims]), element


def print_shape_and_element(printer: Printer, shape: Sequence[int], element: Attribute) -> None:
    """The text that `parse_shape_and_element` reads."""
    for extent in shape:
        printer.print_string("?x" if extent == DYNAMIC_INDEX else f"{extent}x")
    printer.print_attribute(element)


def parse_layout_text(parser: AttrParser, read: Callable[[str], T]) -> T:
    """`read` applied to `<...>`, brackets included; its errors keep their place in the file."""
    start = parser.pos
    body = parser._parse_dialect_symbol_body()  # pyright: ignore[reportPrivateUsage]
    return _located(parser, start, lambda: read(f"<{body}>"))


def parse_quoted_layout(parser: AttrParser, read: Callable[[str], T]) -> T:
    """`read` applied to the string of `<"...">`."""
    with parser.in_angle_brackets():
        return parse_layout_string(parser, read)


def parse_layout_string(parser: AttrParser, read: Callable[[str], T]) -> T:
    """`read` applied to the string literal that follows; its errors keep their place."""
    start = parser.pos + 1
    text = parser.parse_str_literal()
    return _located(parser, start, lambda: read(text))


def _located(parser: AttrParser, start: int, build: Callable[[], T]) -> T:
    source = parser.lexer.input
    try:
        return build()
    except LayoutSyntaxError as error:
        position = start + error.position
        raise ParseError(Span(position, position + 1, source), error.reason) from error
    except LayoutError as error:
        raise ParseError(Span(start, start + 1, source), str(error)) from error
