// Arithmetic of pointers.

// RUN: tileas-opt %s --split-input-file | filecheck %s
// RUN: xdsl-opt %s --split-input-file --print-op-generic | xdsl-opt --split-input-file | filecheck %s

// The pointer some elements further on.
// CHECK: %{{.*}} = nv_tileaa.addptr %p, %i : !nv_tileaa.ptr<f32, 1>, i32
func.func @one(%p: !nv_tileaa.ptr<f32, 1>, %i: i32) {
  %0 = nv_tileaa.addptr %p, %i : !nv_tileaa.ptr<f32, 1>, i32
  func.return
}

// -----

// Each pointer of a tile by its own offset.
// CHECK: %{{.*}} = nv_tileaa.addptr %p, %i : tensor<8x!nv_tileaa.ptr<f16, 1>>, tensor<8xi64>
func.func @tile(%p: tensor<8x!nv_tileaa.ptr<f16, 1>>, %i: tensor<8xi64>) {
  %0 = nv_tileaa.addptr %p, %i : tensor<8x!nv_tileaa.ptr<f16, 1>>, tensor<8xi64>
  func.return
}

// -----

// The first element of an array.

// CHECK-LABEL: func.func @base
// CHECK: %{{.*}} = nv_tileaa.base_pointer %a : memref<?x8xf16> -> !nv_tileaa.ptr<f16, 1>
func.func @base(%a: memref<?x8xf16>) {
  %0 = nv_tileaa.base_pointer %a : memref<?x8xf16> -> !nv_tileaa.ptr<f16, 1>
  func.return
}
