"""The register layout of a tile: which register of which thread holds each element.

A register layout is an ordinary `Layout` from the coordinates of a tile to the axes `thread` and
`value`; a last input mode beyond those of the tile counts replicas: each element is then held
several times.  CuTe's TV layout is its inverse, `(thread, value)` to the column-major index in the
tile.  For a 4x4 tile whose rows belong to four threads:

    layout    (4,4):(1@thread,1@value)      element (r, c) is value c of thread r
    TV layout (4,4):(1,4)                   value v of thread t is element t + 4 * v
    held      [[0, 4, 8, 12], [1, 5, ...    the same as a table, a row per thread

All else is derived from the one layout: here ownership tables (`held`, `thread_table`), replicas
and the digits of a thread's index that matter (`thread_digits`); in `layout.access_chunks` the
widest vectorised accesses, in `layout.blocked` the closed form of blocked layouts, in
`layout.row_values` the threads that share a row and the layout of one value per row.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import E, Offset, terms_of
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import escan, product, product_each, show
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.algebra import right_inverse
from tileas_xdsl.layout.operations.compose import composition
from tileas_xdsl.layout.operations.recovery import recover
from tileas_xdsl.layout.operations.simplify import coalesce
from tileas_xdsl.layout.operations.tiling import raked_product
from tileas_xdsl.layout.tables import Table, holds, table

THREAD = "thread"
VALUE = "value"

Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ElementTable:
    """Any elements of a tile by thread and register, each in none, one or several registers.

    `held` is `(threads, values)`: column-major indices in the tile of extents `shape`, -1 for none.
    """

    held: Table
    shape: tuple[int, ...]

    @property
    def threads(self) -> int:
        """The size of the group of threads."""
        return self.held.shape[0]

    @property
    def elements(self) -> int:
        """How many elements the tile has."""
        return product(self.shape)

    @property
    def values(self) -> int:
        """How many registers each thread has, counted in elements."""
        return self.held.shape[1]


@dataclass(frozen=True)
class RegisterLayout:
    """`layout` maps a coordinate of a tile of `shape` (and a replica) to `thread` and `value`.

    `threads` is the size of the group of threads; more than the layout uses means idle threads.
    """

    layout: Layout
    shape: tuple[int, ...]
    threads: int

    def __post_init__(self) -> None:
        if set(self.layout.axes()) - {THREAD, VALUE}:
            raise LayoutError(f"{self.layout} maps to other axes than '{THREAD}' and '{VALUE}'")
        for extent, stride in self.layout.leaves():
            if extent > 1 and any(k < 0 for _, k in terms_of(stride)):
                raise LayoutError(f"stride {stride} of {self.layout} is negative: no such register")
        sizes = product_each(self.layout.shape)
        if sizes[: len(self.shape)] != self.shape or len(sizes) > len(self.shape) + 1:
            raise LayoutError(f"{self.layout} does not map a {show(self.shape)} tile")
        used = self.layout.extents().get(THREAD, 1)
        if used > self.threads:
            raise LayoutError(f"{self.layout} uses {used} threads of {self.threads}")

    @property
    def elements(self) -> int:
        """How many elements the tile has."""
        return product(self.shape)

    @property
    def replicas(self) -> int:
        """How many registers hold each element."""
        return self.layout.size() // self.elements

    @cached_property
    def values(self) -> int:
        """How many registers each thread has, counted in elements."""
        return self.layout.extents().get(VALUE, 1)

    @cached_property
    def thread_digits(self) -> tuple[tuple[int, int], ...]:
        """Step and extent of the digits of a thread's index that elements count or that are 0.

        `thread // step % extent` is such a digit.  Empty where steps do not divide one another.
        """
        leaves = [(dict(terms_of(d)).get(THREAD, 0), s) for s, d in self.layout.leaves()]
        digits: list[tuple[int, int]] = []
        end = 1
        for step, extent in sorted(leaf for leaf in leaves if leaf[0] and leaf[1] > 1):
            if step % end:
                return ()
            if step > end:
                digits.append((end, step // end))
            digits.append((step, extent))
            end = step * extent
        return tuple(digits)

    @cached_property
    def held(self) -> Table:
        """`(threads, values)`: the column-major index of the element held there, -1 for none."""
        indices = holds(self.layout, THREAD, VALUE, self.threads, self.values)
        return indices if self.replicas == 1 else _without_replicas(indices, self.elements)

    @cached_property
    def thread_table(self) -> Table:
        """`(replicas, elements)`: the thread that holds each element."""
        return table(self.layout, THREAD).reshape(self.replicas, self.elements)

    @cached_property
    def value_table(self) -> Table:
        """`(replicas, elements)`: the register that holds each element."""
        return table(self.layout, VALUE).reshape(self.replicas, self.elements)

    @cached_property
    def first_held(self) -> Flags:
        """`(threads, values)`: whether no register before this one holds the same element."""
        elements, first = np.unique(self.held, return_index=True)
        result = np.zeros(self.held.size, dtype=np.bool_)
        result[first[elements >= 0]] = True
        return result.reshape(self.held.shape)

    def has_same_map(self, other: RegisterLayout) -> bool:
        """Whether two layouts keep every element in the same registers."""
        return self == other or np.array_equal(self.held, other.held)

    def tv(self) -> Layout:
        """CuTe's TV layout, `(thread, value)` to the column-major index in the tile.

        Raises `LayoutError` when registers are empty or no layout describes the map.
        """
        if self.layout.size() < self.threads * self.values:
            raise LayoutError(f"{self} leaves registers empty: it has no TV layout")
        found = recover(self.held.T.ravel(), (self.threads, self.values))
        if found is None or found[1] != 0:
            raise LayoutError(f"{self} has no TV layout")
        return found[0]

    def __str__(self) -> str:
        return f"{self.layout} on {self.threads} threads"


RegisterContents: TypeAlias = RegisterLayout | ElementTable
"""Registers of threads, given by a table of the elements that they hold."""


def register_layout_from_tv(tv: Layout, tile: tuple[int, ...]) -> RegisterLayout:
    """The fragment of a TV layout; digits of stride 0 become replicas.

    Raises `LayoutError` when the TV layout misses elements of the tile or repeats some unevenly.
    """
    if tv.rank != 2:
        raise LayoutError(f"{tv} is no TV layout: it needs two modes, thread and value")
    digits: list[tuple[int, int, Offset]] = []
    for mode, axis in zip(tv, (THREAD, VALUE), strict=True):
        leaves = mode.leaves()
        for (s, d), weight in zip(leaves, escan([s for s, _ in leaves]), strict=True):
            if not isinstance(d, int):
                raise LayoutError(f"{tv} is no TV layout: stride {d} is not an integer")
            if s > 1:
                digits.append((d, s, E(axis, weight)))
    elements = _in_order([digit for digit in digits if digit[0]], tv, tile)
    replicas = coalesce(_mode([(s, target) for d, s, target in digits if d == 0]))
    spread = composition(elements, Layout(tile))
    layout = make_layout(*spread, replicas) if replicas.size() > 1 else spread
    return RegisterLayout(layout, tile, tv[0].size())


def _without_replicas(indices: Table, elements: int) -> Table:
    """Replicas of an element are held at its own index."""
    return np.where(indices < 0, -1, indices % elements)


def is_of_larger_tile(layout: Layout, shape: tuple[int, ...]) -> bool:
    """Whether a layout is that of a larger tile of the same rank, which a slice may keep."""
    whole = product_each(layout.shape)[: len(shape)]
    return (
        whole != shape
        and len(whole) == len(shape)
        and all(n <= m for n, m in zip(shape, whole, strict=True))
    )


def make_layout_tv(threads: Layout, values: Layout) -> tuple[tuple[int, ...], Layout]:
    """The tile and the TV layout of a copy: `values` for each thread, interleaved over `threads`.

    Both map tile coordinates, to a thread and to a register; the threads must be compact (their
    offsets 0, 1, ...).  Source: CUTLASS make_tiled_copy; CuTe DSL make_layout_tv.
    """
    tile = raked_product(threads, values)
    tv: Layout = composition(right_inverse(tile), Layout((threads.size(), values.size())))
    return product_each(tile.shape), tv


def _in_order(digits: list[tuple[int, int, Offset]], tv: Layout, tile: tuple[int, ...]) -> Layout:
    current = 1
    for d, s, _ in sorted(digits, key=lambda digit: digit[0]):
        if d != current:
            raise LayoutError(f"{tv} does not hold every element of a {show(tile)} tile once")
        current *= s
    if current != product(tile):
        raise LayoutError(f"{tv} holds {current} elements; a {show(tile)} tile has {product(tile)}")
    return _mode([(s, target) for _, s, target in sorted(digits, key=lambda digit: digit[0])])


def _mode(modes: list[tuple[int, Offset]]) -> Layout:
    if not modes:
        return Layout(1, 0)
    return Layout(tuple(s for s, _ in modes), tuple(d for _, d in modes))


def register_layout_from_table(held: Table, tile: tuple[int, ...]) -> RegisterLayout:
    """The fragment with this `(threads, values)` table of column-major indices (-1: empty).

    Raises `LayoutError` when elements are missing, held unevenly often, or no layout describes it.
    """
    threads, values = np.nonzero(held >= 0)
    index = held[threads, values]
    order = np.lexsort((values, threads, index))
    elements = product(tile)
    if index.size % elements or not np.array_equal(
        index[order], np.repeat(np.arange(elements), index.size // elements)
    ):
        raise LayoutError(f"the registers do not hold every element of a {show(tile)} tile alike")
    replicas = index.size // elements
    shape = (*tile, replicas) if replicas > 1 else tile
    by_replica = order.reshape(elements, replicas).T.ravel()
    found = recover({THREAD: threads[by_replica], VALUE: values[by_replica]}, shape)
    if found is None or found[1] != 0:
        raise LayoutError("no layout describes which registers hold the tile")
    return RegisterLayout(found[0], tile, held.shape[0])
