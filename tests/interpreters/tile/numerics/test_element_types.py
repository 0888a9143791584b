"""Rounding against exact arithmetic, on random bits and at every boundary."""

from fractions import Fraction
from functools import cache
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    IndexType,
    IntegerType,
    TupleType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)

from tileas_xdsl.interpreters.tile.numerics.element_types import (
    FLOAT_FORMATS,
    ElementError,
    cast,
    dtype_of,
    matmul_f32,
    round_to_tf32,
    to_float,
    truncate_to_tf32,
    unsigned,
    widened,
    wrap_integer,
)

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
NARROW = ["f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"]


@cache
def all_values(name: str) -> list[float]:
    """Every finite value of a narrow format, by its bits."""
    dtype = FLOAT_FORMATS[name].dtype
    width = int(name[1])
    values = np.arange(1 << width, dtype=np.uint8).view(dtype).astype(np.float64)
    return sorted({float(v) for v in values if np.isfinite(v)})


def nearest_even(x: float, grid: list[float]) -> set[float]:
    """The values of `grid` nearest to x: one, or two at a tie."""
    distance = [abs(Fraction(x) - Fraction(g)) for g in grid]
    nearest = min(distance)
    return {g for g, d in zip(grid, distance, strict=True) if d == nearest}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", NARROW)
@given(x=finite)
def test_narrow_formats_round_to_the_nearest_and_saturate(name: str, x: float) -> None:
    result = float(to_float(np.float32([x]), FLOAT_FORMATS[name])[0])
    assert result in nearest_even(x, all_values(name))


@pytest.mark.parametrize("name", NARROW)
def test_ties_go_to_even(name: str) -> None:
    grid = all_values(name)
    dtype = FLOAT_FORMATS[name].dtype
    for low, high in pairwise(grid):
        middle = np.float32([(low + high) / 2])
        rounded = to_float(middle, FLOAT_FORMATS[name])
        bits = int(np.abs(rounded.astype(np.float32)).astype(dtype).view(np.uint8)[0])
        assert bits % 2 == 0


@pytest.mark.parametrize("name", NARROW)
def test_specials_saturate_or_stay(name: str) -> None:
    made = to_float(np.float32([np.inf, -np.inf, np.nan, -0.0]), FLOAT_FORMATS[name])
    back = made.astype(np.float32)
    limit = float(ml_dtypes.finfo(FLOAT_FORMATS[name].dtype).max)
    assert back[0] == limit
    assert back[1] == -limit
    if name.startswith("f8"):
        assert np.isnan(back[2])
    assert np.signbit(back[3])


@given(st.integers(0, 2**32 - 1))
def test_tf32_is_f32_with_ten_bits(bits: int) -> None:
    x = np.array([bits], dtype=np.uint32).view(np.float32)
    result = round_to_tf32(x)
    if np.isnan(x[0]):
        assert np.isnan(result[0])
        return
    assert int(result.view(np.uint32)[0]) % (1 << 13) == 0
    if np.isfinite(x[0]) and np.isfinite(result[0]):
        low = np.array([bits & ~0x1FFF], dtype=np.uint32).view(np.float32)
        high = np.array([(bits & ~0x1FFF) + 0x2000], dtype=np.uint64).astype(np.uint32)
        high = high.view(np.float32)
        gap = abs(Fraction(float(result[0])) - Fraction(float(x[0])))
        assert gap <= abs(Fraction(float(low[0])) - Fraction(float(x[0])))
        if np.isfinite(high[0]):
            assert gap <= abs(Fraction(float(high[0])) - Fraction(float(x[0])))


@given(finite)
def test_half_precision_overflows_to_infinity(x: float) -> None:
    result = cast(np.float32([x]), f16)
    assert result.dtype == np.float16
    assert np.isinf(result[0]) == (abs(x) >= 65520)
    assert cast(np.float32([x]), bf16).dtype == ml_dtypes.bfloat16


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from([2, 4, 7, 8, 16, 24, 32, 64]))
def test_integers_wrap(x: int, width: int) -> None:
    result = wrap_integer(np.array([x]), width)
    expected = (x + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))
    assert int(result[0]) == expected
    assert int(unsigned(result, width)[0]) == x % (1 << width)


def test_element_types() -> None:
    assert dtype_of(i1) == np.bool_
    assert [dtype_of(t) for t in (i8, i16, i32, i64)] == [np.int8, np.int16, np.int32, np.int64]
    assert [dtype_of(t) for t in (f16, f32, f64)] == [np.float16, np.float32, np.float64]
    assert dtype_of(IndexType()) == np.int64
    assert dtype_of(IntegerType(4)) == np.int8
    assert cast(np.array([3]), i1).tolist() == [True]
    with pytest.raises(ElementError, match="is no element type"):
        dtype_of(TupleType([]))
    with pytest.raises(ElementError, match="128 bits"):
        dtype_of(IntegerType(128))


def test_products_accumulate_in_single_precision() -> None:
    rng = np.random.default_rng(1)
    a = rng.standard_normal((32, 64)).astype(np.float16)
    b = rng.standard_normal((64, 16)).astype(np.float16)
    c = rng.standard_normal((32, 16)).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64) + c
    result = matmul_f32(a, b, c)
    assert result.dtype == np.float32
    assert np.allclose(result, exact, rtol=1e-5, atol=1e-4)


def oracle(x: Fraction, mantissa: int, least: int, largest: int) -> Fraction | None:
    """The nearest number of a binary format, ties to even, None past the last.

    The format has `mantissa` bits after the point, exponents of normal numbers from `least` to
    `largest`, and subnormal numbers.
    """
    if x == 0:
        return Fraction(0)
    exponent = least
    while abs(x) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = Fraction(2) ** (exponent - mantissa)
    rounded = round(x / unit) * unit
    return None if abs(rounded) >= Fraction(2) ** (largest + 1) else rounded


BINARY = {
    "f16": (10, -14, 15),
    "bf16": (7, -126, 127),
    "tf32": (10, -126, 127),
    "f32": (23, -126, 127),
    "f8E5M2": (2, -14, 15),
    "f8E4M3FN": (3, -6, 8),
    "f6E2M3FN": (3, 0, 2),
    "f6E3M2FN": (2, -2, 4),
    "f4E2M1FN": (1, 0, 2),
}
"""Bits of the mantissa, least and largest exponent.  Sources: IEEE 754, OCP, PTX ISA."""


def near_ties(name: str) -> st.SearchStrategy[float]:
    """Numbers at, and a little beside, the middle of two neighbours, subnormal ones too."""
    mantissa, least, largest = BINARY[name]
    return st.builds(
        lambda sign, odd, exponent, bits, away: (
            sign * (odd / 2 + away * 2.0**-bits) * 2.0 ** (exponent - mantissa)
        ),
        st.sampled_from([-1, 1]),
        st.integers(0, 4 << mantissa),
        st.integers(least, min(largest, least + 12)) | st.integers(least, largest),
        st.integers(8, 36),
        st.sampled_from([-1, 0, 1]),
    )


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", BINARY)
@given(data=st.data())
def test_every_format_rounds_once(name: str, data: st.DataObject) -> None:
    """From f64, and from f32 where it holds the number; fp8 E4M3 ends at 448, not at 480."""
    x = data.draw(near_ties(name))
    form = FLOAT_FORMATS[name]
    limit = Fraction(float(ml_dtypes.finfo(form.dtype).max))
    wanted = oracle(Fraction(x), *BINARY[name])
    sources = [np.float64([x])]
    with np.errstate(over="ignore"):
        single = np.float32(x)
    if float(single) == x:
        sources.append(np.float32([x]))
    for source in sources:
        found = float(to_float(source, form)[0])
        if wanted is not None and abs(wanted) <= limit:
            assert Fraction(found) == wanted
        elif form.saturates:
            assert abs(Fraction(found)) == limit
        else:
            assert np.isinf(found)
        assert np.signbit(found) == np.signbit(x)


@pytest.mark.parametrize("name", ["f16", "bf16", "tf32", "f32", "f8E5M2", "f8E4M3FN"])
@given(
    value=st.integers(-(2**63), 2**63 - 1)
    | st.builds(
        lambda top, shift, low: min((top << shift) + low, 2**63 - 1),
        st.integers(1, 2**12),
        st.integers(0, 51),
        st.sampled_from([-1, 0, 1]),
    )
)
def test_integers_become_floats_in_one_rounding(name: str, value: int) -> None:
    form = FLOAT_FORMATS[name]
    wanted = oracle(Fraction(value), *BINARY[name])
    sources = [np.int64([value])]
    if value >= 0:
        sources.append(np.uint64([value]))
    if abs(value) < 2**31:
        sources.append(np.int32([value]))
    for source in sources:
        found = float(to_float(source, form)[0])
        if form.saturates and (
            wanted is None or abs(wanted) > float(ml_dtypes.finfo(form.dtype).max)
        ):
            assert abs(found) == float(ml_dtypes.finfo(form.dtype).max)
        elif wanted is None:
            assert np.isinf(found)
        else:
            assert Fraction(found) == wanted


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("exponent", range(24, 63))
def test_one_past_a_tie_is_seen_in_large_integers(sign: int, exponent: int) -> None:
    """f64, and f32 on the way to bf16, would round the 1 away and leave a tie."""
    value = sign * ((1 << exponent) + (1 << (exponent - 8)) + 1)
    found = to_float(np.int64([value]), FLOAT_FORMATS["bf16"])
    assert float(found[0]) == sign * ((1 << exponent) + (1 << (exponent - 7)))


@pytest.mark.parametrize("name", [n for n in FLOAT_FORMATS if n != "f8E8M0FNU"])
def test_specials_of_every_format(name: str) -> None:
    form = FLOAT_FORMATS[name]
    for dtype in (np.float32, np.float64):
        found = to_float(np.array([np.nan, np.inf, -np.inf, -0.0, 0.0], dtype), form)
        nan, high, low, minus, plus = found.astype(np.float64)
        limit = float(ml_dtypes.finfo(form.dtype).max) if form.saturates else np.inf
        assert (high, low) == (limit, -limit)
        assert (minus, np.signbit(minus), plus, np.signbit(plus)) == (0, True, 0, False)
        has_nan = name[:3] not in ("f6E", "f4E")
        assert np.isnan(nan) if has_nan else nan == limit


@pytest.mark.parametrize("bits", [0x3F801000, 0x3F803000, 0x00001000, 0x7F7FFFFF, 0xFF7FF000])
def test_tf32_ties_go_to_even_and_the_largest_overflow(bits: int) -> None:
    result = int(round_to_tf32(np.array([bits], np.uint32).view(np.float32)).view(np.uint32)[0])
    low, high = bits & ~0x1FFF, (bits & ~0x1FFF) + 0x2000
    if bits & 0x1FFF == 0x1000:
        assert result == (low if low & 0x2000 == 0 else high)
    else:
        assert result == high
    assert bits != 0x7F7FFFFF or result == 0x7F800000


@given(st.integers(0, 2**32 - 1))
def test_tensor_cores_ignore_the_last_bits_of_tf32(bits: int) -> None:
    read = truncate_to_tf32(np.array([[bits]], np.uint32).view(np.float32))
    assert read.shape == (1, 1)
    assert int(read.view(np.uint32)[0, 0]) == bits >> 13 << 13


@pytest.mark.parametrize("name", FLOAT_FORMATS)
def test_widening_is_exact_for_all_bits(name: str) -> None:
    dtype = FLOAT_FORMATS[name].dtype
    if dtype.itemsize > 2:
        values = np.random.default_rng(2).standard_normal((5, 3)).astype(dtype)
    else:
        bits = np.arange(256**dtype.itemsize).astype(f"u{dtype.itemsize}")
        values = bits.view(dtype).reshape(16, -1)
    for view in (values, values[::2, 1::2], values.T, values[3, 2]):
        wide = widened(np.asarray(view))
        assert wide.dtype == np.float32
        assert wide.shape == np.shape(view)
        with np.errstate(invalid="ignore"):
            wanted = np.asarray(view).astype(np.float64).astype(np.float32)
        assert np.array_equal(wide, wanted, equal_nan=True)
        known = ~np.isnan(wanted)
        assert np.array_equal(np.signbit(wide)[known], np.signbit(wanted)[known])


def test_the_least_scale_is_no_zero() -> None:
    scales = np.array([0, 1, 127, 254], np.uint8).view(ml_dtypes.float8_e8m0fnu)
    assert widened(scales).tolist() == [2.0**-127, 2.0**-126, 1.0, 2.0**127]
