"""Plain tiles in the threads of a block: the emulator, the tile interpreter and numpy agree."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from tests.support.plain_kernels import LAUNCHES, Array, Launch
from tileas_xdsl.compiler import compile
from tileas_xdsl.layout.registers.blocked import (
    ACCESS_BYTES,
    blocked,
    line_layout,
    row_values_layout,
    rows_layout,
)
from tileas_xdsl.layout.units import WARP


def _check(launch: Launch, found: Array) -> None:
    if not launch.tolerance:
        assert found.tobytes() == launch.expected.astype(found.dtype).tobytes()
        return
    expected = launch.expected.astype(np.float64)
    errors = np.abs(found.astype(np.float64) - expected) / np.maximum(1, np.abs(expected))
    assert errors.max() <= launch.tolerance


@pytest.mark.sample(14)
@pytest.mark.parametrize("name", LAUNCHES)
def test_the_ptx_computes_what_numpy_does(name: str) -> None:
    launch = LAUNCHES[name](np.random.default_rng(11))
    made = compile(launch.text)
    for order in ("eager", "random") if name.startswith("piped") else ("random",):
        found = made.emulate(*launch.arguments, grid=launch.grid, order=order)
        assert [str(finding) for finding in found.findings] == []
        _check(launch, found.arrays[-1])


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", [name for name in LAUNCHES if " by " not in name])
def test_the_interpreter_agrees(name: str) -> None:
    launch = LAUNCHES[name](np.random.default_rng(11))
    found = compile(launch.text).simulate(*launch.arguments, grid=launch.grid)
    _check(launch, np.asarray(found.arrays[-1]))


def test_layouts_spread_every_tile_evenly() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        rows, columns = (1 << rng.integers(0, 9, 2)).tolist()
        warps, widest = int(rng.integers(1, 17)), int(1 << rng.integers(0, 4))
        flat = line_layout((columns,), warps, widest)
        matrix = rows_layout((rows, columns), warps, widest)
        for layout in (flat, matrix, row_values_layout(matrix)):
            form = blocked(layout)
            assert form is not None
            assert form.used_warps <= warps
            assert form.lanes <= WARP
            assert form.vector * widest <= max(ACCESS_BYTES, widest)
            assert form.stride * form.chunks == form.columns
            parts = max(form.row_warps, 1) * form.warps * form.lanes
            assert parts * form.blocks * form.registers == prod(layout.shape)
