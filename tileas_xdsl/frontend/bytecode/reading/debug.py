"""Section Debug: where each operation was written, as locations of xDSL.

A position in a scope is a `FusedLoc` whose metadata is the scope, so that whatever looks for
positions finds it.  Inlined calls are `CallSiteLoc`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import TypeVar, cast

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute

from tileas_xdsl.dialects.cuda_tile.structure.debug_info import (
    LOCAL_SCOPES,
    DICompileUnitAttr,
    DIFileAttr,
    DILexicalBlockAttr,
    DISubprogramAttr,
)
from tileas_xdsl.frontend.bytecode.layout import FIRST_DEBUG_ID, DebugTag
from tileas_xdsl.frontend.bytecode.limits import MAX_LOCATION
from tileas_xdsl.frontend.bytecode.reading.assembly import place_in_scope
from tileas_xdsl.frontend.bytecode.reading.cursor import Cursor
from tileas_xdsl.frontend.bytecode.reading.strings import Strings
from tileas_xdsl.frontend.bytecode.reading.tables import Entries, read_table, unsigned_array

_A = TypeVar("_A", bound=Attribute)

NOWHERE: LocationAttr = UnknownLoc()
"""The unknown location of a file.  It is not xDSL's own object, so that passes keep it: the scope
of an adjacent operation would be wrong for a global or another function."""

_LOCATION = (FusedLoc, CallSiteLoc, UnknownLoc)


class DebugInfo:
    """The locations of a file."""

    def __init__(self, cursor: Cursor, strings: Strings, first_column: int) -> None:
        """Read the whole section, whose columns count from so much; raises `BytecodeError`."""
        origin = cursor.position
        number = cursor.count("functions with debug data", 4)
        cursor.pad(4, origin)
        place = cursor.position
        offsets = unsigned_array(cursor, number, 4, "the offsets of debug data")
        total = cursor.count("places of operations", 8)
        cursor.pad(8, origin)
        self._numbers = unsigned_array(cursor, total, 8, "the places of operations")
        self._bounds = _bounds(cursor, offsets, total, place)
        self._locations = _Attributes(cursor, origin, strings, 1 - first_column).locations()
        pairs = enumerate(self._locations)
        self._others = frozenset(number for number, found in pairs if found is None)
        """The numbers of debug attributes that are no locations."""

    def of_function(self, cursor: Cursor) -> Iterator[LocationAttr]:
        """The locations of a function and of its operations, whose number comes next in `cursor`.

        0 means that nothing is known.
        """
        start = cursor.position
        index = cursor.varint("the function's debug data") - FIRST_DEBUG_ID
        if index < 0:
            return repeat(NOWHERE)
        if index >= len(self._bounds) - 1:
            there_are = f"there are debug data for {len(self._bounds) - 1} functions"
            raise cursor.error(f"{there_are}, not for number {index + FIRST_DEBUG_ID}", start)
        numbers = self._numbers[self._bounds[index] : self._bounds[index + 1]]
        known = self._locations
        try:
            found = list(map(known.__getitem__, numbers))
        except IndexError:
            message = f"debug attribute {max(numbers)} of {len(known) - 1}"
            raise cursor.error(f"the function refers to {message}", start) from None
        if not self._others.isdisjoint(numbers):
            first = next(number for number in numbers if number in self._others)
            message = f"debug attribute {first}, which is no location"
            raise cursor.error(f"an operation of the function is at {message}", start)
        return iter(cast(list[LocationAttr], found))


def no_debug_info(cursor: Cursor) -> Iterator[LocationAttr]:
    """The result of `DebugInfo.of_function` for a file without the section."""
    cursor.varint("the function's debug data")
    return repeat(NOWHERE)


def _bounds(cursor: Cursor, offsets: array[int], total: int, place: int) -> list[int]:
    bounds = [*offsets, total]
    for index in range(len(offsets)):
        if bounds[index] > bounds[index + 1]:
            message = f"debug data of function {index} begin at {bounds[index]}"
            raise cursor.error(f"{message} and end at {bounds[index + 1]}", place + 4 * index)
    return bounds


class _Attributes(Entries[Attribute]):
    """The debug attributes of a file, each with all that it refers to."""

    def __init__(self, cursor: Cursor, origin: int, strings: Strings, shift: int) -> None:
        super().__init__(read_table(cursor, origin, 4, "debug attributes"), "debug attribute")
        self._cursor = cursor
        self._strings = strings
        self._shift = shift
        self._sizes: dict[int, int] = {}

    def locations(self) -> list[LocationAttr | None]:
        """By number, from 0 on; None for files, compile units and scopes."""
        found: list[LocationAttr | None] = [NOWHERE]
        for index in range(len(self)):
            entry = self.entry(self._cursor, index)
            found.append(entry if isinstance(entry, _LOCATION) else None)
        return found

    def read(self, cursor: Cursor, index: int) -> Attribute:
        start = cursor.position
        tag = cursor.byte("the tag of a debug attribute")
        self._sizes[index] = 1
        reader = _READERS.get(tag)
        if reader is None:
            raise cursor.error(f"there is no debug attribute with the tag {tag}", start)
        made = reader(self, cursor, index)
        if self._sizes[index] > MAX_LOCATION:
            raise cursor.error(f"a location of more than {MAX_LOCATION} parts", start)
        return made

    def _part(self, cursor: Cursor, index: int, what: str, kinds: tuple[type[_A], ...]) -> _A:
        """The debug attribute whose number comes next, which is of one of these kinds."""
        start = cursor.position
        number = cursor.varint(f"the number of {what}")
        if number < FIRST_DEBUG_ID:
            found: Attribute = NOWHERE
        elif number - FIRST_DEBUG_ID >= len(self):
            raise cursor.error(f"{what} is debug attribute {number} of {len(self)}", start)
        else:
            found = self.entry(cursor, number - FIRST_DEBUG_ID, start)
            self._sizes[index] += self._sizes[number - FIRST_DEBUG_ID]
        if not isinstance(found, kinds):
            raise cursor.error(f"debug attribute {number} cannot be {what}", start)
        return found

    def unknown(self, cursor: Cursor, index: int) -> Attribute:
        return NOWHERE

    def file(self, cursor: Cursor, index: int) -> Attribute:
        name = self._strings.attribute(cursor, "the name of a file")
        return DIFileAttr(name, self._strings.attribute(cursor, "the folder of a file"))

    def compile_unit(self, cursor: Cursor, index: int) -> Attribute:
        return DICompileUnitAttr(
            self._part(cursor, index, "the file of a compile unit", (DIFileAttr,))
        )

    def lexical_block(self, cursor: Cursor, index: int) -> Attribute:
        scope = self._part(cursor, index, "the scope of a block", LOCAL_SCOPES)
        file = self._part(cursor, index, "the file of a block", (DIFileAttr,))
        line = IntAttr(cursor.varint("a line"))
        return DILexicalBlockAttr(scope, file, line, IntAttr(cursor.varint("a column")))

    def subprogram(self, cursor: Cursor, index: int) -> Attribute:
        file = self._part(cursor, index, "the file of a function", (DIFileAttr,))
        line = IntAttr(cursor.varint("a line"))
        name = self._strings.attribute(cursor, "the name of a function")
        linkage = self._strings.attribute(cursor, "the symbol of a function")
        unit = self._part(cursor, index, "the compile unit of a function", (DICompileUnitAttr,))
        scope_line = IntAttr(cursor.varint("a line"))
        if cursor.remaining:
            cursor.varint("the flags of a function")  # Since 13.5; none is in use.
        return DISubprogramAttr(file, line, name, linkage, unit, scope_line)

    def position(self, cursor: Cursor, index: int) -> Attribute:
        scope = self._part(cursor, index, "the scope of a position", LOCAL_SCOPES)
        file = self._strings.attribute(cursor, "the file of a position")
        line = cursor.varint("a line")
        column = cursor.varint("a column") + self._shift
        return place_in_scope(file, line, column, scope)

    def call_site(self, cursor: Cursor, index: int) -> Attribute:
        callee = self._part(cursor, index, "the place of a callee", _LOCATION)
        return CallSiteLoc(callee, self._part(cursor, index, "the place of a call", _LOCATION))


_READERS: dict[int, Callable[[_Attributes, Cursor, int], Attribute]] = {
    DebugTag.UNKNOWN: _Attributes.unknown,
    DebugTag.FILE: _Attributes.file,
    DebugTag.COMPILE_UNIT: _Attributes.compile_unit,
    DebugTag.LEXICAL_BLOCK: _Attributes.lexical_block,
    DebugTag.SUBPROGRAM: _Attributes.subprogram,
    DebugTag.LOC: _Attributes.position,
    DebugTag.CALL_SITE: _Attributes.call_site,
}
