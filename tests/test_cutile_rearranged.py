"""Tiles cut into parts and put side by side: right, and in registers where threads have them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct = pytest.importorskip("cuda.tile")


@ct.kernel
def sort(x: Any, y: Any) -> None:
    """Bitonic sort of 16 numbers: each step compares two parts and joins what it makes of them."""
    tile, at = ct.load(x, (0,), (16,)), ct.arange(16, dtype=ct.int32)
    for step in ct.static_iter(range(4)):
        for bit in ct.static_iter(range(step, -1, -1)):
            half, count = 2**bit, 8 >> bit
            pairs, numbers = tile.reshape((count, 2, half)), at.reshape((count, 2, half))
            low = ct.extract(pairs, (0, 0, 0), (count, 1, half))
            high = ct.extract(pairs, (0, 1, 0), (count, 1, half))
            number = ct.extract(numbers, (0, 0, 0), (count, 1, half))
            rises = ((number >> (step + 1)) & 1) == 0
            least, most = ct.minimum(low, high), ct.maximum(low, high)
            ends = ct.where(rises, least, most), ct.where(rises, most, least)
            tile = ct.cat(ends, 1).reshape((16,))
    ct.store(y, (0,), tile)


@ct.kernel
def nibbles(x: Any, w: Any, y: Any) -> None:
    """`x @ w.T` where a byte of `w` has two weights of four bits."""
    total = ct.zeros((64, 64), dtype=ct.float32)
    for k in range(2):
        byte = ct.load(w, (0, k), (64, 32))
        low, high = (byte & 15).astype(ct.float16), (byte >> 4).astype(ct.float16)
        both = ct.cat((low.reshape((64, 32, 1)), high.reshape((64, 32, 1))), 2)
        weights = ct.transpose(both.reshape((64, 64)) - 8)
        total = ct.mma(ct.load(x, (0, k), (64, 64)), weights, total)
    ct.store(y, (0, 0), total)


@ct.kernel
def pool(x: Any, y: Any) -> None:
    """Means of 2x2 neighbours, as a tile of pairs of rows and of columns."""
    tile = ct.load(x, (0, 0), (16, 64)).reshape((8, 2, 32, 2))
    mean = ct.sum(ct.sum(tile, axis=3), axis=1) * 0.25
    ct.store(y, (0, 0), mean)


def test_pairs_of_a_loaded_tile_are_added_where_they_are() -> None:
    """They are loaded by 16 bytes; nothing goes through shared memory."""
    x = np.random.default_rng(7).standard_normal((16, 64)).astype(np.float32)
    y = np.zeros((8, 32), np.float32)
    kernel = tileas.compile(pool, x, y, target="sm_90a")
    wanted = x.reshape(8, 2, 32, 2).mean(axis=(1, 3))
    for run in (kernel.simulate, kernel.emulate):
        np.testing.assert_allclose(run(x, y, grid=1).arrays[1], wanted, rtol=0, atol=1e-6)
    assert "ld.global.v4" in kernel.ptx
    assert "st.shared" not in kernel.ptx


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_bitonic_sort(target: str) -> None:
    x = np.random.default_rng(5).standard_normal(16).astype(np.float32)
    kernel = tileas.compile(sort, x, np.zeros_like(x), target=target)
    for run in (kernel.evaluate, kernel.simulate, kernel.emulate):
        np.testing.assert_array_equal(run(x, np.zeros_like(x), grid=1).arrays[1], np.sort(x))


def test_positions_of_reshaped_tiles_are_computed_and_parts_exchanged_once() -> None:
    """Ten steps, seven of which bring pairs together that were in different threads."""
    x = np.zeros(16, np.float32)
    ptx = tileas.compile(sort, x, x.copy(), target="sm_90a").ptx
    assert "st.shared" not in ptx
    assert len(re.findall(r"shfl\.sync", ptx)) <= 2 * 10


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_weights_of_four_bits(target: str) -> None:
    rng = np.random.default_rng(6)
    x = rng.integers(-4, 5, (64, 128)).astype(np.float16)
    w = rng.integers(0, 256, (64, 64)).astype(np.uint8)
    y = np.zeros((64, 64), np.float32)
    kernel = tileas.compile(nibbles, x, w, y, target=target)
    weights = np.stack((w & 15, w >> 4), axis=2).reshape(64, 128).astype(np.float32) - 8
    for run in (kernel.simulate, kernel.emulate):
        np.testing.assert_array_equal(run(x, w, y, grid=1).arrays[2], x @ weights.T)


def test_weights_of_four_bits_are_fragments_of_a() -> None:
    """Nothing computed goes through shared memory: the transposed product reads registers."""
    x, w = np.zeros((64, 128), np.float16), np.zeros((64, 64), np.uint8)
    kernel = tileas.compile(nibbles, x, w, np.zeros((64, 64), np.float32), target="sm_90a")
    assert re.search(r"wgmma\.mma_async\S* \{[^}]*\}, \{", kernel.ptx)
