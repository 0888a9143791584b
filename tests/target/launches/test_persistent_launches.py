"""Launches whose CTAs take one tile block after another: by length, and in a serpentine."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from tileas_xdsl.target.launches.launch_loops import LaunchLoop
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches, in_order, serpentine

STEPS = ("0", "block x", "grid x", "subi 2 1", "1", "scalar 1")
FALLING = PersistentLaunches(STEPS[:5], (LaunchLoop(2048, ((0, 3, 4),)),), differ=True)
"""As causal attention: as many iterations as there are tile blocks to the right, and its own."""


def walked(count: int, ctas: int) -> Sequence[Sequence[int]]:
    """What each CTA takes: the last round goes forwards, the one before it backwards."""
    last = (count - 1) // ctas
    return [
        [
            number
            for turn in range(last + 1)
            if (number := turn * ctas + (cta if (last - turn) % 2 == 0 else ctas - 1 - cta)) < count
        ]
        for cta in range(ctas)
    ]


@pytest.mark.parametrize(("count", "ctas"), [*product((1, 5, 8, 12, 13), (1, 2, 3, 4))])
def test_the_longest_cta_of_a_serpentine(count: int, ctas: int) -> None:
    lengths = np.random.default_rng(count).integers(1, 100, count)
    taken = walked(count, ctas)
    assert sorted(number for numbers in taken for number in numbers) == list(range(count))
    assert serpentine(lengths, ctas) == max(int(lengths[numbers].sum()) for numbers in taken)


def test_tile_blocks_begin_in_order() -> None:
    assert in_order((4, 3, 2, 1, 4, 3, 2, 1), 4) == 5
    assert in_order((1, 1, 5), 2) == 6


@pytest.mark.parametrize(
    ("grid", "count", "suits"),
    [
        ((4, 256, 1), 132, True),
        ((8, 64, 1), 132, True),
        ((16, 64, 1), 132, True),
        ((32, 64, 1), 132, True),
        ((128, 16, 1), 128, False),  # 132 CTAs take 1.5 times as long; in order is better yet
        ((8, 16, 1), 132, False),  # all at once
    ],
)
def test_a_launch_has_the_ctas_that_are_done_first(
    grid: Sequence[int], count: int, *, suits: bool
) -> None:
    assert FALLING.count((), grid, 132) == count
    assert FALLING.suits((), grid, 132) is suits


def test_what_a_launch_does_not_know() -> None:
    unknown = PersistentLaunches(STEPS, (LaunchLoop(2048, ((0, 5, 4),)),), differ=True)
    assert unknown.may_suit((None, 7))
    assert unknown.suits((None, 7), (400, 1, 1), 132)
    for args in ((), (None, None), (7, 1.5)):
        assert not unknown.may_suit(args)
        assert not unknown.suits(args, (400, 1, 1), 132)
        assert unknown.count(args, (400, 1, 1), 132) == 132
    assert unknown.unsuited(132) == range(133)


def test_short_tile_blocks_of_equal_length_gain() -> None:
    loops = (LaunchLoop(512, ((0, 1, 2),)),)
    equal = PersistentLaunches(("0", "scalar 1", "1"), loops, most=4096, together=2)
    short, long = (None, 8), (None, 9)
    assert equal.may_suit(short)
    assert not equal.may_suit(long)
    assert not equal.may_suit(())
    assert [equal.suits(short, (n, 1, 1), 132) for n in (264, 265)] == [False, True]
    assert not equal.suits(long, (400, 1, 1), 132)


def test_tile_blocks_that_the_grid_makes_short_gain() -> None:
    """As a loop over a part of K, of as many parts as the grid has along x."""
    steps = ("0", "4096", "grid x", "ceildivsi 1 2", "1")
    equal = PersistentLaunches(steps, (LaunchLoop(8, ((0, 3, 4),)),), most=128)
    assert equal.may_suit(())
    assert [equal.suits((), (n, 4, 1), 132) for n in (128, 256)] == [False, True]


def test_any_length_gains_where_no_loop_counts() -> None:
    alone = PersistentLaunches((), ())
    assert alone.may_suit((None,))
    assert [alone.suits((), (n, 1, 1), 132) for n in (132, 133)] == [False, True]
