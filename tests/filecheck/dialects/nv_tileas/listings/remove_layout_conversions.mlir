// The layout and buffer page, "Remove Layout Conversions", input and output shape.
//
// Completed: the encodings, the source `memref<...>`, the values around it, the types behind "wgmma",
// atom and coordinates of the load.
// Adapted: the swizzled tile is operand A, and `wgmma` is read as a dot.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

#smem = #nv_tileas<space smem>
#smem_blocked = #nv_tileas.shared<(128,64),(64,1)>
#smem_swizzled = #nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>

// CHECK-LABEL: func.func @input
func.func @input(%src: memref<128x64xf16>, %w: tensor<64x128xf16, #smem>, %acc: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %c0 = arith.constant 0 : index
  // CHECK: %t = nv_tileas.tiled_load %src[%c0, %c0] {atom = #nv_tileas<atom unknown_copy>} : memref<128x64xf16> -> tensor<128x64xf16, #smem_blocked>
  %t = nv_tileas.tiled_load %src[%c0, %c0] {atom = #nv_tileas<atom unknown_copy>} : memref<128x64xf16> -> tensor<128x64xf16, #smem_blocked>
  // CHECK: %c = nv_tileas.convert_layout %t : tensor<128x64xf16, #smem_blocked> -> tensor<128x64xf16, #smem_swizzled>
  %c = nv_tileas.convert_layout %t : tensor<128x64xf16, #smem_blocked>
                                  -> tensor<128x64xf16, #smem_swizzled>
  // CHECK: %r = nv_tileas.dot %c, %w, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #smem_swizzled>
  %r = nv_tileas.wgmma %c, %w, %acc : tensor<128x128xf32>
  func.return %r : tensor<128x128xf32>
}

// CHECK-LABEL: func.func @output
func.func @output(%src: memref<128x64xf16>, %w: tensor<64x128xf16, #smem>, %acc: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %c0 = arith.constant 0 : index
  // CHECK: %t = nv_tileas.tiled_load %src[%c0, %c0] {atom = #nv_tileas<atom unknown_copy>} : memref<128x64xf16> -> tensor<128x64xf16, #smem_swizzled>
  %t = nv_tileas.tiled_load %src[%c0, %c0] {atom = #nv_tileas<atom unknown_copy>} : memref<128x64xf16> -> tensor<128x64xf16, #smem_swizzled>
  // CHECK: %r = nv_tileas.dot %t, %w, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #smem_swizzled>
  %r = nv_tileas.wgmma %t, %w, %acc : tensor<128x128xf32>
  func.return %r : tensor<128x128xf32>
}
