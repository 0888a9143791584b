"""Loads and stores through pointers, at coordinates and at scattered elements; hand-overs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.simulating import agents, kernel, numbers, refuses, run
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import Schedule

TYPES = {
    "view": "!nv_tileas.tiled_view<4x8xf32, gmem>",
    "tile": "tensor<4x8xf32>",
    "p": "!nv_tileaa.ptr<i32, 1>",
    "m": "memref<?x?xf32>",
}


@pytest.mark.parametrize(
    ("element", "dtype"),
    [
        ("i32", np.int32),
        ("i64", np.int64),
        ("i8", np.int8),
        ("f16", np.float16),
        ("f64", np.float64),
        ("i1", bool),
    ],
)
def test_single_elements_through_pointers(element: str, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (3,), dtype), numbers(rng, (2, 3), dtype)
    text = kernel(
        "%a: !q, %b: !q",
        f"""
  %x = nv_tileas.load %a {{atom = #ldg}} : !q -> {element}
  nv_tileas.store %x, %b {{atom = #stg}} : {element}, !q
  %t = nv_tileas.async.load %a {{atom = #nv_tileas<atom ldgsts>}} : !q
    -> !nv_tileas.token<{element}>
  %y = nv_tileas.async.wait %t : !nv_tileas.token<{element}> -> {element}
  %s = nv_tileas.async.store %y, %b {{atom = #stg}} : {element}, !q -> !token
  nv_tileas.async.wait %s : !token""",
        types={"q": f"!nv_tileaa.ptr<{element}, 1>"},
    )
    wanted = b.copy()
    wanted[0, 0] = a[0]
    np.testing.assert_array_equal(run(text, a, b)[1], wanted)


def test_elements_and_tiles_at_coordinates() -> None:
    rng = np.random.default_rng(2)
    a, b = numbers(rng, (9, 12), np.float32), numbers(rng, (9, 12), np.float32)
    mask = rng.integers(0, 2, (4, 8)).astype(np.bool_)
    text = kernel(
        "%a: !m, %b: !m, %i: index, %j: index, %mask: tensor<4x8xi1>",
        """
  %x = nv_tileas.load %a[%i, %j] {atom = #ldg} : !m -> f32
  nv_tileas.store %x, %b[%zero, %j] {atom = #stg} : f32, !m
  %y = nv_tileas.load %a[%i, %j] mask %mask : tensor<4x8xi1>
    {atom = #ldg, padding_value = 3.0 : f32} : !m -> !tile
  nv_tileas.store %y, %b[%four, %two] mask %mask : tensor<4x8xi1> {atom = #stg} : !tile, !m
""",
        types=TYPES,
    )
    found = run(text, a, b, 5, 4, mask)[1]
    wanted = b.copy()
    wanted[0, 4] = a[5, 4]
    wanted[4:8, 2:10] = np.where(mask, a[5:9, 4:12], wanted[4:8, 2:10])
    np.testing.assert_array_equal(found, wanted)


def test_masked_elements_are_padded_and_the_rest_may_be_out_of_bounds() -> None:
    rng = np.random.default_rng(3)
    a, b = numbers(rng, (3, 5), np.float32), numbers(rng, (4, 8), np.float32)
    exists = np.zeros((4, 8), np.bool_)
    exists[:3, :5] = True
    text = kernel(
        "%a: !m, %b: !m, %mask: tensor<4x8xi1>, %i: index",
        """
  %y = nv_tileas.load %a[%i, %zero] mask %mask : tensor<4x8xi1>
    {atom = #ldg, padding_value = #nv_tileas<padding neg_inf>} : !m -> !tile
  nv_tileas.store %y, %b[%zero, %zero] {atom = #stg} : !tile, !m
""",
        types=TYPES,
    )
    found = run(text, a, b, exists, 0)[1]
    wanted = np.full((4, 8), -np.inf, np.float32)
    wanted[:3, :5] = a
    np.testing.assert_array_equal(found, wanted)
    refuses(text, r"accesses element \[3, 0\] of %a, out of bounds", a, b, exists, 1)
    exists[3, 2] = True
    refuses(text, r"accesses element \[3, 2\] of %a, out of bounds", a, b, exists, 0)
    refuses(text, r"accesses element \[-1, 0\] of %a, out of bounds", a, b, exists, -1)


def test_coordinates_before_a_view_are_those_of_its_memory() -> None:
    rng = np.random.default_rng(4)
    a, b = numbers(rng, (9, 12), np.float32), numbers(rng, (9, 12), np.float32)
    text = kernel(
        "%a: !m, %b: !m, %i: index",
        """
  %v = nv_tileas.view %a[%four, %eight] : !m -> !view
  %x = nv_tileas.load %v[%i, %minus] {atom = #ldg} : !view -> f32
  %w = nv_tileas.view %b[%four, %eight] : !m -> !view
  nv_tileas.store %x, %w[%minus, %i] {atom = #stg} : f32, !view
""",
        types=TYPES,
    )
    for i in (-4, -1, 0, 3):
        wanted = b.copy()
        wanted[3, 8 + i] = a[4 + i, 7]
        np.testing.assert_array_equal(run(text, a, b, i, schedules=[None])[1], wanted)
    refuses(text, "out of bounds", a, b, -5)
    refuses(text, "out of bounds", a, b, 5)


def test_async_forms_follow_their_tokens() -> None:
    rng = np.random.default_rng(5)
    a, b = numbers(rng, (4, 8), np.float32), numbers(rng, (4, 8), np.float32)
    text = kernel(
        "%a: !m, %b: !m",
        """
  %none = nv_tileas.create_none : !mem
  %x, %t1 = nv_tileas.async.load %a[%zero, %zero] after %none : !mem
    {atom = #nv_tileas<atom ldgsts>} : !m -> !nv_tileas.token<!tile>, !mem
  %y = nv_tileas.async.wait %x : !nv_tileas.token<!tile> -> !tile
  %z = arith.addf %y, %y : !tile
  %s, %t2 = nv_tileas.async.store %z, %a[%zero, %zero] after %t1 : !mem
    {atom = #stg} : !tile, !m -> !token, !mem
  %u, %t3 = nv_tileas.load %a[%zero, %zero] after %t2 : !mem {atom = #ldg} : !m -> !tile, !mem
  %t4 = nv_tileas.store %u, %b[%zero, %zero] after %t3 : !mem {atom = #stg} : !tile, !m -> !mem
  %w, %t5 = nv_tileas.load %b[%one, %one] after %t4 : !mem {atom = #ldg} : !m -> f32, !mem
  nv_tileas.store %w, %b[%zero, %zero] {atom = #stg} : f32, !m
  nv_tileas.async.wait %s : !token
""",
        types=TYPES,
    )
    found = run(text, a, b)
    np.testing.assert_array_equal(found[0], 2 * a)
    wanted = 2 * a
    wanted[0, 0] = wanted[1, 1]
    np.testing.assert_array_equal(found[1], wanted)


def test_a_store_in_flight_is_not_read() -> None:
    text = kernel(
        "%a: !m",
        """
  %x = arith.constant dense<2.0> : !tile
  %s = nv_tileas.async.store %x, %a[%zero, %zero] {atom = #stg} : !tile, !m -> !token
  %y = nv_tileas.load %a[%three, %three] {atom = #ldg} : !m -> f32
  nv_tileas.async.wait %s : !token
""",
        types=TYPES,
    )
    refuses(text, r"race on %a\[3, 3\]", np.ones((4, 8), np.float32))


# Scattered elements

GATHER = """
  %x = nv_tileas.gather_load %a[%rows : tensor<16xi32>, %columns : tensor<16xi32>]
    mask %mask : tensor<16xi1> {atom = #ldg, padding_value = 9.5 : f32BOUNDS} : !m -> tensor<16xf32>
  nv_tileas.scatter_store %x, %b[%columns : tensor<16xi32>, %rows : tensor<16xi32>]
    mask %mask : tensor<16xi1> {atom = #stg} : tensor<16xf32>, !m
"""
ARGS = "%a: !m, %b: !m, %rows: tensor<16xi32>, %columns: tensor<16xi32>, %mask: tensor<16xi1>"


@pytest.mark.parametrize("seed", range(6))
def test_gathers_and_scatters_skip_what_is_out_of_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = numbers(rng, (7, 9), np.float32), numbers(rng, (8, 6), np.float32)
    rows, columns = rng.integers(-3, 11, (2, 16)).astype(np.int32)
    mask = rng.integers(0, 4, 16) > 0
    wanted = b.copy()
    for row, column, chosen in zip(rows, columns, mask, strict=True):
        value = a[row, column] if 0 <= row < 7 and 0 <= column < 9 else np.float32(9.5)
        if chosen and 0 <= column < 8 and 0 <= row < 6:
            wanted[column, row] = value
    text = kernel(ARGS, GATHER.replace("BOUNDS", ""), types=TYPES)
    np.testing.assert_array_equal(run(text, a, b, rows, columns, mask)[1], wanted)


def test_gathers_that_promise_to_stay_inside() -> None:
    rng = np.random.default_rng(7)
    a, b = numbers(rng, (7, 9), np.float32), numbers(rng, (9, 7), np.float32)
    rows, columns = rng.permutation(7)[rng.integers(0, 7, 16)], rng.integers(0, 9, 16)
    rows, columns = rows.astype(np.int32), columns.astype(np.int32)
    mask = np.ones(16, np.bool_)
    promise = ", in_bounds = array<i1: true, false>"
    text = kernel(ARGS, GATHER.replace("BOUNDS", promise), types=TYPES)
    wanted = b.copy()
    wanted[columns, rows] = a[rows, columns]
    np.testing.assert_array_equal(run(text, a, b, rows, columns, mask)[1], wanted)
    columns[3], rows[5] = 9, -1
    refuses(
        text,
        "in bounds along dimension 0, but index -1 is not in 0 to 7",
        a,
        b,
        rows,
        columns,
        mask,
    )
    mask[5] = False
    run(text, a, b, rows, columns, mask)


def test_rows_of_a_matrix_by_their_numbers() -> None:
    """A scalar coordinate is the same for all; integers of 64 bits and indices serve as well."""
    rng = np.random.default_rng(8)
    a, b = numbers(rng, (7, 9), np.float16), numbers(rng, (8,), np.float16)
    rows = rng.integers(0, 7, 8)
    for element in ("i64", "index"):
        text = kernel(
            f"%a: memref<?x?xf16>, %b: memref<?xf16>, %rows: tensor<8x{element}>, %j: index",
            f"""
  %none = nv_tileas.create_none : !mem
  %x, %t = nv_tileas.gather_load %a[%rows : tensor<8x{element}>, %j] relaxed gpu
    after %none : !mem {{atom = #ldg}} : memref<?x?xf16> -> tensor<8xf16>, !mem
  %all = nv_tileas.generate : tensor<8xindex> {{
  ^bb0(%i: index):
    nv_tileas.yield %i : index
  }}
  %u = nv_tileas.scatter_store %x, %b[%all : tensor<8xindex>] after %t : !mem
    {{atom = #stg}} : tensor<8xf16>, memref<?xf16> -> !mem""",
        )
        np.testing.assert_array_equal(run(text, a, b, rows, 4)[1], a[rows, 4])


# Hand-overs between agents and between blocks

SPIN = """
    %seen = scf.while (%s = %none) : (i32) -> (i32) {
      %f = nv_tileas.load %flag LOAD {atom = #ldg} : !p -> i32
      %again = arith.cmpi ne, %f, %set : i32
      scf.condition(%again) %f : i32
    } do {
    ^bb0(%s: i32):
      scf.yield %s : i32
    }
    %got = nv_tileas.tiled_load %data[%zero, %zero] {atom = #ldg} : !view -> !tile
    %twice = arith.addf %got, %got : !tile
    nv_tileas.tiled_store %twice, %out[%zero, %zero] {atom = #stg} : !tile, !view
"""
SEND = """
    %tile = nv_tileas.tiled_load %in[%zero, %zero] {atom = #ldg} : !view -> !tile
    nv_tileas.tiled_store %tile, %data[%zero, %zero] {atom = #stg} : !tile, !view
    nv_tileas.store %set, %flag STORE {atom = #stg} : i32, !p
"""
HEAD = """
  %none = arith.constant 0 : i32
  %set = arith.constant 7 : i32
"""
AGENTS = f"{HEAD}{agents(SEND, SPIN)}"
BLOCKS = f"""{HEAD}
  %block = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %first = arith.cmpi eq, %block, %WRITER : index
  scf.if %first {{
    {SEND}
  }} else {{
    {SPIN}
  }}
"""
PASSING = "%in: !view, %data: !view, %out: !view, %flag: !p"
POLICIES = (Schedule(), Schedule("adversarial"), *[Schedule("random", s) for s in range(8)])


def passing(form: str, load: str, store: str, writer: str = "zero") -> str:
    body = form.replace("LOAD", load).replace("STORE", store).replace("WRITER", writer)
    return kernel(PASSING, body, types=TYPES)


@pytest.mark.parametrize(("form", "grid"), [(AGENTS, 1), (BLOCKS, 2)])
@pytest.mark.parametrize("writer", ["zero", "one"])
def test_messages_pass_from_a_release_to_an_acquire(form: str, grid: int, writer: str) -> None:
    rng = np.random.default_rng(9)
    a, data, out = (numbers(rng, (4, 8), np.float32) for _ in range(3))
    flag = np.zeros(1, np.int32)
    text = passing(form, "acquire gpu", "release gpu", writer)
    found = run(text, a, data, out, flag, grid=grid, schedules=POLICIES)
    np.testing.assert_array_equal(found[2], 2 * a)
    assert found[3].tolist() == [7]


def test_a_weak_load_that_looks_for_a_flag_races_and_does_not_hang() -> None:
    rng = np.random.default_rng(9)
    a, data, out = (numbers(rng, (4, 8), np.float32) for _ in range(3))
    text = passing(AGENTS, "", "release gpu", "zero")
    for schedule in POLICIES:
        with pytest.raises(SimulationError, match="race on"):
            run(text, a, data, out, np.zeros(1, np.int32), schedules=(schedule,))


def test_a_loop_that_looks_for_what_nobody_writes_is_a_deadlock() -> None:
    rng = np.random.default_rng(9)
    a, data, out = (numbers(rng, (4, 8), np.float32) for _ in range(3))
    text = passing(f"{HEAD}{SPIN}", "", "", "zero")
    with pytest.raises(SimulationError, match="waits forever"):
        run(text, a, data, out, np.zeros(1, np.int32), schedules=POLICIES)


@pytest.mark.parametrize(("form", "grid"), [(AGENTS, 1), (BLOCKS, 2)])
@pytest.mark.parametrize(
    ("load", "store"),
    [
        ("acquire gpu", "relaxed gpu"),
        ("relaxed gpu", "release gpu"),
        ("relaxed gpu", "relaxed gpu"),
    ],
)
def test_a_message_without_release_or_acquire_is_a_race(
    form: str, grid: int, load: str, store: str
) -> None:
    rng = np.random.default_rng(10)
    a, data, out = (numbers(rng, (4, 8), np.float32) for _ in range(3))
    flag = np.zeros(1, np.int32)
    refuses(passing(form, load, store), r"race on %data", a, data, out, flag, grid=grid)


def test_a_weak_flag_is_a_race() -> None:
    rng = np.random.default_rng(11)
    a, data, out = (numbers(rng, (4, 8), np.float32) for _ in range(3))
    flag = np.zeros(1, np.int32)
    text = passing(AGENTS, "acquire gpu", "")
    refuses(text, r"race on %flag", a, data, out, flag)


def test_a_flag_that_nobody_sets_is_a_deadlock() -> None:
    rng = np.random.default_rng(12)
    a, data, out = (numbers(rng, (4, 8), np.float32) for _ in range(3))
    flag = np.zeros(1, np.int32)
    text = passing(AGENTS, "acquire gpu", "release gpu").replace("%set, %flag", "%none, %flag")
    refuses(text, "deadlock", a, data, out, flag, schedules=POLICIES[:2])


PLAYER = """
    %parity = arith.constant NUMBER : i32
    %two32 = arith.constant 2 : i32
    %end = scf.for %round = %zero to %three step %one iter_args(%n = %parity) -> (i32) {
      %met = scf.while (%s = %nothing) : (i32) -> (i32) {
        %f = nv_tileas.load %flag acquire gpu {atom = #ldg} : !p -> i32
        %again = arith.cmpi ne, %f, %n : i32
        scf.condition(%again) %f : i32
      } do {
      ^bb0(%s: i32):
        scf.yield %s : i32
      }
      %x = nv_tileas.tiled_load %data[%zero, %zero] {atom = #ldg} : !view -> !tile
      %y = arith.addf %x, %x : !tile
      nv_tileas.tiled_store %y, %data[%zero, %zero] {atom = #stg} : !tile, !view
      %next = arith.addi %n, %step : i32
      nv_tileas.store %next, %flag release gpu {atom = #stg} : i32, !p
      %after = arith.addi %n, %two32 : i32
      scf.yield %after : i32
    }
"""


def test_agents_that_look_at_one_flag_in_turns_do_not_starve() -> None:
    rng = np.random.default_rng(13)
    data, flag = numbers(rng, (4, 8), np.float32), np.zeros(1, np.int32)
    body = """
  %step = arith.constant 1 : i32
  %nothing = arith.constant 0 : i32
""" + agents(*[PLAYER.replace("NUMBER", str(number)) for number in (0, 1)])
    text = kernel("%data: !view, %flag: !p", body, types=TYPES)
    found = run(text, data, flag, schedules=POLICIES)
    np.testing.assert_array_equal(found[0], 64 * data)
    assert found[1].tolist() == [6]
