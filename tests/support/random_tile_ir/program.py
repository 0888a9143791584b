"""A program as a graph of tiles, its text and its arguments.

A node is the text of an operation with places for its operands (`@0`, `@1`), its result (`@r`),
the type of the result (`@t`, its shape `@s`, its elements `@e`) and of the operands (`@t0`), so
that a program stays one when nodes and extents are taken away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

DTYPES: Mapping[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "tf32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


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
    """`pointers`, `masked`, `partition`, `strided` or `gather`."""
    ragged: int = 0
    """Elements that the array lacks along each dimension: so many are out of bounds."""
    padding: str = "zero"
    axis: int = 0
    """The gathered dimension, or that along which tiles of a block follow."""
    step: int = 1
    special: bool = False
    """Whether infinities, NaN and zeros of both signs are among the numbers."""


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
    ragged: int = 0


@dataclass(frozen=True)
class Program:
    """Nodes in an order in which they can run."""

    seed: int
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    blocks: int = 1

    def every(self) -> Iterator[Node]:
        """All nodes, those of bodies too."""
        yield from _every(self.nodes)

    @property
    def size(self) -> tuple[int, int]:
        """What shrinking makes smaller."""
        nodes = list(self.every())
        return len(nodes) + len(self.outputs) + self.blocks, sum(n.type.count for n in nodes)


def _every(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for body in node.bodies:
            yield from _every(body.nodes)


@dataclass
class _Writer:
    """The text of a program while it is written."""

    program: Program
    types: dict[int, Tile]
    parameters: list[str] = field(default_factory=list[str])
    arguments: list[Callable[[], Any]] = field(default_factory=list[Callable[[], Any]])

    def lines(self, nodes: Sequence[Node]) -> list[str]:
        """The operations of nodes."""
        return [line for node in nodes for line in self._node(node)]

    def _node(self, node: Node) -> list[str]:
        if node.access is not None:
            return leaf(self, node, node.access)
        return [self.filled(node)]

    def filled(self, node: Node) -> str:
        """The text of a node with everything in its places."""

        def place(found: re.Match[str]) -> str:
            word = found[1]
            if word in "rtse":
                return {
                    "r": f"%v{node.id}",
                    "t": str(node.type),
                    "s": "x".join(map(str, node.type.shape)),
                    "e": node.type.element,
                }[word]
            if word == "c":
                return f"%v{node.carried}"
            if word[0] == "b":
                return "\n".join(self.lines(node.bodies[int(word[1])].nodes))
            if word[0] == "y":
                return f"%v{node.bodies[int(word[1])].result}"
            if word[0] == "t":
                return str(self.types[node.operands[int(word[1:])]])
            return f"%v{node.operands[int(word)]}"

        return re.sub(r"@(t\d+|b\d|y\d|[rtsec]|\d+)", place, node.text)

    def argument(self, name: str, type_: str, make: Callable[[], Any]) -> str:
        """A parameter of the kernel, with what makes its argument."""
        self.parameters.append(f"%{name}: tile<{type_}>")
        self.arguments.append(make)
        return f"%{name}"


def _random(program: Program, node: int, size: int, element: str, special: bool) -> Array:
    rng = np.random.default_rng([program.seed, node])
    dtype = DTYPES[element]
    if element == "i1":
        return rng.random(size) < 0.5
    if element[0] == "i":
        return rng.integers(-100, 100, size).astype(dtype)
    values = np.round(rng.standard_normal(size) * 8) / 4 + rng.standard_normal(size) / 8
    if element in ("tf32", "f8E4M3FN", "f8E5M2"):
        values = np.round(values)
    if special:
        some = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-41, 1e5], size)
        values = np.where(rng.random(size) < 0.2, some, values)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def _pointers(name: str, base: str, shape: Sequence[int], element: str, block: str) -> list[str]:
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


def _mask(name: str, shape: Sequence[int], keep: int) -> list[str]:
    """Which elements of a tile have a number below `keep`."""
    count = prod(shape)
    flat = f"tile<{count}xi32>"
    return [
        f"%{name}k = constant <i32: {keep}> : {flat}",
        f"%{name}c = cmpi less_than %{name}i, %{name}k, signed : {flat} -> tile<{count}xi1>",
        f"%{name}w = reshape %{name}c : tile<{count}xi1> -> tile<{'x'.join(map(str, shape))}xi1>",
    ]


def _extents(writer: _Writer, tile: Tile, access: Access) -> tuple[int, ...]:
    """The extents of the array of a view: those of all blocks, less what is ragged."""
    blocks = writer.program.blocks
    whole = [n * (blocks if axis == access.axis else 1) for axis, n in enumerate(tile.shape)]
    return tuple(max(1, n - access.ragged) for n in whole)


def _view(
    writer: _Writer, name: str, tile: Tile, access: Access, make: Callable[[int], Array]
) -> tuple[list[str], str, str]:
    """A view of an array of dynamic extents: its operations, index and types."""
    extents = _extents(writer, tile, access)
    base = writer.argument(name, f"ptr<{tile.element}>", lambda: make(prod(extents)))
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
    tensor = f"tensor_view<{'?x' * len(extents)}{tile.element}, strides=[{pattern}]>"
    lines.append(
        f"%{name}v = make_tensor_view {base}, shape = [{', '.join(names)}],"
        f" strides = [{', '.join(strides)}] : tile<i32> -> {tensor}"
    )
    shape = "x".join(map(str, tile.shape))
    padding = f"padding_value = {access.padding}, " if access.padding else ""
    if access.kind == "strided":
        steps = [str(n) for n in tile.shape]
        steps[access.axis] = str(access.step)
        view = f"strided_view<tile=({shape}), traversal_strides=[{','.join(steps)}], "
        view += f"{padding}{tensor}>"
    elif access.kind == "gather":
        sparse = f"sparse_dim={access.axis}"
        view = f"gather_scatter_view<tile=({shape}), {padding}{tensor}, {sparse}>"
    else:
        view = f"partition_view<tile=({shape}), {padding}{tensor}>"
    kind = view.partition("<")[0]
    lines.append(f"%{name}u = make_{kind} %{name}v : {view}")
    index = ["%zero"] * len(extents)
    types = ["tile<i32>"] * len(extents)
    index[access.axis] = "%x"
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
    listed = f"{view}, {', '.join(types)}" if access.kind == "gather" else f"{view}, tile<i32>"
    return lines, f"%{name}u[{', '.join(index)}]", listed


def leaf(writer: _Writer, node: Node, access: Access) -> list[str]:
    """The load of an array that is an argument of its own."""
    tile, name = node.type, f"a{node.id}"
    program = writer.program

    def make(size: int) -> Array:
        return _random(program, node.id, size, tile.element, access.special)

    if access.kind in ("pointers", "masked"):
        base = writer.argument(
            name, f"ptr<{tile.element}>", lambda: make(tile.count * program.blocks)
        )
        lines = _pointers(name, base, tile.shape, tile.element, "%x")
        pointers = str(tile).replace(tile.element, f"ptr<{tile.element}>")
        pointers = f"tile<{''.join(f'{n}x' for n in tile.shape)}ptr<{tile.element}>>"
        if access.kind == "pointers":
            return [
                *lines,
                f"%v{node.id}, %{name}z = load_ptr_tko weak %{name}p : {pointers} -> {tile}, token",
            ]
        mask = f"tile<{'x'.join(map(str, tile.shape))}xi1>"
        number = "1" if tile.element[0] == "i" else "1.0"
        return [
            *lines,
            *_mask(name, tile.shape, max(1, tile.count - access.ragged)),
            f"%{name}y = constant <{tile.element}: {number}> : {tile}",
            f"%v{node.id}, %{name}z = load_ptr_tko weak %{name}p, %{name}w, %{name}y"
            f" : {pointers}, {mask}, {tile} -> {tile}, token",
        ]
    lines, place, types = _view(writer, name, tile, access, make)
    return [
        *lines,
        f"%v{node.id}, %{name}z = load_view_tko weak {place} : {types} -> {tile}, token",
    ]


def _stored(writer: _Writer, number: int, output: Output) -> list[str]:
    tile, name = writer.types[output.node], f"o{number}"
    blocks = writer.program.blocks

    def make(size: int) -> Array:
        return np.full(size, 3).astype(DTYPES[tile.element])

    value = f"%v{output.node}"
    if output.kind == "view":
        access = Access("partition", output.ragged, "")
        lines, place, types = _view(writer, name, tile, access, make)
        return [
            *lines,
            f"%{name}z = store_view_tko weak {value}, {place} : {tile}, {types} -> token",
        ]
    base = writer.argument(name, f"ptr<{tile.element}>", lambda: make(tile.count * blocks))
    shape = tile.shape or (1,)
    block = "%zero" if output.kind == "atomic" else "%x"
    lines = _pointers(name, base, shape, tile.element, block)
    if not tile.shape:
        lines.append(f"%{name}x = reshape {value} : {tile} -> tile<1x{tile.element}>")
        tile, value = Tile((1,), tile.element), f"%{name}x"
    sizes = "".join(f"{n}x" for n in tile.shape)
    pointers, mask, types = f"tile<{sizes}ptr<{tile.element}>>", "", ""
    if output.ragged:
        lines += _mask(name, tile.shape, max(1, tile.count - output.ragged))
        mask, types = f", %{name}w", f", tile<{sizes}i1>"
    if output.kind == "atomic":
        mode = "addf" if tile.element[0] in "fb" else "add"
        return [
            *lines,
            f"%{name}b, %{name}z = atomic_rmw_tko relaxed device %{name}p, {mode}, {value}{mask}"
            f" : {pointers}, {tile}{types} -> {tile}, token",
        ]
    return [
        *lines,
        f"%{name}z = store_ptr_tko weak %{name}p, {value}{mask} : {pointers}, {tile}{types}"
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
    writer = _Writer(program, types)
    lines = ["%zero = constant <i32: 0> : tile<i32>", *writer.lines(program.nodes)]
    exact = {node.id: node.is_exact for node in program.every()}
    inexact: list[int] = []
    for number, output in enumerate(program.outputs):
        if not exact[output.node]:
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
    return Written(text, [make() for make in writer.arguments], inexact)
