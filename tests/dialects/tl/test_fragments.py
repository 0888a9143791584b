"""`#tl.fragment` and the map it denotes: tables, unused registers, and round trips."""

import numpy as np
import pytest

from tileas_xdsl.dialects.affine_expressions import affine_map_of
from tileas_xdsl.dialects.tl.attributes import FragmentAttr
from tileas_xdsl.dialects.tl.fragments import FragmentError, attribute_of, layout_of
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.expr.expression import Number, dimension, symbol

I, J = dimension(0), dimension(1)
COPY = symbol(0)
ZERO = 0


def attribute(*results: Number, replicas: int = 1) -> FragmentAttr:
    return FragmentAttr(affine_map_of(2, 1 if replicas > 1 else 0, results), replicas)


def test_thread_and_slot_are_what_the_map_says():
    layout = layout_of(attribute(I * 16 + J, ZERO), (4, 16), 64)
    assert layout.thread_table[0, 2, 5] == 37
    assert layout.slots == 1


@pytest.mark.parametrize(
    ("thread", "shape"),
    [
        (J, (4, 16)),
        (I, (4, 16)),
        (J // 4, (6, 32)),
        (J % 8, (3, 24)),
        ((I % 2) * 8 + (J // 2) % 8, (6, 64)),
        (I * 2 + J % 2, (5, 12)),
        (ZERO, (3, 5)),
        (I * 16 + J, (4, 16)),
    ],
)
def test_slots_that_nobody_wrote_number_the_elements_of_a_thread(
    thread: Number, shape: tuple[int, int]
):
    layout = layout_of(attribute(thread), shape, 64)
    owners = layout.thread_table[0]
    for owner in np.unique(owners):
        slots = layout.slot_table[owners == owner]
        np.testing.assert_array_equal(slots, np.arange(slots.size))


def test_slots_do_not_count_copies():
    layout = layout_of(attribute(J + COPY * 16, replicas=2), (4, 16), 32)
    np.testing.assert_array_equal(layout.slot_table, np.indices((4, 16))[0])
    assert layout.replicas == 2


@pytest.mark.parametrize("replicas", [1, 3])
def test_a_layout_is_the_same_after_a_round_trip(replicas: int):
    thread = I * 8 + J // 2 + COPY * 32 if replicas > 1 else I * 8 + J // 2
    layout = FragmentMap((4, 16), thread, J % 2, 96, replicas)
    back = layout_of(attribute_of(layout), (4, 16), 96)
    assert back.same_function(layout)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ((I * 16 + J + 1, ZERO), r"puts \[3, 15\] on thread 64, but the block has 64"),
        ((I - 1, J), r"puts \[0, 0\] on thread -1, but the block has 64"),
        ((J, ZERO), r"puts both \[0, 0\] and \[1, 0\] into slot 0 of thread 0"),
        ((I, J - 2**64), "has a constant of more than 64 bits"),
        ((I, J - 2), "gives slot -2, but slots count from 0"),
        ((I + J,), "has no simple slots"),
    ],
)
def test_what_is_no_layout_is_refused(results: tuple[Number, ...], message: str):
    with pytest.raises(FragmentError, match=message):
        layout_of(attribute(*results), (4, 16), 64)


def test_a_layout_has_the_dimensions_of_its_buffer():
    with pytest.raises(FragmentError, match=r"has 2 dimensions for extents \[64\]"):
        layout_of(attribute(I, J), (64,), 64)
