"""Source locations, numbered so that lines of every level can name them, and their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from typing import Any, cast

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.report import Location

MARGIN = 6
"""Lines of a source file that are shown around those that a kernel comes from."""

ReadSource = Callable[[str], str | None]
"""The text of a source file by the name that locations give it; None if it is not to be shown."""


@dataclass(frozen=True)
class SourceFile:
    """The part of a source file that a kernel comes from."""

    name: str
    first: int
    """The number of the first line."""
    lines: Sequence[str]


@dataclass
class LocationTable:
    """The source places of a kernel; equal ones have one number."""

    places: list[Location] = field(default_factory=list[Location])
    _numbers: dict[Location, int] = field(default_factory=dict[Location, int])

    def number(self, place: Location) -> int:
        """Return the number of a place."""
        if place not in self._numbers:
            self._numbers[place] = len(self.places)
            self.places.append(place)
        return self._numbers[place]

    def numbers(self, places: Iterable[Location]) -> Sequence[int]:
        """Return the numbers of some places, each once."""
        return tuple(dict.fromkeys(map(self.number, places)))

    def files(self, read: ReadSource) -> Sequence[SourceFile]:
        """Return the source files of all places, cut to what is near them."""
        lines: dict[str, list[int]] = {}
        for place in self.places:
            lines.setdefault(place.file, []).append(place.line)
        return [_cut(name, numbers, read(name)) for name, numbers in lines.items()]


def _cut(name: str, numbers: Sequence[int], text: str | None) -> SourceFile:
    """A file from a little before the first of its lines to a little after the last one."""
    if text is None:
        return SourceFile(name, 1, ())
    lines = text.splitlines()
    first = max(min(numbers) - MARGIN, 1)
    return SourceFile(name, first, lines[first - 1 : max(numbers) + MARGIN])


def line_of(files: Mapping[str, SourceFile], place: Location) -> str:
    """Return the text of the line of a place, empty if its file is not shown."""
    file = files.get(place.file)
    index = place.line - file.first if file else -1
    return file.lines[index].strip() if file and 0 <= index < len(file.lines) else ""


def locations_in(value: Any) -> Iterator[Location]:
    """Yield the locations in data classes, sequences and mappings, however deep."""
    match value:
        case Location():
            yield value
        case Mapping():
            yield from locations_in(list(cast("Mapping[Any, Any]", value).values()))
        case list() | tuple():
            for one in cast("Sequence[Any]", value):
                yield from locations_in(one)
        case _ if is_dataclass(value):
            yield from locations_in([getattr(value, one.name) for one in fields(value)])
        case _:
            return
