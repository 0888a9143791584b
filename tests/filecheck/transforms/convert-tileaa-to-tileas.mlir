// `nv_tileaa` becomes tiles that layouts are chosen for.

// RUN: tileas-opt %s --split-input-file -p convert-tileaa-to-tileas | filecheck %s

// What no instruction multiplies, threads do: f32 that may not be rounded, and very little of K.
// CHECK-LABEL: @by_threads
func.func @by_threads(%a: tensor<64x32xf32>, %b: tensor<32x16xf32>, %c: tensor<64x16xf32>, %d: tensor<64x4xf16>, %e: tensor<4x16xf16>) attributes {nv_tileaa.compute_capability = 90 : i32} {
  // CHECK: %f = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom fma_f32_f32_f32>}
  %f = nv_tileaa.dot %a, %b, %c : tensor<64x32xf32>, tensor<32x16xf32>, tensor<64x16xf32> -> tensor<64x16xf32>
  // CHECK: %g = nv_tileas.dot %d, %e, %c {atom = #nv_tileas<atom fma_f16_f16_f32>}
  %g = nv_tileaa.dot %d, %e, %c : tensor<64x4xf16>, tensor<4x16xf16>, tensor<64x16xf32> -> tensor<64x16xf32>
  func.return
}

// -----

// A product is wgmma's where the target and the tile have it, and mma's elsewhere.
// CHECK-LABEL: @products
func.func @products(%a: tensor<64x32xf16>, %b: tensor<32x16xf16>, %c: tensor<64x16xf32>, %d: tensor<16x32xf16>, %e: tensor<16x16xf32>) attributes {nv_tileaa.compute_capability = 90 : i32} {
  // CHECK: %[[A:.*]] = nv_tileas.convert_layout %a : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
  // CHECK: %[[B:.*]] = nv_tileas.convert_layout %b : tensor<32x16xf16> -> tensor<32x16xf16, #nv_tileas<space smem>>
  // CHECK: %f = nv_tileas.dot %[[A]], %[[B]], %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>}
  %f = nv_tileaa.dot %a, %b, %c : tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32> -> tensor<64x16xf32>
  // CHECK: %g = nv_tileas.dot %d, %b, %e {atom = #nv_tileas<atom mma_f16_f16_f32>}
  %g = nv_tileaa.dot %d, %b, %e : tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32> -> tensor<16x16xf32>
  func.return
}

// -----

// Where the matrix unit reads columns of B as they are only if they lie side by side, B is transposed.
// CHECK-LABEL: @transposed
func.func @transposed(%a: tensor<64x32xf8E4M3FN>, %b: tensor<32x16xf8E4M3FN>, %c: tensor<64x16xf32>) attributes {nv_tileaa.compute_capability = 90 : i32} {
  // CHECK: %[[A:.*]] = nv_tileas.convert_layout %a
  // CHECK: %[[T:.*]] = nv_tileas.generate
  // CHECK: %[[R:.*]] = nv_tileas.convert_layout %[[T]] : tensor<16x32xf8E4M3FN> -> tensor<16x32xf8E4M3FN, #nv_tileas<space smem>>
  // CHECK: %[[B:.*]] = nv_tileas.view %[[R]] : tensor<16x32xf8E4M3FN, #nv_tileas<space smem>> -> tensor<32x16xf8E4M3FN, #nv_tileas.shared<(32,16),(1,32)>>
  // CHECK: %d = nv_tileas.dot %[[A]], %[[B]], %c {atom = #nv_tileas<atom wgmma_f8e4m3_f8e4m3_f32>, promote}
  %d = nv_tileaa.dot %a, %b, %c : tensor<64x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<64x16xf32> -> tensor<64x16xf32>
  func.return
}

// -----

// Block-scaled products that no tcgen05 takes multiply dequantised operands of bf16.
// CHECK-LABEL: @scales
func.func @scales(%a: tensor<16x64xf8E4M3FN>, %b: tensor<64x8xf8E4M3FN>, %c: tensor<16x8xf32>, %s: tensor<16x2xf8E8M0FNU>, %t: tensor<2x8xf8E8M0FNU>) {
  // CHECK: %[[WIDE:.*]] = arith.extf %a : tensor<16x64xf8E4M3FN> to tensor<16x64xbf16>
  // CHECK: %[[OF:.*]] = arith.extf %s : tensor<16x2xf8E8M0FNU> to tensor<16x2xbf16>
  // CHECK: %[[SPREAD:.*]] = nv_tileas.generate : tensor<16x64xbf16> {
  // CHECK: %[[BLOCK:.*]] = arith.divui %{{.*}}, %{{.*}} : index
  // CHECK: tensor.extract %[[OF]][%{{.*}}, %[[BLOCK]]] : tensor<16x2xbf16>
  // CHECK: %[[A:.*]] = arith.mulf %[[WIDE]], %[[SPREAD]] : tensor<16x64xbf16>
  // CHECK: %[[B:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<64x8xbf16>
  // CHECK: nv_tileas.dot %[[A]], %[[B]], %c {atom = #nv_tileas<atom mma_bf16_bf16_f32>}
  %0 = nv_tileaa.dot %a, %b, %c scales(%s : tensor<16x2xf8E8M0FNU>, %t : tensor<2x8xf8E8M0FNU>) : tensor<16x64xf8E4M3FN>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32> -> tensor<16x8xf32>
  func.return
}

// -----

// A reduction to a scalar is the element of a tile of rank 0; so is what is asserted of a tile.
// CHECK-LABEL: @scalars
func.func @scalars(%t: tensor<8xf32>, %m: tensor<8xi1>) {
  // CHECK: %[[R:.*]] = nv_tileas.reduce %t {axis = 0 : i32} : tensor<8xf32> -> tensor<f32> {
  // CHECK: %r = tensor.extract %[[R]][] : tensor<f32>
  %r = nv_tileaa.reduce %t {axis = 0 : i32, identities = [0.0 : f32]} : tensor<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nv_tileaa.yield %c : f32
  }
  // CHECK: %[[M:.*]] = nv_tileas.reduce %m {axis = 0 : i32} : tensor<8xi1> -> tensor<i1> {
  // CHECK: %[[C:.*]] = tensor.extract %[[M]][] : tensor<i1>
  // CHECK: cf.assert %[[C]], "all"
  nv_tileaa.assert %m, "all" : tensor<8xi1>
  func.return
}

// -----

// What moves elements takes them from where they are.
// CHECK-LABEL: @shapes
func.func @shapes(%s: f32, %t: tensor<1x8xf32>) {
  // CHECK: %a = tensor.splat %s : tensor<4xf32>
  %a = nv_tileaa.splat %s : f32 -> tensor<4xf32>
  // CHECK: %b = nv_tileas.generate : tensor<4x8xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: index, %[[J:.*]]: index):
  // CHECK-NEXT:   %[[Z:.*]] = arith.constant 0 : index
  // CHECK-NEXT:   %[[E:.*]] = tensor.extract %t[%[[Z]], %[[J]]] : tensor<1x8xf32>
  // CHECK-NEXT:   nv_tileas.yield %[[E]] : f32
  %b = nv_tileaa.broadcast %t : tensor<1x8xf32> -> tensor<4x8xf32>
  // CHECK: %c = nv_tileas.generate : tensor<8x4xf32> {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
  // CHECK-NEXT:   tensor.extract %b[%[[J]], %[[I]]] : tensor<4x8xf32>
  %c = nv_tileaa.permute %b {permutation = array<i64: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: %d = nv_tileas.view %c : tensor<8x4xf32> -> tensor<32xf32>
  %d = nv_tileaa.view %c : tensor<8x4xf32> -> tensor<32xf32>
  // CHECK: %e = nv_tileas.expand_dims %d {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
  %e = nv_tileaa.expand_dims %d {axis = 0 : i32} : tensor<32xf32> -> tensor<1x32xf32>
  func.return
}

// -----

// A kernel gets the usual specification; pointers, arrays behind them and facts stay.
// CHECK-LABEL: func.func @memory
// CHECK-SAME: attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>}
func.func @memory(%p: !nv_tileaa.ptr<f16, 1>, %n: i32) {
  // CHECK: %[[B:.*]] = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  // CHECK: %x = arith.index_cast %[[B]] : index to i32
  %x = nv_tileaa.get_program_id {axis = 0 : i32}
  %i = arith.index_cast %x : i32 to index
  // CHECK: %a = nv_tileaa.assume %p, #nv_tileaa.div_by<16>
  %a = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  // CHECK: %v = nv_tileaa.make_memref %a
  %v = nv_tileaa.make_memref %a, sizes [%n : i32, %n : i32], strides [%n : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  // CHECK: %[[S:.*]] = arith.extui %n : i32 to i64
  // CHECK: %s = arith.index_cast %[[S]] : i64 to index
  %s = nv_tileaa.get_dim_size %v {axis = 1 : i32} : memref<?x?xf16, strided<[?, 1]>>
  // Tiles whose dimensions are in another order are those of another array.
  // CHECK: %[[T:.*]] = nv_tileaa.make_memref %a, sizes[%n : i32, %n : i32], strides[%n : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[1, ?]>>
  // CHECK: %w = nv_tileas.view %[[T]] : memref<?x?xf16, strided<[1, ?]>> -> !nv_tileas.tiled_view<8x4xf16, gmem>
  %w = nv_tileaa.block_tile %v {tileSizes = array<i64: 8, 4>, dimGroups = array<i64: 1, 0>} : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileaa.tiled_view<8x4xf16>
  // CHECK: %t = nv_tileas.tiled_load %w[%i, %s] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<8x4xf16, gmem> -> tensor<8x4xf16>
  %t = nv_tileaa.tiled_load %w[%i, %s] : !nv_tileaa.tiled_view<8x4xf16> -> tensor<8x4xf16>
  // CHECK: nv_tileas.tiled_store %t, %w[%s, %i] {atom = #nv_tileas<atom stg>} : tensor<8x4xf16>, !nv_tileas.tiled_view<8x4xf16, gmem>
  nv_tileaa.tiled_store %t, %w[%s, %i] : tensor<8x4xf16>, !nv_tileaa.tiled_view<8x4xf16>
  func.return
}
