"""Products against exact rational arithmetic: every element type, specials, signs, block scales."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ir import parse

from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, BlockScaledMmaOp, DotOp
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.tensor_ops.dot import PRODUCTS, dot_value

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "i8": np.int8,
    "i4": np.int8,
    "i1": np.bool_,
    "i32": np.int32,
}


def dot_op(
    a: str, b: str, c: str, atom: str, shape: tuple[int, ...] = (8, 16, 8), extra: str = ""
) -> DotOp:
    *batch, m, k, n = shape
    tiles = [(m, k, a), (k, n, b), (m, n, c)]
    types = ["x".join(map(str, [*batch, rows, columns, t])) for rows, columns, t in tiles]
    ta, tb, tc = (f"tensor<{t}>" for t in types)
    module = parse(f"""
        func.func @f(%a: {ta}, %b: {tb}, %c: {tc}) {{
          %0 = nv_tileas.dot %a, %b, %c {{atom = #nv_tileas<atom {atom}>{extra}}}
            : {ta}, {tb}, {tc} -> {tc}
          func.return
        }}""")
    return next(op for op in module.walk() if isinstance(op, DotOp))


def run(op: DotOp, *operands: Any) -> Any:
    (result,) = PRODUCTS[DotOp](op, operands)
    return result


def exact_dot(a: Any, b: Any, c: Any) -> list[list[Fraction]]:
    """`a @ b + c` without any rounding."""
    rows = [list(map(frac, row)) for row in a]
    columns = list(enumerate(list(map(frac, column)) for column in b.T))
    return [
        [
            frac(c[i, j]) + sum(x * y for x, y in zip(row, column, strict=True))
            for j, column in columns
        ]
        for i, row in enumerate(rows)
    ]


def frac(x: Any) -> Fraction:
    return Fraction(float(x))


FLOAT_PRODUCTS = [
    ("f16", "f16", "f32", "mma_f16_f16_f32"),
    ("bf16", "bf16", "f32", "wgmma_bf16_bf16_f32"),
    ("f32", "f32", "f32", "wgmma_tf32_tf32_f32"),
    ("f8E4M3FN", "f8E5M2", "f32", "wgmma_e4m3_e5m2_f32"),
    ("f6E2M3FN", "f6E3M2FN", "f32", "tcgen05_e2m3_e3m2_f32"),
    ("f4E2M1FN", "f8E4M3FN", "f32", "tcgen05_e2m1_e4m3_f32"),
    ("f64", "f64", "f64", "mma_f64_f64_f64"),
]


@pytest.mark.parametrize(("a", "b", "c", "atom"), FLOAT_PRODUCTS, ids=lambda x: str(x))
def test_products_of_small_numbers_are_exact(a: str, b: str, c: str, atom: str):
    rng = np.random.default_rng(3)
    x = (rng.integers(-6, 7, (8, 16)) / 2).astype(DTYPES[a])
    y = (rng.integers(-6, 7, (16, 8)) / 2).astype(DTYPES[b])
    z = rng.integers(-50, 50, (8, 8)).astype(DTYPES[c])
    result = run(dot_op(a, b, c, atom), x, y, z)
    assert result.dtype == DTYPES[c]
    assert [list(map(frac, row)) for row in result] == exact_dot(x, y, z)


@pytest.mark.parametrize(("a", "b", "c", "atom"), FLOAT_PRODUCTS, ids=lambda x: str(x))
def test_random_products_are_as_near_as_their_sums_allow(a: str, b: str, c: str, atom: str):
    rng = np.random.default_rng(4)
    x, y = (
        rng.standard_normal(shape).astype(DTYPES[t]) for shape, t in (((8, 16), a), ((16, 8), b))
    )
    if a == "f32":
        x, y = (np.round(side * 256) / 256 for side in (x, y))  # what tf32 holds
    z = rng.standard_normal((8, 8)).astype(DTYPES[c])
    result = run(dot_op(a, b, c, atom), x, y, z)
    bound = np.abs(x.astype(float)) @ np.abs(y.astype(float)) + np.abs(z)
    unit = 2.0**-53 if c == "f64" else 2.0**-24
    for (i, j), wanted in np.ndenumerate(np.array(exact_dot(x, y, z), dtype=object)):
        assert abs(frac(result[i, j]) - wanted) <= Fraction(18 * unit * float(bound[i, j]))


def test_operands_are_not_changed():
    rng = np.random.default_rng(5)
    op = dot_op("f16", "f16", "f32", "mma_f16_f16_f32")
    operands = [rng.standard_normal(s).astype(t) for s, t in
                (((8, 16), np.float16), ((16, 8), np.float16), ((8, 8), np.float32))]  # fmt: skip
    before = [operand.copy() for operand in operands]
    run(op, *operands)
    for operand, old in zip(operands, before, strict=True):
        assert np.array_equal(operand, old)


def test_views_of_larger_arrays_are_multiplied():
    rng = np.random.default_rng(6)
    wide = rng.integers(-8, 8, (16, 64)).astype(np.float16)
    x, y, z = wide[::2, 8:40:2], wide.T[:32:2, ::-2], np.zeros((8, 8), np.float32)
    result = run(dot_op("f16", "f16", "f32", "mma_f16_f16_f32"), x, y, z)
    assert np.array_equal(result, x.astype(float) @ y.astype(float))


def test_an_f16_accumulator_is_rounded_once():
    """1 + 32 times 2^-11: f16 would lose every addend, f32 keeps their sum."""
    op = dot_op("f16", "f16", "f16", "mma_f16_f16_f16", (1, 32, 1))
    x, y = np.full((1, 32), 2.0**-11, np.float16), np.ones((32, 1), np.float16)
    result = run(op, x, y, np.ones((1, 1), np.float16))
    assert result.dtype == np.float16
    assert float(result[0, 0]) == 1 + 2.0**-6
    tie = run(op, x * np.eye(1, 32, dtype=np.float16), y, np.ones((1, 1), np.float16))
    assert float(tie[0, 0]) == 1.0
    large = np.full((1, 32), 60000, np.float16)
    assert np.isposinf(run(op, large, y, np.ones((1, 1), np.float16))[0, 0])


def test_tf32_operands_lose_their_last_bits():
    op = dot_op("f32", "f32", "f32", "mma_tf32_tf32_f32", (1, 1, 1))
    bits = np.array([[0x3F801FFF]], np.uint32)
    one, zero = np.ones((1, 1), np.float32), np.zeros((1, 1), np.float32)
    assert run(op, bits.view(np.float32), one, zero)[0, 0] == 1.0
    assert run(op, one, bits.view(np.float32), zero)[0, 0] == 1.0
    kept = np.array([[0x3F803FFF]], np.uint32).view(np.float32)
    assert run(op, kept, kept, zero)[0, 0] == np.float32((1 + 2.0**-10) ** 2)
    hidden = np.array([[0x7F800001]], np.uint32).view(np.float32)
    assert np.isposinf(run(op, hidden, one, zero)[0, 0])


@pytest.mark.parametrize("shape", [(8, 16, 8), (1, 16, 8), (8, 16, 1), (1, 16, 1), (2, 8, 16, 8)])
@pytest.mark.parametrize("element", ["f16", "bf16", "f8E5M2"])
def test_infinities_and_nan_spread(element: str, shape: tuple[int, ...]):
    word = {"f16": "f16", "bf16": "bf16", "f8E5M2": "e5m2"}[element]
    *batch, m, k, n = shape
    x, y = np.ones((*batch, m, k)), np.ones((*batch, k, n))
    x[..., 0, 3] = np.inf
    y[..., 5, 0] = 0
    x[..., 0, 5] = -np.inf if n > 1 else np.nan
    operands = [v.astype(DTYPES[element]) for v in (x, y)]
    z = np.ones((*batch, m, n), np.float32)
    result = run(dot_op(element, element, "f32", f"mma_{word}_{word}_f32", shape), *operands, z)
    with np.errstate(invalid="ignore"):
        terms = x[..., :, None, :] * np.swapaxes(y, -1, -2)[..., None, :, :]
        wanted = terms.sum(axis=-1) + 1
    assert np.isnan(wanted[..., 0, 0]).all()
    assert np.array_equal(result, wanted, equal_nan=True)


@given(st.integers(1, 3), st.integers(1, 9), st.integers(1, 40), st.integers(1, 9), st.data())
def test_batches_of_any_shape(batch: int, m: int, k: int, n: int, data: st.DataObject):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    x = rng.integers(-9, 9, (batch, m, k)).astype(np.float16)
    y = rng.integers(-9, 9, (batch, k, n)).astype(np.float16)
    z = rng.integers(-9, 9, (batch, m, n)).astype(np.float32)
    result = run(dot_op("f16", "f16", "f32", "mma_f16_f16_f32", (batch, m, k, n)), x, y, z)
    for i in range(batch):
        assert [list(map(frac, row)) for row in result[i]] == exact_dot(x[i], y[i], z[i])


def as_read(values: Any, width: int, is_signed: bool) -> Any:
    bits = values.astype(object) % (1 << width)
    return np.where(is_signed & (bits >= 1 << (width - 1)), bits - (1 << width), bits)


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("signs", ["ss", "su", "us", "uu"])
@pytest.mark.parametrize("by_attribute", [False, True])
def test_integers_are_read_as_the_atom_or_the_attributes_say(
    width: int, signs: str, by_attribute: bool
):
    rng = np.random.default_rng(8)
    low, high = -(1 << (width - 1)), 1 << (width - 1)
    x = rng.integers(low, high, (8, 32)).astype(np.int8)
    y = rng.integers(low, high, (32, 8)).astype(np.int8)
    z = rng.integers(-(2**31), 2**31, (8, 8)).astype(np.int32)
    z[0], z[1] = 2**31 - 1, -(2**31)
    words = {"s": "signed", "u": "unsigned"}
    extra, atom = "", f"mma_{signs[0]}{width}_{signs[1]}{width}_s32"
    if by_attribute:
        atom = f"mma_i{width}_i{width}_i32"
        for name, sign in zip("ab", signs, strict=True):
            extra += f", signedness_{name} = #nv_tileas<signedness {words[sign]}>"
    op = dot_op(f"i{width}", f"i{width}", "i32", atom, (8, 32, 8), extra)
    wanted = as_read(x, width, signs[0] == "s") @ as_read(y, width, signs[1] == "s") + z
    wrapped = (wanted + 2**31) % 2**32 - 2**31
    assert not np.array_equal(wanted, wrapped)
    result = run(op, x, y, z)
    assert result.dtype == np.int32
    assert result.tolist() == wrapped.tolist()


def test_long_sums_of_integers_are_exact_and_wrap():
    op = dot_op("i8", "i8", "i32", "mma_u8_u8_s32", (1, 70000, 1))
    x, y = np.full((1, 70000), -1, np.int8), np.full((70000, 1), -1, np.int8)
    result = run(op, x, y, np.zeros((1, 1), np.int32))
    assert int(result[0, 0]) == (70000 * 255 * 255 + 2**31) % 2**32 - 2**31


def test_bits_are_joined_and_counted():
    rng = np.random.default_rng(9)
    x, y = rng.integers(0, 2, (8, 128)).astype(bool), rng.integers(0, 2, (128, 8)).astype(bool)
    z = rng.integers(-100, 100, (8, 8)).astype(np.int32)
    result = run(dot_op("i1", "i1", "i32", "mma_b1_b1_s32", (8, 128, 8)), x, y, z)
    rows = [int("".join(map(str, row.astype(int))), 2) for row in x]
    columns = [int("".join(map(str, column.astype(int))), 2) for column in y.T]
    wanted = [[(r & c).bit_count() for c in columns] for r in rows]
    assert (result - z).tolist() == wanted


def test_an_asynchronous_product_has_the_same_value():
    module = parse("""
        func.func @f(%a: tensor<8x16xi8>, %b: tensor<16x8xi8>,
                     %c: !nv_tileas.token<tensor<8x8xi32>>) {
          %0 = nv_tileas.async.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_u8_s8_s32>}
            : tensor<8x16xi8>, tensor<16x8xi8>, !nv_tileas.token<tensor<8x8xi32>>
            -> !nv_tileas.token<tensor<8x8xi32>>
          func.return
        }""")
    op = next(op for op in module.walk() if isinstance(op, AsyncDotOp))
    rng = np.random.default_rng(10)
    x, y = (rng.integers(-128, 128, s).astype(np.int8) for s in ((8, 16), (16, 8)))
    z = rng.integers(-9, 9, (8, 8)).astype(np.int32)
    wanted = x.astype(np.uint8).astype(int) @ y.astype(int) + z
    assert np.array_equal(dot_value(op, x, y, z), wanted)


# Block scales


def scaled_op(element: str, scale: str, word: str, size: int, k: int) -> BlockScaledMmaOp:
    module = parse(f"""
        func.func @f(%a: tensor<8x{k}x{element}>, %b: tensor<{k}x16x{element}>,
                     %c: tensor<8x16xf32>, %sa: tensor<8x{k // size}x{scale}>,
                     %sb: tensor<{k // size}x16x{scale}>) {{
          %0 = nv_tileas.block_scaled_mma %a, %b, %c
            scales(%sa : tensor<8x{k // size}x{scale}>, %sb : tensor<{k // size}x16x{scale}>)
            {{atom = #nv_tileas<atom tcgen05_{word}_{word}_f32>}}
            : tensor<8x{k}x{element}>, tensor<{k}x16x{element}>, tensor<8x16xf32>
            -> tensor<8x16xf32>
          func.return
        }}""")
    return next(op for op in module.walk() if isinstance(op, BlockScaledMmaOp))


def run_scaled(op: BlockScaledMmaOp, *operands: Any) -> Any:
    (result,) = PRODUCTS[BlockScaledMmaOp](op, operands)
    return result


SCALED = [
    ("f4E2M1FN", "f8E4M3FN", "e2m1", 16),
    ("f4E2M1FN", "f8E8M0FNU", "e2m1", 16),
    ("f4E2M1FN", "f8E8M0FNU", "e2m1", 32),
    ("f8E4M3FN", "f8E8M0FNU", "e4m3", 32),
    ("f6E3M2FN", "f8E8M0FNU", "e3m2", 32),
]


@pytest.mark.parametrize(("element", "scale", "word", "size"), SCALED, ids=lambda x: str(x))
def test_every_block_along_k_has_its_scale(element: str, scale: str, word: str, size: int):
    rng = np.random.default_rng(11)
    k, scales = 128, ml_dtypes.float8_e8m0fnu if "E8M0" in scale else ml_dtypes.float8_e4m3fn
    x = rng.integers(-3, 4, (8, k)).astype(DTYPES[element])
    y = rng.integers(-3, 4, (k, 16)).astype(DTYPES[element])
    sa = (2.0 ** rng.integers(-3, 4, (8, k // size))).astype(scales)
    sb = (2.0 ** rng.integers(-3, 4, (k // size, 16))).astype(scales)
    z = rng.integers(-9, 9, (8, 16)).astype(np.float32)
    result = run_scaled(scaled_op(element, scale, word, size, k), x, y, z, sa, sb)
    assert result.dtype == np.float32
    for i in range(8):
        for j in range(16):
            terms = (
                frac(x[i, e]) * frac(sa[i, e // size]) * frac(y[e, j]) * frac(sb[e // size, j])
                for e in range(k)
            )
            assert frac(result[i, j]) == sum(terms, frac(z[i, j]))


def test_large_and_small_scales_meet():
    """2^127 and 2^-127 cancel, though a scaled element alone is past f32."""
    op = scaled_op("f8E4M3FN", "f8E8M0FNU", "e4m3", 32, 32)
    x, y = np.full((8, 32), 448.0), np.full((32, 16), 0.5)
    sa, sb = np.full((8, 1), 2.0**127), np.full((1, 16), 2.0**-127)
    f8, e8 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    z = np.zeros((8, 16), np.float32)
    assert np.all(
        run_scaled(op, x.astype(f8), y.astype(f8), z, sa.astype(e8), sb.astype(e8)) == 7168
    )
    nan = np.full((8, 1), 0xFF, np.uint8).view(e8)
    assert np.isnan(run_scaled(op, x.astype(f8), y.astype(f8), z, nan, sb.astype(e8))).all()


def test_scales_have_no_sign():
    op = scaled_op("f4E2M1FN", "f8E4M3FN", "e2m1", 16, 64)
    f4, f8 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn
    sa, sb = np.ones((8, 4), f8), np.ones((4, 16), f8)
    sb[2, 5] = -0.5
    with pytest.raises(SimulationError, match=r"scales have no sign, but sfb\[2, 5\] is -0\.5"):
        run_scaled(
            op, np.ones((8, 64), f4), np.ones((64, 16), f4), np.zeros((8, 16), np.float32), sa, sb
        )
