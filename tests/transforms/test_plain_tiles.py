"""Plain tiles in the threads of a block: the emulator, the tile interpreter and numpy agree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.plain_kernels import LAUNCHES, Array, Launch
from tileas_xdsl.compiler import compile
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.rows import (
    ACCESS_BYTES,
    LANES,
    column_layout,
    flat_layout,
    rows_layout,
)


def _check(launch: Launch, found: Array) -> None:
    if not launch.tolerance:
        assert found.tobytes() == launch.expected.astype(found.dtype).tobytes()
        return
    expected = launch.expected.astype(np.float64)
    errors = np.abs(found.astype(np.float64) - expected) / np.maximum(1, np.abs(expected))
    assert errors.max() <= launch.tolerance


@pytest.mark.parametrize("name", LAUNCHES)
def test_the_ptx_computes_what_numpy_does(name: str) -> None:
    launch = LAUNCHES[name](np.random.default_rng(11))
    made = compile(launch.text)
    for order in ("eager", "random"):
        found = made.emulate(*launch.arguments, grid=launch.grid, order=order)
        assert [str(finding) for finding in found.findings] == []
        _check(launch, found.arrays[-1])


@pytest.mark.parametrize("name", [name for name in LAUNCHES if " by " not in name])
def test_the_interpreter_agrees(name: str) -> None:
    launch = LAUNCHES[name](np.random.default_rng(11))
    found = compile(launch.text).simulate(*launch.arguments, grid=launch.grid)
    _check(launch, np.asarray(found.arrays[-1]))
