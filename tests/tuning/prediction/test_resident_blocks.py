"""Blocks that share a multiprocessor: between one after another and the busiest unit."""

import pytest

from tileas_xdsl.tuning.prediction.resident_blocks import cycles_of_blocks


def test_one_block_takes_all_of_its_cycles() -> None:
    assert cycles_of_blocks({"memory": 300.0, "compute": 100.0}, 50.0, 1) == 450


def test_blocks_that_only_wait_do_not_slow_each_other() -> None:
    assert cycles_of_blocks({}, 700.0, 8) == 700


def test_equal_blocks_at_one_unit_take_turns() -> None:
    assert cycles_of_blocks({"memory": 100.0}, 0.0, 4) == 400


def test_two_blocks_at_two_equal_units_overlap_half() -> None:
    """The second finds the other at each unit half of the time, and half done: 200 * (1 + 1/4)."""
    assert cycles_of_blocks({"memory": 100.0, "compute": 100.0}, 0.0, 2) == 250


@pytest.mark.parametrize("resident", [2, 8, 64])
def test_many_blocks_are_bound_by_the_busiest_unit(resident: int) -> None:
    demands = {"memory": 100.0, "compute": 20.0}
    cycles = cycles_of_blocks(demands, 500.0, resident)
    assert max(resident * 100, 620) <= cycles <= resident * 100 + 520
