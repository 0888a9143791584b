// `tileas-load-tables`: a gather from a small table loads the table once, an entry a lane.

// RUN: tileas-opt %s -p tileas-load-tables | filecheck %s

// Nibbles of bytes are 0 to 15. The load waits for nothing of the loop, and goes in front of it.
// CHECK-LABEL: func.func @codebook
func.func @codebook(%code: !nv_tileaa.ptr<f32, 1>, %n: i64, %bytes: tensor<16x16xi8>, %tok: !nv_tileaa.mem_token) -> tensor<16x16xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant dense<4> : tensor<16x16xi32>
  %sums = arith.constant dense<0.0> : tensor<16x16xf32>
  %base = tensor.splat %code : tensor<16x16x!nv_tileaa.ptr<f32, 1>>
  // CHECK: %[[E:.*]] = nv_tileas.generate : tensor<32xi64> {
  // CHECK: %[[B:.*]] = tensor.splat %code : tensor<32x!nv_tileaa.ptr<f32, 1>>
  // CHECK: %[[P:.*]] = nv_tileaa.addptr %[[B]], %[[E]]
  // CHECK: %[[M:.*]] = nv_tileas.generate : tensor<32xi1> {
  // CHECK:   arith.cmpi ult, %{{.*}}, %n : i64
  // CHECK: %[[T:.*]], %[[K:.*]] = nv_tileas.load %[[P]] mask %[[M]] : tensor<32xi1> after %tok
  // CHECK-SAME: padding_value = 1.000000e+00 : f32
  // CHECK: scf.for
  %r = scf.for %k = %zero to %one step %one iter_args(%s = %sums) -> (tensor<16x16xf32>) {
    %w = nv_tileas.generate : tensor<16x16xi32> {
    ^bb0(%a: index, %b: index):
      %x = tensor.extract %bytes[%a, %b] : tensor<16x16xi8>
      %y = arith.extui %x : i8 to i32
      nv_tileas.yield %y : i32
    }
    %h = arith.shrsi %w, %four : tensor<16x16xi32>
    %i = nv_tileas.generate : tensor<16x16xi64> {
    ^bb0(%a: index, %b: index):
      %x = tensor.extract %h[%a, %b] : tensor<16x16xi32>
      %y = arith.extsi %x : i32 to i64
      nv_tileas.yield %y : i64
    }
    %m = nv_tileas.generate : tensor<16x16xi1> {
    ^bb0(%a: index, %b: index):
      %x = tensor.extract %h[%a, %b] : tensor<16x16xi32>
      %y = arith.extsi %x : i32 to i64
      %c = arith.cmpi ult, %y, %n : i64
      nv_tileas.yield %c : i1
    }
    %p = nv_tileaa.addptr %base, %i : tensor<16x16x!nv_tileaa.ptr<f32, 1>>, tensor<16x16xi64>
    // CHECK: %[[V:.*]] = nv_tileas.generate : tensor<16x16xf32> {
    // CHECK:   %[[X:.*]] = tensor.extract %i[%{{.*}}, %{{.*}}] : tensor<16x16xi64>
    // CHECK:   %[[I:.*]] = arith.index_cast %[[X]] : i64 to index
    // CHECK:   tensor.extract %[[T]][%[[I]]] : tensor<32xf32>
    // CHECK: arith.addf %s, %[[V]]
    %v, %t = nv_tileas.load %p mask %m : tensor<16x16xi1> after %tok : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>, padding_value = 1.0 : f32} : tensor<16x16x!nv_tileaa.ptr<f32, 1>> -> tensor<16x16xf32>, !nv_tileaa.mem_token
    %u = arith.addf %s, %v : tensor<16x16xf32>
    scf.yield %u : tensor<16x16xf32>
  }
  func.return %r : tensor<16x16xf32>
}

// Whole bytes reach farther than 32 entries, and what acquires is not weak.
// CHECK-LABEL: func.func @not_small
func.func @not_small(%code: !nv_tileaa.ptr<f32, 1>, %bytes: tensor<16x16xi8>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %base = tensor.splat %code : tensor<16x16x!nv_tileaa.ptr<f32, 1>>
  %few = arith.constant dense<7> : tensor<16x16xi64>
  %i = nv_tileas.generate : tensor<16x16xi64> {
  ^bb0(%a: index, %b: index):
    %x = tensor.extract %bytes[%a, %b] : tensor<16x16xi8>
    %y = arith.extui %x : i8 to i64
    nv_tileas.yield %y : i64
  }
  %p = nv_tileaa.addptr %base, %i : tensor<16x16x!nv_tileaa.ptr<f32, 1>>, tensor<16x16xi64>
  // CHECK: nv_tileas.load %p
  %v = nv_tileas.load %p {atom = #nv_tileas<atom ldg>} : tensor<16x16x!nv_tileaa.ptr<f32, 1>> -> tensor<16x16xf32>
  %j = arith.andi %i, %few : tensor<16x16xi64>
  %q = nv_tileaa.addptr %base, %j : tensor<16x16x!nv_tileaa.ptr<f32, 1>>, tensor<16x16xi64>
  // CHECK: nv_tileas.load %q acquire
  %w = nv_tileas.load %q acquire gpu {atom = #nv_tileas<atom ldg>} : tensor<16x16x!nv_tileaa.ptr<f32, 1>> -> tensor<16x16xf32>
  func.return %v, %w : tensor<16x16xf32>, tensor<16x16xf32>
}
