"""Random kernels that choose, carry, write and read parts of one buffer in shared memory."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.support.simulating import kernel

PLAIN = "tensor<4x8xi32, #nv_tileas<space smem>>"
PADDED = "tensor<4x8xi32, #nv_tileas.shared<(4,8),(16,1)>>"

_TYPES = {
    "m": "memref<16x8xi32>",
    "tile": "tensor<4x8xi32>",
    "whole": "tensor<16x8xi32>",
    "plain": PLAIN,
    "gaps": "tensor<2x4xi32, #nv_tileas<space smem>>",
    "some": "tensor<2x4xi32>",
}
_NUMBERS = ("%zero", "%one", "%two", "%three")


@dataclass
class _Writer:
    """Writes a program; what it knows of the buffers in scope are their names."""

    rng: random.Random
    writes_aliases: bool
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def put(self, line: str) -> None:
        self.lines.append(line)

    def view(self, type_: str, numbers: Sequence[str]) -> str:
        name = self.name()
        slot = self.rng.choice((numbers[-1], self.rng.choice(numbers)))
        where = f"[{slot}, %zero, %zero]"
        self.put(f"{name} = nv_tileas.view %ring{where} : !ring -> {type_}")
        return name

    def moved(self, buffer: str) -> str:
        """The same buffer once more, under another name."""
        name = self.name()
        self.put(f"{name} = nv_tileas.view {buffer} {{offset = 0}} : !part")
        return name

    def read(self, buffer: str) -> None:
        tile, old, tripled, new = (self.name() for _ in range(4))
        self.put(f"{tile} = nv_tileas.convert_layout {buffer} : !part -> !tile")
        self.put(f"{old} = nv_tileas.load %out[%zero, %zero] {{atom = #ldg}} : !m -> !tile")
        self.put(f"{tripled} = arith.muli {old}, %factor : !tile")
        self.put(f"{new} = arith.addi {tripled}, {tile} : !tile")
        self.put(f"nv_tileas.store {new}, %out[%zero, %zero] {{atom = #stg}} : !tile, !m")

    def write(self, buffers: Sequence[str], numbers: Sequence[str]) -> None:
        tile, new = self.name(), self.name()
        self.put(f"{tile} = nv_tileas.convert_layout {self.rng.choice(buffers)} : !part -> !tile")
        self.put(f"{new} = arith.addi {tile}, %factor : !tile")
        type_ = "!part" if self.writes_aliases else "!plain"
        to = self.rng.choice(buffers) if self.writes_aliases else self.view(type_, numbers)
        self.put(f"nv_tileas.copy {new}, {to} {{atom = #any}} : !tile, {type_}")

    def body(
        self, buffers: Sequence[str], conditions: Sequence[str], numbers: Sequence[str], depth: int
    ) -> list[str]:
        """Some operations; the buffers that may be named behind them."""
        known = list(buffers)
        for _ in range(self.rng.randint(1, 4)):
            if depth and self.rng.random() < 0.35:
                nest = self.rng.choice((self.loop, self.endless, self.branch))
                known += nest(known, conditions, numbers, depth)
            else:
                known += self.step(known, conditions, numbers)
        return known

    def step(
        self, known: Sequence[str], conditions: Sequence[str], numbers: Sequence[str]
    ) -> list[str]:
        """One operation, or a few; the new names for buffers."""
        match self.rng.randrange(6):
            case 0:
                return [self.view("!part", numbers)]
            case 1:
                self.read(self.rng.choice(known))
            case 2:
                self.write(known, numbers)
            case 3:
                return [self.select(known, conditions)]
            case 4 if self.writes_aliases:
                return [self.moved(self.rng.choice(known))]
            case 5 if self.writes_aliases:
                self.gaps(known, conditions)
            case _:
                pass
        return []

    def gaps(self, known: Sequence[str], conditions: Sequence[str]) -> None:
        """Read one of two slices of one buffer, or of two."""
        one, other, chosen, tile, old, tripled, new = (self.name() for _ in range(7))
        for name in (one, other):
            where = f"[{self.rng.choice(_NUMBERS[:3])}, 2][2, 4][1, 1]"
            buffer = self.rng.choice(known)
            self.put(f"{name} = nv_tileas.extract_slice {buffer}{where} : !part -> !gaps")
        self.put(f"{chosen} = arith.select {self.rng.choice(conditions)}, {one}, {other} : !gaps")
        self.put(f"{tile} = nv_tileas.convert_layout {chosen} : !gaps -> !some")
        self.put(f"{old} = nv_tileas.load %out[%eight, %zero] {{atom = #ldg}} : !m -> !some")
        self.put(f"{tripled} = arith.addi {old}, {old} : !some")
        self.put(f"{new} = arith.addi {tripled}, {tile} : !some")
        self.put(f"nv_tileas.store {new}, %out[%eight, %zero] {{atom = #stg}} : !some, !m")

    def select(self, known: Sequence[str], conditions: Sequence[str]) -> str:
        name = self.name()
        arms = ", ".join(self.rng.choice(known) for _ in range(2))
        self.put(f"{name} = arith.select {self.rng.choice(conditions)}, {arms} : !part")
        return name

    def loop(
        self, known: Sequence[str], conditions: Sequence[str], numbers: Sequence[str], depth: int
    ) -> list[str]:
        width = self.rng.randint(1, 3)
        results, arguments = ([self.name() for _ in range(width)] for _ in range(2))
        i, slot, odd, is_odd = (self.name() for _ in range(4))
        inits = ", ".join(f"{a} = {self.rng.choice(known)}" for a in arguments)
        types = ", ".join(["!part"] * width)
        trips = self.rng.choice(("%zero", "%one", "%three", "%four"))
        head = f"scf.for {i} = %zero to {trips} step %one iter_args({inits}) -> ({types})"
        self.put(f"{', '.join(results)} = {head} {{")
        self.put(f"{slot} = arith.remui {i}, %four : index")
        self.put(f"{odd} = arith.remui {i}, %two : index")
        self.put(f"{is_odd} = arith.cmpi eq, {odd}, %one : index")
        inside = self.body([*known, *arguments], [*conditions, is_odd], [*numbers, slot], depth - 1)
        yields = ", ".join(self.rng.choice([*inside, *arguments]) for _ in range(width))
        self.put(f"scf.yield {yields} : {types}\n}}")
        return results

    def endless(
        self, known: Sequence[str], conditions: Sequence[str], numbers: Sequence[str], depth: int
    ) -> list[str]:
        """A while that counts; it hands on its buffers in another order than it takes them."""
        result, other, count = self.name(), self.name(), self.name()
        a, b, i, c, d, j, more, next_ = (self.name() for _ in range(8))
        first, second = (self.rng.choice(known) for _ in range(2))
        types = "!part, !part, index"
        taken = f"{a} = {first}, {b} = {second}, {i} = %zero"
        self.put(f"{result}, {other}, {count} = scf.while ({taken}) : ({types}) -> ({types}) {{")
        if self.rng.random() < 0.5:
            self.read(a)
        self.put(f"{more} = arith.cmpi ult, {i}, {self.rng.choice(_NUMBERS)} : index")
        handed = self.rng.choice((f"{a}, {b}", f"{b}, {a}", f"{a}, {a}"))
        self.put(f"scf.condition({more}) {handed}, {i} : {types}\n}} do {{")
        self.put(f"^bb0({c}: !part, {d}: !part, {j}: index):")
        inside = self.body([*known, c, d], conditions, numbers, depth - 1)
        self.put(f"{next_} = arith.addi {j}, %one : index")
        yields = ", ".join(self.rng.choice([*inside, c, d]) for _ in range(2))
        self.put(f"scf.yield {yields}, {next_} : {types}\n}}")
        return [result, other]

    def branch(
        self, known: Sequence[str], conditions: Sequence[str], numbers: Sequence[str], depth: int
    ) -> list[str]:
        name = self.name()
        self.put(f"{name} = scf.if {self.rng.choice(conditions)} -> (!part) {{")
        inside = self.body(known, conditions, numbers, depth - 1)
        self.put(f"scf.yield {self.rng.choice(inside)} : !part\n}} else {{")
        inside = self.body(known, conditions, numbers, depth - 1)
        self.put(f"scf.yield {self.rng.choice(inside)} : !part\n}}")
        return [name]


def random_program(seed: int, *, padded: bool = False, depth: int = 3) -> str:
    """A kernel of arguments (%in: 16x8xi32, %out: 16x8xi32, %p: i1, %q: i1).

    With `padded`, aliases have another layout than their buffer, and are never written.
    """
    writer = _Writer(random.Random(seed), writes_aliases=not padded)
    first = [writer.view("!part", _NUMBERS) for _ in range(2)]
    known = writer.body(first, ["%p", "%q"], _NUMBERS, depth)
    for buffer in writer.rng.sample(known, min(3, len(known))):
        writer.read(buffer)
    ring = ", #nv_tileas.shared<(4,4,8),(32,8,1)>" if padded else ", #nv_tileas<space smem>"
    types = {
        **_TYPES,
        "ring": f"tensor<4x4x8xi32{ring}>",
        "part": PADDED if padded else PLAIN,
    }
    lines = "\n".join(writer.lines)
    begin = """
  %factor = arith.constant dense<3> : !tile
  %ring = nv_tileas.alloc_tensor : !ring
  %flat = nv_tileas.load %in[%zero, %zero] {atom = #ldg} : !m -> !whole
  %all = nv_tileas.view %ring : !ring -> tensor<16x8xi32, #nv_tileas<space smem>>
  nv_tileas.copy %flat, %all {atom = #any} : !whole, tensor<16x8xi32, #nv_tileas<space smem>>
"""
    return kernel("%in: !m, %out: !m, %p: i1, %q: i1", begin + lines, types=types)
