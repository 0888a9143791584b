"""Lifetimes on the circle of a round: the published example of three buffers."""

import pytest
from xdsl.dialects import test

from tileas_xdsl.scheduling.resources.buffer_assignment import Buffer
from tileas_xdsl.scheduling.resources.register_demand import count

OP = test.TestOp()


def alive(begin, end):
    return Buffer(OP, 0, 1, 1024, begin, end)


A, B, C = alive(0, 10), alive(10, 16), alive(6, 13)


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        (A, B, False),
        (A, C, True),
        (B, C, True),
        (A, alive(26, 30), False),
        (B, alive(16, 17), False),
    ],
)
def test_lifetimes_of_a_round_of_16_cycles(first, second, meet):
    assert first.overlaps(second, 16) == second.overlaps(first, 16) == meet


def test_a_lifetime_of_a_round_meets_everything():
    assert alive(0, 16).overlaps(alive(20, 21), 16)


@pytest.mark.parametrize(("at", "copies"), [(0, 1), (2, 1), (3, 2), (12, 2), (13, 1)])
def test_values_of_several_iterations_are_counted(at, copies):
    """A value of cycles 3 to 29 of its iteration, in rounds of 16."""
    assert count(3, 29, at, 16) == copies
