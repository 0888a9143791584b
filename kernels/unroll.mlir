// The matrix of a convolution, doubled: for each tap of a filter the pixels that it sees (im2col).
// A block takes ${PIXELS} pixels of ${COLUMNS} channels; B is taps x pixels x channels.

!image = memref<?x?x?x?x${ELEMENT}>
!tile = tensor<1x1x${PIXELS}x${COLUMNS}x${ELEMENT}>
!window = !nv_tileas.tiled_view<1x1x${PIXELS}x${COLUMNS}x${ELEMENT}, gmem>
!slots = !nv_tileas.tiled_view<2x1x1x${PIXELS}x${COLUMNS}x${ELEMENT}, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!tile, 2, smem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.token
!barrier = !nv_tileas.mem_token
#stg = #nv_tileas<atom stg>
#load = #nv_tileas<atom tma_load_4d<box = [${COLUMNS}, ${PIXELS}, 1, 1], mode = im2col>>

func.func @unroll(%a: !image, %b: !image)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %columns = arith.constant ${COLUMNS} : index
  %pixels = arith.constant ${PIXELS} : index
  %taps = arith.constant ${TAPS} : index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %channel = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index

  // The filter has so many places down and across; the first pixel of the block is one of them.
  %height = memref.dim %a, %one : !image
  %width = memref.dim %a, %two : !image
  %taller = arith.constant ${TALLER} : index
  %wider = arith.constant ${WIDER} : index
  %down = arith.addi %height, %taller : index
  %across = arith.addi %width, %wider : index
  %area = arith.muli %down, %across : index
  %first = arith.muli %block, %pixels : index
  %n = arith.divui %first, %area : index
  %inside = arith.remui %first, %area : index
  %row = arith.divui %inside, %across : index
  %column = arith.remui %inside, %across : index
  %top = arith.constant ${TOP} : index
  %left = arith.constant ${LEFT} : index
  %h = arith.addi %row, %top : index
  %w = arith.addi %column, %left : index

  %from = nv_tileas.make_tiled_tma_desc %a box[%columns, %pixels, %one, %one] {atom = #load, pixel_lower = array<i32: ${LEFT}, ${TOP}>, pixel_upper = array<i32: ${RIGHT}, ${BOTTOM}>, filter = array<i32: ${WIDE}, ${TALL}>} : !image -> !desc
  %of_b = nv_tileas.view %b : !image -> !window
  %barrier = nv_tileas.create_none : !barrier
  %buffer = nv_tileas.alloc_tensor : tensor<2x1x1x${PIXELS}x${COLUMNS}x${ELEMENT}, #nv_tileas<space smem>>
  %slots = nv_tileas.view %buffer : tensor<2x1x1x${PIXELS}x${COLUMNS}x${ELEMENT}, #nv_tileas<space smem>> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons

  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
    %pn, %in = scf.for %k = %zero to %taps step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
      %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!tile]} : (!prod, !iter) -> !prod {
      ^bb0(%stage: !tile):
        %loaded = nv_tileas.async.tiled_tma_load %from, %stage[%k, %n, %h, %w, %channel] barrier %barrier {atom = #load, tx_count = ${BYTES} : i32} : !desc, !tile, index, index, index, index, index, !barrier -> !token
        nv_tileas.async.pipeline.yield %stage : !tile
      }
      %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
      scf.yield %p1, %i1 : !prod, !iter
    }
  }, agent 1 {
    %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
    %cn, %jn = scf.for %k = %zero to %taps step %one iter_args(%c = %c0, %j = %j0) -> (!cons, !iter) {
      %c1, %doubled = nv_tileas.async.pipeline.consume_one %c, %j {consumer_idx = 0 : i32, consumer_types = [!tile]} : (!cons, !iter) -> (!cons, !tile) {
      ^bb0(%stage: !tile):
        %sum = arith.addf %stage, %stage : !tile
        nv_tileas.async.pipeline.yield %sum : !tile
      }
      nv_tileas.tiled_store %doubled, %of_b[%zero, %k, %block, %channel] {atom = #stg} : !tile, !window
      %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
      scf.yield %c1, %j1 : !cons, !iter
    }
  }
  func.return
}
