"""Constructors of the operations on layout and shape; printed they are what one would write."""

import pytest
from support.ir import assert_prints, program
from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType, f16, i8
from xdsl.ir import Block
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    GenerateOp,
    ReinterpretOp,
    ShuffleOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType

TILE = TensorType(f16, [16, 8])


def test_constructors() -> None:
    module, builder, (t, i) = program(TILE, IndexType())
    builder.insert(ConvertLayoutOp(t, TensorType(f16, [16, 8], SpaceAttr(Space.SMEM))))
    builder.insert(ViewOp(t, TILE))
    builder.insert(ViewOp(t, TILE, offset=128))
    builder.insert(ViewOp(t, TiledViewType([8, 8], f16, Space.SMEM), [i, i]))
    builder.insert(ExpandDimsOp(t, 1))
    builder.insert(ReinterpretOp(t, TensorType(i8, [256]), reinterpret_byte=True))
    builder.insert(ShuffleOp(t, TILE))
    assert_prints(
        module,
        """
        %2 = nv_tileas.convert_layout %0 : tensor<16x8xf16> -> tensor<16x8xf16, #nv_tileas<space
            smem>>
        %3 = nv_tileas.view %0 : tensor<16x8xf16>
        %4 = nv_tileas.view %0 {offset = 128 : i64} : tensor<16x8xf16>
        %5 = nv_tileas.view %0[%1, %1] : tensor<16x8xf16> -> !nv_tileas.tiled_view<8x8xf16, smem>
        %6 = nv_tileas.expand_dims %0 {axis = 1 : i32} : tensor<16x8xf16> -> tensor<16x1x8xf16>
        %7 = nv_tileas.reinterpret %0 {reinterpret_byte} : tensor<16x8xf16> -> tensor<256xi8>
        %8 = nv_tileas.shuffle %0 : tensor<16x8xf16> -> tensor<16x8xf16>
        """,
    )


def test_a_generated_tile() -> None:
    module, builder, _ = program()
    body = Block(arg_types=[IndexType()])
    inside = Builder(InsertPoint.at_end(body))
    doubled = inside.insert(arith.AddiOp(body.args[0], body.args[0]))
    inside.insert(YieldOp(doubled.result))
    builder.insert(GenerateOp(TensorType(IndexType(), [16]), body))
    assert_prints(
        module,
        """
        %0 = nv_tileas.generate : tensor<16xindex> {
        ^bb0(%1: index):
          %2 = arith.addi %1, %1 : index
          nv_tileas.yield %2 : index
        }
        """,
    )


def test_an_empty_body_yields_nothing() -> None:
    """Plain verification of one operation meets this; a whole module is refused before it."""
    op = GenerateOp(TensorType(f16, [4]), Block(arg_types=[IndexType()]))
    with pytest.raises(VerifyException) as error:
        op.verify_()
    assert str(error.value).endswith("op the body ends with 'nv_tileas.yield', not nothing")


def test_a_view_is_whole_unless_it_begins_elsewhere() -> None:
    _, _, (t, i) = program(TILE, IndexType())
    assert ViewOp(t, TILE).is_whole
    assert ViewOp(t, TILE, offset=0).is_whole
    assert not ViewOp(t, TILE, offset=8).is_whole
    assert not ViewOp(t, TILE, [i]).is_whole
    assert ViewOp(t, TILE, offset=8).offset == IntegerAttr(8, 64)
