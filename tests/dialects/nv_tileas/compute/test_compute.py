"""Constructors of products, reductions and scans; printed they are what one would write."""

import pytest
from support.ir import assert_prints, parse, program
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
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
from xdsl.ir import Attribute, Block
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.enums import Signedness
from tileas_xdsl.dialects.nv_tileas.interfaces import is_memory_consistency

A, B, C = TensorType(f16, [64, 32]), TensorType(f16, [32, 16]), TensorType(f32, [64, 16])


def adding() -> Block:
    """A body that adds."""
    body = Block(arg_types=[f32, f32])
    total = arith.AddfOp(*body.args)
    body.add_ops([total, YieldOp(total.result)])
    return body


def test_products() -> None:
    module, builder, (a, b, c) = program(A, B, C)
    builder.insert(DotOp(a, b, c, "mma_f16_f16_f32"))
    first = builder.insert(AsyncDotOp(a, b, c, AtomAttr.of("wgmma_f16_f16_f32")))
    builder.insert(AsyncDotOp(a, b, first, "wgmma_f16_f16_f32"))
    assert_prints(
        module,
        """
        %3 = nv_tileas.dot %0, %1, %2 {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16>,
            tensor<32x16xf16>, tensor<64x16xf32> -> tensor<64x16xf32>
        %4 = nv_tileas.async.dot %0, %1, %2 {atom = #nv_tileas<atom wgmma_f16_f16_f32>} :
            tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32> ->
            !nv_tileas.token<tensor<64x16xf32>>
        %5 = nv_tileas.async.dot %0, %1, %4 {atom = #nv_tileas<atom wgmma_f16_f16_f32>} :
            tensor<64x32xf16>, tensor<32x16xf16>, !nv_tileas.token<tensor<64x16xf32>> ->
            !nv_tileas.token<tensor<64x16xf32>>
        """,
    )


def test_integer_products() -> None:
    tile = TensorType(i8, [32, 32])
    module, builder, (a, c) = program(tile, TensorType(i32, [32, 32]))
    builder.insert(
        DotOp(a, a, c, "mma_i8_i8_i32", signedness_a="signed", signedness_b=Signedness.UNSIGNED)
    )
    assert_prints(
        module,
        """
        %2 = nv_tileas.dot %0, %0, %1 {atom = #nv_tileas<atom mma_i8_i8_i32>, signedness_a =
            #nv_tileas<signedness signed>, signedness_b = #nv_tileas<signedness unsigned>} :
            tensor<32x32xi8>, tensor<32x32xi8>, tensor<32x32xi32> -> tensor<32x32xi32>
        """,
    )


def test_reductions() -> None:
    module, builder, (c,) = program(C)
    builder.insert(ReduceOp(c, 0, adding(), atom="reduce_add"))
    builder.insert(ScanOp(c, 1, adding(), reverse=True))
    assert_prints(
        module,
        """
        %1 = nv_tileas.reduce %0 {axis = 0 : i32, atom = #nv_tileas<atom reduce_add>} :
            tensor<64x16xf32> -> tensor<16xf32> {
        ^bb0(%2: f32, %3: f32):
          %4 = arith.addf %2, %3 : f32
          nv_tileas.yield %4 : f32
        }
        %5 = nv_tileas.scan %0 {axis = 1 : i32, reverse} : tensor<64x16xf32> -> tensor<64x16xf32> {
        ^bb0(%6: f32, %7: f32):
          %8 = arith.addf %6, %7 : f32
          nv_tileas.yield %8 : f32
        }
        """,
    )


def test_what_orders_memory() -> None:
    _, _, (a, b, c) = program(A, B, C)
    assert not is_memory_consistency(DotOp(a, b, c, "mma_f16_f16_f32"))
    assert is_memory_consistency(AsyncDotOp(a, b, c, "mma_f16_f16_f32"))
    assert is_memory_consistency(ReduceOp(c, 0, adding()))
    assert is_memory_consistency(ScanOp(c, 0, adding()))


def test_sugar_leaves_no_trace() -> None:
    module = parse(
        """
        %a, %b, %c, %p = "test.op"() : () -> (tensor<64x32xf16>, tensor<32x16xf16>,
            tensor<64x16xf32>, i1)
        %0 = nv_tileas.wgmma %a, %b, %c : tensor<64x16xf32>
        %1 = tile.select %p, %c, %0 : tensor<64x16xf32>
        %2 = "tile.select"(%p, %1, %0) : (i1, tensor<64x16xf32>, tensor<64x16xf32>) ->
            tensor<64x16xf32>
        """
    )
    names = [op.name for op in module.ops]
    assert names == ["test.op", "nv_tileas.dot", "arith.select", "arith.select"]


ELEMENTS: dict[str, tuple[Attribute, Attribute]] = {
    "f16": (f16, f32), "bf16": (bf16, f32), "tf32": (f32, f32), "f32": (f32, f32),
    "f64": (f64, f64), "e4m3": (Float8E4M3FNType(), f32), "e5m2": (Float8E5M2Type(), f32),
    "e2m3": (Float6E2M3FNType(), f32), "e3m2": (Float6E3M2FNType(), f32),
    "e2m1": (Float4E2M1FNType(), f32), "ue8m0": (Float8E8M0FNUType(), f32), "b1": (i1, i32),
    "s4": (IntegerType(4), i32), "u4": (IntegerType(4), i32), "s8": (i8, i32), "u8": (i8, i32),
    "s16": (i16, i32), "s32": (i32, i32), "s64": (i64, i32),
}  # fmt: skip
PTX = {
    "mma": "f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8 s4 u4 b1 f64",
    "wgmma": "f16 bf16 tf32 e4m3 e5m2 s8 u8 b1",
    "tcgen05": "f16 bf16 tf32 e4m3 e5m2 e2m3 e3m2 e2m1 s8 u8",
}
NARROW = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"}


@pytest.mark.parametrize("instruction", PTX)
@pytest.mark.parametrize("a", ELEMENTS)
def test_every_instruction_has_its_elements(instruction: str, a: str) -> None:
    """A dot is supported if PTX has both element types and they are equal or both narrow floats."""
    for b in ELEMENTS:
        check_product(instruction, a, b)


def check_product(instruction: str, a: str, b: str) -> None:
    of_a, of_c = ELEMENTS[a]
    of_b, _ = ELEMENTS[b]
    exists = {a, b} <= set(PTX[instruction].split()) and (of_a == of_b or {a, b} <= NARROW)
    tiles = (TensorType(element, [64, 64]) for element in (of_a, of_b, of_c))
    _, _, (x, y, z) = program(*tiles)
    op = DotOp(x, y, z, f"{instruction}_{a}_{b}_{of_c}")
    if exists:
        op.verify()
        return
    with pytest.raises(VerifyException, match=r"multiplies|takes"):
        op.verify()
