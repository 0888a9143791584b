// Y = softmax of each row of X: a block for ${ROWS} rows, in a tile of ${COLUMNS} columns.
// What is beyond a row reads as -inf, whose exponential is 0.

!matrix = memref<?x?x${ELEMENT}>
!window = !nv_tileas.tiled_view<${ROWS}x${COLUMNS}x${ELEMENT}, gmem>
!read = tensor<${ROWS}x${COLUMNS}x${ELEMENT}>
!row = tensor<${ROWS}x${COLUMNS}xf32>
!column = tensor<${ROWS}xf32>
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>
#max = #nv_tileas<atom reduce_max>
#add = #nv_tileas<atom reduce_add>

func.func @softmax(%x: !matrix, %y: !matrix)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %of_x = nv_tileas.view %x : !matrix -> !window
  %of_y = nv_tileas.view %y : !matrix -> !window
  %${LOADED} = nv_tileas.tiled_load %of_x[%block, %zero] {atom = #ldg, in_bounds = array<i1: false, false>, padding_value = #nv_tileas<padding neg_inf>} : !window -> !read
  $WIDEN

  %max = nv_tileas.reduce %row {axis = 1 : i32, atom = #max} : !row -> !column {
  ^bb0(%s: f32, %t: f32):
    %m = arith.maximumf %s, %t : f32
    nv_tileas.yield %m : f32
  }
  %max_row = nv_tileas.generate : !row {
  ^bb0(%i: index, %j: index):
    %value = tensor.extract %max[%i] : !column
    nv_tileas.yield %value : f32
  }
  %shifted = arith.subf %row, %max_row : !row
  %powers = math.exp %shifted : !row

  %sum = nv_tileas.reduce %powers {axis = 1 : i32, atom = #add} : !row -> !column {
  ^bb0(%s: f32, %t: f32):
    %m = arith.addf %s, %t : f32
    nv_tileas.yield %m : f32
  }
  %sum_row = nv_tileas.generate : !row {
  ^bb0(%i: index, %j: index):
    %value = tensor.extract %sum[%i] : !column
    nv_tileas.yield %value : f32
  }
  %${DIVIDED} = arith.divf %powers, %sum_row : !row

  $NARROW
  nv_tileas.tiled_store %result, %of_y[%block, %zero] {atom = #stg} : !read, !window
  func.return
}
