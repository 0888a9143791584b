"""Async tokens: placeholders, values that become asynchronous, waiting, chains through loops."""

from __future__ import annotations

import numpy as np

from tests.support.simulating import agents, kernel, numbers, refuses, run

TYPES = {
    "m": "memref<?x?xf32>",
    "tile": "tensor<4x8xf32>",
    "later": "!nv_tileas.token<tensor<4x8xf32>>",
    "view": "!nv_tileas.tiled_view<4x8xf32, gmem>",
}


def test_placeholders_are_done() -> None:
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (4, 8), np.float32), numbers(rng, (4, 8), np.float32)
    text = kernel(
        "%a: !m, %b: !m",
        """
  %t = nv_tileas.create_none : !token
  nv_tileas.async.wait %t : !token
  nv_tileas.async.future_wait %t : !token
  %m = nv_tileas.create_none : !mem
  %x, %m1 = nv_tileas.load %a[%zero, %zero] after %m : !mem {atom = #ldg} : !m -> !tile, !mem
  %later = nv_tileas.async.to_async %x : !tile -> !later
  %bare = nv_tileas.async.to_async %x : !tile -> !token
  nv_tileas.async.wait %bare : !token
  nv_tileas.async.wait %later : !later
  %y = nv_tileas.async.future_wait %later : !later -> !tile
  %m2 = nv_tileas.store %y, %b[%zero, %zero] after %m1 : !mem {atom = #stg} : !tile, !m -> !mem""",
        types=TYPES,
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a)


def test_a_token_may_be_waited_for_again() -> None:
    rng = np.random.default_rng(2)
    a, b = numbers(rng, (4, 8), np.float32), numbers(rng, (4, 8), np.float32)
    text = kernel(
        "%a: !m, %b: !m",
        """
  %t = nv_tileas.async.load %a[%zero, %zero] {atom = #nv_tileas<atom ldgsts>} : !m -> !later
  %x = nv_tileas.async.wait %t : !later -> !tile
  %y = nv_tileas.async.wait %t : !later -> !tile
  %z = arith.addf %x, %y : !tile
  nv_tileas.store %z, %b[%zero, %zero] {atom = #stg} : !tile, !m""",
        types=TYPES,
    )
    np.testing.assert_array_equal(run(text, a, b)[1], 2 * a)


def test_tokens_run_through_loops() -> None:
    """Each load begins one step ahead of its use."""
    rng = np.random.default_rng(3)
    a, b = numbers(rng, (20, 8), np.float32), numbers(rng, (20, 8), np.float32)
    text = kernel(
        "%a: !m, %b: !m",
        """
  %five = arith.constant 5 : index
  %va = nv_tileas.view %a : !m -> !view
  %vb = nv_tileas.view %b : !m -> !view
  %first = nv_tileas.async.tiled_load %va[%zero, %zero] {atom = #nv_tileas<atom ldgsts>}
    : !view -> !later
  %last = scf.for %i = %zero to %five step %one iter_args(%t = %first) -> (!later) {
    %next = arith.addi %i, %one : index
    %u = nv_tileas.async.tiled_load %va[%next, %zero] {atom = #nv_tileas<atom ldgsts>}
      : !view -> !later
    %x = nv_tileas.async.wait %t : !later -> !tile
    nv_tileas.tiled_store %x, %vb[%i, %zero] {atom = #stg} : !tile, !view
    scf.yield %u : !later
  }""",
        types=TYPES,
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a)


def test_another_agent_may_wait_for_a_token() -> None:
    rng = np.random.default_rng(4)
    a, b = numbers(rng, (4, 8), np.float32), numbers(rng, (4, 8), np.float32)
    begin = """
  %va = nv_tileas.view %a : !m -> !view
  %vb = nv_tileas.view %b : !m -> !view
  %x = arith.constant dense<3.0> : !tile
  %none = nv_tileas.create_none : !mem
  %s, %t = nv_tileas.async.store %x, %a[%zero, %zero] after %none : !mem {atom = #stg}
    : !tile, !m -> !token, !mem
"""
    reading = """
  %y, %u = nv_tileas.tiled_load %va[%zero, %zero] after TOKEN : !mem {atom = #ldg}
    : !view -> !tile, !mem
  nv_tileas.tiled_store %y, %vb[%zero, %zero] {atom = #stg} : !tile, !view
"""
    idle = "nv_tileas.async.wait %s : !token\n"
    right = kernel(
        "%a: !m, %b: !m", begin + agents(reading.replace("TOKEN", "%t"), idle), types=TYPES
    )
    np.testing.assert_array_equal(run(right, a, b)[1], np.full((4, 8), 3, np.float32))
    wrong = kernel(
        "%a: !m, %b: !m", begin + agents(reading.replace("TOKEN", "%none"), idle), types=TYPES
    )
    refuses(wrong, "race on %a", a, b)


def test_what_loads_deliver_is_read_when_they_land() -> None:
    """Two loads and a store that comes after the first only."""
    rng = np.random.default_rng(5)
    a, b = numbers(rng, (4, 8), np.float32), numbers(rng, (4, 8), np.float32)
    text = kernel(
        "%a: !m, %b: !m",
        """
  %va = nv_tileas.view %a : !m -> !view
  %none = nv_tileas.create_none : !mem
  %x, %t1 = nv_tileas.async.tiled_load %va[%zero, %zero] after %none : !mem
    {atom = #nv_tileas<atom ldgsts>} : !view -> !later, !mem
  %y, %t2 = nv_tileas.async.tiled_load %va[%zero, %zero] after %none : !mem
    {atom = #nv_tileas<atom ldgsts>} : !view -> !later, !mem
  %z = arith.constant dense<1.0> : !tile
  %t3 = nv_tileas.tiled_store %z, %va[%zero, %zero] after %t1 : !mem {atom = #stg}
    : !tile, !view -> !mem
  %w = nv_tileas.async.wait %y : !later -> !tile
  nv_tileas.store %w, %b[%zero, %zero] {atom = #stg} : !tile, !m""",
        types=TYPES,
    )
    refuses(text, "race on %a", a, b)
    both = text.replace("after %t1 : !mem", "after %t2 : !mem")
    first, second = "after %none : !mem", "after %t1 : !mem"
    both = both.replace(first, "FIRST", 1).replace(first, second, 1).replace("FIRST", first)
    np.testing.assert_array_equal(run(both, a, b)[1], a)


def test_what_is_in_flight_comes_after_what_is_in_flight() -> None:
    """A load, a store and a load of one tile, none of which the agent waits for in between."""
    rng = np.random.default_rng(6)
    a, b = numbers(rng, (4, 8), np.float32), numbers(rng, (4, 8), np.float32)
    text = kernel(
        "%a: !m, %b: !m",
        """
  %none = nv_tileas.create_none : !mem
  %z = arith.constant dense<5.0> : !tile
  %x, %t1 = nv_tileas.async.load %a[%zero, %zero] after %none : !mem
    {atom = #nv_tileas<atom ldgsts>} : !m -> !later, !mem
  %s, %t2 = nv_tileas.async.store %z, %a[%zero, %zero] after %t1 : !mem {atom = #stg}
    : !tile, !m -> !token, !mem
  %y, %t3 = nv_tileas.async.load %a[%zero, %zero] after %t2 : !mem
    {atom = #nv_tileas<atom ldgsts>} : !m -> !later, !mem
  %new = nv_tileas.async.wait %y : !later -> !tile
  %old = nv_tileas.async.wait %x : !later -> !tile
  %sum = arith.addf %old, %new : !tile
  nv_tileas.store %sum, %b[%zero, %zero] {atom = #stg} : !tile, !m""",
        types=TYPES,
    )
    found = run(text, a, b)
    np.testing.assert_array_equal(found[0], np.full((4, 8), 5, np.float32))
    np.testing.assert_array_equal(found[1], a + np.float32(5))
    for after in ("%t1", "%t2"):
        refuses(text.replace(f"after {after} :", "after %none :"), "race on %a", a, b)


def test_waits_for_grids_and_fences_of_aliases_change_no_values() -> None:
    a, b = numbers(np.random.default_rng(4), (4, 8), np.float32), np.zeros((4, 8), np.float32)
    body = """
  nv_tileas.grid_dependency "launch_dependents"
  %before = nv_tileas.create_none : !mem
  %after = nv_tileas.grid_dependency "wait" after %before : !mem -> !mem
  nv_tileas.fence_alias
  nv_tileas.fence acq_rel gpu
  %x = nv_tileas.tiled_load %a[%zero, %zero] {atom = #ldg} : !view -> !tile
  nv_tileas.tiled_store %x, %b[%zero, %zero] {atom = #stg} : !tile, !view
"""
    np.testing.assert_array_equal(
        run(kernel("%a: !view, %b: !view", body, types=TYPES), a, b)[1], a
    )


def test_turns_change_no_tile() -> None:
    """The warpgroups that take turns are one agent here."""
    rng = np.random.default_rng(4)
    a, b = numbers(rng, (4, 8), np.float32), numbers(rng, (4, 8), np.float32)
    turns = "".join(
        f'  nv_tileas.async.turn "{action}" {{barriers = array<i32: 14, 15>}}\n'
        for action in ("open", "take", "pass", "close")
    )
    text = kernel(
        "%a: !m, %b: !m",
        f"""
  %x = nv_tileas.load %a[%zero, %zero] {{atom = #ldg}} : !m -> !tile
{turns}  nv_tileas.store %x, %b[%zero, %zero] {{atom = #stg}} : !tile, !m""",
        types=TYPES,
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a)
