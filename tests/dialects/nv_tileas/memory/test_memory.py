"""Programs of memory operations, built by constructors and written by hand, are the same."""

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import Builtin, IndexType, IntegerType, ModuleOp, TensorType, f16, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.traits import MemoryEffectKind, get_effects

from tileas_xdsl.dialects.nv_tileaa.dialect import NvTileaa
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas import NvTileas
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.interfaces import is_memory_consistency
from tileas_xdsl.dialects.nv_tileas.memory.copy import AsyncCopyOp, CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import (
    AsyncLoadOp,
    AsyncStoreOp,
    GatherLoadOp,
    LoadOp,
    ScatterStoreOp,
    StoreOp,
)
from tileas_xdsl.dialects.nv_tileas.memory.tile_size import MAX_TILE_ELEMENTS, size_problem
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    AsyncTiledLoadOp,
    TiledAtomicRmwOp,
    TiledLoadOp,
    TiledStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.types import MemTokenType, TiledViewType

VIEW = TiledViewType((64, 64), f16, Space.GMEM)
TILE = TensorType(f16, (64, 64))


def values(*types: Attribute) -> tuple[SSAValue, ...]:
    return tuple(test.TestOp(result_types=types).results)


def written(text: str) -> ModuleOp:
    """Return the program parsed from the text."""
    context = Context()
    for dialect in (Builtin, test.Test, NvTileaa, NvTileas):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def same(built: Operation, text: str) -> None:
    """Assert that `built`, after the definition of its operands, prints as `text`."""
    source = built.operands[0].owner
    assert isinstance(source, Operation)
    module, other = ModuleOp([source, built]), written(text)
    module.verify()
    other.verify()
    named = other.body.block.first_op
    assert named is not None
    for value, name in zip(source.results, named.results, strict=True):
        value.name_hint = name.name_hint
    assert str(module) == str(other)
    assert module.is_structurally_equivalent(other)


def test_tiled_load_takes_its_type_from_the_view() -> None:
    v, i, j = values(VIEW, IndexType(), IndexType())
    load = TiledLoadOp(v, [i, j], atom="ldg")
    load.verify()
    assert load.result.type == TILE
    assert load.out_token is None
    assert load.properties.keys() == {"atom", "operandSegmentSizes"}


def test_tiled_load_takes_its_type_from_the_box() -> None:
    view = TiledViewType((1024, 1024), f16, Space.GMEM)
    v, i = values(view, IndexType())
    load = TiledLoadOp(v, [i, i], atom=AtomAttr.of("tma_load_2d", box=(64, 128)), allow_tma=True)
    load.verify()
    assert load.result.type == TensorType(f16, (128, 64))


def test_tiled_load_with_everything_is_the_text() -> None:
    v, i, t, m = values(VIEW, IndexType(), MemTokenType(), TensorType(i1, (64, 64)))
    built = TiledLoadOp(
        v,
        [i, i],
        atom="ldg",
        offsets=[i, i],
        token=t,
        mask=m,
        semantic="relaxed",
        scope="gpu",
        in_bounds=[True, False],
        padding=0.0,
    )
    same(
        built,
        """
        %v, %i, %t, %m = "test.op"() : () -> (
          !nv_tileas.tiled_view<64x64xf16, gmem>, index, !nv_tileas.mem_token, tensor<64x64xi1>)
        %0, %1 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] relaxed gpu
          mask %m : tensor<64x64xi1> after %t : !nv_tileas.mem_token
          {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true, false>,
           padding_value = 0.0 : f16}
          : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>, !nv_tileas.mem_token
        """,
    )


def test_async_tiled_load_delivers_the_tile() -> None:
    v, i = values(VIEW, IndexType())
    same(
        AsyncTiledLoadOp(v, [i, i], atom="ldgsts", padding="nan"),
        """
        %v, %i = "test.op"() : () -> (!nv_tileas.tiled_view<64x64xf16, gmem>, index)
        %0 = nv_tileas.async.tiled_load %v[%i, %i]
          {atom = #nv_tileas<atom ldgsts>, padding_value = #nv_tileas<padding nan>}
          : !nv_tileas.tiled_view<64x64xf16, gmem> -> !nv_tileas.token<tensor<64x64xf16>>
        """,
    )


def test_tiled_store_is_the_text() -> None:
    x, v, i, t = values(TILE, VIEW, IndexType(), MemTokenType())
    same(
        TiledStoreOp(x, v, [i, i], atom="stg", token=t, in_bounds=[True, True]),
        """
        %x, %v, %i, %t = "test.op"() : () -> (
          tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem>, index, !nv_tileas.mem_token)
        %0 = nv_tileas.tiled_store %x, %v[%i, %i] after %t : !nv_tileas.mem_token
          {atom = #nv_tileas<atom stg>, in_bounds = array<i1: true, true>}
          : tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem> -> !nv_tileas.mem_token
        """,
    )


def test_tiled_atomic_rmw_is_the_text() -> None:
    x, v, i = values(TILE, VIEW, IndexType())
    same(
        TiledAtomicRmwOp("add", x, v, [i, i], atom="tma_redg_2d", semantic="acq_rel", scope="sys"),
        """
        %x, %v, %i = "test.op"() : () -> (
          tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem>, index)
        %0 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] acq_rel sys
          {atom = #nv_tileas<atom tma_redg_2d<op = add>>}
          : tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
        """,
    )


def test_copies_are_the_text() -> None:
    shared = TensorType(f16, (64, 64), SpaceAttr(Space.SMEM))
    v, s = values(VIEW, shared)
    types = '"test.op"() : () -> (!nv_tileas.tiled_view<64x64xf16, gmem>, tensor<64x64xf16, '
    place = "!nv_tileas.tiled_view<64x64xf16, gmem>, tensor<64x64xf16, #nv_tileas<space smem>>"
    head = f"%v, %s = {types}#nv_tileas<space smem>>)\n"
    copy = "copy %v, %s {atom = #nv_tileas<atom ldgsts>} :"
    same(CopyOp(v, s, atom="ldgsts"), f"{head}nv_tileas.{copy} {place}")
    v, s = values(VIEW, shared)
    same(
        AsyncCopyOp(v, s, atom="ldgsts"),
        f"{head}%0 = nv_tileas.async.{copy} {place} -> !nv_tileas.token",
    )


def test_loads_and_stores_follow_the_pointers() -> None:
    pointers = TensorType(PtrType(f16), (32,))
    p, x = values(pointers, TensorType(f16, (32,)))
    load = LoadOp(p, atom="ldg", semantic="acquire", scope="gpu", padding=1.0)
    assert load.result.type == x.type
    for op in (
        load,
        AsyncLoadOp(p, atom="ldgsts"),
        StoreOp(x, p, atom="stg", semantic="release", scope="cta"),
        AsyncStoreOp(x, p, atom="stg"),
    ):
        op.verify()
        assert is_memory_consistency(op)
    scalar = LoadOp(*values(PtrType(f16)), atom="ldg")
    assert scalar.result.type == f16


def test_gather_and_scatter_take_tiles_of_coordinates() -> None:
    v, rows, i = values(VIEW, TensorType(IntegerType(32), (16,)), IndexType())
    gather = GatherLoadOp(v, [rows, i], TensorType(f16, (16,)), atom="ldg", padding="neg_inf")
    gather.verify()
    ScatterStoreOp(gather, v, [rows, i], atom="stg").verify()


def test_a_load_that_acquires_is_not_only_a_read() -> None:
    (p,) = values(PtrType(f16))
    plain = get_effects(LoadOp(p, atom="ldg"))
    acquiring = get_effects(LoadOp(p, atom="ldg", semantic="acquire", scope="gpu"))
    assert {e.kind for e in plain or ()} == {MemoryEffectKind.READ}
    assert {e.kind for e in acquiring or ()} == {MemoryEffectKind.READ, MemoryEffectKind.WRITE}


def test_what_has_no_tiles_needs_a_type() -> None:
    (i,) = values(IndexType())
    with pytest.raises(ValueError, match="index has no tiles"):
        TiledLoadOp(i, [i], atom="ldg")
    with pytest.raises(ValueError, match="no padding value"):
        LoadOp(*values(PtrType(MemTokenType())), atom="ldg", padding=1)


def test_sizes_of_tiles() -> None:
    assert size_problem((4096, MAX_TILE_ELEMENTS // 4096)) is None
    assert size_problem((8192, MAX_TILE_ELEMENTS // 4096)) is not None
    assert size_problem(()) is None
