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
