!out = tensor<${HALF}x${BN}x${C}>
!window = !nv_tileas.tiled_view<${HALF}x${BN}x${C}, gmem>
#stg = #nv_tileas<atom stg>
