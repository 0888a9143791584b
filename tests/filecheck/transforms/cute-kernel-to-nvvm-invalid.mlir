// What shows that a pass has not run that comes before.

// RUN: tileas-opt %s -p cute-kernel-to-nvvm --split-input-file --verify-diagnostics

// expected-error@+1 {{'func.func' op has the grid constant #1 of !cute_nvgpu.tma_descriptor_tiled: cute-kernel-to-nvvm runs after the pass that gives arguments types of llvm}}
func.func @types(%p: !cute.ptr<f32, gmem>, %d: !cute_nvgpu.tma_descriptor_tiled {cute_nvgpu.grid_constant}) attributes {cute.kernel} {
  func.return
}

// -----

#of = #nv_tileas.blocked<"(32,4):(1@thread,1@value)">
#to = #nv_tileas.blocked<"(4,32):(1@value,1@thread)">
func.func @layouts(%d: !llvm.ptr {cute_nvgpu.grid_constant}, %t: tensor<128xf32, #of>) attributes {cute.kernel} {
  // expected-error@+1 {{'nv_tileas.convert_layout' op is left: cute-kernel-to-nvvm runs after tileas-materialize-convert-layout, for descriptors are aligned by their layouts}}
  %0 = nv_tileas.convert_layout %t : tensor<128xf32, #of> -> tensor<128xf32, #to>
  func.return
}
