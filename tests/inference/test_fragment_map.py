"""Ownership of fragment elements, by expression and by table."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.expr.expression import dimension, symbol

ZERO = 0
I, J = dimension(0), dimension(1)
COPY = symbol(0)


def test_tables_follow_the_expressions() -> None:
    owners = FragmentMap((4, 6), (I * 6 + J) // 3, J % 3, threads=32)
    assert owners.slots == 3
    for i in range(4):
        for j in range(6):
            assert owners.thread_table[0, i, j] == (i * 6 + j) // 3
            assert owners.held[(i * 6 + j) // 3, j % 3] == i * 6 + j
    assert np.count_nonzero(owners.held >= 0) == 24
    assert owners.is_injective


def test_two_elements_in_one_slot_are_no_layout() -> None:
    assert not FragmentMap((4, 4), I, ZERO, threads=32).is_injective


def test_copies_in_one_slot_are_no_collision() -> None:
    assert FragmentMap((4,), I, ZERO, threads=32, replicas=2).is_injective


def test_every_thread_has_everything() -> None:
    everywhere = FragmentMap((3,), COPY, I, threads=8, replicas=8)
    assert everywhere.is_fully_replicated
    assert not FragmentMap((3,), COPY, I, threads=16, replicas=8).is_fully_replicated


def test_equal_functions_may_number_their_copies_differently() -> None:
    up = FragmentMap((4,), COPY * 4 + I, ZERO, threads=16, replicas=4)
    down = FragmentMap((4,), (COPY * -4) + I + 12, ZERO, threads=16, replicas=4)
    assert up.same_function(down)
    assert not up.same_function(FragmentMap((4,), COPY + I * 4, ZERO, threads=16, replicas=4))
