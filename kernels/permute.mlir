// Rows of A, by their numbers in G, doubled, become rows of B, by their numbers in S: gather4, scatter4.
// A block moves ${ROWS} rows, ${COLUMNS} columns at a time; rows that there are not are zeros, or dropped.

!matrix = memref<?x?x${ELEMENT}>
!numbers = memref<?xi32>
!few = tensor<${ROWS}xi32>
!part = !nv_tileas.tiled_view<${ROWS}xi32, gmem>
!tile = tensor<${ROWS}x${COLUMNS}x${ELEMENT}>
!shared = tensor<${ROWS}x${COLUMNS}x${ELEMENT}, #nv_tileas<space smem>>
!slots = !nv_tileas.tiled_view<2x${ROWS}x${COLUMNS}x${ELEMENT}, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!tile, 2, smem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.token
!barrier = !nv_tileas.mem_token
#ldg = #nv_tileas<atom ldg>
#copy = #nv_tileas<atom unknown_copy>
#gather = #nv_tileas<atom tma_load_2d<box = [${COLUMNS}, 1], mode = gather4>>
#scatter = #nv_tileas<atom tma_store_2d<box = [${COLUMNS}, 1], mode = scatter4>>

func.func @permute(%a: !matrix, %b: !matrix, %g: !numbers, %s: !numbers)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %columns = arith.constant ${COLUMNS} : index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %width = memref.dim %a, %one : !matrix
  %tiles = arith.ceildivui %width, %columns : index
  %from = nv_tileas.make_tiled_tma_desc %a box[%columns, %one] {atom = #gather} : !matrix -> !desc
  %to = nv_tileas.make_tiled_tma_desc %b box[%columns, %one] {atom = #scatter} : !matrix -> !desc
  %of_g = nv_tileas.view %g : !numbers -> !part
  %of_s = nv_tileas.view %s : !numbers -> !part
  %barrier = nv_tileas.create_none : !barrier
  %staging = nv_tileas.alloc_tensor : !shared
  %buffer = nv_tileas.alloc_tensor : tensor<2x${ROWS}x${COLUMNS}x${ELEMENT}, #nv_tileas<space smem>>
  %slots = nv_tileas.view %buffer : tensor<2x${ROWS}x${COLUMNS}x${ELEMENT}, #nv_tileas<space smem>> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons

  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
    %pn, %in = scf.for %k = %zero to %tiles step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
      %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!tile]} : (!prod, !iter) -> !prod {
      ^bb0(%stage: !tile):
        %which = nv_tileas.tiled_load %of_g[%block] {atom = #ldg} : !part -> !few
        %loaded = nv_tileas.async.gather_tma_load %from, %stage[%k] rows %which barrier %barrier {atom = #gather, tx_count = ${BYTES} : i32} : !desc, !tile, index, !few, !barrier -> !token
        nv_tileas.async.pipeline.yield %stage : !tile
      }
      %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
      scf.yield %p1, %i1 : !prod, !iter
    }
  }, agent 1 {
    %j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
    %cn, %jn = scf.for %k = %zero to %tiles step %one iter_args(%c = %c0, %j = %j0) -> (!cons, !iter) {
      %c1, %doubled = nv_tileas.async.pipeline.consume_one %c, %j {consumer_idx = 0 : i32, consumer_types = [!tile]} : (!cons, !iter) -> (!cons, !tile) {
      ^bb0(%stage: !tile):
        %sum = arith.addf %stage, %stage : !tile
        nv_tileas.async.pipeline.yield %sum : !tile
      }
      %where = nv_tileas.tiled_load %of_s[%block] {atom = #ldg} : !part -> !few
      nv_tileas.tiled_store %doubled, %staging[%zero, %zero] {atom = #copy} : !tile, !shared
      %stored = nv_tileas.async.scatter_tma_store %to, %staging[%k] rows %where {atom = #scatter} : !desc, !shared, index, !few -> !token
      nv_tileas.async.wait %stored : !token
      %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
      scf.yield %c1, %j1 : !cons, !iter
    }
  }
  func.return
}
