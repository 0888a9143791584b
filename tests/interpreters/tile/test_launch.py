"""Launches: grids, clusters, resident blocks, schedules, several kernels, traces, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.interpreters.tile.pipelined import pair
from tests.support.ir import parse
from tests.support.simulating import kernel, module_of, numbers, refuses, run, simulated
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import (
    POLICIES,
    Schedule,
    find_kernel,
    grid_of,
    kernels_of,
    simulate,
)

WHERE = "".join(
    f'%{axis} = "gpu.block_id"() <{{dimension = #gpu<dim {axis}>}}> : () -> index\n'
    for axis in "xyz"
)
NUMBERED = kernel(
    "%w: memref<?x?x?xindex>",
    f"""{WHERE}
  %ten = arith.constant 10 : index
  %v0 = arith.muli %z, %ten : index
  %v1 = arith.addi %v0, %y : index
  %v2 = arith.muli %v1, %ten : index
  %v3 = arith.addi %v2, %x : index
  nv_tileas.store %v3, %w[%z, %y, %x] {{atom = #stg}} : index, memref<?x?x?xindex>""",
)


@pytest.mark.parametrize("grid", [1, 5, (4,), (3, 2), (2, 3, 4)])
def test_every_block_runs_once(grid: Any) -> None:
    x, y, z = grid_of(grid)
    found = simulated(NUMBERED, np.zeros((z, y, x), np.int64), grid=grid)
    wanted = [[[100 * k + 10 * j + i for i in range(x)] for j in range(y)] for k in range(z)]
    assert found.arrays[0].tolist() == wanted
    assert found.blocks == x * y * z


@pytest.mark.parametrize("cluster", [(2,), (2, 2), (1, 2, 2), (4, 1, 2)])
@pytest.mark.parametrize("resident", [None, 2, 100])
def test_clusters_and_residents_change_no_result(cluster: Any, resident: int | None) -> None:
    w = np.zeros((2, 2, 4), np.int64)
    wanted = simulate(module_of(NUMBERED), [w], grid=(4, 2, 2)).arrays[0]
    found = simulated(NUMBERED, w, grid=(4, 2, 2), cluster=cluster, resident=resident)
    np.testing.assert_array_equal(found.arrays[0], wanted)
    assert found.blocks == 16


def test_a_kernel_says_its_cluster() -> None:
    spec = "nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, num_ctas = 2>"
    text = NUMBERED.replace(") \n", ")").replace(
        "%w: memref<?x?x?xindex>) ", f"%w: memref<?x?x?xindex>) attributes {{{spec}}} "
    )
    simulate(module_of(text), [np.zeros((1, 1, 4), np.int64)], grid=4)
    with pytest.raises(ArgumentError, match="a grid of 3x1x1 is not made of clusters of 2x1x1"):
        simulate(module_of(text), [np.zeros((1, 1, 3), np.int64)], grid=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": 0}, "a grid has one to three extents of at least 1"),
        ({"grid": (1, 2, 3, 4)}, "a grid has one to three extents"),
        ({"grid": ()}, "a grid has one to three extents"),
        ({"grid": (2, 3), "cluster": (2, 2)}, "a grid of 2x3x1 is not made of clusters of 2x2x1"),
        ({"grid": 32, "cluster": (32,)}, "a cluster has at most 16 blocks, not 32"),
    ],
)
def test_grids_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        simulate(module_of(NUMBERED), [np.zeros((1, 3, 2), np.int64)], **options)


def test_policies_have_names() -> None:
    assert set(POLICIES) == {"round-robin", "random", "adversarial"}
    with pytest.raises(ArgumentError, match="unknown policy 'fair'; known: round-robin, random"):
        Schedule("fair")


SEVERAL = """
func.func private @helper(%x: index) -> index {
  func.return %x : index
}
func.func private @declared(index) -> ()
func.func @first(%w: memref<1xindex>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = func.call @helper(%one) : (index) -> index
  nv_tileas.store %v, %w[%zero] {atom = #nv_tileas<atom stg>} : index, memref<1xindex>
  func.return
}
SECOND
"""
SECOND = """
func.func @second(%w: memref<1xindex>) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  nv_tileas.store %two, %w[%zero] {atom = #nv_tileas<atom stg>} : index, memref<1xindex>
  func.return
}
"""


def test_a_kernel_is_found_by_name_or_alone() -> None:
    both, alone = parse(SEVERAL.replace("SECOND", SECOND)), parse(SEVERAL.replace("SECOND", ""))
    assert [k.sym_name.data for k in kernels_of(both)] == ["first", "second"]
    w = np.zeros(1, np.int64)
    assert simulate(both, [w], kernel="second").arrays[0].tolist() == [2]
    assert simulate(both, [w], kernel="first").arrays[0].tolist() == [1]
    assert simulate(alone, [w]).arrays[0].tolist() == [1]
    with pytest.raises(SimulationError, match=r"has 2 kernels, say which one .*: @first, @second"):
        find_kernel(both)
    for name in ("third", "helper"):
        with pytest.raises(SimulationError, match=f"has no kernel @{name}; it has @first, @second"):
            find_kernel(both, name)
    with pytest.raises(SimulationError, match="has no kernel: a function with a body"):
        find_kernel(parse("func.func private @declared(index) -> ()"))


def matrices(tiles: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(tiles)
    return tuple(numbers(rng, (4 * tiles, 8), np.float32) for _ in range(2))


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_schedule_gives_the_same_run(policy: str) -> None:
    module, args = module_of(pair("TMA", "steps")), matrices(7)

    def history(seed: int) -> Any:
        found = simulate(module, args, schedule=Schedule(policy, seed), trace=True)
        spans = [(str(s.lane), s.name, s.start, s.end, s.kind, s.stage) for s in found.trace.spans]
        assert spans
        return found.cycles, found.operations, spans

    assert history(3) == history(3)
    runs = [history(seed) for seed in range(6)]
    assert (len({str(r) for r in runs}) > 1) == (policy == "random")
    assert len({r[1] for r in runs}) == 1


def test_a_trace_changes_nothing() -> None:
    module, args = module_of(pair("TMA", "steps")), matrices(7)
    plain, traced = simulate(module, args), simulate(module, args, trace=True)
    assert (plain.cycles, plain.operations) == (traced.cycles, traced.operations)
    assert plain.trace.spans == []
    assert traced.trace.end <= traced.cycles
    lanes = {lane.name for lane in traced.trace.lanes}
    assert {"agent 0", "agent 1", "TMA"} <= lanes
    copies = [span for span in traced.trace.spans if span.kind == "copy"]
    assert [span.stage for span in copies] == [k % 2 for k in range(7)]
    assert all(span.end > span.start for span in copies)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    simulate(
        module_of(NUMBERED),
        [np.zeros((1, 2, 4), np.int64)],
        grid=(4, 2),
        cluster=(2,),
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(2, 8), (4, 8), (6, 8), (8, 8)]


def test_blocks_in_other_processes_give_the_same() -> None:
    w = np.zeros((1, 3, 4), np.int64)
    one = simulate(module_of(NUMBERED), [w], grid=(4, 3))
    two = simulate(module_of(NUMBERED), [w], grid=(4, 3), jobs=2)
    assert one.arrays[0].tolist() == two.arrays[0].tolist()
    assert (one.blocks, one.operations) == (two.blocks, two.operations)


SHARED_TILE = kernel(
    "%a: !view, %b: !view",
    """
  %x = nv_tileas.tiled_load %a[%zero, %zero] {atom = #ldg} : !view -> tensor<4x8xf32>
  nv_tileas.tiled_store %x, %b[%zero, %zero] {atom = #stg} : tensor<4x8xf32>, !view""",
    types={"view": "!nv_tileas.tiled_view<4x8xf32, gmem>"},
)


@pytest.mark.parametrize("options", [{}, {"resident": 3}, {"cluster": (3,)}, {"jobs": 2}])
def test_blocks_that_write_one_tile_race(options: dict[str, Any]) -> None:
    """Blocks are not ordered, even where one of them runs after the other."""
    a, b = matrices(1)
    message = r"race on %b\[0, 0\]: block \(.*\) kernel overwrites what block \(.*\) kernel wrote"
    refuses(SHARED_TILE, message, a, b, grid=3, **options)
    np.testing.assert_array_equal(run(SHARED_TILE, a, b)[1], a)


def test_blocks_that_read_what_others_write_race() -> None:
    a, _ = matrices(1)
    text = SHARED_TILE.replace("%b[%zero, %zero]", "%a[%zero, %zero]")
    refuses(text, r"race on %a\[0, 0\]", a, a.copy(), grid=2)


WAITING = kernel(
    "%flag: !nv_tileaa.ptr<i32, 1>",
    """
  %x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %set = arith.constant 1 : i32
  %none = arith.constant 0 : i32
  %last = arith.cmpi eq, %x, %three : index
  scf.if %last {
    nv_tileas.store %set, %flag release gpu {atom = #stg} : i32, !nv_tileaa.ptr<i32, 1>
  } else {
    %end = scf.while (%s = %none) : (i32) -> (i32) {
      %f = nv_tileas.load %flag acquire gpu {atom = #ldg} : !nv_tileaa.ptr<i32, 1> -> i32
      %again = arith.cmpi eq, %f, %none : i32
      scf.condition(%again) %f : i32
    } do {
    ^bb0(%s: i32):
      scf.yield %s : i32
    }
  }""",
)


def test_blocks_wait_for_blocks_that_have_begun() -> None:
    flag = np.zeros(1, np.int32)
    assert run(WAITING, flag, grid=4)[0].tolist() == [1]
    refuses(WAITING, r"deadlock: block \(0, 0, 0\) kernel", flag, grid=4, resident=2)


def test_time_grows_with_waves() -> None:
    """Blocks beyond the multiprocessors wait for a place."""
    cycles = [
        simulate(module_of(NUMBERED), [np.zeros((1, 1, n), np.int64)], grid=n).cycles
        for n in (1, 132, 133)
    ]
    assert cycles[0] == cycles[1] < cycles[2] <= 2 * cycles[1]


def test_work_in_flight_lands_before_a_block_ends() -> None:
    a, b = matrices(1)
    text = SHARED_TILE.replace(
        "nv_tileas.tiled_store %x, %b[%zero, %zero] {atom = #stg} : tensor<4x8xf32>, !view",
        "%t = nv_tileas.async.copy %a, %s {atom = #any} : !view, !shared -> !token",
    ).replace("%x =", "%s = nv_tileas.alloc_tensor : !shared\n  %x =")
    text = text.replace(
        "func.func @k", "!shared = tensor<4x8xf32, #nv_tileas<space smem>>\nfunc.func @k"
    )
    found = simulate(module_of(text), [a, b], trace=True)
    assert max(span.end for span in found.trace.spans) <= found.cycles


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_targets(target: str) -> None:
    a, b = matrices(7)
    assert simulate(module_of(pair("TMA", "steps")), [a, b], target=target).cycles > 0
