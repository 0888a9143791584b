"""Division by prepared divisors is division, on the host and on the emulator."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.transforms.cute_host import compiled, function
from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES

DIVIDES = """
      %p = cute.fast_divmod.create_divisor(%d) : (i32) -> !cute.fast_divmod_divisor<32>
      %m, %s1, %s2 = cute.fast_divmod.get_aux(%p)
        : (!cute.fast_divmod_divisor<32>) -> (i32, i8, i8)
      %same = cute.fast_divmod.get_divisor(%p) : (!cute.fast_divmod_divisor<32>) -> i32
      %again = cute.fast_divmod.make_divisor(%same, %m, %s1, %s2)
        : (i32, i32, i8, i8) -> !cute.fast_divmod_divisor<32>
      %q, %r = cute.fast_divmod.compute(%n, %again)
        : (i32, !cute.fast_divmod_divisor<32>) -> (i32, i32)
      %alone = cute.fast_divmod.divide(%n, %p) : (i32, !cute.fast_divmod_divisor<32>) -> i32
"""

LARGEST = 2**31 - 1


def numbers(first: int, more: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    some = [first, LARGEST, LARGEST - 1, *more, *rng.integers(first, LARGEST, 25).tolist()]
    return np.array([*some, *(rng.integers(first, 2000, 15).tolist())], np.int64)


DIVISORS = numbers(1, (2, 3, 7, 641, 2**16, 2**16 + 1, 2**30, 2**30 + 1), 11)
DIVIDENDS = numbers(0, (1, 2**16, 2**30 - 1), 12)


@pytest.mark.parametrize(
    ("result", "expected"),
    [("%q", np.floor_divide), ("%r", np.remainder), ("%alone", np.floor_divide)],
)
def test_on_the_host(result: str, expected: np.ufunc) -> None:
    code = compiled(
        f"""
    func.func @f(%n: i32, %d: i32) -> i32 {{{DIVIDES}
      func.return {result} : i32
    }}"""
    )
    run = function(code, "f", ctypes.c_int32, ctypes.c_int32)
    found = [[run(int(n), int(d)) for d in DIVISORS] for n in DIVIDENDS]
    np.testing.assert_array_equal(found, expected.outer(DIVIDENDS, DIVISORS))


KERNEL = f"""
!cell = !cute.ptr<i32, gmem>
func.func @divide(%divisors: !cell, %dividends: !cell, %out: !cell, %width: i32) attributes {{
    cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, tileas.smem_bytes = 0 : i32,
    tileas.parameters = ["ptr 0", "ptr 1", "ptr 2", "scalar 3"], tileas.tensor_maps = [],
    tileas.smem_map = ""}} {{
  %t = cute_nvgpu.arch.thread_idx "x"
  %b = cute_nvgpu.arch.block_idx "x"
  %inside = arith.cmpi ult, %t, %width : i32
  scf.if %inside {{
    %at_d = cute.add_offset %divisors, %t : !cell, i32 -> !cell
    %at_n = cute.add_offset %dividends, %b : !cell, i32 -> !cell
    %d = cute.ptr.load %at_d : !cell -> i32
    %n = cute.ptr.load %at_n : !cell -> i32
    {DIVIDES}
    %three = arith.constant 3 : i32
    %row = arith.muli %b, %width : i32
    %place = arith.addi %row, %t : i32
    %first = arith.muli %place, %three : i32
    %to = cute.add_offset %out, %first : !cell, i32 -> !cell
    cute.ptr.store %q, %to : i32, !cell
    cute.ptr.store %r, %to offset 1 : i32, !cell
    cute.ptr.store %alone, %to offset 2 : i32, !cell
  }}
  func.return
}}
"""


def test_on_the_emulator() -> None:
    made = compile(KERNEL, passes=PIPELINES["cute-to-ptx"].passes)
    width, height = len(DIVISORS), len(DIVIDENDS)
    found = made.emulate(
        DIVISORS.astype(np.int32),
        DIVIDENDS.astype(np.int32),
        np.full(width * height * 3, -1, np.int32),
        width,
        grid=height,
    )
    assert [str(finding) for finding in found.findings] == []
    quotient, remainder, alone = found.arrays[2].reshape(height, width, 3).transpose(2, 0, 1)
    np.testing.assert_array_equal(quotient, np.floor_divide.outer(DIVIDENDS, DIVISORS))
    np.testing.assert_array_equal(remainder, np.remainder.outer(DIVIDENDS, DIVISORS))
    np.testing.assert_array_equal(alone, quotient)
