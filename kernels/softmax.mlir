// Y = softmax of each row of X: a block for each row, in a tile of ${COLUMNS} columns.
// The maximum and the sum reach every element through shared memory.  What is beyond the row
// reads as -inf, whose exponential is 0.

!matrix = memref<?x?x${ELEMENT}>
!window = !nv_tileas.tiled_view<1x${COLUMNS}x${ELEMENT}, gmem>
!read = tensor<1x${COLUMNS}x${ELEMENT}>
!row = tensor<1x${COLUMNS}xf32>
!one = tensor<1xf32>
!memory = tensor<1xf32, #nv_tileas<space smem>>
!cell = !nv_tileas.tiled_view<1xf32, smem>
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>
#copy = #nv_tileas<atom unknown_copy>
#max = #nv_tileas<atom reduce_max>
#add = #nv_tileas<atom reduce_add>

func.func @softmax(%x: !matrix, %y: !matrix)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %of_x = nv_tileas.view %x[%block, %zero] : !matrix -> !window
  %of_y = nv_tileas.view %y[%block, %zero] : !matrix -> !window
  %max_memory = nv_tileas.alloc_tensor : !memory
  %max_cell = nv_tileas.view %max_memory : !memory -> !cell
  %sum_memory = nv_tileas.alloc_tensor : !memory
  %sum_cell = nv_tileas.view %sum_memory : !memory -> !cell
  %${LOADED} = nv_tileas.tiled_load %of_x[%zero, %zero] {atom = #ldg, in_bounds = array<i1: false, false>, padding_value = #nv_tileas<padding neg_inf>} : !window -> !read
  $WIDEN

  %max = nv_tileas.reduce %row {axis = 1 : i32, atom = #max} : !row -> !one {
  ^bb0(%s: f32, %t: f32):
    %m = arith.maximumf %s, %t : f32
    nv_tileas.yield %m : f32
  }
  nv_tileas.tiled_store %max, %max_cell[%zero] {atom = #copy} : !one, !cell
  %max_value = nv_tileas.load %max_cell[%zero] {atom = #copy} : !cell -> f32
  %max_row = nv_tileas.generate : !row {
  ^bb0(%i: index, %j: index):
    nv_tileas.yield %max_value : f32
  }
  %shifted = arith.subf %row, %max_row : !row
  %powers = math.exp %shifted : !row

  %sum = nv_tileas.reduce %powers {axis = 1 : i32, atom = #add} : !row -> !one {
  ^bb0(%s: f32, %t: f32):
    %m = arith.addf %s, %t : f32
    nv_tileas.yield %m : f32
  }
  nv_tileas.tiled_store %sum, %sum_cell[%zero] {atom = #copy} : !one, !cell
  %sum_value = nv_tileas.load %sum_cell[%zero] {atom = #copy} : !cell -> f32
  %sum_row = nv_tileas.generate : !row {
  ^bb0(%i: index, %j: index):
    nv_tileas.yield %sum_value : f32
  }
  %${DIVIDED} = arith.divf %powers, %sum_row : !row

  $NARROW
  nv_tileas.tiled_store %result, %of_y[%zero, %zero] {atom = #stg} : !read, !window
  func.return
}
