// `tileas-unroll-register-loops`: registers cannot be indexed, so loops that slice them are written out.

// RUN: tileas-opt %s -p tileas-unroll-register-loops | filecheck %s
// RUN: tileas-opt %s -p tileas-unroll-register-loops,canonicalize | filecheck %s --check-prefix=FOLDED

// CHECK-LABEL: @sums
// FOLDED-LABEL: @sums
func.func @sums(%x: tensor<64x16xf32>, %z: tensor<64x8xf32>) -> tensor<64x8xf32> {
  // CHECK: %[[T:.*]] = arith.negf
  // CHECK-NOT: scf.for
  // CHECK: %[[I:.*]] = arith.constant 0 : index
  // CHECK-NEXT: %[[P:.*]] = nv_tileas.extract_slice %[[T]][0, %[[I]]][64, 8][1, 1]
  // CHECK-NEXT: %[[N:.*]] = arith.addf %z, %[[P]]
  // CHECK: %[[J:.*]] = arith.constant 8 : index
  // CHECK-NEXT: %[[Q:.*]] = nv_tileas.extract_slice %[[T]][0, %[[J]]][64, 8][1, 1]
  // CHECK-NEXT: %[[M:.*]] = arith.addf %[[N]], %[[Q]]
  // CHECK-NEXT: func.return %[[M]]
  // FOLDED: extract_slice %{{.*}}[0, 0][64, 8]
  // FOLDED: extract_slice %{{.*}}[0, 8][64, 8]
  %zero = arith.constant 0 : index
  %eight = arith.constant 8 : index
  %end = arith.constant 16 : index
  %t = arith.negf %x : tensor<64x16xf32>
  %s = scf.for %i = %zero to %end step %eight iter_args(%a = %z) -> (tensor<64x8xf32>) {
    %p = nv_tileas.extract_slice %t[0, %i][64, 8][1, 1] : tensor<64x16xf32> -> tensor<64x8xf32>
    %n = arith.addf %a, %p : tensor<64x8xf32>
    scf.yield %n : tensor<64x8xf32>
  }
  func.return %s : tensor<64x8xf32>
}

// Offsets that are the same in each round, bounds of the launch and long loops keep the loop.
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<64x64xf32>, %z: tensor<64x1xf32>, %n: index, %o: index)
    -> (tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>) {
  // CHECK-COUNT-3: scf.for
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 64 : index
  %t = arith.negf %x : tensor<64x64xf32>
  %s = scf.for %i = %zero to %one step %one iter_args(%a = %z) -> (tensor<64x1xf32>) {
    %p = nv_tileas.extract_slice %t[0, %o][64, 1][1, 1] : tensor<64x64xf32> -> tensor<64x1xf32>
    %b = arith.addf %a, %p : tensor<64x1xf32>
    scf.yield %b : tensor<64x1xf32>
  }
  %u = scf.for %i = %zero to %n step %one iter_args(%a = %z) -> (tensor<64x1xf32>) {
    %p = nv_tileas.extract_slice %t[0, %i][64, 1][1, 1] : tensor<64x64xf32> -> tensor<64x1xf32>
    %b = arith.addf %a, %p : tensor<64x1xf32>
    scf.yield %b : tensor<64x1xf32>
  }
  %v = scf.for %i = %zero to %end step %one iter_args(%a = %z) -> (tensor<64x1xf32>) {
    %p = nv_tileas.extract_slice %t[0, %i][64, 1][1, 1] : tensor<64x64xf32> -> tensor<64x1xf32>
    %b = arith.addf %a, %p : tensor<64x1xf32>
    scf.yield %b : tensor<64x1xf32>
  }
  func.return %s, %u, %v : tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>
}

// Masks that choose among the registers of a thread by the number of the round; masks of lanes, of
// numbers that a launch knows, and long loops (`@kept`) keep the loop.
// CHECK-LABEL: func.func @chosen(
// CHECK-SAME: nv_tileas.masks_of_rounds
func.func @chosen(%x: tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>)
    -> tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">> {
  // CHECK-NOT: scf.for
  // CHECK-COUNT-4: arith.cmpi eq
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.constant 4 : i32
  %none = arith.constant 0.0 : f32
  %s = scf.for %k = %zero to %end step %one iter_args(%m = %x)
      -> (tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>) : i32 {
    %n = nv_tileas.generate : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">> {
    ^bb0(%i: index, %j: index):
      %c = arith.index_cast %j : index to i32
      %is = arith.cmpi eq, %c, %k : i32
      %e = tensor.extract %m[%i, %j] : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>
      %f = arith.select %is, %none, %e : f32
      nv_tileas.yield %f : f32
    }
    scf.yield %n : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>
  }
  func.return %s : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>
}

// CHECK-LABEL: func.func @kept(
func.func @kept(%x: tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>, %n: i32)
    -> (tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>,
        tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>,
        tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>) {
  // CHECK-COUNT-3: scf.for
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.constant 4 : i32
  %long = arith.constant 64 : i32
  %none = arith.constant 0.0 : f32
  %s = scf.for %k = %zero to %end step %one iter_args(%m = %x)
      -> (tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>) : i32 {
    %n0 = nv_tileas.generate : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">> {
    ^bb0(%i: index, %j: index):
      %c = arith.index_cast %i : index to i32
      %is = arith.cmpi eq, %c, %k : i32
      %e = tensor.extract %m[%i, %j] : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>
      %f = arith.select %is, %none, %e : f32
      nv_tileas.yield %f : f32
    }
    scf.yield %n0 : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>
  }
  %t = scf.for %k = %zero to %end step %one iter_args(%m = %x)
      -> (tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>) : i32 {
    %moved = arith.addi %k, %n : i32
    %n1 = nv_tileas.generate : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">> {
    ^bb0(%i: index, %j: index):
      %c = arith.index_cast %j : index to i32
      %is = arith.cmpi eq, %c, %moved : i32
      %e = tensor.extract %m[%i, %j] : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>
      %f = arith.select %is, %none, %e : f32
      nv_tileas.yield %f : f32
    }
    scf.yield %n1 : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>
  }
  %u = scf.for %k = %zero to %long step %one iter_args(%m = %x)
      -> (tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>) : i32 {
    %n2 = nv_tileas.generate : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">> {
    ^bb0(%i: index, %j: index):
      %c = arith.index_cast %j : index to i32
      %is = arith.cmpi eq, %c, %k : i32
      %e = tensor.extract %m[%i, %j] : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>
      %f = arith.select %is, %none, %e : f32
      nv_tileas.yield %f : f32
    }
    scf.yield %n2 : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>
  }
  func.return %s, %t, %u : tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>,
    tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>,
    tensor<32x4xf32, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>
}
