"""A view and its access, built in one call, print as they would be written."""

import pytest
from xdsl.builder import Builder
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    TensorType,
    f16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.nv_tileas.builders.memory import (
    TileView,
    build_view_then_load,
    build_view_then_store,
)
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.arguments import padding_attribute
from tileas_xdsl.dialects.nv_tileas.types import MemTokenType, TiledViewType

VIEW = TiledViewType((64, 64), f16, Space.GMEM)
MATRIX = MemRefType(f16, (1024, 1024))


def program(*arguments: tuple[str, Attribute]) -> tuple[ModuleOp, Builder, list[SSAValue]]:
    source = test.TestOp(result_types=[type_ for _, type_ in arguments])
    for result, (name, _) in zip(source.results, arguments, strict=True):
        result.name_hint = name
    module = ModuleOp([source])
    return module, Builder(InsertPoint.at_end(module.body.block)), [*source.results]


def printed(module: ModuleOp) -> str:
    """The verified program without its first line, which makes the arguments."""
    module.verify()
    lines = [line.strip() for line in str(module).splitlines()[2:-1]]
    return "\n".join(lines)


def test_view_then_load() -> None:
    module, builder, (m, i, j) = program(("m", MATRIX), ("i", IndexType()), ("j", IndexType()))
    build_view_then_load(builder, m, TileView(VIEW), [i, j], atom="ldg", padding=0.0)
    assert printed(module) == (
        "%0 = nv_tileas.view %m : memref<1024x1024xf16> -> !nv_tileas.tiled_view<64x64xf16, gmem>\n"
        "%1 = nv_tileas.tiled_load %0[%i, %j] "
        "{atom = #nv_tileas<atom ldg>, padding_value = 0.000000e+00 : f16} "
        ": !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>"
    )


def test_coordinates_become_indices_and_leading_ones_are_zero() -> None:
    module, builder, (m, i, j, t) = program(
        ("m", MATRIX), ("i", i32), ("j", i64), ("t", MemTokenType())
    )
    build_view_then_load(
        builder,
        m,
        TileView(VIEW, [128, i]),
        [j],
        atom="ldg",
        token=t,
        semantic="relaxed",
        scope="gpu",
        in_bounds=[True, False],
        offsets=[8],
    )
    assert printed(module) == (
        "%0 = arith.constant 128 : index\n"
        "%1 = arith.index_cast %i : i32 to index\n"
        "%2 = nv_tileas.view %m[%0, %1] "
        ": memref<1024x1024xf16> -> !nv_tileas.tiled_view<64x64xf16, gmem>\n"
        "%3 = arith.constant 0 : index\n"
        "%4 = arith.index_cast %j : i64 to index\n"
        "%5 = arith.constant 0 : index\n"
        "%6 = arith.constant 8 : index\n"
        "%7, %8 = nv_tileas.tiled_load %2[%3, %4] offset[%5, %6] relaxed gpu "
        "after %t : !nv_tileas.mem_token "
        "{atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true, false>} "
        ": !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>, !nv_tileas.mem_token"
    )


def test_view_then_store() -> None:
    tile = TensorType(f16, (64, 64))
    module, builder, (x, m, i) = program(("x", tile), ("m", MATRIX), ("i", IndexType()))
    build_view_then_store(
        builder, x, m, TileView(VIEW), [i, i], atom="stg", in_bounds=[True, True], allow_tma=False
    )
    assert printed(module) == (
        "%0 = nv_tileas.view %m : memref<1024x1024xf16> -> !nv_tileas.tiled_view<64x64xf16, gmem>\n"
        "nv_tileas.tiled_store %x, %0[%i, %i] {atom = #nv_tileas<atom stg>, "
        "in_bounds = array<i1: true, true>, allow_tma = false} "
        ": tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem>"
    )


def test_without_coordinates_the_first_tile_is_meant() -> None:
    module, builder, (m,) = program(("m", MATRIX))
    load = build_view_then_load(builder, m, TileView(VIEW), atom="ldg")
    module.verify()
    assert len(load.coords) == 2


def test_a_view_without_dimensions_takes_no_coordinates() -> None:
    scalar = TiledViewType((), f16, Space.GMEM)
    tile = TensorType(f16, ())
    module, builder, (m, x) = program(("m", MemRefType(f16, ())), ("x", tile))
    load = build_view_then_load(builder, m, TileView(scalar), atom="ldg")
    store = build_view_then_store(builder, x, m, TileView(scalar), atom="stg")
    module.verify()
    assert (len(load.coords), len(store.coords)) == (0, 0)


def test_more_than_there_are_dimensions_are_refused() -> None:
    module, builder, (m, x) = program(("m", MATRIX), ("x", TensorType(f16, (64, 64))))
    with pytest.raises(ValueError, match="there are at most 2 coordinates here, not 3"):
        build_view_then_load(builder, m, TileView(VIEW), [0, 0, 0], atom="ldg")
    with pytest.raises(ValueError, match="there are at most 2 offsets here, not 3"):
        build_view_then_load(builder, m, TileView(VIEW), atom="ldg", offsets=[0, 0, 0])
    with pytest.raises(ValueError, match="there are at most 2 indices here, not 3"):
        build_view_then_store(builder, x, m, TileView(VIEW, [0, 0, 0]), atom="stg")
    assert len(module.ops) == 1, "nothing was built"


def test_padding_is_of_the_type_of_the_elements() -> None:
    assert padding_attribute(2.0, i32) == IntegerAttr(2, i32)
    assert padding_attribute(1, f16) == FloatAttr(1.0, f16)
    with pytest.raises(ValueError, match=r"1\.5 is no padding value for elements of type i32"):
        padding_attribute(1.5, i32)
