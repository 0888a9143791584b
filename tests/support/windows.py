"""Kernels that copy through descriptors of windows: a tile of 8 x 32 for each block."""

from __future__ import annotations

from tileas_xdsl.compiler import compile

ARGUMENTS = "%a: !matrix, %b: !matrix"


def window_kernel(
    body: str, of_a: str = "%wa", of_b: str = "%b", arguments: str = ARGUMENTS, matrix: str = "?x?"
) -> str:
    """A kernel that copies the tile (row of the block, 0) of `of_a` to that of `of_b`.

    `body` makes what they are called; `!window` is a tile of a view.
    """
    types = {name: "!matrix" if name in ("%a", "%b") else "!window" for name in (of_a, of_b)}
    return f"""
!matrix = memref<{matrix}xf16>
!window = !nv_tileas.tiled_view<8x32xf16, gmem>
!tile = tensor<8x32xf16>
!slots = !nv_tileas.tiled_view<2x8x32xf16, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!tile, 2, smem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d<box = [32, 8]>>
#store = #nv_tileas<atom tma_store_2d<box = [32, 8]>>
func.func @window({arguments})
    attributes {{nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>}} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %block = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
{body}
  %of_a = nv_tileas.make_tiled_tma_desc {of_a} box[%c32, %c8] {{atom = #load}} : {types[of_a]} -> !desc
  %of_b = nv_tileas.make_tiled_tma_desc {of_b} box[%c32, %c8] {{atom = #store}} : {types[of_b]} -> !desc
  %barrier = nv_tileas.create_none : !nv_tileas.mem_token
  %buffer = nv_tileas.alloc_tensor : tensor<2x8x32xf16, #nv_tileas<space smem>>
  %slots = nv_tileas.view %buffer : tensor<2x8x32xf16, #nv_tileas<space smem>> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {{numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}} : !slots -> !prod, !cons
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
  %p1 = nv_tileas.async.pipeline.produce_one %p0, %i0 {{producer_types = [!tile]}} : (!prod, !iter) -> !prod {{
  ^bb0(%stage: !tile):
    %loaded = nv_tileas.async.tiled_tma_load %of_a, %stage[%row_a, %zero] barrier %barrier {{atom = #load, tx_count = 512 : i32}} : !desc, !tile, index, index, !nv_tileas.mem_token -> !nv_tileas.token
    nv_tileas.async.pipeline.yield %stage : !tile
  }}
  %c1 = nv_tileas.async.pipeline.consume_one %c0, %j0 {{consumer_idx = 0 : i32, consumer_types = [!tile]}} : (!cons, !iter) -> !cons {{
  ^bb0(%stage: !tile):
    %stored = nv_tileas.async.tiled_tma_store %of_b, %stage[%row_b, %zero] {{atom = #store}} : !desc, !tile, index, index -> !nv_tileas.token
    nv_tileas.async.wait %stored : !nv_tileas.token
    nv_tileas.async.pipeline.yield %stage : !tile
  }}
  func.return
}}
"""


BY_BLOCK = "  %row_a = arith.addi %block, %zero : index\n  %row_b = arith.addi %block, %zero : index\n"
"""Each block copies the tile of its number."""


def compiled_with_host_code(text: str, target: str = "sm_90a"):
    """The kernel and its host code."""
    return compile(text, target, host_code=True)
