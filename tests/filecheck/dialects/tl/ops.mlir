// Tile programs over buffers, before layout inference.

// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// A fragment is filled by 64 threads; four of its elements go out.  Who runs what is not said.

// CHECK-LABEL: func.func @article
func.func @article(%A: memref<4x16xf32>, %B: memref<4xf32>) {
  // CHECK-NEXT: tl.kernel threads(64) {
  tl.kernel threads(64) {
    %zero = arith.constant 0 : index
    // CHECK: %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    // CHECK-NEXT: tl.parallel (%row, %col) in (4, 16) {
    tl.parallel (%row, %col) in (4, 16) {
      // CHECK-NEXT: %a = memref.load %A[%row, %col] : memref<4x16xf32>
      %a = memref.load %A[%row, %col] : memref<4x16xf32>
      // CHECK-NEXT: memref.store %a, %f[%row, %col] : memref<4x16xf32, #tl<space fragment>>
      memref.store %a, %f[%row, %col] : memref<4x16xf32, #tl<space fragment>>
    }
    // CHECK: tl.parallel (%g, %r) in (2, 2) {
    tl.parallel (%g, %r) in (2, 2) {
      %row_1 = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%g, %r)
      %x = memref.load %f[%row_1, %zero] : memref<4x16xf32, #tl<space fragment>>
      memref.store %x, %B[%row_1] : memref<4xf32>
    }
  }
  func.return
}

// A grid has up to three extents, values or numbers; its names are the numbers of the block.

// CHECK-LABEL: func.func @grid
func.func @grid(%n: index) {
  // CHECK-NEXT: tl.kernel (%bx, %by) in (%n, 4) threads(128) {
  tl.kernel (%bx, %by) in (%n, 4) threads(128) {
  }
  func.return
}

// Buffers of a block, and other names of their storage.

// CHECK-LABEL: func.func @buffers
func.func @buffers() {
  tl.kernel threads(32) {
    // CHECK: %s = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    %s = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    // CHECK-NEXT: %f = tl.alloc_fragment : memref<64xf32, #tl<space fragment>>
    %f = tl.alloc_fragment : memref<64xf32, #tl<space fragment>>
    // CHECK-NEXT: %v = tl.alloc_local : memref<f32, #tl<space local>>
    %v = tl.alloc_local : memref<f32, #tl<space local>>
    // CHECK-NEXT: %flat = tl.reshape %s : memref<64x32xf16, #tl<space shared>> to memref<2048xf16, #tl<space shared>>
    %flat = tl.reshape %s : memref<64x32xf16, #tl<space shared>> to memref<2048xf16, #tl<space shared>>
    // CHECK-NEXT: %bits = tl.view %f : memref<64xf32, #tl<space fragment>> to memref<64xi32, #tl<space fragment>>
    %bits = tl.view %f : memref<64xf32, #tl<space fragment>> to memref<64xi32, #tl<space fragment>>
  }
  func.return
}

// Layouts: of fragments and loops an affine map to (thread, slot), of shared memory one to bytes.

// CHECK-LABEL: func.func @layouts
func.func @layouts(%A: memref<64xf32>) {
  tl.kernel threads(64) {
    // CHECK: tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1)[s0] -> (((s0 * 32) + d0), d1)>, replicas = 2>}
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1)[s0] -> (s0 * 32 + d0, d1)>, replicas = 2>} : memref<32x4xf32, #tl<space fragment>>
    // By hand the thread is enough.
    // CHECK: tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d1)>>}
    %g = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d1)>>} : memref<4x16xf32, #tl<space fragment>>
    // CHECK: tl.alloc_shared {layout = #tl.shared<"S<3,4,3> o 0 o (64,64):(128,2)">}
    %s = tl.alloc_shared {layout = #tl.shared<"S<3,4,3> o 0 o (64,64):(128,2)">} : memref<64x64xf16, #tl<space shared>>
    // CHECK: tl.parallel (%i) in (50) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>, vector = 1 : i64, runs_once, is_padded} {
    tl.parallel (%i) in (50) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>, vector = 1 : i64, runs_once, is_padded} {
      %x = memref.load %A[%i] : memref<64xf32>
    }
    // CHECK: tl.parallel (%j) in (64) attributes {coalesced_width = 2 : i64} {
    tl.parallel (%j) in (64) attributes {coalesced_width = 2 : i64} {
    }
  }
  func.return
}

// Loops of the block, and loops of one iteration.

// CHECK-LABEL: func.func @loops
func.func @loops(%n: index, %A: memref<64x8xf32>) {
  tl.kernel threads(64) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %eight = arith.constant 8 : index
    // CHECK: tl.serial %k = %zero to %n step %two {
    tl.serial %k = %zero to %n step %two {
      // CHECK-NEXT: tl.pipelined %l = %zero to %k stages(3) {
      tl.pipelined %l = %zero to %k stages(3) {
      }
    }
    tl.parallel (%i) in (64) {
      // CHECK: tl.serial %j = %zero to %eight {
      tl.serial %j = %zero to %eight {
        %x = memref.load %A[%i, %j] : memref<64x8xf32>
        // CHECK: tl.atomic_add %A[%i, %zero], %x : memref<64x8xf32>
        tl.atomic_add %A[%i, %zero], %x : memref<64x8xf32>
      }
    }
  }
  func.return
}

// Copies of regions: their extents are those of the side in the block, or said.

// CHECK-LABEL: func.func @copies
func.func @copies(%A: memref<?x?xf16>, %Q: memref<2x64x8x32xf16>, %y: index, %k: index) {
  tl.kernel threads(64) {
    %s = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    %t = tl.alloc_shared : memref<3x64x32xf16, #tl<space shared>>
    %x = tl.alloc_fragment : memref<64x32xf32, #tl<space fragment>>
    // CHECK: tl.copy %A[%y, %k] to %s : memref<?x?xf16> to memref<64x32xf16, #tl<space shared>>
    tl.copy %A[%y, %k] to %s : memref<?x?xf16> to memref<64x32xf16, #tl<space shared>>
    // CHECK-NEXT: tl.copy %s to %x {vector = 8 : i64} : memref<64x32xf16, #tl<space shared>> to memref<64x32xf32, #tl<space fragment>>
    tl.copy %s to %x {vector = 8 : i64} : memref<64x32xf16, #tl<space shared>> to memref<64x32xf32, #tl<space fragment>>
    // CHECK-NEXT: tl.copy %A[%y, %k] to %t[%y, %k, %k] extents(1, 32, 16) : memref<?x?xf16> to memref<3x64x32xf16, #tl<space shared>>
    tl.copy %A[%y, %k] to %t[%y, %k, %k] extents(1, 32, 16) : memref<?x?xf16> to memref<3x64x32xf16, #tl<space shared>>
    // CHECK-NEXT: tl.copy %Q[%y, %k, %y, %y] to %s extents(1, 64, 1, 32) : memref<2x64x8x32xf16> to memref<64x32xf16, #tl<space shared>>
    tl.copy %Q[%y, %k, %y, %y] to %s extents(1, 64, 1, 32) : memref<2x64x8x32xf16> to memref<64x32xf16, #tl<space shared>>
  }
  func.return
}

// What the block computes at once.

// CHECK-LABEL: func.func @compute
func.func @compute(%zero: f32) {
  tl.kernel threads(128) {
    %a = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    %b = tl.alloc_shared : memref<64x32xf16, #tl<space shared>>
    %c = tl.alloc_fragment : memref<64x64xf32, #tl<space fragment>>
    %d = tl.alloc_fragment : memref<64x64xf32, #tl<space fragment>>
    %m = tl.alloc_fragment : memref<64xf32, #tl<space fragment>>
    %n = tl.alloc_fragment : memref<1x64xf32, #tl<space fragment>>
    // CHECK: tl.fill %c, %zero : memref<64x64xf32, #tl<space fragment>>
    tl.fill %c, %zero : memref<64x64xf32, #tl<space fragment>>
    // CHECK-NEXT: tl.gemm %a, %b, %c policy(full_row) {transpose_b} : memref<64x32xf16, #tl<space shared>>, memref<64x32xf16, #tl<space shared>>, memref<64x64xf32, #tl<space fragment>>
    tl.gemm %a, %b, %c policy(full_row) {transpose_b} : memref<64x32xf16, #tl<space shared>>, memref<64x32xf16, #tl<space shared>>, memref<64x64xf32, #tl<space fragment>>
    // CHECK-NEXT: tl.reduce max %c to %m axis 1 {clear = false, nan_propagate} : memref<64x64xf32, #tl<space fragment>> to memref<64xf32, #tl<space fragment>>
    tl.reduce max %c to %m axis 1 {clear = false, nan_propagate} : memref<64x64xf32, #tl<space fragment>> to memref<64xf32, #tl<space fragment>>
    // CHECK-NEXT: tl.reduce abssum %c to %n axis 0 {keep_dims} : memref<64x64xf32, #tl<space fragment>> to memref<1x64xf32, #tl<space fragment>>
    tl.reduce abssum %c to %n axis 0 {keep_dims} : memref<64x64xf32, #tl<space fragment>> to memref<1x64xf32, #tl<space fragment>>
    // CHECK-NEXT: tl.cumsum %c to %d axis 1 {reverse} : memref<64x64xf32, #tl<space fragment>> to memref<64x64xf32, #tl<space fragment>>
    tl.cumsum %c to %d axis 1 {reverse} : memref<64x64xf32, #tl<space fragment>> to memref<64x64xf32, #tl<space fragment>>
    // CHECK-NEXT: tl.convert_layout %c to %d {cost = 321 : i64} : memref<64x64xf32, #tl<space fragment>> to memref<64x64xf32, #tl<space fragment>>
    tl.convert_layout %c to %d {cost = 321 : i64} : memref<64x64xf32, #tl<space fragment>> to memref<64x64xf32, #tl<space fragment>>
  }
  func.return
}
