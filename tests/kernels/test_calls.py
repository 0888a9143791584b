"""How a kernel is called from Python: what fits its tiles fits its PTX, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from kernels import VectorAdd
from kernels.compiled import compiled
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.interpreters.ptx.errors import LaunchError

SIZE = 100
RNG = np.random.default_rng(0)
A, B, MANY = (RNG.standard_normal(n).astype(np.float32) for n in (SIZE, SIZE, 3 * SIZE))
C = np.full(SIZE, np.nan, np.float32)
TEXT = VectorAdd().text()
LOOP = TEXT.replace("%c: !vector)", "%c: !vector, %lo: index, %hi: index, %by: index)").replace(
    "  %sum = arith.addf %x, %y : !tile\n",
    "  %sum = scf.for %i = %lo to %hi step %by iter_args(%so_far = %x) -> (!tile) {\n"
    "    %more = arith.addf %so_far, %y : !tile\n    scf.yield %more : !tile\n  }\n",
)

levels = pytest.mark.parametrize("level", ["simulate", "emulate"])


def call(level: str, kernel: CompiledKernel, *args: Any, grid: Any = 2) -> Sequence[Any]:
    found = getattr(kernel, level)(*args, grid=grid)
    assert not getattr(found, "findings", ())
    return found.arrays


@levels
@pytest.mark.parametrize(
    "given",
    [
        lambda: (A, B, C),
        lambda: (A, A, C),
        lambda: (MANY[::3], B, C),
        lambda: (A[::-1], MANY[50:150], C),
        lambda: (MANY[:SIZE], MANY[50 : 50 + SIZE], MANY[2 * SIZE :]),
        lambda: (A[:0], B[:0], C[:0]),
    ],
    ids=["plain", "one array twice", "strides", "backwards", "overlapping views", "empty"],
)
def test_arrays_may_lie_anyhow(level: str, given: Callable[[], Sequence[Any]]) -> None:
    args = given()
    before = [array.copy() for array in args]
    found = call(level, compiled(VectorAdd()), *args)
    np.testing.assert_array_equal(found[2], before[0] + before[1])
    assert all(np.array_equal(*pair, equal_nan=True) for pair in zip(args, before, strict=True))


@levels
def test_an_array_given_twice_is_one_array(level: str) -> None:
    found = call(level, compiled(VectorAdd()), A, B, A)
    np.testing.assert_array_equal(found[0], A + B)
    np.testing.assert_array_equal(found[2], A + B)


@levels
@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((A, B), r"takes 3 arguments \(.*\), but got 2"),
        ((A.astype(">f4"), B, C), "an array of >f4, not float32"),
        ((A.astype(float), B, C), "an array of float64, not float32"),
        ((A, B.reshape(10, 10), C), r"argument 1 is for %b: .* an array of shape \(10, 10\)"),
        (([*A], B, C), "argument 0 is for %a: memref<.xf32>, but got a list"),
        ((A, B, None), "got a NoneType"),
        ((A, 1.0, C), "got a scalar"),
    ],
)
def test_arguments_of_other_types_are_refused(
    level: str, args: Sequence[Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        call(level, compiled(VectorAdd()), *args)


@levels
def test_sizes_that_the_type_says_are_kept(level: str) -> None:
    kernel = compile(TEXT.replace("memref<?xf32>", f"memref<{SIZE}xf32>"))
    np.testing.assert_array_equal(call(level, kernel, A, B, C)[2], A + B)
    for wrong in (A[:90], MANY):
        message = rf"memref<100xf32>, but got an array of shape \({len(wrong)},\)"
        with pytest.raises(ArgumentError, match=message):
            call(level, kernel, A, wrong, C)


@levels
@pytest.mark.parametrize("grid", [np.int64(2), (2,), [2, 1], np.array([2, 1, 1])])
def test_a_grid_is_one_to_three_whole_numbers(level: str, grid: Any) -> None:
    found = call(level, compiled(VectorAdd()), A, B, C, grid=grid)
    np.testing.assert_array_equal(found[2], A + B)


@levels
@pytest.mark.parametrize("grid", [2.0, "2", None, (1, 2.5), (), (1, 1, 1, 1), 0, -1, (2, 0)])
def test_other_grids_are_refused(level: str, grid: Any) -> None:
    with pytest.raises((ArgumentError, LaunchError), match=r"one to three"):
        call(level, compiled(VectorAdd()), A, B, C, grid=grid)


@levels
@pytest.mark.parametrize(
    ("low", "high", "step"),
    [(0, 0, 1), (5, 2, 1), (0, 1, 5), (0, 3, 1), (-4, -1, 2), (2**31 - 3, 2**31 - 1, 1)],
)
def test_loops_go_round_as_often_as_they_say(level: str, low: int, high: int, step: int) -> None:
    wanted = A
    for _ in range(low, high, step):
        wanted = wanted + B
    found = call(level, compile(LOOP), A, B, C, low, high, step)
    np.testing.assert_array_equal(found[2], wanted)


def test_a_run_that_never_ends_is_given_up() -> None:
    found = compile(LOOP).emulate(A, B, C, 0, 1, 0, grid=1, limit=2000)
    assert [one.message for one in found.findings] == ["the kernel runs past 2000 instructions"]
    assert not found.finished
