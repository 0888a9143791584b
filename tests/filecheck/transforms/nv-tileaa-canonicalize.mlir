// What `canonicalize` makes simpler among operations of `nv_tileaa`.

// RUN: tileas-opt %s --split-input-file -p canonicalize | filecheck %s

// CHECK-LABEL: @joins
func.func @joins(%k: !nv_tileaa.mem_token) -> !nv_tileaa.mem_token {
  %j = nv_tileaa.join_mem_token %k : !nv_tileaa.mem_token -> !nv_tileaa.mem_token
  // CHECK: func.return %k
  func.return %j : !nv_tileaa.mem_token
}

// -----

// CHECK-LABEL: @views
func.func @views(%t: tensor<4x8xf32>) -> (tensor<2x16xf32>, tensor<4x8xf32>) {
  %a = nv_tileaa.view %t : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK: %b = nv_tileaa.view %t : tensor<4x8xf32> -> tensor<2x16xf32>
  %b = nv_tileaa.view %a : tensor<32xf32> -> tensor<2x16xf32>
  %c = nv_tileaa.view %a : tensor<32xf32> -> tensor<4x8xf32>
  // CHECK: func.return %b, %t
  func.return %b, %c : tensor<2x16xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: @splats
func.func @splats(%s: f32) -> (tensor<2x8xf32>, f32) {
  %a = nv_tileaa.splat %s : f32 -> tensor<8xf32>
  %b = nv_tileaa.expand_dims %a {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  // CHECK: %c = nv_tileaa.splat %s : f32 -> tensor<2x8xf32>
  %c = nv_tileaa.broadcast %b : tensor<1x8xf32> -> tensor<2x8xf32>
  %d = nv_tileaa.splat %s : f32 -> tensor<1xf32>
  %e = nv_tileaa.view %d : tensor<1xf32> -> f32
  // CHECK: func.return %c, %s
  func.return %c, %e : tensor<2x8xf32>, f32
}

// -----

// A mask that holds everywhere is none; where it holds nowhere nothing is accessed.
// CHECK-LABEL: @masks
func.func @masks(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %o: tensor<8xf32>, %k: !nv_tileaa.mem_token) -> (tensor<8xf32>, tensor<8xf32>, !nv_tileaa.mem_token) {
  %all = arith.constant dense<true> : tensor<8xi1>
  %none = arith.constant dense<false> : tensor<8xi1>
  // CHECK: %a = nv_tileaa.load %p : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  %a = nv_tileaa.load %p mask %all : tensor<8xi1> other %o : tensor<8xf32> : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  %b = nv_tileaa.load %p mask %none : tensor<8xi1> other %o : tensor<8xf32> : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  // CHECK-NEXT: nv_tileaa.store %a, %p : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>>
  nv_tileaa.store %a, %p mask %all : tensor<8xi1> : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>>
  %l = nv_tileaa.store %a, %p mask %none : tensor<8xi1> after %k : !nv_tileaa.mem_token : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>> -> !nv_tileaa.mem_token
  // CHECK-NEXT: func.return %a, %o, %k
  func.return %a, %b, %l : tensor<8xf32>, tensor<8xf32>, !nv_tileaa.mem_token
}
