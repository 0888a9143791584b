"""Section Constant: the elements of constant tiles, as bytes.

The bytes are those of MLIR's dense attributes; a splat has those of one element, where xDSL always
stores all of them.  `i1` differs too: MLIR packs eight elements into a byte, and a byte of ones is
the splat of true; in xDSL each element is a byte, 0xFF for true.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType, i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.cuda_tile.types.scalars import bit_width
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType, is_number
from tileas_xdsl.frontend.bytecode.limits import MAX_CONSTANT_BYTES
from tileas_xdsl.frontend.bytecode.reading.cursor import Cursor
from tileas_xdsl.frontend.bytecode.reading.tables import read_table

_FALSE, _TRUE = b"\x00", b"\xff"


class Constants:
    """The constants of a file, each under the types that it is used with."""

    def __init__(self, cursor: Cursor) -> None:
        """Read the section; raises `BytecodeError`."""
        self._cursor = cursor
        self._places = read_table(cursor, cursor.position, 8, "constants")
        self._known: dict[tuple[int, Attribute], Attribute] = {}
        self._bytes_left = MAX_CONSTANT_BYTES

    def elements(self, cursor: Cursor, type_: Attribute) -> Attribute:
        """The constant whose number comes next, as the elements of a tile of this type."""
        start = cursor.position
        index = cursor.index(len(self._places), "a constant", "constants")
        found = self._known.get((index, type_))
        if found is not None:
            return found
        if not isinstance(type_, TileType) or not is_number(type_.element_type):
            raise cursor.error(f"a constant has the type {type_}, no tile of numbers", start)
        self._bytes_left -= type_.size * _bytes_each(type_)
        if self._bytes_left < 0:
            raise cursor.error(f"constants of more than {MAX_CONSTANT_BYTES} bytes", start)
        part = self._cursor.part(*self._places[index])
        data = part.take(part.varint("the length of a constant"), "a constant")
        part.finished(f"constant {index}")
        elements = _unpacked(type_, data)
        if elements is None:
            raise part.error(f"constant {index} of {len(data)} bytes has the type {type_}")
        tensor: Any = TensorType(type_.element_type, type_.get_shape())
        try:
            made = DenseIntOrFPElementsAttr(tensor, BytesAttr(elements))
        except VerifyException as error:
            message = f"there are no constants of {type_.element_type}"
            raise cursor.error(message, start) from error
        self._known[index, type_] = made
        return made


def _bytes_each(type_: TileType) -> int:
    return (bit_width(type_.element_type) + 7) // 8


def _unpacked(type_: TileType, data: bytes) -> bytes | None:
    """All elements as xDSL has them; None if these are not the bytes of such elements."""
    if type_.element_type == i1 and data not in (_FALSE, _TRUE):
        return _unpacked_bits(type_.size, data)
    each = _bytes_each(type_)
    if len(data) not in (each, each * type_.size) or _has_excess_bits(type_, data):
        return None
    return data * type_.size if len(data) == each else data


def _has_excess_bits(type_: TileType, data: bytes) -> bool:
    """Are there bits in the last byte of an element that its type does not have?"""
    each, width = _bytes_each(type_), bit_width(type_.element_type)
    used = width - 8 * (each - 1)
    return width > 1 and max(data[each - 1 :: each]) >> used > 0


def _unpacked_bits(size: int, data: bytes) -> bytes | None:
    if len(data) != (size + 7) // 8:
        return None
    return b"".join(_EIGHT_BITS[byte] for byte in data)[:size]


_EIGHT_BITS = [
    b"".join(_TRUE if byte >> place & 1 else _FALSE for place in range(8)) for byte in range(256)
]


def packed(attribute: DenseIntOrFPElementsAttr[Any]) -> bytes:
    """The bytes that a file has for these elements."""
    element = attribute.get_element_type()
    data: bytes = attribute.data.data
    each = (bit_width(element) + 7) // 8
    if data == data[:each] * (len(data) // each):
        return data[:each]
    if element != i1:
        return data
    bits = int("".join("1" if byte else "0" for byte in reversed(data)), 2)
    return bits.to_bytes((len(data) + 7) // 8, "little")
