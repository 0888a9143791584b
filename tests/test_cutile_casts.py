"""`ct.astype` between types where more than one result is plausible: booleans and roundings."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import tileas_xdsl as tileas

ct = pytest.importorskip("cuda.tile")

Array = NDArray[Any]
TARGETS = ("sm_90a", "sm_100a")
SPECIAL = [0.3, -1.0, np.nan, 0.0, -0.0, np.inf, 1.0, 0.5]


def caster(to: Any, mode: Any = None) -> Any:
    """Return a kernel that casts a row of 64 elements to `to`, then to the type of its result."""

    @ct.kernel
    def cast(x: Any, y: Any) -> None:
        tile = ct.astype(ct.load(x, (0,), (64,)), to, rounding_mode=mode)
        ct.store(y, (0,), ct.astype(tile, y.dtype))

    return cast


def check(kernel: Any, x: Array, wanted: Array, target: str) -> None:
    """As tiles and in threads, `x` becomes what is wanted, bit for bit."""
    compiled = tileas.compile(kernel, x, np.zeros_like(wanted), target=target)
    for run in (compiled.simulate, compiled.emulate):
        found = run(x, np.zeros_like(wanted), grid=1).arrays[1]
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize(
    "dtype",
    [
        np.float64,
        np.float32,
        np.float16,
        ml_dtypes.bfloat16,
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e8m0fnu,
        np.int8,
        np.uint16,
        np.int64,
    ],
)
def test_what_is_not_zero_is_true(dtype: type[Any]) -> None:
    """0.3, -1 and NaN too; scales have no zero at all."""
    is_integer = np.dtype(dtype).kind in "iu"
    values = np.arange(64) % 5 * 64 if is_integer else np.resize(SPECIAL, 64)
    x = values.astype(dtype)
    wanted = np.ones(64, np.bool_) if dtype is ml_dtypes.float8_e8m0fnu else x.astype(np.bool_)
    check(caster(ct.bool_), x, wanted, "sm_90a")


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, ml_dtypes.float8_e5m2, np.int8, np.uint64]
)
def test_true_is_one(dtype: type[Any]) -> None:
    x = np.arange(64) % 3 == 0
    wanted = x.astype(np.float64).astype(dtype)
    check(caster(ct.int32), x, wanted, "sm_100a")


def short(dtype: type[Any], keep: int) -> Array:
    """Numbers of few significant bits: many are halfway between those of a narrower type."""
    rng = np.random.default_rng(keep)
    whole = rng.integers(1 << keep, 2 << keep, 64).astype(np.float64)
    return (whole * 2.0 ** rng.integers(-12, 2, 64) * rng.choice([-1, 1], 64)).astype(dtype)


def away(x: Array, bits: int) -> Array:
    """Round to `bits` significant bits, halves away from zero."""
    fraction, exponent = np.frexp(x.astype(np.float64))
    scaled = np.abs(fraction) * 2.0**bits
    return np.copysign(np.ldexp(np.floor(scaled + 0.5), exponent - bits), x)


def even(x: Array, bits: int) -> Array:
    fraction, exponent = np.frexp(x.astype(np.float64))
    return np.ldexp(np.rint(fraction * 2.0**bits), exponent - bits)


def chopped(x: Array, bits: int) -> Array:
    fraction, exponent = np.frexp(x.astype(np.float64))
    return np.ldexp(np.trunc(fraction * 2.0**bits), exponent - bits)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("mode", "rounded"), [(None, even), ("RN", even), ("RA", away), ("RZ", chopped)]
)
def test_tf32_rounds_to_nearest_even(mode: str | None, rounded: Any, target: str) -> None:
    x = short(np.float32, 11)
    kernel = caster(ct.tfloat32, mode and ct.RoundingMode[mode])
    check(kernel, x, rounded(x, 11).astype(np.float32), target)


@pytest.mark.parametrize(("mode", "direction"), [("RM", -1), ("RP", 1), ("RZ", 0), ("RN", None)])
def test_f64_rounds_to_f32_in_every_direction(mode: str, direction: int | None) -> None:
    x = np.random.default_rng(3).standard_normal(64)
    near = x.astype(np.float32)
    if direction is not None:
        side = np.where(direction == 0, -np.sign(x), direction)
        beyond = np.where(side < 0, near > x, near < x)
        near = np.where(beyond, np.nextafter(near, side.astype(np.float32) * np.inf), near)
    check(caster(ct.float32, ct.RoundingMode[mode]), x, near, "sm_90a")


@pytest.mark.parametrize(("narrow", "bits"), [("float16", 11), ("bfloat16", 8)])
@pytest.mark.parametrize("wide", [np.float32, np.float64])
def test_halves_are_cut(wide: type[Any], narrow: str, bits: int) -> None:
    x = short(wide, bits)
    wanted = chopped(x, bits).astype(np.float32)
    dtype = np.dtype(narrow if narrow == "float16" else ml_dtypes.bfloat16)
    check(caster(getattr(ct, narrow), ct.RoundingMode.RZ), x, wanted.astype(dtype), "sm_100a")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("mode", ["RP", "RZ"])
def test_scales_are_powers_of_two(mode: str, target: str) -> None:
    """As block-scaled products take them; sm_90 has no instruction for this."""
    x = np.abs(np.random.default_rng(4).standard_normal(64)).astype(np.float32)
    x[:4] = 1.0, 2.0**-127, 3e-39, 3e38
    fraction, exponent = np.frexp(x)
    power = exponent - 1 + ((fraction > 0.5) & (mode == "RP"))
    code = np.clip(power + 127, 0, 254).astype(np.uint8)
    kernel = caster(ct.float8_e8m0fnu, ct.RoundingMode[mode])
    check(kernel, x, code.view(ml_dtypes.float8_e8m0fnu), target)


@pytest.mark.parametrize("byte", [np.int8, np.uint8])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_bytes_become_halves_four_at_a_time(byte: type[Any], dtype: type[Any]) -> None:
    """All 256 of them, without a conversion instruction."""

    @ct.kernel
    def cast(x: Any, y: Any) -> None:
        ct.store(y, (0,), ct.astype(ct.load(x, (0,), (512,)), y.dtype))

    x = np.arange(512).astype(np.uint8).view(byte)
    check(cast, x, x.astype(dtype), "sm_90a")
    assert "cvt.rn" not in tileas.compile(cast, x, x.astype(dtype)).ptx
