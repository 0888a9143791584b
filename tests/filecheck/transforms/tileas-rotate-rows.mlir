// `tileas-rotate-rows`: rows that begin between vectors are held from a vector on.

// RUN: tileas-opt %s --split-input-file -p tileas-rotate-rows | filecheck %s

// Both arrays have the same stride, so that both accesses begin at a multiple of 16 bytes.

// CHECK-LABEL: @copy
// CHECK:       %[[ROWS:.*]] = arith.muli %{{.*}}, %stride : i32
// CHECK:       %[[BEGIN:.*]] = arith.andi %[[ROWS]], %{{.*}} : i32
// CHECK:       %[[SHIFT:.*]] = arith.subi %{{.*}}, %[[BEGIN]] : i32
// CHECK:       %[[OFFSET:.*]] = arith.index_cast %[[SHIFT]] : i32 to index
// CHECK:       nv_tileas.tiled_load {{.*}} offset[%{{.*}}, %[[OFFSET]]] {{.*}}rotated = 16 : i32
// CHECK:       nv_tileas.tiled_store {{.*}} offset[%{{.*}}, %[[OFFSET]]] {{.*}}rotated = 16 : i32
func.func @copy(%p: !nv_tileaa.ptr<f16, 1>, %q: !nv_tileaa.ptr<f16, 1>, %n: i32, %stride: i32, %i: index) {
  %x = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %y = nv_tileaa.assume %q, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %a = nv_tileaa.make_memref %x, sizes[%n : i32, %n : i32], strides[%stride : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %b = nv_tileaa.make_memref %y, sizes[%n : i32, %n : i32], strides[%stride : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %zero = arith.constant 0 : index
  %va = nv_tileas.view %a : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x1024xf16, gmem>
  %vb = nv_tileas.view %b : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x1024xf16, gmem>
  %t = nv_tileas.tiled_load %va[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf16, gmem> -> tensor<1x1024xf16>
  nv_tileas.tiled_store %t, %vb[%i, %zero] {atom = #nv_tileas<atom stg>} : tensor<1x1024xf16>, !nv_tileas.tiled_view<1x1024xf16, gmem>
  func.return
}

// -----

// Columns are renamed where a body computes with them, weights are rotated with the row that they
// meet, and what is reduced is not.

// CHECK-LABEL: @weighted
// CHECK:       %[[OFFSET:.*]] = arith.index_cast %[[SHIFT:.*]] : i32 to index
// CHECK:       nv_tileas.tiled_load {{.*}} offset[%{{.*}}, %[[OFFSET]]] {{.*}}rotated = 16 : i32
// CHECK:       nv_tileas.generate
// CHECK-NEXT:  ^{{.*}}(%{{.*}}: index, %[[P:.*]]: index):
// CHECK:         %[[MOVED:.*]] = arith.addi %{{.*}}, %[[SHIFT]] : i32
// CHECK:         %[[INSIDE:.*]] = arith.andi %[[MOVED]], %{{.*}} : i32
// CHECK:         %[[COLUMN:.*]] = arith.index_cast %[[INSIDE]] : i32 to index
// CHECK:         tensor.extract %{{.*}}[%{{.*}}, %[[P]]]
// CHECK:         arith.cmpi slt, %[[COLUMN]]
// CHECK:       nv_tileas.tiled_load {{.*}} offset[%[[OFFSET]]] {{.*}}rotated = 2 : i32
// CHECK:       nv_tileas.reduce
// CHECK:       nv_tileas.tiled_store {{.*}}[%i] {atom
func.func @weighted(%p: !nv_tileaa.ptr<f16, 1>, %w: !nv_tileaa.ptr<f16, 1>, %s: !nv_tileaa.ptr<f16, 1>, %n: index, %m: i32, %stride: i32, %i: index) {
  %x = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %a = nv_tileaa.make_memref %x, sizes[%m : i32, %m : i32], strides[%stride : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %b = nv_tileaa.make_memref %w, sizes[%m : i32], strides : !nv_tileaa.ptr<f16, 1> -> memref<?xf16, strided<[1]>>
  %c = nv_tileaa.make_memref %s, sizes[%m : i32], strides : !nv_tileaa.ptr<f16, 1> -> memref<?xf16, strided<[1]>>
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : f16
  %va = nv_tileas.view %a : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x1024xf16, gmem>
  %vb = nv_tileas.view %b : memref<?xf16, strided<[1]>> -> !nv_tileas.tiled_view<1024xf16, gmem>
  %vc = nv_tileas.view %c : memref<?xf16, strided<[1]>> -> !nv_tileas.tiled_view<1xf16, gmem>
  %t = nv_tileas.tiled_load %va[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf16, gmem> -> tensor<1x1024xf16>
  %g = nv_tileas.generate : tensor<1x1024xf16> {
  ^bb0(%r: index, %j: index):
    %e = tensor.extract %t[%r, %j] : tensor<1x1024xf16>
    %ok = arith.cmpi slt, %j, %n : index
    %v = arith.select %ok, %e, %none : f16
    nv_tileas.yield %v : f16
  }
  %u = nv_tileas.tiled_load %vb[%zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1024xf16, gmem> -> tensor<1024xf16>
  %wide = nv_tileas.expand_dims %u {axis = 0 : i32} : tensor<1024xf16> -> tensor<1x1024xf16>
  %product = arith.mulf %g, %wide : tensor<1x1024xf16>
  %sum = nv_tileas.reduce %product {axis = 1 : i32} : tensor<1x1024xf16> -> tensor<1xf16> {
  ^bb0(%l: f16, %k: f16):
    %o = arith.addf %l, %k : f16
    nv_tileas.yield %o : f16
  }
  nv_tileas.tiled_store %sum, %vc[%i] {atom = #nv_tileas<atom stg>} : tensor<1xf16>, !nv_tileas.tiled_view<1xf16, gmem>
  func.return
}

// -----

// A row stays where the places of its elements matter (a scan), where a loop carries it, for the
// next row begins elsewhere, and where every row begins at a vector.

// CHECK-LABEL: @stays
// CHECK-NOT:   rotated
func.func @stays(%p: !nv_tileaa.ptr<f16, 1>, %q: !nv_tileaa.ptr<f16, 1>, %n: i32, %s: i32, %i: index) {
  %x = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %even = nv_tileaa.assume %s, #nv_tileaa.div_by<8> : i32
  %a = nv_tileaa.make_memref %x, sizes[%n : i32, %n : i32], strides[%s : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %b = nv_tileaa.make_memref %x, sizes[%n : i32, %n : i32], strides[%even : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %va = nv_tileas.view %a : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x1024xf16, gmem>
  %vb = nv_tileas.view %b : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x1024xf16, gmem>
  %t = nv_tileas.tiled_load %va[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf16, gmem> -> tensor<1x1024xf16>
  %c = nv_tileas.scan %t {axis = 1 : i32} : tensor<1x1024xf16> -> tensor<1x1024xf16> {
  ^bb0(%l: f16, %k: f16):
    %o = arith.addf %l, %k : f16
    nv_tileas.yield %o : f16
  }
  nv_tileas.tiled_store %c, %va[%i, %zero] {atom = #nv_tileas<atom stg>} : tensor<1x1024xf16>, !nv_tileas.tiled_view<1x1024xf16, gmem>
  %none = arith.constant dense<0.0> : tensor<1x1024xf16>
  %sum = scf.for %k = %zero to %four step %one iter_args(%acc = %none) -> (tensor<1x1024xf16>) {
    %u = nv_tileas.tiled_load %va[%k, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf16, gmem> -> tensor<1x1024xf16>
    %new = arith.addf %acc, %u : tensor<1x1024xf16>
    scf.yield %new : tensor<1x1024xf16>
  }
  %e = nv_tileas.tiled_load %vb[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf16, gmem> -> tensor<1x1024xf16>
  nv_tileas.tiled_store %e, %vb[%i, %one] {atom = #nv_tileas<atom stg>} : tensor<1x1024xf16>, !nv_tileas.tiled_view<1x1024xf16, gmem>
  func.return
}

// -----

// In a loop over rows, weights are loaded in front of it, as they are in memory, into shared memory: each
// row reads them there from another element on.

// CHECK-LABEL: @kept
// CHECK:       %[[LINE:.*]] = nv_tileas.async.tiled_load %[[W:.*]][%{{.*}}] offset[%{{.*}}] {nv_tileas.kept_in_shared_memory = 0 : i32, {{.*}}rotated = 2 : i32
// CHECK-NEXT:  nv_tileas.async.wait %[[LINE]]
// CHECK:       scf.for
// CHECK:         nv_tileas.tiled_load {{.*}} offset[%{{.*}}, %[[OFFSET:[0-9]+]]] {{.*}}rotated = 16 : i32
// CHECK-NEXT:    nv_tileas.tiled_load %[[W]][%{{.*}}] offset[%[[OFFSET]]] {nv_tileas.kept_in_shared_memory = 0 : i32, {{.*}}rotated = 2 : i32
func.func @kept(%p: !nv_tileaa.ptr<f16, 1>, %w: !nv_tileaa.ptr<f16, 1>, %m: i32, %stride: i32, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %x = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %y = nv_tileaa.assume %w, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %a = nv_tileaa.make_memref %x, sizes[%m : i32, %m : i32], strides[%stride : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %b = nv_tileaa.make_memref %y, sizes[%m : i32], strides : !nv_tileaa.ptr<f16, 1> -> memref<?xf16, strided<[1]>>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %va = nv_tileas.view %a : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x1024xf16, gmem>
  %vb = nv_tileas.view %b : memref<?xf16, strided<[1]>> -> !nv_tileas.tiled_view<1024xf16, gmem>
  scf.for %i = %zero to %n step %one {
    %t = nv_tileas.tiled_load %va[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf16, gmem> -> tensor<1x1024xf16>
    %u = nv_tileas.tiled_load %vb[%zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1024xf16, gmem> -> tensor<1024xf16>
    %wide = nv_tileas.expand_dims %u {axis = 0 : i32} : tensor<1024xf16> -> tensor<1x1024xf16>
    %product = arith.mulf %t, %wide : tensor<1x1024xf16>
    %stored = nv_tileas.tiled_store %product, %va[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x1024xf16>, !nv_tileas.tiled_view<1x1024xf16, gmem> -> !nv_tileaa.mem_token
  }
  func.return
}

// -----

// Each of several rows has an offset of its own, where a thread has one row. A line that they meet is read for
// each of them, out of shared memory, where it is on its way before they are loaded.

// CHECK-LABEL: @several
// CHECK:       %[[SHIFT:.*]] = arith.subi %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:  %[[STEP:.*]] = arith.subi %{{.*}}, %stride : i32
// CHECK:       %[[FIRST:.*]] = arith.index_cast %[[SHIFT]] : i32 to index
// CHECK:       %[[NEXT:.*]] = arith.index_cast %[[STEP]] : i32 to index
// CHECK:       %[[LINE:.*]] = nv_tileas.async.tiled_load {{.*}}kept_in_shared_memory = 0 : i32{{.*}} -> !nv_tileas.token<tensor<1x1024xf16>>
// CHECK-NEXT:  nv_tileas.tiled_load %va[%i, %zero] offset[%[[NEXT]], %[[FIRST]]] {{.*}}rotated = 16 : i32, modulus = 8 : i32
// CHECK:       nv_tileaa.make_memref %w, {{.*}} -> memref<4x?xf16, strided<[0, 1]>>
// CHECK:       nv_tileas.async.wait %[[LINE]]
// CHECK-NEXT:  nv_tileas.tiled_load {{.*}} offset[%[[NEXT]], %[[FIRST]]] {nv_tileas.kept_in_shared_memory = 0 : i32, {{.*}}rotated = 2 : i32, modulus = 8 : i32
// CHECK:       arith.constant dense<1.000000e+00> : tensor<4x1024xf32>
// CHECK:       nv_tileas.generate
// CHECK-NEXT:  ^{{.*}}(%[[ROW:.*]]: index, %[[P:.*]]: index):
// CHECK:         %[[R:.*]] = arith.index_cast %[[ROW]] : index to i32
// CHECK-NEXT:    %[[MORE:.*]] = arith.muli %[[R]], %[[STEP]] : i32
// CHECK-NEXT:    arith.addi %[[SHIFT]], %[[MORE]] : i32
// CHECK:         tensor.extract %{{.*}}[%[[ROW]], %[[P]]]
// CHECK:       nv_tileas.tiled_store {{.*}} offset[%[[NEXT]], %[[FIRST]]] {{.*}}modulus = 8 : i32
func.func @several(%p: !nv_tileaa.ptr<f16, 1>, %w: !nv_tileaa.ptr<f16, 1>, %m: i32, %n: index, %stride: i32, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %x = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %a = nv_tileaa.make_memref %x, sizes[%m : i32, %m : i32], strides[%stride : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %b = nv_tileaa.make_memref %w, sizes[%m : i32], strides : !nv_tileaa.ptr<f16, 1> -> memref<?xf16, strided<[1]>>
  %zero = arith.constant 0 : index
  %nothing = arith.constant 0.0 : f32
  %va = nv_tileas.view %a : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<4x1024xf16, gmem>
  %vb = nv_tileas.view %b : memref<?xf16, strided<[1]>> -> !nv_tileas.tiled_view<1024xf16, gmem>
  %t = nv_tileas.tiled_load %va[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<4x1024xf16, gmem> -> tensor<4x1024xf16>
  %u = nv_tileas.tiled_load %vb[%zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1024xf16, gmem> -> tensor<1024xf16>
  %wide = arith.extf %u : tensor<1024xf16> to tensor<1024xf32>
  %ones = arith.constant dense<1.0> : tensor<1024xf32>
  %more = arith.addf %wide, %ones : tensor<1024xf32>
  %g = nv_tileas.generate : tensor<4x1024xf32> {
  ^bb0(%r: index, %j: index):
    %e = tensor.extract %more[%j] : tensor<1024xf32>
    %ok = arith.cmpi slt, %j, %n : index
    %v = arith.select %ok, %e, %nothing : f32
    nv_tileas.yield %v : f32
  }
  %rows = arith.extf %t : tensor<4x1024xf16> to tensor<4x1024xf32>
  %product = arith.mulf %rows, %g : tensor<4x1024xf32>
  %q = arith.truncf %product : tensor<4x1024xf32> to tensor<4x1024xf16>
  %stored = nv_tileas.tiled_store %q, %va[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<4x1024xf16>, !nv_tileas.tiled_view<4x1024xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}
