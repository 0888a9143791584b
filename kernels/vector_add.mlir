// C = A + B: a tile of ${TILE} elements for each block, the last of them ragged.

!tile = tensor<${TILE}x${ELEMENT}>
!window = !nv_tileas.tiled_view<${TILE}x${ELEMENT}, gmem>
!vector = memref<?x${ELEMENT}>
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>

func.func @vector_add(%a: !vector, %b: !vector, %c: !vector)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %size = arith.constant ${TILE} : index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.muli %block, %size : index
  %of_a = nv_tileas.view %a[%first] : !vector -> !window
  %of_b = nv_tileas.view %b[%first] : !vector -> !window
  %of_c = nv_tileas.view %c[%first] : !vector -> !window
  %x = nv_tileas.tiled_load %of_a[%zero] {atom = #ldg, in_bounds = array<i1: false>, padding_value = ${ZERO} : ${ELEMENT}} : !window -> !tile
  %y = nv_tileas.tiled_load %of_b[%zero] {atom = #ldg, in_bounds = array<i1: false>, padding_value = ${ZERO} : ${ELEMENT}} : !window -> !tile
  %sum = ${ADD} %x, %y : !tile
  nv_tileas.tiled_store %sum, %of_c[%zero] {atom = #stg} : !tile, !window
  func.return
}
