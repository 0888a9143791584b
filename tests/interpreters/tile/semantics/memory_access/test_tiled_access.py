"""Tiled loads, stores and copies against numpy: bounds, padding, masks, offsets, tokens."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.simulating import kernel, numbers, refuses, run
from tileas_xdsl.interpreters.tile.numerics.element_types import Array

SHAPE, TILE = (10, 13), (4, 8)
ARGS = "%a: memref<?x?xf32>, %b: memref<?x?xf32>, %i: index, %j: index"
VIEW, T = "!nv_tileas.tiled_view<4x8xf32, gmem>", "tensor<4x8xf32>"
WINDOWS = f"""
  %va = nv_tileas.view %a : memref<?x?xf32> -> {VIEW}
  %vb = nv_tileas.view %b : memref<?x?xf32> -> {VIEW}
"""


def window(source: Array, starts: tuple[int, int], fill: Any, tile: Any = TILE) -> Array:
    """A tile that begins at an element, filled where there is none."""
    result = np.full(tile, fill, source.dtype)
    for i, j in np.ndindex(*tile):
        row, column = starts[0] + i, starts[1] + j
        if 0 <= row < source.shape[0] and 0 <= column < source.shape[1]:
            result[i, j] = source[row, column]
    return result


def stored(target: Array, values: Array, starts: tuple[int, int]) -> Array:
    """The target with a tile written, as far as it exists."""
    result = target.copy()
    for i, j in np.ndindex(*values.shape):
        row, column = starts[0] + i, starts[1] + j
        if 0 <= row < target.shape[0] and 0 <= column < target.shape[1]:
            result[row, column] = values[i, j]
    return result


@pytest.mark.parametrize(
    ("padding", "fill"),
    [
        ("2.5 : f32", 2.5),
        ("#nv_tileas<padding nan>", np.nan),
        ("#nv_tileas<padding pos_inf>", np.inf),
        ("#nv_tileas<padding neg_inf>", -np.inf),
        ("#nv_tileas<padding neg_zero>", -0.0),
    ],
)
def test_padding_fills_what_is_out_of_bounds(padding: str, fill: float) -> None:
    rng = np.random.default_rng(1)
    a, b = numbers(rng, SHAPE, np.float32), numbers(rng, TILE, np.float32)
    text = kernel(
        ARGS,
        f"""{WINDOWS}
  %x = nv_tileas.tiled_load %va[%i, %j] {{atom = #ldg, padding_value = {padding}}} : {VIEW} -> {T}
  nv_tileas.tiled_store %x, %vb[%zero, %zero] {{atom = #stg}} : {T}, {VIEW}""",
    )
    for i in (-2, -1, 0, 1, 2, 3):
        for j in (-1, 0, 1, 2):
            found = run(text, a, b, i, j, schedules=[None])[1]
            wanted = window(a, (4 * i, 8 * j), fill)
            assert found.tobytes() == wanted.tobytes(), (i, j)


@pytest.mark.parametrize(
    ("element", "dtype"),
    [("f32", np.float32), ("f16", np.float16), ("i32", np.int32), ("i8", np.int8), ("i1", bool)],
)
def test_without_padding_nobody_knows_but_it_is_not_zero(element: str, dtype: Any) -> None:
    rng = np.random.default_rng(2)
    a, b = numbers(rng, (3, 5), dtype), np.zeros((4, 8), dtype)
    text = kernel(
        "%a: !view, %b: !view",
        """
  %x = nv_tileas.tiled_load %a[%zero, %zero] {atom = #ldg} : !view -> !tile
  nv_tileas.tiled_store %x, %b[%zero, %zero] {atom = #stg} : !tile, !view""",
        types={
            "tile": f"tensor<4x8x{element}>",
            "view": f"!nv_tileas.tiled_view<4x8x{element}, gmem>",
        },
    )
    found = run(text, a, b, schedules=[None])[1]
    np.testing.assert_array_equal(found[:3, :5], a)
    outside = np.concatenate([found[3:].ravel(), found[:, 5:].ravel()])
    assert np.all(outside.astype(np.float32) != 0)


@pytest.mark.parametrize("element", ["f16", "bf16", "f8E4M3FN", "i16", "f64", "index", "i1"])
def test_elements_of_every_size_move(element: str) -> None:
    rng = np.random.default_rng(3)
    dtype = {
        "bf16": ml_dtypes.bfloat16,
        "f8E4M3FN": ml_dtypes.float8_e4m3fn,
        "f16": np.float16,
        "i16": np.int16,
        "f64": np.float64,
        "index": np.int64,
        "i1": np.bool_,
    }[element]
    a, b = numbers(rng, (9, 17), dtype), numbers(rng, (9, 17), dtype)
    text = kernel(
        f"%a: memref<9x17x{element}>, %b: memref<9x17x{element}>",
        f"""
  %va = nv_tileas.view %a : memref<9x17x{element}> -> !nv_tileas.tiled_view<8x4x{element}, gmem>
  %vb = nv_tileas.view %b : memref<9x17x{element}> -> !nv_tileas.tiled_view<8x4x{element}, gmem>
  %x = nv_tileas.tiled_load %va[%zero, %four] {{atom = #ldg}}
    : !nv_tileas.tiled_view<8x4x{element}, gmem> -> tensor<8x4x{element}>
  nv_tileas.tiled_store %x, %vb[%one, %two] {{atom = #stg}}
    : tensor<8x4x{element}>, !nv_tileas.tiled_view<8x4x{element}, gmem>""",
    )
    found = run(text, a, b, schedules=[None])[1]
    wanted = b.copy()
    wanted[8, 8] = a[0, 16]
    # Beyond column 16 of the source nobody knows what is read: columns 9 to 11 of the target.
    known = np.ones(b.shape, np.bool_)
    known[8, 9:12] = False
    assert found[known].tobytes() == wanted[known].tobytes()


def test_offsets_count_elements_and_masks_choose_them() -> None:
    rng = np.random.default_rng(4)
    a, b = numbers(rng, SHAPE, np.float32), numbers(rng, SHAPE, np.float32)
    mask = rng.integers(0, 2, TILE).astype(np.bool_)
    text = kernel(
        f"{ARGS}, %p: index, %q: index, %m: tensor<4x8xi1>",
        f"""{WINDOWS}
  %x = nv_tileas.tiled_load %va[%i, %j] offset[%p, %q] mask %m : tensor<4x8xi1>
    {{atom = #ldg, padding_value = 7.0 : f32}} : {VIEW} -> {T}
  nv_tileas.tiled_store %x, %vb[%one, %zero] offset[%q, %p] {{atom = #stg}} : {T}, {VIEW}""",
    )
    for i, j, p, q in [(0, 0, 1, 2), (1, 1, -3, -1), (2, 1, 1, 3), (0, 0, -3, -7), (5, 5, 0, 0)]:
        found = run(text, a, b, i, j, p, q, mask, schedules=[None])[1]
        values = np.where(mask, window(a, (4 * i + p, 8 * j + q), 7), np.float32(7))
        np.testing.assert_array_equal(found, stored(b, values, (4 + q, p)))


@pytest.mark.parametrize(
    ("i", "j", "flags", "axis"),
    [
        (0, 0, "true, true", None),
        (1, 0, "true, true", None),
        (2, 0, "true, false", 0),
        (-1, 0, "true, false", 0),
        (0, 1, "false, true", 1),
        (0, 1, "true, false", None),
        (2, 1, "false, false", None),
    ],
)
def test_in_bounds_is_a_promise(i: int, j: int, flags: str, axis: int | None) -> None:
    rng = np.random.default_rng(5)
    a, b = numbers(rng, SHAPE, np.float32), numbers(rng, TILE, np.float32)
    load = kernel(
        ARGS,
        f"""{WINDOWS}
  %x = nv_tileas.tiled_load %va[%i, %j] {{atom = #ldg, in_bounds = array<i1: {flags}>}} : {VIEW}
    -> {T}
  nv_tileas.tiled_store %x, %vb[%zero, %zero] {{atom = #stg}} : {T}, {VIEW}""",
    )
    if axis is not None:
        refuses(load, f"is in bounds along dimension {axis}", a, b, i, j)
        return
    found = run(load, a, b, i, j, schedules=[None])[1]
    exists = window(np.ones(SHAPE, np.bool_), (4 * i, 8 * j), False)
    np.testing.assert_array_equal(found[exists], window(a, (4 * i, 8 * j), 0)[exists])


def test_stores_drop_what_is_out_of_bounds_or_promise_that_nothing_is() -> None:
    rng = np.random.default_rng(6)
    a, b = numbers(rng, TILE, np.float32), numbers(rng, SHAPE, np.float32)
    for attribute in ("", ", in_bounds = array<i1: true, true>"):
        text = kernel(
            ARGS,
            f"""{WINDOWS}
  %x = nv_tileas.tiled_load %va[%zero, %zero] {{atom = #ldg}} : {VIEW} -> {T}
  nv_tileas.tiled_store %x, %vb[%i, %j] {{atom = #stg{attribute}}} : {T}, {VIEW}""",
        )
        for i, j in [(0, 0), (1, 0), (2, 1), (-1, 0), (3, 0), (0, -1)]:
            inside = (i, j) in [(0, 0), (1, 0)]
            if attribute and not inside:
                refuses(text, "is in bounds along dimension", a, b, i, j)
                continue
            found = run(text, a, b, i, j, schedules=[None])[1]
            np.testing.assert_array_equal(found, stored(b, a, (4 * i, 8 * j)))


def test_padded_stores_pad_nothing() -> None:
    rng = np.random.default_rng(7)
    a, b = numbers(rng, TILE, np.float32), numbers(rng, SHAPE, np.float32)
    text = kernel(
        ARGS,
        f"""{WINDOWS}
  %x = nv_tileas.tiled_load %va[%zero, %zero] {{atom = #ldg}} : {VIEW} -> {T}
  nv_tileas.tiled_store %x, %vb[%i, %j]
    {{atom = #stg, in_bounds = array<i1: false, false>, padding_value = #nv_tileas<padding nan>}}
      : {T}, {VIEW}""",
    )
    found = run(text, a, b, 2, 1)[1]
    np.testing.assert_array_equal(found, stored(b, a, (8, 8)))


def test_arguments_that_are_views_are_larger_than_their_tiles() -> None:
    rng = np.random.default_rng(8)
    a, b = numbers(rng, (9, 20), np.float16), numbers(rng, (9, 20), np.float16)
    view = "!nv_tileas.tiled_view<4x8xf16, gmem>"
    text = kernel(
        f"%a: {view}, %b: {view}",
        f"""
  scf.for %i = %zero to %three step %one {{
    scf.for %j = %zero to %three step %one {{
      %x = nv_tileas.tiled_load %a[%i, %j] {{atom = #ldg}} : {view} -> tensor<4x8xf16>
      %y = arith.addf %x, %x : tensor<4x8xf16>
      nv_tileas.tiled_store %y, %b[%i, %j] {{atom = #stg}} : tensor<4x8xf16>, {view}
    }}
  }}""",
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a + a)


def test_other_ranks() -> None:
    rng = np.random.default_rng(9)
    for shape, tile in [((11,), (4,)), ((3, 5, 6), (2, 4, 4)), ((2, 3, 3, 5), (1, 2, 2, 4))]:
        a = numbers(rng, shape, np.int32)
        b = np.zeros_like(a)
        rank, extents = len(shape), "x".join(map(str, tile))
        open_ = "x".join("?" * rank)
        view, tensor = f"!nv_tileas.tiled_view<{extents}xi32, gmem>", f"tensor<{extents}xi32>"
        names = [f"%i{axis}" for axis in range(rank)]
        loops = "".join(
            f"%n{k} = arith.constant {-(-n // t)} : index\n"
            f"scf.for {name} = %zero to %n{k} step %one {{\n"
            for k, (name, n, t) in enumerate(zip(names, shape, tile, strict=True))
        )
        at = ", ".join(names)
        text = kernel(
            f"%a: memref<{open_}xi32>, %b: memref<{open_}xi32>",
            f"""
  %va = nv_tileas.view %a : memref<{open_}xi32> -> {view}
  %vb = nv_tileas.view %b : memref<{open_}xi32> -> {view}
  {loops}
  %x = nv_tileas.tiled_load %va[{at}] {{atom = #ldg, padding_value = 5 : i32}} : {view} -> {tensor}
  nv_tileas.tiled_store %x, %vb[{at}] {{atom = #stg}} : {tensor}, {view}
  {"}" * rank}""",
        )
        np.testing.assert_array_equal(run(text, a, b, schedules=[None])[1], a)


def test_async_loads_deliver_when_they_are_waited_for() -> None:
    rng = np.random.default_rng(10)
    a, b = numbers(rng, SHAPE, np.float32), numbers(rng, SHAPE, np.float32)
    mask = rng.integers(0, 2, TILE).astype(np.bool_)
    text = kernel(
        f"{ARGS}, %m: tensor<4x8xi1>",
        f"""{WINDOWS}
  %t = nv_tileas.async.tiled_load %va[%i, %j] mask %m : tensor<4x8xi1>
    {{atom = #nv_tileas<atom ldgsts>, padding_value = -1.0 : f32}} : {VIEW} -> !nv_tileas.token<{T}>
  %u = nv_tileas.async.tiled_load %va[%zero, %zero] offset[%one, %one]
    {{atom = #nv_tileas<atom ldgsts>, in_bounds = array<i1: true, true>}} : {VIEW}
      -> !nv_tileas.token<{T}>
  %x = nv_tileas.async.wait %t : !nv_tileas.token<{T}> -> {T}
  %y = nv_tileas.async.wait %u : !nv_tileas.token<{T}> -> {T}
  %z = arith.addf %x, %y : {T}
  nv_tileas.tiled_store %z, %vb[%one, %zero] {{atom = #stg}} : {T}, {VIEW}""",
    )
    found = run(text, a, b, 2, 1, mask)[1]
    values = np.where(mask, window(a, (8, 8), -1), np.float32(-1)) + a[1:5, 1:9]
    np.testing.assert_array_equal(found, stored(b, values, (4, 0)))


CHAIN = """
  %none = nv_tileas.create_none : !mem
  %x, %t1 = nv_tileas.async.tiled_load %va[%zero, %zero] after %none : !mem {atom = #ldgsts}
    : !view -> !loaded, !mem
  %y = nv_tileas.async.wait %x : !loaded -> !tile
  %z = arith.addf %y, %y : !tile
  %t2 = nv_tileas.tiled_store %z, %va[%zero, %zero] after AFTER : !mem {atom = #stg}
    : !tile, !view -> !mem
  %u, %t3 = nv_tileas.async.tiled_load %va[%zero, %zero] after %t2 : !mem {atom = #ldgsts} : !view
    -> !loaded, !mem
  %v, %t4 = nv_tileas.tiled_load %va[%zero, %zero] after %t2 : !mem {atom = #ldg} : !view
    -> !tile, !mem
  %w = nv_tileas.async.wait %u : !loaded -> !tile
  %s = arith.addf %w, %v : !tile
  %t5 = nv_tileas.tiled_store %s, %vb[%zero, %zero] after %t4 : !mem {atom = #stg} : !tile, !view
    -> !mem
"""


def chain(text: str) -> str:
    for name, meant in (
        ("#ldgsts", "#nv_tileas<atom ldgsts>"),
        ("!loaded", f"!nv_tileas.token<{T}>"),
        ("!view", VIEW),
        ("!tile", T),
    ):
        text = text.replace(name, meant)
    return kernel(ARGS, WINDOWS + text)


def test_chains_of_memory_tokens_order_accesses() -> None:
    rng = np.random.default_rng(11)
    a, b = numbers(rng, (4, 8), np.float32), numbers(rng, (4, 8), np.float32)
    found = run(chain(CHAIN.replace("AFTER", "%t1")), a, b, 0, 0)
    np.testing.assert_array_equal(found[0], 2 * a)
    np.testing.assert_array_equal(found[1], 4 * a)


def test_a_store_that_does_not_wait_for_a_load_in_flight_is_a_race() -> None:
    rng = np.random.default_rng(12)
    a, b = numbers(rng, (4, 8), np.float32), numbers(rng, (4, 8), np.float32)
    loose = """
  %x = nv_tileas.async.tiled_load %va[%zero, %zero] {atom = #ldgsts} : !view -> !loaded
  %z = arith.constant dense<3.0> : !tile
  nv_tileas.tiled_store %z, %va[%zero, %zero] {atom = #stg} : !tile, !view
  %y = nv_tileas.async.wait %x : !loaded -> !tile
"""
    refuses(chain(loose), r"race on %a\[0, 0\]", a, b, 0, 0)


# Copies

PAIRS = [
    ("gmem", "rmem"),
    ("gmem", "smem"),
    ("rmem", "gmem"),
    ("rmem", "smem"),
    ("rmem", "tmem"),
    ("smem", "gmem"),
    ("smem", "rmem"),
    ("smem", "tmem"),
    ("tmem", "rmem"),
    ("tmem", "smem"),
]


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("is_async", [False, True])
def test_copies_between_all_spaces(source: str, target: str, is_async: bool) -> None:
    rng = np.random.default_rng(13)
    a, b = numbers(rng, (4, 8), np.float16), numbers(rng, (4, 8), np.float16)

    def view(space: str) -> str:
        return f"!nv_tileas.tiled_view<4x8xf16, {space}>"

    def allocated(space: str) -> str:
        if space == "gmem":
            return ""
        tensor = f"tensor<4x8xf16, #nv_tileas<space {space}>>"
        return (
            f"%{space}0 = nv_tileas.alloc_tensor : {tensor}\n"
            f"%{space} = nv_tileas.view %{space}0 : {tensor} -> {view(space)}\n"
        )

    begin = "%a" if source == "gmem" else f"%{source}"
    end = "%b" if target == "gmem" else f"%{target}"
    fill = "" if source == "gmem" else f"{filled('%a', begin, source)}"
    drain = "" if target == "gmem" else f"{drained(end, '%b', target)}"
    types = f"{view(source)}, {view(target)}"
    copy = f"nv_tileas.copy {begin}, {end} {{atom = #any}} : {types}"
    if is_async:
        copy = f"""%done = nv_tileas.async.copy {begin}, {end} {{atom = #any}} : {types} -> !token
  nv_tileas.async.wait %done : !token"""
    text = kernel(
        f"%a: {view('gmem')}, %b: {view('gmem')}",
        f"{allocated(source)}{allocated(target)}{fill}\n  {copy}\n{drain}",
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a)


def filled(matrix: str, memory: str, space: str) -> str:
    view = f"!nv_tileas.tiled_view<4x8xf16, {space}>"
    load = f"""%x = nv_tileas.tiled_load {matrix}[%zero, %zero] {{atom = #ldg}}
    : !nv_tileas.tiled_view<4x8xf16, gmem> -> tensor<4x8xf16>"""
    if space == "rmem":
        return f"""nv_tileas.copy {matrix}, {memory} {{atom = #any}}
    : !nv_tileas.tiled_view<4x8xf16, gmem>, {view}"""
    return f"""{load}
  nv_tileas.tiled_store %x, {memory}[%zero, %zero] {{atom = #any}} : tensor<4x8xf16>, {view}"""


def drained(memory: str, matrix: str, space: str) -> str:
    view = f"!nv_tileas.tiled_view<4x8xf16, {space}>"
    if space == "rmem":
        return f"""nv_tileas.copy {memory}, {matrix} {{atom = #any}}
    : {view}, !nv_tileas.tiled_view<4x8xf16, gmem>"""
    return f"""%y = nv_tileas.tiled_load {memory}[%zero, %zero] {{atom = #any}} : {view}
      -> tensor<4x8xf16>
  nv_tileas.tiled_store %y, {matrix}[%zero, %zero] {{atom = #stg}}
    : tensor<4x8xf16>, !nv_tileas.tiled_view<4x8xf16, gmem>"""


def test_values_are_copied_into_memory_but_not_the_other_way_round() -> None:
    rng = np.random.default_rng(14)
    a, b = numbers(rng, (4, 8), np.float16), numbers(rng, (4, 8), np.float16)
    shared = "tensor<4x8xf16, #nv_tileas<space smem>>"
    body = f"""
  %s = nv_tileas.alloc_tensor : {shared}
  %x = nv_tileas.tiled_load %a[%zero, %zero] {{atom = #ldg}} : memref<4x8xf16> -> tensor<4x8xf16>
  nv_tileas.copy %x, %s {{atom = #any}} : tensor<4x8xf16>, {shared}
  nv_tileas.copy %s, %b {{atom = #any}} : {shared}, memref<4x8xf16>"""
    text = kernel("%a: memref<4x8xf16>, %b: memref<4x8xf16>", body)
    np.testing.assert_array_equal(run(text, a, b)[1], a)
    into = body + f"\n  nv_tileas.copy %s, %x {{atom = #any}} : {shared}, tensor<4x8xf16>"
    text = kernel("%a: memref<4x8xf16>, %b: memref<4x8xf16>", into)
    refuses(text, "writes to a tile that is a value", a, b)


def test_an_open_shape_must_be_the_same_when_it_runs() -> None:
    rng = np.random.default_rng(15)
    shared = "tensor<4x8xf16, #nv_tileas<space smem>>"
    text = kernel(
        "%a: memref<?x?xf16>",
        f"""
  %s = nv_tileas.alloc_tensor : {shared}
  nv_tileas.copy %a, %s {{atom = #any}} : memref<?x?xf16>, {shared}""",
    )
    run(text, numbers(rng, (4, 8), np.float16), schedules=[None])
    refuses(text, "copies to the same shape", numbers(rng, (4, 9), np.float16))


def test_memory_that_nobody_wrote_is_not_read() -> None:
    a = np.ones((4, 8), np.float16)
    shared = "tensor<4x8xf16, #nv_tileas<space smem>>"
    half = "tensor<2x8xf16, #nv_tileas<space smem>>"
    text = kernel(
        "%a: memref<4x8xf16>",
        f"""
  %s = nv_tileas.alloc_tensor : {shared}
  %low = nv_tileas.extract_slice %s[0, 0][2, 8][1, 1] : {shared} -> {half}
  %x = nv_tileas.view %a : memref<4x8xf16> -> !nv_tileas.tiled_view<2x8xf16, gmem>
  nv_tileas.copy %x, %low {{atom = #any}} : !nv_tileas.tiled_view<2x8xf16, gmem>, {half}
  nv_tileas.copy %low, %x {{atom = #any}} : {half}, !nv_tileas.tiled_view<2x8xf16, gmem>
  nv_tileas.copy %s, %a {{atom = #any}} : {shared}, memref<4x8xf16>""",
    )
    refuses(text, r"%s\[2, 0\] is read, and nobody wrote it", a)


def test_reading_before_an_async_copy_has_landed_is_found() -> None:
    """Another one has landed, which says nothing of the first."""
    a, b = np.ones((4, 8), np.float16), np.ones((4, 8), np.float16)
    text = kernel(
        "%a: !m, %b: !m",
        """
  %s = nv_tileas.alloc_tensor : !shared
  %r = nv_tileas.alloc_tensor : !shared
  %t = nv_tileas.async.copy %a, %s {atom = #any} : !m, !shared -> !token
  %u = nv_tileas.async.copy %b, %r {atom = #any} : !m, !shared -> !token
  nv_tileas.async.wait %u : !token
  nv_tileas.copy %s, %b {atom = #any} : !shared, !m
  nv_tileas.async.wait %t : !token""",
        types={"m": "memref<4x8xf16>", "shared": "tensor<4x8xf16, #nv_tileas<space smem>>"},
    )
    refuses(text, "nobody wrote it|race on %s", a, b)
