"""Predicted times of scheduled loops."""

from dataclasses import replace
from itertools import pairwise

import pytest
from support.ir import parse
from xdsl.dialects import scf

from tests.scheduling.loops.test_loop_scheduler import ROOM, scheduled
from tileas_xdsl.scheduling.loops.computed_operands import multiplies_registers
from tileas_xdsl.scheduling.loops.loop_scheduler import (
    SchedulerOptions,
    schedule_loop,
    serial_solution,
)
from tileas_xdsl.scheduling.schedule import Role
from tileas_xdsl.scheduling.timing import loop_timing
from tileas_xdsl.target.costs.units import Unit


@pytest.mark.parametrize(
    ("name", "bound"),
    [("attention", "tensor_core"), ("stream", "global_memory")],
)
def test_the_steady_state_is_the_interval(name, bound):
    found = scheduled(name)
    timing = loop_timing(found)
    assert timing.per_iteration == pytest.approx(found.solution.ii, rel=0.02)
    assert timing.bound == bound
    assert max(timing.load.values()) <= 1.03


def test_an_iteration_takes_all_reads_and_writes_of_shared_memory():
    """64x64x32 of f16 by two groups reads 16 KB of operands, of which TMA has written 8."""
    timing = loop_timing(scheduled("product"))
    assert timing.per_iteration == 192
    assert timing.bound == "shared_memory"


def test_roles_run_ahead_no_further_than_their_buffers():
    found = scheduled("attention")
    few = replace(found, stages=dict.fromkeys(found.stages, 1))
    assert loop_timing(few).per_iteration > 1.3 * loop_timing(found).per_iteration


def test_a_schedule_without_rotation_takes_longer():
    found = scheduled("attention")
    serial = replace(found, solution=serial_solution(found.found))
    assert loop_timing(serial).per_iteration > 1.05 * loop_timing(found).per_iteration


def test_no_order_of_replicas_beats_the_tensor_core():
    timing = loop_timing(scheduled("attention"))
    assert timing.per_iteration >= 2 * 2 * 128 * 128 * 128 / 4096 * 0.999


def test_agents_do_one_thing_at_a_time():
    events = loop_timing(scheduled("attention")).events
    for agent in {(event.role, event.replica) for event in events}:
        mine = sorted((e.start, e.end) for e in events if (e.role, e.replica) == agent)
        assert all(end <= start for (_, end), (start, _) in pairwise(mine))
    assert {event.replica for event in events if event.role is Role.CONSUMER} == {0, 1}


ROWS, COLUMNS = "tensor<128x64xf16", "tensor<64x128xf16"
SMEM = "#nv_tileas<space smem>"
BY_TMA = "{atom = #nv_tileas<atom tma_load_2d>, allow_tma = true}"
PRODUCT_OF_COMPUTED = f"""
func.func @k(%a: !nv_tileas.tiled_view<128x64xf16, gmem>,
    %b: !nv_tileas.tiled_view<64x128xf16, gmem>, %n: index) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %s = scf.for %k = %zero to %n step %one iter_args(%c = %nothing) -> (tensor<128x128xf32>) {{
    %x = nv_tileas.tiled_load %a[%zero, %k] {BY_TMA}
      : !nv_tileas.tiled_view<128x64xf16, gmem> -> {ROWS}, {SMEM}>
    %y = nv_tileas.tiled_load %b[%k, %zero] {BY_TMA}
      : !nv_tileas.tiled_view<64x128xf16, gmem> -> {COLUMNS}, {SMEM}>
    %read = nv_tileas.convert_layout %y : {COLUMNS}, {SMEM}> -> {COLUMNS}>
    %made = arith.addf %read, %read : {COLUMNS}>
    %kept = nv_tileas.convert_layout %made : {COLUMNS}> -> {COLUMNS}, {SMEM}>
    %next = nv_tileas.dot %x, %kept, %c {{atom = #nv_tileas<atom wgmma_f16_f16_f32>}}
      : {ROWS}, {SMEM}>, {COLUMNS}, {SMEM}>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }}
  func.return
}}
"""


def test_an_operand_that_threads_write_has_two_places():
    """A value is written while the last product runs, when the one before it has read its place."""
    (loop,) = (op for op in parse(PRODUCT_OF_COMPUTED).walk() if isinstance(op, scf.ForOp))
    found = schedule_loop(loop, ROOM, SchedulerOptions())
    assert not isinstance(found, str)
    assert found.found.model.replicas == 2
    by_name = {}
    for event in loop_timing(found).events:
        by_name.setdefault(event.name.split()[0], {}).setdefault(event.iteration, []).append(event)
    for iteration, dots in by_name["dot"].items():
        writes = sorted(by_name["convert"][iteration], key=lambda e: e.began)[-2:]
        assert min(e.began for e in dots) >= max(e.ready for e in writes)
        if iteration > 1:
            before, running = (by_name["dot"][iteration - k] for k in (2, 1))
            assert min(e.began for e in writes) >= max(e.ready for e in before)
            assert min(e.began for e in writes) < max(e.ready for e in running)


OF_REGISTERS = f"""
func.func @k(%a: !nv_tileas.tiled_view<128x64xi8, gmem>,
    %b: !nv_tileas.tiled_view<64x128xf16, gmem>, %n: index) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %s = scf.for %k = %zero to %n step %one iter_args(%c = %nothing) -> (tensor<128x128xf32>) {{
    %x = nv_tileas.tiled_load %a[%zero, %k] {BY_TMA}
      : !nv_tileas.tiled_view<128x64xi8, gmem> -> tensor<128x64xi8, {SMEM}>
    %y = nv_tileas.tiled_load %b[%k, %zero] {BY_TMA}
      : !nv_tileas.tiled_view<64x128xf16, gmem> -> {COLUMNS}, {SMEM}>
    %read = nv_tileas.convert_layout %x : tensor<128x64xi8, {SMEM}> -> tensor<128x64xi8>
    %made = nv_tileas.generate : {ROWS}> {{
    ^bb0(%i: index, %j: index):
      %byte = tensor.extract %read[%i, %j] : tensor<128x64xi8>
      %float = arith.sitofp %byte : i8 to f16
      nv_tileas.yield %float : f16
    }}
    %next = nv_tileas.dot %made, %y, %c {{atom = #nv_tileas<atom wgmma_f16_f16_f32>}}
      : {ROWS}>, {COLUMNS}, {SMEM}>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }}
  func.return
}}
"""


@pytest.mark.parametrize(("text", "of_registers"), [(OF_REGISTERS, 1), (PRODUCT_OF_COMPUTED, 0)])
def test_replicas_that_compute_operands_run_in_step(text: str, of_registers: int) -> None:
    """Bytes that threads unpack, 128x128x64 on an H200: 1,024 of 1,556 cycles are products."""
    (loop,) = (op for op in parse(text).walk() if isinstance(op, scf.ForOp))
    found = schedule_loop(loop, ROOM, SchedulerOptions())
    assert not isinstance(found, str)
    timing, problem = loop_timing(found), found.found
    assert multiplies_registers(problem) == of_registers
    assert found.found.model.replicas == 2
    products = problem.problem.demands()[Unit.TENSOR_CORE]
    computed = max(cost.latency for cost in problem.costs if cost.unit is Unit.ISSUE)
    assert timing.per_iteration > products + computed + problem.model.latencies.drain
    dots = [event for event in timing.events if event.unit is Unit.TENSOR_CORE]
    for iteration in {event.iteration for event in dots}:
        assert len({event.start for event in dots if event.iteration == iteration}) == 1


def test_loops_that_compute_no_operand_do_not() -> None:
    assert not multiplies_registers(scheduled("product").found)
    assert not multiplies_registers(scheduled("attention").found)


def test_a_product_begins_when_all_have_met_behind_the_one_before():
    """Nothing reads shared memory in between, so that an iteration takes more than all accesses."""
    (loop,) = (op for op in parse(PRODUCT_OF_COMPUTED).walk() if isinstance(op, scf.ForOp))
    found = schedule_loop(loop, ROOM, SchedulerOptions())
    assert not isinstance(found, str)
    timing, clock = loop_timing(found), found.found.model.latencies
    accesses = timing.load[Unit.SHARED_MEMORY] * timing.per_iteration
    written = 16384 + 16384
    read_by_threads, written_by_threads = 16384, 16384
    read_by_products = 2 * (64 * 64 * 2 + 16384)
    moved = written + read_by_threads + written_by_threads + read_by_products
    assert accesses == pytest.approx(moved / clock.shared_rate)
    assert timing.per_iteration >= accesses + clock.drain + clock.barrier
