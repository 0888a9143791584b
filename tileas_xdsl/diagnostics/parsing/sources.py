"""The source texts read so far, so that a diagnostic can show its line.

Only texts that a parser was given are known: a location that the input claims (`loc("f.py":1:2)`)
never makes this package read a file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from functools import cached_property

from tileas_xdsl.data_classes import dataclass

_KEPT_TEXTS = 32

_known: OrderedDict[str, SourceText] = OrderedDict()


@dataclass(frozen=True)
class SourceText:
    """A text with its line table; `line_offset` lines of its file come before it."""

    name: str
    text: str
    line_offset: int = 0

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts

    def line_and_column(self, position: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character position; O(log lines)."""
        index = bisect_right(self._starts, position) - 1
        return index + 1 + self.line_offset, position - self._starts[index] + 1

    def line(self, number: int) -> str | None:
        """The text of one line of the file, without its end; None if it lies outside this text."""
        index = number - 1 - self.line_offset
        if not 0 <= index < len(self._starts):
            return None
        end = self.text.find("\n", self._starts[index])
        return self.text[self._starts[index] : None if end < 0 else end].removesuffix("\r")


def remember_source(source: SourceText) -> None:
    """Make the lines of `source` available to diagnostics; the newest text of a name wins."""
    _known.pop(source.name, None)
    _known[source.name] = source
    if len(_known) > _KEPT_TEXTS:
        _known.popitem(last=False)


def forget_source(name: str) -> None:
    """Show no lines of a name whose content is no text any more."""
    _known.pop(name, None)


def source_line(file: str, line: int) -> str | None:
    """The text of a line of a remembered source, or None."""
    source = _known.get(file)
    return None if source is None else source.line(line)


def source_text(file: str) -> str | None:
    """The whole of a remembered source, or None; lines that a file has before it are empty."""
    source = _known.get(file)
    return None if source is None else "\n" * source.line_offset + source.text
