"""Text of a tl program under construction: names, indentation, buffers, arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from random import Random
from typing import TypeVar

from tileas_xdsl.dialects.affine_expressions import affine_map_of
from tileas_xdsl.layout.expr.expression import Number, Variable

T = TypeVar("T")

ELEMENTS = ("f32", "f32", "f16", "i32")
"""Element types of buffers; f32 has double weight."""

MAX_ELEMENTS = 2048
"""Maximum number of elements of a buffer and of iterations of a loop."""


@dataclass(frozen=True)
class Buffer:
    """A buffer by its name in the text; `space` is empty for an array."""

    name: str
    shape: tuple[int, ...]
    element: str
    space: str = ""

    @property
    def type(self) -> str:
        """Return the type as text."""
        shape = "x".join(map(str, (*self.shape, self.element)))
        return f"memref<{shape}, #tl<space {self.space}>>" if self.space else f"memref<{shape}>"


@dataclass(frozen=True)
class Argument:
    """An array argument of integers from `low` to `high`."""

    buffer: Buffer
    low: int = -4
    high: int = 4


@dataclass
class Writer:
    """The text so far, and the readable buffers.

    `bounds` has the magnitude of each buffer's values; those of arrays are small.
    """

    random: Random
    threads: int
    lines: list[str] = field(default_factory=list[str])
    arguments: list[Argument] = field(default_factory=list[Argument])
    readable: list[Buffer] = field(default_factory=list[Buffer])
    bounds: dict[str, int] = field(default_factory=dict[str, int])
    marks: set[str] = field(default_factory=set[str])
    depth: int = 2
    count: int = 0
    grid: int = 0

    @property
    def blocks(self) -> tuple[str, ...]:
        """Return the block index if the grid has several blocks."""
        return ("%block",) if self.grid else ()

    def choose(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return self.random.choice(options)

    def chance(self, one_in: int = 2) -> bool:
        """Return True with probability 1 / `one_in`."""
        return self.random.randrange(one_in) == 0

    def number(self, low: int, high: int) -> int:
        """Return a random integer from `low` to `high`, inclusive."""
        return self.random.randint(low, high)

    def mark(self, kind: str) -> None:
        """Record a feature of the program."""
        self.marks.add(kind)

    def name(self, stem: str) -> str:
        """Return a fresh name."""
        self.count += 1
        return f"%{stem}{self.count}"

    def line(self, text: str) -> None:
        """Emit one line at the current depth."""
        self.lines.append("  " * self.depth + text)

    def let(self, stem: str, text: str) -> str:
        """Emit a line that defines a fresh name."""
        name = self.name(stem)
        self.line(f"{name} = {text}")
        return name

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Emit the head and end of a region."""
        self.line(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    def array(self, shape: tuple[int, ...], element: str, low: int = -4, high: int = 4) -> Buffer:
        """Add an input array argument."""
        self.count += 1
        buffer = Buffer(f"%A{self.count}", shape, element)
        self.arguments.append(Argument(buffer, low, high))
        return buffer

    def output(self, shape: tuple[int, ...], element: str) -> Buffer:
        """Add an output array argument with a part per block."""
        return self.array((*((self.grid,) if self.grid else ()), *shape), element)

    def allocated(self, shape: tuple[int, ...], element: str, space: str) -> Buffer:
        """Emit a new buffer, which must be filled before it is read."""
        buffer = Buffer(self.name(space[0]), shape, element, space)
        self.line(f"{buffer.name} = tl.alloc_{space} : {buffer.type}")
        return buffer

    def constant(self, value: int, element: str) -> str:
        """Return an integer constant of a type."""
        text = f"{value}.0" if element.startswith("f") else str(value)
        return self.let("c", f"arith.constant {text} : {element}")

    def index(self, expression: Number, variables: Sequence[str]) -> str:
        """Emit an index expression over loop variables."""
        if isinstance(expression, Variable):
            return variables[expression.key.number]
        if isinstance(expression, int):
            return self.constant(expression, "index")
        map_ = affine_map_of(len(variables), 0, (expression,))
        return self.let("e", f"affine.apply affine_map<{map_}> ({', '.join(variables)})")

    def load(self, buffer: Buffer, indices: Sequence[str]) -> str:
        """Emit a load from a buffer."""
        return self.let("x", f"memref.load {buffer.name}[{', '.join(indices)}] : {buffer.type}")

    def store(self, value: str, buffer: Buffer, indices: Sequence[str]) -> None:
        """Emit a store to a buffer."""
        at = ", ".join(indices)
        self.line(f"memref.store {value}, {buffer.name}[{at}] : {buffer.type}")

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        """Return a random shape with extents of 1 to 300 within the element limit."""
        while True:
            extents = tuple(self.extent() for _ in range(rank or self.choose((1, 2, 2, 2, 3))))
            if prod(extents) <= MAX_ELEMENTS:
                return extents

    def extent(self) -> int:
        """Return an extent of 1 to 300."""
        return self.choose(
            (2 ** self.number(0, 8), self.number(1, 300), self.number(1, 20), self.number(2, 8) * 8)
        )
