"""`cuda.tile.tune` on this compiler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct
from cuda.tile.tune import exhaustive_search
from support.cutile_programs import increment, shifted

import tileas_xdsl.cutile


def test_the_kernel_with_the_least_work_is_the_best() -> None:
    x = np.zeros(256, np.float32)

    def grid(tile: int) -> tuple[int]:
        return (256 // tile,)

    def args(tile: int) -> tuple[Any, ...]:
        return x.copy(), tile, 1.0

    with tileas_xdsl.cutile.installed(on="emulator"):
        found = exhaustive_search([32, 256, 30], None, grid, increment, args, quiet=True)
    assert found.best.config == 256
    assert [one.config for one in found.successes] == [32, 256]
    assert found.best.error_margin_us == 0
    ((config, error, _),) = found.failures
    assert (config, error) == (30, ct.TileTypeError)
    assert not x.any()


def test_a_kernel_with_findings_is_no_candidate() -> None:
    x = np.zeros(64, np.float32)
    with (
        tileas_xdsl.cutile.installed(on="emulator"),
        pytest.raises(ValueError, match="No valid config found"),
    ):
        exhaustive_search([1], None, lambda n: (n,), shifted, lambda n: (x, x.copy()), quiet=True)
