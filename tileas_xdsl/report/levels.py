"""The levels of a compilation as text, each line with the source places that it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp

from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.backend.ptx.file_names import file_name_from_ptx
from tileas_xdsl.backend.ptx.line_locations import LineLocations
from tileas_xdsl.backend.sass import listing, located_lines
from tileas_xdsl.compilation.levels import level_of
from tileas_xdsl.compiled_kernel import Stage
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import file_locations
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.printing import located_text
from tileas_xdsl.report.source_locations import LocationTable

Watch = Callable[[Stage, ModuleOp], None]
"""Told of a pass that has run, and of what it left."""


@dataclass(frozen=True)
class LevelText:
    """A level of a compilation."""

    name: str
    """The pass that made it, or what it is."""
    group: str
    """The kind of IR."""
    lines: Sequence[str]
    places: Sequence[Sequence[int]]
    """By line: the numbers of its source places."""


@dataclass
class Recorder:
    """The modules of a compilation as text, in the order in which passes made them."""

    ctx: Context
    places: LocationTable = field(default_factory=LocationTable)
    levels: list[LevelText] = field(default_factory=list[LevelText])
    watches: Sequence[Watch] = ()

    def begin(self, module: ModuleOp) -> None:
        """Record the input."""
        self._add("input", module)

    def after(self, stage: Stage, module: ModuleOp) -> None:
        """Record what a pass left."""
        self._add(stage.name, module)
        for watch in self.watches:
            watch(stage, module)

    def _add(self, name: str, module: ModuleOp) -> None:
        text, locations = located_text(module, self.ctx.loaded_dialects)
        lines = text.splitlines()
        places = [self._numbers(locations, line) for line in range(len(lines))]
        self.levels.append(LevelText(name, level_of(module.ops).value, lines, places))

    def _numbers(self, locations: Mapping[int, LocationAttr], line: int) -> Sequence[int]:
        location = locations.get(line)
        return () if location is None else self.places.numbers(file_locations(location))

    def add_ptx(self, text: str) -> None:
        """Record PTX, whose `.loc` lines say where its instructions come from."""
        found = LineLocations(text)
        places = [self._of_line(found.at(n + 1), line) for n, line in enumerate(found.lines)]
        self.levels.append(LevelText("PTX", "machine code", found.lines, places))

    def _of_line(self, place: Location | None, line: str) -> Sequence[int]:
        """The place of an instruction; what stands around the code of a kernel has none."""
        return self.places.numbers([place]) if place and line.startswith("    ") else ()

    def add_sass(self, cubin: bytes) -> None:
        """Record machine code, where `nvdisasm` is there to list it."""
        if find_tool("nvdisasm") is None:
            return
        found = list(located_lines(listing(cubin, source_lines=True)))
        lines = [line for line, _ in found]
        places = [tuple(self._of_file_and_line(place)) for _, place in found]
        self.levels.append(LevelText("SASS", "machine code", lines, places))

    def _of_file_and_line(self, place: tuple[str, int] | None) -> Iterator[int]:
        """SASS knows no columns."""
        if place is not None:
            yield self.places.number(Location(file_name_from_ptx(place[0]), place[1], 0))
