// What arithmetic of pointers refuses.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @no_pointer(%p: i64, %i: i32) {
  // expected-error@+1 {{'nv_tileaa.addptr' op moves a pointer or a tile of pointers, not i64}}
  %0 = nv_tileaa.addptr %p, %i : i64, i32
  func.return
}

// -----

func.func @no_integer(%p: !nv_tileaa.ptr<f32, 1>, %i: f32) {
  // expected-error@+1 {{'nv_tileaa.addptr' op moves !nv_tileaa.ptr<f32, 1> by integers of the same shape, not by f32}}
  %0 = nv_tileaa.addptr %p, %i : !nv_tileaa.ptr<f32, 1>, f32
  func.return
}

// -----

func.func @another_shape(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %i: tensor<4xi32>) {
  // expected-error@+1 {{by integers of the same shape, not by tensor<4xi32>}}
  %0 = nv_tileaa.addptr %p, %i : tensor<8x!nv_tileaa.ptr<f32, 1>>, tensor<4xi32>
  func.return
}

// -----

func.func @base(%a: memref<?x8xf16>) {
  // expected-error@+1 {{'nv_tileaa.base_pointer' op is of type !nv_tileaa.ptr<f16, 1>, not !nv_tileaa.ptr<f32, 1>}}
  %0 = nv_tileaa.base_pointer %a : memref<?x8xf16> -> !nv_tileaa.ptr<f32, 1>
  func.return
}
