!pipe = !cutlass.pipeline<$PIPELINE, $STAGES>
!state = !cutlass.pipeline_state<$STAGES>
!barrier = !cute.ptr<i64, smem, align<8>>
!a = !cute.memref<$ELEMENT, gmem, align<16>, "(?,?):(?{div=$PER_LINE},1)">
!b = !cute.memref<$ELEMENT, gmem, align<16>, "(?,?):(?{div=$PER_LINE},1)">
!c = !cute.memref<f32, gmem, align<16>, "(?,?):(?{div=4},1)">
!where = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!lie_a = !cute.composed_layout<"S<3,4,3> o 0 o ($BM,$BK):($BK,1)">
!lie_b = !cute.composed_layout<"S<3,4,3> o 0 o ($BN,$BK):($BK,1)">
!lie_c = !cute.composed_layout<"S<3,4,3> o 0 o ($BM,32):(32,1)">
!are_a = !cute.layout<"($BM,$BK):(1@0,1@1)">
!are_b = !cute.layout<"($BN,$BK):(1@0,1@1)">
!are_c = !cute.layout<"($BM,32):(1@0,1@1)">
!parts_a = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, $ELEMENT, copy_bits = $BITS_A, tma_gbasis = <"($BK,$BM):(1@1,1@0)">, tma_format = $FORMAT>
!parts_b = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, $ELEMENT, copy_bits = $BITS_B, tma_gbasis = <"($BK,$BN):(1@1,1@0)">, tma_format = $FORMAT>
!parts_c = !cute_nvgpu.atom.non_exec_tiled_tma_store<sm_90, f32, copy_bits = $BITS_C, tma_gbasis = <"(32,$BM):(1@1,1@0)">, tma_format = F32_RN>
!load_a = !cute_nvgpu.atom.tma_load<$ELEMENT, copy_bits = $BITS_A, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"($BK,$BM):(1@1,1@0)">>
!load_b = !cute_nvgpu.atom.tma_load<$ELEMENT, copy_bits = $BITS_B, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"($BK,$BN):(1@1,1@0)">>
!store_c = !cute_nvgpu.atom.tma_store<f32, copy_bits = $BITS_C, mode = tiled, g_stride = <"()"> tma_gbasis = <"(32,$BM):(1@1,1@0)">>
