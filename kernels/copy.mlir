// B = A through a pipeline of two stages, by one agent: while a tile is stored, the next is loaded.
// A block copies ${ROWS} rows, tile after tile; TMA cuts what is out of bounds.

!matrix = memref<?x?x${ELEMENT}>
!tile = tensor<${ROWS}x${COLUMNS}x${ELEMENT}>
!slots = !nv_tileas.tiled_view<2x${ROWS}x${COLUMNS}x${ELEMENT}, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!tile, 2, smem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.token
!barrier = !nv_tileas.mem_token
#load = #nv_tileas<atom tma_load_2d<box = [${COLUMNS}, ${ROWS}]>>
#store = #nv_tileas<atom tma_store_2d<box = [${COLUMNS}, ${ROWS}]>>

func.func @copy(%a: !matrix, %b: !matrix)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant ${ROWS} : index
  %columns = arith.constant ${COLUMNS} : index
  %row = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %width = memref.dim %a, %one : !matrix
  %tiles = arith.ceildivui %width, %columns : index
  %last = arith.subi %tiles, %one : index

  %of_a = nv_tileas.make_tiled_tma_desc %a box[%columns, %rows] {atom = #load} : !matrix -> !desc
  %of_b = nv_tileas.make_tiled_tma_desc %b box[%columns, %rows] {atom = #store} : !matrix -> !desc
  %barrier = nv_tileas.create_none : !barrier
  %buffer = nv_tileas.alloc_tensor : tensor<2x${ROWS}x${COLUMNS}x${ELEMENT}, #nv_tileas<space smem>>
  %slots = nv_tileas.view %buffer : tensor<2x${ROWS}x${COLUMNS}x${ELEMENT}, #nv_tileas<space smem>> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter

  // The first tile.
  %p1 = nv_tileas.async.pipeline.produce_one %p0, %i0 {producer_types = [!tile]} : (!prod, !iter) -> !prod {
  ^bb0(%stage: !tile):
    %loaded = nv_tileas.async.tiled_tma_load %of_a, %stage[%row, %zero] barrier %barrier {atom = #load, tx_count = ${BYTES} : i32} : !desc, !tile, index, index, !barrier -> !token
    nv_tileas.async.pipeline.yield %stage : !tile
  }
  %i1 = nv_tileas.async.pipeline.inc_iter %i0 : !iter -> !iter

  // Load tile k, store tile k - 1.
  %pn, %in, %cn, %jn = scf.for %k = %one to %tiles step %one iter_args(%p = %p1, %i = %i1, %c = %c0, %j = %j0) -> (!prod, !iter, !cons, !iter) {
    %before = arith.subi %k, %one : index
    %p2 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!tile]} : (!prod, !iter) -> !prod {
    ^bb0(%stage: !tile):
      %loaded = nv_tileas.async.tiled_tma_load %of_a, %stage[%row, %k] barrier %barrier {atom = #load, tx_count = ${BYTES} : i32} : !desc, !tile, index, index, !barrier -> !token
      nv_tileas.async.pipeline.yield %stage : !tile
    }
    %i2 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
    %c2 = nv_tileas.async.pipeline.consume_one %c, %j {consumer_idx = 0 : i32, consumer_types = [!tile]} : (!cons, !iter) -> !cons {
    ^bb0(%stage: !tile):
      %stored = nv_tileas.async.tiled_tma_store %of_b, %stage[%row, %before] {atom = #store} : !desc, !tile, index, index -> !token
      nv_tileas.async.wait %stored : !token
      nv_tileas.async.pipeline.yield %stage : !tile
    }
    %j2 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
    scf.yield %p2, %i2, %c2, %j2 : !prod, !iter, !cons, !iter
  }

  // The last tile.
  %c1 = nv_tileas.async.pipeline.consume_one %cn, %jn {consumer_idx = 0 : i32, consumer_types = [!tile]} : (!cons, !iter) -> !cons {
  ^bb0(%stage: !tile):
    %stored = nv_tileas.async.tiled_tma_store %of_b, %stage[%row, %last] {atom = #store} : !desc, !tile, index, index -> !token
    nv_tileas.async.wait %stored : !token
    nv_tileas.async.pipeline.yield %stage : !tile
  }
  func.return
}
