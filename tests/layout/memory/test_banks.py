"""Wavefronts against an oracle of sets and dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.banks import (
    ideal_wavefronts,
    wavefronts,
)
from tileas_xdsl.layout.registers.access import vector_addresses
from tileas_xdsl.layout.registers.register_layout import RegisterLayout, register_layout_from_tv
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.layout.tables import table

relaxed = settings(deadline=None, max_examples=60)
LANES = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}


def oracle(addresses: list[int], width: int) -> int:
    """Return the bank accesses, phase by phase; distinct words of a bank are serialised."""
    total = 0
    for start in range(0, 32, LANES[width]):
        banks: dict[int, set[int]] = {}
        for address in addresses[start : start + LANES[width]]:
            if address >= 0:
                for word in range(address // 4, (address + width - 1) // 4 + 1):
                    banks.setdefault(word % 32, set()).add(word)
        total += max((len(words) for words in banks.values()), default=0)
    return total


def oracle_ideal(addresses: list[int], width: int) -> int:
    phases = [addresses[s : s + LANES[width]] for s in range(0, 32, LANES[width])]
    return sum(any(a >= 0 for a in phase) for phase in phases)


@relaxed
@given(
    st.sampled_from([1, 2, 4, 8, 16]),
    st.sampled_from([4, 40, 600, 60000]),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
)
def test_random_addresses(width: int, span: int, idle: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    addresses = rng.integers(0, span, (3, 2, 32)) * width
    active = rng.random((3, 2, 32)) >= idle
    addresses[0, 0, :5] = -1
    expected = [
        [oracle(list(np.where(on, a, -1)), width) for a, on in zip(row, mask, strict=True)]
        for row, mask in zip(addresses.tolist(), active, strict=True)
    ]
    ideal = [
        [oracle_ideal(list(np.where(on, a, -1)), width) for a, on in zip(row, mask, strict=True)]
        for row, mask in zip(addresses.tolist(), active, strict=True)
    ]
    assert wavefronts(addresses, width, active).tolist() == expected
    assert ideal_wavefronts(addresses, width, active).tolist() == ideal


def test_known_patterns() -> None:
    lane = np.arange(32)
    assert wavefronts(lane * 4, 4) == 1
    assert wavefronts(lane * 8, 4) == 2
    assert wavefronts(lane * 128, 4) == 32
    assert wavefronts(lane * 132, 4) == 1
    assert wavefronts(lane * 0, 4) == 1
    assert wavefronts(lane * 2, 2) == 1
    assert wavefronts(lane * 8, 8) == 2
    assert wavefronts(lane * 16, 16) == 4
    assert wavefronts(lane % 8 * 128, 16) == 32


def test_wrong_accesses_say_why() -> None:
    lane = np.arange(32)
    with pytest.raises(LayoutError, match="not 3"):
        wavefronts(lane * 4, 3)
    with pytest.raises(LayoutError, match="address 4 of a 8-byte access is not aligned"):
        wavefronts(lane * 4, 8)
    with pytest.raises(LayoutError, match="32 lanes"):
        wavefronts(np.arange(16), 4)


def wgmma_accumulator(columns: int) -> RegisterLayout:
    """The accumulator of wgmma, 64 rows on 128 threads."""
    tv = Layout(((4, 8, 4), (2, 2, columns // 8)), ((128, 1, 16), (64, 8, 512)))
    return register_layout_from_tv(tv, (64, columns))


def test_wgmma_accumulator_of_halves_in_a_row_major_tile() -> None:
    fragment = wgmma_accumulator(64)
    offsets = table(Layout((64, 64), (64, 1))) * 2
    counts = {
        name: int(wavefronts(vector_addresses(fragment, swizzle(offsets), 16, 2), 4).sum())
        for name, swizzle in BYTE_SWIZZLES.items()
    }
    assert counts["none"] == 4 * 16 * 8
    assert counts["32B"] == 4 * 16 * 4
    assert counts["64B"] == 4 * 16 * 2
    assert counts["128B"] == 4 * 16


@relaxed
@given(st.sampled_from([1, 2]), st.integers(0, 2**32 - 1))
def test_fragments_against_the_oracle(vector: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    fragment = wgmma_accumulator(16)
    blocks = rng.permutation(64 * 8)
    rows, columns = np.indices((64, 16))
    addresses = np.empty(64 * 16, dtype=np.int64)
    addresses[(rows + 64 * columns).ravel()] = (
        blocks[rows * 8 + columns // 2] * 8 + columns % 2 * 4
    ).ravel()
    result = wavefronts(vector_addresses(fragment, addresses, 32, vector), 4 * vector)
    assert result.shape == (4, fragment.values // vector)
    for warp in range(4):
        for step in range(result.shape[1]):
            held = fragment.held[warp * 32 : warp * 32 + 32, step * vector]
            assert result[warp, step] == oracle(addresses[held].tolist(), 4 * vector)
