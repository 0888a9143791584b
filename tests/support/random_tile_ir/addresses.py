"""Addresses of the elements of arrays that are arguments, as pointers and as views."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from tests.support.random_tile_ir.elements import Array
from tests.support.random_tile_ir.program import Access, Program, Tile


@dataclass
class Writer:
    """The text of a program while it is written."""

    program: Program
    types: dict[int, Tile]
    parameters: list[str] = field(default_factory=list[str])
    arguments: list[Callable[[], Any]] = field(default_factory=list[Callable[[], Any]])
    inexact: list[int] = field(default_factory=list[int])
    """Arguments whose bits may differ between levels.

    What is stored there is inexact, or f32 is added: `atom.add.f32` flushes subnormals (PTX ISA).
    """

    def argument(self, name: str, type_: str, make: Callable[[], Any]) -> str:
        """A parameter of the kernel, with what makes its argument."""
        self.parameters.append(f"%{name}: tile<{type_}>")
        self.arguments.append(make)
        return f"%{name}"


_SCOPES = ("tl_blk", "device", "sys")


def _accesses(strongest: str) -> Sequence[str]:
    """Return how loads or stores are ordered, and in which scope; weak ones have none."""
    ordered = [f"{order} {scope}" for order in ("relaxed", strongest) for scope in _SCOPES]
    return "weak", "weak", "weak", "weak", *ordered


LOADS, STORES = _accesses("acquire"), _accesses("release")
ATOMICS = tuple(
    f"{order} {scope}"
    for order in ("relaxed", "acquire", "release", "acq_rel")
    for scope in ("device", "sys")
)
"""Orders and scopes of accesses; blocks may share what is added to, so its scope is no block."""


def order_of(program: Program, number: int, orders: Sequence[str]) -> str:
    """The order and scope of an access: the same while other nodes are taken away."""
    return random.Random(program.seed * 8191 + number).choice(orders)


def sized(tile: Tile, element: str) -> str:
    """A tile of the same extents with other elements."""
    return str(Tile(tile.shape, element))


def pointers_of(name: str, base: str, shape: Sequence[int], element: str, block: str) -> list[str]:
    """The addresses of the elements of a block's part of an array, in row-major order."""
    count = prod(shape)
    flat, own = f"tile<{count}xi32>", f"tile<{count}xptr<{element}>>"
    whole = f"tile<{'x'.join(map(str, shape))}xptr<{element}>>"
    return [
        f"%{name}i = iota : {flat}",
        f"%{name}n = constant <i32: {count}> : tile<i32>",
        f"%{name}m = muli {block}, %{name}n : tile<i32>",
        f"%{name}q = offset {base}, %{name}m : tile<ptr<{element}>>, tile<i32>"
        f" -> tile<ptr<{element}>>",
        f"%{name}r = reshape %{name}q : tile<ptr<{element}>> -> tile<1xptr<{element}>>",
        f"%{name}s = broadcast %{name}r : tile<1xptr<{element}>> -> {own}",
        f"%{name}o = offset %{name}s, %{name}i : {own}, {flat} -> {own}",
        f"%{name}p = reshape %{name}o : {own} -> {whole}",
    ]


def mask_below(name: str, shape: Sequence[int], keep: int) -> list[str]:
    """Which elements of a tile have a number below `keep`."""
    count = prod(shape)
    flat = f"tile<{count}xi32>"
    return [
        f"%{name}k = constant <i32: {keep}> : {flat}",
        f"%{name}c = cmpi less_than %{name}i, %{name}k, signed : {flat} -> tile<{count}xi1>",
        f"%{name}w = reshape %{name}c : tile<{count}xi1> -> tile<{'x'.join(map(str, shape))}xi1>",
    ]


def _extents(writer: Writer, tile: Tile, access: Access) -> tuple[int, ...]:
    """The extents of the array of a view: those of all blocks, less what is ragged."""
    blocks = writer.program.blocks
    whole = [n * (blocks if axis == access.axis else 1) for axis, n in enumerate(tile.shape)]
    if access.second >= 0:
        whole[access.second] *= 2
    return tuple(max(1, n - access.ragged) for n in whole)


def static_array(
    _writer: Writer, name: str, base: str, extents: Sequence[int], element: str
) -> tuple[list[str], str]:
    """An array whose type says its extents and strides; its address is one of 16 bytes."""
    strides = [prod(extents[axis + 1 :]) for axis in range(len(extents))]
    tensor = f"tensor_view<{'x'.join(map(str, extents))}x{element}, strides={strides}>"
    return [
        f"%{name}b = assume div_by<16>, {base} : tile<ptr<{element}>>",
        f"%{name}v = make_tensor_view %{name}b, shape = {list(extents)}, strides = {strides}"
        f" : {tensor.replace(' ', '')}",
    ], tensor.replace(" ", "").replace(",strides", ", strides")


def dynamic_array(
    writer: Writer, name: str, base: str, extents: Sequence[int], element: str
) -> tuple[list[str], str]:
    """An array whose extents are arguments."""
    names = [
        writer.argument(f"{name}d{axis}", "i32", lambda n=extent: n)
        for axis, extent in enumerate(extents)
    ]
    strides: list[str] = []
    lines: list[str] = []
    last = "1"
    for axis in reversed(range(len(extents))):
        strides.insert(0, last)
        if axis:
            if last == "1":
                last = names[axis]
            else:
                lines.append(f"%{name}t{axis} = muli {last}, {names[axis]} : tile<i32>")
                last = f"%{name}t{axis}"
    pattern = ",".join(["?"] * (len(extents) - 1) + ["1"])
    tensor = f"tensor_view<{'?x' * len(extents)}{element}, strides=[{pattern}]>"
    lines.append(
        f"%{name}v = make_tensor_view {base}, shape = [{', '.join(names)}],"
        f" strides = [{', '.join(strides)}] : tile<i32> -> {tensor}"
    )
    return lines, tensor


def view_of(
    writer: Writer, name: str, tile: Tile, access: Access, array: str | Callable[[int], Array]
) -> tuple[list[str], str, str]:
    """A view of an array, an argument that there is or a new one: operations, index and types."""
    extents = _extents(writer, tile, access)
    if isinstance(array, str):
        base = array
    else:
        base = writer.argument(name, f"ptr<{tile.element}>", lambda: array(prod(extents)))
    make_array = static_array if access.is_static else dynamic_array
    lines, tensor = make_array(writer, name, base, extents, tile.element)
    shape = "x".join(map(str, tile.shape))
    padding = f"padding_value = {access.padding}, " if access.padding else ""
    if access.kind == "strided":
        steps = [str(n) for n in tile.shape]
        steps[access.axis] = str(access.step)
        view = f"strided_view<tile=({shape}), traversal_strides=[{','.join(steps)}], "
        view += f"{padding}{tensor}>"
    elif access.kind in ("gather", "scatter"):
        sparse = f"sparse_dim={access.axis}"
        view = f"gather_scatter_view<tile=({shape}), {padding}{tensor}, {sparse}>"
    else:
        view = f"partition_view<tile=({shape}), {padding}{tensor}>"
    kind = view.partition("<")[0]
    lines.append(f"%{name}u = make_{kind} %{name}v : {view}")
    index = ["%zero"] * len(extents)
    types = ["tile<i32>"] * len(extents)
    index[access.axis] = "%x"
    if access.second >= 0:
        index[access.second] = "%one"
    if access.kind == "scatter":
        rows = tile.shape[access.axis]
        types[access.axis], index[access.axis] = f"tile<{rows}xi32>", f"%{name}g"
        lines += [
            f"%{name}h = iota : tile<{rows}xi32>",
            f"%{name}l = constant <i32: {rows - 1}> : tile<{rows}xi32>",
            f"%{name}f = xori %{name}h, %{name}l : tile<{rows}xi32>",
            f"%{name}j = constant <i32: {rows}> : tile<i32>",
            f"%{name}e = muli %x, %{name}j : tile<i32>",
            f"%{name}q = reshape %{name}e : tile<i32> -> tile<1xi32>",
            f"%{name}w = broadcast %{name}q : tile<1xi32> -> tile<{rows}xi32>",
            f"%{name}g = addi %{name}f, %{name}w : tile<{rows}xi32>",
        ]
    if access.kind == "gather":
        rows = tile.shape[access.axis]
        types[access.axis] = f"tile<{rows}xi32>"
        index[access.axis] = f"%{name}g"
        lines += [
            f"%{name}h = iota : tile<{rows}xi32>",
            f"%{name}f = constant <i32: {access.step}> : tile<{rows}xi32>",
            f"%{name}j = muli %{name}h, %{name}f : tile<{rows}xi32>",
            f"%{name}l = constant <i32: {max(rows - 1, 0)}> : tile<{rows}xi32>",
            f"%{name}g = andi %{name}j, %{name}l : tile<{rows}xi32>",
        ]
        dense = [axis for axis in range(len(extents)) if axis != access.axis]
        if dense:
            lines.append(f"%{name}e = constant <i32: {access.ragged}> : tile<i32>")
            index[dense[-1]] = f"%{name}e"
    is_sparse = access.kind in ("gather", "scatter")
    listed = f"{view}, {', '.join(types)}" if is_sparse else f"{view}, tile<i32>"
    return lines, f"%{name}u[{', '.join(index)}]", listed


def reversed_pointers(lines: list[str], name: str, tile: Tile) -> list[str]:
    """The addresses of `_pointers` from the last one to the first."""
    flat = f"tile<{tile.count}xi32>"
    turned = [
        f"%{name}K = constant <i32: {tile.count - 1}> : {flat}",
        f"%{name}I = xori %{name}i, %{name}K : {flat}",
    ]
    used = f"%{name}s, %{name}i"
    return [lines[0], *turned, *(line.replace(used, f"%{name}s, %{name}I") for line in lines[1:])]
