"""`row_divisor`: how far rows of offsets and of pointers are aligned."""

from __future__ import annotations

import pytest
from support.ir import parse

from tileas_xdsl.analysis.values.rows.divisors import MAX_DIVISOR, row_divisor

COLUMN = """%column = nv_tileas.generate : tensor<64xi32> {
  ^bb0(%i: index):
    %j = arith.index_cast %i : index to i32
    nv_tileas.yield %j : i32
  }"""
ROWS_OF_64 = """%found = nv_tileas.generate : tensor<4x64xi32> {
  ^bb0(%r: index, %i: index):
    %c64 = arith.constant 64 : index
    %o = arith.muli %r, %c64 : index
    %s = arith.addi %o, %i : index
    %j = arith.index_cast %s : index to i32
    nv_tileas.yield %j : i32
  }"""

CASES = {
    "a coordinate begins at 0": (
        "%found = arith.addi %column, %column : tensor<64xi32>",
        MAX_DIVISOR,
    ),
    "a known stride": ("%found = arith.muli %n8, %row : i32", 8),
    "a product of divisors": ("%found = arith.muli %n8, %c12 : i32", 32),
    "a sum takes the smaller": ("%found = arith.subi %n8, %c12 : i32", 4),
    "a remainder has the divisor of both": ("%found = arith.remsi %n8, %c12 : i32", 4),
    "either of two": (
        "%w = arith.cmpi slt, %row, %c12 : i32\n%found = arith.select %w, %n8, %c12 : i32",
        4,
    ),
    "the low zeros of a mask": ("%found = arith.andi %row, %c12 : i32", 4),
    "an exact quotient": (
        "%four = arith.constant 4 : i32\n%found = arith.floordivsi %n8, %four : i32",
        2,
    ),
    "a quotient that is not": ("%found = arith.divsi %n8, %c12 : i32", 1),
    "an unknown shift": (
        "%o = tensor.splat %row : tensor<64xi32>\n%found = arith.addi %o, %column : tensor<64xi32>",
        1,
    ),
    "rows of 64": (ROWS_OF_64, 64),
    "elements of a row along a column": (
        """%found = nv_tileas.expand_dims %column {axis = 1 : i32}
    : tensor<64xi32> -> tensor<64x1xi32>""",
        1,
    ),
    "bytes of an address": (
        """%o = tensor.splat %n8 : tensor<64xi32>
  %p = tensor.splat %base : tensor<64x!nv_tileaa.ptr<f32, 1>>
  %found = nv_tileaa.addptr %p, %o : tensor<64x!nv_tileaa.ptr<f32, 1>>, tensor<64xi32>""",
        16,
    ),
    "bytes of a single address": (
        "%found = nv_tileaa.addptr %base, %n8 : !nv_tileaa.ptr<f32, 1>, i32",
        16,
    ),
}


@pytest.mark.parametrize(("code", "divisor"), CASES.values(), ids=CASES)
def test_divisors_of_rows(code: str, divisor: int) -> None:
    module = parse(f"""
func.func @f(%pointer : !nv_tileaa.ptr<f32, 1>, %row : i32, %n : i32) {{
  %base = nv_tileaa.assume %pointer, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %n8 = nv_tileaa.assume %n, #nv_tileaa.div_by<8> : i32
  %c12 = arith.constant 12 : i32
  {COLUMN}
  {code}
  func.return
}}""")
    (found,) = (r for op in module.walk() for r in op.results if r.name_hint == "found")
    assert row_divisor(found) == divisor


def test_counters_of_loops_have_the_divisor_of_their_bounds() -> None:
    module = parse("""
func.func @f(%n : index) {
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  scf.for %i = %c96 to %n step %c32 {
    %found = arith.addi %i, %c96 : index
    scf.yield
  }
  func.return
}""")
    (found,) = (r for op in module.walk() for r in op.results if r.name_hint == "found")
    assert row_divisor(found) == 32
