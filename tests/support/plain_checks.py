"""Check tile kernels against numpy, on the tile interpreter and as emulated PTX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.compiler import compile

Array = NDArray[Any]
Grid = tuple[int, int, int]

TARGETS = ("sm_90a", "sm_100a")


def check(
    text: str,
    arguments: Sequence[Any],
    expected: Array,
    grid: Grid = (1, 1, 1),
    *,
    tolerance: float = 0.0,
    targets: Sequence[str] = TARGETS,
) -> None:
    """Assert the last argument's contents and no findings; without tolerance, bitwise."""
    made = [compile(text, target) for target in targets]
    found = [np.asarray(made[0].simulate(*arguments, grid=grid).arrays[-1])]
    for kernel in made:
        run = kernel.emulate(*arguments, grid=grid, order="drift")
        assert [str(finding) for finding in run.findings] == []
        found.append(np.asarray(run.arrays[-1]))
    for array in found:
        _compare(array, expected, tolerance)


def _compare(found: Array, expected: Array, tolerance: float) -> None:
    if not tolerance:
        np.testing.assert_array_equal(found, expected.astype(found.dtype))
        return
    wide = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(*wide, rtol=tolerance, atol=tolerance)
