!out = tensor<${ROWS}x${BN}x${C}>
!window = !nv_tileas.tiled_view<${ROWS}x${BN}x${C}, gmem>
#stg = #nv_tileas<atom stg>
