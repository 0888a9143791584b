!piece = tensor<${ROWS}x${PIECE}x${C}>
!part = tensor<${ROWS}x${PIECE}xf32>
!staging = !nv_tileas.tiled_view<${ROWS}x${PIECE}x${C}, smem>
#sts = #nv_tileas<atom unknown_copy>
#store_c = #nv_tileas<atom tma_store_2d<box = [${PIECE}, ${ROWS}]>>
