"""Constructors of products, reductions and scans; printed they are what one would write."""

from support.ir import assert_prints, parse, program
from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType, f16, f32, i8, i32
from xdsl.ir import Block

from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.compute import AsyncDotOp, DotOp, ReduceOp, ScanOp
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
