"""Writes the text of a kernel: names, scopes, and where results go so that they can be seen."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st

from tests.support.random_programs.tile_types import (
    ELEMENTS,
    SHAPES,
    SMEM,
    TileType,
    register_encoding,
    shared_encoding,
)

T = TypeVar("T")
Draw: TypeAlias = Callable[[Any], Any]

TILES_TO_READ = 4
"""So many tiles of each input a block may read."""

MOST_ROUNDS = 4
"""So often a loop goes round at most."""


@dataclass(eq=False)
class Tile:
    """A tile that is a value."""

    name: str
    type: TileType
    is_used: bool = False


@dataclass(eq=False)
class Buffer:
    """A tile that is memory, all of it written."""

    name: str
    type: TileType
    storage: int
    """The allocation that it is a part of."""
    may_change: bool = True


@dataclass
class Scope:
    """What a region defines, and how many bands of output what it stores takes."""

    tiles: list[Tile] = field(default_factory=list[Tile])
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    flags: list[str] = field(default_factory=list[str])
    round: str = ""
    """The number of the round, an index, if the region is the body of a loop."""
    is_agent: bool = False
    """Whether others run at the same time: buffers from around are read only."""


class Writer:
    """Collects the lines of a kernel; `features` says what it has come to contain."""

    def __init__(self, draw: Draw, statements: Callable[[Writer, int], None]) -> None:
        self._draw = draw
        self._statements = statements
        self.lines: list[str] = []
        self.features: set[str] = set()
        self.constants: set[int] = {0}
        self.aliases: dict[str, str] = {"#smem": SMEM}
        self.inputs: dict[str, TileType] = {}
        self.bands: dict[str, tuple[TileType, int]] = {}
        self.scopes = [Scope(flags=["%flag"])]
        self.agents = 1
        self.budget = 0
        self._names = 0
        self._storages = 0
        self._encodings: dict[tuple[bool, tuple[int, ...]], list[str]] = {}
        shapes = [self.choose(SHAPES) for _ in range(2)]
        elements = [self.choose(ELEMENTS) for _ in range(2)]
        self._palette = [TileType(s, e) for s in shapes for e in elements]

    # What is drawn

    def choose(self, among: Sequence[T]) -> T:
        """One of several; shrinking prefers the first."""
        return self._draw(st.sampled_from(among))

    def chance(self, one_in: int = 2) -> bool:
        """Whether something that shrinking leaves out happens."""
        return self._draw(st.integers(0, one_in - 1)) == one_in - 1

    def number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def tile_type(self) -> TileType:
        """A type, mostly one that is in use already, without encoding."""
        return self.choose(self._palette)

    def registers(self, type_: TileType) -> TileType:
        """The type in some layout of registers, or in none."""
        if self.chance(4):
            return type_.plain
        encoding = self._encoding(type_.shape, register_encoding, in_memory=False)
        return TileType(type_.shape, type_.element, encoding)

    def shared(self, type_: TileType) -> TileType:
        """The type in some layout of shared memory."""
        encoding = self._encoding(type_.shape, shared_encoding, in_memory=True)
        return TileType(type_.shape, type_.element, encoding, in_memory=True)

    def _encoding(self, shape: tuple[int, ...], make: Any, *, in_memory: bool) -> str:
        """One that is in use already, or a new one."""
        known = self._encodings.setdefault((in_memory, shape), [])
        if known and (len(known) == 3 or self.chance()):
            return self.choose(known)
        text = make(shape, self.choose)
        name = next((alias for alias, meant in self.aliases.items() if meant == text), None)
        if name is None:
            name = f"#{'s' if in_memory else 'r'}{len(self.aliases)}"
            self.aliases[name] = text
        known.append(name)
        return name

    # Text

    def mark(self, feature: str) -> None:
        self.features.add(feature)

    def name(self, hint: str) -> str:
        self._names += 1
        return f"%{hint}{self._names}"

    def line(self, text: str) -> None:
        self.lines.append("  " * len(self.scopes) + text)

    def let(self, hint: str, text: str) -> str:
        """A line that defines a name."""
        name = self.name(hint)
        self.line(f"{name} = {text}")
        return name

    def const(self, number: int) -> str:
        self.constants.add(number)
        return f"%c{number}"

    @contextmanager
    def region(self, **options: Any) -> Generator[Scope]:
        """Write what is inside a region; values that nobody used are stored at its end."""
        scope = Scope(**options)
        self.scopes.append(scope)
        yield scope
        self.scopes.pop()

    def store_unused(self) -> None:
        """Store what the innermost region defines and nobody uses."""
        for tile in list(self.scopes[-1].tiles):
            if not tile.is_used:
                self.store(tile)

    def some_statements(self, most: int) -> None:
        """A few statements in the innermost region."""
        self._statements(self, most)

    # Values

    def tile(self, name: str, type_: TileType) -> Tile:
        """Make a value known."""
        tile = Tile(name, type_)
        self.scopes[-1].tiles.append(tile)
        return tile

    def use(self, tile: Tile) -> str:
        tile.is_used = True
        return tile.name

    def buffer(self, name: str, type_: TileType, storage: int) -> Buffer:
        """Make memory known."""
        buffer = Buffer(name, type_, storage)
        self.scopes[-1].buffers.append(buffer)
        return buffer

    def number_of_storage(self) -> int:
        """A number for a new allocation."""
        self._storages += 1
        return self._storages

    def buffers(self, type_: TileType | None = None, *, to_write: bool = False) -> list[Buffer]:
        """Memory that may be read, or written, of a type."""
        found: list[Buffer] = []
        outside = False
        for scope in reversed(self.scopes):
            found += [b for b in scope.buffers if not to_write or (b.may_change and not outside)]
            outside |= scope.is_agent
        return [b for b in found if type_ is None or b.type == type_]

    def values(self, fits: Callable[[TileType], bool]) -> list[Tile]:
        """Values whose type fits, the newest first."""
        tiles = [t for scope in reversed(self.scopes) for t in reversed(scope.tiles)]
        return [tile for tile in tiles if fits(tile.type)]

    def flag(self) -> str:
        """A condition."""
        return self.choose([f for scope in reversed(self.scopes) for f in scope.flags])

    @property
    def round(self) -> str:
        """The number of a round, by which inputs may be chosen: of the innermost loop."""
        return next((s.round for s in reversed(self.scopes) if s.round), "%c0")

    # Memory of the launch

    def place_to_read(self) -> str:
        """The number of a tile of an input."""
        k = self.number(0, TILES_TO_READ - 1)
        number = self.choose([self.const(k), self.round])
        first = self.let("first", f"arith.muli %block, {self.const(TILES_TO_READ)} : index")
        return self.let("at", f"arith.addi {first}, {number} : index")

    def input(self, type_: TileType) -> tuple[str, str]:
        """The argument that holds tiles of a type, and its type."""
        name = f"%in_{type_.extents}{type_.element}"
        self.inputs[name] = type_.plain
        return name, matrix(type_)

    def output(self, type_: TileType) -> tuple[str, str, str]:
        """An argument, its type, and the number of a tile of it that nothing else writes."""
        name = f"%out_{type_.extents}{type_.element}"
        rounds = [scope.round for scope in self.scopes if scope.round]
        _, begin = self.bands.get(name, (type_, 0))
        self.bands[name] = (type_.plain, begin + MOST_ROUNDS ** len(rounds))
        number = "%c0"
        for k in rounds:
            scaled = self.let("to", f"arith.muli {number}, {self.const(MOST_ROUNDS)} : index")
            number = self.let("to", f"arith.addi {scaled}, {k} : index")
        band = self.let("to", f"arith.addi {number}, {self.const(begin)} : index")
        scaled = self.let("to", f"arith.muli {band}, %blocks : index")
        return name, matrix(type_), self.let("to", f"arith.addi {scaled}, %block : index")

    def store(self, tile: Tile) -> None:
        """Write a value to where it can be seen."""
        self.store_named(self.use(tile), tile.type)

    def store_named(self, name: str, type_: TileType) -> None:
        """Write a tile, of memory or not, to where it can be seen."""
        argument, memory, place = self.output(type_)
        atom = "#any" if type_.in_memory else self.choose(["#stg", "#any"])
        if self.chance(3):
            self._store_at_element(name, type_, argument, place, atom)
            return
        view = self.let("w", f"nv_tileas.view {argument} : {memory} -> {type_.view('gmem')}")
        where = coordinates(place, type_)
        self.line(
            f"nv_tileas.tiled_store {name}, {view}[{where}] {{atom = {atom}}} "
            f": {type_}, {type_.view('gmem')}"
        )

    def _store_at_element(
        self, name: str, type_: TileType, argument: str, place: str, atom: str
    ) -> None:
        self.mark("plain store")
        row = self.let("row", f"arith.muli {place}, {self.const(type_.shape[0])} : index")
        where = coordinates(row, type_)
        self.line(
            f"nv_tileas.store {name}, {argument}[{where}] {{atom = {atom}}} "
            f": {type_}, {matrix(type_)}"
        )


def matrix(type_: TileType) -> str:
    """The type of an argument that holds tiles one below the other."""
    rest = "".join(f"{n}x" for n in type_.shape[1:])
    return f"memref<?x{rest}{type_.element}>"


def coordinates(first: str, type_: TileType) -> str:
    return ", ".join([first, *["%c0"] * (len(type_.shape) - 1)])
