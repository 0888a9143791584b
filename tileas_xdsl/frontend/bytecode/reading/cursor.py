"""A cursor over a byte range of a file, with errors that give the byte offset."""

from __future__ import annotations

import sys
from array import array
from typing import NoReturn

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic

_MAX_VARINT_BYTES = 10
_CODES = {1: "b", 4: "i", 8: "q"}
"""Signed numbers of so many bytes, as `array` calls them."""


class BytecodeError(DiagnosticError):
    """A file that is no valid bytecode; `offset` counts bytes of the file from 0.

    A binary file has no lines: the diagnostic stands in line 1, at the byte as its column.
    """

    def __init__(self, file: str, section: str, offset: int, message: str) -> None:
        place = Location(file, 1, offset + 1)
        text = f"{message} (byte {offset} of the bytecode, {section})"
        super().__init__(diagnostic(Severity.ERROR, text, place))
        self.section = section
        self.offset = offset


class Cursor:
    """A position in the bytes `[position, end)` of `data`, which begin at byte `base` of a file."""

    __slots__ = ("base", "data", "end", "file", "position", "section")

    def __init__(
        self, data: bytes, position: int, end: int, section: str, file: str, base: int = 0
    ) -> None:
        self.data = data
        self.position = position
        self.end = end
        self.section = section
        self.file = file
        self.base = base

    def part(self, position: int, end: int) -> Cursor:
        """Return a cursor over a part of the section."""
        return Cursor(self.data, position, end, self.section, self.file, self.base)

    def cut(self, length: int, what: str) -> Cursor:
        """A cursor over a copy of the next bytes, whose positions count from their beginning."""
        base = self.base + self.position
        return Cursor(self.take(length, what), 0, length, self.section, self.file, base)

    def error(self, message: str, at: int | None = None) -> BytecodeError:
        """An error at position `at` of the data, by default where the cursor is."""
        position = self.position if at is None else at
        return BytecodeError(self.file, self.section, self.base + position, message)

    @property
    def remaining(self) -> int:
        """Bytes left."""
        return self.end - self.position

    def take(self, count: int, what: str) -> bytes:
        """The next `count` bytes."""
        start = self.position
        if count > self.end - start:
            self._ends_inside(what)
        self.position = start + count
        return self.data[start : start + count]

    def _ends_inside(self, what: str) -> NoReturn:
        raise self.error(f"the data ends inside {what}", self.end)

    def byte(self, what: str) -> int:
        """The next byte."""
        if self.position >= self.end:
            self._ends_inside(what)
        self.position += 1
        return self.data[self.position - 1]

    def boolean(self, what: str) -> bool:
        """A byte that is 0 or 1."""
        value = self.byte(what)
        if value > 1:
            raise self.error(f"{what} is 0 or 1, not {value}", self.position - 1)
        return value == 1

    def varint(self, what: str, bits: int = 64) -> int:
        """An unsigned number of up to 64 or so bits: seven a byte, the lowest first (LEB128)."""
        start = position = self.position
        data, end = self.data, self.end
        value = shift = 0
        while position < end:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> bits:
                    break
                self.position = position
                return value
            shift += 7
            if shift >= 7 * _MAX_VARINT_BYTES:
                break
        else:
            self._ends_inside(what)
        raise self.error(f"{what} does not fit in {bits} bits", start)

    def signed(self, what: str) -> int:
        """A signed number of 64 bits: its sign is the lowest bit (zigzag)."""
        value = self.varint(what)
        return value >> 1 ^ -(value & 1)

    def count(self, what: str, bytes_each: int = 1) -> int:
        """A number of things of at least so many bytes each, that can still follow."""
        start = self.position
        number = self.varint(f"the number of {what}")
        if number * bytes_each > self.end - self.position:
            left = f"the {self.end - self.position} bytes that are left"
            raise self.error(f"{number} {what} do not fit in {left}", start)
        return number

    def index(self, length: int, what: str, table: str) -> int:
        """The number of an entry of a table that has `length` of them."""
        start = self.position
        number = self.varint(f"the number of {what}")
        if number >= length:
            raise self.error(f"{what} is number {number} of {length} {table}", start)
        return number

    def integers(self, width: int, what: str, at_most: int) -> list[int]:
        """A counted list of signed little-endian numbers of `width` bytes each (1, 4 or 8)."""
        start = self.position
        number = self.count(what, width)
        if number > at_most:
            raise self.error(f"{number} {what} are more than {at_most}", start)
        numbers = array(_CODES[width], self.take(number * width, what))
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers.tolist()

    def pad(self, alignment: int, origin: int) -> None:
        """Skip what fills up to a multiple of `alignment` bytes after byte `origin`."""
        self.take((origin - self.position) % alignment, "padding")

    def finished(self, what: str) -> None:
        """Refuse bytes that are left over."""
        if self.position != self.end:
            raise self.error(f"{self.end - self.position} bytes are left over after {what}")
