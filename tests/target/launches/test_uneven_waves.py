"""Launches whose last wave of tile blocks is worth sharing."""

from dataclasses import replace
from typing import Any

import pytest

from tileas_xdsl.target.launches.launch_loops import LaunchLoop
from tileas_xdsl.target.launches.uneven_waves import UnevenWaves

LOOPS = (LaunchLoop(1024, ((0, 1, 2),)),)
ALONE = UnevenWaves(1, 1, 10000, ("0", "scalar 0", "1"), LOOPS)
"""Tile blocks of so many iterations of 1,024 cycles as a launch passes."""


@pytest.mark.parametrize(
    ("grid", "iterations", "predicate", "suits"),
    [
        ((24, 12, 1), 47, ALONE, True),  # 3000^3: 2.18 waves in the time of 3
        ((24, 12, 1), 8, ALONE, False),  # as many, which are short
        ((32, 16, 1), 63, ALONE, False),  # 4000^3: 3.88 of 4
        ((64, 32, 1), 128, ALONE, True),  # 8192^3: 15.5 of 16
        ((32, 16, 1), 224, ALONE, False),  # 4096x4096x14336: half of its waves would be shared
        ((16, 8, 1), 128, ALONE, False),  # all at once
        ((132, 2, 1), 128, ALONE, False),  # no multiprocessor idles
        ((133, 1, 1), 32, ALONE, True),
        ((133, 1, 1), 32, replace(ALONE, together=2), False),
        ((133, 1, 1), 32, replace(ALONE, ctas=2), True),  # 2.02 waves of 66 in the time of 3
        ((265, 1, 1), 32, replace(ALONE, together=2), True),
        ((0, 1, 1), 32, ALONE, False),
        ((133, 1, 1), None, ALONE, False),  # which nobody knows
    ],
)
def test_a_launch_asks_what_sharing_saves(
    grid: Any, iterations: int | None, predicate: UnevenWaves, suits: bool
) -> None:
    assert predicate.suits((iterations,), grid, 132) is suits
    assert predicate.may_suit((iterations,)) is (iterations is not None)
