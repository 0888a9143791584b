"""Room for recursion, where there is not enough."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tileas_xdsl.deep_stack import FRAMES, deep_on_demand, is_deep, with_deep_stack


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


def _one_ends_while_the_other_is_deep(meanwhile: Callable[[], None] = lambda: None) -> int:
    """Return how deep a thread comes behind the end of another deep stack."""
    begun, ended = threading.Event(), threading.Event()

    def later() -> int:
        begun.set()
        assert ended.wait(60)
        return _depth(FRAMES // 2)

    with ThreadPoolExecutor(1) as others:
        found = others.submit(with_deep_stack, later)
        assert begun.wait(60)
        assert with_deep_stack(lambda: _depth(10)) == 10
        assert not is_deep(), "this thread's own stack is as it was"
        meanwhile()
        ended.set()
        return found.result()


def test_the_limit_is_raised_until_the_last_deep_stack_ends() -> None:
    before = sys.getrecursionlimit()
    assert _one_ends_while_the_other_is_deep() == FRAMES // 2
    assert sys.getrecursionlimit() == before


def test_a_limit_that_the_program_sets_meanwhile_stays() -> None:
    before = sys.getrecursionlimit()
    try:
        _one_ends_while_the_other_is_deep(lambda: sys.setrecursionlimit(2 * FRAMES))
        assert sys.getrecursionlimit() == 2 * FRAMES
    finally:
        sys.setrecursionlimit(before)
