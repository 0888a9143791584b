// What operations of `nv_tileaa` refuse.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @refused() {
  // expected-error@+1 {{'nv_tileaa.get_program_id' op a grid has axes 0 to 2, not 3}}
  %0 = nv_tileaa.get_program_id {axis = 3 : i32}
  func.return
}

// -----

func.func @refused(%n: f32) {
  // expected-error@+1 {{knows facts of integers, pointers and arrays, not of f32}}
  %0 = nv_tileaa.assume %n, #nv_tileaa.div_by<16> : f32
  func.return
}

// -----

func.func @refused(%n: !nv_tileaa.ptr<f32, 1>) {
  // expected-error@+1 {{bounds integers, not !nv_tileaa.ptr<f32, 1>}}
  %0 = nv_tileaa.assume %n, #nv_tileaa.bounded<0, 4> : !nv_tileaa.ptr<f32, 1>
  func.return
}

// -----

func.func @refused(%n: i32) {
  // expected-error@+1 {{states divisors, bounds or equal elements, not 4 : i32}}
  %0 = nv_tileaa.assume %n, 4 : i32 : i32
  func.return
}

// -----

func.func @refused(%n: tensor<4x4xi32>) {
  // expected-error@+1 {{a chunk of a tile of rank 2 has as many extents}}
  %0 = nv_tileaa.assume %n, #nv_tileaa.same_elements<array<i64: 2>> : tensor<4x4xi32>
  func.return
}

// -----

func.func @refused(%n: tensor<8xi32>) {
  // expected-error@+1 {{groups elements along dimension 3 of rank 1}}
  %0 = nv_tileaa.assume %n, #nv_tileaa.div_by<4, every 4 along 3> : tensor<8xi32>
  func.return
}

// -----

func.func @refused(%n: tensor<8xi32>) {
  // expected-error@+1 {{a group has at least one element, not 0}}
  %0 = nv_tileaa.assume %n, #nv_tileaa.div_by<4, every 0 along 0> : tensor<8xi32>
  func.return
}

// -----

func.func @refused(%n: tensor<8xi32>) {
  // expected-error@+1 {{a chunk has at least one element along each dimension}}
  %0 = nv_tileaa.assume %n, #nv_tileaa.same_elements<array<i64: 0>> : tensor<8xi32>
  func.return
}

// -----

func.func @refused(%p: !nv_tileaa.ptr<f32, 1>) {
  // expected-error@+1 {{expects 1 sizes for memref<?xf32, strided<[1]>>, but got 0}}
  %0 = nv_tileaa.make_memref %p, sizes, strides : !nv_tileaa.ptr<f32, 1> -> memref<?xf32, strided<[1]>>
  func.return
}

// -----

func.func @refused(%p: !nv_tileaa.ptr<f32, 1>, %n: i32) {
  // expected-error@+1 {{expects 0 strides for memref<4xf32, strided<[1]>>, but got 1}}
  %0 = nv_tileaa.make_memref %p, sizes, strides[%n : i32] : !nv_tileaa.ptr<f32, 1> -> memref<4xf32, strided<[1]>>
  func.return
}

// -----

func.func @refused(%p: !nv_tileaa.ptr<f32, 1>) {
  // expected-error@+1 {{shows f16 behind a pointer to !nv_tileaa.ptr<f32, 1>}}
  %0 = nv_tileaa.make_memref %p, sizes, strides : !nv_tileaa.ptr<f32, 1> -> memref<4xf16>
  func.return
}

// -----

func.func @refused(%p: !nv_tileaa.ptr<f32, 1>) {
  // expected-error@+1 {{begins at its offset}}
  %0 = nv_tileaa.make_memref %p, sizes, strides : !nv_tileaa.ptr<f32, 1> -> memref<4xf32, strided<[1], offset: 4>>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>) {
  // expected-error@+1 {{an array of rank 2 has no axis 2}}
  %0 = nv_tileaa.get_dim_size %v {axis = 2 : i32} : memref<?x?xf32>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>) {
  // expected-error@+1 {{expects non-empty tileSizes}}
  %0 = nv_tileaa.block_tile %v {tileSizes = array<i64>, dimGroups = array<i64: 0>} : memref<?x?xf32> -> !nv_tileaa.tiled_view<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>) {
  // expected-error@+1 {{expects non-empty dimGroups}}
  %0 = nv_tileaa.block_tile %v {tileSizes = array<i64: 4>, dimGroups = array<i64>} : memref<?x?xf32> -> !nv_tileaa.tiled_view<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>) {
  // expected-error@+1 {{expects rank of tileSizes be equal to rank of dimGroups, but got 2 vs 1}}
  %0 = nv_tileaa.block_tile %v {tileSizes = array<i64: 4, 8>, dimGroups = array<i64: 0>} : memref<?x?xf32> -> !nv_tileaa.tiled_view<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>) {
  // expected-error@+1 {{expects all tile size bigger than zero}}
  %0 = nv_tileaa.block_tile %v {tileSizes = array<i64: 4, 0>, dimGroups = array<i64: 0, 1>} : memref<?x?xf32> -> !nv_tileaa.tiled_view<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>) {
  // expected-error@+1 {{expects dim is being tiled only one time, but got 1, 1}}
  %0 = nv_tileaa.block_tile %v {tileSizes = array<i64: 4, 8>, dimGroups = array<i64: 1, 1>} : memref<?x?xf32> -> !nv_tileaa.tiled_view<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>) {
  // expected-error@+1 {{tiles every dimension of memref<?x?xf32>, not (0)}}
  %0 = nv_tileaa.block_tile %v {tileSizes = array<i64: 4>, dimGroups = array<i64: 0>} : memref<?x?xf32> -> !nv_tileaa.tiled_view<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>) {
  // expected-error@+1 {{gives !nv_tileaa.tiled_view<4x4xf32>, not !nv_tileaa.tiled_view<4x8xf32>}}
  %0 = nv_tileaa.block_tile %v {tileSizes = array<i64: 4, 4>, dimGroups = array<i64: 0, 1>} : memref<?x?xf32> -> !nv_tileaa.tiled_view<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: !nv_tileaa.tiled_view<4x8xf32>, %i: index) {
  // expected-error@+1 {{expects 2 coordinates, but got 1}}
  %0 = nv_tileaa.tiled_load %v[%i] : !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: !nv_tileaa.tiled_view<4x8xf32>, %i: index) {
  // expected-error@+1 {{expects no offsets or 2, but got 1}}
  %0 = nv_tileaa.tiled_load %v[%i, %i] offset[%i] : !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: !nv_tileaa.tiled_view<4x8xf32>, %i: index) {
  // expected-error@+1 {{accesses a tile of !nv_tileaa.tiled_view<4x8xf32>, but got tensor<8xf32>}}
  %0 = nv_tileaa.tiled_load %v[%i, %i] : !nv_tileaa.tiled_view<4x8xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @refused(%v: !nv_tileaa.tiled_view<4x8xf32>, %i: index) {
  // expected-error@+1 {{unsupported mem_semantic: acquire}}
  %0 = nv_tileaa.tiled_load %v[%i, %i] acquire gpu : !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: !nv_tileaa.tiled_view<4x8xf32>, %i: index) {
  // expected-error@+1 {{mem_scope required when mem_semantic is not weak}}
  %0 = nv_tileaa.tiled_load %v[%i, %i] relaxed : !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: !nv_tileaa.tiled_view<4x8xf32>, %i: index, %k: !nv_tileaa.mem_token) {
  // expected-error@+1 {{gives a token iff it takes one}}
  %0 = nv_tileaa.tiled_load %v[%i, %i] after %k : !nv_tileaa.mem_token : !nv_tileaa.tiled_view<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{expects 2 coordinates, but got 1}}
  %0 = nv_tileaa.gather_load %v[%i] : memref<?x?xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>, %i: index, %r: tensor<4xi32>) {
  // expected-error@+1 {{has a coordinate tensor<4xi32> for a tile tensor<4x8xf32>}}
  %0 = nv_tileaa.gather_load %v[%r : tensor<4xi32>, %i] : memref<?x?xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%v: memref<?x?xf32>, %i: index) {
  // expected-error@+1 {{accesses elements of memref<?x?xf32>, but got tensor<4xf16>}}
  %0 = nv_tileaa.gather_load %v[%i, %i] : memref<?x?xf32> -> tensor<4xf16>
  func.return
}

// -----

func.func @refused(%p: tensor<8xf32>) {
  // expected-error@+1 {{expects a pointer or a tile of pointers, but got tensor<8xf32>}}
  %0 = nv_tileaa.load %p : tensor<8xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @refused(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>) {
  // expected-error@+1 {{accesses a value for each pointer, but got tensor<4xf32>}}
  %0 = nv_tileaa.load %p : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<4xf32>
  func.return
}

// -----

func.func @refused(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %m: tensor<4xi1>) {
  // expected-error@+1 {{expects a mask of type tensor<8xi1>, but got tensor<4xi1>}}
  %0 = nv_tileaa.load %p mask %m : tensor<4xi1> : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  func.return
}

// -----

func.func @refused(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %m: tensor<8xi1>, %o: f32) {
  // expected-error@+1 {{expects tensor<8xf32> besides, but got f32}}
  %0 = nv_tileaa.load %p mask %m : tensor<8xi1> other %o : f32 : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  func.return
}

// -----

func.func @refused(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %t: tensor<8xf32>) {
  // expected-error@+1 {{unsupported mem_semantic: acq_rel}}
  nv_tileaa.store %t, %p acq_rel gpu : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>>
  func.return
}

// -----

func.func @refused(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %t: tensor<8xf32>) {
  // expected-error@+1 {{gives what was there, tensor<8xf32>, not tensor<8xf16>}}
  %0 = nv_tileaa.atomic_rmw add %t, %p : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf16>
  func.return
}

// -----

func.func @refused(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %t: tensor<8xf32>, %c: tensor<8xi32>) {
  // expected-error@+1 {{compares with tensor<8xf32>, not tensor<8xi32>}}
  %0 = nv_tileaa.atomic_cas %c, %t, %p : tensor<8xi32>, tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{keeps 32 elements, but gives 8}}
  %0 = nv_tileaa.view %t : tensor<4x8xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{keeps the element type f32, but gives i32}}
  %0 = nv_tileaa.view %t : tensor<4x8xf32> -> tensor<4x8xi32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{the new axis of a rank 2 tile is not 3}}
  %0 = nv_tileaa.expand_dims %t {axis = 3 : i32} : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{the result has extents (1, 4, 8), not (4, 8)}}
  %0 = nv_tileaa.expand_dims %t {axis = 0 : i32} : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{repeats extents of 1 of (4, 8) to (8, 8)}}
  %0 = nv_tileaa.broadcast %t : tensor<4x8xf32> -> tensor<8x8xf32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{(0, 0) is no order of 2 dimensions}}
  %0 = nv_tileaa.permute %t {permutation = array<i64: 0, 0>} : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{a tile of rank 2 has no axis 2}}
  %0 = nv_tileaa.cat %t, %t {axis = 2 : i32} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>, %u: tensor<4x4xf32>) {
  // expected-error@+1 {{joins (4, 8) and (4, 4) along axis 0 only}}
  %0 = nv_tileaa.cat %t, %u {axis = 0 : i32} : tensor<4x8xf32>, tensor<4x4xf32> -> tensor<4x8xf32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>, %i: index) {
  // expected-error@+1 {{(4, 8) is not made of parts of (3, 8)}}
  %0 = nv_tileaa.extract %t[%i, %i] : tensor<4x8xf32> -> tensor<3x8xf32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>, %i: index) {
  // expected-error@+1 {{expects 2 indices, but got 1}}
  %0 = nv_tileaa.extract %t[%i] : tensor<4x8xf32> -> tensor<2x8xf32>
  func.return
}

// -----

func.func @refused() {
  // expected-error@+1 {{counts in integers, not in tensor<4xf32>}}
  %0 = nv_tileaa.make_range {start = 0 : i64, end = 4 : i64} : tensor<4xf32>
  func.return
}

// -----

func.func @refused() {
  // expected-error@+1 {{ends after its start}}
  %0 = nv_tileaa.make_range {start = 4 : i64, end = 4 : i64} : tensor<4xi32>
  func.return
}

// -----

func.func @refused(%s: f32) {
  // expected-error@+1 {{repeats f32 in tiles of it, not tensor<4xi32>}}
  %0 = nv_tileaa.splat %s : f32 -> tensor<4xi32>
  func.return
}

// -----

func.func @refused() {
  // expected-error@+1 {{the body takes (index), not (i32)}}
  %0 = nv_tileaa.generate : tensor<4xindex> {
  ^bb0(%i: i32):
    nv_tileaa.yield %i : i32
  }
  func.return
}

// -----

func.func @refused() {
  // expected-error@+1 {{expects regions to end with 'nv_tileaa.yield'}}
  %0 = nv_tileaa.generate : tensor<4xindex> {
  ^bb0(%i: index):
    llvm.unreachable
  }
  func.return
}

// -----

func.func @refused() {
  // expected-error@+1 {{the body yields (i32), not (index)}}
  %0 = nv_tileaa.generate : tensor<4xi32> {
  ^bb0(%i: index):
    nv_tileaa.yield %i : index
  }
  func.return
}

// -----

func.func @refused(%a: tensor<16x16xf16>, %b: tensor<16x16xi8>) {
  // expected-error@+1 {{expected the element types of A, B, C, and D to be either all integers or all floats.}}
  %0 = nv_tileaa.dot %a, %b, %a : tensor<16x16xf16>, tensor<16x16xi8>, tensor<16x16xf16> -> tensor<16x16xf16>
  func.return
}

// -----

func.func @refused(%a: tensor<16x16xi8>, %b: tensor<16x16xi4>, %c: tensor<16x16xi32>) {
  // expected-error@+1 {{expects #A and #B have same bit width but got 8 vs 4}}
  %0 = nv_tileaa.dot %a, %b, %c : tensor<16x16xi8>, tensor<16x16xi4>, tensor<16x16xi32> -> tensor<16x16xi32>
  func.return
}

// -----

func.func @refused(%a: tensor<16x16xi8>, %c: tensor<16x16xi32>) {
  // expected-error@+1 {{expect signedness attribute for operand A}}
  %0 = nv_tileaa.dot %a, %a, %c : tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xi32> -> tensor<16x16xi32>
  func.return
}

// -----

func.func @refused(%a: tensor<16x16xi8>, %c: tensor<16x16xi32>) {
  // expected-error@+1 {{expect signedness attribute for operand B}}
  %0 = nv_tileaa.dot %a, %a, %c {signedness_a = #nv_tileas<signedness signed>} : tensor<16x16xi8>, tensor<16x16xi8>, tensor<16x16xi32> -> tensor<16x16xi32>
  func.return
}

// -----

func.func @refused(%a: tensor<16x16xbf16>) {
  // expected-error@+1 {{expects #C element type to be f32, but got bf16}}
  %0 = nv_tileaa.dot %a, %a, %a : tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xbf16>
  func.return
}

// -----

func.func @refused(%a: tensor<16x16xf16>, %c: tensor<16x16xbf16>) {
  // expected-error@+1 {{expects #C element type to be either f32 or f16, but got bf16}}
  %0 = nv_tileaa.dot %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xbf16> -> tensor<16x16xbf16>
  func.return
}

// -----

func.func @refused(%a: tensor<16xf16>, %c: tensor<16xf32>) {
  // expected-error@+1 {{expects rank-2 or rank-3 tensor for result, but got (1)}}
  %0 = nv_tileaa.dot %a, %a, %c : tensor<16xf16>, tensor<16xf16>, tensor<16xf32> -> tensor<16xf32>
  func.return
}

// -----

func.func @refused(%a: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{expects the shape of operand #A and #B to be compatible}}
  %0 = nv_tileaa.dot %a, %a, %c : tensor<16x8xf16>, tensor<16x8xf16>, tensor<16x8xf32> -> tensor<16x8xf32>
  func.return
}

// -----

func.func @refused(%a: tensor<16x16xf16>, %c: tensor<16x8xf32>) {
  // expected-error@+1 {{expects the shape of operand #C is compatible with operands #A and #B}}
  %0 = nv_tileaa.dot %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x8xf32> -> tensor<16x8xf32>
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{a tile of rank 2 has no axis 2}}
  %0 = nv_tileaa.reduce %t {axis = 2 : i32, identities = [0.0 : f32]} : tensor<4x8xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    nv_tileaa.yield %a : f32
  }
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{gives (tensor<4xf32>), not (tensor<8xf32>)}}
  %0 = nv_tileaa.reduce %t {axis = 1 : i32, identities = [0.0 : f32]} : tensor<4x8xf32> -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    nv_tileaa.yield %a : f32
  }
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{has 0 identities for 1 tiles}}
  %0 = nv_tileaa.reduce %t {axis = 1 : i32, identities = []} : tensor<4x8xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    nv_tileaa.yield %a : f32
  }
  func.return
}

// -----

func.func @refused(%t: tensor<4x8xf32>, %u: tensor<8xf32>) {
  // expected-error@+1 {{combines tiles of one shape, and one of them at least}}
  %0, %1 = nv_tileaa.scan %t, %u {axis = 0 : i32, identities = [0.0 : f32, 0.0 : f32]} : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>, tensor<8xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    nv_tileaa.yield %a, %b : f32, f32
  }
  func.return
}

// -----

func.func @refused(%a: f32) {
  // expected-error@+1 {{converts floats to floats of another type, not f32 to f32}}
  %0 = nv_tileaa.fp_to_fp %a : f32 -> f32
  func.return
}

// -----

func.func @refused(%a: f32) {
  // expected-error@+1 {{reads the bits of f32 as as many, not as i16}}
  %0 = nv_tileaa.bitcast %a : f32 -> i16
  func.return
}

// -----

func.func @refused(%a: !nv_tileaa.ptr<f32, 1>) {
  // expected-error@+1 {{are pointers to different memories}}
  %0 = nv_tileaa.bitcast %a : !nv_tileaa.ptr<f32, 1> -> !nv_tileaa.ptr<f32, 3>
  func.return
}

// -----

func.func @refused(%a: i32) {
  // expected-error@+1 {{makes pointers of i64, not !nv_tileaa.ptr<f32, 1> of i32}}
  %0 = nv_tileaa.int_to_ptr %a : i32 -> !nv_tileaa.ptr<f32, 1>
  func.return
}

// -----

func.func @refused(%a: !nv_tileaa.ptr<f32, 1>) {
  // expected-error@+1 {{makes i64 of pointers, not i32 of !nv_tileaa.ptr<f32, 1>}}
  %0 = nv_tileaa.ptr_to_int %a : !nv_tileaa.ptr<f32, 1> -> i32
  func.return
}

// -----

func.func @refused(%a: i32) {
  // expected-error@+1 {{asserts an i1 or a tile of them, not i32}}
  nv_tileaa.assert %a, "no" : i32
  func.return
}

// -----

func.func @refused(%k: !nv_tileaa.mem_token) {
  // expected-error@+1 {{gives a token iff it takes one}}
  nv_tileaa.print "no" after %k : !nv_tileaa.mem_token
  func.return
}

// -----

func.func @refused(%i: i32) {
  // expected-error@+1 {{has 2 formats for 1 values}}
  nv_tileaa.print "%d %d", %i : i32
  func.return
}

// -----

func.func @refused(%i: i32) {
  // expected-error@+1 {{prints i32 by '%f'}}
  nv_tileaa.print "%f", %i : i32
  func.return
}

// -----

func.func @refused(%t: tensor<8xf32>) {
  // expected-error@+1 {{prints f32 by '%d'}}
  nv_tileaa.print "%d", %t : tensor<8xf32>
  func.return
}

// -----

func.func @refused(%i: i32) {
  // expected-error@+1 {{prints by '%s'; formats are}}
  nv_tileaa.print "%s", %i : i32
  func.return
}

// -----

func.func @refused() {
  // expected-error@+1 {{names a global}}
  %0 = nv_tileaa.get_global "" : !nv_tileaa.ptr<f32, 1>
  func.return
}

// -----

func.func @refused() {
  // expected-error@+1 {{allocates 0 elements, and takes 1 or more}}
  %0 = nv_tileaa.alloca num_elem = 0, alignment = 16 : !nv_tileaa.ptr<f32, 1>
  func.return
}

// -----

func.func @refused() {
  // expected-error@+1 {{is aligned to 12 bytes, which is no power of two}}
  %0 = nv_tileaa.alloca num_elem = 4, alignment = 12 : !nv_tileaa.ptr<f32, 1>
  func.return
}

// -----

func.func @refused(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error@+1 {{expects both SFA and SFB to be present}}
  %0 = "nv_tileaa.dot"(%a, %a, %c, %a) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>, tensor<16x16xf16>) -> tensor<16x16xf32>
  func.return
}
