"""Tables of a section: a count, the offset of each entry, and the entries' bytes."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from typing import Generic, TypeVar

from tileas_xdsl.frontend.bytecode.limits import MAX_NESTING
from tileas_xdsl.frontend.bytecode.reading.cursor import Cursor

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


_T = TypeVar("_T")


class Entries(ABC, Generic[_T]):
    """Entries of a table that refer to one another, each read once, when it is first needed."""

    def __init__(self, places: Sequence[tuple[int, int]], what: str) -> None:
        self._places = places
        self._what = what
        self._read: list[_T | None] = [None] * len(places)
        self._open: set[int] = set()

    def __len__(self) -> int:
        return len(self._places)

    def entry(self, cursor: Cursor, index: int, at: int | None = None) -> _T:
        """Return an entry; `at` is the byte offset of the reference to it.

        Raises `BytecodeError` for entries that contain themselves, or are nested too deeply.
        """
        found = self._read[index]
        if found is not None:
            return found
        if index in self._open:
            raise cursor.error(f"{self._what} {index} contains itself", at)
        if len(self._open) >= MAX_NESTING:
            raise cursor.error(f"more than {MAX_NESTING} {self._what}s inside one another", at)
        self._open.add(index)
        part = cursor.part(*self._places[index])
        made = self._read[index] = self.read(part, index)
        part.finished(f"{self._what} {index}")
        self._open.remove(index)
        return made

    @abstractmethod
    def read(self, cursor: Cursor, index: int) -> _T:
        """Read one entry from its bytes."""
