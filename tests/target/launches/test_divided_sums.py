"""Launches whose iterations are worth dividing, and into how many parts."""

from dataclasses import replace
from typing import Any

import pytest

from tileas_xdsl.target.launches.divided_sums import DividedSums
from tileas_xdsl.target.launches.launch_loops import LaunchLoop

LOOPS = (LaunchLoop(700, ((0, 1, 2),)),)
ALONE = DividedSums(1, 1, 2000, 2000, ("0", "scalar 0", "1"), LOOPS)
"""Tile blocks of so many iterations of 700 cycles as a launch passes."""


@pytest.mark.parametrize(
    ("grid", "iterations", "predicate", "suits"),
    [
        ((1, 1, 1), 4096, ALONE, True),
        ((4, 4, 1), 1024, ALONE, True),
        ((8, 8, 1), 1024, ALONE, True),  # two parts each
        ((67, 1, 1), 1024, ALONE, False),  # two parts would be more than run at once
        ((67, 1, 1), 1024, replace(ALONE, together=2), True),
        ((33, 1, 1), 1024, replace(ALONE, ctas=4), False),
        ((1, 1, 1), 8, ALONE, False),  # as long as handing sums over
        ((0, 1, 1), 1024, ALONE, False),
        ((1, 1, 1), None, ALONE, False),  # which nobody knows
    ],
)
def test_a_launch_asks_what_dividing_saves(
    grid: Any, iterations: int | None, predicate: DividedSums, suits: bool
) -> None:
    assert predicate.suits((iterations,), grid, 132) is suits
    assert predicate.may_suit((iterations,)) is (iterations is not None)
    if suits:
        assert grid[0] * grid[1] not in predicate.unsuited(132)


@pytest.mark.parametrize(
    ("blocks", "iterations", "parts"), [(1, 100000, 132), (1, 4, 1), (66, 4096, 2), (200, 4096, 1)]
)
def test_longer_loops_have_more_parts(blocks: int, iterations: int, parts: int) -> None:
    assert ALONE.parts((iterations,), (blocks, 1, 1), 132) == parts


def test_parts_cost_what_is_handed_over() -> None:
    cheap, dear = (replace(ALONE, load=load).parts((512,), (1, 1, 1), 132) for load in (100, 8000))
    assert cheap > dear > 1
