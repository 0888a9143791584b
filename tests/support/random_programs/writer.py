"""Text of a random kernel under construction: names, scopes and observable outputs."""

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
"""Maximum number of tiles that a block reads from each input."""

MOST_ROUNDS = 4
"""Maximum trip count of a loop."""


@dataclass(eq=False)
class Tile:
    """A tile value."""

    name: str
    type: TileType
    is_used: bool = False


@dataclass(eq=False)
class Buffer:
    """A fully initialised buffer."""

    name: str
    type: TileType
    storage: int
    """Id of the allocation that contains the buffer."""
    may_change: bool = True


@dataclass
class Scope:
    """The values of a region, and the output bands that its stores occupy."""

    tiles: list[Tile] = field(default_factory=list[Tile])
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    flags: list[str] = field(default_factory=list[str])
    round: str = ""
    """The iteration index if the region is a loop body, else empty."""
    is_agent: bool = False
    """Whether the region runs concurrently with others, which makes outer buffers read-only."""


class Writer:
    """Builder of a kernel's text; `features` collects what the kernel contains."""

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
        """Return one of several alternatives; shrinking prefers the first."""
        return self._draw(st.sampled_from(among))

    def chance(self, one_in: int = 2) -> bool:
        """Return whether to include an optional part; shrinking drops it."""
        return self._draw(st.integers(0, one_in - 1)) == one_in - 1

    def number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def tile_type(self) -> TileType:
        """Return a type without encoding, usually one already in use."""
        return self.choose(self._palette)

    def registers(self, type_: TileType) -> TileType:
        """Return the type with a register layout or without one."""
        if self.chance(4):
            return type_.plain
        encoding = self._encoding(type_.shape, register_encoding, in_memory=False)
        return TileType(type_.shape, type_.element, encoding)

    def shared(self, type_: TileType) -> TileType:
        """Return the type with a shared-memory layout."""
        encoding = self._encoding(type_.shape, shared_encoding, in_memory=True)
        return TileType(type_.shape, type_.element, encoding, in_memory=True)

    def _encoding(self, shape: tuple[int, ...], make: Any, *, in_memory: bool) -> str:
        """Return an encoding already in use, or a new one."""
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
        """Emit a line that defines a name."""
        name = self.name(hint)
        self.line(f"{name} = {text}")
        return name

    def const(self, number: int) -> str:
        self.constants.add(number)
        return f"%c{number}"

    @contextmanager
    def region(self, **options: Any) -> Generator[Scope]:
        """Enter a region; at its end its unused values are stored."""
        scope = Scope(**options)
        self.scopes.append(scope)
        yield scope
        self.scopes.pop()

    def store_unused(self) -> None:
        """Store the unused values of the innermost region."""
        for tile in list(self.scopes[-1].tiles):
            if not tile.is_used:
                self.store(tile)

    def some_statements(self, most: int) -> None:
        """Emit a few statements in the innermost region."""
        self._statements(self, most)

    # Values

    def tile(self, name: str, type_: TileType) -> Tile:
        """Register a value."""
        tile = Tile(name, type_)
        self.scopes[-1].tiles.append(tile)
        return tile

    def use(self, tile: Tile) -> str:
        tile.is_used = True
        return tile.name

    def buffer(self, name: str, type_: TileType, storage: int) -> Buffer:
        """Register a buffer."""
        buffer = Buffer(name, type_, storage)
        self.scopes[-1].buffers.append(buffer)
        return buffer

    def number_of_storage(self) -> int:
        """Return the id of a new allocation."""
        self._storages += 1
        return self._storages

    def buffers(self, type_: TileType | None = None, *, to_write: bool = False) -> list[Buffer]:
        """Return the readable or writable buffers of a type."""
        found: list[Buffer] = []
        outside = False
        for scope in reversed(self.scopes):
            found += [b for b in scope.buffers if not to_write or (b.may_change and not outside)]
            outside |= scope.is_agent
        return [b for b in found if type_ is None or b.type == type_]

    def values(self, fits: Callable[[TileType], bool]) -> list[Tile]:
        """Return the values whose type fits, newest first."""
        tiles = [t for scope in reversed(self.scopes) for t in reversed(scope.tiles)]
        return [tile for tile in tiles if fits(tile.type)]

    def flag(self) -> str:
        """Return a condition."""
        return self.choose([f for scope in reversed(self.scopes) for f in scope.flags])

    @property
    def round(self) -> str:
        """Return the innermost iteration index, by which inputs may be selected."""
        return next((s.round for s in reversed(self.scopes) if s.round), "%c0")

    # Memory of the launch

    def place_to_read(self) -> str:
        """Return the index of an input tile."""
        k = self.number(0, TILES_TO_READ - 1)
        number = self.choose([self.const(k), self.round])
        first = self.let("first", f"arith.muli %block, {self.const(TILES_TO_READ)} : index")
        return self.let("at", f"arith.addi {first}, {number} : index")

    def input(self, type_: TileType) -> tuple[str, str]:
        """Return the argument that contains tiles of a type, and its type."""
        name = f"%in_{type_.extents}{type_.element}"
        self.inputs[name] = type_.plain
        return name, matrix(type_)

    def output(self, type_: TileType) -> tuple[str, str, str]:
        """Return an argument, its type, and the index of a tile in it that nothing else writes."""
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
        """Store a value to an output."""
        self.store_named(self.use(tile), tile.type)

    def store_named(self, name: str, type_: TileType) -> None:
        """Store a tile, in registers or in memory, to an output."""
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
    """Return the type of an argument with vertically stacked tiles."""
    rest = "".join(f"{n}x" for n in type_.shape[1:])
    return f"memref<?x{rest}{type_.element}>"


def coordinates(first: str, type_: TileType) -> str:
    return ", ".join([first, *["%c0"] * (len(type_.shape) - 1)])
