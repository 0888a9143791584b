"""Tile IR that the package writes and its specification does not have, put right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct = pytest.importorskip("cuda.tile")

COUNT = 128


@ct.kernel
def quotients(x, y, down, rest, up):
    a, b = ct.load(x, (0,), (COUNT,)), ct.load(y, (0,), (COUNT,))
    ct.store(down, (0,), a // b)
    ct.store(rest, (0,), a % b)
    ct.store(up, (0,), ct.cdiv(a, b))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
def test_quotients_of_unsigned_integers(dtype: Any) -> None:
    rng, most = np.random.default_rng(1), np.iinfo(dtype).max
    x = rng.integers(0, most, COUNT, dtype=dtype, endpoint=True)
    y = rng.integers(1, most, COUNT, dtype=dtype, endpoint=True)
    x[:2], y[:2] = most, (1, most)
    outputs = [np.zeros_like(x) for _ in range(3)]
    kernel = tileas.compile(quotients, x, y, *outputs, target="sm_90a")
    down, rest, up = kernel.emulate(x, y, *outputs, grid=1).arrays[2:]
    np.testing.assert_array_equal(down, x // y)
    np.testing.assert_array_equal(rest, x % y)
    np.testing.assert_array_equal(up, x // y + (x % y != 0))
