"""A program as a graph of tiles.

A node is the text of an operation with places for its operands (`@0`, `@1`), its result (`@r`),
the type of the result (`@t`, its shape `@s`, its elements `@e`, their count `@n`, `@m` one
less) and of the operands (`@t0`), so that a program stays one when nodes and extents are taken
away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Tile:
    """A type of tiles."""

    shape: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        return f"tile<{''.join(f'{n}x' for n in self.shape)}{self.element}>"

    @property
    def count(self) -> int:
        """The number of elements."""
        return prod(self.shape)


@dataclass(frozen=True)
class Body:
    """Nodes of a region, and the one whose value it hands on."""

    nodes: tuple[Node, ...]
    result: int


@dataclass(frozen=True)
class Access:
    """An array that a leaf loads, as a view."""

    kind: str
    """`pointers`, `masked`, `partition`, `strided` or `gather`; with operands `lookup`, `atomic`,
    `exchange`, `streamed`, `chained` or `walked`."""
    ragged: int = 0
    """Elements that the array lacks along each dimension: so many are out of bounds."""
    padding: str = "zero"
    axis: int = 0
    """The gathered dimension, or that along which tiles of a block follow."""
    step: int = 1
    special: bool = False
    """Whether infinities, NaN and zeros of both signs are among the numbers."""
    second: int = -1
    """A dimension with two tiles, of which the second one is loaded."""
    is_static: bool = False
    """Whether the types of views state extents and strides, and the address is aligned."""
    mode: str = ""
    """What an atomic operation does; what a product multiplies; whether a chain is a loop."""


@dataclass(frozen=True)
class Node:
    """An operation that makes a tile."""

    id: int
    text: str
    type: Tile
    operands: tuple[int, ...] = ()
    bodies: tuple[Body, ...] = ()
    carried: int | None = None
    """The value that a loop carries, by its number."""
    access: Access | None = None
    is_exact: bool = True
    """Whether every level computes the same bits."""


@dataclass(frozen=True)
class Output:
    """A tile that is stored: whole, under a mask, through a view, or added to memory."""

    node: int
    kind: str = "pointers"
    """`pointers`, `view`, `strided_view`, `atomic`, `reduce`, `scattered` or `scatter_view`."""
    ragged: int = 0
    mode: str = ""
    """What an atomic operation does."""
    step: int = 0
    """How far tiles of a strided view are apart, if not as long as they are."""


@dataclass(frozen=True)
class Program:
    """Nodes in an order in which they can run."""

    seed: int
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    blocks: int = 1

    def every(self) -> Iterator[Node]:
        """All nodes, those of bodies too."""
        yield from every(self.nodes)

    @property
    def size(self) -> tuple[int, int]:
        """What shrinking makes smaller."""
        nodes = list(self.every())
        return len(nodes) + len(self.outputs) + self.blocks, sum(n.type.count for n in nodes)


def every(nodes: Sequence[Node]) -> Iterator[Node]:
    """Nodes, and those of their bodies."""
    for node in nodes:
        yield node
        for body in node.bodies:
            yield from every(body.nodes)
