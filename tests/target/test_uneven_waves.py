"""Launches whose last wave of tile blocks is worth sharing."""

from typing import Any

import pytest

from tileas_xdsl.target.uneven_waves import UnevenWaves

ALONE = UnevenWaves(1, 1)


@pytest.mark.parametrize(
    ("grid", "question", "suits"),
    [
        ((24, 12, 1), ALONE, True),  # 3000^3: 2.18 waves in the time of 3
        ((32, 16, 1), ALONE, False),  # 4000^3: 3.88 of 4
        ((64, 32, 1), ALONE, False),  # 8192^3: 15.5 of 16
        ((16, 8, 1), ALONE, False),  # all at once
        ((133, 1, 1), ALONE, True),
        ((133, 1, 1), UnevenWaves(2, 1), False),
        ((133, 1, 1), UnevenWaves(1, 2), True),  # 2.02 waves of 66 in the time of 3
        ((265, 1, 1), UnevenWaves(2, 1), True),
        ((0, 1, 1), ALONE, False),
    ],
)
def test_a_launch_asks_how_much_of_its_waves_is_filled(
    grid: Any, question: UnevenWaves, suits: bool
) -> None:
    assert question.suits((), grid, 132) is suits
