"""`tileas-canonicalize` never changes what a program shows: random programs, run before and after.

The runner below knows just enough: tiles are numpy arrays, elements of a new tile are unset (NaN),
and `test.op` shows its operands.  An element that was set must be shown as before; only one that
never was set may differ.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from support.ir import parse
from support.seeds import seeds
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slice_checks import Slice
from tileas_xdsl.dialects.nv_tileas.shapes.slices import (
    AllocTensorOp,
    ExtractSliceOp,
    InsertSliceOp,
    part_of,
)
from tileas_xdsl.transforms.tileas_canonicalize import TileasCanonicalize

Shown = list[tuple[Any, ...]]


@dataclass
class Runner:
    """Runs the operations of a block; `shown` is what `test.op` saw."""

    values: dict[SSAValue, Any] = field(default_factory=dict)
    shown: Shown = field(default_factory=list)

    def run(self, block: Block) -> list[Any]:
        """Run a block; the values that its terminator gives."""
        for op in block.ops:
            if isinstance(op, scf.YieldOp):
                return [self.values[v] for v in op.operands]
            results = self.step(op)
            self.values.update(zip(op.results, results, strict=True))
        return []

    def step(self, op: Operation) -> list[Any]:
        operands = [self.values.get(v) for v in op.operands]
        match op:
            case arith.ConstantOp():
                assert isinstance(op.value, IntegerAttr)
                return [op.value.value.data]
            case AllocTensorOp():
                return [np.full(op.result.type.get_shape(), np.nan)]
            case ExtractSliceOp():
                return [operands[0][self.where(part_of(op))].copy()]
            case InsertSliceOp():
                tile = operands[1].copy()
                tile[self.where(part_of(op))] = operands[0]
                return [tile]
            case ViewOp():
                return [operands[0]]
            case scf.IfOp():
                arm = op.true_region if operands[0] else op.false_region
                return self.run(arm.block) if arm.blocks else []
            case scf.ForOp():
                return self.loop(op)
            case _:
                return self.arithmetic(op, operands)

    def arithmetic(self, op: Operation, operands: list[Any]) -> list[Any]:
        functions = {
            "arith.addi": lambda a, b: a + b,
            "arith.subi": lambda a, b: a - b,
            "arith.muli": lambda a, b: a * b,
            "arith.divsi": lambda a, b: int(a / b),
            "arith.remsi": lambda a, b: a - b * int(a / b),
            "arith.ceildivsi": lambda a, b: -(-a // b),
            "arith.maxsi": max,
        }
        if op.name in functions:
            return [functions[op.name](*operands)]
        assert op.name in ("test.op", "func.return"), op.name
        self.shown.append(tuple(np.array(value, dtype=float) for value in operands))
        return []

    def loop(self, op: scf.ForOp) -> list[Any]:
        first, end, step = (self.values[v] for v in (op.lb, op.ub, op.step))
        carried = [self.values[v] for v in op.iter_args]
        for i in range(first, end, step):
            block = op.body.block
            self.values.update(zip(block.args, [i, *carried], strict=True))
            carried = self.run(block)
        return carried

    def where(self, part: Slice) -> tuple[slice, ...]:
        numbers = [
            [n if isinstance(n, int) else self.values[n] for n in extents]
            for extents in (part.offsets, part.sizes, part.strides)
        ]
        return tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(*numbers, strict=True))


def run(module: ModuleOp, arguments: list[Any]) -> Shown:
    """What the one function of a module shows for these arguments."""
    block = next(iter(module.ops)).regions[0].block
    runner = Runner(dict(zip(block.args, arguments, strict=True)))
    runner.run(block)
    return runner.shown


def assert_shows_the_same(before: Shown, after: Shown) -> None:
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert len(old) == len(new)
        for x, y in zip(old, new, strict=True):
            assert x.shape == y.shape
            is_set = ~np.isnan(x)
            np.testing.assert_array_equal(x[is_set], y[is_set])


@dataclass
class Writer:
    """Writes a random program of slices, loops and branches on tiles of 8x4."""

    random: random.Random
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def program(self) -> str:
        body = "\n".join(self.ops(["%t", "%u"], ["%i", "%c1", "%c2"], depth=0))
        return f"""
        func.func @f(%p: i1, %q: i1, %i: index, %n: index, %t: {tile(8)}, %u: {tile(8)}) {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c2 = arith.constant 2 : index
          %c3 = arith.constant 3 : index
          %c8 = arith.constant 8 : index
          {body}
          func.return
        }}"""

    def ops(self, tiles: list[str], offsets: list[str], depth: int) -> Iterator[str]:
        tiles = list(tiles)
        for _ in range(self.random.randint(2, 5)):
            kinds = [self.alloc, self.insert, self.insert, self.show, self.view]
            if depth < 2:
                kinds += [self.branch, self.loop, self.nest]
            yield from self.random.choice(kinds)(tiles, offsets, depth)

    def alloc(self, tiles: list[str], offsets: list[str], depth: int) -> Iterator[str]:
        name = self.name()
        tiles.append(name)
        yield f"{name} = nv_tileas.alloc_tensor : {tile(8)}"

    def view(self, tiles: list[str], offsets: list[str], depth: int) -> Iterator[str]:
        name = self.name()
        yield f"{name} = nv_tileas.view {self.random.choice(tiles)} : {tile(8)}"
        tiles.append(name)

    def part(self, offsets: list[str], rows: int) -> str:
        known = [str(offset) for offset in (0, 2, 4, 1) if offset + rows <= 8]
        offset = self.random.choice(known * 2 + (offsets if rows == 4 else []))
        return f"[{offset}, 0][{rows}, 4][1, 1]"

    def insert(self, tiles: list[str], offsets: list[str], depth: int) -> Iterator[str]:
        rows, piece, name = self.random.choice([2, 4, 8]), self.name(), self.name()
        source = self.random.choice(["%t", "%u", self.random.choice(tiles)])
        target = self.random.choice([tiles[-1], tiles[-1], self.random.choice(tiles)])
        yield f"{piece} = {extract(source, self.part(offsets, rows), rows)}"
        yield (
            f"{name} = nv_tileas.insert_slice {piece} into {target}{self.part(offsets, rows)}"
            f" : {tile(rows)} into {tile(8)}"
        )
        tiles.append(name)

    def show(self, tiles: list[str], offsets: list[str], depth: int) -> Iterator[str]:
        rows, name = self.random.choice([2, 4, 8]), self.name()
        source = self.random.choice([tiles[-1], self.random.choice(tiles)])
        yield f"{name} = {extract(source, self.part(offsets, rows), rows)}"
        yield f'"test.op"({name}) : ({tile(rows)}) -> ()'

    def branch(self, tiles: list[str], offsets: list[str], depth: int) -> Iterator[str]:
        name = self.name()
        yield f"{name} = scf.if {self.random.choice(['%p', '%q'])} -> ({tile(8)}) {{"
        for end in ("} else {", "}"):
            inside = list(tiles)
            yield from self.ops_into(inside, offsets, depth)
            yield f"scf.yield {self.random.choice(inside[-2:])} : {tile(8)}"
            yield end
        tiles.append(name)

    def ops_into(self, tiles: list[str], offsets: list[str], depth: int) -> Iterator[str]:
        for _ in range(self.random.randint(1, 5)):
            kind = self.random.choice([self.alloc, *[self.insert] * 5, *[self.show] * 4])
            yield from kind(tiles, offsets, depth)

    def loop(self, tiles: list[str], offsets: list[str], depth: int) -> Iterator[str]:
        start = self.name()
        begun = [start]
        yield f"{start} = nv_tileas.alloc_tensor : {tile(8)}"
        while self.random.random() < 0.5:
            yield from self.insert(begun, [], depth)
        name, counter, carried = self.name(), self.name(), self.name()
        yield (
            f"{name} = scf.for {counter} = %c0 to %c3 step %c1 iter_args({carried} = {begun[-1]})"
            f" -> ({tile(8)}) {{"
        )
        inside = [*tiles, carried] if self.random.random() < 0.5 else [carried]
        yield from self.ops_into(inside, [*offsets, counter], depth)
        yield f"scf.yield {inside[-1]} : {tile(8)}"
        yield "}"
        if self.random.random() < 0.3:
            tiles.append(name)

    def nest(self, tiles: list[str], offsets: list[str], depth: int) -> Iterator[str]:
        i, j = self.name(), self.name()
        end = self.random.choice(["%n", "%c3", "%c8"])
        yield f"scf.for {i} = {self.random.choice(['%c0', '%c2'])} to {end} step %c2 {{"
        yield f"scf.for {j} = %c1 to {self.random.choice(['%c3', '%c8'])} step %c3 {{"
        yield f'"test.op"({i}, {j}) : (index, index) -> ()'
        yield "}"
        yield "}"


def tile(rows: int) -> str:
    return f"tensor<{rows}x4xf64>"


def extract(source: str, part: str, rows: int) -> str:
    return f"nv_tileas.extract_slice {source}{part} : {tile(8)} -> {tile(rows)}"


@pytest.mark.parametrize("block", seeds(2, 8))
def test_random_programs_show_the_same(block: int) -> None:
    for seed in range(40 * block, 40 * block + 40):
        text = Writer(random.Random(seed)).program()
        before, after = parse(text), parse(text)
        TileasCanonicalize().apply(Context(), after)
        verify_module(after)
        generator = np.random.default_rng(seed)
        for p, q, i, n in ((0, 1, 0, 5), (1, 0, 3, 0), (1, 1, 4, 6)):
            arguments = [p, q, i, n, generator.random((8, 4)), generator.random((8, 4))]
            assert_shows_the_same(run(before, arguments), run(after, arguments))


def test_random_programs_are_rewritten() -> None:
    """Else the test above would show nothing: how often each kind of operation goes away."""
    gone: dict[str, int] = {}
    for seed in range(80):
        module = parse(Writer(random.Random(seed)).program())
        names = [op.name for op in module.walk()]
        TileasCanonicalize().apply(Context(), module)
        left = [op.name for op in module.walk()]
        for name in set(names):
            gone[name] = gone.get(name, 0) + names.count(name) - left.count(name)
    assert gone["scf.for"] > 10
    assert gone["nv_tileas.extract_slice"] > 10
