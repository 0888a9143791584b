"""Layouts of products by threads: they hold every element, as the instruction wants it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tileas_xdsl.analysis.layouts.dot_layouts import (
    Extents,
    Tiling,
    min_depth,
    thread_tiling,
    warp_tiling,
)
from tileas_xdsl.layout.convert.buffers import Buffer
from tileas_xdsl.target.mma.register_layouts import REGISTER_LAYOUTS
from tileas_xdsl.threads.dot.operands.fragments import Side
from tileas_xdsl.threads.smem.smem_layout import SharedLayout
from tileas_xdsl.threads.smem.table_driven_copy import moves_of_buffer

Ints = NDArray[np.int64]

INSTRUCTIONS = {
    8: ("m16n8k32.8bit", 16, 32),
    16: ("m16n8k16.16bit", 16, 16),
    32: ("m16n8k8.tf32", 16, 8),
    64: ("m16n8k16.f64", 16, 16),
}
"""By the bits of an element: the instruction, its rows and its depth."""


@pytest.mark.parametrize("bits", INSTRUCTIONS)
def test_fragments_are_those_of_the_instruction(bits: int) -> None:
    """But for the order of rows and of K, which the instruction does not see."""
    name, m, k = INSTRUCTIONS[bits]
    tiling = warp_tiling(Extents(1, m, 8, k, bits), 1)
    held = {part: REGISTER_LAYOUTS[f"mma.{name}.{part}"].fragment.held for part in "abc"}
    row_of, k_of = np.full(m, -1), np.full(k, -1)
    row_of[held["a"] % m] = tiling.left(k).held % m
    k_of[held["a"] // m] = tiling.left(k).held // m
    assert sorted(row_of) == [*range(m)]
    assert sorted(k_of) == [*range(k)]
    np.testing.assert_array_equal(
        tiling.left(k).held, row_of[held["a"] % m] + m * k_of[held["a"] // m]
    )
    np.testing.assert_array_equal(
        tiling.accumulator.held, row_of[held["c"] % m] + held["c"] // m * m
    )
    mine = tiling.right(k).held
    # B of the table is an (N, K) tile.
    np.testing.assert_array_equal(
        mine % k * 8 + mine // k, k_of[held["b"] // 8] * 8 + held["b"] % 8
    )


@pytest.mark.parametrize("of_b", [False, True])
@pytest.mark.parametrize("bits", INSTRUCTIONS)
def test_steps_are_read_without_bank_conflicts(bits: int, of_b: bool) -> None:
    """Tiles in rows, swizzled by 128 bytes: as many wavefronts as the words of a step take."""
    span = 1024 // bits
    tiling = warp_tiling(Extents(1, 32, span, span, bits), 1)
    side = Side(tiling, of_b)
    shared = SharedLayout((span, span) if of_b else (32, span), bits, "128B", span)
    addresses = 8 * side.part(shared.addresses().reshape(shared.shape), 0).ravel(order="F")
    if bits == 8 and of_b:
        return  # Bytes of a column lie in different words.
    found = moves_of_buffer("load", side.step, Buffer("a step", addresses, bits))
    wavefronts = side.step.values * 32 * bits // 8 // 128
    assert found.transfer.wavefronts == wavefronts


@pytest.mark.parametrize("seed", range(6))
def test_every_element_is_held_by_whoever_multiplies_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(8):
        bits = int(rng.choice(list(INSTRUCTIONS)))
        batch, m, n, deep = (int(1 << rng.integers(0, top)) for top in (3, 8, 8, 4))
        warps = int(rng.choice([1, 2, 3, 4, 8]))
        x = Extents(batch, m, n, deep * min_depth(bits), bits, is_batched=batch > 1)
        for tiling in (warp_tiling(x, warps), thread_tiling(x, warps)):
            _check(tiling)


def _check(tiling: Tiling) -> None:
    """A warp that owns accumulator rows and columns owns those rows of A and columns of B."""
    x, layouts = (
        tiling.extents,
        (tiling.accumulator, tiling.left(tiling.step), tiling.right(tiling.step)),
    )
    sums, left, right = (layout.held.reshape(tiling.threads // 32, -1) for layout in layouts)
    for warp in range(len(sums)):
        assert _rows(sums[warp], x.batch, x.m) <= _rows(left[warp], x.batch, x.m)
        assert _columns(sums[warp], x.batch, x.m) <= _columns(right[warp], x.batch, tiling.step)
    for layout in layouts:
        held = layout.held
        np.testing.assert_array_equal(np.unique(held[held >= 0]), np.arange(np.prod(layout.shape)))
    every = tiling.left(x.k).values
    assert every == tiling.steps * tiling.left(tiling.step).values


def _rows(held: Ints, batch: int, m: int) -> set[int]:
    """Batch and row of what is held, by column-major indices."""
    return set((held[held >= 0] % (batch * m)).tolist())


def _columns(held: Ints, batch: int, m: int) -> set[tuple[int, int]]:
    """Batch and column of what is held."""
    found = held[held >= 0]
    return set(zip((found % batch).tolist(), (found // (batch * m)).tolist(), strict=True))
