"""The text of accesses to arrays: loads, lookups, atomic updates, streamed products."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import prod

from tests.support.random_tile_ir.addresses import (
    ATOMICS,
    LOADS,
    Writer,
    dynamic_array,
    mask_below,
    order_of,
    pointers_of,
    sized,
    static_array,
    view_of,
)
from tests.support.random_tile_ir.aliasing import chained
from tests.support.random_tile_ir.elements import Array, few_elements, random_elements
from tests.support.random_tile_ir.program import Access, Node
from tests.support.random_tile_ir.walks import walked


def leaf(writer: Writer, node: Node, access: Access) -> list[str]:
    """The load of an array that is an argument of its own."""
    tile, name = node.type, f"a{node.id}"
    program = writer.program
    order = order_of(program, node.id, LOADS)

    def make(size: int) -> Array:
        return random_elements(program, node.id, size, tile.element, access.special)

    if access.kind in OPERATING:
        return OPERATING[access.kind](writer, node, access)
    if access.kind in ("pointers", "masked"):
        base = writer.argument(
            name, f"ptr<{tile.element}>", lambda: make(tile.count * program.blocks)
        )
        lines = pointers_of(name, base, tile.shape, tile.element, "%x")
        pointers = str(tile).replace(tile.element, f"ptr<{tile.element}>")
        pointers = f"tile<{''.join(f'{n}x' for n in tile.shape)}ptr<{tile.element}>>"
        if access.kind == "pointers":
            return [
                *lines,
                f"%v{node.id}, %{name}z = load_ptr_tko {order} %{name}p : {pointers}"
                f" -> {tile}, token",
            ]
        mask = f"tile<{'x'.join(map(str, tile.shape))}xi1>"
        number = "1" if tile.element[0] == "i" else "1.0"
        return [
            *lines,
            *mask_below(name, tile.shape, max(1, tile.count - access.ragged)),
            f"%{name}y = constant <{tile.element}: {number}> : {tile}",
            f"%v{node.id}, %{name}z = load_ptr_tko {order} %{name}p, %{name}w, %{name}y"
            f" : {pointers}, {mask}, {tile} -> {tile}, token",
        ]
    lines, place, types = view_of(writer, name, tile, access, make)
    return [
        *lines,
        f"%v{node.id}, %{name}z = load_view_tko {order} {place} : {types} -> {tile}, token",
    ]


def _looked_up(writer: Writer, node: Node, access: Access) -> list[str]:
    """Elements of an array at positions that were computed, some of them under a mask."""
    tile, name, program = node.type, f"a{node.id}", writer.program
    index, mask, padding = (f"%v{n}" for n in node.operands)
    base = writer.argument(
        name,
        f"ptr<{tile.element}>",
        lambda: random_elements(program, node.id, tile.count, tile.element, access.special),
    )
    ones, indices = "x".join("1" for _ in tile.shape), sized(tile, "i32")
    pointers = sized(tile, f"ptr<{tile.element}>")
    single = f"tile<{ones}xptr<{tile.element}>>"
    return [
        f"%{name}k = constant <i32: {tile.count - 1}> : {indices}",
        f"%{name}i = andi {index}, %{name}k : {indices}",
        f"%{name}r = reshape {base} : tile<ptr<{tile.element}>> -> {single}",
        f"%{name}s = broadcast %{name}r : {single} -> {pointers}",
        f"%{name}p = offset %{name}s, %{name}i : {pointers}, {indices} -> {pointers}",
        f"%v{node.id}, %{name}z = load_ptr_tko {order_of(program, node.id, LOADS)} %{name}p,"
        f" {mask}, {padding}"
        f" : {pointers}, {sized(tile, 'i1')}, {tile} -> {tile}, token",
    ]


def _updated(writer: Writer, node: Node, access: Access) -> list[str]:
    """The old elements of an array that are updated, or exchanged if they are as expected."""
    tile, name, program = node.type, f"a{node.id}", writer.program
    base = writer.argument(
        name,
        f"ptr<{tile.element}>",
        lambda: few_elements(program, node.id, tile.count * program.blocks, tile.element),
    )
    if not node.is_exact or (tile.element == "f32" and access.mode == "addf"):
        writer.inexact.append(len(writer.arguments) - 1)
    lines = pointers_of(name, base, tile.shape, tile.element, "%x")
    mask, types = "", ""
    if access.ragged:
        lines += mask_below(name, tile.shape, max(1, tile.count - access.ragged))
        mask, types = f", %{name}w", f", {sized(tile, 'i1')}"
    values = ", ".join(f"%v{n}" for n in node.operands)
    operation = "atomic_cas_tko"
    if access.kind == "atomic":
        operation, values = "atomic_rmw_tko", f"{access.mode}, {values}"
    return [
        *lines,
        f"%v{node.id}, %{name}z = {operation} {order_of(program, node.id, ATOMICS)} %{name}p,"
        f" {values}{mask}"
        f" : {sized(tile, f'ptr<{tile.element}>')}, {tile}{types} -> {tile}, token",
    ]


STREAMED_INNER = 32
"""The extent that a streamed product takes at once."""


def _streamed(writer: Writer, node: Node, access: Access) -> list[str]:
    """A product of a row of tiles and a column of them, both loaded in a loop."""
    tile, name, program = node.type, f"a{node.id}", writer.program
    rows, columns = tile.shape
    inner, laps, element = STREAMED_INNER, access.step, access.mode
    lines: list[str] = []
    loads: list[str] = []
    sizes = (
        (rows * program.blocks, inner * laps, rows, inner),
        (inner * laps, columns, inner, columns),
    )
    for k, (height, width, *box) in enumerate(sizes):
        own = f"{name}{'ab'[k]}"
        extents = (height - (access.ragged if k == 0 else 0), width)
        base = writer.argument(
            own,
            f"ptr<{element}>",
            partial(
                random_elements, program, 2 * node.id + k, prod(extents), element, special=False
            ),
        )
        made, tensor = (static_array if access.is_static else dynamic_array)(
            writer, own, base, extents, element
        )
        view = f"partition_view<tile=({box[0]}x{box[1]}), padding_value = zero, {tensor}>"
        place = "%x, %{0}i" if k == 0 else "%{0}i, %zero"
        lines += [*made, f"%{own}u = make_partition_view %{own}v : {view}"]
        loads.append(
            f"%{own}t, %{own}z = load_view_tko weak %{own}u[{place.format(name)}]"
            f" : {view}, tile<i32> -> tile<{box[0]}x{box[1]}x{element}>, token"
        )
    return [
        *lines,
        f"%{name}n = constant <i32: {laps}> : tile<i32>",
        f"%v{node.id} = for %{name}i in (%zero to %{name}n, step %one) : tile<i32>"
        f" iter_values(%{name}c = %v{node.operands[0]}) -> ({tile}) {{",
        *loads,
        f"%{name}d = mmaf %{name}at, %{name}bt, %{name}c : tile<{rows}x{inner}x{element}>,"
        f" tile<{inner}x{columns}x{element}>, {tile}",
        f"continue %{name}d : {tile}",
        "}",
    ]


OPERATING: Mapping[str, Callable[[Writer, Node, Access], list[str]]] = {
    "lookup": _looked_up,
    "exchange": _updated,
    "atomic": _updated,
    "streamed": _streamed,
    "chained": chained,
    "walked": walked,
}
"""Accesses that have operands."""
