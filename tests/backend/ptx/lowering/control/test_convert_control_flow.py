"""Loops, branches and what a warp does together, run in the emulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support.emulating import emulate
from support.thread_kernels import THREADS, compiled, kernel

I32 = "!cute.ptr<i32, gmem>"
LANES = np.arange(THREADS, dtype=np.int32)


def run(body: str, given: NDArray[np.int32], attributes: str = "") -> NDArray[np.int32]:
    """`body` computes `%r` from `%x`, an i32 of each of 32 threads, and `%n`, the last of them."""
    lines = [
        '%t = cute_nvgpu.arch.thread_idx "x"',
        "%c0 = arith.constant 0 : i32",
        "%c1 = arith.constant 1 : i32",
        "%c31 = arith.constant 31 : i32",
        f"%x_at = cute.add_offset %p, %t : {I32}, i32 -> {I32}",
        f"%n_at = cute.add_offset %p, %c31 : {I32}, i32 -> {I32}",
        f"%r_at = cute.add_offset %q, %t : {I32}, i32 -> {I32}",
        f"%x = cute.ptr.load %x_at : {I32} -> i32",
        f"%n = cute.ptr.load %n_at : {I32} -> i32",
        *body.strip().splitlines(),
        f"cute.ptr.store %r, %r_at : i32, {I32}",
    ]
    text = compiled(kernel(f"%p: {I32}, %q: {I32}", lines, attributes))
    arguments = [given, np.zeros(THREADS, np.int32)]
    result: NDArray[np.int32] = emulate(text, arguments, dynamic_shared=1024)[1]
    return result


def _fibonacci(x: NDArray[np.int32]) -> NDArray[np.int32]:
    a, b = np.zeros_like(x), np.ones_like(x)
    for step in range(int(x.max(initial=0))):
        a, b = np.where(step < x, b, a), np.where(step < x, a + b, b)
    return a


def _collatz(x: NDArray[np.int32]) -> NDArray[np.int32]:
    steps = np.zeros_like(x)
    while (going := x > 1).any():
        x = np.where(going, np.where(x % 2 == 1, 3 * x + 1, x // 2), x)
        steps += going
    return steps


DIVERGENT_LOOP = """
%r, %b = scf.for %i = %c0 to %x step %c1 iter_args(%u = %c0, %v = %c1) -> (i32, i32) : i32 {
  %s = arith.addi %u, %v : i32
  scf.yield %v, %s : i32, i32
}
"""

WHILE = """
%one, %r = scf.while (%u = %x, %s = %c0) : (i32, i32) -> (i32, i32) {
  %going = arith.cmpi sgt, %u, %c1 : i32
  scf.condition(%going) %u, %s : i32, i32
} do {
^bb0(%u: i32, %s: i32):
  %bit = arith.andi %u, %c1 : i32
  %odd = arith.cmpi eq, %bit, %c1 : i32
  %next = scf.if %odd -> (i32) {
    %c3 = arith.constant 3 : i32
    %a = arith.muli %u, %c3 : i32
    %b = arith.addi %a, %c1 : i32
    scf.yield %b : i32
  } else {
    %h = arith.shrui %u, %c1 : i32
    scf.yield %h : i32
  }
  %t2 = arith.addi %s, %c1 : i32
  scf.yield %next, %t2 : i32, i32
}
"""

NESTED = """
%c3 = arith.constant 3 : i32
%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%u = %x) -> (i32) : i32 {
  %w = scf.for %j = %i to %n step %c1 iter_args(%v = %u) -> (i32) : i32 {
    %k = arith.muli %j, %n : i32
    %o = arith.addi %v, %k : i32
    scf.yield %o : i32
  }
  scf.yield %w : i32
}
"""

SWITCH = """
%k = arith.index_cast %x : i32 to index
%r = scf.index_switch %k -> i32
case 2 {
  %a = arith.addi %x, %n : i32
  scf.yield %a : i32
}
case 5 {
  %b = arith.muli %x, %n : i32
  scf.yield %b : i32
}
default {
  scf.yield %c1 : i32
}
"""

SWAPPING = """
%r, %o = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %t) -> (i32, i32) : i32 {
  scf.yield %v, %u : i32, i32
}
"""

SHUFFLES = """
%a = cute_nvgpu.arch.shuffle "bfly" %x by 5 : i32 -> i32
%b = cute_nvgpu.arch.shuffle "up" %x by 3 : i32 -> i32
%c = cute_nvgpu.arch.shuffle "down" %x lane %c1 : i32 -> i32
%d = cute_nvgpu.arch.shuffle "idx" %x by 7 : i32 -> i32
%m = cute_nvgpu.arch.redux "max" %x
%s0 = arith.addi %a, %b : i32
%s1 = arith.subi %c, %d : i32
%s2 = arith.xori %s0, %s1 : i32
%r = arith.addi %s2, %m : i32
"""


def _shuffled(x: NDArray[np.int32]) -> NDArray[np.int32]:
    up = np.where(LANES >= 3, np.roll(x, 3), x)
    down = np.where(LANES < 31, np.roll(x, -1), x)
    result: NDArray[np.int32] = ((x[LANES ^ 5] + up) ^ (down - x[7])) + x.max()
    return result


VOTES = """
%l = arith.cmpi slt, %x, %n : i32
%s = arith.cmpi sle, %x, %n : i32
%any = cute_nvgpu.arch.vote "any" %l
%all = cute_nvgpu.arch.vote "all" %s
%a = arith.extui %any : i1 to i32
%b = arith.extui %all : i1 to i32
%d = arith.addi %b, %b : i32
%r = arith.addi %a, %d : i32
"""


def _voted(x: NDArray[np.int32]) -> NDArray[np.int32]:
    found = int((x < x[31]).any()) + 2 * int((x <= x[31]).all())
    return np.full(THREADS, found, np.int32)


SHARED = """
%s = cute_nvgpu.arch.get_dyn_smem 128 -> !cute.ptr<i32, smem>
%mine = cute.add_offset %s, %t : !cute.ptr<i32, smem>, i32 -> !cute.ptr<i32, smem>
cute.ptr.store %x, %mine : i32, !cute.ptr<i32, smem>
cute_nvgpu.arch.barrier id 0
%other = arith.subi %c31, %t : i32
%theirs = cute.add_offset %s, %other : !cute.ptr<i32, smem>, i32 -> !cute.ptr<i32, smem>
%c16 = arith.constant 16 : i32
%first = arith.cmpi ult, %t, %c16 : i32
%r = cute.ptr.load %theirs if %first : !cute.ptr<i32, smem> -> i32
"""

ROLES = """
%c16 = arith.constant 16 : i32
%lane = cute_nvgpu.arch.lane_idx
%warp = cute_nvgpu.arch.warp_idx
%e = cute_nvgpu.arch.elect_one
%u = cute_nvgpu.arch.make_warp_uniform %x : i32 -> i32
%s = arith.addi %lane, %warp : i32
%v = arith.addi %s, %u : i32
%r = scf.if %e -> (i32) {
  %w = arith.muli %v, %v : i32
  scf.yield %w : i32
} else {
  scf.yield %v : i32
}
"""

CASES: dict[str, tuple[str, Callable[[NDArray[np.int32]], NDArray[np.int32]]]] = {
    "threads leave a loop one by one": (DIVERGENT_LOOP, _fibonacci),
    "while": (WHILE, _collatz),
    "nested": (
        NESTED,
        lambda x: x + sum(sum(range(i, x[31])) for i in range(3)) * x[31],
    ),
    "switch": (
        SWITCH,
        lambda x: np.where(x == 2, x + x[31], np.where(x == 5, x * x[31], 1)).astype(np.int32),
    ),
    "carried values change places": (SWAPPING, lambda x: LANES if x[31] % 2 else x),
    "shuffles": (SHUFFLES, _shuffled),
    "votes": (VOTES, _voted),
    "shared memory": (SHARED, lambda x: np.where(LANES < 16, x[::-1], 0).astype(np.int32)),
    "roles": (ROLES, lambda x: np.where(LANES == 0, (LANES + x[0]) ** 2, LANES + x[0])),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("last", [0, 1, 6, 7])
def test_control_flow(case: str, last: int) -> None:
    body, expected = CASES[case]
    given = np.random.default_rng(last).integers(0, 9, THREADS).astype(np.int32)
    given[31] = last
    np.testing.assert_array_equal(
        run(body, given, ", tileas.smem_bytes = 1024 : i32"), expected(given)
    )


def test_loops_known_to_run_are_unrolled_by_nobody_and_right() -> None:
    body = """
    %c12 = arith.constant 12 : i32
    %c5 = arith.constant 5 : i32
    %r = scf.for %i = %c1 to %c12 step %c5 iter_args(%u = %x) -> (i32) : i32 {
      %s = arith.muli %u, %i : i32
      scf.yield %s : i32
    }
    """
    given = LANES - 7
    np.testing.assert_array_equal(run(body, given), given * 1 * 6 * 11)


def test_what_a_loop_does_not_change_stands_before_it() -> None:
    body = """
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x) -> (i32) : i32 {
      %k = arith.muli %n, %n : i32
      %s = arith.addi %u, %k : i32
      scf.yield %s : i32
    }
    """
    lines = ["%c0 = arith.constant 0 : i32", "%c1 = arith.constant 1 : i32"]
    text = compiled(kernel("%x: i32, %n: i32", [*lines, *body.strip().splitlines()]))
    before, _, loop = text.partition("$L1:")
    assert "mul.lo.s32" in before
    assert "mul.lo.s32" not in loop
