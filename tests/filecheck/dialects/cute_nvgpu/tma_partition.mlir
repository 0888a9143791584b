// How TMA partitions tensors: eleven steps of a verifier, in their order.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.layout<"(128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_store %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.layout<"(128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_store<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v multicast 2 : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90_multicast, f16, copy_bits = 65536, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, smem, align<16>, "(?,?):(?,1)">, %s: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{invalid operand types, got '!cute.memref<f16, smem, align<16>, "(?,?):(?,1)">' and '!cute.layout}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, smem, align<16>, "(?,?):(?,1)">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.shape<"(128,64)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{invalid smem layout type, expected LayoutType or ComposedLayoutType, got '!cute.shape}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.shape<"(128,64)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "S<3,4,3> o 0 o (8,64):(64,1)">, %s: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{unsupported layout for the GMEM tensor, got '}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "S<3,4,3> o 0 o (8,64):(64,1)">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.layout<"(128,64):(1@0,1@1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{expected the GMEM and SMEM layouts to have integer stride elements, but got '}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.layout<"(128,64):(1@0,1@1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.composed_layout<"(64,128):(1,64) o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{expected the SMEM layout to be a swizzle layout, but got '}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.composed_layout<"(64,128):(1,64) o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.layout<"(128,64):(64,1)">, %v: !cute.layout<"(?,64):(1@0,1@1)">) {
  // expected-error@+1 {{expected the SMEM layout and the CTA V-map to be static, but got '}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.layout<"(128,64):(64,1)">, !cute.layout<"(?,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.layout<"(128,64):(64,1)">, %v: !cute.layout<"(64,128):(1@0,1@1)">) {
  // expected-error@+1 {{expected top-level shape equivalence between the SMEM layout and the CTA V-map, but got '}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.layout<"(128,64):(64,1)">, !cute.layout<"(64,128):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.layout<"(128,64):(128,2)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{failed to compute the TMA G-basis, got '}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.layout<"(128,64):(128,2)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.layout<"(128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{Computed TMA layout is invalid, got '!cute.layout<"(64,128):(1@1,1@0)">'}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.layout<"(128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(128,64):(1@0,1@1)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.layout<"(128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{Computed TMA layout is invalid, got '}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.layout<"(128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 65536, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.layout<"(128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{Failed to construct the TMA tensor type}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.layout<"(128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(8,8,8,8,8,8):(64,1,512,4096,32768,262144)">, %s: !cute.layout<"(128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{Failed to construct the TMA tensor type}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(8,8,8,8,8,8):(64,1,512,4096,32768,262144)">, !cute.layout<"(128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{missing or invalid num_multicast for a multicast TMA load}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90_multicast, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{got num_multicast of 2 but the return TMA load type does not support multicast}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v multicast 2 : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{expect a tma_store atom type}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_store %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{expect a tma_load atom type}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_store<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{expect a tma_redg atom type}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_reduce %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> !cute_nvgpu.atom.non_exec_tiled_tma_store<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

func.func @partition(%g: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, %s: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %v: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error@+1 {{makes an atom that partitions, not i32}}
  %0, %1 = cute_nvgpu.atom.make_non_exec_tiled_tma_load %g, %s, %v : !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)"> -> i32, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

// What partitions can be executed, with the same box.

func.func @executed(%a: !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>) {
  %0 = cute_nvgpu.atom.make_exec_tma %a : !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN> -> !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,128):(1@1,1@0)">>
  // expected-error@+1 {{'cute_nvgpu.atom.make_exec_tma' op executes}}
  %1 = cute_nvgpu.atom.make_exec_tma %a : !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN> -> !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,128):(1@1,1@0)">>
  // expected-error@+1 {{'cute_nvgpu.atom.make_exec_tma' op makes a copy of its partition, not i32 of}}
  %2 = cute_nvgpu.atom.make_exec_tma %a : !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN> -> i32
  func.return
}
