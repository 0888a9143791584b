"""The scheduler of `clusterlaunchcontrol` on the emulator: blocks take over others' tiles."""

from __future__ import annotations

from string import Template

import numpy as np
import pytest

from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.pipelines import PIPELINES

TILES = (3, 4, 2)

# Warp 0 asks for the next tile while both warps work on this one; both read the answer.
KERNEL = Template("""
!cell = !cute.ptr<i32, gmem>
!dp = !cutlass.scheduler_params<dp, $RASTER>
!params = !cutlass.scheduler_params<sm100, $RASTER>
!work = !cutlass.work_tile_info
!pipe = !cutlass.pipeline<tma_async, $STAGES>
!state = !cutlass.pipeline_state<$STAGES>
!asks = !cutlass.participants<[0]>
!works = !cutlass.participants<[0, 1]>
func.func @visits(%cells: !cell, %m: i32, %n: i32, %l: i32) attributes {
    cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, tileas.smem_bytes = 1024 : i32,
    tileas.parameters = ["ptr 0", "scalar 1", "scalar 2", "scalar 3"],
    tileas.tensor_maps = [], tileas.smem_map = ""} {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %eight = arith.constant 8 : i32
  %warp = cute_nvgpu.arch.warp_idx
  %lane = cute_nvgpu.arch.lane_idx
  %own = cute_nvgpu.arch.block_idx "x"
  %first = arith.cmpi eq, %lane, %c0 : i32
  %asking = arith.cmpi eq, %warp, %c0 : i32
  %asks = arith.andi %asking, %first : i1
  %bars = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i64, smem>
  %room = cute_nvgpu.arch.get_dyn_smem 256 -> !cute.ptr<i32, smem, align<16>>
  %pipe = cutlass.pipeline.create %bars : !cute.ptr<i64, smem> -> !pipe
  %a = cutlass.pipeline.make_participants : !asks
  %b = cutlass.pipeline.make_participants : !works
  cutlass.pipeline.init %pipe, %a, %b {numStages = $STAGES : i32, numProducers = 1 : i32,
    numConsumers = 2 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32}
    : !pipe, !asks, !works
  %tiles = cutlass.tile_scheduler.create_dp_params %m, %n, %l : !dp
  %p = cutlass.tile_scheduler.create_SM100_scheduler %tiles, %room
    : !dp, !cute.ptr<i32, smem, align<16>> -> !params
  %s0 = cutlass.pipeline.state.create "producer" : !state
  %r0 = cutlass.pipeline.state.create "consumer" : !state
  %w0 = cutlass.tile_scheduler.initial_work_tile_info %p : !params
  %wn, %sn, %rn = scf.while (%w = %w0, %s = %s0, %r = %r0)
      : (!work, !state, !state) -> (!work, !state, !state) {
    %valid = cutlass.tile_scheduler.work_tile_info_get_value %p, %w["is_valid"] : !params -> i1
    scf.condition(%valid) %w, %s, %r : !work, !state, !state
  } do {
  ^bb0(%w: !work, %s: !state, %r: !state):
    scf.if %asks {
      cutlass.pipeline.producer_acquire %pipe, %s bytes 16 : !pipe, !state
      %bar = cutlass.pipeline.get_producer_barrier %pipe, %s : !pipe, !state
      %stage = cutlass.pipeline.state.get_index %s : !state
      cutlass.tile_scheduler.query_next_work %p, %stage, %bar : !params
    }
    %tm, %tn, %tl = cutlass.tile_scheduler.work_tile_info_to_cta_coord %p, %w : !params
    %x = arith.muli %tl, %n : i32
    %y = arith.addi %x, %tn : i32
    %z = arith.muli %y, %m : i32
    %tile = arith.addi %z, %tm : i32
    %two = arith.addi %tile, %tile : i32
    %at = arith.addi %two, %warp : i32
    %cell = cute.add_offset %cells, %at : !cell, i32 -> !cell
    %mark = arith.addi %own, %one : i32
    scf.if %first {
      cute.ptr.store %mark, %cell : i32, !cell
    }
    cutlass.pipeline.consumer_wait %pipe, %r : !pipe, !state
    %asked = cutlass.pipeline.state.get_index %r : !state
    %next = cutlass.tile_scheduler.fetch_next_work %p, %w at %asked : !params
    cutlass.pipeline.consumer_release %pipe, %r if %first : !pipe, !state
    %s1 = cutlass.pipeline.state.increment %s : !state -> !state
    %r1 = cutlass.pipeline.state.increment %r : !state -> !state
    scf.yield %next, %s1, %r1 : !work, !state, !state
  }
  func.return
}
""")


def kernel(raster: str, stages: int) -> CompiledKernel:
    """A kernel that writes into the cells of a tile which block worked on it."""
    text = KERNEL.substitute(RASTER=raster, STAGES=stages)
    return compile(text, target="sm_100a", passes=PIPELINES["cute-to-ptx"].passes)


@pytest.mark.parametrize("order", ["eager", "lazy", "random"])
@pytest.mark.parametrize(("raster", "stages"), [("m", 1), ("n", 2)])
def test_blocks_take_over_tiles_of_blocks_that_have_not_started(
    raster: str, stages: int, order: Order
) -> None:
    m, n, l = TILES
    made = kernel(raster, stages)
    cells = np.zeros((l, n, m, 2), np.int32)
    found = made.emulate(cells, m, n, l, grid=(6, 4), order=order, seed=5)
    assert [str(finding) for finding in found.findings] == []
    done = found.arrays[0].reshape(-1, 2)
    assert (done > 0).all(), "every tile is worked on"
    assert (done[:, 0] == done[:, 1]).all(), "both warps read the same answer"
    owners = len(np.unique(done))
    assert owners == 1 if order != "random" else owners > 1, "requests are refused at random only"


def test_ptxas_takes_it() -> None:
    made = kernel("m", 2)
    assert "query_cancel.get_first_ctaid.v4" in made.ptx
    assert made.assemble().spills == 0
