"""Literals of tiles: `<f32: [1.0, 2.0]> : tile<2xf32>`.

The value is a builtin `dense` of a tensor with the shape and the elements of the tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, inf, isfinite
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import parse_type, print_type
from tileas_xdsl.dialects.cuda_tile.types.scalars import (
    ELEMENTS,
    NUMBERS,
    Float8E5M3FNUType,
    bit_width,
    is_integer,
)
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType

Dense = DenseIntOrFPElementsAttr[Any]

_LITERALS = frozenset(ELEMENTS[name] for name in NUMBERS)


def dense(tile: TileType, values: Sequence[int] | Sequence[float]) -> Dense:
    """The literal of a tile with these elements in row-major order, or all equal to one."""
    type_: Any = TensorType(tile.element_type, tile.get_shape())
    return DenseIntOrFPElementsAttr.from_list(type_, values)


def tile_type_of(value: Dense) -> TileType:
    """The type of the tile that a literal is of."""
    return TileType(value.get_shape(), value.get_element_type())


def parse_dense(parser: Parser) -> tuple[Dense, TileType]:
    """`<f32: [1.0, 2.0]> : tile<2xf32>`: the value and its type."""
    with parser.in_angle_brackets():
        position = parser.pos
        element = parse_type(parser)
        if element not in _LITERALS:
            text = message("cuda_tile.dense.element", type=quoted(element))
            parser.raise_error(text, at_position=position)
        if isinstance(element, Float8E5M3FNUType):
            parser.raise_error("there are no literals of f8E5M3FNU here", at_position=position)
        parser.parse_punctuation(":")
        raw = parser.parse_optional_str_literal()
        values: list[Any] = []
        shape = None if raw is not None else _parse_values(parser, element, values)
    parser.parse_punctuation(":")
    position = parser.pos
    tile = parse_type(parser)
    if (problem := _mismatch(element, tile, shape)) is not None:
        parser.raise_error(problem, at_position=position)
    assert isinstance(tile, TileType)
    if raw is not None:
        return _from_bytes(parser, raw, tile), tile
    return (dense(tile, values) if is_integer(element) else _of_bytes(tile, values)), tile


def _of_bytes(tile: TileType, values: Sequence[bytes]) -> Dense:
    """The literal of a tile of floats whose bytes are these, or those of each one."""
    data = b"".join(values) * (tile.size // len(values))
    type_: Any = TensorType(tile.element_type, tile.get_shape())
    return DenseIntOrFPElementsAttr(type_, BytesAttr(data))


def _mismatch(element: Attribute, tile: Attribute, shape: Sequence[int] | None) -> str | None:
    if not isinstance(tile, TileType):
        return message("cuda_tile.dense.tile", type=quoted(tile))
    if tile.element_type != element:
        return message(
            "cuda_tile.dense.element_mismatch",
            element=quoted(element),
            tile_element=quoted(tile.element_type),
        )
    if shape and tuple(shape) != tile.get_shape():
        return message(
            "cuda_tile.dense.shape", inferred=list(shape), expected=list(tile.get_shape())
        )
    return None


def _parse_values(parser: Parser, element: Attribute, values: list[Any]) -> list[int]:
    """Read numbers, nested as the tile is, into `values`; returns the shape of the nesting."""
    if parser.parse_optional_punctuation("[") is None:
        values.append(_parse_number(parser, element))
        return []
    if parser.parse_optional_punctuation("]") is not None:
        parser.raise_error(message("cuda_tile.dense.empty"))
    shapes: list[list[int]] = [_parse_values(parser, element, values)]
    while parser.parse_optional_punctuation(",") is not None:
        position = parser.pos
        shapes.append(_parse_values(parser, element, values))
        if shapes[-1] != shapes[0]:
            parser.raise_error(message("cuda_tile.dense.ranks"), at_position=position)
    parser.parse_punctuation("]")
    return [len(shapes), *shapes[0]]


def _parse_number(parser: Parser, element: Attribute) -> int | bytes:
    """An integer, or the bytes of a float: those of a NaN are more than Python keeps."""
    if is_integer(element):
        return _parse_integer(parser, element)
    return _parse_float(parser, element)


def _parse_integer(parser: Parser, element: IntegerType[int]) -> int:
    position = parser.pos
    width = element.width.data
    value = parser.parse_optional_integer(allow_boolean=width == 1)
    if value is None:
        parser.raise_error(message("cuda_tile.dense.integer"), at_position=position)
    if not -(1 << (width - 1)) <= value < 1 << width:
        parser.raise_error(message("cuda_tile.dense.integer_range"), at_position=position)
    return value


def _parse_float(parser: Parser, element: Attribute) -> bytes:
    token = parser._current_token  # pyright: ignore[reportPrivateUsage]
    if token.kind is MLIRTokenKind.INTEGER_LIT and token.text.lower().startswith("0x"):
        return _bits(parser, element)
    value = parser.parse_optional_float()
    if value is None and token.kind is MLIRTokenKind.INTEGER_LIT:
        parser.raise_error(
            "unexpected decimal integer literal for a floating point value: write a point, or the "
            "bits in hexadecimal"
        )
    if value is None:
        parser.raise_error(
            "expected a floating point literal; infinities and NaN are their bits in hexadecimal, "
            "of f32 0xFF800000 is -inf"
        )
    return _rounded(value, cast(AnyFloat, element))


def _rounded(value: float, element: AnyFloat) -> bytes:
    """The nearest number's bytes; an infinity past the largest, as MLIR reads it."""
    try:
        return element.pack([value])
    except OverflowError:
        return element.pack([copysign(inf, value)])


def _bits(parser: Parser, element: Attribute) -> bytes:
    position = parser.pos
    bits = parser.parse_integer(allow_boolean=False, allow_negative=False)
    if bits >> bit_width(element):
        parser.raise_error(
            f"float constant out of range for type {element}, which has {bit_width(element)} bits",
            at_position=position,
        )
    return bits.to_bytes(cast(AnyFloat, element).compile_time_size, "little")


def _from_bytes(parser: Parser, raw: str, tile: TileType) -> Dense:
    """The literal whose little-endian bytes are given in hexadecimal."""
    try:
        data = bytes.fromhex(raw.removeprefix("0x"))
    except ValueError:
        data = b""
    size = cast(AnyFloat, tile.element_type).compile_time_size
    if not raw.startswith("0x") or len(data) not in (size, size * tile.size):
        parser.raise_error(f"expected 0x and the bytes of {tile.size} elements of {size} each")
    return _of_bytes(tile, [data[i : i + size] for i in range(0, len(data), size)])


def print_dense(printer: Printer, value: Dense, tile: TileType) -> None:
    """The text that `parse_dense` reads; a single number if all elements are the same."""
    data, size = value.data.data, value.get_element_type().compile_time_size
    numbers = [data[i : i + size] for i in range(0, len(data), size)]
    is_splat = numbers == numbers[:1] * len(numbers)
    with printer.in_angle_brackets():
        print_type(printer, tile.element_type)
        printer.print_string(": ")
        _print_values(printer, tile.element_type, numbers, () if is_splat else tile.get_shape())
    printer.print_string(" : ")
    print_type(printer, tile)


def _print_values(
    printer: Printer, element: Attribute, numbers: Sequence[bytes], shape: Sequence[int]
) -> None:
    if not shape:
        _print_number(printer, element, numbers[0])
        return
    step = len(numbers) // shape[0]
    with printer.in_square_brackets():
        for index in range(shape[0]):
            if index:
                printer.print_string(", ")
            part = numbers[index * step : (index + 1) * step]
            _print_values(printer, element, part, shape[1:])


def _print_number(printer: Printer, element: Attribute, data: bytes) -> None:
    if is_integer(element):
        printer.print_int(element.unpack(data, 1)[0], element)
        return
    packable = cast(AnyFloat, element)
    (number,) = packable.unpack(data, 1)
    if isfinite(number):
        printer.print_float(number, packable)
        return
    bits = int.from_bytes(data, "little")
    printer.print_string(f"0x{bits:0{2 * len(data)}X}")
