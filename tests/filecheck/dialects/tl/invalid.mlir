// Rejected tl programs.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// A block has 1 to 1024 threads.

func.func @k() {
  // expected-error@+1 {{'tl.kernel' op has 1 to 1024 threads, not 2048}}
  tl.kernel threads(2048) {
  }
  func.return
}

// -----

// A layout in it is not looked at: its tables would not fit.

func.func @k(%A: memref<32xf32>) {
  // expected-error@+1 {{'tl.kernel' op has 1 to 1024 threads, not 2147483648}}
  tl.kernel threads(2147483648) {
    tl.parallel (%i) in (32) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
    }
  }
  func.return
}

// -----

func.func @k() {
  // expected-error@+1 {{'tl.kernel' op has extents of 1 or more, not [0]}}
  tl.kernel (%x) in (0) threads(32) {
  }
  func.return
}

// -----

func.func @k() {
  // expected-error@+1 {{'tl.kernel' op names 2 numbers of a grid of 1 extents}}
  tl.kernel (%x, %y) in (4) threads(32) {
  }
  func.return
}

// -----

func.func @k() {
  // expected-error@+1 {{'tl.kernel' op has a grid of at most 3 extents, not 4}}
  tl.kernel (%x, %y, %z, %w) in (1, 2, 3, 4) threads(32) {
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(32) {
  }
  // expected-error@+1 {{'tl.kernel' op is the second kernel of its function}}
  tl.kernel threads(32) {
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(32) {
    // expected-error@+1 {{'tl.kernel' op stands in the body of a function}}
    tl.kernel threads(32) {
    }
  }
  func.return
}

// -----

// What stands where.

func.func @k() {
  // expected-error@+1 {{'tl.alloc_fragment' op stands in a tl.kernel}}
  %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %zero = arith.constant 0 : index
    %v = arith.constant 0.0 : f32
    // expected-error@+1 {{'memref.store' op stores for all threads at once: put it into a tl.parallel}}
    memref.store %v, %f[%zero, %zero] : memref<4x16xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'memref.alloc' op has no place in the block of a tl.kernel}}
    %m = memref.alloc() : memref<4xf32>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    tl.parallel (%i) in (4) {
      // expected-error@+1 {{'tl.alloc_fragment' op is of the whole block and has no place in a tl.parallel}}
      %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    }
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    tl.parallel (%i) in (4) {
      // expected-error@+1 {{'tl.parallel' op stands in another tl.parallel: give one loop all variables}}
      tl.parallel (%j) in (4) {
      }
    }
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    tl.parallel (%i) in (4) {
      // expected-error@+1 {{'memref.alloc' op has no place in an iteration of a tl.parallel}}
      %m = memref.alloc() : memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @k(%n: index) {
  tl.kernel threads(64) {
    tl.parallel (%i) in (4) {
      // expected-error@+1 {{'tl.serial' op has constant bounds where it stands in a tl.parallel}}
      tl.serial %j = %i to %n {
      }
    }
  }
  func.return
}

// -----

func.func @k(%n: index) {
  tl.kernel threads(64) {
    %zero = arith.constant 0 : index
    // expected-error@+1 {{'tl.serial' op has a step of 1 or more, not 0}}
    tl.serial %j = %zero to %n step %zero {
    }
  }
  func.return
}

// -----

func.func @k(%n: index) {
  tl.kernel threads(64) {
    %zero = arith.constant 0 : index
    // expected-error@+1 {{'tl.pipelined' op has 1 stage or more, not 0}}
    tl.pipelined %j = %zero to %n stages(0) {
    }
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.parallel' op has extents of 1 or more, not [0]}}
    tl.parallel (%i) in (0) {
    }
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.parallel' op has 2 variables of type index, not index}}
    tl.parallel (%i) in (4, 4) {
    }
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.parallel' op accesses 1 element or more at once, not 0}}
    tl.parallel (%i) in (4) attributes {vector = 0 : i64} {
    }
  }
  func.return
}

// -----

func.func @k(%A: memref<4xf32>, %i: index) {
  tl.kernel threads(64) {
    %v = arith.constant 0.0 : f32
    // expected-error@+1 {{'tl.atomic_add' op adds for one iteration: put it into a tl.parallel}}
    tl.atomic_add %A[%i], %v : memref<4xf32>
  }
  func.return
}

// -----

func.func @k(%A: memref<4xf32>) {
  tl.kernel threads(64) {
    tl.parallel (%i) in (4) {
      %v = arith.constant 0.0 : f32
      // expected-error@+1 {{'tl.atomic_add' op has 2 indices for 1 dimensions of memref<4xf32>}}
      tl.atomic_add %A[%i, %i], %v : memref<4xf32>
    }
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4xf32, #tl<space fragment>>
    tl.parallel (%i) in (4) {
      %v = arith.constant 0.0 : f32
      // expected-error@+1 {{'tl.atomic_add' op has a buffer in global memory or shared memory, not in a fragment: memref<4xf32, #tl<space fragment>>}}
      tl.atomic_add %f[%i], %v : memref<4xf32, #tl<space fragment>>
    }
  }
  func.return
}

// -----

// Spaces of buffers.

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has a buffer in a fragment, not in shared memory: memref<4x16xf32, #tl<space shared>>}}
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_shared' op has a buffer in shared memory, not in global memory: memref<4x16xf32>}}
    %f = tl.alloc_shared : memref<4x16xf32>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_shared' op has a buffer of known extents, not memref<4x?xf32, #tl<space shared>>}}
    %f = tl.alloc_shared : memref<4x?xf32, #tl<space shared>>
  }
  func.return
}

// -----

// expected-error@+1 {{Expected `shared`, `fragment`, or `local`.}}
func.func private @k(memref<4xf32, #tl<space register>>)

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has extents of 1 or more, not 4x0}}
    %f = tl.alloc_fragment : memref<4x0xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has at most 16777216 elements, not 67108864}}
    %f = tl.alloc_fragment : memref<8192x8192xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has elements that are numbers, not tensor<4xf32>}}
    %f = tl.alloc_fragment : memref<4xtensor<4xf32>, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has a row-major buffer, whose layout is no part of its type: memref<4x16xf32, strided<[1, 4]>, #tl<space fragment>>}}
    %f = tl.alloc_fragment : memref<4x16xf32, strided<[1, 4]>, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k(%A: memref<4x16xf32>, %i: index) {
  tl.kernel threads(64) {
    // expected-error@+1 {{'memref.load' op expected an index for each dimension}}
    %x = memref.load %A[%i] : memref<4x16xf32>
  }
  func.return
}

// -----

// Other names of one storage.

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.reshape' op has 2048 bits in memref<4x16xf32, #tl<space fragment>>, but 1024 in memref<32xf32, #tl<space fragment>>}}
    %g = tl.reshape %f : memref<4x16xf32, #tl<space fragment>> to memref<32xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.reshape' op keeps elements of f32, not i32: tl.view reads others}}
    %g = tl.reshape %f : memref<4x16xf32, #tl<space fragment>> to memref<64xi32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.view' op shows the same memory, not memref<64xi32, #tl<space shared>> for memref<4x16xf32, #tl<space fragment>>}}
    %g = tl.view %f : memref<4x16xf32, #tl<space fragment>> to memref<64xi32, #tl<space shared>>
  }
  func.return
}

// -----

// Layouts.

// expected-error@+1 {{gives a thread and perhaps a slot, but (d0) -> (d0, 0, 0) has another form}}
func.func private @k() attributes {x = #tl.fragment<affine_map<(d0) -> (d0, 0, 0)>>}

// -----

// expected-error@+1 {{has one symbol at most, the copy, but (d0)[s0, s1] -> (d0) has more}}
func.func private @k() attributes {x = #tl.fragment<affine_map<(d0)[s0, s1] -> (d0)>>}

// -----

// expected-error@+1 {{has all copies in one slot, but that of (d0)[s0] -> (d0, s0) uses s0}}
func.func private @k() attributes {x = #tl.fragment<affine_map<(d0)[s0] -> (d0, s0)>>}

// -----

// expected-error@+1 {{has one copy at least, not 0}}
func.func private @k() attributes {x = #tl.fragment<affine_map<(d0) -> (d0)>, replicas = 0>}

// -----

// expected-error@+1 {{cannot parse this: Mod with non-constant (semi-affine) is not supported yet}}
func.func private @k() attributes {x = #tl.fragment<affine_map<(d0, d1) -> (d0 mod d1)>>}

// -----

// expected-error@+1 {{expected ')' or ',' in a stride, found the end}}
func.func private @k() attributes {x = #tl.shared<"(4,16):(64">}

// -----

// expected-error@+1 {{offsets are in bytes, as 'S<3,4,3> o 0 o SHAPE:STRIDE', not <(4,16),(16,1)>}}
func.func private @k() attributes {x = #tl.shared<"<(4,16),(16,1)>">}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has a layout that has 1 dimensions for extents [4, 16]}}
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0) -> (d0)>>} : memref<4x16xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has a layout that puts [2, 0] on thread 64, but the block has 64}}
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d0 * 32 + d1)>>} : memref<4x16xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has a layout that puts [2, 0] (copy 1) on thread 64, but the block has 64}}
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1)[s0] -> (d0 * 16 + d1 + s0 * 32)>, replicas = 2>} : memref<4x16xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has a layout that puts both [0, 1] and [1, 0] into slot 0 of thread 1}}
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d0 + d1, d0 floordiv 2)>>} : memref<4x16xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has a layout that has no simple slots for thread d0 + d1: give the slot too}}
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d0 + d1)>>} : memref<4x16xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has a layout that gives slot -1, but slots count from 0}}
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d0, d1 - 1)>>} : memref<4x16xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.parallel' op has at most 16777216 iterations, not 100000000}}
    tl.parallel (%i) in (100000000) {
    }
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.parallel' op has a layout that puts both [0, 1] and [1, 0] into slot 0 of thread 1}}
    tl.parallel (%i, %j) in (4, 4) attributes {layout = #tl.fragment<affine_map<(d0, d1) -> (d0 + d1, 0)>>} {
    }
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_shared' op lays out 4x8, but the buffer is 4x16}}
    %s = tl.alloc_shared {layout = #tl.shared<"(4,8):(64,4)">} : memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_shared' op has offsets in bytes along no named axis, unlike (4,16):(64@x,4)}}
    %s = tl.alloc_shared {layout = #tl.shared<"(4,16):(64@x,4)">} : memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_shared' op has elements at multiples of 4 bytes from 0 on, unlike (4,16):(64,2)}}
    %s = tl.alloc_shared {layout = #tl.shared<"(4,16):(64,2)">} : memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_shared' op puts two elements into the same bytes: (4,16):(4,4)}}
    %s = tl.alloc_shared {layout = #tl.shared<"(4,16):(4,4)">} : memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.alloc_fragment' op has a layout that has 4000000000 places, of which at most 16777216 are checked}}
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0)[s0] -> (d0 + s0)>, replicas = 1000000000>} : memref<4xf32, #tl<space fragment>>
  }
  func.return
}

// -----

// Copies.

func.func @k(%A: memref<?x?xf32>, %i: index) {
  tl.kernel threads(64) {
    %s = tl.alloc_shared : memref<4x16xf32, #tl<space shared>>
    // expected-error@+1 {{'tl.copy' op has 1 indices for 2 dimensions of memref<?x?xf32>}}
    tl.copy %A[%i] to %s : memref<?x?xf32> to memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k(%A: memref<?x?xf32>, %i: index) {
  tl.kernel threads(64) {
    %s = tl.alloc_shared : memref<4x16xf32, #tl<space shared>>
    // expected-error@+1 {{'tl.copy' op copies how much of memref<4x16xf32, #tl<space shared>>? Say it: extents(...)}}
    tl.copy %A to %s[%i, %i] : memref<?x?xf32> to memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k(%A: memref<?x?xf32>) {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.copy' op copies a region of known extents of 1 or more, not ?x?}}
    tl.copy %A to %A : memref<?x?xf32> to memref<?x?xf32>
  }
  func.return
}

// -----

func.func @k(%A: memref<?x?xf32>) {
  tl.kernel threads(64) {
    %s = tl.alloc_shared : memref<4x16xf32, #tl<space shared>>
    // expected-error@+1 {{'tl.copy' op copies 4x32, which memref<4x16xf32, #tl<space shared>> does not have}}
    tl.copy %A to %s extents(4, 32) : memref<?x?xf32> to memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k(%A: memref<?x?xf32>) {
  tl.kernel threads(64) {
    %s = tl.alloc_shared : memref<4x16xf32, #tl<space shared>>
    // expected-error@+1 {{'tl.copy' op has 1 extents for 2 dimensions}}
    tl.copy %A to %s extents(4) : memref<?x?xf32> to memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k(%A: memref<?x?x?xf32>) {
  tl.kernel threads(64) {
    %s = tl.alloc_shared : memref<4x16xf32, #tl<space shared>>
    // expected-error@+1 {{'tl.copy' op of 2x4x16 has no region in 2 dimensions}}
    tl.copy %A to %s extents(2, 4, 16) : memref<?x?x?xf32> to memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k(%A: memref<?x?xi32>) {
  tl.kernel threads(64) {
    %s = tl.alloc_shared : memref<4x16xf32, #tl<space shared>>
    // expected-error@+1 {{'tl.copy' op converts no i32 to f32}}
    tl.copy %A to %s : memref<?x?xi32> to memref<4x16xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @k(%A: memref<4xf32>) {
  tl.kernel threads(64) {
    %v = tl.alloc_local : memref<4xf32, #tl<space local>>
    // expected-error@+1 {{'tl.copy' op has a target in global memory or shared memory or a fragment, not in local memory: memref<4xf32, #tl<space local>>}}
    tl.copy %A to %v : memref<4xf32> to memref<4xf32, #tl<space local>>
  }
  func.return
}

// -----

func.func @k(%A: memref<?xf32>, %v: f32) {
  tl.kernel threads(64) {
    // expected-error@+1 {{'tl.fill' op has a buffer of known extents, not memref<?xf32>}}
    tl.fill %A, %v : memref<?xf32>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<16x4xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.convert_layout' op converts 4x16 to 16x4}}
    tl.convert_layout %f to %g : memref<4x16xf32, #tl<space fragment>> to memref<16x4xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<4x16xf16, #tl<space fragment>>
    // expected-error@+1 {{'tl.convert_layout' op keeps the elements: tl.copy converts them}}
    tl.convert_layout %f to %g : memref<4x16xf32, #tl<space fragment>> to memref<4x16xf16, #tl<space fragment>>
  }
  func.return
}

// -----

// Reductions and cumulative sums.

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<4xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.reduce' op has an axis from 0 to 1, not 2}}
    tl.reduce max %f to %g axis 2 : memref<4x16xf32, #tl<space fragment>> to memref<4xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<4xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.reduce' op of 4x16 along axis 0 gives 16, not 4}}
    tl.reduce max %f to %g axis 0 : memref<4x16xf32, #tl<space fragment>> to memref<4xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<4xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.reduce' op of 4x16 along axis 1 gives 4x1, not 4}}
    tl.reduce max %f to %g axis 1 {keep_dims} : memref<4x16xf32, #tl<space fragment>> to memref<4xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<4xf16, #tl<space fragment>>
    // expected-error@+1 {{'tl.reduce' op combines f32 into f32, not f16}}
    tl.reduce max %f to %g axis 1 : memref<4x16xf32, #tl<space fragment>> to memref<4xf16, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<4xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.reduce' op has no xor of f32}}
    tl.reduce xor %f to %g axis 1 : memref<4x16xf32, #tl<space fragment>> to memref<4xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<4xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.reduce' op nan_propagate is of max, min and absmax of floats, not of sum of f32}}
    tl.reduce sum %f to %g axis 1 {nan_propagate} : memref<4x16xf32, #tl<space fragment>> to memref<4xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_shared : memref<4x16xf32, #tl<space shared>>
    %g = tl.alloc_fragment : memref<4xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.reduce' op has a source in a fragment, not in shared memory: memref<4x16xf32, #tl<space shared>>}}
    tl.reduce sum %f to %g axis 1 : memref<4x16xf32, #tl<space shared>> to memref<4xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<4xf32, #tl<space fragment>>
    // expected-error@+1 {{Expected `sum`, `prod`, `max`, `min`, `abssum`, `absmax`, `and`, `or`, or `xor`.}}
    tl.reduce mean %f to %g axis 1 : memref<4x16xf32, #tl<space fragment>> to memref<4xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<4x8xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.cumsum' op sums 4x16 to 4x8}}
    tl.cumsum %f to %g axis 1 : memref<4x16xf32, #tl<space fragment>> to memref<4x8xf32, #tl<space fragment>>
  }
  func.return
}

// -----

// Products.

func.func @k() {
  tl.kernel threads(128) {
    %a = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    %b = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    %c = tl.alloc_fragment : memref<64x64xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.gemm' op multiplies M x K by K x N, not 64x32 by 64x32}}
    tl.gemm %a, %b, %c : memref<64x32xf16, #tl<space shared>>, memref<64x32xf16, #tl<space shared>>, memref<64x64xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(128) {
    %a = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    %b = tl.alloc_shared : memref<32x64xf16, #tl<space shared>>
    %c = tl.alloc_fragment : memref<64x32xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.gemm' op has C of 64x64, not 64x32}}
    tl.gemm %a, %b, %c : memref<64x32xf16, #tl<space shared>>, memref<32x64xf16, #tl<space shared>>, memref<64x32xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(128) {
    %a = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    %b = tl.alloc_shared : memref<32x64xbf16, #tl<space shared>>
    %c = tl.alloc_fragment : memref<64x64xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.gemm' op multiplies no f16 by bf16}}
    tl.gemm %a, %b, %c : memref<64x32xf16, #tl<space shared>>, memref<32x64xbf16, #tl<space shared>>, memref<64x64xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(128) {
    %a = tl.alloc_shared : memref<64x32xbf16, #tl<space shared>>
    %b = tl.alloc_shared : memref<32x64xbf16, #tl<space shared>>
    %c = tl.alloc_fragment : memref<64x64xf16, #tl<space fragment>>
    // expected-error@+1 {{'tl.gemm' op sums products of bf16 and bf16 in f32, not in f16}}
    tl.gemm %a, %b, %c : memref<64x32xbf16, #tl<space shared>>, memref<32x64xbf16, #tl<space shared>>, memref<64x64xf16, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(128) {
    %a = tl.alloc_shared : memref<1x64x32xf16, #tl<space shared>>
    %b = tl.alloc_shared : memref<32x64xf16, #tl<space shared>>
    %c = tl.alloc_fragment : memref<64x64xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.gemm' op has A of 2 dimensions, not memref<1x64x32xf16, #tl<space shared>>}}
    tl.gemm %a, %b, %c : memref<1x64x32xf16, #tl<space shared>>, memref<32x64xf16, #tl<space shared>>, memref<64x64xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @k() {
  tl.kernel threads(128) {
    %a = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    %b = tl.alloc_shared : memref<32x64xf16, #tl<space shared>>
    %c = tl.alloc_fragment : memref<64x64xf32, #tl<space fragment>>
    // expected-error@+1 {{Expected `square`, `full_row`, or `full_col`.}}
    tl.gemm %a, %b, %c policy(rows) : memref<64x32xf16, #tl<space shared>>, memref<32x64xf16, #tl<space shared>>, memref<64x64xf32, #tl<space fragment>>
  }
  func.return
}
