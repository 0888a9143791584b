// `tileas-end-products`: products of tiles that are wider than their arrays end where these do.

// RUN: tileas-opt %s -p tileas-end-products --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-end-products,tileas-end-products --split-input-file | filecheck %s

// Rows of 24 of both operands, in tiles of 32: a depth of 24. %s has all its columns.

func.func @depth(%p: !nv_tileaa.ptr<f16, 1>, %m: i32, %i: index, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %a = nv_tileaa.make_memref %p, sizes[%m : i32], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<?x24xf16>
  %v = nv_tileas.view %a : memref<?x24xf16> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %q = nv_tileas.tiled_load %v[%i, %zero] {atom = #nv_tileas<atom ldg>, padding_value = 0.0 : f16} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
  %t = nv_tileas.generate : tensor<32x64xf16> {
  ^bb0(%row: index, %column: index):
    %y = tensor.extract %q[%column, %row] : tensor<64x32xf16>
    nv_tileas.yield %y : f16
  }
  %s = nv_tileas.dot %q, %t, %c {atom = #nv_tileas<atom fma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return %s : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @depth
// CHECK:         nv_tileas.dot {{.*}}nv_tileas.ends = array<i64: 64, 64, 32, 24>

// -----

// Columns of B of which a launch has stated that they are 24 at most, and that go to such an array
// alone: 24 of them. The sum of rows reads all of them in the other function.

func.func @columns(%p: !nv_tileaa.ptr<f16, 1>, %o: !nv_tileaa.ptr<f32, 1>, %m: i32, %d0: i32, %a: tensor<64x64xf16>, %c: tensor<64x32xf32>, %n: i32) {
  %zero = arith.constant 0 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %d = nv_tileaa.assume %d0, #nv_tileaa.bounded<16, 24> : i32
  %x = nv_tileaa.make_memref %p, sizes[%m : i32, %d : i32], strides[%d : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %v = nv_tileas.view %x : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %w = nv_tileaa.make_memref %o, sizes[%m : i32, %d : i32], strides[%d : i32] : !nv_tileaa.ptr<f32, 1> -> memref<?x?xf32, strided<[?, 1]>>
  %u = nv_tileas.view %w : memref<?x?xf32, strided<[?, 1]>> -> !nv_tileas.tiled_view<64x32xf32, gmem>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%e = %c) -> (tensor<64x32xf32>) : i32 {
    %i = arith.index_cast %j : i32 to index
    %b = nv_tileas.tiled_load %v[%i, %zero] {atom = #nv_tileas<atom ldg>, padding_value = 0.0 : f16} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
    %f = arith.addf %e, %e : tensor<64x32xf32>
    %s = nv_tileas.dot %a, %b, %f {atom = #nv_tileas<atom fma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32> -> tensor<64x32xf32>
    scf.yield %s : tensor<64x32xf32>
  }
  nv_tileas.tiled_store %r, %u[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x32xf32>, !nv_tileas.tiled_view<64x32xf32, gmem>
  func.return
}

func.func @read(%p: !nv_tileaa.ptr<f16, 1>, %m: i32, %a: tensor<64x64xf16>, %c: tensor<64x32xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0 : index
  %x = nv_tileaa.make_memref %p, sizes[%m : i32], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<?x24xf16>
  %v = nv_tileas.view %x : memref<?x24xf16> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %b = nv_tileas.tiled_load %v[%zero, %zero] {atom = #nv_tileas<atom ldg>, padding_value = 0.0 : f16} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
  %s = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom fma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32> -> tensor<64x32xf32>
  %r = nv_tileas.reduce %s {axis = 1 : i32} : tensor<64x32xf32> -> tensor<64xf32> {
  ^bb0(%y: f32, %z: f32):
    %w = arith.addf %y, %z : f32
    nv_tileas.yield %w : f32
  }
  func.return %r : tensor<64xf32>
}

// CHECK-LABEL: func.func @columns
// CHECK:         nv_tileas.dot {{.*}}nv_tileas.ends = array<i64: 32, 24, 64, 64>
// CHECK-LABEL: func.func @read
// CHECK:         nv_tileas.dot
// CHECK-NOT:     nv_tileas.ends

// -----

// Tiles that a load does not fill with zeros, and those that begin elsewhere.

func.func @unknown(%p: !nv_tileaa.ptr<f16, 1>, %m: i32, %i: index, %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0 : index
  %a = nv_tileaa.make_memref %p, sizes[%m : i32], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<?x24xf16>
  %v = nv_tileas.view %a : memref<?x24xf16> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %w = nv_tileas.view %a : memref<?x24xf16> -> !nv_tileas.tiled_view<32x64xf16, gmem>
  %q = nv_tileas.tiled_load %v[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
  %k = nv_tileas.tiled_load %w[%i, %i] {atom = #nv_tileas<atom ldg>, padding_value = 0.0 : f16} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16>
  %s = nv_tileas.dot %q, %k, %c {atom = #nv_tileas<atom fma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return %s, %s : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @unknown
// CHECK-NOT:     nv_tileas.ends

// -----

// Products of batches have no ends.

// RUN: tileas-opt %s -p tileas-bound-rows,tileas-end-products --split-input-file | filecheck %s

func.func @batches(%a: tensor<2x8x16xf32>, %b: tensor<2x16x8xf32>, %c: tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
  %s = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom fma_f32_f32_f32>} : tensor<2x8x16xf32>, tensor<2x16x8xf32>, tensor<2x8x8xf32> -> tensor<2x8x8xf32>
  func.return %s : tensor<2x8x8xf32>
}

// CHECK-LABEL: func.func @batches
// CHECK-NOT:     nv_tileas.ends
