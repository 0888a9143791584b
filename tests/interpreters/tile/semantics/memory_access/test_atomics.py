"""Atomic tile updates: modes, types, bounds, returned values, contention between blocks."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.simulating import SCHEDULES, agents, kernel, numbers, refuses, run
from tileas_xdsl.interpreters.tile.numerics.element_types import Array

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
}
FLOATS = ("f16", "bf16", "f32", "f64")
CASES = [(mode, element) for element in FLOATS for mode in ("add", "min", "max")] + [
    (mode, element)
    for element in ("i32", "i64")
    for mode in ("add", "and", "or", "xor", "min", "max", "umin", "umax")
]


def one(mode: str, x: Any, y: Any, element: str) -> Any:
    """The update of one element, in Python's numbers."""
    if element in FLOATS:
        a, b = float(x), float(y)
        total = {"add": lambda: a + b, "min": lambda: min(a, b), "max": lambda: max(a, b)}[mode]()
        return DTYPES[element](total)
    bits = int(element[1:])
    a, b = int(x), int(y)
    u, v = a % (1 << bits), b % (1 << bits)
    result = {
        "add": a + b,
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "min": min(a, b),
        "max": max(a, b),
        "umin": min(u, v),
        "umax": max(u, v),
    }[mode]
    result %= 1 << bits
    return DTYPES[element](result - (1 << bits) if result >> (bits - 1) else result)


def types(element: str) -> dict[str, str]:
    return {
        "view": f"!nv_tileas.tiled_view<4x8x{element}, gmem>",
        "tile": f"tensor<4x8x{element}>",
        "smem": f"!nv_tileas.tiled_view<4x8x{element}, smem>",
        "shared": f"tensor<4x8x{element}, #nv_tileas<space smem>>",
    }


@pytest.mark.parametrize(("mode", "element"), CASES)
def test_updates_of_every_mode_and_type(mode: str, element: str) -> None:
    rng = np.random.default_rng(CASES.index((mode, element)))
    a, x = (numbers(rng, shape, DTYPES[element]) for shape in ((6, 11), (4, 8)))
    old = numbers(rng, (4, 8), DTYPES[element])
    text = kernel(
        "%a: !view, %x: !tile, %old: !view",
        f"""
  %before = nv_tileas.tiled_atomic_rmw {mode} %x, %a[%one, %one] {{atom = #any}}
    : !tile, !view -> !tile
  nv_tileas.tiled_store %before, %old[%zero, %zero] {{atom = #stg}} : !tile, !view""",
        types=types(element),
    )
    found = run(text, a, x, old)
    wanted: Array = a.copy()
    for i in range(2):
        for j in range(3):
            wanted[4 + i, 8 + j] = one(mode, a[4 + i, 8 + j], x[i, j], element)
    np.testing.assert_array_equal(found[0].astype(object), wanted.astype(object))
    assert found[2][:2, :3].tobytes() == a[4:, 8:].tobytes()
    assert np.all(found[2][2:] != 0)


def test_a_number_wins_over_nan() -> None:
    a = np.array([[np.nan, 1, np.nan, 2] * 2] * 4, np.float32)
    x = np.array([[3, np.nan, np.nan, -1] * 2] * 4, np.float32)
    for mode, fmin in (("min", np.fmin), ("max", np.fmax)):
        text = kernel(
            "%a: !view, %x: !tile",
            f"""
  %0 = nv_tileas.tiled_atomic_rmw {mode} %x, %a[%zero, %zero] {{atom = #any}}
    : !tile, !view -> !tile""",
            types=types("f32"),
        )
        np.testing.assert_array_equal(run(text, a, x)[0], fmin(a, x))


def test_updates_promise_to_stay_inside() -> None:
    a, x = np.ones((6, 8), np.int32), np.full((4, 8), 5, np.int32)
    text = kernel(
        "%a: !view, %x: !tile, %i: index",
        """
  %0 = nv_tileas.tiled_atomic_rmw add %x, %a[%i, %zero]
    {atom = #any, in_bounds = array<i1: true, true>} : !tile, !view -> !tile""",
        types=types("i32"),
    )
    wanted = a.copy()
    wanted[:4] += 5
    np.testing.assert_array_equal(run(text, a, x, 0)[0], wanted)
    refuses(text, "is in bounds along dimension 0", a, x, 1)
    refuses(text, "is in bounds along dimension 0", a, x, -1)


@pytest.mark.parametrize(
    "semantic", ["", "relaxed gpu", "acquire gpu", "release sys", "acq_rel gpu"]
)
def test_blocks_add_to_one_tile(semantic: str) -> None:
    rng = np.random.default_rng(5)
    a, x = numbers(rng, (4, 8), np.int32), numbers(rng, (4, 8), np.int32)
    text = kernel(
        "%a: !view, %x: !tile",
        f"""
  %none = nv_tileas.create_none : !mem
  %0, %t = nv_tileas.tiled_atomic_rmw add %x, %a[%zero, %zero] {semantic} after %none : !mem
    {{atom = #any}} : !tile, !view -> !tile, !mem
  %1, %u = nv_tileas.tiled_atomic_rmw xor %0, %a[%one, %zero] {semantic} after %t : !mem
    {{atom = #any}} : !tile, !view -> !tile, !mem""",
        types=types("i32"),
    )
    found = run(text, a, x, grid=(3, 2))[0]
    np.testing.assert_array_equal(found, a + np.int32(6) * x)


def test_updates_race_with_weak_accesses_of_other_blocks() -> None:
    a, x = np.ones((4, 8), np.int32), np.ones((4, 8), np.int32)
    update = """nv_tileas.tiled_atomic_rmw add %x, %a[%zero, %zero] {atom = #any}
      : !tile, !view -> !tile"""
    for weak in (
        "%1 = nv_tileas.tiled_load %a[%zero, %zero] {atom = #ldg} : !view -> !tile",
        "nv_tileas.tiled_store %x, %a[%zero, %zero] {atom = #stg} : !tile, !view",
    ):
        text = kernel(
            "%a: !view, %x: !tile",
            f"""
  %block = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %first = arith.cmpi eq, %block, %zero : index
  scf.if %first {{
    {weak}
  }} else {{
    %0 = {update}
  }}""",
            types=types("i32"),
        )
        refuses(text, "race on %a", a, x, grid=2)


@pytest.mark.parametrize("semantic", ["acq_rel gpu", "relaxed gpu", "release gpu", "acquire gpu"])
def test_the_last_block_adds_what_the_others_have_left(semantic: str) -> None:
    """A chain of updates that release and acquire hands on what all before it have written."""
    rng = np.random.default_rng(6)
    parts, out = numbers(rng, (5, 8), np.float32), numbers(rng, (8,), np.float32)
    count = np.zeros(1, np.int32)
    text = kernel(
        "%parts: memref<?x8xf32>, %count: !count, %out: !out",
        f"""
  %amount = arith.constant dense<1> : tensor<1xi32>
  %block = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %row = nv_tileas.view %parts : memref<?x8xf32> -> !row
  %part = nv_tileas.tiled_load %row[%block, %zero] {{atom = #ldg}} : !row -> tensor<1x8xf32>
  %twice = arith.addf %part, %part : tensor<1x8xf32>
  nv_tileas.tiled_store %twice, %row[%block, %zero] {{atom = #stg}} : tensor<1x8xf32>, !row
  %ticket = nv_tileas.tiled_atomic_rmw add %amount, %count[%zero] {semantic} {{atom = #any}}
    : tensor<1xi32>, !count -> tensor<1xi32>
  %own = nv_tileas.alloc_tensor : tensor<1xi32, #nv_tileas<space smem>>
  nv_tileas.copy %ticket, %own {{atom = #any}}
    : tensor<1xi32>, tensor<1xi32, #nv_tileas<space smem>>
  %number = nv_tileas.load %own[%zero] {{atom = #any}}
    : tensor<1xi32, #nv_tileas<space smem>> -> i32
  %four32 = arith.constant 4 : i32
  %is_last = arith.cmpi eq, %number, %four32 : i32
  scf.if %is_last {{
    %nothing = arith.constant dense<0.0> : tensor<1x8xf32>
    %five = arith.constant 5 : index
    %sum = scf.for %k = %zero to %five step %one iter_args(%s = %nothing) -> (tensor<1x8xf32>) {{
      %p = nv_tileas.tiled_load %row[%k, %zero] {{atom = #ldg}} : !row -> tensor<1x8xf32>
      %t = arith.addf %s, %p : tensor<1x8xf32>
      scf.yield %t : tensor<1x8xf32>
    }}
    %flat = nv_tileas.view %sum : tensor<1x8xf32> -> tensor<8xf32>
    nv_tileas.tiled_store %flat, %out[%zero] {{atom = #stg}} : tensor<8xf32>, !out
  }}""",
        types={
            "row": "!nv_tileas.tiled_view<1x8xf32, gmem>",
            "count": "!nv_tileas.tiled_view<1xi32, gmem>",
            "out": "!nv_tileas.tiled_view<8xf32, gmem>",
        },
    )
    if semantic != "acq_rel gpu":
        refuses(text, "race on %parts", parts, count, out, grid=5)
        return
    wanted = np.zeros(8, np.float32)
    for row in parts * 2:
        wanted += row
    found = run(text, parts, count, out, grid=5)
    np.testing.assert_array_equal(found[2], wanted)
    assert found[1].tolist() == [5]


LOCK = """
    scf.for %k = %zero to %three step %one {
      %state = scf.while (%s = %free) : (i32) -> (i32) {
        %was = nv_tileas.tiled_atomic_rmw or %taken, %lock[%zero] acquire gpu {atom = #any}
          : tensor<1xi32>, !lock -> tensor<1xi32>
        nv_tileas.copy %was, %cell {atom = #any} : tensor<1xi32>, !cell
        %now = nv_tileas.load %cell[%zero] {atom = #any} : !cell -> i32
        %again = arith.cmpi ne, %now, %free : i32
        scf.condition(%again) %now : i32
      } do {
      ^bb0(%s: i32):
        scf.yield %s : i32
      }
      %x = nv_tileas.tiled_load %data[%zero, %zero] {atom = #ldg} : !view -> !tile
      %y = arith.addi %x, %amount : !tile
      nv_tileas.tiled_store %y, %data[%zero, %zero] {atom = #stg} : !tile, !view
      %back = nv_tileas.tiled_atomic_rmw and %open, %lock[%zero] release gpu {atom = #any}
        : tensor<1xi32>, !lock -> tensor<1xi32>
    }
"""


def test_a_lock_that_is_spun_on_lets_everybody_in() -> None:
    rng = np.random.default_rng(7)
    data, amount = numbers(rng, (4, 8), np.int32), numbers(rng, (4, 8), np.int32)
    lock = np.zeros(1, np.int32)
    cells = [f"%cell = nv_tileas.alloc_tensor : !cell\n{LOCK}" for _ in range(3)]
    text = kernel(
        "%data: !view, %amount: !tile, %lock: !lock",
        f"""
  %free = arith.constant 0 : i32
  %taken = arith.constant dense<1> : tensor<1xi32>
  %open = arith.constant dense<0> : tensor<1xi32>
  {agents(*cells)}""",
        types={
            **types("i32"),
            "lock": "!nv_tileas.tiled_view<1xi32, gmem>",
            "cell": "tensor<1xi32, #nv_tileas<space smem>>",
        },
    )
    found = run(text, data, amount, lock, grid=2)
    np.testing.assert_array_equal(found[0], data + np.int32(18) * amount)
    assert found[2].tolist() == [0]
    loose = text.replace("release gpu", "relaxed gpu")
    refuses(loose, "race on %data", data, amount, lock, grid=2)


def test_updates_of_shared_memory() -> None:
    rng = np.random.default_rng(8)
    a, x = numbers(rng, (4, 8), np.int32), numbers(rng, (4, 8), np.int32)
    add = """
    %0 = nv_tileas.tiled_atomic_rmw add %x, %s[%zero, %zero] {atom = #any} : !tile, !smem -> !tile
"""
    text = kernel(
        "%a: !view, %x: !tile",
        f"""
  %memory = nv_tileas.alloc_tensor : !shared
  %s = nv_tileas.view %memory : !shared -> !smem
  nv_tileas.copy %a, %s {{atom = #any}} : !view, !smem
  {agents(add, add, add)}
  nv_tileas.copy %s, %a {{atom = #any}} : !smem, !view""",
        types=types("i32"),
    )
    np.testing.assert_array_equal(run(text, a, x)[0], a + np.int32(3) * x)


def test_blocks_meet_by_updates_that_say_nothing_of_order() -> None:
    """All blocks count themselves and look until the last has come: none runs to its end alone."""
    text = kernel(
        "%count: !count",
        """
  %amount = arith.constant dense<1> : tensor<1xi32>
  %nothing = arith.constant dense<0> : tensor<1xi32>
  %five = arith.constant 5 : i32
  %cell = nv_tileas.alloc_tensor : !cell
  %first = nv_tileas.tiled_atomic_rmw add %amount, %count[%zero] {atom = #any}
    : tensor<1xi32>, !count -> tensor<1xi32>
  %all = scf.while (%s = %five) : (i32) -> (i32) {
    %x = nv_tileas.tiled_atomic_rmw or %nothing, %count[%zero] {atom = #any}
      : tensor<1xi32>, !count -> tensor<1xi32>
    nv_tileas.copy %x, %cell {atom = #any} : tensor<1xi32>, !cell
    %n = nv_tileas.load %cell[%zero] {atom = #any} : !cell -> i32
    %more = arith.cmpi slt, %n, %five : i32
    scf.condition(%more) %n : i32
  } do {
  ^bb0(%s: i32):
    scf.yield %s : i32
  }""",
        types={
            "count": "!nv_tileas.tiled_view<1xi32, gmem>",
            "cell": "tensor<1xi32, #nv_tileas<space smem>>",
        },
    )
    assert run(text, np.zeros(1, np.int32), grid=5)[0].tolist() == [5]
    few = np.zeros(1, np.int32)
    refuses(text, "deadlock", few, grid=5, resident=4, schedules=SCHEDULES[:1])
