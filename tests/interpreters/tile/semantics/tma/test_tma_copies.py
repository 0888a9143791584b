"""TMA against numpy: loads, stores, reductions, rows, boxes, what is out of bounds, multicast."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.simulating import kernel, numbers, refuses, run, simulated
from tileas_xdsl.interpreters.tile.numerics.element_types import Array

TYPES = {
    "m": "memref<?x?xf16>",
    "tile": "tensor<16x32xf16>",
    "shared": "tensor<16x32xf16, #nv_tileas<space smem>>",
    "smem": "!nv_tileas.tiled_view<16x32xf16, smem>",
    "loaded": "!nv_tileas.token<tensor<16x32xf16>>",
}
NUMBERS = """
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
"""
SHARED = f"""{NUMBERS}
  %memory = nv_tileas.alloc_tensor : !shared
  %s = nv_tileas.view %memory : !shared -> !smem
  %barrier = nv_tileas.create_none : !mem
"""
LOAD_STORE = """
  %from = nv_tileas.make_tiled_tma_desc %a box[BOX]
    {atom = #nv_tileas<atom tma_load_2d>OOB} : !m -> !desc
  %to = nv_tileas.make_tiled_tma_desc %b box[BOX] {atom = #nv_tileas<atom tma_store_2d>}
    : !m -> !desc
  %t = nv_tileas.async.tiled_tma_load %from, %s[%i, %j] barrier %barrier
    {atom = #nv_tileas<atom tma_load_2d>} : !desc, !smem, index, index, !mem -> !token
  nv_tileas.async.wait %t : !token
  %u = nv_tileas.async.tiled_tma_store %to, %s[%p, %q] {atom = #nv_tileas<atom tma_store_2d>}
    : !desc, !smem, index, index -> !token
  nv_tileas.async.wait %u : !token
"""
ARGS = "%a: !m, %b: !m, %i: index, %j: index, %p: index, %q: index"


def window(source: Array, starts: tuple[int, ...], shape: tuple[int, ...], fill: Any) -> Array:
    """A tile that begins at an element, filled where there is none."""
    result = np.full(shape, fill, source.dtype)
    for place in np.ndindex(*shape):
        at = tuple(s + k for s, k in zip(starts, place, strict=True))
        if all(0 <= k < n for k, n in zip(at, source.shape, strict=True)):
            result[place] = source[at]
    return result


def put(target: Array, values: Array, starts: tuple[int, ...]) -> Array:
    """The target with a tile written, as far as it exists."""
    result = target.copy()
    for place in np.ndindex(*values.shape):
        at = tuple(s + k for s, k in zip(starts, place, strict=True))
        if all(0 <= k < n for k, n in zip(at, target.shape, strict=True)):
            result[at] = values[place]
    return result


@pytest.mark.parametrize(("mode", "fill"), [("", 0.0), ("zero", 0.0), ("nan", np.nan)])
@pytest.mark.parametrize("box", ["%c32, %c16", "%c16, %eight", "%eight, %one", "%c32, %four"])
def test_boxes_are_filled_and_cut_on_every_side(mode: str, fill: float, box: str) -> None:
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (40, 72), np.float16), numbers(rng, (24, 48), np.float16)
    oob = f", oob_mode = #nv_tileas<oob_mode {mode}>" if mode else ""
    text = kernel(ARGS, SHARED + LOAD_STORE.replace("BOX", box).replace("OOB", oob), types=TYPES)
    for i, j, p, q in [(0, 0, 0, 0), (2, 2, 1, 1), (-1, 0, 0, 1), (1, -1, -1, 0), (2, 1, 1, -1)]:
        found = run(text, a, b, i, j, p, q, schedules=[None])[1]
        tile = window(a, (16 * i, 32 * j), (16, 32), fill)
        wanted = put(b, tile, (16 * p, 32 * q))
        assert found.tobytes() == wanted.tobytes(), (i, j, p, q)
    far = run(text, a, b, 7, -3, 0, 0)[1]
    wanted = put(b, np.full((16, 32), fill, np.float16), (0, 0))
    assert far.tobytes() == wanted.tobytes()


@pytest.mark.parametrize(
    ("element", "dtype", "width"),
    [
        ("bf16", ml_dtypes.bfloat16, 8),
        ("f32", np.float32, 4),
        ("f64", np.float64, 2),
        ("i8", np.int8, 16),
        ("f8E5M2", ml_dtypes.float8_e5m2, 16),
        ("i32", np.int32, 4),
        ("i64", np.int64, 2),
        ("i16", np.int16, 8),
    ],
)
def test_elements_of_every_width(element: str, dtype: Any, width: int) -> None:
    rng = np.random.default_rng(2)
    a, b = numbers(rng, (10, 3 * width), dtype), numbers(rng, (10, 3 * width), dtype)
    types = {
        "m": f"memref<?x?x{element}>",
        "shared": f"tensor<8x{width}x{element}, #nv_tileas<space smem>>",
        "smem": f"!nv_tileas.tiled_view<8x{width}x{element}, smem>",
    }
    body = SHARED + LOAD_STORE.replace("BOX", "%width, %eight").replace("OOB", "")
    text = kernel(ARGS, f"%width = arith.constant {width} : index\n{body}", types=types)
    found = run(text, a, b, 1, 2, 0, 1, schedules=[None])[1]
    wanted = put(b, window(a, (8, 2 * width), (8, width), 0), (0, width))
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("rank", [1, 3, 4, 5])
def test_tensors_of_other_ranks(rank: int) -> None:
    rng = np.random.default_rng(rank)
    shape, tile = (3, 2, 3, 2, 24)[5 - rank :], (2, 1, 2, 2, 16)[5 - rank :]
    a, b = numbers(rng, shape, np.float16), numbers(rng, shape, np.float16)
    extents, open_ = "x".join(map(str, tile)), "x".join("?" * rank)
    boxes = "".join(f"%b{k} = arith.constant {n} : index\n" for k, n in enumerate(tile))
    box = ", ".join(f"%b{k}" for k in reversed(range(rank)))
    coords, indices = ", ".join(["%one"] * rank), ", ".join(["index"] * rank)
    text = kernel(
        f"%a: memref<{open_}xf16>, %b: memref<{open_}xf16>",
        f"""{boxes}
  %s = nv_tileas.alloc_tensor : !shared
  %barrier = nv_tileas.create_none : !mem
  %from = nv_tileas.make_tiled_tma_desc %a box[{box}]
    {{atom = #nv_tileas<atom tma_load_{rank}d>}} : memref<{open_}xf16> -> !desc
  %to = nv_tileas.make_tiled_tma_desc %b box[{box}]
    {{atom = #nv_tileas<atom tma_store_{rank}d>}} : memref<{open_}xf16> -> !desc
  %t = nv_tileas.async.tiled_tma_load %from, %s[{coords}] barrier %barrier
    {{atom = #nv_tileas<atom tma_load_{rank}d>}} : !desc, !shared, {indices}, !mem -> !token
  nv_tileas.async.wait %t : !token
  %u = nv_tileas.async.tiled_tma_store %to, %s[{coords}]
    {{atom = #nv_tileas<atom tma_store_{rank}d>}} : !desc, !shared, {indices} -> !token""",
        types={"shared": f"tensor<{extents}xf16, #nv_tileas<space smem>>"},
    )
    found = run(text, a, b, schedules=[None])[1]
    wanted = put(b, window(a, tile, tile, 0), tile)
    assert found.tobytes() == wanted.tobytes()


SLICES = """
  %rows_from = nv_tileas.slice_tma_desc %from[%f, %m] {axis = 0 : i32}
  %rows_to = nv_tileas.slice_tma_desc %to[%g, %n] {axis = 0 : i32}
  %t = """
OF_SLICES = (
    LOAD_STORE.replace("BOX", "%c32, %c16")
    .replace("OOB", "")
    .replace("%from,", "%rows_from,")
    .replace("%to,", "%rows_to,")
    .replace("\n  %t = ", SLICES)
)


@pytest.mark.parametrize("tiles", [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1)])
@pytest.mark.parametrize("rows", [(0, 40, 0, 24), (5, 30, 3, 20), (7, 9, 2, 5), (4, 0, 6, 18)])
def test_slices_end_where_their_rows_do(
    rows: tuple[int, int, int, int], tiles: tuple[int, int]
) -> None:
    """Rows around a slice are out of bounds, although the array has them."""
    rng = np.random.default_rng(3)
    a, b = numbers(rng, (40, 72), np.float16), numbers(rng, (24, 48), np.float16)
    (f, m, g, n), (i, p) = rows, tiles
    text = kernel(f"{ARGS}, %f: i32, %m: i32, %g: i32, %n: i32", SHARED + OF_SLICES, types=TYPES)
    found = run(text, a, b, i, 0, p, 0, f, m, g, n, schedules=[None])[1]
    wanted = b.copy()
    tile = window(a[f : f + m], (16 * i, 0), (16, 32), 0)
    wanted[g : g + n] = put(b[g : g + n], tile, (16 * p, 0))
    assert found.tobytes() == wanted.tobytes()


def test_a_load_delivers_its_tile_to_whoever_waits() -> None:
    rng = np.random.default_rng(3)
    a, b = numbers(rng, (16, 32), np.float16), numbers(rng, (16, 32), np.float16)
    text = kernel(
        "%a: !m, %b: !m",
        f"""{SHARED}
  %from = nv_tileas.make_tiled_tma_desc %a box[%c32, %c16] {{atom = #nv_tileas<atom tma_load_2d>}}
    : !m -> !desc
  %t = nv_tileas.async.tiled_tma_load %from, %s[%zero, %zero] barrier %barrier
    {{atom = #nv_tileas<atom tma_load_2d>, tx_count = 1024 : i32}}
    : !desc, !smem, index, index, !mem -> !loaded
  %x = nv_tileas.async.wait %t : !loaded -> !tile
  %y = arith.addf %x, %x : !tile
  nv_tileas.store %y, %b[%zero, %zero] {{atom = #stg}} : !tile, !m""",
        types=TYPES,
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a + a)


def test_a_barrier_stands_for_all_loads_that_use_it() -> None:
    rng = np.random.default_rng(4)
    a, b = numbers(rng, (16, 32), np.float16), numbers(rng, (16, 32), np.float16)
    loads = "".join(
        f"""
  %s{k} = nv_tileas.extract_slice %memory[{8 * k}, 0][8, 32][1, 1]
    : !shared -> tensor<8x32xf16, #nv_tileas<space smem>>
  %k{k} = arith.constant {1 - k} : index
  %t{k} = nv_tileas.async.tiled_tma_load %from, %s{k}[%k{k}, %zero] barrier %barrier
    {{atom = #nv_tileas<atom tma_load_2d>}}
    : !desc, tensor<8x32xf16, #nv_tileas<space smem>>, index, index, !mem -> !token
"""
        for k in range(2)
    )
    text = kernel(
        "%a: !m, %b: !m",
        f"""{SHARED}
  %from = nv_tileas.make_tiled_tma_desc %a box[%c32, %eight] {{atom = #nv_tileas<atom tma_load_2d>}}
    : !m -> !desc
  {loads}
  %x, %after = nv_tileas.tiled_load %s[%zero, %zero] after %barrier : !mem {{atom = #any}}
    : !smem -> !tile, !mem
  nv_tileas.store %x, %b[%zero, %zero] {{atom = #stg}} : !tile, !m""",
        types=TYPES,
    )
    found = run(text, a, b)[1]
    np.testing.assert_array_equal(found, np.concatenate([a[8:], a[:8]]))


def test_loads_and_stores_that_are_not_waited_for_are_found() -> None:
    rng = np.random.default_rng(5)
    a, b = numbers(rng, (16, 32), np.float16), numbers(rng, (16, 32), np.float16)
    body = SHARED + LOAD_STORE.replace("BOX", "%c32, %c16").replace("OOB", "")
    early = body.replace("nv_tileas.async.wait %t : !token", "")
    args = (a, b, 0, 0, 0, 0)
    refuses(kernel(ARGS, early, types=TYPES), "nobody wrote it|race on", *args)
    again = """
  %x = arith.constant dense<1.0> : !tile
  nv_tileas.tiled_store %x, %s[%zero, %zero] {atom = #any} : !tile, !smem
"""
    torn = body.replace("nv_tileas.async.wait %u : !token", again)
    refuses(kernel(ARGS, torn, types=TYPES), r"race on %memory\[0, 0\]", *args)
    ended = body.replace("nv_tileas.async.wait %u : !token", "")
    np.testing.assert_array_equal(run(kernel(ARGS, ended, types=TYPES), *args)[1], a)


@pytest.mark.parametrize(
    ("mode", "element", "dtype", "update"),
    [
        ("add", "f16", np.float16, np.add),
        ("min", "bf16", ml_dtypes.bfloat16, np.minimum),
        ("add", "f32", np.float32, np.add),
        ("max", "i32", np.int32, np.maximum),
        ("and", "i32", np.int32, np.bitwise_and),
        ("xor", "i64", np.int64, np.bitwise_xor),
        ("umax", "i32", np.int32, lambda a, b: np.maximum(a.view("u4"), b.view("u4")).view("i4")),
    ],
)
def test_reductions_of_several_blocks(mode: str, element: str, dtype: Any, update: Any) -> None:
    rng = np.random.default_rng(6)
    a, b = numbers(rng, (8, 16), dtype), numbers(rng, (12, 24), dtype)
    if np.dtype(dtype).kind == "f":
        # Small whole numbers, whose sums are exact in any order.
        a, b = (rng.integers(-9, 9, x.shape).astype(dtype) for x in (a, b))
    atom = f"tma_redg_2d<op = {mode.removeprefix('u')}>"
    text = kernel(
        "%a: !view, %b: !m",
        f"""
  %s = nv_tileas.alloc_tensor : !shared
  nv_tileas.copy %a, %s {{atom = #any}} : !view, !shared
  %desc = nv_tileas.make_tiled_tma_desc %b box[%sixteen, %eight]
    {{atom = #nv_tileas<atom {atom}>}} : !m -> !desc
  scf.for %k = %zero to %two step %one {{
    %t = nv_tileas.async.tiled_atomic_rmw {mode} %desc, %s[%one, %zero]
      {{atom = #nv_tileas<atom {atom}>}} : !desc, !shared, index, index -> !token
  }}""",
        types={
            "view": f"!nv_tileas.tiled_view<8x16x{element}, gmem>",
            "m": f"memref<?x?x{element}>",
            "shared": f"tensor<8x16x{element}, #nv_tileas<space smem>>",
        },
    )
    wanted = b.copy()
    for _ in range(6):
        wanted[8:, :16] = update(wanted[8:, :16].copy(), a[:4].copy())
    found = run(text, a, b, grid=3)[1]
    assert found.tobytes() == wanted.astype(dtype).tobytes()


ROWS = """
  %s = nv_tileas.alloc_tensor : !shared
  %barrier = nv_tileas.create_none : !mem
  %from = nv_tileas.make_tiled_tma_desc %a box[%sixteen, %one]
    {atom = #nv_tileas<atom tma_load_2d<box = [16, 1], mode = gather4>>} : !m -> !desc
  %to = nv_tileas.make_tiled_tma_desc %b box[%sixteen, %one]
    {atom = #nv_tileas<atom tma_store_2d<box = [16, 1], mode = scatter4>>} : !m -> !desc
  %t = nv_tileas.async.gather_tma_load %from, %s[%i] rows %rows barrier %barrier
    {atom = #nv_tileas<atom tma_load_2d<box = [16, 1], mode = gather4>>}
    : !desc, !shared, index, tensor<8xi32>, !mem -> !token
  nv_tileas.async.wait %t : !token
  %u = nv_tileas.async.scatter_tma_store %to, %s[%j] rows %others
    {atom = #nv_tileas<atom tma_store_2d<box = [16, 1], mode = scatter4>>}
    : !desc, !shared, index, tensor<8xi32> -> !token
"""


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_gathered_and_scattered(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = numbers(rng, (9, 40), np.float16), numbers(rng, (12, 40), np.float16)
    rows = rng.integers(-3, 12, 8).astype(np.int32)
    others = (rng.permutation(18)[:8] - 3).astype(np.int32)
    text = kernel(
        "%a: !m, %b: !m, %rows: tensor<8xi32>, %others: tensor<8xi32>, %i: index, %j: index",
        ROWS,
        types={**TYPES, "shared": "tensor<8x16xf16, #nv_tileas<space smem>>"},
    )
    for i, j in [(0, 1), (2, 0), (1, 2), (-1, 0), (0, 3)]:
        wanted = b.copy()
        for row, other in zip(rows.tolist(), others.tolist(), strict=True):
            values = window(a, (row, 16 * i), (1, 16), 0)
            wanted = put(wanted, values, (other, 16 * j))
        found = run(text, a, b, rows, others, i, j, schedules=[None], target="sm_100a")[1]
        np.testing.assert_array_equal(found, wanted)


MULTICAST = """
  %memory = nv_tileas.alloc_tensor : tensor<16x32xf16, #nv_tileas<space smem>>
  %slots = nv_tileas.view %memory : tensor<16x32xf16, #nv_tileas<space smem>> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots
    {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}
    : !slots -> !prod, !cons
  %barrier = nv_tileas.create_none : !mem
  %share = arith.constant SHARE : index
  %c32 = arith.constant 32 : index
  %from = nv_tileas.make_tiled_tma_desc %a box[%c32, %share]
    {atom = #nv_tileas<atom tma_load_2d<multicast>>, num_multicast = GROUP : i32} : !m -> !desc
  %x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %group = arith.constant GROUP : index
  %rank = arith.remui %x, %group : index
  %first = arith.muli %rank, %share : index
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
  %laps = arith.constant 5 : index
  %pn, %in, %cn, %jn = scf.for %k = %zero to %laps step %one
      iter_args(%p = %p0, %i = %i0, %c = %c0, %j = %j0) -> (!prod, !iter, !cons, !iter) {
    %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!stage]}
      : (!prod, !iter) -> !prod {
    ^bb0(%stage: !stage):
      %mine = nv_tileas.extract_slice %stage[%first, 0][SHARE, 32][1, 1] : !stage -> !piece
      %rows = arith.muli %k, %group : index
      %row = arith.addi %rows, %rank : index
      %t = nv_tileas.async.tiled_tma_load %from, %mine[%row, %zero] barrier %barrier
        {atom = #nv_tileas<atom tma_load_2d<multicast>>, num_multicast = GROUP : i32}
        : !desc, !piece, index, index, !mem -> !token
      nv_tileas.async.pipeline.yield %stage : !stage
    }
    %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
    %c1 = nv_tileas.async.pipeline.consume_one %c, %j
      {consumer_idx = 0 : i32, consumer_types = [!stage]} : (!cons, !iter) -> !cons {
    ^bb0(%stage: !stage):
      %out = nv_tileas.view %b[%x, %zero, %zero] : memref<?x?x32xf16> -> !out
      %flat = nv_tileas.expand_dims %stage {axis = 0 : i32} : !stage -> tensor<1x8x32xf16>
      nv_tileas.tiled_store %flat, %out[%zero, %k, %zero] {atom = #stg} : tensor<1x8x32xf16>, !out
      nv_tileas.async.pipeline.yield %stage : !stage
    }
    %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
    scf.yield %p1, %i1, %c1, %j1 : !prod, !iter, !cons, !iter
  }
"""


@pytest.mark.parametrize(("group", "blocks"), [(2, 2), (2, 4), (4, 4), (4, 8)])
def test_blocks_of_a_cluster_share_their_loads(group: int, blocks: int) -> None:
    rng = np.random.default_rng(7)
    share = 8 // group
    a, b = numbers(rng, (40, 32), np.float16), numbers(rng, (blocks, 40, 32), np.float16)
    text = kernel(
        "%a: !m, %b: memref<?x?x32xf16>",
        MULTICAST.replace("SHARE", str(share)).replace("GROUP", str(group)),
        types={
            "m": "memref<?x?xf16>",
            "slots": "!nv_tileas.tiled_view<2x8x32xf16, smem>",
            "stage": "tensor<8x32xf16>",
            "piece": f"tensor<{share}x32xf16>",
            "out": "!nv_tileas.tiled_view<1x8x32xf16, gmem>",
            "iter": "!nv_tileas.async.pipeline.iterator<tensor<8x32xf16>, 2, smem>",
        },
    )
    found = simulated(text, a, b, grid=blocks, cluster=(group, 1, 1))
    np.testing.assert_array_equal(found.arrays[1], np.stack([a] * blocks))
    assert found.blocks == blocks
    refuses(text, f"{group} blocks are to share a load, but a cluster has 1", a, b, grid=blocks)


def test_tiles_are_made_of_whole_boxes() -> None:
    rng = np.random.default_rng(8)
    a, b = numbers(rng, (16, 32), np.float16), numbers(rng, (16, 32), np.float16)
    body = LOAD_STORE.replace("OOB", "").replace("box[BOX]", "box[%width, %height]")
    text = kernel(f"{ARGS}, %width: index, %height: index", SHARED + body, types=TYPES)
    run(text, a, b, 0, 0, 0, 0, 16, 2, schedules=[None])
    refuses(text, "is not made of boxes of 3x32", a, b, 0, 0, 0, 0, 32, 3)
    refuses(text, "is not made of boxes of 16x24", a, b, 0, 0, 0, 0, 24, 16)
    refuses(text, "is not made of boxes of 16x64", a, b, 0, 0, 0, 0, 64, 16)
    refuses(text, r"tensor map: box\[1\] is 0", a, b, 0, 0, 0, 0, 32, 0)
    refuses(text, r"tensor map: .*multiple of 16", a, b, 0, 0, 0, 0, 4, 4)


def test_a_descriptor_that_is_an_argument_is_refused() -> None:
    text = kernel(
        "%d: !desc {cute_nvgpu.grid_constant}, %a: !m",
        f"""{SHARED}
  %t = nv_tileas.async.tiled_tma_store %d, %s[%zero, %zero]
    {{atom = #nv_tileas<atom tma_store_2d>, tmaIdx = 0 : i32}}
    : !desc, !smem, index, index -> !token""",
        '"nv_tileas.num-host-tmas" = 1 : i32',
        types=TYPES,
    )
    refuses(text, "takes !nv_tileas.tma_desc, for which there is no argument", np.ones((1, 1)))
