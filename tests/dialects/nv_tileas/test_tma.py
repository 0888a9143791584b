"""TMA operations built by constructors, and the checks that passes use by themselves."""

import pytest
from xdsl.dialects import arith, func, test
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    TensorType,
    UnitAttr,
    f16,
    i32,
    i64,
)
from xdsl.dialects.math import AbsIOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space, SwizzleMode
from tileas_xdsl.dialects.nv_tileas.tma import (
    AsyncGatherTmaLoadOp,
    AsyncScatterTmaStoreOp,
    AsyncTiledAtomicRmwOp,
    AsyncTiledTmaLoadOp,
    AsyncTiledTmaStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.tma_capture import capture_problem
from tileas_xdsl.dialects.nv_tileas.tma_descriptor import MakeTiledTmaDescOp, descriptor_of
from tileas_xdsl.dialects.nv_tileas.tma_index import (
    DEVICE_TMAS,
    GRID_CONSTANT,
    HOST_TMAS,
    TmaCounts,
    check_tma_index,
    has_descriptors,
    tma_counts,
)
from tileas_xdsl.dialects.nv_tileas.types import MemTokenType, TiledViewType, TmaDescType

VIEW = TiledViewType((1024, 1024), f16, Space.GMEM)
SHARED = TiledViewType((128, 64), f16, Space.SMEM)


def values(*types: Attribute) -> tuple[SSAValue, ...]:
    return tuple(test.TestOp(result_types=types).results)


def index(value: int) -> arith.ConstantOp:
    return arith.ConstantOp.from_int_and_width(value, IndexType())


def test_a_descriptor_and_what_is_known_of_it() -> None:
    view, other = values(VIEW, IndexType())
    atom = AtomAttr.of("tma_load_2d", box=(64, 128))
    made = MakeTiledTmaDescOp(
        view, [index(64), other], atom=atom, swizzle="128B", oob="zero", alignment=128, tma_index=0
    )
    made.verify()
    assert str(made) == (
        "%0 = nv_tileas.make_tiled_tma_desc %1 box[%2, %3] {atom = #nv_tileas<atom "
        'tma_load_2d<box = [64, 128]>>, swizzle_mode = #nv_tileas<swizzle_mode "128B">, '
        "oob_mode = #nv_tileas<oob_mode zero>, alignment = 128 : i32, tmaIdx = 0 : i32} : "
        "!nv_tileas.tiled_view<1024x1024xf16, gmem> -> !nv_tileas.tma_desc"
    )
    known = descriptor_of(made.result)
    assert known is not None
    assert known.box == (64, None)
    assert known.swizzle is SwizzleMode.B128
    assert descriptor_of(values(TmaDescType())[0]) is None


def test_the_mode_of_a_descriptor_is_its_own_or_that_of_the_atom() -> None:
    (view,) = values(VIEW)
    atom = AtomAttr.of("tma_load_2d", mode="gather4")
    assert MakeTiledTmaDescOp(view, [index(64)] * 2, atom=atom).load_mode == "gather4"
    made = MakeTiledTmaDescOp(view, [index(64)] * 2, atom="tma_load_2d", mode="im2col")
    known = descriptor_of(made.result)
    assert known is not None
    assert known.atom.mode == "im2col"


def test_transfers() -> None:
    desc, shared, i, barrier = values(TmaDescType(), SHARED, IndexType(), MemTokenType())
    (rows,) = values(TensorType(i32, (128,)))
    gather = AtomAttr.of("tma_load_2d", mode="gather4")
    scatter = AtomAttr.of("tma_store_2d", mode="scatter4")
    for op in (
        AsyncTiledTmaLoadOp(
            desc, shared, [i, i], barrier, atom="tma_load_2d", padding=0.0, tx_count=16384
        ),
        AsyncTiledTmaStoreOp(desc, shared, [i, i], atom="tma_store_2d", tma_index=1),
        AsyncGatherTmaLoadOp(desc, shared, [i], rows, barrier, atom=gather),
        AsyncScatterTmaStoreOp(desc, shared, [i], rows, atom=scatter),
        AsyncTiledAtomicRmwOp("add", desc, shared, [i, i], atom="tma_redg_2d"),
    ):
        op.verify()


def kernel(
    counts: TmaCounts | None, *, marked: bool = False, arguments: int = 2
) -> tuple[func.FuncOp, list[AsyncTiledTmaStoreOp]]:
    """A function with a store for each of its descriptors; all have index 0."""
    block = Block(arg_types=[SHARED, IndexType(), *[TmaDescType()] * arguments])
    shared, i, *descriptors = block.args
    stores = [
        AsyncTiledTmaStoreOp(desc, shared, [i, i], atom="tma_store_2d", tma_index=0)
        for desc in descriptors
    ]
    block.add_ops([*stores, func.ReturnOp()])
    marks = [DictionaryAttr({GRID_CONSTANT: UnitAttr()} if marked else {}) for _ in block.args]
    function = func.FuncOp(
        "kernel",
        FunctionType.from_lists([a.type for a in block.args], []),
        Region(block),
        arg_attrs=ArrayAttr(marks),
    )
    if counts is not None:
        function.attributes[HOST_TMAS] = IntegerAttr(counts.host, i32)
        function.attributes[DEVICE_TMAS] = IntegerAttr(counts.device, i32)
    return function, stores


def test_arguments_are_the_devices_and_then_the_hosts() -> None:
    function, (first, second) = kernel(TmaCounts(host=1, device=1))
    function.verify()
    function.attributes[HOST_TMAS] = IntegerAttr(0, i32)
    assert tma_counts(first) == TmaCounts(host=0, device=1)
    check_tma_index(second, second.desc)
    with pytest.raises(OpError, match=message("tma-idx-exceed-tma-host-num")):
        check_tma_index(first, first.desc)


def test_passes_ask_for_the_counts_that_the_verifier_waits_for() -> None:
    function, (store, _) = kernel(None)
    function.verify()
    assert not has_descriptors(store)
    with pytest.raises(OpError, match=message("func-op-lack-tma-device-num-and-tma-host-num-attr")):
        check_tma_index(store, store.desc)
    marked, _ = kernel(None, marked=True)
    with pytest.raises(OpError, match=message("func-op-lack-tma-device-num-and-tma-host-num-attr")):
        marked.verify()


def test_only_the_host_refuses_math() -> None:
    view, n = values(VIEW, i64)
    extent = arith.IndexCastOp(AbsIOp(n).result, IndexType())
    made = MakeTiledTmaDescOp(view, [index(64), extent], atom="tma_load_2d")
    made.verify()
    assert capture_problem(made) is None
    refusal = message("math-dialect-not-suppourt-in-separate-host-tma-pass-in-the-moment")
    assert capture_problem(made, for_host=True) == refusal
