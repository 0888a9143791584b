// All operations but those of `pointers.mlir`, as they are printed.

// RUN: tileas-opt %s | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// Where a block is in its grid.
// CHECK-LABEL: func.func @grid
func.func @grid() {
  // CHECK: %x = nv_tileaa.get_program_id {axis = 0 : i32}
  %x = nv_tileaa.get_program_id {axis = 0 : i32}
  // CHECK: %n = nv_tileaa.get_num_programs {axis = 2 : i32}
  %n = nv_tileaa.get_num_programs {axis = 2 : i32}
  func.return
}

// Facts are checked when the program is simulated.
// CHECK-LABEL: func.func @facts
func.func @facts(%p: !nv_tileaa.ptr<f32, 1>, %n: i32, %t: tensor<8xi32>) {
  // CHECK: %a = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %a = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  // CHECK: %b = nv_tileaa.assume %n, #nv_tileaa.bounded<0, ?> : i32
  %b = nv_tileaa.assume %n, #nv_tileaa.bounded<0, ?> : i32
  // CHECK: %c = nv_tileaa.assume %t, #nv_tileaa.div_by<8, every 4 along 0> : tensor<8xi32>
  %c = nv_tileaa.assume %t, #nv_tileaa.div_by<8, every 4 along 0> : tensor<8xi32>
  // CHECK: %d = nv_tileaa.assume %t, #nv_tileaa.same_elements<array<i64: 2>> : tensor<8xi32>
  %d = nv_tileaa.assume %t, #nv_tileaa.same_elements<array<i64: 2>> : tensor<8xi32>
  func.return
}

// An array behind a pointer, and tiles of it: dimension 0 of a tile runs along dimension 1.
// CHECK-LABEL: func.func @views
func.func @views(%p: !nv_tileaa.ptr<f32, 1>, %n: i32, %o: index) {
  // CHECK: %v = nv_tileaa.make_memref %p, sizes[%n : i32, %o], strides[%n : i32] : !nv_tileaa.ptr<f32, 1> -> memref<?x?xf32, strided<[?, 1]>>
  %v = nv_tileaa.make_memref %p, sizes[%n : i32, %o], strides[%n : i32] : !nv_tileaa.ptr<f32, 1> -> memref<?x?xf32, strided<[?, 1]>>
  // CHECK: %w = nv_tileaa.make_memref %p offset %o, sizes, strides : !nv_tileaa.ptr<f32, 1> -> memref<4xf32, strided<[1]>>
  %w = nv_tileaa.make_memref %p offset %o, sizes, strides : !nv_tileaa.ptr<f32, 1> -> memref<4xf32, strided<[1]>>
  // CHECK: %d = nv_tileaa.get_dim_size %v {axis = 1 : i32} : memref<?x?xf32, strided<[?, 1]>>
  %d = nv_tileaa.get_dim_size %v {axis = 1 : i32} : memref<?x?xf32, strided<[?, 1]>>
  // CHECK: %t = nv_tileaa.block_tile %v {tileSizes = array<i64: 4, 8>, dimGroups = array<i64: 1, 0>} : memref<?x?xf32, strided<[?, 1]>> -> !nv_tileaa.tiled_view<4x8xf32>
  %t = nv_tileaa.block_tile %v {tileSizes = array<i64: 4, 8>, dimGroups = array<i64: 1, 0>} : memref<?x?xf32, strided<[?, 1]>> -> !nv_tileaa.tiled_view<4x8xf32>
  func.return
}

// Tiles of an array; what is out of bounds is padded.
// CHECK-LABEL: func.func @tiles
func.func @tiles(%t: !nv_tileaa.tiled_view<4x8xf32>, %i: index) {
  // CHECK: %a = nv_tileaa.tiled_load %t[%i, %i] {padding_value = 0.000000e+00 : f32} : !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>
  %a = nv_tileaa.tiled_load %t[%i, %i] {padding_value = 0.000000e+00 : f32} : !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>
  // CHECK: %b = nv_tileaa.tiled_load %t[%i, %i] offset[%i, %i] relaxed gpu {latency = 4 : i32, allow_tma = true} : !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>
  %b = nv_tileaa.tiled_load %t[%i, %i] offset[%i, %i] relaxed gpu {latency = 4 : i32, allow_tma = true} : !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>
  // CHECK: %k = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
  %k = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
  // CHECK: %l = nv_tileaa.tiled_store %a, %t[%i, %i] after %k : !nv_tileaa.mem_token : tensor<4x8xf32>, !nv_tileaa.tiled_view<4x8xf32> -> !nv_tileaa.mem_token
  %l = nv_tileaa.tiled_store %a, %t[%i, %i] after %k : !nv_tileaa.mem_token : tensor<4x8xf32>, !nv_tileaa.tiled_view<4x8xf32> -> !nv_tileaa.mem_token
  // CHECK: %c, %m = nv_tileaa.tiled_atomic_rmw add %a, %t[%i, %i] acq_rel sys after %l : !nv_tileaa.mem_token : tensor<4x8xf32>, !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>, !nv_tileaa.mem_token
  %c, %m = nv_tileaa.tiled_atomic_rmw add %a, %t[%i, %i] acq_rel sys after %l : !nv_tileaa.mem_token : tensor<4x8xf32>, !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>, !nv_tileaa.mem_token
  // CHECK: %j = nv_tileaa.join_mem_token %k, %m : !nv_tileaa.mem_token, !nv_tileaa.mem_token -> !nv_tileaa.mem_token
  %j = nv_tileaa.join_mem_token %k, %m : !nv_tileaa.mem_token, !nv_tileaa.mem_token -> !nv_tileaa.mem_token
  func.return
}

// Elements of an array, one by one.
// CHECK-LABEL: func.func @scattered
func.func @scattered(%v: memref<?x?xf32>, %i: index, %r: tensor<4x8xi32>, %t: tensor<4x8xf32>) {
  // CHECK: %a = nv_tileaa.gather_load %v[%r : tensor<4x8xi32>, %i] : memref<?x?xf32> -> tensor<4x8xf32>
  %a = nv_tileaa.gather_load %v[%r : tensor<4x8xi32>, %i] : memref<?x?xf32> -> tensor<4x8xf32>
  // CHECK: nv_tileaa.scatter_store %t, %v[%r : tensor<4x8xi32>, %i] : tensor<4x8xf32>, memref<?x?xf32>
  nv_tileaa.scatter_store %t, %v[%r : tensor<4x8xi32>, %i] : tensor<4x8xf32>, memref<?x?xf32>
  func.return
}

// Through pointers, with masks.
// CHECK-LABEL: func.func @pointers
func.func @pointers(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %m: tensor<8xi1>, %t: tensor<8xf32>) {
  // CHECK: %a = nv_tileaa.load %p mask %m : tensor<8xi1> other %t : tensor<8xf32> : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  %a = nv_tileaa.load %p mask %m : tensor<8xi1> other %t : tensor<8xf32> : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  // CHECK: nv_tileaa.store %t, %p release gpu mask %m : tensor<8xi1> : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>>
  nv_tileaa.store %t, %p release gpu mask %m : tensor<8xi1> : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>>
  // CHECK: %b = nv_tileaa.atomic_rmw add %t, %p relaxed gpu : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  %b = nv_tileaa.atomic_rmw add %t, %p relaxed gpu : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  // CHECK: %c = nv_tileaa.atomic_cas %t, %t, %p acq_rel sys mask %m : tensor<8xi1> : tensor<8xf32>, tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  %c = nv_tileaa.atomic_cas %t, %t, %p acq_rel sys mask %m : tensor<8xi1> : tensor<8xf32>, tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  func.return
}

// Splats, views and rearrangements of elements.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%s: f32, %t: tensor<4x8xf32>, %i: index) {
  // CHECK: %a = nv_tileaa.splat %s : f32 -> tensor<4x8xf32>
  %a = nv_tileaa.splat %s : f32 -> tensor<4x8xf32>
  // CHECK: %b = nv_tileaa.view %t : tensor<4x8xf32> -> tensor<32xf32>
  %b = nv_tileaa.view %t : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK: %c = nv_tileaa.expand_dims %t {axis = 1 : i32} : tensor<4x8xf32> -> tensor<4x1x8xf32>
  %c = nv_tileaa.expand_dims %t {axis = 1 : i32} : tensor<4x8xf32> -> tensor<4x1x8xf32>
  // CHECK: %d = nv_tileaa.broadcast %c : tensor<4x1x8xf32> -> tensor<4x2x8xf32>
  %d = nv_tileaa.broadcast %c : tensor<4x1x8xf32> -> tensor<4x2x8xf32>
  // CHECK: %e = nv_tileaa.permute %t {permutation = array<i64: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %e = nv_tileaa.permute %t {permutation = array<i64: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: %f = nv_tileaa.cat %t, %t {axis = 0 : i32} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  %f = nv_tileaa.cat %t, %t {axis = 0 : i32} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  // CHECK: %g = nv_tileaa.extract %f[%i, %i] : tensor<8x8xf32> -> tensor<4x4xf32>
  %g = nv_tileaa.extract %f[%i, %i] : tensor<8x8xf32> -> tensor<4x4xf32>
  // CHECK: %h = nv_tileaa.insert %g into %f[%i, %i] : tensor<4x4xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %h = nv_tileaa.insert %g into %f[%i, %i] : tensor<4x4xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: %j = nv_tileaa.make_range {start = 0 : i64, end = 16 : i64} : tensor<16xi32>
  %j = nv_tileaa.make_range {start = 0 : i64, end = 16 : i64} : tensor<16xi32>
  // CHECK: %k = nv_tileaa.generate : tensor<4xindex> {
  %k = nv_tileaa.generate : tensor<4xindex> {
  ^bb0(%q: index):
    // CHECK: nv_tileaa.yield %q : index
    nv_tileaa.yield %q : index
  }
  func.return
}

// Products, and combinations of the elements along an axis.
// CHECK-LABEL: func.func @compute
func.func @compute(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>) {
  // CHECK: %d = nv_tileaa.dot %a, %b, %c : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32> -> tensor<16x8xf32>
  %d = nv_tileaa.dot %a, %b, %c : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32> -> tensor<16x8xf32>
  // CHECK: %e = nv_tileaa.reduce %d {axis = 1 : i32, identities = [0.000000e+00 : f32]} : tensor<16x8xf32> -> tensor<16xf32> {
  %e = nv_tileaa.reduce %d {axis = 1 : i32, identities = [0.000000e+00 : f32]} : tensor<16x8xf32> -> tensor<16xf32> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    // CHECK: nv_tileaa.yield %z : f32
    nv_tileaa.yield %z : f32
  }
  // CHECK: %f, %g = nv_tileaa.scan %d, %d {axis = 0 : i32, identities = [0.000000e+00 : f32, 0.000000e+00 : f32], reverse} : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x8xf32>, tensor<16x8xf32> {
  %f, %g = nv_tileaa.scan %d, %d {axis = 0 : i32, identities = [0.000000e+00 : f32, 0.000000e+00 : f32], reverse} : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x8xf32>, tensor<16x8xf32> {
  ^bb1(%p: f32, %q: f32, %r: f32, %s: f32):
    // CHECK: nv_tileaa.yield %p, %s : f32, f32
    nv_tileaa.yield %p, %s : f32, f32
  }
  func.return
}

// Other elements.
// CHECK-LABEL: func.func @conversions
func.func @conversions(%a: tensor<8xf32>, %p: !nv_tileaa.ptr<f32, 1>) {
  // CHECK: %b = nv_tileaa.fp_to_fp %a : tensor<8xf32> -> tensor<8xf16>
  %b = nv_tileaa.fp_to_fp %a : tensor<8xf32> -> tensor<8xf16>
  // CHECK: %c = nv_tileaa.bitcast %p : !nv_tileaa.ptr<f32, 1> -> !nv_tileaa.ptr<i32, 1>
  %c = nv_tileaa.bitcast %p : !nv_tileaa.ptr<f32, 1> -> !nv_tileaa.ptr<i32, 1>
  // CHECK: %d = nv_tileaa.ptr_to_int %c : !nv_tileaa.ptr<i32, 1> -> i64
  %d = nv_tileaa.ptr_to_int %c : !nv_tileaa.ptr<i32, 1> -> i64
  // CHECK: %e = nv_tileaa.int_to_ptr %d : i64 -> !nv_tileaa.ptr<f16, 1>
  %e = nv_tileaa.int_to_ptr %d : i64 -> !nv_tileaa.ptr<f16, 1>
  func.return
}

// Prints and assertions.
// CHECK-LABEL: func.func @messages
func.func @messages(%c: tensor<8xi1>, %t: tensor<8xf32>) {
  // CHECK: nv_tileaa.assert %c, "in order" : tensor<8xi1>
  nv_tileaa.assert %c, "in order" : tensor<8xi1>
  // CHECK: nv_tileaa.print "tile %f", %t : tensor<8xf32>
  nv_tileaa.print "tile %f", %t : tensor<8xf32>
  func.return
}

// Memory of the module.
// CHECK: nv_tileaa.global "table" {value = dense<[1, 2]> : tensor<2xi32>, alignment = 16 : i64}
nv_tileaa.global "table" {value = dense<[1, 2]> : tensor<2xi32>, alignment = 16 : i64}
// CHECK-LABEL: func.func @global
func.func @global() {
  // CHECK: %a = nv_tileaa.get_global "table" : !nv_tileaa.ptr<i32, 1>
  %a = nv_tileaa.get_global "table" : !nv_tileaa.ptr<i32, 1>
  func.return
}

// CHECK-LABEL: func.func @memory_of_the_block
func.func @memory_of_the_block() {
  // CHECK: %a = nv_tileaa.alloca num_elem = 64, alignment = 16 : !nv_tileaa.ptr<f32, 1>
  %a = nv_tileaa.alloca num_elem = 64, alignment = 16 : !nv_tileaa.ptr<f32, 1>
  func.return
}
