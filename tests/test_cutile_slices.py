"""Slices along unit dimensions: assumptions about a stride that no access multiplies hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct = pytest.importorskip("cuda.tile")


@ct.kernel
def column(x: Any, y: Any) -> None:
    ct.store(y, (0, 0), ct.load(x.slice(1, 1, 2), (0, 0), (16, 1)))


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_one_column(target: str) -> None:
    """cuTile says that 4 divides the stride of the only column, which is 1."""
    x = np.random.default_rng(0).standard_normal((16, 4)).astype(np.float32)
    y = np.zeros((16, 1), np.float32)
    kernel = tileas.compile(column, x, y, target=target)
    for run in (kernel.evaluate, kernel.simulate, kernel.emulate):
        np.testing.assert_array_equal(run(x, y, grid=1).arrays[1], x[:, 1:2])
