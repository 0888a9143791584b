// Each block copies one tile of ${ROWS} x 32 from a window of A to a window of B.  Where the windows
// begin is what the block computes, and so it makes their TMA descriptors, unless a host knows it.

!matrix = memref<${SHAPE}x${ELEMENT}>
!window = !nv_tileas.tiled_view<${ROWS}x32x${ELEMENT}, gmem>
!tile = tensor<${ROWS}x32x${ELEMENT}>
!slots = !nv_tileas.tiled_view<2x${ROWS}x32x${ELEMENT}, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!tile, 2, smem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d<box = [32, ${ROWS}]>>
#store = #nv_tileas<atom tma_store_2d<box = [32, ${ROWS}]>>
func.func @windows(${ARGUMENTS})
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant ${ROWS} : index
  %c32 = arith.constant 32 : index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
$BODY
  %of_a = nv_tileas.make_tiled_tma_desc ${OF_A} box[%c32, %rows] {atom = #load} : ${TYPE_A} -> !desc
  %of_b = nv_tileas.make_tiled_tma_desc ${OF_B} box[%c32, %rows] {atom = #store} : ${TYPE_B} -> !desc
  %barrier = nv_tileas.create_none : !nv_tileas.mem_token
  %buffer = nv_tileas.alloc_tensor : tensor<2x${ROWS}x32x${ELEMENT}, #nv_tileas<space smem>>
  %slots = nv_tileas.view %buffer : tensor<2x${ROWS}x32x${ELEMENT}, #nv_tileas<space smem>> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
  %p1 = nv_tileas.async.pipeline.produce_one %p0, %i0 {producer_types = [!tile]} : (!prod, !iter) -> !prod {
  ^bb0(%stage: !tile):
    %loaded = nv_tileas.async.tiled_tma_load %of_a, %stage[%row_a, %zero] barrier %barrier {atom = #load, tx_count = ${BYTES} : i32} : !desc, !tile, index, index, !nv_tileas.mem_token -> !nv_tileas.token
    nv_tileas.async.pipeline.yield %stage : !tile
  }
  %c1 = nv_tileas.async.pipeline.consume_one %c0, %j0 {consumer_idx = 0 : i32, consumer_types = [!tile]} : (!cons, !iter) -> !cons {
  ^bb0(%stage: !tile):
    %stored = nv_tileas.async.tiled_tma_store %of_b, %stage[%row_b, %zero] {atom = #store} : !desc, !tile, index, index -> !nv_tileas.token
    nv_tileas.async.wait %stored : !nv_tileas.token
    nv_tileas.async.pipeline.yield %stage : !tile
  }
  func.return
}
