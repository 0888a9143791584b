"""How the types of views are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr
from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.enums import PaddingValue, PaddingValueAttr, PtrAttr
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import parse_type
from tileas_xdsl.dialects.cuda_tile.types.tile_types import parse_dimensions, parse_ptr_attr

MAX_I32 = (1 << 31) - 1
MAX_I64 = (1 << 63) - 1

TypeT = TypeVar("TypeT", bound=Attribute)


def parse_tensor_view_body(
    parser: AttrParser,
) -> tuple[Attribute, list[int], list[int], PtrAttr | NoneAttr]:
    """`?x16xf32, strides=[?,1]`: element type, extents, strides and classification."""
    shape = parse_dimensions(parser)
    element = parse_type(parser)
    if not shape:
        return element, [], [], _parse_scalar_ptr_attr(parser)
    if parser.parse_optional_punctuation(",") is None:
        parser.raise_error(message("cuda_tile.tensor_view.expected_strides"))
    parser.parse_keyword("strides")
    parser.parse_punctuation("=")
    strides = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _parse_stride(parser)
    )
    return element, shape, strides, parse_ptr_attr(parser)


def _parse_scalar_ptr_attr(parser: AttrParser) -> PtrAttr | NoneAttr:
    if parser.parse_optional_punctuation(",") is None:
        return NoneAttr()
    if parser.parse_optional_keyword("strides") is not None:
        parser.raise_error(message("cuda_tile.tensor_view.0d_strides"))
    attribute = parser.parse_optional_attribute()
    if not isinstance(attribute, PtrAttr):
        parser.raise_error(message("cuda_tile.tensor_view.0d_token"))
    return attribute


def _parse_stride(parser: AttrParser) -> int:
    if parser.parse_optional_punctuation("?") is not None:
        return DYNAMIC_INDEX
    position = parser.pos
    stride = parser.parse_optional_integer(allow_boolean=False)
    if stride is None or stride > MAX_I64:
        parser.raise_error(message("cuda_tile.tensor_view.stride_syntax"), at_position=position)
    if stride <= 0:
        text = message("cuda_tile.tensor_view.stride_positive", stride=stride)
        parser.raise_error(text, at_position=position)
    return stride


def print_extents(printer: Printer, values: Sequence[int]) -> None:
    """`?,1`: numbers, some of them dynamic."""
    texts = ("?" if value == DYNAMIC_INDEX else str(value) for value in values)
    printer.print_string(",".join(texts))


def parse_tile_shape(parser: AttrParser) -> list[int]:
    """`tile=(4x2)`."""
    parser.parse_keyword("tile")
    parser.parse_punctuation("=")
    with parser.in_parens():
        position = parser.pos
        extents = parser.parse_dimension_list()
    for index, extent in enumerate(extents):
        if not 0 < extent <= MAX_I32:
            text = message("cuda_tile.view.tile_i32", dim=index, extent=extent, limit=MAX_I32)
            parser.raise_error(text, at_position=position)
    return extents


def print_tile_shape(printer: Printer, tile: Sequence[int]) -> None:
    """The text that `parse_tile_shape` reads."""
    printer.print_string(f"tile=({'x'.join(map(str, tile))})")


def parse_numbers(parser: AttrParser, name: str) -> list[int]:
    """`name=[1, 2]`."""
    parser.parse_keyword(name)
    parser.parse_punctuation("=")
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )


def parse_dim_map(parser: AttrParser, rank: int) -> list[int]:
    """`, dim_map=[1, 0]`; dimensions keep their order if it is left out."""
    if parser.parse_optional_punctuation(",") is None:
        return list(range(rank))
    return parse_numbers(parser, "dim_map")


def print_dim_map(printer: Printer, dim_map: Sequence[int]) -> None:
    """The text that `parse_dim_map` reads."""
    if list(dim_map) != list(range(len(dim_map))):
        printer.print_string(f", dim_map=[{', '.join(map(str, dim_map))}]")


def parse_padding(parser: AttrParser) -> PaddingValueAttr | NoneAttr:
    """`padding_value = nan, ` if it is there."""
    if parser.parse_optional_keyword("padding_value") is None:
        return NoneAttr()
    parser.parse_punctuation("=")
    position = parser.pos
    word = parser.parse_identifier()
    if word not in list(PaddingValue):
        parser.raise_error(
            message("cuda_tile.view.padding_keyword", keyword=word), at_position=position
        )
    parser.parse_punctuation(",")
    return PaddingValueAttr(PaddingValue(word))


def print_padding(printer: Printer, padding: PaddingValueAttr | NoneAttr) -> None:
    """The text that `parse_padding` reads."""
    if isinstance(padding, PaddingValueAttr):
        printer.print_string(f"padding_value = {padding.data}, ")


def parse_tensor_view(parser: AttrParser, wanted: type[TypeT]) -> TypeT:
    """The type of a tensor view."""
    type_ = parse_type(parser)
    if not isinstance(type_, wanted):
        parser.raise_error(message("cuda_tile.expected.tensor_view_type", type=quoted(type_)))
    return type_
