"""Integers that are not negative, and their upper bounds."""

from __future__ import annotations

import pytest
from support.ir import parse
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.values.integer_bounds import is_never_negative, upper_bound

CASES = {
    "all of a byte": ("%found = arith.extui %byte : i8 to i32", 255),
    "high bits": ("%w = arith.extui %byte : i8 to i32\n%found = arith.shrsi %w, %four : i32", 15),
    "high bits of any word": ("%found = arith.shrui %word, %c28 : i32", 15),
    "a sign that is shifted in": ("%found = arith.shrsi %word, %c28 : i32", None),
    "low bits of any word": ("%found = arith.andi %word, %four : i32", 4),
    "either": ("%found = arith.select %flag, %four, %c28 : i32", 28),
    "a sum": ("%found = arith.addi %four, %c28 : i32", 32),
    "a sum that may be negative": ("%found = arith.addi %four, %word : i32", None),
    "a product that wraps": (
        "%w = arith.extui %half : i16 to i32\n%found = arith.muli %w, %w : i32",
        None,
    ),
    "an unsigned remainder": ("%found = arith.remui %word, %c28 : i32", 27),
    "a signed remainder": ("%found = arith.remsi %word, %c28 : i32", None),
    "a signed byte": ("%found = arith.extsi %byte : i8 to i32", None),
    "a promise": ("%found = nv_tileaa.assume %word, #nv_tileaa.bounded<0, 40> : i32", 40),
    "a promise that allows negative ones": (
        "%found = nv_tileaa.assume %word, #nv_tileaa.bounded<?, 40> : i32",
        None,
    ),
    "a coordinate": (
        """%found = nv_tileas.generate : tensor<4x8xi32> {
  ^bb0(%i: index, %j: index):
    %r = arith.index_cast %j : index to i32
    nv_tileas.yield %r : i32
  }""",
        7,
    ),
}


LOOP = """scf.for %i = {} to %word step %four : i32 {{
    %found = arith.floordivsi %i, %four : i32
  }}"""

NEVER_NEGATIVE = {
    "%found = nv_tileaa.get_program_id {axis = 0 : i32}": True,
    "%found = nv_tileaa.assume %word, #nv_tileaa.bounded<0, ?> : i32": True,
    "%found = nv_tileaa.assume %word, #nv_tileaa.bounded<-1, ?> : i32": False,
    "%found = arith.floordivsi %four, %c28 : i32": True,
    "%found = arith.floordivsi %word, %c28 : i32": False,
    "%found = arith.remsi %extent, %word : i32": True,
    "%found = arith.minsi %extent, %word : i32": False,
    "%found = arith.subi %extent, %four : i32": False,
    "%found = arith.addi %extent, %four : i32": False,  # it may wrap
    "%w = arith.index_cast %extent : i32 to index\n%found = arith.muli %w, %w : index": True,
    "%w = arith.index_cast %word : i32 to index\n%found = arith.muli %w, %w : index": False,
    LOOP.format("%four"): True,
    LOOP.format("%word"): False,
    "%found = arith.maxsi %four, %word : i32": True,
    "%found = arith.maxsi %word, %word : i32": False,
}


@pytest.mark.parametrize(("code", "never"), NEVER_NEGATIVE.items())
def test_what_is_never_negative(code: str, never: bool) -> None:
    assert is_never_negative(_found(code)) is never


@pytest.mark.parametrize(("code", "bound"), CASES.values(), ids=CASES)
def test_bounds(code: str, bound: int | None) -> None:
    assert upper_bound(_found(code)) == bound


def _found(code: str) -> SSAValue:
    module = parse(f"""
func.func @f(%byte : i8, %half : i16, %word : i32, %flag : i1) {{
  %four = arith.constant 4 : i32
  %c28 = arith.constant 28 : i32
  %extent = nv_tileaa.assume %word, #nv_tileaa.bounded<0, ?> : i32
  {code}
  func.return
}}""")
    (found,) = (r for op in module.walk() for r in op.results if r.name_hint == "found")
    return found
