// `tileas-bound-rows`: a launch is asked how long rows are, and code for a length has no masks where it needs none.

// RUN: tileas-opt %s --split-input-file -p tileas-bound-rows | filecheck %s
// RUN: tileas-opt %s --split-input-file -p 'tileas-bound-rows{least=4097 most=5104}' | filecheck %s --check-prefix=BETWEEN
// RUN: tileas-opt %s --split-input-file -p 'tileas-bound-rows{least=5120 most=5120}' | filecheck %s --check-prefix=EXACT

// Rows of %a and %b begin with tiles of 8192: arguments 2 and 4 are their lengths. Of rows that end in the fifth eighth of a
// tile 4 warps have a vector of 8 elements of each eighth.

// CHECK-LABEL:   @rows
// CHECK-SAME:    num_warps = 8
// CHECK-SAME:    tileas.bounded_rows = {width = 8192 : i64, arguments = array<i64: 2, 4>}
// BETWEEN-LABEL: @rows
// BETWEEN-SAME:  num_warps = 4
// BETWEEN-SAME:  tileas.row_lengths = array<i64: 4097, 5104>
// BETWEEN:       %[[LENGTH:.*]] = nv_tileaa.assume %{{.*}}, #nv_tileaa.bounded<0, ?> : i32
// BETWEEN-NEXT:  %[[A:.*]] = nv_tileaa.assume %[[LENGTH]], #nv_tileaa.bounded<4096, 5104> : i32
// BETWEEN-NEXT:  nv_tileaa.make_memref %a, sizes[%m : i32, %[[A]] : i32]
// EXACT-LABEL:   @rows
// EXACT-SAME:    num_warps = 4
// EXACT-SAME:    tileas.row_lengths = array<i64: 5120, 5120>
// EXACT:         %[[B:.*]] = arith.constant 5120 : i32
// EXACT:         %[[A:.*]] = arith.constant 5120 : i32
// EXACT-NEXT:    nv_tileaa.make_memref %a, sizes[%m : i32, %[[A]] : i32]
// EXACT-NEXT:    nv_tileaa.make_memref %b, sizes[%[[B]] : i32]
// EXACT:         arith.sitofp %[[A]] : i32 to f32
func.func @rows(%a: !nv_tileaa.ptr<f16, 1>, %m: i32, %n: i32, %b: !nv_tileaa.ptr<f16, 1>, %k: i32) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %length = nv_tileaa.assume %n, #nv_tileaa.bounded<0, ?> : i32
  %matrix = nv_tileaa.make_memref %a, sizes[%m : i32, %length : i32], strides[%m : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %line = nv_tileaa.make_memref %b, sizes[%k : i32], strides : !nv_tileaa.ptr<f16, 1> -> memref<?xf16, strided<[1]>>
  %x = nv_tileas.view %matrix : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x8192xf16, gmem>
  %y = nv_tileas.view %line : memref<?xf16, strided<[1]>> -> !nv_tileas.tiled_view<8192xf16, gmem>
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t, %loaded = nv_tileas.tiled_load %x[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x8192xf16, gmem> -> tensor<1x8192xf16>, !nv_tileaa.mem_token
  %w, %read = nv_tileas.tiled_load %y[%zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<8192xf16, gmem> -> tensor<8192xf16>, !nv_tileaa.mem_token
  %count = arith.sitofp %length : i32 to f32
  %f = nv_tileas.view %w : tensor<8192xf16> -> tensor<1x8192xf16>
  %p = arith.mulf %t, %f : tensor<1x8192xf16>
  %stored = nv_tileas.tiled_store %p, %x[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x8192xf16>, !nv_tileas.tiled_view<1x8192xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Tiles that follow one another along rows do not begin with them, and no launch is asked.

// CHECK-LABEL: @columns
// CHECK-NOT:   bounded_rows
func.func @columns(%a: !nv_tileaa.ptr<f16, 1>, %n: i32) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %array = nv_tileaa.make_memref %a, sizes[%n : i32], strides : !nv_tileaa.ptr<f16, 1> -> memref<?xf16, strided<[1]>>
  %x = nv_tileas.view %array : memref<?xf16, strided<[1]>> -> !nv_tileas.tiled_view<1024xf16, gmem>
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t, %loaded = nv_tileas.tiled_load %x[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1024xf16, gmem> -> tensor<1024xf16>, !nv_tileaa.mem_token
  %stored = nv_tileas.tiled_store %t, %x[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1024xf16>, !nv_tileas.tiled_view<1024xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}
