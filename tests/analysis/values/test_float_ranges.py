"""Ranges of floats hold for what is computed, and find what softmax needs."""

from __future__ import annotations

import math

import pytest

from tests.support.thread_kernels import parse
from tileas_xdsl.analysis.values.float_intervals import FloatRange
from tileas_xdsl.analysis.values.float_ranges import FloatRanges

SOFTMAX = """
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = nv_tileas.reduce %x {axis = 1 : i32} : tensor<4x8xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    nv_tileas.yield %c : f32
  }
  %ms = nv_tileas.generate : tensor<4x8xf32> {
  ^bb0(%i: index, %j: index):
    %c = tensor.extract %m[INDEX] : tensor<4xf32>
    nv_tileas.yield %c : f32
  }
  %d = arith.subf %x, %ms : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  func.return %e : tensor<4x8xf32>
}
"""


def _returned(text: str) -> FloatRange:
    """The range of what the last operation returns."""
    module = parse(text)
    (last,) = (op for op in module.walk() if op.name == "func.return")
    return FloatRanges().of(last.operands[0])


def test_powers_of_differences_from_the_largest_are_one_at_most() -> None:
    found = _returned(SOFTMAX.replace("INDEX", "%i"))
    assert (found.low, found.high) == (0.0, 1.0)


def test_the_largest_of_another_row_bounds_nothing() -> None:
    assert _returned(SOFTMAX.replace("INDEX", "%j")).high == math.inf


CARRIED = """
func.func @f(%n: index, %x: f32) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.constant 0.0 : f32
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %start) -> (f32) {
    %e = math.exp %x : f32
    %t = arith.OPERATION %s, %e : f32
    scf.yield %t : f32
  }
  func.return %sum : f32
}
"""


@pytest.mark.parametrize(("operation", "low"), [("addf", 0.0), ("subf", -math.inf)])
def test_sums_that_a_loop_carries(operation: str, low: float) -> None:
    assert _returned(CARRIED.replace("OPERATION", operation)).low == low


EXCHANGED = """
func.func @f(%n: index, %x: f32) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.constant 0.0 : f32
  %a, %b = scf.for %i = %zero to %n step %one iter_args(%s = %start, %t = %start) -> (f32, f32) {
    %e = math.exp %x : f32
    %u = arith.addf %s, %e : f32
    %v = arith.OPERATION %t, %e : f32
    scf.yield %v, %u : f32, f32
  }
  func.return %a : f32
}
"""


@pytest.mark.parametrize(("operation", "low"), [("addf", 0.0), ("subf", -math.inf)])
def test_carried_values_that_depend_on_each_other(operation: str, low: float) -> None:
    assert _returned(EXCHANGED.replace("OPERATION", operation)).low == low


@pytest.mark.parametrize(
    ("body", "low", "high"),
    [
        ("%r = arith.maxnumf %x, %two : f32", 2.0, math.inf),
        ("%a = math.exp %x : f32\n%t = arith.addf %a, %two : f32\n"
         "%r = arith.maxnumf %t, %x : f32", -math.inf, math.inf),
        ("%r = arith.mulf %x, %x : f32", 0.0, math.inf),
        ("%r = arith.addf %x, %two {nv_tileas.sat} : f32", 0.0, 1.0),
        ("%h = arith.truncf %two : f32 to bf16\n%s = arith.addf %h, %h : bf16\n"
         "%r = arith.extf %s : bf16 to f32", 0.0, math.inf),
        ("%t = tensor.splat %two : tensor<4xf32>\n%i = arith.constant 0 : index\n"
         "%r = tensor.extract %t[%i] : tensor<4xf32>", 2.0, 2.0),
        ("%t = math.tanh %x : f32\n%r = arith.addf %t, %two : f32",
         1 - 2.0**-21, 3 + 2.0**-20),
        ("%s = arith.mulf %x, %x : f32\n%t = arith.addf %s, %two : f32\n"
         "%r = math.rsqrt %t : f32", 0.0, math.inf),
        ("%s = math.sqrt %x : f32\n%r = math.rsqrt %s : f32", -math.inf, math.inf),
    ],
)  # fmt: skip
def test_rules(body: str, low: float, high: float) -> None:
    found = _returned(
        f"func.func @f(%x: f32) -> f32 {{\n%two = arith.constant 2.0 : f32\n{body}\n"
        "func.return %r : f32\n}"
    )
    assert low <= found.low <= low + 2.0**-20
    assert high - 2.0**-19 <= found.high <= high


@pytest.mark.parametrize(
    ("element", "largest"), [("f16", 65504.0), ("bf16", 3.3895313892515355e38)]
)
def test_finite_numbers_are_no_farther_than_their_source(element: str, largest: float) -> None:
    found = _returned(f"""
func.func @f(%x: vector<4x{element}>) -> vector<4xf32> {{
  %w = arith.extf %x : vector<4x{element}> to vector<4xf32>
  %a = math.absf %w : vector<4xf32>
  %p = arith.constant dense<0.25> : vector<4xf32>
  %one = arith.constant dense<1.0> : vector<4xf32>
  %m = arith.mulf %a, %p : vector<4xf32>
  %s = arith.addf %m, %one : vector<4xf32>
  func.return %s : vector<4xf32>
}}
""")
    assert found.high == math.inf
    assert largest / 4 < found.finite < largest / 4 * 1.001 + 2
