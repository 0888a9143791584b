"""Tiles as memory and as values: new ones, windows, views of other elements, parts."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.simulating import kernel, numbers, refuses, run, simulated

TYPES = {
    "m": "memref<?x?xf32>",
    "tile": "tensor<8x16xf32>",
    "shared": "tensor<8x16xf32, #nv_tileas<space smem>>",
    "part": "tensor<4x8xf32>",
    "piece": "tensor<4x8xf32, #nv_tileas<space smem>>",
}


def put(value: str, type_: str, to: str = "%b") -> str:
    return f"nv_tileas.store {value}, {to}[%zero, %zero] {{atom = #stg}} : {type_}, !m\n"


SLICES = """
  %x = nv_tileas.load %a[%zero, %zero] {atom = #ldg} : !m -> !tile
  %s = nv_tileas.alloc_tensor : !shared
  nv_tileas.copy %x, %s {atom = #any} : !tile, !shared
"""


@pytest.mark.parametrize("of_memory", [False, True])
def test_parts_of_values_and_of_memory(of_memory: bool) -> None:
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (4, 8), np.float32)
    source, part = ("%s : !shared", "!piece") if of_memory else ("%x : !tile", "!part")
    name, type_ = source.split(" : ")
    text = kernel(
        "%a: !m, %b: !m, %i: index, %n: index",
        f"""{SLICES}
  %p = nv_tileas.extract_slice {name}[%i, 1][4, 8][%n, 2] : {type_} -> {part}
  %y = arith.addf %p, %p : {part}
  %z = nv_tileas.convert_layout %y : {part} -> !part
  {put("%z", "!part")}""",
        types=TYPES,
    )
    for i, n in [(0, 1), (0, 2), (1, 2), (4, 1)]:
        found = run(text, a, b, i, n, schedules=[None])[1]
        np.testing.assert_array_equal(found, 2 * a[i : i + 3 * n + 1 : n, 1:16:2])
    refuses(text, "reaches element 8 of dimension 0, whose extent is 8", a, b, 5, 1)
    refuses(text, "offset of dimension 0 is at least 0, not -1", a, b, -1, 1)
    refuses(text, "stride of dimension 0 is at least 1, not 0", a, b, 0, 0)


def test_a_part_of_memory_is_a_window_and_one_of_a_value_is_not() -> None:
    rng = np.random.default_rng(2)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (8, 16), np.float32)
    text = kernel(
        "%a: !m, %b: !m",
        f"""{SLICES}
  %w = nv_tileas.extract_slice %s[2, 4][4, 8][1, 1] : !shared -> !piece
  %v = nv_tileas.extract_slice %x[2, 4][4, 8][1, 1] : !tile -> !part
  %d = arith.addf %v, %v : !part
  nv_tileas.copy %d, %w {{atom = #any}} : !part, !piece
  %y = nv_tileas.convert_layout %s : !shared -> !tile
  %z = arith.addf %x, %y : !tile
  {put("%z", "!tile")}""",
        types=TYPES,
    )
    wanted = 2 * a
    wanted[2:6, 4:12] += a[2:6, 4:12]
    np.testing.assert_array_equal(run(text, a, b)[1], wanted)


@pytest.mark.parametrize("of_memory", [False, True])
def test_a_part_is_replaced_and_what_was_before_stays(of_memory: bool) -> None:
    rng = np.random.default_rng(3)
    a, b, c = (numbers(rng, (8, 16), np.float32) for _ in range(3))
    whole, type_ = ("%s", "!shared") if of_memory else ("%x", "!tile")
    text = kernel(
        "%a: !m, %b: !m, %c: !m, %i: index",
        f"""{SLICES}
  %p = nv_tileas.extract_slice %x[0, 0][4, 8][1, 1] : !tile -> !part
  %q = arith.addf %p, %p : !part
  %r = nv_tileas.insert_slice %q into {whole}[%i, 1][4, 8][2, 2] : !part into {type_}
  %after = nv_tileas.convert_layout %r : {type_} -> !tile
  {put("%after", "!tile")}
  %old = nv_tileas.convert_layout {whole} : {type_} -> !tile
  {put("%old", "!tile", "%c")}""",
        types=TYPES,
    )
    for i in (0, 1):
        wanted = a.copy()
        wanted[i : i + 7 : 2, 1:16:2] = 2 * a[:4, :8]
        found = run(text, a, b, c, i, schedules=[None])
        np.testing.assert_array_equal(found[1], wanted)
        np.testing.assert_array_equal(found[2], a)
    refuses(text, "reaches element 8 of dimension 0", a, b, c, 2)


def test_a_new_tile_is_filled_part_by_part() -> None:
    rng = np.random.default_rng(4)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (8, 16), np.float32)
    insert = """
  %p{k} = nv_tileas.extract_slice %x[{i}, {j}][4, 8][1, 1] : !tile -> !part
  %n{k} = nv_tileas.insert_slice %p{k} into %{old}[{i}, {j}][4, 8][1, 1] : !part into !tile
"""
    corners = [(0, 0), (4, 8), (0, 8), (4, 0)]

    def body(count: int) -> str:
        parts = "".join(
            insert.format(k=k, i=i, j=j, old="new" if k == 0 else f"n{k - 1}")
            for k, (i, j) in enumerate(corners[:count])
        )
        return f"""
  %x = nv_tileas.load %a[%zero, %zero] {{atom = #ldg}} : !m -> !tile
  %new = nv_tileas.alloc_tensor : !tile
  {parts}
  {put(f"%n{count - 1}", "!tile")}"""

    np.testing.assert_array_equal(run(kernel("%a: !m, %b: !m", body(4), types=TYPES), a, b)[1], a)
    refuses(
        kernel("%a: !m, %b: !m", body(3), types=TYPES),
        r"%new\[4, 0\] is read, and nobody wrote it",
        a,
        b,
    )


def test_parts_of_what_a_token_delivers() -> None:
    rng = np.random.default_rng(5)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (8, 16), np.float32)
    text = kernel(
        "%a: !m, %b: !m, %i: index",
        f"""
  %t = nv_tileas.async.load %a[%zero, %zero] {{atom = #nv_tileas<atom ldgsts>}}
    : !m -> !nv_tileas.token<!tile>
  %p = nv_tileas.async.extract_slice %t[%i, 0][4, 8][1, 1]
    : !nv_tileas.token<!tile> -> !nv_tileas.token<!part>
  %x = nv_tileas.async.wait %t : !nv_tileas.token<!tile> -> !tile
  %y = arith.addf %x, %x : !tile
  %q = nv_tileas.async.insert_slice %p into %y[0, 8][4, 8][1, 1]
    : !nv_tileas.token<!part> into !tile -> !nv_tileas.token<!tile>
  %v = nv_tileas.async.wait %p : !nv_tileas.token<!part> -> !part
  %w = arith.addf %v, %v : !part
  %r = nv_tileas.async.insert_slice %w into %q[4, %i][4, 8][1, 1]
    : !part into !nv_tileas.token<!tile> -> !nv_tileas.token<!tile>
  %z = nv_tileas.async.wait %r : !nv_tileas.token<!tile> -> !tile
  {put("%z", "!tile")}""",
        types=TYPES,
    )
    for i in (0, 3):
        wanted = 2 * a
        wanted[:4, 8:] = a[i : i + 4, :8]
        wanted[4:, i : i + 8] = 2 * a[i : i + 4, :8]
        np.testing.assert_array_equal(run(text, a, b, i)[1], wanted)


def test_views_begin_at_elements() -> None:
    rng = np.random.default_rng(6)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (4, 8), np.float32)
    for of, type_ in (("%x", "tensor<{}xf32>"), ("%s", "tensor<{}xf32, #nv_tileas<space smem>>")):
        whole, part = type_.format("8x16"), type_.format("4x8")
        row, flat = type_.format("4x16"), type_.format("32")
        text = kernel(
            "%a: !m, %b: !m, %i: index, %j: index",
            f"""{SLICES}
  %v = nv_tileas.view {of}[%i, %j] : {whole} -> {row}
  %f = nv_tileas.view %v {{offset = 5}} : {row} -> {flat}
  %w = nv_tileas.view %f : {flat} -> {part}
  %y = nv_tileas.convert_layout %w : {part} -> !part
  {put("%y", "!part")}""",
            types=TYPES,
        )
        for i, j in [(0, 0), (2, 0)]:
            wanted = a.ravel()[16 * i + j + 5 :][:32].reshape(4, 8)
            np.testing.assert_array_equal(run(text, a, b, i, j, schedules=[None])[1], wanted)


def test_views_of_global_memory_know_its_extents() -> None:
    rng = np.random.default_rng(7)
    a, b = numbers(rng, (9, 13), np.float32), numbers(rng, (9, 13), np.float32)
    view = "!nv_tileas.tiled_view<4x8xf32, gmem>"
    text = kernel(
        "%a: !m, %b: !m, %i: index, %j: index",
        f"""
  %v = nv_tileas.view %a[%i, %j] : !m -> {view}
  %w = nv_tileas.view %v[%one, %one] : {view} -> !nv_tileas.tiled_view<2x4xf32, gmem>
  %x = nv_tileas.tiled_load %w[%one, %one] {{atom = #ldg, padding_value = 8.0 : f32}}
    : !nv_tileas.tiled_view<2x4xf32, gmem> -> tensor<2x4xf32>
  nv_tileas.store %x, %b[%zero, %zero] {{atom = #stg}} : tensor<2x4xf32>, !m""",
        types=TYPES,
    )
    for i, j in [(0, 0), (5, 6), (-3, -5), (-6, 2)]:
        wanted = b.copy()
        for k, l in np.ndindex(2, 4):
            row, column = i + 3 + k, j + 5 + l
            inside = 0 <= row < 9 and 0 <= column < 13
            wanted[k, l] = a[row, column] if inside else 8
        np.testing.assert_array_equal(run(text, a, b, i, j, schedules=[None])[1], wanted)


def test_slices_and_memrefs_end_where_their_types_say() -> None:
    """Tiled views do not: they say how large a tile is, and there may be more around it."""
    rng = np.random.default_rng(12)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (4, 8), np.float32)
    load = """
  %y = nv_tileas.tiled_load OF[%i, %zero] {atom = #any, in_bounds = array<i1: true, true>}
    : TYPE -> !part
"""
    shown = "nv_tileas.view %a : !m -> "
    for of, type_, is_cut in (
        ("nv_tileas.extract_slice %s[0, 0][4, 8][1, 1] : !shared -> ", "!piece", True),
        (shown, "memref<4x8xf32>", True),
        (shown, "!nv_tileas.tiled_view<4x8xf32, gmem>", False),
    ):
        body = load.replace("OF", "%p").replace("TYPE", type_)
        text = kernel(
            "%a: !m, %b: !m, %i: index",
            f"{SLICES}  %p = {of}{type_}\n{body}{put('%y', '!part')}",
            types=TYPES,
        )
        np.testing.assert_array_equal(run(text, a, b, 0, schedules=[None])[1], a[:4, :8])
        if is_cut:
            refuses(text, "is in bounds along dimension 0", a, b, 1)
        else:
            np.testing.assert_array_equal(run(text, a, b, 1, schedules=[None])[1], a[4:, :8])


def test_memrefs_tell_their_extents() -> None:
    a = np.zeros((5, 7), np.float32)
    text = kernel(
        "%a: !m, %n: memref<?xindex>, %axis: index",
        """
  %d = memref.dim %a, %axis : !m
  nv_tileas.store %d, %n[%zero] {atom = #stg} : index, memref<?xindex>""",
        types=TYPES,
    )
    n = np.zeros(1, np.int64)
    assert [run(text, a, n, k, schedules=[None])[1][0] for k in (0, 1)] == [5, 7]
    refuses(text, "has no dimension 2", a, n, 2)


@pytest.mark.parametrize(
    ("source", "target", "dtype", "other"),
    [
        ("8x16xf32", "8x16xi32", np.float32, np.int32),
        ("8x16xf32", "8x32xf16", np.float32, np.float16),
        ("8x16xi16", "64xi32", np.int16, np.int32),
        ("4x4xi64", "128xi8", np.int64, np.int8),
        ("8x16xbf16", "16x8xi16", ml_dtypes.bfloat16, np.int16),
    ],
)
@pytest.mark.parametrize("in_memory", [False, True])
def test_bits_are_seen_as_other_elements(
    source: str, target: str, dtype: Any, other: Any, in_memory: bool
) -> None:
    rng = np.random.default_rng(8)
    shape = tuple(map(int, target.split("x")[:-1]))
    a = numbers(rng, tuple(map(int, source.split("x")[:-1])), dtype)
    b = np.zeros(shape, other)
    encoding = ", #nv_tileas<space smem>" if in_memory else ""
    rank = len(shape)
    fill = (
        f"%s = nv_tileas.alloc_tensor : tensor<{source}, #nv_tileas<space smem>>\n"
        f"nv_tileas.copy %a, %s {{atom = #any}}"
        f" : tensor<{source}>, tensor<{source}, #nv_tileas<space smem>>"
        if in_memory
        else ""
    )
    text = kernel(
        f"%a: tensor<{source}>, %b: memref<{target}>",
        f"""{fill}
  %r = nv_tileas.reinterpret {"%s" if in_memory else "%a"}
    : tensor<{source}{encoding}> -> tensor<{target}{encoding}>
  %v = nv_tileas.convert_layout %r : tensor<{target}{encoding}> -> tensor<{target}>
  nv_tileas.store %v, %b[{", ".join(["%zero"] * rank)}] {{atom = #stg}}
    : tensor<{target}>, memref<{target}>""",
    )
    assert run(text, a, b)[1].tobytes() == a.tobytes()


def test_global_memory_is_seen_as_other_elements() -> None:
    rng = np.random.default_rng(9)
    a, b = numbers(rng, (64,), np.float16), np.zeros((4, 8), np.int32)
    text = kernel(
        "%a: memref<64xf16>, %b: memref<4x8xi32>",
        """
  %r = nv_tileas.reinterpret %a : memref<64xf16> -> memref<4x8xi32>
  %x = nv_tileas.load %r[%zero, %zero] {atom = #ldg} : memref<4x8xi32> -> tensor<4x8xi32>
  nv_tileas.store %x, %b[%zero, %zero] {atom = #stg} : tensor<4x8xi32>, memref<4x8xi32>""",
    )
    assert run(text, a, b)[1].tobytes() == a.tobytes()


def test_packed_elements_are_seen_two_to_a_byte() -> None:
    rng = np.random.default_rng(10)
    raw = rng.integers(0, 16, (4, 8)).astype(np.uint8)
    table = [0.0, 0.5, 1, 1.5, 2, 3, 4, 6]
    values = np.array([(-1) ** (n >> 3) * table[n & 7] for n in raw.ravel().tolist()])
    a = values.astype(ml_dtypes.float4_e2m1fn).reshape(4, 8)
    packed = (raw.reshape(-1, 2)[:, 0] | raw.reshape(-1, 2)[:, 1] << 4).astype(np.uint8)
    b, c = np.zeros(16, np.int8), np.zeros((4, 8), ml_dtypes.float4_e2m1fn)
    text = kernel(
        "%a: tensor<4x8xf4E2M1FN>, %b: memref<16xi8>, %c: memref<4x8xf4E2M1FN>",
        """
  %s = nv_tileas.alloc_tensor : tensor<4x8xf4E2M1FN, #nv_tileas<space smem>>
  nv_tileas.copy %a, %s {atom = #any}
    : tensor<4x8xf4E2M1FN>, tensor<4x8xf4E2M1FN, #nv_tileas<space smem>>
  %r = nv_tileas.reinterpret %s {reinterpret_byte}
    : tensor<4x8xf4E2M1FN, #nv_tileas<space smem>> -> tensor<16xi8, #nv_tileas<space smem>>
  %v = nv_tileas.convert_layout %r : tensor<16xi8, #nv_tileas<space smem>> -> tensor<16xi8>
  nv_tileas.store %v, %b[%zero] {atom = #stg} : tensor<16xi8>, memref<16xi8>
  %back = nv_tileas.reinterpret %v : tensor<16xi8> -> tensor<4x8xf4E2M1FN>
  nv_tileas.store %back, %c[%zero, %zero] {atom = #stg} : tensor<4x8xf4E2M1FN>, memref<4x8xf4E2M1FN>
""",
    )
    found = run(text, a, b, c)
    assert found[1].tobytes() == packed.tobytes()
    assert found[2].tobytes() == a.tobytes()


def test_expanding_and_moving_keep_values() -> None:
    rng = np.random.default_rng(11)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (8, 16), np.float32)
    text = kernel(
        "%a: !m, %b: !m",
        f"""{SLICES}
  %e = nv_tileas.expand_dims %s {{axis = 1 : i32}} : !shared -> tensor<8x1x16xf32>
  %f = nv_tileas.view %e : tensor<8x1x16xf32> -> !tile
  %g = nv_tileas.convert_layout %f : !tile -> !rows
  %h = nv_tileas.shuffle %g : !rows -> !columns
  %y = nv_tileas.convert_layout %h : !columns -> !tile
  {put("%y", "!tile")}""",
        types={
            **TYPES,
            "rows": 'tensor<8x16xf32, #nv_tileas.blocked<"(8,16):(1@thread,1@value)">>',
            "columns": 'tensor<8x16xf32, #nv_tileas.blocked<"(8,16):(1@value,1@thread)">>',
        },
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a)


def test_a_block_has_so_much_shared_memory() -> None:
    def text(kib: int, times: int) -> str:
        return kernel(
            "",
            f"""
  %n = arith.constant {times} : index
  scf.for %i = %zero to %n step %one {{
    %s = nv_tileas.alloc_tensor : tensor<{kib}x256xf32, #nv_tileas<space smem>>
  }}
  %t = nv_tileas.alloc_tensor : tensor<1x256xf32, #nv_tileas<space smem>>""",
        )

    assert simulated(text(128, 5), schedules=[None], target="sm_90a").blocks == 1
    refuses(
        text(256, 1), "a block has 232448 bytes of shared memory; with this tile it needs 262144"
    )


def test_alloc_of_each_iteration_begins_unwritten() -> None:
    a = np.ones((8, 16), np.float32)
    text = kernel(
        "%a: !m",
        """
  scf.for %i = %zero to %two step %one {
    %s = nv_tileas.alloc_tensor : !shared
    %first = arith.cmpi eq, %i, %zero : index
    scf.if %first {
      %x = nv_tileas.load %a[%zero, %zero] {atom = #ldg} : !m -> !tile
      nv_tileas.copy %x, %s {atom = #any} : !tile, !shared
    }
    %y = nv_tileas.convert_layout %s : !shared -> !tile
  }""",
        types=TYPES,
    )
    refuses(text, r"%s\[0, 0\] is read, and nobody wrote it", a)


def test_a_selection_of_memory_is_the_window_itself_and_reads_neither() -> None:
    """What is written behind the selection is seen through it, and writes go through it."""
    rng = np.random.default_rng(7)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (8, 16), np.float32)
    text = kernel(
        "%a: !m, %b: !m, %c: i1",
        f"""{SLICES}
  %unset = nv_tileas.alloc_tensor : !shared
  %chosen = arith.select %c, %s, %unset : !shared
  %twice = arith.addf %x, %x : !tile
  nv_tileas.copy %twice, %s {{atom = #any}} : !tile, !shared
  %y = nv_tileas.convert_layout %chosen : !shared -> !tile
  %four = arith.addf %y, %y : !tile
  nv_tileas.copy %four, %chosen {{atom = #any}} : !tile, !shared
  %z = nv_tileas.convert_layout %s : !shared -> !tile
  {put("%z", "!tile")}""".replace("%four", "%sum"),
        types=TYPES,
    )
    np.testing.assert_array_equal(run(text, a, b, True)[1], 4 * a)
    refuses(text, "%unset.* is read, and nobody wrote it", a, b, False)
