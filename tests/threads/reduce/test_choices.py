"""Whether the order of rows matters to the body of a reduction that chooses one of two."""

from __future__ import annotations

import pytest

from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.installed import registered_context
from tileas_xdsl.threads.reduce.ordered_select import is_free_of_order

LARGEST = """%p = arith.cmpf ogt, %c, %a : f32
    %q = arith.cmpf {equal}, %c, %a : f32
    %l = arith.cmpi {less}, %d, %b : i32
    %t = arith.andi %q, %l : i1
    %u = arith.ori %p, %t : i1
    %x = arith.select %u, %c, %a : f32
    %y = arith.select %u, %d, %b : i32"""


BODIES = {
    "the place of the largest": (LARGEST.format(equal="oeq", less="slt"), False),
    "read without a sign": (LARGEST.format(equal="oeq", less="ult"), False),
    "the last of equal ones": (LARGEST.format(equal="oeq", less="sgt"), False),
    "the first that comes": (
        "%u = arith.cmpf ogt, %c, %a : f32\n    %x = arith.select %u, %c, %a : f32\n"
        "    %y = arith.select %u, %d, %b : i32",
        False,
    ),
    "something computed": (
        "%x = arith.addf %a, %c : f32\n    %y = arith.addi %b, %d : i32",
        False,
    ),
    "places compared with themselves": (
        "%u = arith.cmpi slt, %d, %b : i32\n    %x = arith.select %u, %c, %a : f32\n"
        "    %y = arith.select %u, %d, %b : i32",
        True,
    ),
}
"""By name: the body, which makes `%x` and `%y`, and whether it is free of order."""

WITH_NONE = LARGEST.format(equal="oeq", less="slt").replace(
    "%u = arith.ori %p, %t : i1",
    """%g = arith.ori %p, %t : i1
    %none = arith.cmpf uno, %a, %a : f32
    %other = arith.cmpf uno, %c, %c : f32
    %both = arith.andi %none, %other : i1
    %tie = arith.andi %both, %l : i1
    %one = arith.cmpf ord, %c, %c : f32
    %w = arith.andi %none, %one : i1
    %h = arith.ori %g, %w : i1
    %u = arith.ori %h, %tie : i1""",
)


def reduction(body: str, result: str) -> ReduceOp:
    text = f"""func.func @f(%s: tensor<4x8xf32>, %i: tensor<4x8xi32>) -> tensor<4x{result}> {{
  %v, %w = nv_tileas.reduce %s, %i {{axis = 1 : i32}} : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<4xf32>, tensor<4xi32> {{
  ^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
    {body}
    nv_tileas.yield %x, %y : f32, i32
  }}
  func.return %{"v" if result == "f32" else "w"} : tensor<4x{result}>
}}"""  # noqa: E501
    module = parse_module(registered_context(), text)
    (found,) = [op for op in module.walk() if isinstance(op, ReduceOp)]
    return found


@pytest.mark.parametrize("name", BODIES)
def test_bodies_that_do_not_say_what_comes_of_nan_are_not_free(name: str) -> None:
    body, free = BODIES[name]
    assert is_free_of_order(reduction(body, "i32")) is free


def test_the_place_of_the_largest_is_free_where_numbers_win() -> None:
    assert is_free_of_order(reduction(WITH_NONE, "i32"))


def test_zeros_of_both_signs_are_not_the_same_result() -> None:
    assert not is_free_of_order(reduction(WITH_NONE, "f32"))


def test_places_of_extremes_are_found_without_shared_memory() -> None:
    kernels = pytest.importorskip("kernels.cutile.reductions")
    (problem,) = [p for p in kernels.PROBLEMS if p.name == "argmax 13x100 along 1 f32"]
    ptx = compile(problem.kernel, *problem.arguments()).ptx
    assert "shfl.sync.bfly" in ptx
    assert "st.shared" not in ptx
