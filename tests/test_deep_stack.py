"""Room for recursion, where there is not enough."""

from __future__ import annotations

import sys

import pytest

from tileas_xdsl.deep_stack import deep_on_demand, is_deep


@deep_on_demand
def depth(number: int) -> tuple[int, bool]:
    return _depth(number), is_deep()


def _depth(number: int) -> int:
    return 0 if number == 0 else 1 + _depth(number - 1)


def test_a_deep_stack_is_made_on_demand() -> None:
    """What needs few frames runs where it is, and the limit is afterwards what it was."""
    before = sys.getrecursionlimit()
    assert [depth(10), depth(10_000)] == [(10, False), (10_000, True)]
    assert sys.getrecursionlimit() == before


def test_a_deep_stack_ends_too() -> None:
    """What never ends runs out of frames once more."""
    with pytest.raises(RecursionError):
        depth(-1)
