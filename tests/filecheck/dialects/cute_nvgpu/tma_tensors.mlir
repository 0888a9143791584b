// What each copy by TMA moves of tensors: parts in the order of shared memory.

// RUN: tileas-opt %s --split-input-file | filecheck %s

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!smem = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,64),2):((64,1),512)">
!gmem = !cute.coord_tensor<"(0,?{div=8})", "((8,64),?):((1@1,1@0),64@0)">
func.func @alone(%atom: !load, %s: !smem, %g: !gmem) {
  %block = cute.static : !cute.coord<"0">
  %blocks = cute.static : !cute.layout<"1:0">
  %to, %from = cute_nvgpu.atom.tma_partition(%atom, %block, %blocks, %s, %g)
  func.return
}

// CHECK:       -> (!cute.memref<f16, smem, align<1024>, S<3,4,3>, "((512,1),2):((1,0),512)">, !cute.coord_tensor<"(0,?{div=8})", "(((64,8),1),?):(((1@0,1@1),0),64@0)">)

// -----

// Two blocks load half of the rows each, and both get all of them.

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 4096, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = true tma_gbasis = <"(64,8):(1@1,1@0)">>
!smem = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,64),2):((64,1),512)">
!gmem = !cute.coord_tensor<"(0,0)", "((8,64),?):((1@1,1@0),64@0)">
func.func @shared(%atom: !load, %s: !smem, %g: !gmem) {
  %block = cute.static : !cute.coord<"1">
  %blocks = cute.static : !cute.layout<"2:1">
  %to, %from = cute_nvgpu.atom.tma_partition(%atom, %block, %blocks, %s, %g)
  func.return
}

// CHECK:       -> (!cute.memref<f16, smem, align<512>, S<3,4,3>, "((256,1),2):((1,0),512)">, !cute.coord_tensor<"(0,4)", "(((64,4),1),?):(((1@0,1@1),0),64@0)">)
