"""`convert-pipeline-to-nvgpu` on the emulator: stage release and ordered barriers."""

from __future__ import annotations

from string import Template

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.verification.required_dialects import MissingDialectError
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.runtime.emulation import Emulation
from tileas_xdsl.transforms.conversion.convert_pipeline_to_nvgpu import ConvertPipelineToNvgpu

ORDERS = (("eager", 0), ("lazy", 0), ("random", 1), ("random", 2))

INTERFACE = (
    "cute.kernel, nvvm.reqntid = array<i32: 96, 1, 1>, tileas.smem_bytes = 1024 : i32, "
    'tileas.parameters = ["ptr 0"], tileas.tensor_maps = [], tileas.smem_map = ""'
)

TURNS = Template("""
!bar = !cutlass.seq_bar<$DEPTH, 3>
!state = !cutlass.seq_bar_state<$DEPTH>
!cell = !cute.ptr<i32, gmem>
func.func @turns(%cells: !cell) attributes {$INTERFACE} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rounds = arith.constant 7 : index
  %warp = cute_nvgpu.arch.warp_idx
  %m = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i64, smem>
  %bar = cutlass.seq_bar.create %m : !cute.ptr<i64, smem> -> !bar
  cutlass.seq_bar.init %bar arrivals 1 : !bar
  %elected = cute_nvgpu.arch.elect_one
  %three = arith.constant 3 : i32
  %s0 = cutlass.seq_bar.state.create %warp : !state
  %sn = scf.for %i = %c0 to %rounds step %c1 iter_args(%s = %s0) -> (!state) {
    %turn = arith.index_cast %i : index to i32
    %depth = arith.constant $DEPTH : i32
    %which = arith.remui %turn, %depth : i32
    %x = cute.add_offset %cells, %which : !cell, i32 -> !cell
    cutlass.seq_bar.wait %bar, %s group %warp : !bar, !state
    scf.if %elected {
      %old = cute.ptr.load %x : !cell -> i32
      %more = arith.muli %old, %three : i32
      %new = arith.addi %more, %warp : i32
      cute.ptr.store %new, %x : i32, !cell
    }
    %t = cutlass.seq_bar.arrive %bar, %s group %warp if %elected : !bar, !state -> !state
    scf.yield %t : !state
  }
  func.return
}
""")

REGION_BOUNDARY = Template("""
!pipe = !cutlass.pipeline<async, $STAGES>
!state = !cutlass.pipeline_state<$STAGES>
!one = !cutlass.participants<[0]>
!two = !cutlass.participants<[1, 2]>
!cell = !cute.ptr<i32, gmem>
!slot = !cute.ptr<i32, smem>
func.func @handover(%x: !cell) attributes {$INTERFACE} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rounds = arith.constant 5 : index
  %warp = cute_nvgpu.arch.warp_idx
  %lane = cute_nvgpu.arch.lane_idx
  %width = arith.constant 32 : i32
  %m = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i64, smem>
  %room = cute_nvgpu.arch.get_dyn_smem 256 -> !slot
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !pipe
  %a = cutlass.pipeline.make_participants : !one
  %b = cutlass.pipeline.make_participants : !two
  cutlass.pipeline.init %pipe, %a, %b {numStages = $STAGES : i32, numProducers = 1 : i32,
    numConsumers = 2 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32}
    : !pipe, !one, !two
  %elected = cute_nvgpu.arch.elect_one
  cutlass.pipeline.switch_by_executor %warp of 3 masks [1, 6] {
    %s0 = cutlass.pipeline.state.create "producer" : !state
    %sn = scf.for %i = %c0 to %rounds step %c1 iter_args(%s = %s0) -> (!state) {
      %t = cutlass.pipeline.produce %pipe, %s if %elected : !pipe, !state -> !state {
      ^bb0(%stage: i32, %full: !cute.ptr<i64, smem>):
        %n = cutlass.pipeline.state.get_count %s : !state
        %from = arith.muli %stage, %width : i32
        %at = arith.addi %from, %lane : i32
        %to = cute.add_offset %room, %at : !slot, i32 -> !slot
        %tens = arith.muli %n, %width : i32
        %value = arith.addi %tens, %lane : i32
        cute.ptr.store %value, %to : i32, !slot
        cutlass.yield
      }
      scf.yield %t : !state
    }
    cutlass.pipeline.producer_tail %pipe, %sn : !pipe, !state
  } {
    %zero = arith.constant 0 : i32
    %s0 = cutlass.pipeline.state.create "consumer" : !state
    %sn, %sum = scf.for %i = %c0 to %rounds step %c1
        iter_args(%s = %s0, %so_far = %zero) -> (!state, i32) {
      %seen = cutlass.pipeline.consumer_try_wait %pipe, %s : !pipe, !state
      cutlass.pipeline.consumer_wait %pipe, %s unless %seen : !pipe, !state
      %stage = cutlass.pipeline.state.get_index %s : !state
      %from = arith.muli %stage, %width : i32
      %at = arith.addi %from, %lane : i32
      %to = cute.add_offset %room, %at : !slot, i32 -> !slot
      %value = cute.ptr.load %to : !slot -> i32
      cutlass.pipeline.consumer_release %pipe, %s if %elected : !pipe, !state
      %weighed = arith.muli %so_far, %width : i32
      %added = arith.addi %weighed, %value : i32
      %t = cutlass.pipeline.state.increment %s : !state -> !state
      scf.yield %t, %added : !state, i32
    }
    %row = arith.muli %warp, %width : i32
    %place = arith.addi %row, %lane : i32
    %out = cute.add_offset %x, %place : !cell, i32 -> !cell
    cute.ptr.store %sum, %out : i32, !cell
  }
  func.return
}
""")

COPIES = Template("""
!pipe = !cutlass.pipeline<$KIND, $STAGES>
!state = !cutlass.pipeline_state<$STAGES>
!two = !cutlass.participants<[0, 1]>
!one = !cutlass.participants<[2]>
!cell = !cute.ptr<i32, gmem, align<16>>
!slot = !cute.ptr<i32, smem, align<16>>
func.func @copies(%x: !cell) attributes {$INTERFACE} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rounds = arith.constant 5 : index
  %warp = cute_nvgpu.arch.warp_idx
  %lane = cute_nvgpu.arch.lane_idx
  %thread = cute_nvgpu.arch.thread_idx "x"
  %four = arith.constant 4 : i32
  %row = arith.constant 256 : i32
  %m = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i64, smem>
  %room = cute_nvgpu.arch.get_dyn_smem 256 -> !slot
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !pipe
  %a = cutlass.pipeline.make_participants : !two
  %b = cutlass.pipeline.make_participants : !one
  cutlass.pipeline.init %pipe, %a, %b {numStages = $STAGES : i32, numProducers = 2 : i32,
    numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32}
    : !pipe, !two, !one
  %elected = cute_nvgpu.arch.elect_one
  cutlass.pipeline.switch_by_executor %warp of 3 masks [3, 4] {
    %place = arith.muli %thread, %four : i32
    %s0 = cutlass.pipeline.state.create "producer" : !state
    %sn = scf.for %i = %c0 to %rounds step %c1 iter_args(%s = %s0) -> (!state) {
      %t = cutlass.pipeline.produce %pipe, %s $WHO : !pipe, !state -> !state {
      ^bb0(%stage: i32, %full: !cute.ptr<i64, smem>):
        %n = cutlass.pipeline.state.get_count %s : !state
        %first = arith.muli %n, %row : i32
        %at = arith.addi %first, %place : i32
        %from = cute.add_offset %x, %at : !cell, i32 -> !cell
        %begin = arith.muli %stage, %row : i32
        %there = arith.addi %begin, %place : i32
        %to = cute.add_offset %room, %there : !slot, i32 -> !slot
        cute_nvgpu.arch.copy.SM80.cp_async %from to %to bytes 16 cache "global" : !cell, !slot
        cutlass.yield
      }
      scf.yield %t : !state
    }
  } {
    %zero = arith.constant 0 : i32
    %three = arith.constant 3 : i32
    %s0 = cutlass.pipeline.state.create "consumer" : !state
    %sn, %sum = scf.for %i = %c0 to %rounds step %c1
        iter_args(%s = %s0, %so_far = %zero) -> (!state, i32) {
      %t, %read = cutlass.pipeline.consume %pipe, %s if %elected : !pipe, !state -> !state, i32 {
      ^bb0(%stage: i32):
        %begin = arith.muli %stage, %row : i32
        %last = arith.constant 252 : i32
        %back = arith.muli %lane, %four : i32
        %turned = arith.subi %last, %back : i32
        %at = arith.addi %begin, %turned : i32
        %from = cute.add_offset %room, %at : !slot, i32 -> !slot
        %value = cute.ptr.load %from : !slot -> i32
        cutlass.yield %value : i32
      }
      %weighed = arith.muli %so_far, %three : i32
      %added = arith.addi %weighed, %read : i32
      scf.yield %t, %added : !state, i32
    }
    %out = cute.add_offset %x, %lane : !cell, i32 -> !cute.ptr<i32, gmem>
    cute.ptr.store %sum, %out : i32, !cute.ptr<i32, gmem>
  }
  func.return
}
""")


def emulated(text: str, array: np.ndarray, order: tuple[str, int]) -> Emulation:
    kernel = compile(text, passes=PIPELINES["cute-to-ptx"].passes)
    return kernel.emulate(array, order=order[0], seed=order[1])


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("depth", [1, 2])
def test_groups_take_turns(depth: int, order: tuple[str, int]) -> None:
    """Each turn depends on the one before: any other order gives another number.

    Stages are sequences of their own: groups take turns at each of them.
    """
    expected = [5] * depth
    for turn in range(7):
        for group in range(3):
            expected[turn % depth] = expected[turn % depth] * 3 + group
    text = TURNS.substitute(DEPTH=depth, INTERFACE=INTERFACE)
    found = emulated(text, np.full(depth, 5, np.int32), order)
    assert [str(finding) for finding in found.findings] == []
    np.testing.assert_array_equal(found.arrays[0], np.array(expected).astype(np.int32))


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("stages", [1, 3])
def test_threads_hand_over(stages: int, order: tuple[str, int]) -> None:
    """Two warps read what one has written, stage after stage, in its order."""
    text = REGION_BOUNDARY.substitute(STAGES=stages, INTERFACE=INTERFACE)
    found = emulated(text, np.full(96, -1, np.int32), order)
    assert [str(finding) for finding in found.findings] == []
    lanes, sums = np.arange(32), np.zeros(32, np.int64)
    for n in range(5):
        sums = sums * 32 + n * 32 + lanes
    expected = np.stack([np.full(32, -1), sums, sums]).astype(np.int32)
    np.testing.assert_array_equal(found.arrays[0].reshape(3, 32), expected)


def copies(stages: int, order: tuple[str, int], **words: str) -> tuple[Emulation, np.ndarray]:
    """A run, and what it has to give."""
    facts = {"KIND": "cp_async", "WHO": "", "INTERFACE": INTERFACE, "STAGES": str(stages)} | words
    cells = np.random.default_rng(stages).integers(-1000, 1000, (5, 64, 4), np.int32)
    sums = np.zeros(32, np.int32)
    for row in cells:
        sums = 3 * sums + row[:31:-1, 0]
    text = COPIES.substitute(facts).replace("smem_bytes = 1024", "smem_bytes = 4096")
    return emulated(text, cells.flatten(), order), sums


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("stages", [1, 3])
def test_threads_copy_asynchronously(stages: int, order: tuple[str, int]) -> None:
    """A stage is full when the copies of all threads of two warps are there."""
    found, sums = copies(stages, order)
    assert [str(finding) for finding in found.findings] == []
    np.testing.assert_array_equal(found.arrays[0][:32], sums)


def test_arrivals_of_threads_do_not_cover_their_copies() -> None:
    """In a pipeline of threads a stage is told to be full before the copies are there."""
    found, sums = copies(3, ("lazy", 0), KIND="async", WHO="if %elected")
    assert found.findings or not np.array_equal(found.arrays[0][:32], sums)


def test_without_a_release_nobody_goes_on() -> None:
    text = REGION_BOUNDARY.substitute(STAGES=1, INTERFACE=INTERFACE)
    lines = [line for line in text.splitlines() if "consumer_release" not in line]
    found = emulated("\n".join(lines), np.zeros(96, np.int32), ("eager", 0))
    assert not found.finished
    assert any("deadlock" in str(finding) for finding in found.findings)


def test_a_context_without_the_dialects_is_set_up_wrongly() -> None:
    ctx, module = Context(), ModuleOp([])
    with pytest.raises(MissingDialectError, match="cute_nvgpu, scf, which is not registered"):
        ConvertPipelineToNvgpu().apply(ctx, module)
