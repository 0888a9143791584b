"""Every element-wise operation of Tile IR, down to `nv_tileas` and run there, against numpy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.tile_ir import TYPES, Array, whole_tiles

SHAPE = (4, 8)
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5)


def tile(dtype: Any) -> str:
    return f"tile<4x8x{TYPES[np.dtype(dtype).name]}>"


def floats(rng: np.random.Generator, dtype: Any = np.float32) -> Array:
    """Random numbers, with special ones in the first row."""
    values = rng.standard_normal(SHAPE) * 4
    values[0] = SPECIAL
    return values.astype(dtype)


def integers(rng: np.random.Generator, dtype: Any) -> Array:
    """Random numbers, with the extremes among them."""
    if np.dtype(dtype) == np.bool_:
        return rng.integers(0, 2, SHAPE).astype(np.bool_)
    limits = np.iinfo(dtype)
    values = rng.integers(limits.min, limits.max, SHAPE, dtype=dtype, endpoint=True)
    values[0] = [limits.min, limits.max, 0, 1, -1, 2, 3, -3]
    return values


def check(body: str, inputs: list[Array], wanted: Array, tolerance: float = 0.0) -> None:
    (found,) = whole_tiles(body, inputs, [np.zeros_like(wanted)])
    if tolerance:
        np.testing.assert_allclose(
            found.astype(np.float64), wanted.astype(np.float64), tolerance, tolerance
        )
    else:
        known = wanted.dtype in (np.float32, np.float64, np.float16) or wanted.dtype.kind in "bi"
        pair = (found, wanted) if known else (found.astype(np.float32), wanted.astype(np.float32))
        np.testing.assert_array_equal(*pair)


BINARY: Mapping[str, Callable[..., Any]] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "minf": np.fmin,
    "maxf": np.fmax,
}
UNARY: Mapping[str, Callable[..., Any]] = {
    "absf": np.abs,
    "negf": np.negative,
    "ceil": np.ceil,
    "floor": np.floor,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
EXACT = {"addf", "subf", "mulf", "divf", "minf", "maxf", "absf", "negf", "ceil", "floor", "sqrt"}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.float64])
def test_two_floats(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(len(name))
    a, b = floats(rng, dtype), floats(rng, dtype)[::-1].copy()
    wide = np.float64 if dtype is np.float64 else np.float32
    with np.errstate(all="ignore"):
        wanted = BINARY[name](a.astype(wide), b.astype(wide)).astype(dtype)
    check(f"%r0 = {name} %a0, %a1 : {tile(dtype)}", [a, b], wanted)


@pytest.mark.parametrize("name", UNARY)
def test_one_float(name: str) -> None:
    a = floats(np.random.default_rng(len(name)))
    with np.errstate(all="ignore"):
        wanted = UNARY[name](a.astype(np.float64)).astype(np.float32)
    check(f"%r0 = {name} %a0 : {tile(a.dtype)}", [a], wanted, 0 if name in EXACT else 1e-5)


def test_functions_of_several_floats() -> None:
    rng = np.random.default_rng(7)
    a, b, c = floats(rng), floats(rng)[::-1].copy(), floats(rng)
    t, wide = tile(np.float32), [v.astype(np.float64) for v in (a, b, c)]
    with np.errstate(all="ignore"):
        fused = (wide[0] * wide[1] + wide[2]).astype(np.float32)
        power = np.power(wide[0], wide[1]).astype(np.float32)
        angle = np.arctan2(wide[0], wide[1]).astype(np.float32)
    check(f"%r0 = fma %a0, %a1, %a2 : {t}", [a, b, c], fused)
    check(f"%r0 = fpowf %a0, %a1 : {t}", [a, b], power, 1e-5)
    check(f"%r0 = atan2 %a0, %a1 : {t}", [a, b], angle, 1e-5)
    n = rng.integers(-3, 4, SHAPE).astype(np.int32)
    with np.errstate(all="ignore"):
        whole = np.power(wide[0], n.astype(np.float64)).astype(np.float32)
    check(f"%r0 = fpowi %a0, %a1 : {t}, {tile(np.int32)}", [a, n], whole, 1e-5)


def test_extremes_may_propagate_nan() -> None:
    rng = np.random.default_rng(8)
    a, b = floats(rng), floats(rng)[::-1].copy()
    for name, of in (("minf", np.minimum), ("maxf", np.maximum)):
        check(f"%r0 = {name} %a0, %a1 propagate_nan : {tile(a.dtype)}", [a, b], of(a, b))


@pytest.mark.parametrize("name", ["addf", "mulf", "divf", "maxf"])
def test_small_numbers_are_flushed(name: str) -> None:
    rng = np.random.default_rng(9)
    a, b = (rng.standard_normal(SHAPE).astype(np.float32) for _ in range(2))
    a[1:3] *= np.float32(1e-38)
    b[2:] *= np.float32(1e-38)

    def flush(v: Array) -> Array:
        return np.where(np.abs(v) < 2.0**-126, v * np.float32(0), v)

    with np.errstate(all="ignore"):
        wanted = flush(BINARY[name](flush(a), flush(b)))
        kept = BINARY[name](a, b)
    assert not np.array_equal(wanted, kept)
    check(f"%r0 = {name} %a0, %a1 flush_to_zero : {tile(a.dtype)}", [a, b], wanted)


@pytest.mark.parametrize("text", ["divf %a0, %a1 rounding<approx>", "divf %a0, %a1 rounding<full>"])
def test_approximations_may_be_exact(text: str) -> None:
    rng = np.random.default_rng(10)
    a, b = floats(rng), floats(rng)[::-1].copy()
    with np.errstate(all="ignore"):
        check(f"%r0 = {text} : {tile(a.dtype)}", [a, b], a / b)


RELATIONS: Mapping[str, Callable[..., Any]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_than_or_equal": np.less_equal,
    "greater_than": np.greater,
    "greater_than_or_equal": np.greater_equal,
}


@pytest.mark.parametrize("relation", RELATIONS)
def test_comparisons(relation: str) -> None:
    rng = np.random.default_rng(11)
    a, b = floats(rng), floats(rng)
    b[:, ::2], b[0, 1] = a[:, ::2], np.nan
    unordered = np.isnan(a) | np.isnan(b)
    for ordering in ("ordered", "unordered"):
        holds = RELATIONS[relation](a, b)
        wanted = holds | unordered if ordering == "unordered" else holds & ~unordered
        text = f"%r0 = cmpf {relation} {ordering} %a0, %a1 : {tile(a.dtype)} -> {tile(bool)}"
        check(text, [a, b], wanted)
    i, j = integers(rng, np.int16), integers(rng, np.int16)[::-1].copy()
    for sign, dtype in (("signed", np.int16), ("unsigned", np.uint16)):
        wanted = RELATIONS[relation](i.view(dtype), j.view(dtype))
        text = f"%r0 = cmpi {relation} %a0, %a1, {sign} : {tile(i.dtype)} -> {tile(bool)}"
        check(text, [i, j], wanted)


WRAPPING: Mapping[str, Callable[..., Any]] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
}


@pytest.mark.parametrize("name", WRAPPING)
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_two_integers(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(12)
    a, b = integers(rng, dtype), integers(rng, dtype)[::-1].copy()
    with np.errstate(all="ignore"):
        check(f"%r0 = {name} %a0, %a1 : {tile(dtype)}", [a, b], WRAPPING[name](a, b))


def _python(of: Callable[[int, int], int], a: Array, b: Array, result: Any) -> Array:
    values = [of(int(x), int(y)) for x, y in zip(a.flat, b.flat, strict=True)]
    bits = 8 * a.dtype.itemsize
    wrapped = [(v + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1)) for v in values]
    return np.array(wrapped, result).reshape(a.shape)


def _toward_zero(x: int, y: int) -> int:
    return math.trunc(abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)


@pytest.mark.parametrize(
    ("text", "sign", "of"),
    [
        ("divi %a0, %a1 signed", np.int32, _toward_zero),
        ("divi %a0, %a1 unsigned", np.uint32, lambda x, y: x // y),
        ("divi %a0, %a1 signed rounding<negative_inf>", np.int32, lambda x, y: x // y),
        ("divi %a0, %a1 signed rounding<positive_inf>", np.int32, lambda x, y: -(-x // y)),
        ("divi %a0, %a1 unsigned rounding<positive_inf>", np.uint32, lambda x, y: -(-x // y)),
        ("remi %a0, %a1 signed", np.int32, lambda x, y: x - _toward_zero(x, y) * y),
        ("remi %a0, %a1 unsigned", np.uint32, lambda x, y: x % y),
        ("maxi %a0, %a1 signed", np.int32, max),
        ("maxi %a0, %a1 unsigned", np.uint32, max),
        ("mini %a0, %a1 signed", np.int32, min),
        ("mini %a0, %a1 unsigned", np.uint32, min),
        ("mulhii %a0, %a1", np.uint32, lambda x, y: x * y >> 32),
    ],
)
def test_integers_by_sign(text: str, sign: Any, of: Callable[[int, int], int]) -> None:
    rng = np.random.default_rng(13)
    a, b = integers(rng, np.int32), integers(rng, np.int32)[::-1].copy()
    b[b == 0] = 7
    b[0, 0] = 5
    b[0, 3] = -9
    wanted = _python(of, a.view(sign), b.view(sign), np.int32)
    check(f"%r0 = {text} : {tile(np.int32)}", [a, b], wanted)


def test_shifts() -> None:
    rng = np.random.default_rng(14)
    a, n = integers(rng, np.int32), rng.integers(0, 32, SHAPE).astype(np.int32)
    t = tile(np.int32)
    check(f"%r0 = shli %a0, %a1 : {t}", [a, n], np.left_shift(a, n))
    check(f"%r0 = shri %a0, %a1 signed : {t}", [a, n], np.right_shift(a, n))
    unsigned = np.right_shift(a.view(np.uint32), n.view(np.uint32)).view(np.int32)
    check(f"%r0 = shri %a0, %a1 unsigned : {t}", [a, n], unsigned)


def test_one_integer() -> None:
    a = integers(np.random.default_rng(15), np.int16)
    with np.errstate(all="ignore"):
        check(f"%r0 = absi %a0 : {tile(a.dtype)}", [a], np.abs(a))
        check(f"%r0 = negi %a0 : {tile(a.dtype)}", [a], np.negative(a))


def test_select() -> None:
    rng = np.random.default_rng(16)
    mask, a, b = integers(rng, np.bool_), floats(rng), floats(rng)
    text = f"%r0 = select %a0, %a1, %a2 : {tile(bool)}, {tile(a.dtype)}"
    check(text, [mask, a, b], np.where(mask, a, b))


@pytest.mark.parametrize("sign", ["signed", "unsigned"])
def test_widths_of_integers(sign: str) -> None:
    a = integers(np.random.default_rng(17), np.int8)
    read = a if sign == "signed" else a.view(np.uint8)
    text = f"%r0 = exti %a0 {sign} : {tile(np.int8)} -> {tile(np.int32)}"
    check(text, [a], read.astype(np.int32))
    wide = integers(np.random.default_rng(18), np.int64)
    text = f"%r0 = trunci %a0 : {tile(np.int64)} -> {tile(np.int16)}"
    check(text, [wide], wide.astype(np.int16))


@pytest.mark.parametrize("sign", ["signed", "unsigned"])
def test_integers_and_floats(sign: str) -> None:
    rng = np.random.default_rng(19)
    i = integers(rng, np.int32)
    read = i if sign == "signed" else i.view(np.uint32)
    for dtype in (np.float32, np.float64, np.float16):
        with np.errstate(all="ignore"):
            wanted = read.astype(np.float64).astype(dtype)
        check(f"%r0 = itof %a0 {sign} : {tile(np.int32)} -> {tile(dtype)}", [i], wanted)
    f = (rng.random(SHAPE) * 1000).astype(np.float32)
    f = f if sign == "unsigned" else f - 500
    check(
        f"%r0 = ftoi %a0 {sign} : {tile(np.float32)} -> {tile(np.int32)}", [f], f.astype(np.int32)
    )


NARROW = [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


@pytest.mark.parametrize("dtype", NARROW)
def test_widths_of_floats(dtype: Any) -> None:
    a = np.random.default_rng(20).standard_normal(SHAPE).astype(np.float32)
    narrow = a.astype(dtype)
    check(f"%r0 = ftof %a0 : {tile(np.float32)} -> {tile(dtype)}", [a], narrow)
    text = f"%r0 = ftof %a0 : {tile(dtype)} -> {tile(np.float32)}"
    check(text, [narrow], narrow.astype(np.float32))


def test_floats_of_one_width() -> None:
    a = np.random.default_rng(21).standard_normal(SHAPE).astype(np.float16)
    text = f"%r0 = ftof %a0 : {tile(np.float16)} -> {tile(ml_dtypes.bfloat16)}"
    check(text, [a], a.astype(ml_dtypes.bfloat16))
    e4m3 = a.astype(ml_dtypes.float8_e4m3fn)
    text = f"%r0 = ftof %a0 : {tile(ml_dtypes.float8_e4m3fn)} -> {tile(ml_dtypes.float8_e5m2)}"
    check(text, [e4m3], e4m3.astype(np.float32).astype(ml_dtypes.float8_e5m2))


@pytest.mark.parametrize(
    ("one", "other"),
    [(np.float32, np.int32), (np.int16, np.float16), (np.int64, np.float64)],
)
def test_bits(one: Any, other: Any) -> None:
    rng = np.random.default_rng(22)
    a = floats(rng, one) if np.dtype(one).kind == "f" else integers(rng, one)
    text = f"%r0 = bitcast %a0 : {tile(one)} -> {tile(other)}"
    check(text, [a], a.view(other))


def test_packed_bytes() -> None:
    a = np.random.default_rng(23).standard_normal(16).astype(np.float32)
    check("%r0 = pack %a0 : tile<16xf32> -> tile<64xi8>", [a], a.view(np.int8))
    check("%r0 = unpack %a0 : tile<64xi8> -> tile<16xf32>", [a.view(np.int8)], a)
