// The layout and buffer page, "Layout Descriptor Grammar": the examples.
//
// Completed: the loads that carry the descriptors.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

func.func @descriptors(%a: memref<1x1xf16>, %b: memref<16x16xf16>, %c: memref<128x64xf4E2M1FN>, %i: index) {
  // CHECK: {nv_tileas.layout = #nv_tileas.layout<(1,1),(0,0)>,
  %0 = nv_tileas.tiled_load %a[%i, %i] {atom = #nv_tileas<atom ldg>, nv_tileas.layout = <(1,1),(0,0)>} : memref<1x1xf16> -> tensor<1x1xf16>
  // CHECK: {nv_tileas.layout = #nv_tileas.layout<(16,16),(1,16)>,
  %1 = nv_tileas.tiled_load %b[%i, %i] {atom = #nv_tileas<atom ldg>, nv_tileas.layout = <(16,16),(1,16)>} : memref<16x16xf16> -> tensor<16x16xf16>
  // CHECK: {nv_tileas.layout = #nv_tileas.layout<(16,16),(1,16),swizzle<2,5,2>>,
  %2 = nv_tileas.tiled_load %b[%i, %i] {atom = #nv_tileas<atom unknown_copy>, nv_tileas.layout = <(16,16),(1,16),swizzle<2,5,2>>} : memref<16x16xf16> -> tensor<16x16xf16>
  // CHECK: {nv_tileas.layout = #nv_tileas.layout<(16,(8,2)),(1,(16,8))>,
  %3 = nv_tileas.tiled_load %b[%i, %i] {atom = #nv_tileas<atom ldg>, nv_tileas.layout = <(16,(8,2)),(1,(16,8))>} : memref<16x16xf16> -> tensor<16x16xf16>
  // CHECK: {nv_tileas.layout = #nv_tileas.layout<(128,64),(64,1),swizzle<3,4,3>,elem=nvfp4>,
  %4 = nv_tileas.tiled_load %c[%i, %i] {atom = #nv_tileas<atom unknown_copy>, nv_tileas.layout = <(128,64),(64,1),swizzle<3,4,3>,elem=nvfp4>} : memref<128x64xf4E2M1FN> -> tensor<128x64xf4E2M1FN>
  // CHECK: {nv_tileas.layout = #nv_tileas.layout<((4,32),64),((1,512),16),elem=mxf4>,
  %5 = nv_tileas.tiled_load %c[%i, %i] {atom = #nv_tileas<atom ldg>, nv_tileas.layout = <((4,32),64),((1,512),16),elem=mxf4>} : memref<128x64xf4E2M1FN> -> tensor<128x64xf4E2M1FN>
  func.return
}
