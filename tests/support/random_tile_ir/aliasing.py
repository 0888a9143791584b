"""Chains of loads and stores that token order alone keeps right: one array is two arguments.

    %z0 = store_ptr_tko weak %a[reversed], %v
    %f = memory_fence_alias_tko %z0
    %l, %z1 = load_view_tko weak %b[tile] token = %f        what was stored, in another order
    %z2 = store_view_tko release device %l, %b[tile] token = %z1

Every access has its own way (pointers, reversed pointers, views of static or dynamic extents: the
generic and the async proxy) and its own of the two addresses, so that neither the compiler nor a
thread can know from the address alone what an access must wait for.  Between accesses stand
fences, joined tokens and the order of dependent grids, which has no effect on a single grid.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from tests.support.random_tile_ir.addresses import (
    LOADS,
    STORES,
    Writer,
    pointers_of,
    reversed_pointers,
    sized,
    view_of,
)
from tests.support.random_tile_ir.elements import Array, random_elements
from tests.support.random_tile_ir.program import Access, Node, Tile

_WAYS = ("pointers", "reversed", "dynamic", "static")
_BETWEEN = ("", "", "fence", "join", "wait", "launch")


@dataclass
class _Chain:
    """A chain while it is written: the value that was loaded last, and the last token."""

    writer: Writer
    tile: Tile
    name: str
    rng: random.Random
    arrays: tuple[str, str]
    addresses: list[str]
    value: str
    token: str = ""

    def access(self, number: int, *, stores: bool) -> list[str]:
        """A load or store that comes after all before it."""
        name, tile = f"{self.name}_{number}", self.tile
        array, way = self.rng.choice(self.arrays), self.rng.choice(_WAYS)
        order = self.rng.choice(STORES if stores else LOADS)
        after = f" token = {self.token}" if self.token else ""
        if way in ("pointers", "reversed"):
            lines = pointers_of(name, array, tile.shape, tile.element, "%x")
            lines = reversed_pointers(lines, name, tile) if way == "reversed" else lines
            place, types = f"%{name}p", sized(tile, f"ptr<{tile.element}>")
            memory = "ptr"
        else:
            access = Access("partition", padding="", is_static=way == "static")
            lines, place, types = view_of(self.writer, name, tile, access, array)
            memory = "view"
        self.addresses += lines
        self.token = f"%{name}z"
        if not stores:
            head = f"%{name}l, {self.token} = load_{memory}_tko {order} {place}{after}"
            self.value = f"%{name}l"
            return [f"{head} : {types} -> {tile}, token"]
        operands = [place, self.value] if memory == "ptr" else [self.value, place]
        typed = [types, str(tile)] if memory == "ptr" else [str(tile), types]
        head = f"{self.token} = store_{memory}_tko {order} {', '.join(operands)}{after}"
        return [f"{head} : {', '.join(typed)} -> token"]

    def between(self, number: int) -> list[str]:
        """What orders an access and the next one, beside the token."""
        before, self.token = self.token, f"%{self.name}_{number}t"
        match self.rng.choice(_BETWEEN):
            case "fence":
                return [f"{self.token} = memory_fence_alias_tko {before}"]
            case "join":
                return [
                    f"{self.token}0 = make_token : token",
                    f"{self.token} = join_tokens {self.token}0, {before} : token",
                ]
            case "wait":
                return [f"{self.token} = gdc_wait_tko token = {before} -> token"]
            case "launch":
                return [f"{self.token} = gdc_launch_dependents_tko token = {before} -> token"]
            case _:
                self.token = before
                return []


def chained(writer: Writer, node: Node, access: Access) -> list[str]:
    """Stores of an operand, and loads of what was stored, `access.step` times."""
    tile, name, program = node.type, f"a{node.id}", writer.program

    @cache
    def shared() -> Array:
        count = tile.count * program.blocks
        return random_elements(program, node.id, count, tile.element, special=False)

    arrays = (
        writer.argument(f"{name}a", f"ptr<{tile.element}>", shared),
        writer.argument(f"{name}b", f"ptr<{tile.element}>", shared),
    )
    if not node.is_exact:
        writer.inexact += [len(writer.arguments) - 2, len(writer.arguments) - 1]
    rng = random.Random(program.seed * 8191 + node.id)
    chain = _Chain(writer, tile, name, rng, arrays, [], f"%v{node.operands[0]}")
    if access.mode == "loop":
        chain.value, chain.token = f"%{name}c", f"%{name}t"
    lines: list[str] = []
    for number in range(0, 2 * access.step, 2):
        lines += chain.access(number, stores=True)
        lines += chain.between(number)
        lines += chain.access(number + 1, stores=False)
        lines += chain.between(number + 1)
    if access.mode != "loop":
        found = f"%v{node.id} = reshape {chain.value} : {tile} -> {tile}"
        return [*chain.addresses, *lines, found]
    return [
        *chain.addresses,
        f"%{name}s = make_token : token",
        f"%{name}n = constant <i32: 2> : tile<i32>",
        f"%v{node.id}, %{name}u = for %{name}k in (%zero to %{name}n, step %one) : tile<i32>"
        f" iter_values(%{name}c = %v{node.operands[0]}, %{name}t = %{name}s)"
        f" -> ({tile}, token) {{",
        *lines,
        f"continue {chain.value}, {chain.token} : {tile}, token",
        "}",
    ]
