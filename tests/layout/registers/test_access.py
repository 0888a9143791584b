"""Vector widths and sectors against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.access import (
    bit_addresses,
    coalescing,
    ideal_sectors,
    register_order,
    sectors,
    vector_addresses,
    vector_width,
)
from tileas_xdsl.layout.registers.register_layout import (
    RegisterLayout,
    register_layout_from_table,
    register_layout_from_tv,
)
from tileas_xdsl.layout.tables import table

relaxed = settings(deadline=None, max_examples=60)


def blocked(rows: int, columns: int, width: int) -> RegisterLayout:
    """Row-major over 32 threads: each holds runs of `width` columns."""
    flat = np.arange(rows * columns).reshape(-1, 32, width).transpose(1, 0, 2).reshape(32, -1)
    return register_layout_from_table(flat // columns + rows * (flat % columns), (rows, columns))


def brute_width(fragment: RegisterLayout, bits: list[int], elem_bits: int, max_bits: int) -> int:
    best = 0
    for k in range(8):
        n = 1 << k
        size = n * elem_bits
        if fragment.values % n or size < 8 or size > max_bits or size & (size - 1):
            continue
        fits = True
        for registers in fragment.held.tolist():
            for start in range(0, fragment.values, n):
                where = [bits[e] if e >= 0 else None for e in registers[start : start + n]]
                if where == [None] * n:
                    continue
                first = where[0]
                fits &= first is not None and first % size == 0
                fits &= first is not None and where == [first + elem_bits * j for j in range(n)]
        if fits:
            best = n
    return best


@relaxed
@given(
    st.sampled_from([4, 8, 16, 32, 64]),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([16, 17, 18, 20, 24, 32]),
    st.booleans(),
    st.sampled_from([32, 64, 128]),
)
def test_vector_width_is_the_largest(
    elem_bits: int, width: int, pitch: int, row_major: bool, max_bits: int
) -> None:
    fragment = blocked(32, 16, width)
    layout = Layout((32, 16), (pitch, 1)) if row_major else Layout((32, 16), (1, 2 * pitch))
    bits = table(layout) * elem_bits
    found = vector_width(fragment, bits // 8, elem_bits, max_bits, bit_in_byte=bits % 8)
    assert found == brute_width(fragment, bits.tolist(), elem_bits, max_bits)


def test_known_widths() -> None:
    tv = Layout(((4, 8, 4), (2, 2, 8)), ((128, 1, 16), (64, 8, 512)))
    accumulator = register_layout_from_tv(tv, (64, 64))
    row_major = table(Layout((64, 64), (64, 1)))
    assert vector_width(accumulator, row_major * 2, 16) == 2
    assert vector_width(accumulator, row_major * 4, 32) == 2
    assert vector_width(accumulator, np.arange(64 * 64) * 4, 32) == 1
    assert vector_width(accumulator, row_major * 4 + 2, 32) == 0
    assert vector_width(blocked(32, 16, 8), table(Layout((32, 16), (16, 1))) * 2, 16) == 8


def test_registers_may_be_taken_in_another_order() -> None:
    fragment = register_layout_from_tv(Layout((32, (2, 4)), (8, (4, 1))), (256,))
    addresses = np.arange(256) * 4
    assert vector_width(fragment, addresses, 32) == 1
    order = register_order(fragment.held, addresses)
    assert order.tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert vector_width(fragment, addresses, 32, order=order) == 4


def test_sub_byte_elements_need_their_place_in_the_byte() -> None:
    fragment = blocked(32, 16, 8)
    bits = table(Layout((32, 16), (16, 1))) * 4
    assert vector_width(fragment, bits // 8, 4, bit_in_byte=bits % 8) == 8
    swapped = bits ^ 4
    assert vector_width(fragment, swapped // 8, 4, bit_in_byte=swapped % 8) == 0
    with pytest.raises(LayoutError, match="do not tell 4-bit elements apart"):
        vector_width(fragment, bits // 8, 4)
    six = table(Layout((32, 16), (16, 1))) * 6
    assert vector_width(fragment, six // 8, 6, bit_in_byte=six % 8) == 0
    assert np.array_equal(bit_addresses(bits // 8, 4, bits % 8), bits)


def test_lane_addresses_and_idle_lanes() -> None:
    fragment = RegisterLayout(Layout((8, 2), (E("thread", 5), E("value"))), (8, 2), 40)
    lanes = vector_addresses(fragment, table(Layout((8, 2), (2, 1))) * 4, 32, 2)
    assert lanes.shape == (2, 1, 32)
    expected = {5 * row: 8 * row for row in range(8)}
    assert lanes.reshape(64).tolist() == [expected.get(t, -1) for t in range(64)]


def test_misfits_are_named() -> None:
    fragment = blocked(32, 16, 4)
    addresses = table(Layout((32, 16), (16, 1))) * 4
    with pytest.raises(LayoutError, match="not aligned to 64 bits"):
        vector_addresses(fragment, addresses + 4, 32, 2)
    swapped = addresses.copy()
    swapped[[0, 64]] = addresses[[64, 0]]
    with pytest.raises(LayoutError, match=r"vector 0 of 4 elements of thread 0.*not contiguous"):
        vector_addresses(fragment, swapped, 32, 4)
    with pytest.raises(LayoutError, match="3 x 32 bits"):
        vector_addresses(fragment, addresses, 32, 3)
    ragged = RegisterLayout(Layout((32, 3), (E("thread"), E("value"))), (32, 3), 32)
    assert vector_width(ragged, table(Layout((32, 3), (4, 1))) * 4, 32) == 1


@relaxed
@given(
    st.sampled_from([1, 2, 4, 8, 16, 32]), st.sampled_from([8, 64, 5000]), st.integers(0, 2**32 - 1)
)
def test_sectors(width: int, span: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    addresses = np.where(rng.random((5, 32)) < 0.2, -1, rng.integers(0, span, (5, 32)) * width)
    touched = [len({a // 32 for a in row if a >= 0}) for row in addresses.tolist()]
    ideal = [-(-len({a for a in row if a >= 0}) * width // 32) for row in addresses.tolist()]
    assert sectors(addresses, width).tolist() == touched
    assert ideal_sectors(addresses, width).tolist() == ideal
    assert coalescing(addresses, width) == pytest.approx(sum(ideal) / sum(touched))


def test_coalescing_of_known_patterns() -> None:
    lane = np.arange(32)
    assert coalescing(lane * 4, 4) == 1.0
    assert coalescing(lane * 128, 4) == 0.125
    assert coalescing(np.full((1, 32), -1), 4) == 1.0
    with pytest.raises(LayoutError, match="not 12"):
        sectors(lane * 12, 12)
