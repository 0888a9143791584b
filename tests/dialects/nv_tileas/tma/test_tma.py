"""TMA operations built by constructors, and the checks that passes use by themselves."""

from itertools import product

import pytest
from xdsl.dialects import arith, func, scf, test
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    Float4E2M1FNType,
    FunctionType,
    IndexType,
    IntegerAttr,
    TensorType,
    UnitAttr,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.math import AbsIOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, LayoutAttr
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode, Space, SwizzleMode
from tileas_xdsl.dialects.nv_tileas.tma.capture import capture_problem, origins
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp, descriptor_of
from tileas_xdsl.dialects.nv_tileas.tma.index import (
    DEVICE_TMAS,
    GRID_CONSTANT,
    HOST_TMAS,
    TmaCounts,
    check_tma_index,
    has_descriptors,
    tma_counts,
)
from tileas_xdsl.dialects.nv_tileas.tma.ops import (
    AsyncGatherTmaLoadOp,
    AsyncScatterTmaStoreOp,
    AsyncTiledAtomicRmwOp,
    AsyncTiledTmaLoadOp,
    AsyncTiledTmaStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.types import MemTokenType, TiledViewType, TmaDescType
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout

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
    with pytest.raises(OpError, match=message("nv_tileas.tma_index.exceeds_host")):
        check_tma_index(first, first.desc)


def test_passes_ask_for_the_counts_that_the_verifier_waits_for() -> None:
    function, (store, _) = kernel(None)
    function.verify()
    assert not has_descriptors(store)
    with pytest.raises(OpError, match=message("nv_tileas.tma_index.counts_missing")):
        check_tma_index(store, store.desc)
    marked, _ = kernel(None, marked=True)
    with pytest.raises(OpError, match=message("nv_tileas.tma_index.counts_missing")):
        marked.verify()


def test_only_the_host_refuses_math() -> None:
    view, n = values(VIEW, i64)
    extent = arith.IndexCastOp(AbsIOp(n).result, IndexType())
    made = MakeTiledTmaDescOp(view, [index(64), extent], atom="tma_load_2d")
    made.verify()
    assert capture_problem(made, for_host=False) is None
    refusal = message("nv_tileas.tma_capture.math")
    assert capture_problem(made, for_host=True) == refusal


def loop_with_more_results_than_inits() -> scf.ForOp:
    """A loop with one initial value, one yielded, and two results."""
    (n,) = values(IndexType())
    body = Block([scf.YieldOp(n)], arg_types=[IndexType()] * 3)
    return scf.ForOp.create(
        operands=[n, n, n, n], result_types=[IndexType()] * 2, regions=[Region(body)]
    )


def test_a_malformed_loop_has_no_more_origins_than_it_hands_on() -> None:
    loop = loop_with_more_results_than_inits()
    for value in (*loop.results, *loop.body.block.args):
        assert origins(value)
    last = loop.body.block.args[2]
    loop.body.block.erase_arg(loop.body.block.args[1])
    assert origins(last)
    for regions in ([], [Region()], [Region(Block())]):
        bare = scf.ForOp.create(result_types=[IndexType()], regions=regions)
        assert [*origins(bare.results[0])] == [bare.results[0]]


def test_origins_pass_through_loops_and_branches() -> None:
    lower, first = values(IndexType(), TmaDescType())
    body = Block(arg_types=[IndexType(), TmaDescType()])
    body.add_op(scf.YieldOp(body.args[1]))
    loop = scf.ForOp(lower, lower, lower, [first], body)
    assert [*origins(loop.results[0])] == [first]
    assert [*origins(body.args[1])] == [first]
    (other,) = values(TmaDescType())
    swap = Block([scf.YieldOp(other)], arg_types=[IndexType(), TmaDescType()])
    swapped = scf.ForOp(lower, lower, lower, [loop.results[0]], swap)
    assert [*origins(swapped.results[0])] == [first, other]


def rows_of_boxes(extents: tuple[int, int], strides: tuple[int, int]) -> bool:
    """Whether one instruction fills a small plain buffer, place by place (no swizzle)."""
    (rows, columns), (down, across) = extents, strides
    places = [r * down + c * across for r in range(rows) for c in range(columns)]
    return places == [*range(rows * columns)]


@pytest.mark.parametrize("extents", [(8, 8), (16, 8), (8, 16), (32, 64)])
def test_a_plain_buffer_is_one_box_or_none(extents: tuple[int, int]) -> None:
    rows, columns = extents
    steps = (1, 2, rows, columns, columns + 8, 2 * columns)
    for strides in product(steps, steps):
        layout = MemoryLayout(Layout(extents, strides))
        buffer = TiledViewType(extents, f16, Space.SMEM, LayoutAttr(layout))
        desc, shared, i = values(TmaDescType(), buffer, IndexType())
        store = AsyncTiledTmaStoreOp(desc, shared, [i, i], atom="tma_store_2d")
        if rows_of_boxes(extents, strides):
            store.verify()
            continue
        with pytest.raises(VerifyException, match=message("nv_tileas.tma.smem_layout")):
            store.verify()


def test_tma_reduces_what_ptx_lists() -> None:
    """By the list of `cp.reduce.async.bulk.tensor`: its operations, its element types."""
    floats = {"f16", "bf16"}
    whole = {"i32", "i64"}
    legal = {"add": whole | floats | {"f32"}, "min": whole | floats, "max": whole | floats}
    signless = dict.fromkeys(("and", "or", "xor", "umin", "umax"), whole)
    types = {str(t): t for t in (f16, bf16, f32, f64, Float4E2M1FNType(), i8, i16, i32, i64)}
    words = {"umin": "min", "umax": "max"}
    for mode, name in product(RmwMode, types):
        buffer = TiledViewType((128, 64), types[name], Space.SMEM)
        desc, shared, i = values(TmaDescType(), buffer, IndexType())
        atom = AtomAttr(TmaAtom("tma_redg", 2, reduction=RmwMode(words.get(mode, mode))))
        op = AsyncTiledAtomicRmwOp(mode, desc, shared, [i, i], atom=atom)
        if name in (legal | signless).get(mode, set[str]()):
            op.verify()
            continue
        with pytest.raises(VerifyException):
            op.verify()
