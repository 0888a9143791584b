"""Programs built by the builders of arithmetic and products equal the text that one would write."""

from collections.abc import Callable

import pytest
from support.ir import assert_prints, program
from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E8M0FNUType,
    Float80Type,
    Float128Type,
    IndexType,
    TensorType,
    f16,
    f32,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.nv_tileas.builders.arith import (
    add,
    ceil_div,
    constant,
    div,
    index_expression,
    maximum,
    mul,
    rem,
    select,
    sub,
)
from tileas_xdsl.dialects.nv_tileas.builders.compute import (
    DotInputs,
    StageLoop,
    build_masked_dot,
    build_predicated_dot,
    build_staged_dot,
    build_zero_accumulator_dot,
)
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp

INDEX = IndexType()
A, B, C = TensorType(f16, [64, 32]), TensorType(f16, [32, 16]), TensorType(f32, [64, 16])


def test_arithmetic_on_indices() -> None:
    module, builder, (i, j) = program(INDEX, INDEX)
    index_expression(builder, i, j, constant(builder, 4))
    sub(builder, i, j)
    div(builder, i, j)
    ceil_div(builder, i, j)
    rem(builder, i, j)
    select(builder, constant(builder, 1, i1), maximum(builder, i, j), j)
    assert_prints(
        module,
        """
        %2 = arith.constant 4 : index
        %3 = arith.muli %1, %2 : index
        %4 = arith.addi %0, %3 : index
        %5 = arith.subi %0, %1 : index
        %6 = arith.divsi %0, %1 : index
        %7 = arith.ceildivsi %0, %1 : index
        %8 = arith.remsi %0, %1 : index
        %9 = arith.constant true
        %10 = arith.maxsi %0, %1 : index
        %11 = arith.select %9, %10, %1 : index
        """,
    )


def test_arithmetic_on_floats_and_tiles() -> None:
    module, builder, (t,) = program(C)
    one = constant(builder, 1.5, f32)
    mul(builder, one, one)
    div(builder, one, one)
    two = constant(builder, 2, C)
    sub(builder, add(builder, t, two), maximum(builder, t, two))
    constant(builder, 3, TensorType(i32, [4]))
    constant(builder, 3, TensorType(INDEX, [4]))
    assert_prints(
        module,
        """
        %1 = arith.constant 1.500000e+00 : f32
        %2 = arith.mulf %1, %1 : f32
        %3 = arith.divf %1, %1 : f32
        %4 = arith.constant dense<2.000000e+00> : tensor<64x16xf32>
        %5 = arith.addf %0, %4 : tensor<64x16xf32>
        %6 = arith.maximumf %0, %4 : tensor<64x16xf32>
        %7 = arith.subf %5, %6 : tensor<64x16xf32>
        %8 = arith.constant dense<3> : tensor<4xi32>
        %9 = arith.constant dense<3> : tensor<4xindex>
        """,
    )


@pytest.mark.parametrize("build", [add, sub, mul])
def test_no_promise_is_made(build: Callable[[Builder, SSAValue, SSAValue], SSAValue]) -> None:
    """No overflow flag on integers, no fast-math flag on floats."""
    _, builder, (i, x) = program(INDEX, f32)
    on_integers = build(builder, i, i).owner
    on_floats = build(builder, x, x).owner
    assert isinstance(on_integers, arith.AddiOp | arith.SubiOp | arith.MuliOp)
    assert isinstance(on_floats, arith.AddfOp | arith.SubfOp | arith.MulfOp)
    assert on_integers.overflow_flags is None or not on_integers.overflow_flags.data
    assert not on_floats.fastmath.data


@pytest.mark.parametrize(("value", "type_"), [(1.5, INDEX), (1, C), (1, i1)])
def test_constants_of_every_type(value: float, type_: TensorType | IndexType) -> None:
    _, builder, _ = program()
    if value == 1.5:
        with pytest.raises(ValueError, match=r"1\.5 is no constant of type index"):
            constant(builder, value, type_)
    else:
        assert constant(builder, value, type_).type == type_


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (float("inf"), i32, "inf is no constant of type i32"),
        (float("nan"), TensorType(i32, [4]), "nan is no constant of type tensor"),
        (1, Float80Type(), "there are no constants of type f80"),
        (1, TensorType(Float128Type(), [4]), "there are no constants of type f128"),
        (0, Float8E8M0FNUType(), "0 is no constant of type f8E8M0FNU"),
        (0, TensorType(Float8E8M0FNUType(), [4]), "0 is no constant of type f8E8M0FNU"),
        (-1, Float8E8M0FNUType(), "-1 is no constant of type f8E8M0FNU"),
        (float("inf"), Float4E2M1FNType(), "inf is no constant of type f4E2M1FN"),
        (1e10, f16, "10000000000.0 is no constant of type f16"),
        (10**400, f32, "is no constant of type f32"),
    ],
)
def test_no_constant_becomes_another(value: float, type_: Attribute, text: str) -> None:
    _, builder, _ = program()
    with pytest.raises(ValueError, match=text):
        constant(builder, value, type_)


@pytest.mark.parametrize("value", [0, 0.1, -0.0, 1e-50, float("inf"), float("nan")])
def test_what_may_be_rounded_is_a_constant(value: float) -> None:
    _, builder, _ = program()
    assert constant(builder, value, f32).type == f32


def test_no_constant_of_a_type_without_numbers() -> None:
    _, builder, _ = program()
    with pytest.raises(ValueError, match="there are no constants of type #nv_tileas<space smem>"):
        constant(builder, 1, SpaceAttr(Space.SMEM))


def test_a_product_onto_zero() -> None:
    acc = TensorType(f32, [64, 16], SpaceAttr(Space.RMEM))
    module, builder, (a, b) = program(A, B)
    build_zero_accumulator_dot(builder, DotInputs(a, b, "mma_f16_f16_f32"), acc)
    assert_prints(
        module,
        """
        %2 = nv_tileas.alloc_tensor : tensor<64x16xf32, #nv_tileas<space rmem>>
        %3 = arith.constant dense<0.000000e+00> : tensor<64x16xf32>
        %4 = nv_tileas.insert_slice %3 into %2[0, 0][64, 16][1, 1]
            : tensor<64x16xf32> into tensor<64x16xf32, #nv_tileas<space rmem>>
        %5 = nv_tileas.dot %0, %1, %4 {atom = #nv_tileas<atom mma_f16_f16_f32>}
            : tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32, #nv_tileas<space rmem>>
            -> tensor<64x16xf32, #nv_tileas<space rmem>>
        """,
    )


def test_a_product_under_a_predicate_keeps_atom_and_signedness() -> None:
    tile = TensorType(i8, [32, 32])
    module, builder, (a, c, p) = program(tile, TensorType(i32, [32, 32]), i1)
    inputs = DotInputs(a, a, "mma_i8_i8_i32", "signed", "unsigned")
    build_predicated_dot(builder, inputs, c, p)
    assert_prints(
        module,
        """
        %3 = scf.if %2 -> (tensor<32x32xi32>) {
          %4 = nv_tileas.dot %0, %0, %1 {atom = #nv_tileas<atom mma_i8_i8_i32>,
              signedness_a = #nv_tileas<signedness signed>,
              signedness_b = #nv_tileas<signedness unsigned>}
              : tensor<32x32xi8>, tensor<32x32xi8>, tensor<32x32xi32> -> tensor<32x32xi32>
          scf.yield %4 : tensor<32x32xi32>
        } else {
          scf.yield %1 : tensor<32x32xi32>
        }
        """,
    )


@pytest.mark.parametrize("guarded", [False, True])
def test_a_product_for_each_stage(guarded: bool) -> None:
    module, builder, (a, b, c, n) = program(TensorType(f16, [64, 128]), B, C, INDEX)
    zero, one = constant(builder, 0), constant(builder, 1)

    def inputs_of(inside: Builder, stage: SSAValue) -> DotInputs:
        piece = inside.insert(ExtractSliceOp(a, [0, stage], [64, 32])).result
        return DotInputs(piece, b, "mma_f16_f16_f32")

    def guard_of(inside: Builder, stage: SSAValue) -> SSAValue:
        return inside.insert(arith.CmpiOp(stage, n, "slt")).result

    loop = StageLoop(zero, n, one)
    build_staged_dot(builder, loop, c, inputs_of, guard_of if guarded else None)
    dot = """nv_tileas.dot %9, %1, %8 {atom = #nv_tileas<atom mma_f16_f16_f32>}
        : tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32> -> tensor<64x16xf32>"""
    plain = f"""%10 = {dot}
        scf.yield %10 : tensor<64x16xf32>"""
    under_guard = f"""%10 = arith.cmpi slt, %7, %3 : index
        %11 = scf.if %10 -> (tensor<64x16xf32>) {{
          %12 = {dot}
          scf.yield %12 : tensor<64x16xf32>
        }} else {{
          scf.yield %8 : tensor<64x16xf32>
        }}
        scf.yield %11 : tensor<64x16xf32>"""
    assert_prints(
        module,
        f"""
        %4 = arith.constant 0 : index
        %5 = arith.constant 1 : index
        %6 = scf.for %7 = %4 to %3 step %5 iter_args(%8 = %2) -> (tensor<64x16xf32>) {{
          %9 = nv_tileas.extract_slice %0[0, %7][64, 32][1, 1]
              : tensor<64x128xf16> -> tensor<64x32xf16>
          {under_guard if guarded else plain}
        }}
        """,
    )


def test_a_product_with_a_masked_k() -> None:
    module, builder, (a, b, c, k) = program(A, B, C, INDEX)
    smem = TensorType(f16, [32, 16], SpaceAttr(Space.SMEM))
    inputs = DotInputs(a, b, "wgmma_f16_f16_f32")
    build_masked_dot(builder, inputs, c, k, b_type=smem)
    assert_prints(
        module,
        """
        %4 = nv_tileas.generate : tensor<64x32xf16> {
        ^bb0(%5: index, %6: index):
          %7 = arith.cmpi slt, %6, %3 : index
          %8 = tensor.extract %0[%5, %6] : tensor<64x32xf16>
          %9 = arith.constant 0.000000e+00 : f16
          %10 = arith.select %7, %8, %9 : f16
          nv_tileas.yield %10 : f16
        }
        %11 = nv_tileas.generate : tensor<32x16xf16> {
        ^bb0(%12: index, %13: index):
          %14 = arith.cmpi slt, %12, %3 : index
          %15 = tensor.extract %1[%12, %13] : tensor<32x16xf16>
          %16 = arith.constant 0.000000e+00 : f16
          %17 = arith.select %14, %15, %16 : f16
          nv_tileas.yield %17 : f16
        }
        %18 = nv_tileas.convert_layout %11
            : tensor<32x16xf16> -> tensor<32x16xf16, #nv_tileas<space smem>>
        %19 = nv_tileas.dot %4, %18, %2 {atom = #nv_tileas<atom wgmma_f16_f16_f32>}
            : tensor<64x32xf16>, tensor<32x16xf16, #nv_tileas<space smem>>, tensor<64x16xf32>
            -> tensor<64x16xf32>
        """,
    )


def test_only_tiles_are_masked() -> None:
    _, builder, (x, c, k) = program(f16, C, INDEX)
    with pytest.raises(ValueError, match="only tiles are masked, not f16"):
        build_masked_dot(builder, DotInputs(x, x, "mma_f16_f16_f32"), c, k)
