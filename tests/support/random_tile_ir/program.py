"""A program as a graph of tiles, its text and its arguments.

A node is the text of an operation with places for its operands (`@0`, `@1`), its result (`@r`),
the type of the result (`@t`, its shape `@s`, its elements `@e`, their count `@n`, `@m` one
less) and of the operands (`@t0`), so that a program stays one when nodes and extents are taken
away.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
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
    """`pointers`, `masked`, `partition`, `strided` or `gather`; with operands `lookup`, `atomic`,
    `exchange` or `streamed`."""
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
    """What an atomic operation does; what a product multiplies."""


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


@dataclass
class _Writer:
    """The text of a program while it is written."""

    program: Program
    types: dict[int, Tile]
    parameters: list[str] = field(default_factory=list[str])
    arguments: list[Callable[[], Any]] = field(default_factory=list[Callable[[], Any]])
    flushed: list[int] = field(default_factory=list[int])
    """Arguments of f32 that are added to: `atom.add.f32` flushes subnormals (PTX ISA)."""

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
                return "\n".join(self.lines(node.bodies[int(word[1])].nodes))
            if word[0] == "y":
                return f"%v{node.bodies[int(word[1])].result}"
            if word[0] == "t":
                return str(self.types[node.operands[int(word[1:])]])
            return f"%v{node.operands[int(word)]}"

        return re.sub(r"@(t\d+|b\d|y\d|[rtsecnm]|\d+)", place, node.text)

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


def _order(program: Program, number: int, orders: Sequence[str]) -> str:
    """The order and scope of an access: the same while other nodes are taken away."""
    return random.Random(program.seed * 8191 + number).choice(orders)


def _random(program: Program, node: int, size: int, element: str, special: bool) -> Array:
    rng = np.random.default_rng([program.seed, node])
    dtype = DTYPES[element]
    if element == "i1":
        return rng.random(size) < 0.5
    if element[0] == "i":
        return rng.integers(-100, 100, size).astype(dtype)
    values = np.round(rng.standard_normal(size) * 8) / 4 + rng.standard_normal(size) / 8
    if element == "f8E8M0FNU":
        codes = (118, 137) if special else (125, 130)
        return rng.integers(*codes, size).astype(np.uint8).view(dtype)
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
    if access.second >= 0:
        whole[access.second] *= 2
    return tuple(max(1, n - access.ragged) for n in whole)


def _static_array(
    _writer: _Writer, name: str, base: str, extents: Sequence[int], element: str
) -> tuple[list[str], str]:
    """An array whose type says its extents and strides; its address is one of 16 bytes."""
    strides = [prod(extents[axis + 1 :]) for axis in range(len(extents))]
    tensor = f"tensor_view<{'x'.join(map(str, extents))}x{element}, strides={strides}>"
    return [
        f"%{name}b = assume div_by<16>, {base} : tile<ptr<{element}>>",
        f"%{name}v = make_tensor_view %{name}b, shape = {list(extents)}, strides = {strides}"
        f" : {tensor.replace(' ', '')}",
    ], tensor.replace(" ", "").replace(",strides", ", strides")


def _dynamic_array(
    writer: _Writer, name: str, base: str, extents: Sequence[int], element: str
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


def _view(
    writer: _Writer, name: str, tile: Tile, access: Access, make: Callable[[int], Array]
) -> tuple[list[str], str, str]:
    """A view of an array of dynamic extents: its operations, index and types."""
    extents = _extents(writer, tile, access)
    base = writer.argument(name, f"ptr<{tile.element}>", lambda: make(prod(extents)))
    make_array = _static_array if access.is_static else _dynamic_array
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


def leaf(writer: _Writer, node: Node, access: Access) -> list[str]:
    """The load of an array that is an argument of its own."""
    tile, name = node.type, f"a{node.id}"
    program = writer.program
    order = _order(program, node.id, LOADS)

    def make(size: int) -> Array:
        return _random(program, node.id, size, tile.element, access.special)

    if access.kind in OPERATING:
        return OPERATING[access.kind](writer, node, access)
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
                f"%v{node.id}, %{name}z = load_ptr_tko {order} %{name}p : {pointers}"
                f" -> {tile}, token",
            ]
        mask = f"tile<{'x'.join(map(str, tile.shape))}xi1>"
        number = "1" if tile.element[0] == "i" else "1.0"
        return [
            *lines,
            *_mask(name, tile.shape, max(1, tile.count - access.ragged)),
            f"%{name}y = constant <{tile.element}: {number}> : {tile}",
            f"%v{node.id}, %{name}z = load_ptr_tko {order} %{name}p, %{name}w, %{name}y"
            f" : {pointers}, {mask}, {tile} -> {tile}, token",
        ]
    lines, place, types = _view(writer, name, tile, access, make)
    return [
        *lines,
        f"%v{node.id}, %{name}z = load_view_tko {order} {place} : {types} -> {tile}, token",
    ]


def _sized(tile: Tile, element: str) -> str:
    """A tile of the same extents with other elements."""
    return str(Tile(tile.shape, element))


def _looked_up(writer: _Writer, node: Node, access: Access) -> list[str]:
    """Elements of an array at positions that were computed, some of them under a mask."""
    tile, name, program = node.type, f"a{node.id}", writer.program
    index, mask, padding = (f"%v{n}" for n in node.operands)
    base = writer.argument(
        name,
        f"ptr<{tile.element}>",
        lambda: _random(program, node.id, tile.count, tile.element, access.special),
    )
    ones, indices = "x".join("1" for _ in tile.shape), _sized(tile, "i32")
    pointers = _sized(tile, f"ptr<{tile.element}>")
    single = f"tile<{ones}xptr<{tile.element}>>"
    return [
        f"%{name}k = constant <i32: {tile.count - 1}> : {indices}",
        f"%{name}i = andi {index}, %{name}k : {indices}",
        f"%{name}r = reshape {base} : tile<ptr<{tile.element}>> -> {single}",
        f"%{name}s = broadcast %{name}r : {single} -> {pointers}",
        f"%{name}p = offset %{name}s, %{name}i : {pointers}, {indices} -> {pointers}",
        f"%v{node.id}, %{name}z = load_ptr_tko {_order(program, node.id, LOADS)} %{name}p, {mask},"
        f" {padding}"
        f" : {pointers}, {_sized(tile, 'i1')}, {tile} -> {tile}, token",
    ]


def _few(program: Program, node: int, size: int, element: str) -> Array:
    """Numbers that constants of the generator may be equal to."""
    rng = np.random.default_rng([program.seed, node])
    values = rng.choice([-3.0, -1.0, 0.0, 1.0, 2.0, 7.0], size)
    return (values if element[0] == "i" else values + np.sign(values) * 0.5).astype(DTYPES[element])


def _updated(writer: _Writer, node: Node, access: Access) -> list[str]:
    """The old elements of an array that are updated, or exchanged if they are as expected."""
    tile, name, program = node.type, f"a{node.id}", writer.program
    base = writer.argument(
        name,
        f"ptr<{tile.element}>",
        lambda: _few(program, node.id, tile.count * program.blocks, tile.element),
    )
    if tile.element == "f32" and access.mode == "addf":
        writer.flushed.append(len(writer.arguments) - 1)
    lines = _pointers(name, base, tile.shape, tile.element, "%x")
    mask, types = "", ""
    if access.ragged:
        lines += _mask(name, tile.shape, max(1, tile.count - access.ragged))
        mask, types = f", %{name}w", f", {_sized(tile, 'i1')}"
    values = ", ".join(f"%v{n}" for n in node.operands)
    operation = "atomic_cas_tko"
    if access.kind == "atomic":
        operation, values = "atomic_rmw_tko", f"{access.mode}, {values}"
    return [
        *lines,
        f"%v{node.id}, %{name}z = {operation} {_order(program, node.id, ATOMICS)} %{name}p,"
        f" {values}{mask}"
        f" : {_sized(tile, f'ptr<{tile.element}>')}, {tile}{types} -> {tile}, token",
    ]


STREAMED_INNER = 32
"""The extent that a streamed product takes at once."""


def _streamed(writer: _Writer, node: Node, access: Access) -> list[str]:
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
            partial(_random, program, 2 * node.id + k, prod(extents), element, special=False),
        )
        made, tensor = (_static_array if access.is_static else _dynamic_array)(
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


OPERATING: Mapping[str, Callable[[_Writer, Node, Access], list[str]]] = {
    "lookup": _looked_up,
    "exchange": _updated,
    "atomic": _updated,
    "streamed": _streamed,
}
"""Accesses that have operands."""


def _reversed(lines: list[str], name: str, tile: Tile) -> list[str]:
    """The addresses of `_pointers` from the last one to the first."""
    flat = f"tile<{tile.count}xi32>"
    turned = [
        f"%{name}K = constant <i32: {tile.count - 1}> : {flat}",
        f"%{name}I = xori %{name}i, %{name}K : {flat}",
    ]
    used = f"%{name}s, %{name}i"
    return [lines[0], *turned, *(line.replace(used, f"%{name}s, %{name}I") for line in lines[1:])]


VIEWS: Mapping[str, str] = {
    "view": "partition",
    "reduce": "partition",
    "strided_view": "strided",
    "scatter_view": "scatter",
}
"""The views that outputs are stored through."""


def _stored(writer: _Writer, number: int, output: Output) -> list[str]:
    tile, name = writer.types[output.node], f"o{number}"
    blocks = writer.program.blocks

    def make(size: int) -> Array:
        return np.full(size, 3).astype(DTYPES[tile.element])

    value = f"%v{output.node}"
    order, atomically = (
        _order(writer.program, -1 - number, orders) for orders in (STORES, ATOMICS)
    )
    if output.kind in VIEWS:
        step = output.step or (tile.shape[0] if tile.shape else 1)
        access = Access(VIEWS[output.kind], output.ragged, "", step=step)
        lines, place, types = _view(writer, name, tile, access, make)
        operation = f"store_view_tko {order} {value}, {place}"
        if output.kind == "reduce":
            operation = f"atomic_red_view_tko relaxed device {place}, {output.mode}, {value}"
        return [*lines, f"%{name}z = {operation} : {tile}, {types} -> token"]
    base = writer.argument(name, f"ptr<{tile.element}>", lambda: make(tile.count * blocks))
    shape = tile.shape or (1,)
    block = "%zero" if output.kind == "atomic" else "%x"
    lines = _pointers(name, base, shape, tile.element, block)
    if output.kind == "scattered":
        lines = _reversed(lines, name, tile)
    if not tile.shape:
        lines.append(f"%{name}x = reshape {value} : {tile} -> tile<1x{tile.element}>")
        tile, value = Tile((1,), tile.element), f"%{name}x"
    sizes = "".join(f"{n}x" for n in tile.shape)
    pointers, mask, types = f"tile<{sizes}ptr<{tile.element}>>", "", ""
    if output.ragged:
        lines += _mask(name, tile.shape, max(1, tile.count - output.ragged))
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
    writer = _Writer(program, types)
    numbers = ["%zero = constant <i32: 0> : tile<i32>", "%one = constant <i32: 1> : tile<i32>"]
    lines = [*numbers, *writer.lines(program.nodes)]
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
    return Written(text, [make() for make in writer.arguments], inexact + writer.flushed)
