"""The iteration of each thread and step, by formula."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.inference.closed_form import layout_of, section_of
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.expr.expression import dimension, symbol
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE

ZERO = 0
I, J = dimension(0), dimension(1)
COPY = symbol(0)

MAPS = [
    FragmentMap((2, 2), I * 32 + J * 16, ZERO, threads=64),
    FragmentMap((4, 16), I * 16 + J, ZERO, threads=128),
    FragmentMap((64, 96), ((I * 96 + J) // 4) % 128, (I * 96 + J) // 512 * 4 + J % 4, threads=128),
    FragmentMap((16,), COPY * 16 + I, ZERO, threads=128, replicas=4),
    FragmentMap((3, 5), I * 5 + J, ZERO, threads=32),
]


@pytest.mark.parametrize("owners", MAPS, ids=str)
def test_the_section_gives_back_what_each_place_holds(owners: FragmentMap) -> None:
    section, layout = section_of(owners), layout_of(owners)
    assert section is not None
    assert layout is not None
    points = {
        THREAD: np.repeat(np.arange(owners.threads), owners.slots),
        VALUE: np.tile(np.arange(owners.slots), owners.threads),
    }
    held = owners.held.ravel()
    inside = section.guard(points)
    assert np.array_equal(inside, held >= 0)
    elements = section.index(points)[inside] % owners.slot_table.size
    by_dimension = layout.rank == len(owners.shape) + (owners.replicas > 1)
    order = "F" if by_dimension else "C"
    coordinates = np.unravel_index(elements, owners.shape, order=order)
    assert np.array_equal(np.ravel_multi_index(coordinates, owners.shape), held[inside])


def test_the_guard_of_a_sparse_loop() -> None:
    section = section_of(MAPS[0])
    assert section is not None
    assert section.conditions == ("thread % 16 == 0",)


def test_a_rotation_has_no_digits() -> None:
    assert section_of(FragmentMap((10,), (I + 3) % 10, ZERO, threads=32)) is None
