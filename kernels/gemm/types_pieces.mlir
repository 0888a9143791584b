!piece = tensor<${ROWS}x${PIECE}x${C}>
!part = tensor<${ROWS}x${PIECE}xf32>
!window = !nv_tileas.tiled_view<${ROWS}x${PIECE}x${C}, gmem>
#stg = #nv_tileas<atom stg>
