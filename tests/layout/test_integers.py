"""Arithmetic of sizes: extents of a launch."""

from typing import Any

import numpy as np
import pytest

from tileas_xdsl.layout.integers import three_extents


@pytest.mark.parametrize(
    ("sizes", "extents"),
    [
        (4, (4, 1, 1)),
        ((4, 2), (4, 2, 1)),
        ([4, np.int32(2), 3], (4, 2, 3)),
        (np.int64(7), (7, 1, 1)),
    ],
)
def test_absent_extents_are_1(sizes: Any, extents: tuple[int, int, int]) -> None:
    assert three_extents(sizes) == extents


@pytest.mark.parametrize("sizes", [0, (), (1, 2, 3, 4), (4, -1), 1.5, (2, 1.0), "44", None])
def test_what_is_no_grid_has_none(sizes: Any) -> None:
    assert three_extents(sizes) is None
