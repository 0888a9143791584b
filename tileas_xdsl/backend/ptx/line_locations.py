"""Where the lines of PTX text come from, by its `.file` and `.loc` lines.

.loc 1 94 18
mov.pred %p0, 0;        is of line 94, column 18 of file 1, as is all up to the next `.loc`
"""

from __future__ import annotations

import re
from bisect import bisect_right

from tileas_xdsl.backend.ptx.file_names import file_name_from_ptx
from tileas_xdsl.diagnostics.report import Location

_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"')


class LineLocations:
    """The source locations of PTX text by its lines, which are counted from 1."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        files = {m[1]: file_name_from_ptx(m[2]) for m in map(_FILE.match, self.lines) if m}
        self._starts: list[int] = []
        self._locations: list[Location] = []
        for index, line in enumerate(self.lines, 1):
            if (match := _LOC.match(line)) and match[1] in files:
                self._starts.append(index)
                location = Location(files[match[1]], int(match[2]), max(1, int(match[3])))
                self._locations.append(location)

    def at(self, line: int) -> Location | None:
        """Return what the last `.loc` up to a line says, if there is one."""
        index = bisect_right(self._starts, line) - 1
        return None if index < 0 else self._locations[index]
