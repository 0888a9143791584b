# pyright: basic
"""Warps that share a CTA compute tile blocks of their own, as CTAs of one warp would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

import tileas_xdsl as tileas
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches


@ct.kernel
def quantised(x, y, scales, tile: ct.Constant[int]):
    """Rows in blocks of so many columns, each divided by its largest element."""
    i, j = ct.bid(0), ct.bid(1)
    block = ct.astype(ct.load(x, (i, j), (1, tile)), ct.float32)
    largest = ct.max(ct.abs(block), axis=1, keepdims=True)
    ct.store(y, (i, j), block / largest)
    ct.store(scales, (i, j), largest)


@ct.kernel
def turned(x, y, tile: ct.Constant[int]):
    """Small matrices transposed through shared memory, by tile blocks along all three axes."""
    i, j, k = ct.bid(0), ct.bid(1), ct.bid(2)
    ct.store(y, (i, k, j), ct.permute(ct.load(x, (i, j, k), (1, tile, tile)), (0, 2, 1)))


RNG = np.random.default_rng(5)


def floats(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def unset(*shape: int) -> Any:
    return np.full(shape, np.nan, np.float32)


CASES: Sequence[tuple[Any, Sequence[Any], tuple[int, ...]]] = (
    (quantised, (floats(5, 512), unset(5, 512), unset(5, 4), 128), (5, 4)),
    (quantised, (floats(1, 128), unset(1, 128), unset(1, 1), 128), (1, 1)),
    (quantised, (floats(13, 200), unset(13, 200), unset(13, 2), 128), (13, 2)),
    (turned, (floats(2, 48, 32), unset(2, 32, 48), 16), (2, 3, 2)),
)


@pytest.mark.parametrize("target", ["sm_90a", pytest.param("sm_100a", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("kernel", "arguments", "grid"), CASES)
def test_the_result_is_the_same(
    kernel: Any, arguments: Sequence[Any], grid: tuple[int, ...], target: str
) -> None:
    usual = tileas.compile(kernel, *arguments, target=target)
    shared = usual.persistent
    assert (usual.abi.threads, shared.abi.threads) == (32, 128)
    assert shared.abi.shared_bytes == 4 * usual.abi.shared_bytes
    assert "bar.sync" not in shared.ptx
    wanted = usual.evaluate(*arguments, grid=grid)
    for made in (usual, shared):
        run = made.emulate(*arguments, grid=grid)
        assert run.finished
        assert not run.findings
        for found, expected in zip(run.arrays[1:], wanted.arrays[1:], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_transpose_goes_through_shared_memory_of_its_own() -> None:
    kernel, arguments, _ = CASES[-1]
    assert tileas.compile(kernel, *arguments, target="sm_90a").abi.shared_bytes > 0


def test_launches_of_many_tile_blocks_share_ctas() -> None:
    """More than run at once: 32 CTAs on each multiprocessor."""
    kernel, arguments, _ = CASES[0]
    asked = tileas.compile(kernel, *arguments, target="sm_90a").abi.persistent_launches
    assert isinstance(asked, PersistentLaunches)
    assert not asked.suits(arguments, (32, 132, 1), 132)
    assert asked.suits(arguments, (32, 133, 1), 132)


@ct.kernel
def counted(x, total, tile: ct.Constant[int]):
    """Sums that all tile blocks add to memory."""
    block = ct.load(x, (ct.bid(0),), (tile,))
    ct.atomic_add(total, 0, ct.sum(block))


def test_tile_blocks_that_may_exchange_data_keep_their_ctas() -> None:
    made = tileas.compile(counted, floats(512), floats(1), 128, target="sm_90a")
    assert made.abi.persistent_launches is None
    assert made.persistent.abi.threads == 32


@ct.kernel
def smoothed(x, y, rounds: int, tile: ct.Constant[int], loads: ct.Constant[bool]):
    """Rounds that subtract means, of a tile or of what is loaded again in each of them."""
    row = ct.bid(0)
    block = ct.load(x, (row, 0), (1, tile))
    for k in range(rounds):
        if loads:
            block = block + ct.load(x, (row, k), (1, tile))
        block = block - ct.sum(block) * 0.01
    ct.store(y, (row, 0), block)


@pytest.mark.parametrize(("loads", "together"), [(True, 8 * 32), (False, None)])
def test_loops_ask_for_many_rounds_if_they_load(loads: bool, together: int | None) -> None:
    """Tile blocks with loops may differ in length; without loads, instructions bound them."""
    made = tileas.compile(smoothed, floats(4, 32), floats(4, 32), 3, 32, loads, target="sm_90a")
    assert made.abi.threads == 32
    asked = made.abi.persistent_launches
    assert (None if asked is None else asked.together) == together
