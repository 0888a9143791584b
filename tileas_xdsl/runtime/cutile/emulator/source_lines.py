"""Findings in PTX, moved to the lines of the program that the PTX was compiled from.

`.file` and `.loc` directives say where an instruction comes from: that of a line is the last
`.loc` before it.  Source: PTX ISA 11.5, debugging directives.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx import Finding

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_END = re.compile(r"}\s*$")


@dataclass(frozen=True)
class SourceLines:
    """Where the lines of a PTX text come from."""

    starts: Sequence[int]
    """Lines of `.loc` directives, ascending."""
    locations: Sequence[tuple[str, int, int] | None]
    """By directive: file, line and column from 1 on; None past the end of a function."""

    @staticmethod
    def of(ptx: str) -> SourceLines:
        """Read the directives of a text."""
        lines = ptx.splitlines()
        files = {m[1]: m[2] for line in lines if (m := _FILE.match(line))}
        starts: list[int] = []
        locations: list[tuple[str, int, int] | None] = []
        for index, line in enumerate(lines, 1):
            if found := _LOC.match(line):
                starts.append(index)
                locations.append((files[found[1]], int(found[2]), int(found[3])))
            elif _END.match(line):
                starts.append(index)
                locations.append(None)
        return SourceLines(starts, locations)

    def moved(self, finding: Finding) -> Finding:
        """Return the finding at the program's line; the PTX line becomes its first note."""
        index = bisect_right(self.starts, finding.line) - 1
        location = self.locations[index] if index >= 0 else None
        if location is None:
            return finding
        path, line, column = location
        notes = (f"at {finding.path}:{finding.line}:{finding.column}", *finding.notes)
        moved = replace(finding, path=path, line=line, column=column, notes=notes)
        return replace(moved, origin=None)
