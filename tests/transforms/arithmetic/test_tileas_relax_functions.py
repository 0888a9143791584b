# pyright: basic
"""Functions of 16-bit floats are within a little more than rounding, of all such numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileas_xdsl as tileas

ct = pytest.importorskip("cuda.tile")

ConstInt = ct.Constant[int]
ConstFloat = ct.Constant[float]
ALL = 1 << 16
OF_HALF = 2.0**-10
"""Of half a last place, what a result may be off beside its own rounding."""
LOST = 2.0**-100
"""Results below it may be zero."""


@ct.kernel
def weighted(x, y, slope: ConstFloat, tile: ConstInt):
    i = ct.bid(0)
    t = ct.load(x, (i,), (tile,)).astype(ct.float32)
    ct.store(y, (i,), (t / (1.0 + ct.exp(t * -slope)) * 0.25).astype(y.dtype))


@ct.kernel
def of_squares(x, y, slope: ConstFloat, tile: ConstInt):
    i = ct.bid(0)
    t = ct.load(x, (i,), (tile,)).astype(ct.float32)
    ct.store(y, (i,), (t * t / (4.0 + ct.exp(t * -slope)) * 0.25).astype(y.dtype))


@ct.kernel
def enlarged(x, y, tile: ConstInt):
    t = ct.load(x, (0,), (tile,)).astype(ct.float32)
    ct.store(y, (0,), (t * 0.5 / (1.0 + ct.exp(-t)) * 2048.0).astype(y.dtype))


def test_scales_make_no_dividend_infinite() -> None:
    """Where the exponential is infinite, the quotient of a large number by it is zero."""
    x = np.full(256, -3e38, ml_dtypes.bfloat16)
    compiled = tileas.compile(enlarged, x, x.copy(), 256, target="sm_90a")
    assert "div.approx.ftz.f32" in compiled.ptx
    made = compiled.emulate(x, x.copy(), 256, grid=1).arrays[1]
    np.testing.assert_array_equal(np.asarray(made).astype(np.float32), 0)


def _exact(kernel: Any, x: Any, slope: float) -> Any:
    dividend, beside = (x, 1.0) if kernel is weighted else (x * x, 4.0)
    return dividend / (beside + np.exp(-slope * x)) * 0.25


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("element", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    ("kernel", "slope", "form"),
    [(weighted, 1.0, "approx"), (weighted, 1.702, "approx"), (of_squares, 1.0, "full")],
)
@pytest.mark.sample(4)
def test_all_numbers_are_within_rounding(
    kernel: Any, slope: float, form: str, element: Any, target: str
) -> None:
    x = np.arange(ALL, dtype=np.uint16).view(element)
    x = np.where(np.abs(x.astype(np.float32)) < 2.0**60, x, x.dtype.type(0))
    given = x, np.full_like(x, np.nan), slope, 1024
    compiled = tileas.compile(kernel, *given, target=target)
    assert f"div.{form}.ftz.f32" in compiled.ptx
    assert "div.rn" not in compiled.ptx
    run = compiled.emulate(*given, grid=ALL // 1024)
    assert not run.findings
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = _exact(kernel, x.astype(np.float64), slope)
    limits = ml_dtypes.finfo(element)
    shown = (np.abs(wanted) <= float(limits.max)) & (np.abs(wanted) >= LOST)
    exponents = np.log2(np.abs(wanted), where=shown, out=np.zeros_like(wanted))
    unit = 2.0 ** (np.maximum(np.floor(exponents), limits.minexp) - limits.nmant)
    error = np.abs(np.asarray(run.arrays[1]).astype(np.float64) - wanted) / unit
    assert shown.sum() > ALL // 4
    assert error[shown].max() <= 0.5 * (1 + OF_HALF)
    lost = np.abs(wanted) < LOST
    assert np.abs(np.asarray(run.arrays[1]).astype(np.float64)[lost]).max() <= LOST
