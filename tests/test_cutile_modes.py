"""Reductions and scans of cuTile that round in a direction or flush subnormal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tileas_xdsl as tileas

ct = pytest.importorskip("cuda.tile")

Array = NDArray[Any]


def kernel(combine: Any, mode: str | None, *, flush: bool = False) -> Any:
    """Return a kernel that combines the rows of a tile of 8 x 64."""
    rounding = mode and ct.RoundingMode[mode]

    @ct.kernel
    def combined(x: Any, y: Any) -> None:
        t = ct.load(x, (0, 0), (8, 64))
        found = combine(t, axis=1, rounding_mode=rounding, flush_to_zero=flush)
        ct.store(y, (0,), ct.reshape(found, (-1,)))

    return combined


def results(compiled: Any, x: Array, like: Array) -> list[Array]:
    """Return what the tile interpreter and the emulator compute, for a flat array."""
    flat = np.zeros(like.size, like.dtype)
    return [
        run(x, flat, grid=1).arrays[1].reshape(like.shape)
        for run in (compiled.simulate, compiled.emulate)
    ]


@pytest.mark.parametrize(
    ("mode", "name", "dtype"),
    [
        ("RM", "sum", np.float32),
        ("RP", "prod", np.float64),
        ("RZ", "sum", np.float64),
        ("RZ", "cumsum", np.float32),
        ("RP", "cumprod", np.float32),
    ],
)
def test_every_step_is_rounded_in_the_direction(mode: str, name: str, dtype: type[Any]) -> None:
    """Of positive numbers all results are on one side of the exact ones, and not all equal."""
    x = np.random.default_rng(1).uniform(0.9, 1.1, (8, 64)).astype(dtype)
    exact: Array = getattr(np, f"cum{name.removeprefix('cum')}")(x.astype(np.longdouble), 1)
    exact = exact if name.startswith("cum") else exact[:, -1]
    compiled = tileas.compile(kernel(getattr(ct, name), mode), x, exact.astype(dtype).ravel())
    for found in results(compiled, x, exact.astype(dtype)):
        np.testing.assert_allclose(found.astype(np.longdouble), exact, 100 * np.finfo(dtype).eps)
        assert np.all(found >= exact) if mode == "RP" else np.all(found <= exact)
        assert np.any(found != exact)


@ct.kernel
def largest(x: Any, y: Any) -> None:
    ct.store(y, (0,), ct.max(ct.load(x, (0, 0), (8, 64)), axis=1, flush_to_zero=True))


@pytest.mark.parametrize("name", ["prod", "cumprod"])
def test_small_products_are_zero(name: str) -> None:
    """Powers of 1/4, which get smaller than 2**-126 on the way."""
    x = np.full((8, 64), 0.25, np.float32)
    powers = np.broadcast_to(0.25 ** np.arange(1, 65), (8, 64))
    wanted = np.where(powers < 2.0**-126, 0.0, powers).astype(np.float32)
    wanted = wanted if name == "cumprod" else wanted[:, -1].copy()
    compiled = tileas.compile(kernel(getattr(ct, name), None, flush=True), x, wanted.ravel())
    for found in results(compiled, x, wanted):
        np.testing.assert_array_equal(found, wanted)


def test_the_largest_of_subnormal_numbers_is_zero() -> None:
    x = np.full((8, 64), 1e-39, np.float32)
    x[::2, 5] = 2.0**-126
    wanted = np.where(x[:, 5] < 2.0**-126, np.float32(0), x[:, 5])
    compiled = tileas.compile(largest, x, wanted, target="sm_100a")
    for found in results(compiled, x, wanted):
        np.testing.assert_array_equal(found, wanted)
