"""`tileas-slicing`: which iterations slices have, and in which order, at every edge of a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from tests.support.ir import parse
from tests.support.simulating import kernel
from tests.transforms.slicing.sliced import sliced
from tileas_xdsl.compiler import compile as compile_kernel
from tileas_xdsl.interpreters.tile.launch import simulate

FOLDED = """
  %factor = arith.constant 31 : i32
  %m = arith.muli %s, %factor : i32
  %s1 = arith.addi %m, %c : i32
  %once = arith.constant 1 : i32
  %t1 = arith.addi %t, %once : i32
"""
"""What depends on every counter `%c` and on their order, and how many there were."""

FOR = """
  %r0, %r1 = scf.for %i = %first to END step STEP iter_args(%s = %seed, %t = %nothing)
    -> (i32, i32) : TYPE {
    CAST FOLDED
    scf.yield %s1, %t1 : i32, i32
  } {sliceCount = COUNT : i32}
"""
WHILE = """
  %e, %r0, %r1 = scf.while (%t = %nothing, %i = %first, %s = %seed)
    : (i32, TYPE, i32) -> (TYPE, i32, i32) {
    %more = arith.cmpi slt, %i, END : TYPE
    scf.condition(%more) %i, %s, %t : TYPE, i32, i32
  } do {
  ^bb0(%i: TYPE, %s: i32, %t: i32):
    CAST FOLDED
    %i1 = arith.addi %i, STEP : TYPE
    scf.yield %t1, %i1, %s1 : i32, TYPE, i32
  } attributes {sliceCount = COUNT : i32}
"""
TURNED = """
  %r0, %e, %r1 = scf.while (%i = %first, %s = %seed, %t = %nothing)
    : (TYPE, i32, i32) -> (i32, TYPE, i32) {
    %more = arith.cmpi sgt, END, %i : TYPE
    scf.condition(%more) %s, %i, %t : i32, TYPE, i32
  } do {
  ^bb0(%s: i32, %i: TYPE, %t: i32):
    CAST FOLDED
    %i1 = arith.addi STEP, %i : TYPE
    scf.yield %i1, %s1, %t1 : TYPE, i32, i32
  } attributes {sliceCount = COUNT : i32}
"""
COMPUTED = """
  %r0, %r1, %e = scf.while (%s = %seed, %i = %first, %t = %nothing)
    : (i32, TYPE, i32) -> (i32, i32, TYPE) {
    %more = arith.cmpi slt, %i, END : TYPE
    %s0 = arith.addi %s, %nothing : i32
    %t0 = arith.addi %t, %nothing : i32
    scf.condition(%more) %s0, %t0, %i : i32, i32, TYPE
  } do {
  ^bb0(%s: i32, %t: i32, %i: TYPE):
    CAST FOLDED
    %i1 = arith.addi %i, STEP : TYPE
    scf.yield %s1, %i1, %t1 : i32, TYPE, i32
  } attributes {sliceCount = COUNT : i32}
"""
"""What the loop carries is not what it hands out."""
CASTS = {
    "index": "%c = arith.index_cast %i : index to i32",
    "i32": "%c = arith.addi %i, %nothing : i32",
    "i8": "%c = arith.extsi %i : i8 to i32",
}
STORED = """
  %view = nv_tileas.view %out : memref<2xi32> -> !nv_tileas.tiled_view<1xi32, gmem>
  %t0 = tensor.splat %r0 : tensor<1xi32>
  %t1 = tensor.splat %r1 : tensor<1xi32>
  nv_tileas.tiled_store %t0, %view[%zero] {atom = #stg}
    : tensor<1xi32>, !nv_tileas.tiled_view<1xi32, gmem>
  nv_tileas.tiled_store %t1, %view[%one] {atom = #stg}
    : tensor<1xi32>, !nv_tileas.tiled_view<1xi32, gmem>
"""


@dataclass(frozen=True)
class Counting:
    """A loop that folds its counter into a number; a bound that is None is known when it runs."""

    type: str
    count: int
    first: int
    step: int | None
    end: int | None
    loop: str = FOR

    def text(self) -> str:
        lines = [
            f"%first = arith.constant {self.first} : {self.type}",
            "%seed = arith.constant 7 : i32\n%nothing = arith.constant 0 : i32",
            *(
                f"%{name} = arith.constant {number} : {self.type}"
                for name, number in (("end", self.end), ("step", self.step))
                if number is not None
            ),
            self.loop.replace("CAST", CASTS[self.type])
            .replace("FOLDED", FOLDED)
            .replace("COUNT", str(self.count))
            .replace("TYPE", self.type)
            .replace("END", "%n" if self.end is None else "%end")
            .replace("STEP", "%k" if self.step is None else "%step"),
            STORED,
        ]
        return kernel(f"%out: memref<2xi32>, %n: {self.type}, %k: {self.type}", "\n".join(lines))


def folded(numbers: Sequence[int]) -> list[int]:
    """What `FOLDED` makes of the counters."""
    total = 7
    for number in numbers:
        total = (total * 31 + number) % 2**32
    return [total - 2**32 if total >= 2**31 else total, len(numbers)]


def outcome(module: ModuleOp, end: int, step: int) -> list[int]:
    out = np.full(2, -99, np.int32)
    return [int(x) for x in simulate(module, [out, end, step]).arrays[0]]


@lru_cache(maxsize=4)
def both(counting: Counting) -> tuple[ModuleOp, ModuleOp]:
    """The program with the loop, and with its slices."""
    module = parse(counting.text())
    return module, sliced(module)


def check(counting: Counting, end: int, step: int) -> ModuleOp:
    """The loop and its slices have the same counters in the same order; the slices."""
    before, after = both(counting)
    expected = folded(range(counting.first, end, step))
    assert outcome(before, end, step) == expected
    assert outcome(after, end, step) == expected
    return after


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    "loop", [FOR, WHILE, TURNED, COMPUTED], ids=["for", "while", "turned", "computed"]
)
@pytest.mark.parametrize("type_", ["index", "i32", "i8"])
@pytest.mark.parametrize("count", [1, 3])
def test_ends_that_are_not_known(loop: str, type_: str, count: int) -> None:
    """Loops of no iteration, of fewer than slices, of as many, of more; ends below the first."""
    for step in (1, 3):
        counting = Counting(type_, count, -4, step, None, loop)
        for end in (-128, -5, -4, -3, -1, 7, 11, 31):
            check(counting, end, step)


@pytest.mark.parametrize("type_", ["index", "i32", "i8"])
def test_steps_that_are_not_known(type_: str) -> None:
    counting = Counting(type_, 3, -7, None, None)
    for step in (1, 2, 5, 100):
        for end in (-100, -7, -6, 0, 1, 2, 3, 20, 50):
            check(counting, end, step)


@pytest.mark.sample(6)
@pytest.mark.parametrize("count", [2, 3, 4, 127, 200, 255])
@pytest.mark.parametrize("known_end", [True, False])
def test_a_range_as_long_as_the_counter_is_wide(count: int, known_end: bool) -> None:
    """The distance from -128 to 127 is no signed number of eight bits."""
    check(Counting("i8", count, -128, 1, 127 if known_end else None), 127, 1)


@pytest.mark.parametrize("step", [2, 7, 100, 127])
@pytest.mark.parametrize("count", [2, 5])
def test_no_slice_begins_behind_the_greatest_number(step: int, count: int) -> None:
    """A share may end where the counter of eight bits does not reach."""
    for first in (-128, -127, 1):
        for end in (121, 127):
            check(Counting("i8", count, first, None, None), end, step)


@pytest.mark.parametrize("type_", ["index", "i32"])
def test_computed_ranges_in_ptx(type_: str) -> None:
    _, after = both(Counting(type_, 3, -4, None, None))
    made = compile_kernel(after)
    for step in (1, 3):
        for end in (-100, -3, 5, 17):
            found = made.emulate(np.full(2, -99, np.int32), end, step, grid=(1, 1, 1))
            assert [int(x) for x in found.arrays[0]] == folded(range(-4, end, step))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([FOR, WHILE, TURNED, COMPUTED]),
    st.sampled_from(["index", "i32", "i8"]),
    st.integers(-40, 40),
    st.integers(1, 9),
    st.integers(1, 40),
    st.data(),
)
def test_known_ranges(
    loop: str, type_: str, first: int, step: int, trips: int, data: st.DataObject
) -> None:
    """As many loops as slices, and one more if something is left; all but the last are equal."""
    end = data.draw(st.integers(first + (trips - 1) * step + 1, first + trips * step))
    if type_ == "i8" and end + step > 127:
        end, trips = first + 1, 1
    count = data.draw(st.integers(1, trips))
    module = check(Counting(type_, count, first, step, end, loop), end, step)
    made = [op for op in module.walk() if isinstance(op, scf.ForOp | scf.WhileOp)]
    assert len(made) == count + (trips % count > 0)


@pytest.mark.parametrize("end", [125, None])
@pytest.mark.parametrize("count", [2, 3])
def test_an_scf_while_that_wraps_goes_on_in_its_last_slice(count: int, end: int | None) -> None:
    """Past the end it counts on from the least number, until it meets one that is no less."""
    counters = [100]
    while (following := (counters[-1] + 10 + 128) % 256 - 128) < 125:
        counters.append(following)
    assert len(counters) > 3
    before, after = both(Counting("i8", count, 100, 10, end, WHILE))
    assert outcome(before, 125, 10) == outcome(after, 125, 10) == folded(counters)
