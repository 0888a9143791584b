"""Recursive queries that ask each question once in a walk, and the analyses that do so."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from support.ir import parse
from xdsl.dialects import func, scf
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.values.bit_fields import Element, constant_of, span_of
from tileas_xdsl.analysis.values.cluster_values import is_same_in_cluster
from tileas_xdsl.analysis.values.integer_bounds import is_never_negative, upper_bound
from tileas_xdsl.analysis.values.launches.launch_steps import LaunchSteps
from tileas_xdsl.analysis.values.rows.divisors import row_divisor
from tileas_xdsl.analysis.values.rows.strides import row_step
from tileas_xdsl.dialects.memoized_walks import memoized_walk, one_walk
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.threads.codegen.known_integers import constant_value, interval_of
from tileas_xdsl.transforms.peel_masks.affine_elements import Affine, AffineElements

STEPS = 200
"""Asked once for each way, the last value of so many sums would take 2^200 calls."""


def test_each_question_is_answered_once_in_a_walk_and_again_in_the_next() -> None:
    """Values in between may have changed by then."""
    asked: list[int] = []

    @memoized_walk
    def ways(number: int) -> int:
        asked.append(number)
        return 1 if number == 0 else ways(number - 1) + ways(number - 1)

    assert [ways(3), ways(3)] == [8, 8]
    assert asked == [3, 2, 1, 0] * 2


def test_arguments_that_change_the_answer_are_told_apart() -> None:
    """As a depth does from which on nothing is known."""

    @memoized_walk
    def depth(number: int, at: int = 0) -> int:
        return at if number == 0 else max(depth(number - 1, at + 1), depth(number - 1, at=at + 2))

    assert depth(5) == 10


def test_a_walk_that_failed_keeps_nothing() -> None:
    """The next one begins anew."""
    fails = [True]

    @memoized_walk
    def halves(number: int) -> int:
        if number == 0 and fails.pop():
            raise ValueError("once")
        return number if number == 0 else halves(number // 2)

    with pytest.raises(ValueError, match="once"):
        halves(4)
    fails.append(False)
    assert halves(4) == 0


def test_an_analysis_asks_each_question_once_and_the_next_one_again() -> None:
    """One within another is part of it; answers are gone when the outer one fails."""
    asked: list[int] = []

    @memoized_walk
    def ways(number: int) -> int:
        asked.append(number)
        return 1 if number == 0 else 2 * ways(number - 1)

    def analysis() -> None:
        with one_walk():
            with one_walk():
                assert [ways(2), ways(2)] == [4, 4]
            assert ways(3) == 8
            raise ValueError("once")

    for _ in range(2):
        with pytest.raises(ValueError, match="once"):
            analysis()
    assert asked == [2, 1, 0, 3] * 2
    assert ways(0) == 1
    assert asked[-1] == 0


def _chain(first: str, type_: str, ops: Sequence[str]) -> SSAValue:
    """The last of many values, each of which has the one in front of it twice as an operand."""
    lines = [f"%v0 = {first}"]
    lines += [
        f"%v{step + 1} = {ops[step % len(ops)]} %v{step}, %v{step} : {type_}"
        for step in range(STEPS)
    ]
    text = "\n".join(lines)
    module = parse(f"func.func @f(%word: i32, %more: index) {{\n{text}\nfunc.return\n}}")
    (function,) = module.body.block.ops
    last = function.regions[0].block.last_op
    assert last is not None
    assert last.prev_op is not None
    return last.prev_op.results[0]


WORD, TILE = "arith.addi %word, %word : i32", "tensor.splat %word : tensor<4x8xi32>"
SUMS = ("arith.addi", "arith.muli")

QUERIES: dict[str, tuple[Callable[[SSAValue], object], object]] = {
    "constant_value": (constant_value, None),
    "interval_of": (interval_of, None),
    "upper_bound": (upper_bound, None),
    "is_never_negative": (is_never_negative, False),
    "is_same_in_cluster": (lambda value: is_same_in_cluster(value, (2, 1, 1)), True),
    "constant_of": (lambda value: constant_of(Element(value)), None),
}


@pytest.mark.parametrize("name", QUERIES)
def test_numbers_of_shared_operands_are_asked_about_once(name: str) -> None:
    """Or the test does not end."""
    query, expected = QUERIES[name]
    assert query(_chain(WORD, "i32", SUMS)) == expected


def test_bits_of_shared_operands_are_asked_about_once() -> None:
    """Of conjunctions, which have the bits of both."""
    assert span_of(Element(_chain(WORD, "i32", ["arith.andi"]))).signed


def test_rows_of_shared_operands_are_asked_about_once() -> None:
    """The steps and the divisors of sums and products of tiles."""
    tile = _chain(TILE, "tensor<4x8xi32>", SUMS)
    assert (row_step(tile), row_divisor(tile)) == (0, 1)


def test_elements_of_tiles_of_tiles_are_asked_about_once() -> None:
    """Where each tile reads two elements of the one in front of it."""
    depth = 60  # each tile takes some frames
    tiles = ["%t0 = tensor.splat %word : tensor<8xi32>"]
    for step in range(depth):
        tiles.append(
            f"""%t{step + 1} = nv_tileas.generate : tensor<8xi32> {{
              ^bb0(%i: index):
                %one = tensor.extract %t{step}[%i] : tensor<8xi32>
                %two = tensor.extract %t{step}[%i] : tensor<8xi32>
                %sum = arith.addi %one, %two : i32
                nv_tileas.yield %sum : i32
              }}"""
        )
    text = "\n".join(tiles)
    module = parse(
        f"""func.func @f(%word: i32, %c: index) {{
          scf.for %j = %c to %c step %c {{
            {text}
          }}
          func.return
        }}"""
    )
    loop = next(op for op in module.walk() if isinstance(op, scf.ForOp))
    made = [op for op in loop.body.block.ops if isinstance(op, GenerateOp)]
    found = AffineElements(loop).element(made[-1].result, (Affine(0, {0: 1}),))
    (word, _) = next(op for op in module.walk() if isinstance(op, func.FuncOp)).args
    assert found == Affine(0, {word: 1 << depth})


def test_a_launch_computes_shared_operands_once() -> None:
    """What the sum depends on besides a loop's variable is listed once, too."""
    module = parse(
        """func.func @f(%word: i32) {
  %c = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %c to %c step %one {
    %n = arith.index_cast %i : index to i32
    %v0 = arith.addi %n, %word : i32
"""
        + "\n".join(f"%v{n + 1} = arith.addi %v{n}, %v{n} : i32" for n in range(STEPS))
        + "\n}\nfunc.return\n}"
    )
    loop = next(op for op in module.walk() if op.name == "scf.for")
    last = loop.regions[0].block.last_op
    assert last is not None
    assert last.prev_op is not None
    assert LaunchSteps().invariants(last.prev_op.results[0]) == [0]
