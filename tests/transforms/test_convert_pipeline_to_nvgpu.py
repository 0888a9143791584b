"""`convert-pipeline-to-nvgpu` on the emulator: threads that hand over and take turns."""

from __future__ import annotations

from string import Template

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.required_dialects import MissingDialectError
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.runtime.emulation import Emulation
from tileas_xdsl.transforms.convert_pipeline_to_nvgpu import ConvertPipelineToNvgpu

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

HANDOVER = Template("""
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
    text = HANDOVER.substitute(STAGES=stages, INTERFACE=INTERFACE)
    found = emulated(text, np.full(96, -1, np.int32), order)
    assert [str(finding) for finding in found.findings] == []
    lanes, sums = np.arange(32), np.zeros(32, np.int64)
    for n in range(5):
        sums = sums * 32 + n * 32 + lanes
    expected = np.stack([np.full(32, -1), sums, sums]).astype(np.int32)
    np.testing.assert_array_equal(found.arrays[0].reshape(3, 32), expected)


def test_without_a_release_nobody_goes_on() -> None:
    text = HANDOVER.substitute(STAGES=1, INTERFACE=INTERFACE)
    lines = [line for line in text.splitlines() if "consumer_release" not in line]
    found = emulated("\n".join(lines), np.zeros(96, np.int32), ("eager", 0))
    assert not found.finished
    assert any("deadlock" in str(finding) for finding in found.findings)


def test_a_context_without_the_dialects_is_set_up_wrongly() -> None:
    ctx, module = Context(), ModuleOp([])
    with pytest.raises(MissingDialectError, match="cute_nvgpu, scf, which is not registered"):
        ConvertPipelineToNvgpu().apply(ctx, module)
