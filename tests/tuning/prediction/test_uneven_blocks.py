"""How blocks of different work fill a GPU."""

import pytest

from tileas_xdsl.target.launches.persistent_launches import BEGIN_CYCLES, NEXT_CYCLES
from tileas_xdsl.tuning.prediction.scalar_values import sampled_blocks
from tileas_xdsl.tuning.prediction.uneven_blocks import slowdown


def test_equal_blocks_are_not_slowed() -> None:
    assert slowdown((100, 3, 1), lambda _: 7.0, 8) == 1.0
    assert slowdown((1, 1, 1), lambda _: 7.0, 8) == 1.0


def test_long_blocks_at_the_end_keep_one_multiprocessor_busy() -> None:
    """Works of 1, 2, 3, 4 on two multiprocessors: 1+3 and 2+4, where 5 and 5 were possible."""
    assert slowdown((4, 1, 1), lambda block: 1.0 + block[0], 2) == pytest.approx(6 / 5)


def test_ctas_that_take_blocks_in_a_serpentine_add_up_what_is_their_own() -> None:
    """1+4 and 2+3, where the last round goes forwards: 2, 1 and then 3, 4."""
    hidden = BEGIN_CYCLES - NEXT_CYCLES  # first loads come under the products before

    def work(block: tuple[int, int, int]) -> float:
        return hidden * (2.0 + block[0])

    assert slowdown((4, 1, 1), work, 2, takers=2) == pytest.approx(5 / 7)
    assert slowdown((4, 1, 1), work, 2, takers=1) == pytest.approx(10 / 7)


def test_the_work_may_differ_along_another_axis() -> None:
    """First three short ones, then three long ones: 1+3+3 and 1+1+3."""
    found = slowdown((3, 2, 1), lambda block: 1.0 + 2 * block[1], 2)
    assert found == pytest.approx(7 / 6)


def test_some_positions_stand_for_all() -> None:
    asked: list[int] = []

    def work(block: tuple[int, int, int]) -> float:
        asked.append(block[0])
        return 1.0 + block[0]

    assert 1.0 < slowdown((1000, 1, 1), work, 132) < 1.3
    assert len(asked) <= 33
    assert asked[-1] == 999


def test_blocks_in_the_middle_of_equal_parts_stand_for_all() -> None:
    """The last of 132 CTAs that take 512 tile blocks has 3, not 4, as have only 15 others."""
    numbers = [x for x, _, _ in sampled_blocks((132, 1, 1))]
    assert numbers == [13, 39, 66, 92, 118]
    assert sampled_blocks((1, 1, 1)) == [(0, 0, 0)]
