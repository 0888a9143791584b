"""Atomics of cuTile: swaps that are masked out or out of bounds, sums of rows by vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct = pytest.importorskip("cuda.tile")


@ct.kernel
def swap_where_masked(x: Any, expected: Any, desired: Any, out: Any, limit: Any) -> None:
    offset = ct.arange(64, dtype=ct.int64) + ct.bid(0) * 64
    old = x.get_raw_memory().atomic_cas_offset(
        offset, ct.gather(expected, offset), ct.gather(desired, offset), mask=offset < limit
    )
    ct.scatter(out, offset, old)


@ct.kernel
def swap_in_bounds(x: Any, expected: Any, desired: Any, out: Any, limit: Any) -> None:
    """The array has `limit` elements."""
    index = ct.arange(64, dtype=ct.int32) + ct.bid(0) * 64
    old = ct.atomic_cas(x, index, ct.gather(expected, index), ct.gather(desired, index))
    ct.scatter(out, index, old)


@ct.kernel
def swap_one(x: Any, expected: Any, desired: Any, out: Any, limit: Any) -> None:
    index = ct.bid(0)
    old = ct.atomic_cas(x, index, ct.gather(expected, index), ct.gather(desired, index))
    ct.scatter(out, index, old)


@pytest.mark.sample(9)
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float32])
@pytest.mark.parametrize("kernel", [swap_where_masked, swap_in_bounds, swap_one])
def test_what_is_not_updated_gives_what_was_expected(
    kernel: Any, dtype: type[Any], target: str
) -> None:
    rng = np.random.default_rng(5)
    grid, count, limit = (8, 8, 5) if kernel is swap_one else (2, 128, 70)
    length = count if kernel is swap_where_masked else limit
    x, expected, desired = (rng.integers(1, 9, count).astype(dtype) for _ in range(3))
    expected[::2] = x[::2]
    inside = np.arange(count) < limit
    new = np.where(inside & (x == expected), desired, x)
    old = np.where(inside, x, expected)
    arguments = (x[:length].copy(), expected, desired, np.zeros(count, dtype), limit)
    compiled = tileas.compile(kernel, *arguments, target=target)
    for run in (compiled.simulate, compiled.emulate):
        found = run(*arguments, grid=grid).arrays
        np.testing.assert_array_equal(found[0], new[:length])
        np.testing.assert_array_equal(found[3], old)


@ct.kernel
def add_rows(gradients: Any, tokens: Any, table: Any, loaded: Any) -> None:
    """The gradient of an embedding: 8 neighbours of f16 in a thread are 8 of f32."""
    rows = ct.load(tokens, (ct.bid(0),), (4,))[:, None]
    columns = ct.arange(256, dtype=ct.int32)[None, :]
    values = ct.load(gradients, (ct.bid(0), 0), (4, 256)).astype(ct.float32)
    before = ct.gather(loaded, (rows, columns))
    ct.atomic_add(table, (rows, columns), values + before)


def test_rows_are_added_by_vectors_of_16_bytes() -> None:
    rng = np.random.default_rng(6)
    gradients = rng.standard_normal((16, 256)).astype(np.float16)
    tokens = rng.integers(0, 10, 16).astype(np.int32)
    table, loaded = (rng.standard_normal((10, 256)).astype(np.float32) for _ in range(2))
    expected = table.astype(np.float64)
    np.add.at(expected, tokens, gradients.astype(np.float64) + loaded[tokens])
    arguments = (gradients, tokens, table, loaded)
    kernel = tileas.compile(add_rows, *arguments, target="sm_90a")
    assert "red.relaxed.gpu.global.add.v4.f32" in kernel.ptx
    assert "global.add.f32" not in kernel.ptx
    found = kernel.emulate(*arguments, grid=4)
    assert not found.findings
    np.testing.assert_allclose(found.arrays[2], expected, rtol=0, atol=1e-5)
