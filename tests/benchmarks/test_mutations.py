"""The mutations: the same for a number, and each kind of failure is told."""

from __future__ import annotations

import pytest

from benchmarks.mutations import Mutator, Trial, asks_for_many, judged

TEXT = "func.func @f(%a: i32) {\n  %b = arith.addi %a, %a : i32\n  func.return\n}\n"


@pytest.mark.parametrize("content", [TEXT, TEXT.encode()])
def test_a_number_is_a_mutation(content: str | bytes) -> None:
    made = [Mutator(number, [content]).mutated(content) for number in range(40)]
    assert made == [Mutator(number, [content]).mutated(content) for number in range(40)]
    assert len(set(made)) > 30


@pytest.mark.parametrize(
    ("code", "errors", "seconds", "outcome"),
    [
        (0, "", 0.1, "accepted"),
        (1, "k.mlir:2:3: error: expected", 0.1, "rejected"),
        (1, "tileas: error: something", 0.1, "placeless"),
        (1, "", 0.1, "silent"),
        (1, "k.mlir:2:3: error: internal error in x", 0.1, "internal"),
        (None, "KeyError: 3", 0.1, "traceback"),
        (0, "", 6.0, "slow"),
    ],
)
def test_what_is_wrong_is_told(code: int | None, errors: str, seconds: float, outcome: str) -> None:
    assert judged(Trial(code, errors, seconds, 0), has_places=True) == outcome


@pytest.mark.parametrize(
    ("grid", "outcome"), [("--grid 8,1,1", "slow"), ("--grid 65536", "long"), ("", "slow")]
)
def test_a_launch_of_many_blocks_is_not_slow(grid: str, outcome: str) -> None:
    is_long = asks_for_many(["tileas", "simulate", "k.mlir", *grid.split()])
    assert judged(Trial(0, "", 20.0, 0, is_long), has_places=True) == outcome
