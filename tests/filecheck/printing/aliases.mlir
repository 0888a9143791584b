// Aliases that a file defines are printed back, those that are used, in its order.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// CHECK:      #smem = #nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>
// CHECK-NEXT: !tile = tensor<128x64xf16, #smem>
// CHECK-NOT:  #unused
#smem = #nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>
#unused = #nv_tileas<space smem>
!tile = tensor<128x64xf16, #smem>

// CHECK:      func.func @f(%a: !tile) -> !tile {
// CHECK-NEXT:   func.return %a : !tile
func.func @f(%a: !tile) -> !tile {
  func.return %a : !tile
}

// CHECK:      func.func @g(%a: tensor<64x64xf16, #smem>) {
func.func @g(%a: tensor<64x64xf16, #smem>) {
  func.return
}
