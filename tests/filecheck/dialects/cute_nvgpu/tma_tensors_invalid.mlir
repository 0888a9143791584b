// Tensors that no copy by TMA takes apart.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!smem = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,64),2):((64,1),512)">
!gmem = !cute.coord_tensor<"(0,0)", "((8,64),?):((1@1,1@0),64@0)">
func.func @unshared(%atom: !load, %s: !smem, %g: !gmem) {
  %block = cute.static : !cute.coord<"1">
  %blocks = cute.static : !cute.layout<"2:1">
  // expected-error@+1 {{2 blocks share what they load by multicast: !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192}}
  %to, %from = cute_nvgpu.atom.tma_partition(%atom, %block, %blocks, %s, %g)
  func.return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!smem = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,48),2):((48,1),384)">
!gmem = !cute.coord_tensor<"(0,0)", "((8,48),?):((1@1,1@0),48@0)">
func.func @parts(%atom: !load, %s: !smem, %g: !gmem) {
  %block = cute.static : !cute.coord<"0">
  %blocks = cute.static : !cute.layout<"1:0">
  // expected-error@+1 {{(8,48):(48,1) is no whole number of copies of 512 elements}}
  %to, %from = cute_nvgpu.atom.tma_partition(%atom, %block, %blocks, %s, %g)
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!smem = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,64),2):((64,1),512)">
!gmem = !cute.coord_tensor<"(0,0)", "((8,64),?):((1@1,1@0),64@0)">
func.func @threads(%atom: !copy, %s: !smem, %g: !gmem) {
  %block = cute.static : !cute.coord<"0">
  %blocks = cute.static : !cute.layout<"1:0">
  // expected-error@+1 {{partitions for an atom of TMA, not !cute_nvgpu.atom.universal_copy<f16, 128 b>}}
  %0, %1 = cute_nvgpu.atom.tma_partition(%atom, %block, %blocks, %s, %g)
  func.return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!gmem = !cute.coord_tensor<"(0,0)", "((8,64),?):((1@1,1@0),64@0)">
func.func @coordinates(%atom: !load, %g: !gmem) {
  %block = cute.static : !cute.coord<"0">
  %blocks = cute.static : !cute.layout<"1:0">
  // expected-error@+1 {{partitions a view of memory, not !cute.coord_tensor}}
  %to, %from = cute_nvgpu.atom.tma_partition(%atom, %block, %blocks, %g, %g)
  func.return
}
