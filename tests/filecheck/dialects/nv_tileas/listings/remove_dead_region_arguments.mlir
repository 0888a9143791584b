// The layout and buffer page, "Remove Dead Region Arguments", input and output shape.
//
// Completed: the wrapping functions and the operands of the product; `use` is `test.op`.
// Adapted: `wgmma` is read as a dot; xDSL names each of several results and writes a single type
// behind `iter_args` in parentheses.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// CHECK-LABEL: func.func @input
func.func @input(%c0: index, %n: index, %c1: index, %a: tensor<128x64xf16>, %b: tensor<64x128xf16>, %init_acc: tensor<128x128xf32>, %init_pre: tensor<128x128xf32>) {
  // CHECK: %r, %r_1 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init_acc, %pre_acc = %init_pre) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %r:2 = scf.for %i = %c0 to %n step %c1
      iter_args(%acc = %init_acc, %pre_acc = %init_pre)
      -> (tensor<128x128xf32>, tensor<128x128xf32>) {
    // CHECK-NEXT: %x = nv_tileas.dot %a, %b, %acc
    %x = nv_tileas.wgmma %a, %b, %acc : tensor<128x128xf32>
    // CHECK-NEXT: scf.yield %x, %pre_acc : tensor<128x128xf32>, tensor<128x128xf32>
    scf.yield %x, %pre_acc : tensor<128x128xf32>, tensor<128x128xf32>
  }
  %out = "test.op"(%r#0) : (tensor<128x128xf32>) -> f32
  func.return
}

// CHECK-LABEL: func.func @output
func.func @output(%c0: index, %n: index, %c1: index, %a: tensor<128x64xf16>, %b: tensor<64x128xf16>, %init_acc: tensor<128x128xf32>) {
  // CHECK: %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init_acc) -> (tensor<128x128xf32>) {
  %r = scf.for %i = %c0 to %n step %c1
      iter_args(%acc = %init_acc) -> (tensor<128x128xf32>) {
    // CHECK-NEXT: %x = nv_tileas.dot %a, %b, %acc
    %x = nv_tileas.wgmma %a, %b, %acc : tensor<128x128xf32>
    // CHECK-NEXT: scf.yield %x : tensor<128x128xf32>
    scf.yield %x : tensor<128x128xf32>
  }
  %out = "test.op"(%r) : (tensor<128x128xf32>) -> f32
  func.return
}
