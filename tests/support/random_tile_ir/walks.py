"""Loops that load a tile in each iteration, as rows and attention do, under conditions of data.

    for %i in (%from to %to, step %one) iter_values(%c = @0) -> (@t) {
      %q = load_ptr_tko weak %numbers[%i]                   a number that was loaded
      %l = load_view_tko weak %view[%x, %q]                 a tile whose place it is
      %n = if %q < 2 -> (@t) { addf %c, %l } else { %c }
      store_view_tko weak %n, %out[%x, %i]
      continue %n }

Bounds are constants or arguments, so that nothing may be known of how often a loop runs.  Rows of
what is loaded are combined, too: their largest element is exact in any order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import partial
from math import prod

import numpy as np

from tests.support.random_tile_ir.addresses import (
    Writer,
    dynamic_array,
    mask_below,
    pointers_of,
    sized,
    static_array,
)
from tests.support.random_tile_ir.elements import DTYPES, random_elements
from tests.support.random_tile_ir.program import Access, Node, Tile

COMBINED = {"f": ("addf", "subf", "maxf", "minf", "mulf"), "i": ("addi", "subi", "xori", "muli")}
"""What an iteration makes of the carried and the loaded tile."""

CONDITIONS = ("", "", "index", "block", "number", "both")
"""What a condition around an iteration's work compares; nothing for none."""


@dataclass
class _Walk:
    """A loop while it is written."""

    writer: Writer
    node: Node
    most: int
    """Iterations of the longest loop, for which arrays have tiles."""
    rng: random.Random
    before: list[str] = field(default_factory=list[str])

    @property
    def name(self) -> str:
        return f"a{self.node.id}"

    @property
    def tile(self) -> Tile:
        return self.node.type

    def number(self, what: str, value: int) -> str:
        """An integer, as a constant or an argument."""
        name = f"{self.name}{what}"
        if self.rng.random() < 0.5:
            return self.writer.argument(name, "i32", lambda: value)
        self.before.append(f"%{name} = constant <i32: {value}> : tile<i32>")
        return f"%{name}"

    def text(self) -> list[str]:
        """The loop, and what stands in front of it."""
        name, tile, rng = self.name, self.tile, self.rng
        low, high = rng.choice(((0, self.most), (0, self.most), (1, self.most), (self.most, 0)))
        step = rng.choice((1, 1, 2))
        bounds = self.number("f", low), self.number("h", high), self.number("g", step)
        body = [*self._number_loaded(), *self._tile_loaded()]
        value, work = self._combined()
        condition = rng.choice(CONDITIONS)
        if condition:
            body += [
                *self._condition(condition),
                f"%{name}R = if %{name}C -> ({tile}) {{",
                *work,
                f"yield {value} : {tile}",
                "} else {",
                f"yield %{name}c : {tile}",
                "}",
            ]
            value = f"%{name}R"
        else:
            body += work
        body += self._stored(value) if rng.random() < 0.5 else []
        return [
            *self.before,
            f"%v{self.node.id} = for %{name}i in ({bounds[0]} to {bounds[1]}, step {bounds[2]})"
            f" : tile<i32> iter_values(%{name}c = %v{self.node.operands[0]}) -> ({tile}) {{",
            *body,
            f"continue {value} : {tile}",
            "}",
        ]

    def _number_loaded(self) -> list[str]:
        """Load the number of this iteration, which is one of the iterations."""
        name, most = self.name, self.most
        base = self.writer.argument(
            f"{name}n",
            "ptr<i32>",
            lambda: np.random.default_rng(self.node.id).permutation(most).astype(np.int32),
        )
        return [
            f"%{name}N = offset {base}, %{name}i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>",
            f"%{name}q, %{name}Q = load_ptr_tko weak %{name}N : tile<ptr<i32>> -> tile<i32>, token",
        ]

    def _condition(self, what: str) -> list[str]:
        name, word = self.name, self.rng.choice(("less_than", "greater_than_or_equal", "equal"))
        limit = self.number("l", self.rng.randrange(self.most + 1))
        left = {"block": "%x", "number": f"%{name}q"}.get(what, f"%{name}i")
        lines = [f"%{name}C = cmpi {word} {left}, {limit}, signed : tile<i32> -> tile<i1>"]
        if what != "both":
            return lines
        return [
            lines[0].replace(f"%{name}C", f"%{name}D"),
            f"%{name}E = cmpi not_equal %x, %{name}q, signed : tile<i32> -> tile<i1>",
            f"%{name}C = {self.rng.choice(('andi', 'ori'))} %{name}D, %{name}E : tile<i1>",
        ]

    def _tile_loaded(self) -> list[str]:
        """Load the tile of this iteration or of its number, whole or from a ragged array."""
        name = self.name
        at = self.rng.choice((f"%{name}i", f"%{name}i", f"%{name}q"))
        return self._access("x", at, f"%{name}L", "")

    def _stored(self, value: str) -> list[str]:
        """Store the carried tile of this iteration."""
        if not self.node.is_exact:
            self.writer.inexact.append(len(self.writer.arguments))
        return self._access("o", f"%{self.name}i", "", value)

    def _access(self, own: str, at: str, loaded: str, stored: str) -> list[str]:
        """Load or store a tile by pointers or a view, by rows of blocks and iterations."""
        name = f"{self.name}{own}"
        index = [
            f"%{name}M = constant <i32: {self.most}> : tile<i32>",
            f"%{name}I = muli %x, %{name}M : tile<i32>",
            f"%{name}J = addi %{name}I, {at} : tile<i32>",
        ]
        by_pointers = self.rng.random() < 0.4 or self.tile.element == "i1"
        access = self._by_pointers if by_pointers else partial(self._by_view, at)
        return [*index, *access(name, self.rng.choice((0, 0, 1)), loaded, stored)]

    def _elements(self, is_result: bool, size: int) -> object:
        element = self.tile.element
        if is_result:
            return np.full(size, 3).astype(DTYPES[element])
        return random_elements(self.writer.program, self.node.id, size, element, special=False)

    def _by_pointers(self, name: str, ragged: int, loaded: str, stored: str) -> list[str]:
        """Load or store all elements of a tile, or those of a mask, at pointers."""
        tile, element = self.tile, self.tile.element
        elements = partial(self._elements, bool(stored))
        size = tile.count * self.writer.program.blocks * self.most
        base = self.writer.argument(name, f"ptr<{element}>", lambda: elements(size))
        lines = pointers_of(name, base, tile.shape, element, f"%{name}J")
        types, mask, kinds = sized(tile, f"ptr<{element}>"), "", ""
        if ragged:
            lines += mask_below(name, tile.shape, max(tile.count - 3, 1))
            mask, kinds = f", %{name}w", f", {sized(tile, 'i1')}"
        if stored:
            store = f"%{name}z = store_ptr_tko weak %{name}p, {stored}{mask}"
            return [*lines, f"{store} : {types}, {tile}{kinds} -> token"]
        if ragged:
            mask, kinds = f"{mask}, %{self.name}c", f"{kinds}, {tile}"
        load = f"{loaded}, %{name}z = load_ptr_tko weak %{name}p{mask}"
        return [*lines, f"{load} : {types}{kinds} -> {tile}, token"]

    def _by_view(self, at: str, name: str, ragged: int, loaded: str, stored: str) -> list[str]:
        """Load or store a tile of a view; iterations have tiles beside or below each other."""
        tile, blocks = self.tile, self.writer.program.blocks
        rows, *rest = tile.shape
        extents = [rows * blocks * self.most, *rest]
        places = [f"%{name}J", *("%zero" for _ in rest)]
        if rest and self.rng.random() < 0.5:
            extents[0], extents[-1] = rows * blocks, extents[-1] * self.most
            places[0], places[-1] = "%x", at
        extents = [max(n - ragged, 1) for n in extents]
        elements = partial(self._elements, bool(stored))
        base = self.writer.argument(name, f"ptr<{tile.element}>", lambda: elements(prod(extents)))
        make = static_array if self.rng.random() < 0.3 else dynamic_array
        made, tensor = make(self.writer, name, base, extents, tile.element)
        padding = "" if stored else "padding_value = zero, "
        view = f"partition_view<tile=({'x'.join(map(str, tile.shape))}), {padding}{tensor}>"
        self.before += [*made, f"%{name}u = make_partition_view %{name}v : {view}"]
        place = f"%{name}u[{', '.join(places)}]"
        if stored:
            store = f"%{name}z = store_view_tko weak {stored}, {place}"
            return [f"{store} : {tile}, {view}, tile<i32> -> token"]
        load = f"{loaded}, %{name}z = load_view_tko weak {place}"
        return [f"{load} : {view}, tile<i32> -> {tile}, token"]

    def _combined(self) -> tuple[str, list[str]]:
        """Combine the carried tile with the loaded one, or with the extremes of its rows."""
        name, tile, rng = self.name, self.tile, self.rng
        kind = "i" if tile.element[0] == "i" else "f"
        lines, with_ = [], f"%{name}L"
        if rng.random() < 0.4:
            lines, with_ = self._rows_largest(kind)
        op = rng.choice(COMBINED[kind])
        operands = [f"%{name}c", with_]
        rng.shuffle(operands)
        lines.append(f"%{name}V = {op} {', '.join(operands)} : {tile}")
        return f"%{name}V", lines

    def _rows_largest(self, kind: str) -> tuple[list[str], str]:
        """The largest element of each row of the loaded tile, repeated."""
        name, tile, axis = self.name, self.tile, self.rng.randrange(len(self.tile.shape))
        element, least = tile.element, "-1.0e4" if kind == "f" else "-128"
        rest = tuple(n for d, n in enumerate(tile.shape) if d != axis)
        kept = tuple(1 if d == axis else n for d, n in enumerate(tile.shape))
        less, line = Tile(rest, element), Tile(kept, element)
        one = f"tile<{element}>"
        largest = f"max{kind} %{name}A, %{name}B{' signed' if kind == 'i' else ''}"
        return [
            f"%{name}S = reduce %{name}L dim={axis} identities=[{least} : {element}]"
            f" : {tile} -> {less}",
            f"  (%{name}A: {one}, %{name}B: {one}) {{",
            f"%{name}T = {largest} : {one}",
            f"yield %{name}T : {one}",
            "}",
            f"%{name}U = reshape %{name}S : {less} -> {line}",
            f"%{name}W = broadcast %{name}U : {line} -> {tile}",
        ], f"%{name}W"


def walked(writer: Writer, node: Node, access: Access) -> list[str]:
    """A loop over the tiles of an array, from an operand on."""
    rng = random.Random(writer.program.seed * 8191 + node.id)
    return _Walk(writer, node, access.step, rng).text()
