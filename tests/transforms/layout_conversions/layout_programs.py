"""Random kernels that convert tiles between layouts, in branches, loops and buffers."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

LAYOUTS = {
    "!a": '#nv_tileas.blocked<"(4,8):(1@thread,1@value)">',
    "!b": '#nv_tileas.blocked<"(4,8):(1@value,1@thread)">',
    "!c": '#nv_tileas.linear<"(4,(2,4)):(1@thread,(4@thread,1@value))">',
    "!s": "#nv_tileas.shared<(4,8),(8,1)>",
    "!z": "#nv_tileas.shared<(4,8),(1,4)>",
    "!o": "#nv_tileas<space smem>",
}
REGISTERS = ("!a", "!b", "!c")
BUFFERS = ("!s", "!z", "!o")
HEADER = "\n".join(
    [
        *(f"{name} = tensor<4x8xi32, {encoding}>" for name, encoding in LAYOUTS.items()),
        "!tiles = !nv_tileas.tiled_view<4x8xi32, gmem>",
        "#any = #nv_tileas<atom unknown_copy>",
    ]
)


@dataclass
class Writer:
    """Writes statements, and knows which tiles of which types there are."""

    rng: random.Random
    lines: list[str] = field(default_factory=list[str])
    tiles: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def put(self, text: str) -> None:
        self.lines.append(text)

    def make(self, type_: str, text: str) -> str:
        name = self.name()
        self.put(f"{name} = {text}")
        self.tiles.append((name, type_))
        return name

    def convert(self, name: str, there: str, here: str) -> str:
        return self.make(here, f"nv_tileas.convert_layout {name} : {there} -> {here}")

    def any_as(self, type_: str) -> str:
        """A tile of this type: one that there is, or one that is converted."""
        same = [name for name, other in self.tiles if other == type_]
        if same and self.rng.random() < 0.6:
            return self.rng.choice(same)
        name, other = self.rng.choice(self.tiles)
        return self.convert(name, other, type_)

    def block(self, statements: int, depth: int) -> None:
        for _ in range(statements):
            self.rng.choice(
                (
                    self.compute,
                    self.compute,
                    self.compute,
                    self.change,
                    self.change,
                    self.load,
                    self.constant,
                    self.store,
                    self.buffer,
                    lambda: self.branch(depth),
                    lambda: self.loop(depth),
                    lambda: self.pragma(depth),
                )
            )()

    def compute(self) -> None:
        type_ = self.rng.choice(REGISTERS)
        one, other = self.any_as(type_), self.any_as(type_)
        op = self.rng.choice(("addi", "muli", "subi", "xori"))
        self.make(type_, f"arith.{op} {one}, {other} : {type_}")

    def change(self) -> None:
        name, type_ = self.rng.choice(self.tiles)
        self.convert(name, type_, self.rng.choice(tuple(LAYOUTS)))

    def load(self) -> None:
        type_ = self.rng.choice(tuple(LAYOUTS))
        place = self.rng.choice(("%zero", "%one"))
        self.make(
            type_,
            f"nv_tileas.tiled_load %tiles[{place}, %zero] {{atom = #any}} : !tiles -> {type_}",
        )

    def constant(self) -> None:
        type_ = self.rng.choice((*REGISTERS, "!s"))
        self.make(type_, f"arith.constant dense<{self.rng.randint(-9, 9)}> : {type_}")

    def store(self) -> None:
        """Add a tile to what is in the other argument."""
        type_ = self.rng.choice(REGISTERS)
        name, before, after = self.any_as(type_), self.name(), self.name()
        place = "nv_tileas.tiled_{}[%zero, %zero] {{atom = #any}} : "
        self.put(
            f"{before} = {place.format('load %out')} memref<4x8xi32> -> {type_}\n"
            f"{after} = arith.addi {before}, {name} : {type_}\n"
            f"{place.format(f'store {after}, %out')} {type_}, memref<4x8xi32>"
        )

    def buffer(self) -> None:
        """A buffer is written, read, and written again."""
        type_, buffer = self.rng.choice((*BUFFERS, "!a")), self.name()
        self.put(f"{buffer} = nv_tileas.alloc_tensor : {type_}")
        for _ in range(2):
            source = self.any_as(self.rng.choice(BUFFERS if type_ == "!a" else REGISTERS))
            there = next(other for name, other in self.tiles if name == source)
            self.put(f"nv_tileas.copy {source}, {buffer} {{atom = #any}} : {there}, {type_}")
            here = self.rng.choice((*LAYOUTS, type_))
            self.convert(buffer, type_, here)

    def branch(self, depth: int) -> None:
        if not depth:
            return
        type_, result = self.rng.choice(REGISTERS), self.name()
        self.put(f"{result} = scf.if %flag -> ({type_}) {{")
        self.arm(type_, depth, "scf.yield")
        self.put("} else {")
        self.arm(type_, depth, "scf.yield")
        self.put("}")
        self.tiles.append((result, type_))

    def pragma(self, depth: int) -> None:
        if not depth:
            return
        type_, result = self.rng.choice(REGISTERS), self.name()
        self.put(f'{result} = nv_tileas.pragma {{ocgEnterDirectives = "x"}} -> {type_} {{')
        self.arm(type_, depth, "nv_tileas.yield")
        self.put("}")
        self.tiles.append((result, type_))

    def loop(self, depth: int) -> None:
        if not depth:
            return
        self.rng.choice((self.for_loop, self.while_loop))(depth)

    def for_loop(self, depth: int) -> None:
        one, other = self.rng.choice(REGISTERS), self.rng.choice(REGISTERS)
        first, second = self.any_as(one), self.any_as(other)
        result, x, y, index = (self.name() for _ in range(4))
        self.put(
            f"{result}, {result}_1 = scf.for {index} = %zero to %three step %one "
            f"iter_args({x} = {first}, {y} = {second}) -> ({one}, {other}) {{"
        )
        before = list(self.tiles)
        self.tiles += [(x, one), (y, other)]
        self.block(self.rng.randint(1, 4), depth - 1)
        back = self.any_as(one), self.any_as(other)
        self.put(f"scf.yield {back[0]}, {back[1]} : {one}, {other}\n}}")
        self.tiles = [*before, (result, one), (f"{result}_1", other)]

    def while_loop(self, depth: int) -> None:
        one, other = self.rng.choice(REGISTERS), self.rng.choice(REGISTERS)
        first = self.any_as(one)
        result, x, y, i, j, k, p = (self.name() for _ in range(7))
        self.put(
            f"{result}_n, {result} = scf.while ({i} = %zero, {x} = {first}) : "
            f"(index, {one}) -> (index, {other}) {{\n{p} = arith.cmpi slt, {i}, %three : index"
        )
        before = list(self.tiles)
        self.tiles.append((x, one))
        self.block(self.rng.randint(0, 2), 0)
        passed = self.any_as(other)
        self.put(f"scf.condition({p}) {i}, {passed} : index, {other}\n}} do {{")
        self.put(f"^bb0({j}: index, {y}: {other}):\n{k} = arith.addi {j}, %one : index")
        self.tiles = [*before, (y, other)]
        self.block(self.rng.randint(0, 3), depth - 1)
        self.put(f"scf.yield {k}, {self.any_as(one)} : index, {one}\n}}")
        self.tiles = [*before, (result, other)]

    def arm(self, type_: str, depth: int, end: str) -> None:
        before = list(self.tiles)
        self.block(self.rng.randint(0, 3), depth - 1)
        self.put(f"{end} {self.any_as(type_)} : {type_}")
        self.tiles = before


def random_program(seed: int) -> str:
    """A kernel of an 8x8 array, which is read, a 4x8 array, which is added to, and a flag."""
    writer = Writer(random.Random(seed))
    writer.load()
    writer.block(writer.rng.randint(3, 9), 2)
    for _ in range(3):
        writer.store()
    body = "\n".join(writer.lines)
    numbers = "\n".join(
        f"%{name} = arith.constant {k} : index" for k, name in enumerate(("zero", "one"))
    )
    return (
        f"{HEADER}\nfunc.func @k(%in: memref<8x8xi32>, %out: memref<4x8xi32>, %flag: i1) {{\n"
        f"{numbers}\n%three = arith.constant 3 : index\n"
        f"%tiles = nv_tileas.view %in[%zero, %zero] : memref<8x8xi32> -> !tiles\n"
        f"{body}\nfunc.return\n}}\n"
    )
