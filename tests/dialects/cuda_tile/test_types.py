"""Types made in Python equal those read from text, and know their facts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, Builtin, i32, i64
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile import CudaTile
from tileas_xdsl.dialects.cuda_tile.enums import PaddingValue, PaddingValueAttr, PtrAttr, PtrClass
from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS, FLOATS, bit_width, widens
from tileas_xdsl.dialects.cuda_tile.types.tile_types import (
    PtrType,
    TileType,
    TokenType,
    element_of,
    scalar,
)
from tileas_xdsl.dialects.cuda_tile.types.view_types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
)

F32 = ELEMENTS["f32"]
NUMBERS = sorted(set(ELEMENTS) - {"i4", "f4E2M1FN"})


def read(text: str) -> Attribute:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(CudaTile)
    return Parser(ctx, text).parse_attribute()


def is_printed(type_: Attribute, text: str) -> None:
    assert str(type_) == text
    assert read(text) == type_


def test_tiles() -> None:
    is_printed(TileType((2, 4), F32), "!cuda_tile.tile<2x4xf32>")
    is_printed(scalar(PtrType(F32)), "!cuda_tile.tile<ptr<f32>>")
    is_printed(TokenType(), "!cuda_tile.token")
    classified = PtrType(F32, PtrAttr(PtrClass.NONE))
    is_printed(scalar(classified), "!cuda_tile.tile<ptr<f32, #cuda_tile.ptr_attr<none>>>")
    tile = TileType((2, 4), F32)
    assert (tile.rank, tile.size, tile.get_shape()) == (2, 8, (2, 4))
    assert element_of(tile) == element_of(F32) == F32


def test_views() -> None:
    tensor = TensorViewType(F32, (DYNAMIC_INDEX, 16), (16, 1))
    text = "tensor_view<?x16xf32, strides=[16,1]>"
    is_printed(tensor, f"!cuda_tile.{text}")
    zero = PaddingValueAttr(PaddingValue.ZERO)
    partition = PartitionViewType((4, 2), tensor, (1, 0), zero)
    is_printed(
        partition,
        f"!cuda_tile.partition_view<tile=(4x2), padding_value = zero, {text}, dim_map=[1, 0]>",
    )
    strided = StridedViewType((4, 2), (3, 1), tensor)
    is_printed(strided, f"!cuda_tile.strided_view<tile=(4x2), traversal_strides=[3,1], {text}>")
    gather = GatherScatterViewType((4, 2), tensor, 1)
    is_printed(gather, f"!cuda_tile.gather_scatter_view<tile=(4x2), {text}, sparse_dim=1>")
    for view in (partition, strided, gather):
        assert (view.index_rank, view.tile_type) == (2, TileType((4, 2), F32))
    partition.check_index([scalar(i32), scalar(i32)])
    gather.check_index([scalar(i64), TileType((2,), i32)])


extents = st.sampled_from([1, 2, 8, 64])


@st.composite
def views(draw: st.DrawFn) -> Attribute:
    rank = draw(st.integers(1, 3))
    numbers = st.lists(
        st.one_of(st.just(DYNAMIC_INDEX), st.integers(1, 1 << 40)), min_size=rank, max_size=rank
    )
    element = ELEMENTS[draw(st.sampled_from(NUMBERS))]
    tensor = TensorViewType(element, draw(numbers), draw(numbers))
    tile = draw(st.lists(extents, min_size=rank, max_size=rank))
    dim_map = draw(st.permutations(range(rank)))
    return draw(
        st.sampled_from(
            [
                tensor,
                TileType(tile, element),
                PartitionViewType(tile, tensor, dim_map),
                StridedViewType(tile, tile, tensor, dim_map),
                GatherScatterViewType(tile, tensor, rank - 1),
            ]
        )
    )


@settings(deadline=None, max_examples=40)
@given(views())
def test_types_round_trip(type_: Attribute) -> None:
    assert read(str(type_)) == type_


def test_what_only_python_can_say_is_refused_too() -> None:
    with pytest.raises(VerifyException) as refused:
        TensorViewType(F32, (4,), (0,))
    assert message("cuda_tile.tensor_view.stride_positive", stride=0) in str(refused.value)
    tensor = TensorViewType(F32, (4,), (1,))
    with pytest.raises(VerifyException) as refused:
        PartitionViewType((0,), tensor)
    assert message("cuda_tile.tile.dimensions_positive", shape="0") in str(refused.value)
    for element in (TokenType(), TileType((), F32)):
        with pytest.raises(
            VerifyException,
            match=r"failed to verify 'elementType': i1 or .* or Pointer type values, but",
        ):
            TileType((), element)
    with pytest.raises(VerifyException, match="has no elements of type"):
        TensorViewType(TokenType(), (), ())


def test_widths() -> None:
    widths = {name: bit_width(ELEMENTS[name]) for name in ("i1", "i4", "tf32", "f4E2M1FN", "bf16")}
    assert widths == {"i1": 1, "i4": 4, "tf32": 19, "f4E2M1FN": 4, "bf16": 16}
    with pytest.raises(TypeError):
        bit_width(TokenType())


@pytest.mark.parametrize("name", FLOATS)
def test_every_float_is_in_itself_and_in_f64(name: str) -> None:
    float_ = ELEMENTS[name]
    assert widens(float_, float_)
    assert widens(float_, ELEMENTS["f64"])
    assert widens(ELEMENTS["f64"], float_) == (name == "f64")


@pytest.mark.parametrize(
    ("source", "result", "widening"),
    [
        ("f16", "f32", True),
        ("bf16", "f16", False),
        ("f16", "bf16", False),
        ("f16", "tf32", True),
        ("tf32", "f32", True),
        ("f8E5M2", "f16", True),
        ("f8E8M0FNU", "bf16", False),
    ],
)
def test_widening(source: str, result: str, widening: bool) -> None:
    assert widens(ELEMENTS[source], ELEMENTS[result]) is widening
