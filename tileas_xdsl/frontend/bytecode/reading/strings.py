"""Section String: texts by their numbers."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr

from tileas_xdsl.frontend.bytecode.reading.cursor import Cursor
from tileas_xdsl.frontend.bytecode.reading.tables import read_table


class Strings:
    """The texts of a file."""

    def __init__(self, cursor: Cursor) -> None:
        """Read the section; raises `BytecodeError` for what is not UTF-8."""
        self._texts: list[str] = []
        self._attributes: dict[int, StringAttr] = {}
        for start, end in read_table(cursor, cursor.position, 4, "strings"):
            try:
                self._texts.append(cursor.data[start:end].decode("utf-8"))
            except UnicodeDecodeError as error:
                message = f"string {len(self._texts)} is not UTF-8"
                raise cursor.error(message, start + error.start) from error

    def text(self, cursor: Cursor, what: str) -> str:
        """The text whose number comes next in `cursor`."""
        return self._texts[cursor.index(len(self._texts), what, "strings")]

    def attribute(self, cursor: Cursor, what: str) -> StringAttr:
        """Return a string of the table as an attribute; equal strings give the same object."""
        number = cursor.index(len(self._texts), what, "strings")
        found = self._attributes.get(number)
        if found is None:
            found = self._attributes[number] = StringAttr(self._texts[number])
        return found
