"""The text of a program, and its arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support.random_tile_ir.accesses import leaf
from tests.support.random_tile_ir.addresses import (
    ATOMICS,
    STORES,
    Writer,
    mask_below,
    order_of,
    pointers_of,
    reversed_pointers,
    view_of,
)
from tests.support.random_tile_ir.elements import DTYPES, Array
from tests.support.random_tile_ir.program import Access, Node, Output, Program, Tile


def text_of(writer: Writer, nodes: Sequence[Node]) -> list[str]:
    """The operations of nodes."""
    return [line for node in nodes for line in _node(writer, node)]


def _node(writer: Writer, node: Node) -> list[str]:
    if node.access is not None:
        return leaf(writer, node, node.access)
    return [filled(writer, node)]


def filled(writer: Writer, node: Node) -> str:
    """The text of a node with everything in its places."""

    def place(found: re.Match[str]) -> str:
        word = found[1]
        if word in "rtsenm":
            return {
                "r": f"%v{node.id}",
                "n": str(node.type.count),
                "m": str(node.type.count - 1),
                "t": str(node.type),
                "s": "x".join(map(str, node.type.shape)),
                "e": node.type.element,
            }[word]
        if word == "c":
            return f"%v{node.carried}"
        if word[0] == "b":
            return "\n".join(text_of(writer, node.bodies[int(word[1])].nodes))
        if word[0] == "y":
            return f"%v{node.bodies[int(word[1])].result}"
        if word[0] == "t":
            return str(writer.types[node.operands[int(word[1:])]])
        return f"%v{node.operands[int(word)]}"

    return re.sub(r"@(t\d+|b\d|y\d|[rtsecnm]|\d+)", place, node.text)


VIEWS: Mapping[str, str] = {
    "view": "partition",
    "reduce": "partition",
    "strided_view": "strided",
    "scatter_view": "scatter",
}
"""The views that outputs are stored through."""


def _stored(writer: Writer, number: int, output: Output) -> list[str]:
    tile, name = writer.types[output.node], f"o{number}"
    blocks = writer.program.blocks

    def make(size: int) -> Array:
        return np.full(size, 3).astype(DTYPES[tile.element])

    value = f"%v{output.node}"
    order, atomically = (
        order_of(writer.program, -1 - number, orders) for orders in (STORES, ATOMICS)
    )
    if output.kind in VIEWS:
        step = output.step or (tile.shape[0] if tile.shape else 1)
        access = Access(VIEWS[output.kind], output.ragged, "", step=step)
        lines, place, types = view_of(writer, name, tile, access, make)
        operation = f"store_view_tko {order} {value}, {place}"
        if output.kind == "reduce":
            operation = f"atomic_red_view_tko relaxed device {place}, {output.mode}, {value}"
        return [*lines, f"%{name}z = {operation} : {tile}, {types} -> token"]
    base = writer.argument(name, f"ptr<{tile.element}>", lambda: make(tile.count * blocks))
    shape = tile.shape or (1,)
    block = "%zero" if output.kind == "atomic" else "%x"
    lines = pointers_of(name, base, shape, tile.element, block)
    if output.kind == "scattered":
        lines = reversed_pointers(lines, name, tile)
    if not tile.shape:
        lines.append(f"%{name}x = reshape {value} : {tile} -> tile<1x{tile.element}>")
        tile, value = Tile((1,), tile.element), f"%{name}x"
    sizes = "".join(f"{n}x" for n in tile.shape)
    pointers, mask, types = f"tile<{sizes}ptr<{tile.element}>>", "", ""
    if output.ragged:
        lines += mask_below(name, tile.shape, max(1, tile.count - output.ragged))
        mask, types = f", %{name}w", f", tile<{sizes}i1>"
    if output.kind == "atomic":
        mode = output.mode
        return [
            *lines,
            f"%{name}b, %{name}z = atomic_rmw_tko {atomically} %{name}p, {mode},"
            f" {value}{mask}"
            f" : {pointers}, {tile}{types} -> {tile}, token",
        ]
    return [
        *lines,
        f"%{name}z = store_ptr_tko {order} %{name}p, {value}{mask} : {pointers}, {tile}{types}"
        " -> token",
    ]


@dataclass(frozen=True)
class Written:
    """A program as text, with arguments."""

    text: str
    arguments: Sequence[Any]
    inexact: Sequence[int]
    """The positions of outputs whose bits may differ between levels."""


def written(program: Program) -> Written:
    """The module of a program; its kernel is `@k`."""
    types = {node.id: node.type for node in program.every()}
    types |= {node.carried: node.type for node in program.every() if node.carried is not None}
    writer = Writer(program, types)
    numbers = ["%zero = constant <i32: 0> : tile<i32>", "%one = constant <i32: 1> : tile<i32>"]
    lines = [*numbers, *text_of(writer, program.nodes)]
    exact = {node.id: node.is_exact for node in program.every()}
    inexact: list[int] = []
    for number, output in enumerate(program.outputs):
        is_flushed = output.mode == "addf" and types[output.node].element == "f32"
        if is_flushed or not exact[output.node]:
            inexact.append(len(writer.arguments))
        lines += _stored(writer, number, output)
    body = "\n    ".join("\n".join(lines).split("\n"))
    text = f"""cuda_tile.module @m {{
  entry @k({", ".join(writer.parameters)}) {{
    %x, %y, %z = get_tile_block_id : tile<i32>
    {body}
    return
  }}
}}
"""
    return Written(text, [make() for make in writer.arguments], inexact + writer.inexact)
