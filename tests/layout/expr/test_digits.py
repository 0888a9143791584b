"""Digits of expressions, and the slots and replicas that follow from them."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.inference.default_slots import condensed, inferred_slot
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.expr.digits import digits_of, flattened
from tileas_xdsl.layout.expr.expression import Number, dimension, symbol

I, J = dimension(0), dimension(1)
COPY = symbol(0)


def test_digits_of_a_plan() -> None:
    found = digits_of(I % 4 * 32 + J // 4, (128, 128))
    assert found is not None
    assert [(d.variable, d.lower, d.extent, d.stride) for d in found.digits] == [
        (0, 1, 4, 32),
        (0, 4, 32, 0),
        (1, 1, 4, 0),
        (1, 4, 32, 1),
    ]
    assert str(flattened(found.unused)) == "d1 % 4 + d0 // 4 * 4"


def test_separable_though_it_does_not_look_so() -> None:
    found = digits_of((I + J) // 8 * 8 + (I + J) % 8, (4, 4))
    assert found is not None
    assert [(d.variable, d.stride) for d in found.digits] == [(0, 1), (1, 1)]


@pytest.mark.parametrize("expression", [(I * 24 + J // 4) % 128, (I + J) % 8, I // 8 * 8 + I % 3])
def test_not_digital(expression: Number) -> None:
    assert digits_of(expression, (64, 64)) is None


def test_slots_of_an_accumulator() -> None:
    thread = I // 16 * 32 + I % 8 * 4 + J % 8 // 2
    slot = inferred_slot(thread, (64, 64))
    assert slot is not None
    layout = FragmentMap((64, 64), thread, slot, threads=128)
    assert layout.is_injective
    assert layout.slots == 32
    assert layout.slot_table[8, 9] == 1 + 2 + 16


def test_slots_do_not_count_replicas() -> None:
    assert str(inferred_slot(I % 2 * 64 + COPY, (16,))) == "d0 // 2"


def test_replicas_that_own_the_same_go() -> None:
    thread, replicas = condensed(I % 8 * 16 + COPY // 8, (64,), 128)
    assert (str(thread), replicas) == ("d0 % 8 * 16 + s0", 16)
    before = FragmentMap((64,), I % 8 * 16 + COPY // 8, I // 8, 128, 128)
    after = FragmentMap((64,), thread, I // 8, 128, replicas)
    assert np.array_equal(before.held, after.held)


def test_replicas_of_no_digits_stay() -> None:
    thread = (COPY * 24 + I) % 128
    assert condensed(thread, (48,), 64) == (thread, 64)
