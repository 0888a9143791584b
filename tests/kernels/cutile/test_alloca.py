"""Memory of a block: kernels of Tile IR store tiles there and load them in another order."""

from __future__ import annotations

import numpy as np

import tileas_xdsl as tileas

REVERSED = """
cuda_tile.module @m {
  entry @reversed(%from: tile<ptr<f32>>, %to: tile<ptr<f32>>) {
    %first = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %size = constant <i32: 256> : tile<i32>
    %last = constant <i32: 255> : tile<256xi32>
    %i = iota : tile<256xi32>
    %j = xori %i, %last : tile<256xi32>
    %kept = alloca num_elem = 1, alignment = 4 : tile<ptr<f32>>
    %block, %y, %z = get_tile_block_id : tile<i32>
    %two_blocks = muli %block, %two : tile<i32>
    %begin = make_token : token
    for %n in (%first to %two, step %one) : tile<i32> {
      %row = addi %two_blocks, %n : tile<i32>
      %at = muli %row, %size : tile<i32>
      %from_row = offset %from, %at : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %to_row = offset %to, %at : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %memory = alloca num_elem = 256, alignment = 512 global : tile<ptr<f32>>
      %0 = reshape %from_row : tile<ptr<f32>> -> tile<1xptr<f32>>
      %1 = broadcast %0 : tile<1xptr<f32>> -> tile<256xptr<f32>>
      %2 = offset %1, %i : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
      %3 = reshape %memory : tile<ptr<f32>> -> tile<1xptr<f32>>
      %4 = broadcast %3 : tile<1xptr<f32>> -> tile<256xptr<f32>>
      %5 = offset %4, %i : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
      %6 = offset %4, %j : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
      %7 = reshape %to_row : tile<ptr<f32>> -> tile<1xptr<f32>>
      %8 = broadcast %7 : tile<1xptr<f32>> -> tile<256xptr<f32>>
      %9 = offset %8, %i : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
      %x, %read = load_ptr_tko weak %2 : tile<256xptr<f32>> -> tile<256xf32>, token
      %put = store_ptr_tko weak %5, %x token=%read : tile<256xptr<f32>>, tile<256xf32> -> token
      %back, %got = load_ptr_tko weak %6 token=%put : tile<256xptr<f32>> -> tile<256xf32>, token
      %done = store_ptr_tko weak %9, %back token=%got : tile<256xptr<f32>>, tile<256xf32> -> token
      continue
    }
    return
  }
}
"""


def test_memory_of_blocks_is_their_own() -> None:
    """Two blocks, each of which uses its memory in two iterations, behind another allocation."""
    rows = np.random.default_rng(0).standard_normal((4, 256), np.float32)
    out = np.zeros_like(rows)
    kernel = tileas.compile(REVERSED)
    assert kernel.abi.arena_slots == 1 + (1024 + 512 - 128) // 128
    assert kernel.evaluate(rows, out, grid=2).arrays[1].tobytes() == rows[:, ::-1].tobytes()
    assert kernel.simulate(rows, out, grid=2).arrays[1].tobytes() == rows[:, ::-1].tobytes()
    for order in ("eager", "lazy", "random"):
        found = kernel.emulate(rows, out, grid=2, order=order)
        assert [str(finding) for finding in found.findings] == []
        assert found.arrays[1].tobytes() == rows[:, ::-1].tobytes()
