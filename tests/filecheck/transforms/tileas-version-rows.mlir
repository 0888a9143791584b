// `tileas-version-rows`: rows that end before the last quarter of their tile have code of their own.

// RUN: tileas-opt %s --split-input-file -p tileas-version-rows | filecheck %s

// Extents of %a and %b are 3072 at most in the first branch. What is computed of numbers alone stays.

// CHECK-LABEL: @sums
// CHECK:       %[[ROW:.*]] = arith.index_cast
// CHECK:       %[[BOUND:.*]] = arith.constant 3072 : i32
// CHECK-NEXT:  %[[SHORT:.*]] = arith.cmpi sle, %n, %[[BOUND]] : i32
// CHECK-NEXT:  %[[LEAST:.*]] = arith.minsi %n, %[[BOUND]] : i32
// CHECK-NEXT:  scf.if %[[SHORT]] {
// CHECK-NEXT:    nv_tileaa.make_memref %a, sizes[%m : i32, %[[LEAST]] : i32]
// CHECK:         nv_tileas.tiled_load
// CHECK:         nv_tileas.reduce
// CHECK:         nv_tileas.tiled_store
// CHECK:       } else {
// CHECK-NEXT:    nv_tileaa.make_memref %a, sizes[%m : i32, %n : i32]
// CHECK:         nv_tileas.tiled_store
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return
func.func @sums(%a: !nv_tileaa.ptr<f32, 1>, %m: i32, %n: i32, %b: memref<?xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %array = nv_tileaa.make_memref %a, sizes[%m : i32, %n : i32], strides[%n : i32] : !nv_tileaa.ptr<f32, 1> -> memref<?x?xf32, strided<[?, 1]>>
  %x = nv_tileas.view %array : memref<?x?xf32, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x4096xf32, gmem>
  %y = nv_tileas.view %b : memref<?xf32> -> !nv_tileas.tiled_view<1xf32, gmem>
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = arith.index_cast %block : index to i32
  %i = arith.index_cast %row : i32 to index
  %t, %loaded = nv_tileas.tiled_load %x[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x4096xf32, gmem> -> tensor<1x4096xf32>, !nv_tileaa.mem_token
  %s = nv_tileas.reduce %t {axis = 1 : i32} : tensor<1x4096xf32> -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nv_tileas.yield %r : f32
  }
  %stored = nv_tileas.tiled_store %s, %y[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1xf32>, !nv_tileas.tiled_view<1xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Rows that begin at multiples of 16 bytes are written once.

// CHECK-LABEL: @aligned
// CHECK-NOT:   scf.if
func.func @aligned(%a: !nv_tileaa.ptr<f32, 1>, %m: i32, %given: i32, %b: memref<?xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %n = nv_tileaa.assume %given, #nv_tileaa.div_by<4> : i32
  %array = nv_tileaa.make_memref %a, sizes[%m : i32, %n : i32], strides[%n : i32] : !nv_tileaa.ptr<f32, 1> -> memref<?x?xf32, strided<[?, 1]>>
  %x = nv_tileas.view %array : memref<?x?xf32, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x4096xf32, gmem>
  %y = nv_tileas.view %b : memref<?xf32> -> !nv_tileas.tiled_view<1xf32, gmem>
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t, %loaded = nv_tileas.tiled_load %x[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x4096xf32, gmem> -> tensor<1x4096xf32>, !nv_tileaa.mem_token
  %s = nv_tileas.reduce %t {axis = 1 : i32} : tensor<1x4096xf32> -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nv_tileas.yield %r : f32
  }
  %stored = nv_tileas.tiled_store %s, %y[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1xf32>, !nv_tileas.tiled_view<1xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}
