"""Tables of a section: a count, the offset of each entry, and the entries' bytes."""

from __future__ import annotations

import sys
from array import array

from tileas_xdsl.frontend.bytecode.cursor import Cursor

_CODES = {4: "I", 8: "Q"}


def unsigned_array(cursor: Cursor, number: int, width: int, what: str) -> array[int]:
    """So many unsigned little-endian numbers of 4 or 8 bytes."""
    numbers = array(_CODES[width], cursor.take(number * width, what))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def read_table(cursor: Cursor, origin: int, width: int, what: str) -> list[tuple[int, int]]:
    """Where each entry begins and ends in the file; the table is the rest of the cursor's bytes.

    Offsets are of `width` bytes and count from the first entry.  They stand at a multiple of their
    width from `origin`, where the payload of the section begins.
    """
    number = cursor.count(what, width)
    if number == 0:
        return []
    cursor.pad(width, origin)
    place = cursor.position
    offsets = unsigned_array(cursor, number, width, f"the offsets of {what}")
    base, size = cursor.position, cursor.remaining
    bounds = [*offsets, size]
    for index in range(number):
        if not bounds[index] <= bounds[index + 1] <= size:
            message = f"{what} {index} begins at {bounds[index]} and ends at {bounds[index + 1]}"
            raise cursor.error(f"{message} of {size} bytes", place + index * width)
    return [(base + bounds[i], base + bounds[i + 1]) for i in range(number)]


def read_strings(cursor: Cursor) -> list[str]:
    """The strings of section String; raises `BytecodeError` for what is not UTF-8."""
    strings: list[str] = []
    for start, end in read_table(cursor, cursor.position, 4, "strings"):
        try:
            strings.append(cursor.data[start:end].decode("utf-8"))
        except UnicodeDecodeError as error:
            message = f"string {len(strings)} is not UTF-8"
            raise cursor.error(message, start + error.start) from error
    return strings
