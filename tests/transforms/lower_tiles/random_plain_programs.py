"""Random programs on small tiles: data movement, arithmetic and atomic updates.

Integers wrap and floats are only compared and negated, so that every order gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.support.plain_kernels import NUMPY, Array, kernel

Shape = tuple[int, ...]

MOST = 1024
"""Maximum number of elements of a tile."""

BINARY = {
    "i32": ("arith.addi", "arith.muli", "arith.xori", "arith.maxsi", "arith.subi"),
    "f32": ("arith.maximumf", "arith.minimumf"),
}

COMBINERS = {
    "i32": ("arith.addi", "arith.xori", "arith.maxsi", "arith.minui", "arith.muli"),
    "f32": ("arith.maximumf", "arith.minimumf"),
}

NONE = {"i32": "0", "f32": "0.0"}


@dataclass(frozen=True)
class Tile:
    """A tile value of the program."""

    name: str
    shape: Shape
    element: str

    @property
    def type(self) -> str:
        """Return the type as written in the program."""
        return f"tensor<{listed(self.shape)}{self.element}>"


def listed(shape: Sequence[int]) -> str:
    """Return extents as text, like `8x16x`."""
    return "".join(f"{n}x" for n in shape)


@dataclass
class PlainProgram:
    """A program under construction."""

    rng: np.random.Generator
    lines: list[str] = field(default_factory=list[str])
    tiles: list[Tile] = field(default_factory=list[Tile])
    inputs: list[Tile] = field(default_factory=list[Tile])
    count: int = 0

    def fresh(self) -> str:
        """Return a fresh name."""
        self.count += 1
        return f"v{self.count}"

    def number(self, least: int, end: int) -> int:
        """Return a random integer from `least` up to, but excluding, `end`."""
        return int(self.rng.integers(least, end))

    def pick(self, **wanted: object) -> Tile:
        """Return a tile of the program whose attributes match."""
        found = [
            tile
            for tile in self.tiles
            if all(getattr(tile, name) == value for name, value in wanted.items())
        ]
        return found[-1 - min(self.number(0, len(found)), self.number(0, len(found)))]

    def add(self, shape: Shape, element: str, text: str) -> Tile:
        """Emit an operation that defines a tile; `{}` is its name and `DST` its type."""
        tile = Tile(self.fresh(), shape, element)
        self.lines.append(text.replace("{}", f"%{tile.name}").replace("DST", tile.type))
        self.tiles.append(tile)
        return tile

    def shape(self, most: int = MOST) -> Shape:
        """Return random power-of-two extents."""
        while True:
            found = tuple((1 << self.rng.integers(0, 7, self.number(1, 4))).tolist())
            if np.prod(found) <= most:
                return found

    # operations

    def input(self) -> None:
        """Emit a load of a tile."""
        shape, element = self.shape(), str(self.rng.choice(["i32", "f32"]))
        number = len(self.inputs)
        zeros = ", ".join(["%zero"] * len(shape))
        memref = f"memref<{listed(shape)}{element}>"
        text = f"{{}} = nv_tileas.tiled_load %in{number}[{zeros}] {{atom = #ldg}} : {memref} -> DST"
        self.inputs.append(self.add(shape, element, text))

    def binary(self) -> None:
        """Emit a binary operation on two tiles of one type."""
        a = self.pick()
        b = self.pick(shape=a.shape, element=a.element)
        op = str(self.rng.choice(BINARY[a.element]))
        self.add(a.shape, a.element, f"{{}} = {op} %{a.name}, %{b.name} : DST")

    def _generate(self, shape: Shape, element: str, body: Sequence[str]) -> None:
        arguments = ", ".join(f"%i{k}: index" for k in range(len(shape)))
        lines = "\n    ".join([*body, f"nv_tileas.yield %e : {element}"])
        self.add(
            shape,
            element,
            f"{{}} = nv_tileas.generate : DST {{\n  ^bb0({arguments}):\n    {lines}\n  }}",
        )

    def permuted(self) -> None:
        """Emit a permutation of the dimensions, some of them reversed."""
        a = self.pick()
        order = self.rng.permutation(len(a.shape)).tolist()
        shape = tuple(a.shape[k] for k in order)
        body: list[str] = []
        places = [f"%i{order.index(k)}" for k in range(len(a.shape))]
        for k, place in enumerate(places):
            if self.number(0, 3) == 0:
                body += [f"%c{k} = arith.constant {a.shape[k] - 1} : index"]
                body += [f"%p{k} = arith.subi %c{k}, {place} : index"]
                places[k] = f"%p{k}"
        body.append(f"%e = tensor.extract %{a.name}[{', '.join(places)}] : {a.type}")
        self._generate(shape, a.element, body)

    def repeated(self) -> None:
        """Emit a new dimension by broadcast, or by interleaving two tiles."""
        a = self.pick()
        extent = 1 << self.number(0, 4)
        if np.prod(a.shape) * extent > MOST:
            return
        b = self.pick(shape=a.shape, element=a.element)
        axis = self.number(0, len(a.shape) + 1)
        shape = (*a.shape[:axis], extent, *a.shape[axis:])
        places = ", ".join(f"%i{k}" for k in range(len(shape)) if k != axis)
        self._generate(
            shape,
            a.element,
            [
                f"%x0 = tensor.extract %{a.name}[{places}] : {a.type}",
                f"%x1 = tensor.extract %{b.name}[{places}] : {b.type}",
                f"%half = arith.constant {self.number(0, extent + 1)} : index",
                f"%p = arith.cmpi slt, %i{axis}, %half : index",
                f"%e = arith.select %p, %x0, %x1 : {a.element}",
            ],
        )

    def looked_up(self) -> None:
        """Emit a gather by a tile of integers, with a constant where the index is negative."""
        a, places = self.pick(), [t for t in self.tiles if t.element == "i32"]
        if not places:
            return
        b = places[self.number(0, len(places))]
        here = ", ".join(f"%i{k}" for k in range(len(b.shape)))
        body = [
            f"%n = tensor.extract %{b.name}[{here}] : {b.type}",
            "%w = arith.index_cast %n : i32 to index",
        ]
        for k, extent in enumerate(a.shape):
            body += [f"%m{k} = arith.constant {extent - 1} : index"]
            body += [f"%s{k} = arith.andi %w, %m{k} : index"]
        there = ", ".join(f"%s{k}" for k in range(len(a.shape)))
        body += [
            "%none = arith.constant 0 : i32",
            "%q = arith.cmpi slt, %n, %none : i32",
            f"%e = scf.if %q -> ({a.element}) {{",
            f"  %f = tensor.extract %{a.name}[{there}] : {a.type}",
            f"  scf.yield %f : {a.element}",
            "} else {",
            f"  %g = arith.constant {NONE[a.element]} : {a.element}",
            f"  scf.yield %g : {a.element}",
            "}",
        ]
        self._generate(b.shape, a.element, body)

    def combined(self) -> None:
        """Emit a reduction or scan of one tile by a single operation."""
        a = self.pick()
        axis, op = self.number(0, len(a.shape)), str(self.rng.choice(COMBINERS[a.element]))
        scans = bool(self.number(0, 2)) or len(a.shape) == 1
        shape = a.shape if scans else (*a.shape[:axis], *a.shape[axis + 1 :])
        kind, flag = ("scan", ", reverse" * self.number(0, 2)) if scans else ("reduce", "")
        self.add(
            shape,
            a.element,
            f"""{{}} = nv_tileas.{kind} %{a.name} {{axis = {axis} : i32{flag}}} : {a.type} -> DST {{
  ^bb0(%l: {a.element}, %r: {a.element}):
    %b = {op} %l, %r : {a.element}
    nv_tileas.yield %b : {a.element}
  }}""",
        )

    def largest(self) -> None:
        """Emit an argmax: the maxima along a dimension with another tile's elements there."""
        a = self.pick(element="i32") if any(t.element == "i32" for t in self.tiles) else None
        if a is None:
            return
        others = [t for t in self.tiles if t.shape == a.shape]
        b, axis = others[self.number(0, len(others))], self.number(0, len(a.shape))
        result = Tile(self.fresh(), a.shape, a.element), Tile(self.fresh(), b.shape, b.element)
        names = ", ".join(f"%{tile.name}" for tile in result)
        types = f"{a.type}, {b.type}"
        self.lines.append(
            f"""{names} = nv_tileas.scan %{a.name}, %{b.name} {{axis = {axis} : i32}} : {types} -> {types} {{
  ^bb0(%a0: i32, %a1: {b.element}, %b0: i32, %b1: {b.element}):
    %p = arith.cmpi sgt, %b0, %a0 : i32
    %m = arith.select %p, %b0, %a0 : i32
    %n = arith.select %p, %b1, %a1 : {b.element}
    nv_tileas.yield %m, %n : i32, {b.element}
  }}"""  # noqa: E501
        )
        self.tiles += result

    def part(self) -> None:
        """Emit a slice of a tile at a static or dynamic position."""
        a = self.pick()
        shape = tuple(max(1, n >> self.number(0, 2)) for n in a.shape)
        offsets = [str(self.number(0, n - m + 1)) for n, m in zip(a.shape, shape, strict=True)]
        if self.number(0, 2):
            offsets[0] = "%zero" if a.shape[0] == shape[0] else "%x"
        sizes, steps = ", ".join(map(str, shape)), ", ".join(["1"] * len(shape))
        at = f"[{', '.join(offsets)}] [{sizes}] [{steps}]"
        made = self.add(
            shape, a.element, f"{{}} = nv_tileas.extract_slice %{a.name}{at} : {a.type} -> DST"
        )
        self.add(
            a.shape,
            a.element,
            f"{{}} = nv_tileas.insert_slice %{made.name} into %{a.name}{at} : "
            f"{made.type} into {a.type}",
        )

    def reshaped(self) -> None:
        """Emit a reshape."""
        a = self.pick()
        size = int(np.prod(a.shape))
        outer = 1 << self.number(0, size.bit_length())
        self.add(
            (outer, size // outer), a.element, f"{{}} = nv_tileas.view %{a.name} : {a.type} -> DST"
        )

    def looped(self) -> None:
        """Emit a loop that carries a tile through random operations."""
        a = self.pick()
        result = self.fresh()
        inner, rounds = self.fresh(), self.number(1, 4)
        start, outer, known = len(self.lines), self.lines, list(self.tiles)
        self.lines = []
        self.tiles = [*known, Tile(inner, a.shape, a.element)]
        for _ in range(self.number(1, 4)):
            self.step(INNER)
        last = self.pick(shape=a.shape, element=a.element)
        body, self.lines, self.tiles = self.lines, outer, known
        assert len(self.lines) == start
        bound = self.fresh()
        self.lines += [
            f"%{bound} = arith.constant {rounds} : index",
            f"%{result} = scf.for %k{result} = %zero to %{bound} step %one "
            f"iter_args(%{inner} = %{a.name}) -> ({a.type}) {{",
            *body,
            f"scf.yield %{last.name} : {a.type}",
            "}",
        ]
        self.tiles.append(Tile(result, a.shape, a.element))

    def scattered(self) -> None:
        """Emit a scatter through pointers in permuted order, atomic updates, and a gather."""
        a = self.pick()
        size, pointer = int(np.prod(a.shape)), f"!nv_tileaa.ptr<{a.element}, 1>"
        base = "%room_" + a.element
        rows = [int(np.prod(a.shape[k + 1 :])) for k in range(len(a.shape))]
        body = ["%s0 = arith.constant 0 : index"]
        for k, row in enumerate(rows):
            body += [f"%r{k} = arith.constant {row} : index"]
            body += [f"%t{k} = arith.muli %i{k}, %r{k} : index"]
            body += [f"%s{k + 1} = arith.addi %s{k}, %t{k} : index"]
        factor = 2 * self.number(0, 8) + 1
        body += [
            f"%f = arith.constant {factor} : index",
            f"%m = arith.muli %s{len(rows)}, %f : index",
            f"%z = arith.constant {size - 1} : index",
            "%n = arith.andi %m, %z : index",
            "%e = arith.index_cast %n : index to i32",
        ]
        self._generate(a.shape, "i32", body)
        offsets, many = self.tiles.pop(), f"tensor<{listed(a.shape)}{pointer}>"
        splat, there = self.fresh(), self.fresh()
        self.lines += [
            f"%{splat} = tensor.splat {base} : {many}",
            f"%{there} = nv_tileaa.addptr %{splat}, %{offsets.name} : {many}, {offsets.type}",
            f"nv_tileas.store %{a.name}, %{there} {{atom = #stg}} : {a.type}, {many}",
        ]
        if a.element == "i32":
            b = self.pick(shape=a.shape, element="i32")
            mode = str(self.rng.choice(["add", "xor", "max", "umin", "xchg"]))
            self.add(
                a.shape,
                "i32",
                f"{{}} = nv_tileas.atomic_rmw {mode} %{b.name}, %{there} : DST, {many} -> DST",
            )
        self.add(
            a.shape, a.element, f"{{}} = nv_tileas.load %{there} {{atom = #ldg}} : {many} -> DST"
        )

    def step(self, operations: Sequence[Callable[[PlainProgram], None]]) -> None:
        """Emit one random operation."""
        operations[self.number(0, len(operations))](self)

    def text(self, warps: int) -> str:
        """Return the kernel, which stores its last tiles."""
        stored = [tile for tile in self.tiles if tile.shape][-3:]
        arguments = ["%room_i32: !nv_tileaa.ptr<i32, 1>", "%room_f32: !nv_tileaa.ptr<f32, 1>"]
        arguments += [
            f"%in{k}: memref<{listed(t.shape)}{t.element}>" for k, t in enumerate(self.inputs)
        ]
        body = list(self.lines)
        for k, tile in enumerate(stored):
            memref = f"memref<{listed(tile.shape)}{tile.element}>"
            arguments.append(f"%out{k}: {memref}")
            zeros = ", ".join(["%zero"] * len(tile.shape))
            body.append(
                f"nv_tileas.tiled_store %{tile.name}, %out{k}[{zeros}] {{atom = #stg}} : "
                f"{tile.type}, {memref}"
            )
        self.outputs = stored
        return kernel(", ".join(arguments), "\n  ".join(body), warps)

    def arguments(self) -> list[Array]:
        """Return random input arrays and output arrays."""
        found = [np.zeros(MOST, np.int32), np.zeros(MOST, np.float32)]
        for tile in self.inputs:
            numbers = self.rng.integers(-(2**31), 2**31, tile.shape)
            dtype = NUMPY[tile.element]
            if tile.element == "f32":
                numbers = self.rng.standard_normal(tile.shape)
            found.append(np.asarray(numbers).astype(dtype))
        return [*found, *(np.zeros(t.shape, NUMPY[t.element]) for t in self.outputs)]


INNER = (
    PlainProgram.binary,
    PlainProgram.permuted,
    PlainProgram.repeated,
    PlainProgram.looked_up,
    PlainProgram.combined,
    PlainProgram.largest,
    PlainProgram.part,
    PlainProgram.reshaped,
    PlainProgram.scattered,
)
"""Operations allowed in loops."""


def plain_program(seed: int) -> tuple[str, list[Array]]:
    """Return the kernel and arguments of a seed, deterministically."""
    rng = np.random.default_rng(seed)
    program = PlainProgram(rng)
    for _ in range(2):
        program.input()
    for _ in range(int(rng.integers(3, 9))):
        program.step((*INNER, PlainProgram.looped))
    text = program.text(int(rng.choice([1, 2, 3, 4, 8])))
    return text, program.arguments()
