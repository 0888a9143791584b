"""Constructors of tile storage and slices; printed they are the text that one would write."""

import pytest
from support.ir import assert_prints, program
from xdsl.dialects.builtin import IndexType, TensorType, f32
from xdsl.traits import get_effects, is_side_effect_free

from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.interfaces import is_memory_consistency, is_tile_structure
from tileas_xdsl.dialects.nv_tileas.shapes.slice_checks import Slice
from tileas_xdsl.dialects.nv_tileas.shapes.slices import (
    AllocTensorOp,
    AsyncExtractSliceOp,
    AsyncInsertSliceOp,
    ExtractSliceOp,
    InsertSliceOp,
    part_of,
)
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType

WHOLE = TensorType(f32, [32, 32])
PIECE = TensorType(f32, [16, 32])


def test_slices_of_tiles() -> None:
    module, builder, (x, i) = program(PIECE, IndexType())
    tile = builder.insert(AllocTensorOp(WHOLE)).result
    filled = builder.insert(InsertSliceOp(x, tile, [i, 0], [16, 32])).result
    builder.insert(ExtractSliceOp(filled, [0, 0], [16, i], [2, 1]))
    assert_prints(
        module,
        """
        %2 = nv_tileas.alloc_tensor : tensor<32x32xf32>
        %3 = nv_tileas.insert_slice %0 into %2[%1, 0][16, 32][1, 1] : tensor<16x32xf32> into
            tensor<32x32xf32>
        %4 = nv_tileas.extract_slice %3[0, 0][16, %1][2, 1] : tensor<32x32xf32> -> tensor<16x?xf32>
        """,
    )


def test_slices_of_what_tokens_deliver() -> None:
    module, builder, (x, t) = program(PIECE, AsyncTokenType(WHOLE))
    piece = builder.insert(AsyncExtractSliceOp(t, [0, 0], [16, 32])).result
    builder.insert(AsyncInsertSliceOp(piece, t, [16, 0], [16, 32]))
    builder.insert(AsyncInsertSliceOp(x, t, [16, 0], [16, 32]))
    assert_prints(
        module,
        """
        %2 = nv_tileas.async.extract_slice %1[0, 0][16, 32][1, 1] :
            !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<16x32xf32>>
        %3 = nv_tileas.async.insert_slice %2 into %1[16, 0][16, 32][1, 1] :
            !nv_tileas.token<tensor<16x32xf32>> into !nv_tileas.token<tensor<32x32xf32>> ->
            !nv_tileas.token<tensor<32x32xf32>>
        %4 = nv_tileas.async.insert_slice %0 into %1[16, 0][16, 32][1, 1] : tensor<16x32xf32> into
            !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<32x32xf32>>
        """,
    )


def test_a_slice_keeps_the_encoding_unless_told_otherwise() -> None:
    smem = SpaceAttr(Space.SMEM)
    _, _, (t,) = program(TensorType(f32, [32, 32], smem))
    assert ExtractSliceOp(t, [0, 0], [8, 8]).result.type == TensorType(f32, [8, 8], smem)
    wanted = TensorType(f32, [8, 8])
    assert ExtractSliceOp(t, [0, 0], [8, 8], result_type=wanted).result.type == wanted


def test_the_part_of_a_tile() -> None:
    _, _, (t, i) = program(WHOLE, IndexType())
    part = part_of(ExtractSliceOp(t, [i, 0], [16, 32]))
    assert part == Slice((i, 0), (16, 32), (1, 1))
    assert not part.is_static
    assert part_of(ExtractSliceOp(t, [8, 0], [16, 32])).is_static


def test_an_asynchronous_slice_needs_a_tile_in_the_token() -> None:
    _, _, (t,) = program(AsyncTokenType())
    with pytest.raises(ValueError, match="a token that carries a tile"):
        AsyncExtractSliceOp(t, [0, 0], [16, 32])


def test_no_operation_on_slices_orders_memory() -> None:
    _, _, (t,) = program(WHOLE)
    alloc, piece = AllocTensorOp(WHOLE), ExtractSliceOp(t, [0, 0], [8, 8])
    assert is_tile_structure(alloc)
    assert is_tile_structure(piece)
    assert is_side_effect_free(piece)
    assert not is_side_effect_free(alloc)
    assert [effect.value for effect in get_effects(alloc) or ()] == [alloc.result]
    assert not any(is_memory_consistency(op) for op in (alloc, piece))
