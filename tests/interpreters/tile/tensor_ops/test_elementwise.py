"""Every operation of arith and math: against numpy, against Python's exact integers, on edges."""

from __future__ import annotations

import math as exact
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects import affine, arith, math, tensor
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
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
from xdsl.ir import Attribute, Operation
from xdsl.utils.test_value import create_ssa_value

from tests.support.ir import parse
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.numerics.floats import FLOAT_RULES
from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import ELEMENTWISE
from tileas_xdsl.interpreters.tile.tensor_ops.reduction import generate_tile

RNG = np.random.default_rng(7)


def make(op: type[Operation], types: list[Attribute], result: Attribute, **properties: Attribute):
    return op.create(
        operands=[create_ssa_value(type_) for type_ in types],
        result_types=[result],
        properties=properties,
    )


def run(op: Operation, *operands: object):
    return ELEMENTWISE[type(op)](op, operands)


def binary(op: type[Operation], type_: Attribute, a: object, b: object):
    (result,) = run(make(op, [type_, type_], type_), a, b)
    return result


def test_every_operation_of_arith_and_math_has_a_meaning():
    known = {*arith.Arith.operations, *math.Math.operations}
    known |= {AddPtrOp, affine.ApplyOp, tensor.ExtractOp, tensor.SplatOp}
    assert known == set(ELEMENTWISE)


def signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def unsigned(value: int, width: int) -> int:
    return value & ((1 << width) - 1)


def toward_zero(a: int, b: int) -> int:
    return exact.trunc(Fraction(a, b))


EXACT_INTEGERS = {
    arith.AddiOp: lambda a, b, _: a + b,
    arith.SubiOp: lambda a, b, _: a - b,
    arith.MuliOp: lambda a, b, _: a * b,
    arith.AndIOp: lambda a, b, _: a & b,
    arith.OrIOp: lambda a, b, _: a | b,
    arith.XOrIOp: lambda a, b, _: a ^ b,
    arith.DivSIOp: lambda a, b, _: toward_zero(a, b),
    arith.DivUIOp: lambda a, b, w: unsigned(a, w) // unsigned(b, w),
    arith.FloorDivSIOp: lambda a, b, _: exact.floor(Fraction(a, b)),
    arith.CeilDivSIOp: lambda a, b, _: exact.ceil(Fraction(a, b)),
    arith.CeilDivUIOp: lambda a, b, w: exact.ceil(Fraction(unsigned(a, w), unsigned(b, w))),
    arith.RemSIOp: lambda a, b, _: a - b * toward_zero(a, b),
    arith.RemUIOp: lambda a, b, w: unsigned(a, w) % unsigned(b, w),
    arith.MinSIOp: lambda a, b, _: min(a, b),
    arith.MaxSIOp: lambda a, b, _: max(a, b),
    arith.MinUIOp: lambda a, b, w: min(unsigned(a, w), unsigned(b, w)),
    arith.MaxUIOp: lambda a, b, w: max(unsigned(a, w), unsigned(b, w)),
    arith.ShLIOp: lambda a, b, w: a << unsigned(b, w) if unsigned(b, w) < w else 0,
    arith.ShRUIOp: lambda a, b, w: unsigned(a, w) >> min(unsigned(b, w), w),
    arith.ShRSIOp: lambda a, b, w: a >> min(unsigned(b, w), w),
}


@pytest.mark.sample(50)
@pytest.mark.parametrize("op", EXACT_INTEGERS, ids=lambda op: op.name)
@pytest.mark.parametrize("width", [8, 16, 32, 64, 4, 24])
def test_integers_wrap_as_their_width_says(op: type[Operation], width: int):
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    edges = [low, low + 1, -3, -1, 0, 1, 2, 3, width - 1, width, high - 1, high]
    edges = [edge for edge in edges if low <= edge <= high]
    pairs = [(a, b) for a in edges for b in edges if b or "div" not in op.name + "rem"]
    if "div" in op.name or "rem" in op.name:
        pairs = [(a, b) for a, b in pairs if b]
    wanted = [signed(EXACT_INTEGERS[op](a, b, width), width) for a, b in pairs]
    type_ = IntegerType(width)
    assert [binary(op, type_, a, b) for a, b in pairs] == wanted
    dtype = f"int{max(8, 1 << (width - 1).bit_length())}"
    a, b = (np.array(side, dtype) for side in zip(*pairs, strict=True))
    result = binary(op, TensorType(type_, [len(pairs)]), a, b)
    assert result.dtype == dtype
    assert result.tolist() == wanted


def test_booleans_are_one_bit():
    assert binary(arith.AddiOp, i1, True, True) is False
    assert binary(arith.XOrIOp, i1, True, False) is True
    tile = TensorType(i1, [4])
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    assert binary(arith.AndIOp, tile, a, b).tolist() == [False, False, False, True]
    assert binary(arith.MaxSIOp, tile, a, b).tolist() == [False, False, False, True]
    assert binary(arith.MaxUIOp, tile, a, b).tolist() == [False, True, True, True]


@pytest.mark.parametrize("op", [arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.CeilDivUIOp])
def test_dividing_by_zero_is_a_fault(op: type[Operation]):
    with pytest.raises(SimulationError, match="division by zero"):
        binary(op, i32, 1, 0)
    with pytest.raises(SimulationError, match="division by zero"):
        binary(op, TensorType(i32, [2]), np.array([1, 2], np.int32), np.array([1, 0], np.int32))


def test_index_is_64_bits():
    assert binary(arith.MuliOp, IndexType(), 1 << 40, 1 << 40) == 0
    assert binary(arith.AddiOp, IndexType(), (1 << 63) - 1, 1) == -(1 << 63)


@pytest.mark.parametrize("predicate", range(10))
def test_integers_compare(predicate: int):
    pairs = [(a, b) for a in (-128, -1, 0, 1, 127) for b in (-128, -1, 0, 1, 127)]
    compare = ["==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="][predicate]
    read = (lambda v: v & 255) if predicate > 5 else (lambda v: v)
    wanted = [eval(f"{read(a)} {compare} {read(b)}") for a, b in pairs]
    found = [
        run(make(arith.CmpiOp, [i8, i8], i1, predicate=IntegerAttr(predicate, i64)), a, b)[0]
        for a, b in pairs
    ]
    assert found == wanted
    tile = TensorType(i8, [25])
    op = make(
        arith.CmpiOp, [tile, tile], TensorType(i1, [25]), predicate=IntegerAttr(predicate, i64)
    )
    a, b = (np.array(side, np.int8) for side in zip(*pairs, strict=True))
    assert run(op, a, b)[0].tolist() == wanted


@pytest.mark.parametrize("predicate", arith.CMPF_COMPARISON_OPERATIONS)
def test_floats_compare(predicate: str):
    everywhere = predicate in ("one", "une", "ord", "true")
    less = "lt" in predicate or "le" in predicate or everywhere
    equal = predicate in ("oeq", "ueq", "oge", "ole", "uge", "ule", "ord", "true")
    greater = "gt" in predicate or "ge" in predicate or everywhere
    unordered = predicate[0] == "u" or predicate == "true"
    attribute = IntegerAttr(arith.CMPF_COMPARISON_OPERATIONS.index(predicate), i64)
    tile = TensorType(f32, [5])
    op = make(arith.CmpfOp, [tile, tile], TensorType(i1, [5]), predicate=attribute)
    a = np.array([1, 0.0, 2, np.nan, np.inf], np.float32)
    b = np.array([2, -0.0, 1, 1, np.nan], np.float32)
    assert run(op, a, b)[0].tolist() == [less, equal, greater, unordered, unordered]


@pytest.mark.parametrize("op", [arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp])
@pytest.mark.parametrize(("type_", "dtype"), [(f16, np.float16), (bf16, ml_dtypes.bfloat16)])
def test_narrow_floats_are_rounded_once(op: type[Operation], type_: Attribute, dtype: type):
    a, b = (RNG.standard_normal(4096).astype(np.float32).astype(dtype) for _ in range(2))
    result = binary(op, TensorType(type_, [4096]), a, b)
    name = {arith.AddfOp: "add", arith.SubfOp: "subtract", arith.MulfOp: "multiply"}
    exact_op = getattr(np, name.get(op, "divide"))
    wanted = exact_op(a.astype(np.longdouble), b.astype(np.longdouble)).astype(np.float64)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, wanted.astype(dtype))


def test_zeros_infinities_and_nans_follow_ieee():
    tile = TensorType(f32, [4])
    a = np.array([1, -1, 0, np.inf], np.float32)
    zero = np.array([0, 0, 0, np.inf], np.float32)
    np.testing.assert_array_equal(
        binary(arith.DivfOp, tile, a, zero), np.array([np.inf, -np.inf, np.nan, np.nan])
    )
    overflow = binary(arith.MulfOp, f16, np.float16(60000), np.float16(2))
    assert overflow == np.inf
    assert np.signbit(run(make(arith.NegfOp, [f32], f32), np.float32(0))[0])


@pytest.mark.parametrize(
    ("op", "of_nan", "of_zeros"),
    [
        (arith.MinimumfOp, np.nan, -0.0),
        (arith.MaximumfOp, np.nan, 0.0),
        (arith.MinnumfOp, 3.0, -0.0),
        (arith.MaxnumfOp, 3.0, 0.0),
    ],
)
def test_minima_and_maxima(op: type[Operation], of_nan: float, of_zeros: float):
    np.testing.assert_equal(float(binary(op, f32, np.float32(np.nan), np.float32(3))), of_nan)
    for a, b in ((0.0, -0.0), (-0.0, 0.0)):
        result = binary(op, f32, np.float32(a), np.float32(b))
        assert np.signbit(result) == np.signbit(of_zeros)


MATH = [
    (math.AbsFOp, "abs", (-3, 3)), (math.AcosOp, "arccos", (-1, 1)),
    (math.AcoshOp, "arccosh", (1, 9)), (math.AsinOp, "arcsin", (-1, 1)),
    (math.AsinhOp, "arcsinh", (-9, 9)), (math.AtanOp, "arctan", (-9, 9)),
    (math.AtanhOp, "arctanh", (-0.9, 0.9)), (math.CbrtOp, "cbrt", (-9, 9)),
    (math.CeilOp, "ceil", (-9, 9)), (math.CosOp, "cos", (-9, 9)),
    (math.CoshOp, "cosh", (-9, 9)), (math.Exp2Op, "exp2", (-9, 9)),
    (math.ExpM1Op, "expm1", (-1, 1)), (math.ExpOp, "exp", (-9, 9)),
    (math.FloorOp, "floor", (-9, 9)), (math.Log10Op, "log10", (0.1, 9)),
    (math.Log1pOp, "log1p", (-0.5, 9)), (math.Log2Op, "log2", (0.1, 9)),
    (math.LogOp, "log", (0.1, 9)), (math.RoundEvenOp, "rint", (-9, 9)),
    (math.SinOp, "sin", (-9, 9)), (math.SinhOp, "sinh", (-9, 9)),
    (math.SqrtOp, "sqrt", (0, 9)), (math.TanOp, "tan", (-1, 1)),
    (math.TanhOp, "tanh", (-9, 9)), (math.TruncOp, "trunc", (-9, 9)),
]  # fmt: skip


@pytest.mark.parametrize(("op", "name", "interval"), MATH, ids=[op.name for op, _, _ in MATH])
def test_math_is_that_of_f64_to_the_precision_of_the_type(
    op: type[Operation], name: str, interval: tuple[float, float]
):
    a = RNG.uniform(*interval, 512)
    for type_, dtype, tolerance in ((f64, np.float64, 1e-15), (f32, np.float32, 1e-6)):
        operand = a.astype(dtype)
        tile = TensorType(type_, [512])
        (result,) = run(make(op, [tile], tile), operand)
        wanted = getattr(np, name)(operand.astype(np.float64))
        assert result.dtype == dtype
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


def test_math_of_more_operands():
    tile = TensorType(f32, [256])
    a, b, c = (RNG.uniform(0.5, 2, 256).astype(np.float32) for _ in range(3))
    (fused,) = run(make(math.FmaOp, [tile] * 3, tile), a, b, c)
    wanted = [float(np.float32(float(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)))))
              for x, y, z in zip(a, b, c, strict=True)]  # fmt: skip
    np.testing.assert_array_equal(fused, np.array(wanted, np.float32))
    np.testing.assert_allclose(binary(math.PowFOp, tile, a, b), a.astype(float) ** b, rtol=1e-6)
    np.testing.assert_allclose(binary(math.Atan2Op, tile, a, -b), np.arctan2(a, -b), rtol=1e-6)
    np.testing.assert_array_equal(binary(math.CopySignOp, tile, a, -b), -a)
    (rsqrt,) = run(make(math.RsqrtOp, [tile], tile), a)
    np.testing.assert_allclose(rsqrt, a.astype(float) ** -0.5, rtol=1e-6)
    (erf,) = run(make(math.ErfOp, [tile], tile), a)
    np.testing.assert_allclose(erf, [exact.erf(x) for x in a], rtol=1e-6)
    (power,) = run(make(math.FPowIOp, [tile, TensorType(i32, [256])], tile), a, np.full(256, -3))
    np.testing.assert_allclose(power, a.astype(float) ** -3, rtol=1e-6)


def test_a_half_is_rounded_away_from_zero():
    tile = TensorType(f32, [6])
    a = np.array([0.5, 1.5, -0.5, -2.5, 0.49999997, 8388609.0], np.float32)
    (result,) = run(make(math.RoundOp, [tile], tile), a)
    assert result.tolist() == [1, 2, -1, -3, 0, 8388609]


def test_bits_are_counted():
    counts = {math.CountLeadingZerosOp: [16, 0, 15, 4], math.CountTrailingZerosOp: [16, 0, 0, 4],
              math.CtPopOp: [0, 16, 1, 8]}  # fmt: skip
    values = np.array([0, -1, 1, 0x0FF0], np.int16)
    for op, wanted in counts.items():
        tile = TensorType(i16, [4])
        assert run(make(op, [tile], tile), values)[0].tolist() == wanted
        assert [run(make(op, [i16], i16), int(v))[0] for v in values] == wanted


def test_powers_of_integers():
    pairs = [(3, 4), (-2, 63), (2, 64), (1, -5), (-1, -5), (-1, -4), (7, -1)]
    wanted = [81, -(1 << 63), 0, 1, -1, 1, 0]
    assert [binary(math.IPowIOp, i64, a, b) for a, b in pairs] == wanted
    a, b = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    assert binary(math.IPowIOp, TensorType(i64, [7]), a, b).tolist() == wanted
    with pytest.raises(SimulationError, match="negative power of zero"):
        binary(math.IPowIOp, i64, 0, -1)


@pytest.mark.parametrize("width", [8, 32, 64])
def test_products_and_sums_in_two_halves(width: int):
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    pairs = [(a, b) for a in (low, -1, 0, 3, high) for b in (low, -1, 0, 3, high)]
    type_ = IntegerType(width)
    forms = [
        (arith.MulSIExtendedOp, lambda a, b: a * b),
        (arith.MulUIExtendedOp, lambda a, b: unsigned(a, width) * unsigned(b, width)),
    ]
    for op, product in forms:
        made = op.create(operands=[create_ssa_value(type_)] * 2, result_types=[type_, type_])
        wanted = [(signed(product(a, b), width), signed(product(a, b) >> width, width))
                  for a, b in pairs]  # fmt: skip
        assert [run(made, a, b) for a, b in pairs] == wanted
        tile = TensorType(type_, [len(pairs)])
        tiled = op.create(operands=[create_ssa_value(tile)] * 2, result_types=[tile, tile])
        a, b = (np.array(side, f"int{width}") for side in zip(*pairs, strict=True))
        halves = run(tiled, a, b)
        assert list(zip(*(half.tolist() for half in halves), strict=True)) == wanted
    add = arith.AddUIExtendedOp.create(
        operands=[create_ssa_value(type_)] * 2, result_types=[type_, i1]
    )
    assert run(add, -1, 1) == (0, True)
    assert run(add, 1, 1) == (2, False)


def test_floats_become_integers_toward_zero_and_saturate():
    values = np.array([1.9, -1.9, 300, -300, np.nan, np.inf, -np.inf], np.float32)
    tile, result = TensorType(f32, [7]), TensorType(i8, [7])
    (as_signed,) = run(make(arith.FPToSIOp, [tile], result), values)
    assert as_signed.tolist() == [1, -1, 127, -128, 0, 127, -128]
    (as_unsigned,) = run(make(arith.FPToUIOp, [tile], result), values)
    assert as_unsigned.view(np.uint8).tolist() == [1, 0, 255, 0, 0, 255, 0]
    assert run(make(arith.FPToSIOp, [f32], i64), np.float32(2.0**63))[0] == 2**63 - 1
    assert run(make(arith.FPToUIOp, [f32], i64), np.float32(2.0**64))[0] == -1
    assert run(make(arith.FPToUIOp, [f32], i64), np.float32(2.0**63))[0] == -(2**63)


def test_other_conversions():
    assert run(make(arith.ExtSIOp, [i8], i32), -1)[0] == -1
    assert run(make(arith.ExtUIOp, [i8], i32), -1)[0] == 255
    assert run(make(arith.ExtSIOp, [i1], i8), True)[0] == -1
    assert run(make(arith.ExtUIOp, [i1], i8), True)[0] == 1
    assert run(make(arith.TruncIOp, [i32], i8), 0x1FF)[0] == -1
    assert run(make(arith.IndexCastOp, [i32], IndexType()), -5)[0] == -5
    assert float(run(make(arith.SIToFPOp, [i8], f32), -1)[0]) == -1
    assert float(run(make(arith.UIToFPOp, [i8], f32), -1)[0]) == 255
    assert float(run(make(arith.TruncFOp, [f32], f16), np.float32(2049))[0]) == 2048
    assert run(make(arith.BitcastOp, [f32], i32), np.float32(1))[0] == 0x3F800000
    assert float(run(make(arith.BitcastOp, [i32], f32), 0x3F800000)[0]) == 1
    tile = TensorType(f16, [3])
    (bits,) = run(
        make(arith.BitcastOp, [tile], TensorType(i16, [3])), np.array([1, -2, 0], np.float16)
    )
    assert bits.tolist() == [0x3C00, -0x4000, 0]
    with pytest.raises(SimulationError, match="do not have the same bits"):
        run(make(arith.BitcastOp, [f32], i16), np.float32(1))


def test_constants_and_selections():
    assert run(arith.ConstantOp(IntegerAttr(-1, i32)))[0] == -1
    assert float(run(arith.ConstantOp(FloatAttr(0.1, f16)))[0]) == float(np.float16(0.1))
    from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

    values = RNG.integers(-9, 9, 6)
    dense = DenseIntOrFPElementsAttr.from_list(TensorType(i32, [2, 3]), values.tolist())
    assert run(arith.ConstantOp(dense))[0].tolist() == values.reshape(2, 3).tolist()
    splat = DenseIntOrFPElementsAttr.from_list(TensorType(f32, [2, 3]), [1.5])
    assert run(arith.ConstantOp(splat))[0].tolist() == [[1.5] * 3] * 2
    a, b = (RNG.standard_normal(4).astype(np.float32) for _ in range(2))
    tile = TensorType(f32, [4])
    whole = make(arith.SelectOp, [i1, tile, tile], tile)
    assert run(whole, True, a, b)[0] is a
    assert run(whole, False, a, b)[0] is b
    by_element = make(arith.SelectOp, [TensorType(i1, [4]), tile, tile], tile)
    mask = np.array([1, 0, 0, 1], bool)
    np.testing.assert_array_equal(run(by_element, mask, a, b)[0], np.where(mask, a, b))


GATHER = """
func.func @gather(%t: tensor<16x8xf32>, %i: tensor<16xi32>) -> tensor<16x8xf32> {
  %r = nv_tileas.generate : tensor<16x8xf32> {
  ^bb0(%p: index, %q: index):
    %row = tensor.extract %i[%p] : tensor<16xi32>
    %at = arith.index_cast %row : i32 to index
    %e = tensor.extract %t[%at, %q] : tensor<16x8xf32>
    nv_tileas.yield %e : f32
  }
  func.return %r : tensor<16x8xf32>
}
"""


def test_elements_are_taken_out_of_tiles():
    rng = np.random.default_rng(1)
    tile = rng.standard_normal((16, 8)).astype(np.float32)
    rows = rng.integers(0, 16, 16).astype(np.int32)
    module = parse(GATHER)
    (generate,) = [op for op in module.walk() if op.name == "nv_tileas.generate"]
    values = dict(zip(module.body.block.first_op.body.block.args, (tile, rows), strict=True))
    found = generate_tile(generate, values.__getitem__, lambda *_: ())
    np.testing.assert_array_equal(found, tile[rows])
    rows[3] = 16
    with pytest.raises(SimulationError, match="has no element 16 along dimension 0"):
        generate_tile(generate, values.__getitem__, lambda *_: ())


def test_a_fused_product_is_rounded_once():
    rng = np.random.default_rng(2)
    for bits, dtype in ((53, np.float64), (24, np.float32)):
        for _ in range(500):
            a, b, c = (dtype(rng.standard_normal() * 2.0 ** rng.integers(-30, 30)) for _ in "abc")
            if rng.random() < 0.3:
                c = dtype(-float(a) * float(b) * (1 + int(rng.integers(-3, 4)) * 2.0 ** (1 - bits)))
            wanted = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
            found = FLOAT_RULES[math.FmaOp](np.asarray(a), np.asarray(b), np.asarray(c))
            result = dtype(np.asarray(found).astype(dtype))
            around = (
                result,
                np.nextafter(result, dtype(np.inf)),
                np.nextafter(result, dtype(-np.inf)),
            )
            best = min(abs(Fraction(float(x)) - wanted) for x in around if np.isfinite(x))
            assert abs(Fraction(float(result)) - wanted) == best


def _map(text: str, operands: str) -> affine.ApplyOp:
    module = parse(
        f"func.func @f(%i: index, %j: index, %n: index) {{\n"
        f"  %r = affine.apply affine_map<{text}> {operands}\n  func.return\n}}"
    )
    return next(op for op in module.walk() if isinstance(op, affine.ApplyOp))


@pytest.mark.parametrize(
    ("text", "operands", "values", "expected"),
    [
        ("(d0) -> (d0 * 4 + 3)", "(%i)", [-2], -5),
        ("(d0, d1)[s0] -> (d0 floordiv 4 - d1 + s0)", "(%i, %j)[%n]", [-5, 7, 100], 91),
        ("(d0) -> (d0 mod 8)", "(%i)", [-3], 5),
        ("(d0) -> (d0 ceildiv 8)", "(%i)", [-7], 0),
        ("(d0) -> (d0 * 2)", "(%i)", [2**63 - 1], -2),
        ("() -> (7)", "()", [], 7),
    ],
)
def test_affine_maps_compute_indices(
    text: str, operands: str, values: list[int], expected: int
) -> None:
    assert run(_map(text, operands), *values) == (expected,)


def test_an_affine_map_that_divides_by_zero_is_a_fault() -> None:
    with pytest.raises(SimulationError, match="division by zero"):
        run(_map("(d0) -> (d0 mod 0)", "(%i)"), 1)
