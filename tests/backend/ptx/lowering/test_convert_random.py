"""Random programs of integers and loops, run in the emulator and by numpy."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support.emulating import emulate
from support.thread_kernels import THREADS, compiled, kernel

Ints = NDArray[np.int32]
I32 = "!cute.ptr<i32, gmem>"

BINARY: dict[str, Callable[[Ints, Ints], Ints]] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxsi": np.maximum,
    "minsi": np.minimum,
}
COMPARISONS: dict[str, Callable[[Ints, Ints], NDArray[np.bool_]]] = {
    "slt": np.less,
    "eq": np.equal,
    "sge": np.greater_equal,
}


def _unsigned(values: Ints) -> NDArray[np.uint32]:
    return values.view(np.uint32)


def _divided(values: Ints, divisor: int) -> Ints:
    wide = values.astype(np.int64)
    return (np.sign(wide) * np.sign(divisor) * (abs(wide) // abs(divisor))).astype(np.int32)


class Program:
    """Text that is written while numpy computes what it means."""

    def __init__(self, seed: int, first: Ints) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.values: list[tuple[str, Ints]] = [("%x", first)]
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pick(self) -> tuple[str, Ints]:
        return self.rng.choice(self.values[-6:])

    def add(self, text: str, value: Ints) -> None:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        self.values.append((name, value.astype(np.int32)))

    def constant(self, number: int) -> str:
        name = self.name()
        self.lines.append(f"{name} = arith.constant {number} : i32")
        return name

    def binary(self) -> None:
        op, (a, x), (b, y) = self.rng.choice(list(BINARY)), self.pick(), self.pick()
        self.add(f"arith.{op} {a}, {b} : i32", BINARY[op](x, y))

    def with_constant(self) -> None:
        op, (a, x) = self.rng.choice(list(BINARY)), self.pick()
        number = self.rng.choice([0, 1, 3, 8, 64, -1, -16, self.rng.randrange(-(2**31), 2**31)])
        b = self.constant(number)
        self.add(f"arith.{op} {a}, {b} : i32", BINARY[op](x, np.full_like(x, number)))

    def division(self) -> None:
        (a, x), signed = self.pick(), self.rng.random() < 0.5
        number = self.rng.choice([1, 2, 3, 7, 16, 100, self.rng.randrange(1, 2**31)])
        b = self.constant(number)
        if signed:
            self.add(f"arith.divsi {a}, {b} : i32", _divided(x, number))
        else:
            self.add(f"arith.remui {a}, {b} : i32", (_unsigned(x) % np.uint32(number)).view("i4"))

    def choice(self) -> None:
        op, (a, x), (b, y) = self.rng.choice(list(COMPARISONS)), self.pick(), self.pick()
        condition = self.name()
        self.lines.append(f"{condition} = arith.cmpi {op}, {a}, {b} : i32")
        self.add(f"arith.select {condition}, {a}, {b} : i32", np.where(COMPARISONS[op](x, y), x, y))

    def branch(self) -> None:
        (a, x), (b, y) = self.pick(), self.pick()
        condition, result, then, other = (self.name() for _ in range(4))
        self.lines += [
            f"{condition} = arith.cmpi slt, {a}, {b} : i32",
            f"{result} = scf.if {condition} -> (i32) {{",
            f"  {then} = arith.divsi {a}, %c7 : i32",
            f"  scf.yield {then} : i32",
            "} else {",
            f"  {other} = arith.muli {b}, {a} : i32",
            f"  scf.yield {other} : i32",
            "}",
        ]
        value = np.where(x < y, _divided(x, 7), y * x).astype(np.int32)
        self.values.append((result, value))

    def loop(self) -> None:
        (a, x), (b, y), (c, z) = self.pick(), self.pick(), self.pick()
        trips, i, u, v, w, k = (self.name() for _ in range(6))
        one, two = self.name(), self.name()
        self.lines += [
            f"{trips} = arith.andi {a}, %c7 : i32",
            f"{one}, {two} = scf.for {i} = %c0 to {trips} step %c1 "
            f"iter_args({u} = {b}, {v} = {c}) -> (i32, i32) : i32 {{",
            f"  {k} = arith.xori {a}, {b} : i32",
            f"  {w} = arith.addi {u}, {k} : i32",
            f"  scf.yield {v}, {w} : i32, i32",
            "}",
        ]
        first, second = y, z
        for step in range(7):
            goes_on = step < (x & 7)
            first, second = (
                np.where(goes_on, second, first),
                np.where(goes_on, first + (x ^ y), second),
            )
        self.values += [(one, first.astype(np.int32)), (two, second.astype(np.int32))]

    def grow(self, steps: int) -> None:
        kinds = [
            self.binary,
            self.with_constant,
            self.division,
            self.choice,
            self.branch,
            self.loop,
        ]
        for _ in range(steps):
            self.rng.choice(kinds)()


@pytest.mark.sample(13)
@pytest.mark.parametrize("seed", range(25))
def test_random_programs(seed: int) -> None:
    given = np.random.default_rng(seed).integers(-(2**31), 2**31, THREADS).astype(np.int32)
    given[:4] = [0, -1, 2**31 - 1, -(2**31)]
    program = Program(seed, given)
    with np.errstate(over="ignore"):
        program.grow(30)
    lines = [
        '%t = cute_nvgpu.arch.thread_idx "x"',
        *(f"%c{number} = arith.constant {number} : i32" for number in (0, 1, 7)),
        f"%x_at = cute.add_offset %p, %t : {I32}, i32 -> {I32}",
        f"%x = cute.ptr.load %x_at : {I32} -> i32",
        *program.lines,
    ]
    results = program.values[-4:]
    for index, (name, _) in enumerate(results):
        place = f"%o{index}"
        lines += [
            f"{place}_n = arith.constant {THREADS * index} : i32",
            f"{place}_t = arith.addi %t, {place}_n overflow<nsw> : i32",
            f"{place} = cute.add_offset %q, {place}_t : {I32}, i32 -> {I32}",
            f"cute.ptr.store {name}, {place} : i32, {I32}",
        ]
    text = compiled(kernel(f"%p: {I32}, %q: {I32}", lines))
    found = emulate(text, [given, np.zeros(4 * THREADS, np.int32)])[1]
    np.testing.assert_array_equal(found, np.concatenate([value for _, value in results]))
