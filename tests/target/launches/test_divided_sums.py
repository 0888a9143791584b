"""Launches whose iterations are worth dividing, and into how many parts."""

from dataclasses import replace
from typing import Any

import pytest

from tileas_xdsl.target.launches.divided_sums import IMPOSSIBLE, DividedSums, SummedLoad
from tileas_xdsl.target.launches.launch_loops import LaunchLoop

LOOPS = (LaunchLoop(1, ((0, 1, 2),)),)
ALONE = DividedSums(1, 1, 700, 700, 1000, 1500, 2500, (), ("0", "scalar 0", "1"), LOOPS)
"""Tile blocks of so many iterations of 700 cycles as a launch passes."""


@pytest.mark.parametrize(
    ("grid", "iterations", "predicate", "suits"),
    [
        ((1, 1, 1), 4096, ALONE, True),
        ((4, 4, 1), 1024, ALONE, True),
        ((8, 8, 1), 1024, ALONE, True),  # two parts each
        ((81, 1, 1), 1024, ALONE, True),  # three parts each, in two waves
        ((81, 1, 1), 16, ALONE, False),
        ((127, 1, 1), 1024, ALONE, False),  # few multiprocessors idle
        ((127, 1, 1), 1024, replace(ALONE, together=2), True),
        ((33, 1, 1), 1024, replace(ALONE, ctas=4), False),
        ((132, 1, 1), 1024, ALONE, False),
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
    ("blocks", "iterations", "parts"),
    [(1, 8, 1), (66, 4096, 2), (81, 400, 3), (132, 4096, 1)],
)
def test_parts_fill_waves(blocks: int, iterations: int, parts: int) -> None:
    assert ALONE.parts((iterations,), (blocks, 1, 1), 132) == parts


def test_parts_cost_what_is_handed_over() -> None:
    cheap, dear = (replace(ALONE, load=load).parts((512,), (1, 1, 1), 132) for load in (100, 8000))
    assert cheap > dear > 1


def test_what_dram_moves_takes_as_long_in_any_parts() -> None:
    """Of 16 rows 64 tile blocks load 33 MB of weights, as fast as DRAM moves them."""
    weights = replace(ALONE, loads=(SummedLoad(32768, (1,)),))
    assert ALONE.suits((64,), (1, 60, 1), 132)
    assert not weights.suits((64,), (1, 60, 1), 132)


def test_dram_gives_less_of_lines_that_tile_blocks_share() -> None:
    """Four tile blocks read rows and columns twice: fewer parts load what DRAM gives of them."""
    shared = replace(ALONE, loads=(SummedLoad(1 << 15, (0,)), SummedLoad(1 << 15, (1,))))
    apart = replace(ALONE, loads=(SummedLoad(1 << 15, (0, 1)),))
    launch = ((1024,), (2, 2, 1), 132)
    assert apart.least_cycles(*launch) < shared.least_cycles(*launch)
    assert shared.parts((1024,), (2, 2, 1), 132) < apart.parts((1024,), (2, 2, 1), 132)


def test_ctas_that_do_not_run_at_once_are_no_choice() -> None:
    four = replace(ALONE, ctas=4)
    assert four.least_cycles((64,), (33, 1, 1), 132) < IMPOSSIBLE
    assert four.least_cycles((64,), (34, 1, 1), 132) == IMPOSSIBLE
