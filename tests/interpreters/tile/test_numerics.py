"""Rounding against exact arithmetic, on random bits and at every boundary."""

from fractions import Fraction
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

from tileas_xdsl.interpreters.tile.numerics import (
    FLOAT_FORMATS,
    ElementError,
    cast,
    dtype_of,
    matmul_f32,
    round_to_tf32,
    to_float,
    unsigned,
    wrap_integer,
)

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
NARROW = ["f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"]


def all_values(name: str) -> list[float]:
    """Every finite value of a narrow format, by its bits."""
    dtype = FLOAT_FORMATS[name].dtype
    width = int(name[1])
    values = np.arange(1 << width, dtype=np.uint8).view(dtype).astype(np.float64)
    return sorted({float(v) for v in values if np.isfinite(v)})


def nearest_even(x: float, grid: list[float]) -> set[float]:
    """The values of `grid` nearest to x: one, or two at a tie."""
    distance = [abs(Fraction(x) - Fraction(g)) for g in grid]
    return {g for g, d in zip(grid, distance, strict=True) if d == min(distance)}


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
