// The layout and buffer page, "Loop-Carried Aliases", before and after.
//
// Completed: the encoding, the wrapping functions; `use` is `test.op`.
// Adapted: xDSL writes the types behind `iter_args` in parentheses.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

#smem = #nv_tileas<space smem>

// CHECK-LABEL: func.func @before
func.func @before(%c0: index, %n: index, %c1: index) {
  // CHECK: %a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
  %a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
  // CHECK-NEXT: %r = scf.for %i = %c0 to %n step %c1 iter_args(%buf = %a) -> (tensor<128x64xf16, #smem>) {
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%buf = %a) -> (tensor<128x64xf16, #smem>) {
    %x = "test.op"(%buf) : (tensor<128x64xf16, #smem>) -> f32
    // CHECK: scf.yield %a : tensor<128x64xf16, #smem>
    scf.yield %a : tensor<128x64xf16, #smem>
  }
  func.return
}

// CHECK-LABEL: func.func @after
func.func @after(%c0: index, %n: index, %c1: index) {
  // CHECK: %a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
  %a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
  // CHECK-NEXT: scf.for %i = %c0 to %n step %c1 {
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-NEXT: %x = "test.op"(%a)
    %x = "test.op"(%a) : (tensor<128x64xf16, #smem>) -> f32
  }
  func.return
}
