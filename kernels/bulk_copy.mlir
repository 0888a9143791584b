// B = A by plain tiled loads and stores that TMA shall do: no pipeline, a tile after the other.
// A block copies ${ROWS} rows; `lower-tma-load-store-to-async` makes descriptors, barriers, waits.

!matrix = memref<?x?x${ELEMENT}>
!window = !nv_tileas.tiled_view<${ROWS}x${COLUMNS}x${ELEMENT}, gmem>
!tile = tensor<${ROWS}x${COLUMNS}x${ELEMENT}>
#load = #nv_tileas<atom tma_load_2d>
#store = #nv_tileas<atom tma_store_2d>

func.func @bulk_copy(%a: !matrix, %b: !matrix)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %columns = arith.constant ${COLUMNS} : index
  %row = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %width = memref.dim %a, %one : !matrix
  %tiles = arith.ceildivui %width, %columns : index
  %of_a = nv_tileas.view %a : !matrix -> !window
  %of_b = nv_tileas.view %b : !matrix -> !window
  scf.for %k = %zero to %tiles step %one {
    %x = nv_tileas.tiled_load %of_a[%row, %k] {atom = #load, allow_tma = true} : !window -> !tile
    nv_tileas.tiled_store %x, %of_b[%row, %k] {atom = #store, allow_tma = true} : !tile, !window
  }
  func.return
}
