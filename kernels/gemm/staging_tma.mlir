%memory = nv_tileas.alloc_tensor : tensor<${ROWS}x${PIECE}x${C}, #nv_tileas<space smem>>
%staging = nv_tileas.view %memory : tensor<${ROWS}x${PIECE}x${C}, #nv_tileas<space smem>> -> !staging
