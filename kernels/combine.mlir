// All blocks reduce their tiles of A into the tiles of B, which is as high as a tile: TMA combines by ${MODE}.

!matrix = memref<?x?x${ELEMENT}>
!tile = tensor<${ROWS}x${COLUMNS}x${ELEMENT}>
!window = !nv_tileas.tiled_view<${ROWS}x${COLUMNS}x${ELEMENT}, gmem>
!shared = tensor<${ROWS}x${COLUMNS}x${ELEMENT}, #nv_tileas<space smem>>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.token
#ldg = #nv_tileas<atom ldg>
#copy = #nv_tileas<atom unknown_copy>
#combine = #nv_tileas<atom tma_redg_2d<box = [${COLUMNS}, ${ROWS}], op = ${OP}>>

func.func @combine(%a: !matrix, %b: !matrix)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %rows = arith.constant ${ROWS} : index
  %columns = arith.constant ${COLUMNS} : index
  %x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %y = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %to = nv_tileas.make_tiled_tma_desc %b box[%columns, %rows] {atom = #combine} : !matrix -> !desc
  %of_a = nv_tileas.view %a : !matrix -> !window
  %buffer = nv_tileas.alloc_tensor : !shared
  %mine = nv_tileas.tiled_load %of_a[%x, %y] {atom = #ldg} : !window -> !tile
  nv_tileas.tiled_store %mine, %buffer[%zero, %zero] {atom = #copy} : !tile, !shared
  %done = nv_tileas.async.tiled_atomic_rmw ${MODE} %to, %buffer[%zero, %y] {atom = #combine} : !desc, !shared, index, index -> !token
  nv_tileas.async.wait %done : !token
  func.return
}
