"""Agents: nested switches, visible values, synchronisation; grids, dims, directives."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.simulating import agents, kernel, numbers, refuses, run, simulated
from tileas_xdsl.interpreters.tile.launch import Schedule

TYPES = {
    "m": "memref<?x?xf32>",
    "tile": "tensor<4x8xf32>",
    "view": "!nv_tileas.tiled_view<4x8xf32, gmem>",
    "shared": "tensor<4x8xf32, #nv_tileas<space smem>>",
}
ARGS = "%a: !view, %b: !view"
MEET = '"gpu.barrier"() : () -> ()\n'
MANY = (Schedule(), Schedule("adversarial"), *[Schedule("random", s) for s in range(10)])


def double(source: str, row: int, to: str = "%b", k: str = "") -> str:
    """Write twice a tile into a row of tiles."""
    return f"""
  %r{k} = arith.constant {row} : index
  %x{k} = nv_tileas.tiled_load {source}[%r{k}, %zero] {{atom = #ldg}} : !view -> !tile
  %y{k} = arith.addf %x{k}, %x{k} : !tile
  nv_tileas.tiled_store %y{k}, {to}[%r{k}, %zero] {{atom = #stg}} : !tile, !view
"""


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_agents_each_do_their_part_and_what_follows_sees_all(count: int) -> None:
    rng = np.random.default_rng(1)
    a, b = (numbers(rng, (4 * count, 8), np.float32) for _ in range(2))
    after = "".join(double("%b", row, "%b", f"n{row}") for row in range(count))
    body = agents(*[double("%a", row) for row in range(count)]) + after
    np.testing.assert_array_equal(run(kernel(ARGS, body, types=TYPES), a, b)[1], 4 * a)


def test_splits_inside_splits_and_loops() -> None:
    rng = np.random.default_rng(2)
    a, b = numbers(rng, (16, 8), np.float32), numbers(rng, (16, 8), np.float32)
    inner = agents(double("%b", 0), double("%b", 1)) + double("%b", 1, k="after")
    text = kernel(
        ARGS,
        f"""
  {agents(*[double("%a", row) for row in range(4)])}
  scf.for %i = %zero to %three step %one {{
    {agents(inner, double("%b", 2), double("%b", 3) + double("%b", 3, k="z"))}
  }}""",
        types=TYPES,
    )
    wanted = 2 * a
    for row, factor in enumerate((8, 64, 8, 64)):
        wanted[4 * row : 4 * row + 4] *= np.float32(factor)
    np.testing.assert_array_equal(run(text, a, b)[1], wanted)


def test_agents_that_touch_one_tile_race() -> None:
    rng = np.random.default_rng(3)
    a, b = numbers(rng, (8, 8), np.float32), numbers(rng, (8, 8), np.float32)
    text = kernel(ARGS, agents(double("%a", 0), double("%a", 0, k="w")), types=TYPES)
    refuses(text, r"race on %b\[0, 0\]: .*agent", a, b)
    text = kernel(ARGS, agents(double("%a", 1), double("%b", 1, "%a")), types=TYPES)
    refuses(text, r"race on %[ab]\[4, 0\]", a, b)


def test_a_later_split_is_not_ordered_by_an_earlier_one() -> None:
    """Agents of both splits have the same names."""
    rng = np.random.default_rng(4)
    a, b = numbers(rng, (12, 8), np.float32), numbers(rng, (12, 8), np.float32)
    first = agents(
        double("%a", 0) + double("%b", 0, k="again") + MEET + MEET,
        double("%a", 1) + MEET + MEET,
    )
    for second in (
        agents(double("%a", 2), double("%a", 2, k="w")),
        agents(double("%a", 2), double("%b", 2, "%a", k="w")),
        agents(double("%b", 2, "%a", k="w"), double("%a", 2)),
    ):
        text = kernel(ARGS, f"{first}\n{second}", types=TYPES)
        refuses(text, r"race on %[ab]\[8, 0\]", a, b, schedules=MANY)
    right = agents(double("%a", 2), double("%b", 0, k="w"))
    wanted = b.copy()
    for row, factor in enumerate((8, 2, 2)):
        wanted[4 * row : 4 * row + 4] = a[4 * row : 4 * row + 4] * np.float32(factor)
    text = kernel(ARGS, f"{first}\n{right}", types=TYPES)
    np.testing.assert_array_equal(run(text, a, b)[1], wanted)


def test_agents_see_values_from_before() -> None:
    rng = np.random.default_rng(5)
    a, b = numbers(rng, (8, 8), np.float32), numbers(rng, (8, 8), np.float32)
    use = """
  %y{k} = arith.addf %x, %factor : !tile
  nv_tileas.tiled_store %y{k}, %b[{row}, %zero] {{atom = #stg}} : !tile, !view
"""
    text = kernel(
        f"{ARGS}, %f: f32",
        f"""
  %x = nv_tileas.tiled_load %a[%one, %zero] {{atom = #ldg}} : !view -> !tile
  %factor = tensor.splat %f : !tile
  {agents(use.format(k=0, row="%zero"), use.format(k=1, row="%one"))}""",
        types=TYPES,
    )
    found = run(text, a, b, np.float32(2.5))[1]
    np.testing.assert_array_equal(found, np.concatenate([a[4:] + np.float32(2.5)] * 2))


ISOLATED = """
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, isolated = true,
    max_regs = array<i32: 40, 232>} {
    %i = arith.constant 0 : index
    "gpu.barrier"() : () -> ()
  }, {
    %j = arith.constant 0 : index
    "gpu.barrier"() : () -> ()
  }
"""


def test_isolated_agents_run_too() -> None:
    found = simulated(kernel("", ISOLATED), schedules=MANY)
    assert found.blocks == 1
    assert found.operations >= 9 + 6


EXCHANGE = """
  %x{k} = nv_tileas.tiled_load %a[{row}, %zero] {{atom = #ldg}} : !view -> !tile
  nv_tileas.copy %x{k}, %s{k} {{atom = #any}} : !tile, !shared
  {barrier}
  %y{k} = nv_tileas.convert_layout %s{other} : !shared -> !tile
  nv_tileas.tiled_store %y{k}, %b[{row}, %zero] {{atom = #stg}} : !tile, !view
"""


@pytest.mark.parametrize("warps", [None, [4, 4], [1, 8]])
@pytest.mark.parametrize("barrier", [True, False])
def test_a_barrier_orders_all_agents_of_a_block(warps: list[int] | None, barrier: bool) -> None:
    rng = np.random.default_rng(6)
    a, b = numbers(rng, (8, 8), np.float32), numbers(rng, (8, 8), np.float32)
    meet = MEET if barrier else ""
    text = kernel(
        ARGS,
        f"""
  %s0 = nv_tileas.alloc_tensor : !shared
  %s1 = nv_tileas.alloc_tensor : !shared
  {
            agents(
                EXCHANGE.format(k=0, other=1, row="%zero", barrier=meet),
                EXCHANGE.format(k=1, other=0, row="%one", barrier=meet),
                warps=warps,
            )
        }""",
        ""
        if warps is None
        else f"nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = {sum(warps)}>",
        types=TYPES,
    )
    if barrier:
        found = run(text, a, b, schedules=MANY)[1]
        np.testing.assert_array_equal(found, np.concatenate([a[4:], a[:4]]))
    else:
        refuses(text, "race on %s|nobody wrote it", a, b)


def test_barriers_in_loops_and_for_one_agent() -> None:
    rng = np.random.default_rng(7)
    a, b = numbers(rng, (8, 8), np.float32), numbers(rng, (8, 8), np.float32)
    turn = """
  scf.for %i{k} = %zero to %four step %one {{
    %odd{k} = arith.andi %i{k}, %one : index
    %mine{k} = arith.cmpi eq, %odd{k}, {row} : index
    scf.if %mine{k} {{
      {work}
    }}
    "gpu.barrier"() : () -> ()
  }}
"""
    zero, one = (
        turn.format(k=k, row=row, work=double("%b", 0, k=f"t{k}"))
        for k, row in enumerate(("%zero", "%one"))
    )
    text = kernel(ARGS, f"{double('%a', 0)} {MEET}{agents(zero, one)}", types=TYPES)
    wanted = b.copy()
    wanted[:4] = 32 * a[:4]
    np.testing.assert_array_equal(run(text, a, b, schedules=MANY)[1], wanted)


def test_an_agent_that_stays_away_from_a_barrier() -> None:
    flag = np.zeros(1, np.int32)
    wait = """
    %end = scf.while (%s = %none) : (i32) -> (i32) {
      %f = nv_tileas.load %flag acquire gpu {atom = #ldg} : !nv_tileaa.ptr<i32, 1> -> i32
      %again = arith.cmpi eq, %f, %none : i32
      scf.condition(%again) %f : i32
    } do {
    ^bb0(%s: i32):
      scf.yield %s : i32
    }
"""
    text = kernel(
        "%flag: !nv_tileaa.ptr<i32, 1>",
        f"""
  %none = arith.constant 0 : i32
  {agents(MEET, wait)}""",
    )
    refuses(text, "deadlock: agent 0, agent 1 wait forever", flag)


def test_blocks_know_their_place() -> None:
    where = np.zeros((2, 3, 4, 6), np.int64)
    ops = "".join(
        f"""
  %{name}{axis} = "gpu.{op}"() <{{dimension = #gpu<dim {axis}>}}> : () -> index
  %k{name}{axis} = arith.constant {k + 3 * offset} : index
  nv_tileas.store %{name}{axis}, %w[%bz, %by, %bx, %k{name}{axis}] {{atom = #stg}}
    : index, memref<2x3x4x6xindex>
"""
        for offset, (name, op) in enumerate((("b_", "block_id"), ("g_", "grid_dim")))
        for k, axis in enumerate("xyz")
    )
    ids = "".join(
        f'%b{axis} = "gpu.block_id"() <{{dimension = #gpu<dim {axis}>}}> : () -> index\n'
        for axis in "xyz"
    )
    found = run(kernel("%w: memref<2x3x4x6xindex>", ids + ops), where, grid=(4, 3, 2))[0]
    for z, y, x in np.ndindex(2, 3, 4):
        assert found[z, y, x].tolist() == [x, y, z, 4, 3, 2]


def test_directives_mean_nothing() -> None:
    rng = np.random.default_rng(8)
    a, b = numbers(rng, (4, 8), np.float32), numbers(rng, (4, 8), np.float32)
    text = kernel(
        ARGS,
        """
  nv_tileas.pragma {ocgEnterDirectives = "one"}
  %y, %r = nv_tileas.pragma {ocgEnterDirectives = ["one", "two"]} -> !tile, index {
    "gpu.barrier"() : () -> ()
    %x = nv_tileas.tiled_load %a[%zero, %zero] {atom = #ldg} : !view -> !tile
    %z = arith.mulf %x, %x : !tile
    nv_tileas.yield %z, %zero : !tile, index
  }
  nv_tileas.pragma {ocgLeaveDirectives = ["one"]} {
    nv_tileas.tiled_store %y, %b[%r, %zero] {atom = #stg} : !tile, !view
    nv_tileas.yield
  }""",
        types=TYPES,
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a * a)


def test_functions_that_are_called() -> None:
    rng = np.random.default_rng(9)
    a, b = numbers(rng, (8, 8), np.float32), numbers(rng, (8, 8), np.float32)
    text = kernel(
        ARGS,
        agents(
            "func.call @twice(%a, %b, %zero) : (!view, !view, index) -> ()",
            "func.call @twice(%a, %b, %one) : (!view, !view, index) -> ()",
        ),
        types=TYPES,
    )
    text += """
func.func private @twice(%from: !view, %to: !view, %row: index) {
  %zero = arith.constant 0 : index
  %x = nv_tileas.tiled_load %from[%row, %zero] {atom = #ldg} : !view -> !tile
  %y = arith.addf %x, %x : !tile
  nv_tileas.tiled_store %y, %to[%row, %zero] {atom = #stg} : !tile, !view
  func.return
}
"""
    np.testing.assert_array_equal(run(text, a, b)[1], 2 * a)


@pytest.mark.parametrize("order", [0, 1])
def test_an_agent_that_has_ended_is_missed_on_a_barrier(order: int) -> None:
    """Its threads are still there, whoever comes first."""
    bodies = [MEET, "%done = arith.constant 1 : i32"]
    text = kernel("", agents(*(bodies if order else bodies[::-1])))
    refuses(text, "deadlock: agent [01] waits forever", schedules=MANY)


def test_a_barrier_of_agents_inside_an_agent() -> None:
    inside = agents(MEET, MEET, MEET, warps=[1, 2, 1])
    spec = "nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>"
    text = kernel("", MEET + agents(inside + MEET, MEET + MEET, warps=[4, 4]) + MEET, spec)
    assert simulated(text, schedules=MANY).blocks == 1


# The place of the next block

STEAL = """
  %ones = arith.constant dense<1> : tensor<1x1xi32>
  %start = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %true = arith.constant true
  %end, %stop = scf.while (%at = %start, %go = %true) : (index, i1) -> (index, i1) {
    scf.condition(%go) %at, %go : index, i1
  } do {
  ^bb0(%at: index, %go: i1):
    %x = nv_tileas.tiled_atomic_rmw add %ones, %done[%at, %zero] {atom = #any}
      : tensor<1x1xi32>, !cells -> tensor<1x1xi32>
    NEXT
    %next = arith.index_cast %id : i32 to index
    scf.yield %next, %valid : index, i1
  }
"""
NEXT = {
    "at once": "%id, %valid = nv_tileas.cancel_next_program_id : i32, i1",
    "three ids": "%id, %idy, %idz, %valid = nv_tileas.cancel_next_program_id : i32, i32, i32, i1",
    "later": """
    %t = nv_tileas.async.cancel_next_program_id : !nv_tileas.token<tuple<i32, i1>>
    %id, %valid = nv_tileas.async.future_wait %t : !nv_tileas.token<tuple<i32, i1>> -> i32, i1""",
    "an id alone": """
    %id = nv_tileas.cancel_next_program_id : i32
    %least = arith.constant 0 : i32
    %valid = arith.cmpi sge, %id, %least : i32""",
}


@pytest.mark.parametrize("form", NEXT)
@pytest.mark.parametrize("resident", [1, 2, 3])
def test_blocks_take_the_places_of_others(form: str, resident: int) -> None:
    text = kernel(
        "%done: !cells",
        STEAL.replace("NEXT", NEXT[form]),
        types={"cells": "!nv_tileas.tiled_view<1x1xi32, gmem>"},
    )
    found = simulated(text, np.zeros((11, 1), np.int32), grid=11, resident=resident)
    assert found.arrays[0].ravel().tolist() == [1] * 11


def test_blocks_of_clusters_keep_their_places() -> None:
    text = kernel(
        "%done: !cells",
        STEAL.replace("NEXT", NEXT["at once"]),
        types={"cells": "!nv_tileas.tiled_view<1x1xi32, gmem>"},
    )
    refuses(text, "not taken by one of a cluster", np.zeros((4, 1), np.int32), grid=4, cluster=(2,))


COUNTED = """
  %ones = arith.constant dense<1> : tensor<1x1xi32>
  %least = arith.constant 0 : i32
  %cta = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.index_cast %cta : index to i32
  %begun = nv_tileas.async.next_tile_block {rounds = 1 : i32} : !nv_tileas.token<tuple<i32>>
  %end, %last = scf.while (%i = %first, %t = %begun)
      : (i32, !nv_tileas.token<tuple<i32>>) -> (i32, !nv_tileas.token<tuple<i32>>) {
    %is = arith.cmpi sge, %i, %least : i32
    scf.condition(%is) %i, %t : i32, !nv_tileas.token<tuple<i32>>
  } do {
  ^bb0(%now: i32, %asked: !nv_tileas.token<tuple<i32>>):
    %at = arith.index_cast %now : i32 to index
    %x = nv_tileas.tiled_atomic_rmw add %ones, %done[%at, %zero] {atom = #any}
      : tensor<1x1xi32>, !cells -> tensor<1x1xi32>
    %next = nv_tileas.async.wait %asked : !nv_tileas.token<tuple<i32>> -> i32
    MORE
  }
"""
ASKS = """
    %more = nv_tileas.async.next_tile_block {rounds = 1 : i32} : !nv_tileas.token<tuple<i32>>
    scf.yield %next, %more : i32, !nv_tileas.token<tuple<i32>>
"""
ASKS_AT_THE_END = """
    %there = arith.cmpi sge, %next, %least : i32
    %more = scf.if %there -> (!nv_tileas.token<tuple<i32>>) {
      %one_more = nv_tileas.async.next_tile_block {rounds = 1 : i32} : !nv_tileas.token<tuple<i32>>
      scf.yield %one_more : !nv_tileas.token<tuple<i32>>
    } else {
      scf.yield %asked : !nv_tileas.token<tuple<i32>>
    }
    scf.yield %next, %more : i32, !nv_tileas.token<tuple<i32>>
"""
PERSISTENT = "nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, persistent = 1>"


def test_ctas_take_tile_blocks_from_a_counter() -> None:
    """Each once; a launch asks for each and once more in each CTA, so that it leaves zero."""
    cells = {"cells": "!nv_tileas.tiled_view<1x1xi32, gmem>"}
    text = kernel("%done: !cells", COUNTED.replace("MORE", ASKS), PERSISTENT, types=cells)
    done, more = np.zeros((140, 1), np.int32), 140 - 132
    assert simulated(text, done, grid=140).arrays[0].ravel().tolist() == [1] * 140
    wrong = kernel("%done: !cells", COUNTED.replace("MORE", ASKS_AT_THE_END), PERSISTENT, cells)
    refuses(wrong, f"asks for a tile block {132 + more} times, not for each", done, grid=140)
