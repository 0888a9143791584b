"""Rounding, arithmetic and conversions, against fractions and numpy."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode, Signedness
from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS
from tileas_xdsl.interpreters.cuda_tile.faults import Undefined
from tileas_xdsl.interpreters.cuda_tile.numerics.conversions import (
    float_to_float,
    float_to_integer,
    from_memory_bytes,
    integer_to_float,
    memory_bytes,
)
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import Array, dtype_of
from tileas_xdsl.interpreters.cuda_tile.numerics.rounding import flush
from tileas_xdsl.interpreters.cuda_tile.semantics.floats import calculated

RNG = np.random.default_rng(3)
MODES = (
    RoundingMode.NEAREST_EVEN,
    RoundingMode.ZERO,
    RoundingMode.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF,
)
BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "fma": lambda a, b, c: a * b + c,
}


def spread(count: int, word: str) -> Array:
    """Floats of many sizes, neighbours of powers of two among them."""
    limit = {"f16": 12, "bf16": 60, "f32": 60, "f64": 400}[word]
    exponents = RNG.integers(-limit, limit, count)
    mantissas = RNG.choice([1.0, 1 + 2.0**-7, 2 - 2.0**-7, *RNG.uniform(1, 2, 6)], count)
    signs = RNG.choice([-1.0, 1.0], count)
    with np.errstate(over="ignore"):
        return (signs * np.ldexp(mantissas, exponents)).astype(dtype_of(ELEMENTS[word]))


def neighbours(value: float, dtype: np.dtype[np.generic]) -> tuple[Fraction, Fraction]:
    """The numbers of a type around one of them."""
    here = np.asarray(value).astype(dtype)
    ends = (np.nextafter(here, np.asarray(end).astype(dtype)) for end in (-np.inf, np.inf))
    low, high = (Fraction(float(end)) for end in ends)
    return low, high


def is_right(
    exact: Fraction, found: float, mode: RoundingMode, dtype: np.dtype[np.generic]
) -> bool:
    """Whether `found` is what rounding an exact number in a direction gives."""
    here = Fraction(found)
    low, high = neighbours(found, dtype)
    toward_zero = exact >= 0
    match mode:
        case RoundingMode.NEGATIVE_INF:
            return here <= exact < high
        case RoundingMode.POSITIVE_INF:
            return low < exact <= here
        case RoundingMode.ZERO:
            return here <= exact < high if toward_zero else low < exact <= here
        case _:
            return abs(exact - here) <= min(abs(exact - low), abs(exact - high))


@pytest.mark.parametrize("word", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [*BINARY])
def test_arithmetic_is_rounded_once(name: str, mode: RoundingMode, word: str) -> None:
    count = 3 if name == "fma" else 2
    operands = tuple(spread(60, word) for _ in range(count))
    with np.errstate(all="ignore"):
        found = calculated(name, operands, ELEMENTS[word], mode)
    assert found.dtype == dtype_of(ELEMENTS[word])
    checked = 0
    tiny, huge = (float(ml_dtypes.finfo(found.dtype).smallest_normal), 0.0)
    huge = float(ml_dtypes.finfo(found.dtype).max)
    for result, *one in zip(found.tolist(), *(o.tolist() for o in operands), strict=True):
        exact = BINARY[name](*map(Fraction, one))
        if isfinite(result) and tiny < abs(result) < huge:
            assert is_right(exact, result, mode, found.dtype), (one, result)
            checked += 1
    assert checked > 30


@pytest.mark.parametrize("mode", MODES)
def test_roots_are_rounded_once(mode: RoundingMode) -> None:
    for word in ("f32", "f64"):
        values = np.abs(spread(50, word))
        found = calculated("sqrt", (values,), ELEMENTS[word], mode)
        for value, root in zip(values.tolist(), found.tolist(), strict=True):
            low, high = neighbours(root, found.dtype)
            up = mode is RoundingMode.POSITIVE_INF
            if mode is RoundingMode.NEAREST_EVEN:
                low, high = ((Fraction(root) + end) / 2 for end in (low, high))
                assert low**2 <= value <= high**2
            elif up:
                assert low**2 < value <= Fraction(root) ** 2
            else:
                assert Fraction(root) ** 2 <= value < high**2


def test_nearest_is_that_of_numpy() -> None:
    a, b = spread(500, "f32"), spread(500, "f32")
    nearest = RoundingMode.NEAREST_EVEN
    for name, function in (("add", np.add), ("mul", np.multiply), ("div", np.divide)):
        with np.errstate(all="ignore"):
            found = calculated(name, (a, b), ELEMENTS["f32"], nearest)
            np.testing.assert_array_equal(found, function(a, b))


def test_directions_at_the_ends() -> None:
    """What is too large is infinite only where the mode goes there; tiny numbers become tiny."""
    most, least = np.float32([3.4028235e38]), np.float32([1e-45])
    for mode, large, small in (
        (RoundingMode.ZERO, most, 0.0),
        (RoundingMode.NEGATIVE_INF, most, 0.0),
        (RoundingMode.POSITIVE_INF, np.inf, least),
    ):
        assert calculated("add", (most, most), ELEMENTS["f32"], mode) == large
        assert calculated("mul", (least, least), ELEMENTS["f32"], mode) == small
        wide = np.array([1.7e308])
        with np.errstate(over="ignore"):
            found = calculated("add", (wide, wide), ELEMENTS["f64"], mode)
        assert (found == np.finfo(float).max) == (large is most)


@pytest.mark.parametrize("word", ["f16", "f32", "f64"])
def test_sums_that_cancel_are_negative_if_rounded_down(word: str) -> None:
    """Unless both terms are +0 (IEEE 754, 6.3)."""
    dtype = dtype_of(ELEMENTS[word])
    a = np.array([1.5, 0.0, -0.0, 0.0, -0.0]).astype(dtype)
    b = np.array([-1.5, 0.0, -0.0, -0.0, 0.0]).astype(dtype)
    for mode, wanted in (
        (RoundingMode.NEGATIVE_INF, [True, False, True, True, True]),
        (RoundingMode.NEAREST_EVEN, [False, False, True, False, False]),
    ):
        for found in (
            calculated("add", (a, b), ELEMENTS[word], mode),
            calculated("sub", (a, -b), ELEMENTS[word], mode),
            calculated("fma", (a, np.ones_like(a), b), ELEMENTS[word], mode),
        ):
            assert not found.any()
            np.testing.assert_array_equal(np.signbit(found), wanted)


@pytest.mark.parametrize("word", ["f32", "f64"])
@pytest.mark.parametrize("mode", MODES)
def test_quotients_by_zero_are_infinite_in_every_mode(mode: RoundingMode, word: str) -> None:
    dtype = dtype_of(ELEMENTS[word])
    a, b = np.array([1.5, -1.5]).astype(dtype), np.array([-0.0, -0.0]).astype(dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = calculated("div", (a, b), ELEMENTS[word], mode)
    np.testing.assert_array_equal(found, [-np.inf, np.inf])


def test_flushing_keeps_signs() -> None:
    given = np.float32([1e-40, -1e-40, 1.2e-38, 0.0, -0.0])
    found = flush(given)
    np.testing.assert_array_equal(found, np.float32([0, -0.0, 1.2e-38, 0, -0.0]))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(given))


@pytest.mark.parametrize(
    ("word", "mode", "given", "wanted"),
    [
        # tf32 keeps 10 bits of mantissa: the tie of 1 + 2**-11 is to even.
        ("tf32", RoundingMode.NEAREST_EVEN, 1 + 2.0**-11, 1.0),
        ("tf32", RoundingMode.NEAREST_AWAY, 1 + 2.0**-11, 1 + 2.0**-10),
        ("tf32", RoundingMode.ZERO, 1 + 2.0**-10 - 2.0**-20, 1.0),
        ("f16", RoundingMode.NEAREST_EVEN, 65520.0, np.inf),
        ("f16", RoundingMode.ZERO, 1e9, 65504.0),
        ("bf16", RoundingMode.NEAREST_EVEN, 1 + 2.0**-8, 1.0),
        ("f8E4M3FN", RoundingMode.NEAREST_EVEN, 1000.0, 448.0),
        ("f8E4M3FN", RoundingMode.NEAREST_EVEN, np.nan, np.nan),
        ("f8E5M2", RoundingMode.NEAREST_EVEN, -np.inf, -57344.0),
        ("f4E2M1FN", RoundingMode.NEAREST_EVEN, 2.5, 2.0),
        ("f4E2M1FN", RoundingMode.NEAREST_EVEN, np.nan, 6.0),
        ("f8E8M0FNU", RoundingMode.POSITIVE_INF, 3.0, 4.0),
        ("f8E8M0FNU", RoundingMode.ZERO, 3.0, 2.0),
    ],
)
def test_conversions_of_floats(word: str, mode: RoundingMode, given: float, wanted: float) -> None:
    found = float_to_float(np.float32([given]), ELEMENTS["f32"], ELEMENTS[word], mode)
    np.testing.assert_array_equal(found.astype(np.float64), [wanted])


def test_integers_are_rounded_once() -> None:
    """2**63 + 2**39 + 1 is above the tie between two f32, which float64 would not see."""
    given = np.array([2**62 + 2**38 + 1, 2**62 + 2**38, -(2**62) - 2**38 - 1])
    found = integer_to_float(given, ELEMENTS["i64"], ELEMENTS["f32"], Signedness.SIGNED)
    np.testing.assert_array_equal(
        found, np.float32([2.0**62 + 2.0**39, 2.0**62, -(2.0**62) - 2.0**39])
    )
    unsigned = integer_to_float(
        np.array([-1]), ELEMENTS["i64"], ELEMENTS["f64"], Signedness.UNSIGNED
    )
    assert unsigned == 2.0**64
    narrow = np.array([70000, -500, 464])
    for word, wanted in (("f16", [np.inf, -500, 464]), ("f8E4M3FN", [np.nan, np.nan, 448])):
        found = integer_to_float(narrow, ELEMENTS["i64"], ELEMENTS[word], Signedness.SIGNED)
        np.testing.assert_array_equal(found.astype(np.float64), wanted)


def test_floats_become_integers_towards_zero() -> None:
    f32 = ELEMENTS["f32"]

    def converted(
        values: list[float], word: str, sign: Signedness, *, saturating: bool = False
    ) -> NDArray[np.generic]:
        given = np.float32(values)
        return float_to_integer(given, f32, ELEMENTS[word], sign, saturating=saturating)

    signed, unsigned = Signedness.SIGNED, Signedness.UNSIGNED
    np.testing.assert_array_equal(converted([1.9, -1.9], "i8", signed), [1, -1])
    np.testing.assert_array_equal(converted([200.9], "i8", unsigned).view(np.uint8), [200])
    found = converted([1e9, -1e9, np.nan], "i16", signed, saturating=True)
    np.testing.assert_array_equal(found, [32767, -32768, 0])
    np.testing.assert_array_equal(converted([2.0**63], "i64", unsigned).view(np.uint64), [2**63])
    for values, sign in (([128.0], signed), ([-1.0], unsigned), ([np.nan], signed)):
        with pytest.raises(Undefined, match="which is no"):
            converted(values, "i8", sign)
    truths = converted([0.3, -1.0, np.nan, 0.0, -0.0], "i1", unsigned)
    np.testing.assert_array_equal(truths, [True, True, True, False, False])


@pytest.mark.parametrize("word", [*ELEMENTS])
def test_memory_keeps_elements(word: str) -> None:
    element = ELEMENTS[word]
    codes = RNG.integers(0, 4 if word in ("i4", "f4E2M1FN") else 100, 8)
    values = codes.astype(dtype_of(element))
    data = memory_bytes(values, element)
    np.testing.assert_array_equal(from_memory_bytes(data, element), values)
