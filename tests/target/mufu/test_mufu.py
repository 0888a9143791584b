"""Recorded results of the multi-function unit: the files, and the functions built on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tileas_xdsl.target.mufu.functions import FUNCTIONS, approximate
from tileas_xdsl.target.mufu.tables import TABLES, packed, recorded, unpacked

EXACT: dict[str, Callable[..., np.ndarray]] = {
    "ex2": np.exp2,
    "rcp": np.reciprocal,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sqrt": np.sqrt,
    "lg2": np.log2,
}

RELATIVE = {"ex2": 2.0**-22.5, "rcp": 2.0**-23, "rsqrt": 2.0**-22.9, "sqrt": 2.0**-23}
"""Maximum relative errors (PTX ISA 9.7.3); that of ex2 is 2 ulp."""


def test_packing_keeps_every_pattern() -> None:
    rng = np.random.default_rng(0)
    smooth = np.cumsum(rng.integers(-3, 4, 1000)).astype(np.int32).view(np.uint32)
    wild = rng.integers(0, 1 << 32, 100, dtype=np.uint32)
    for patterns in (smooth, wild, np.concatenate([smooth, wild])):
        assert unpacked(packed(patterns)).tolist() == patterns.tolist()


def test_every_table_is_there() -> None:
    sizes = {name: recorded(name).size for name in TABLES}
    assert sizes.pop("rsqrt") == sizes.pop("sqrt") == 1 << 24
    assert set(sizes.values()) == {1 << 23}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("ftz", [True, False])
def test_errors_are_within_the_bounds(name: str, ftz: bool) -> None:
    x = np.random.default_rng(1).integers(0, 1 << 32, 20_000, dtype=np.uint32).view(np.float32)
    if name == "ex2":
        x = np.random.default_rng(1).uniform(-150, 130, 20_000).astype(np.float32)
    found = approximate(name, x, ftz).astype(np.float64)
    flushed = np.where(np.abs(x) < 2.0**-126, np.copysign(0.0, x), x) if ftz else x
    with np.errstate(all="ignore"):
        exact = EXACT[name](flushed.astype(np.float64))
        exact = np.where(
            np.abs(exact) > np.finfo(np.float32).max, np.copysign(np.inf, exact), exact
        )
        if ftz:
            exact = np.where(np.abs(exact) < 2.0**-126, np.copysign(0.0, exact), exact)
        error = np.abs(found - exact)
    assert np.isnan(found).tolist() == np.isnan(exact).tolist()
    normal = np.isfinite(exact)
    assert found[~normal].tolist() == pytest.approx(exact[~normal].tolist(), nan_ok=True)
    if name == "lg2":
        bound = np.where((x > 0.5) & (x < 2), 2.0**-22, 2.0**-22 * np.abs(exact))
    else:
        bound = RELATIVE[name] * np.abs(exact) + 2.0**-149
    assert np.all(error[normal] <= bound[normal])


@pytest.mark.parametrize(
    ("name", "x", "found"),
    [
        ("ex2", -(2.0**-23), 1 - 2.0**-23),
        ("ex2", -1 - 2.0**-23, 0.5 - 2.0**-24),
        ("ex2", -(2.0**-25), 1.0),
        ("lg2", 0.5, -1 + 2.0**-23),
        ("lg2", 0.25, -2 + 2.0**-23),
        ("lg2", 0.125, -3 + 2.0**-22),
        ("lg2", 2.0**-100, -100 + 2.0**-17),
        ("lg2", 1 + 2.0**-23, float.fromhex("0x1.2becp-22")),
        ("lg2", 32 * (1 + 2.0**-23), 5.0),
    ],
)
def test_results_read_off_the_hardware(name: str, x: float, found: float) -> None:
    """Rows that are not the nearest number."""
    assert approximate(name, np.array([x], np.float32), ftz=True).tolist() == [found]
