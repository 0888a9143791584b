"""Loops of the filecheck file, scheduled and judged by the checker; planted faults are found."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.ir import parse
from support.schedule_checker import violations
from xdsl.dialects import scf

from tileas_xdsl.scheduling.loops.dependence_graph import dependence_graph
from tileas_xdsl.scheduling.loops.loop_scheduler import SchedulerOptions, schedule_loop
from tileas_xdsl.scheduling.loops.macro_operations import MacroKind
from tileas_xdsl.scheduling.resources.buffer_stages import buffered, needed_stages
from tileas_xdsl.scheduling.resources.capacity import LoopCapacity
from tileas_xdsl.scheduling.solvers.search import SolverName
from tileas_xdsl.target.arch import get_target

FILE = "filecheck/transforms/tileas-generate-schedule-measured.mlir"
PARTS = (Path(__file__).parents[2] / FILE).read_text().split("// -----")
ROOM = LoopCapacity(get_target("sm_90a"), 4, 1, 195_584)


def loop_of(name):
    (text,) = (part for part in PARTS if f"func.func @{name}(" in part.split("// CHECK")[0])
    (loop,) = (op for op in parse(text).walk() if isinstance(op, scf.ForOp))
    return loop


def scheduled(name, room=ROOM, **options):
    found = schedule_loop(loop_of(name), room, SchedulerOptions(**options))
    assert not isinstance(found, str)
    return found


def test_the_graph_of_attention():
    graph = dependence_graph(loop_of("attention"))
    kinds = [node.kind for node in graph.nodes]
    assert kinds.count(MacroKind.TMA_LOAD) == kinds.count(MacroKind.DOT) == 2
    assert kinds.count(MacroKind.REDUCE) == 2
    assert kinds.count(MacroKind.ELEMENTWISE) == 5
    scores, values = (node for node in graph.nodes if node.kind is MacroKind.DOT)
    carried = [edge for edge in graph.edges if edge.distance]
    assert [edge.target.operations[0].name for edge in carried if edge.source is values] == [
        "arith.mulf"
    ]
    assert not any(edge.source is scores and edge.distance for edge in graph.edges)
    assert {edge.distance for edge in carried} == {1}


def test_a_store_that_tokens_order_lets_loads_by_tma_run_ahead():
    """As those of a producer do; one without a token stands between the loads of two rounds."""
    for after, count in ((" after %none : !nv_tileaa.mem_token", 0), ("", 2)):
        graph = dependence_graph(_product_that_stores(after))
        loads = [node for node in graph.nodes if node.kind is MacroKind.TMA_LOAD]
        assert len([edge for edge in graph.edges if edge.target in loads]) == count


def _product_that_stores(after):
    by_tma = "{atom = #nv_tileas<atom tma_load_2d>, allow_tma = true}"
    token = " -> !nv_tileaa.mem_token" if after else ""
    result = "%stored = " if after else ""
    text = f"""
func.func @k(%a: !nv_tileas.tiled_view<64x32xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>,
    %s: tensor<64x64xf32>, %n: index) {{
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %k = %zero to %n step %one {{
    %x = nv_tileas.tiled_load %a[%k, %zero] {by_tma} : !nv_tileas.tiled_view<64x32xf16, gmem>
      -> tensor<64x32xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %a[%zero, %k] {by_tma} : !nv_tileas.tiled_view<64x32xf16, gmem>
      -> tensor<64x32xf16, #nv_tileas<space smem>>
    {result}nv_tileas.tiled_store %s, %c[%k, %zero]{after} {{atom = #nv_tileas<atom stg>}}
      : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>{token}
  }}
  func.return
}}
"""
    (loop,) = (op for op in parse(text).walk() if isinstance(op, scf.ForOp))
    return loop


@pytest.mark.parametrize("name", ["product", "attention", "stream", "serial", "grouped", "shallow"])
def test_schedules_respect_their_problems(name):
    found = scheduled(name)
    assert violations(found.found.problem, found.solution) == []
    assert found.fits


@pytest.mark.parametrize(
    "name", ["product", pytest.param("attention", marks=pytest.mark.slow), "stream"]
)
def test_cp_sat_finds_the_same_interval(name):
    pytest.importorskip("ortools")
    other = scheduled(name, solver=SolverName.CP_SAT)
    assert violations(other.found.problem, other.solution) == []
    assert other.solution.ii == scheduled(name).solution.ii


def test_random_delays_give_another_right_schedule():
    found = scheduled("attention", random_delay=True)
    assert violations(found.found.problem, found.solution) == []
    assert found.solution.starts != scheduled("attention").solution.starts


def test_every_operation_that_starts_earlier_is_a_fault():
    """Each start is tight: a round before it an operand or a unit is missing, a read late, or a
    load has a tile for a round more than there are stages."""
    found = scheduled("attention")
    problem, solution = found.found.problem, found.solution
    for task in range(len(problem.tasks)):
        starts = [*solution.starts]
        starts[task] -= solution.ii
        earlier = replace(solution, starts=starts)
        held = needed_stages(found.found, earlier).get(task, 0)
        is_fault = violations(problem, earlier) or held > found.stages[task]
        assert is_fault, problem.tasks[task].name


def test_a_stage_too_few_is_a_fault():
    found = scheduled("attention")
    needed = needed_stages(found.found, found.solution)
    assert dict(found.stages) == needed
    for load in buffered(found.found):
        released = found.solution.starts[load] + (needed[load] - 1) * found.solution.ii
        ends = [
            found.solution.starts[edge.target.index] + found.found.costs[edge.target.index].latency
            for edge in found.found.graph.edges
            if edge.source.index == load
        ]
        assert max(ends) + found.solution.ii // 2 + found.found.model.release > released


def test_little_shared_memory_takes_stages_and_time():
    found = scheduled("attention", replace(ROOM, shared_bytes=90_000))
    assert sum(found.stages.values()) == 2
    assert violations(found.found.problem, found.solution) == []
    assert found.solution.ii > scheduled("attention").solution.ii


def test_rows_that_are_combined_are_not_divided():
    loop = loop_of("attention")
    assert schedule_loop(loop, ROOM, SchedulerOptions()).found.model.replicas == 2
    text = next(part for part in PARTS if "@attention(" in part).replace(
        "%row = nv_tileas.reduce %powers {axis = 1", "%row = nv_tileas.reduce %powers {axis = 0"
    )
    (loop,) = (op for op in parse(text).walk() if isinstance(op, scf.ForOp))
    assert schedule_loop(loop, ROOM, SchedulerOptions()).found.model.replicas == 1


MADE = """
func.func @made(%first: tensor<64x64xf16>, %n: index)
    -> tensor<64x64xf16> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %first) -> (tensor<64x64xf16>) {
    %made = nv_tileas.generate : tensor<64x64xf16> {
    ^bb0(%i: index, %j: index):
      %x = arith.index_cast %k : index to i32
      %y = arith.sitofp %x : i32 to f16
      nv_tileas.yield %y : f16
    }
    %d = nv_tileas.dot %first, %first, %made : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %next = arith.addf %acc, %d : tensor<64x64xf16>
    scf.yield %next : tensor<64x64xf16>
  }
  func.return %sum : tensor<64x64xf16>
}
"""  # noqa: E501


def test_operations_without_operands_are_scheduled():
    (loop,) = (op for op in parse(MADE).walk() if isinstance(op, scf.ForOp))
    found = schedule_loop(loop, ROOM, SchedulerOptions())
    assert violations(found.found.problem, found.solution) == []
