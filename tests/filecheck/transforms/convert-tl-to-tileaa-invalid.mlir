// What is not about whole tiles is an error at the operation; tl-lower takes such kernels.

// RUN: tileas-opt %s -p convert-tl-to-tileaa --split-input-file --verify-diagnostics

func.func @parts(%A: memref<511xf32>) {
  tl.kernel threads(32) {
    // expected-error@+1 {{'tl.alloc_fragment' op has 511 elements, and extents of tiles are powers of two: in 9 parts, more than 8}}
    %f = tl.alloc_fragment : memref<511xf32, #tl<space fragment>>
    tl.copy %A to %f : memref<511xf32> to memref<511xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @sums(%A: memref<96xf32>) {
  tl.kernel threads(32) {
    %f = tl.alloc_fragment : memref<96xf32, #tl<space fragment>>
    tl.copy %A to %f : memref<96xf32> to memref<96xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.cumsum' op sums along an axis whose extent is no power of two}}
    tl.cumsum %f to %f axis 0 : memref<96xf32, #tl<space fragment>> to memref<96xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @before(%A: memref<32xf32>) {
  tl.kernel threads(32) {
    %f = tl.alloc_fragment : memref<32xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.copy' op reads a buffer before it is written as a whole}}
    tl.copy %f to %A : memref<32xf32, #tl<space fragment>> to memref<32xf32>
  }
  func.return
}

// -----

func.func @part(%A: memref<32xf32>, %x: f32) {
  tl.kernel threads(32) {
    %f = tl.alloc_fragment : memref<32xf32, #tl<space fragment>>
    tl.fill %f, %x : memref<32xf32, #tl<space fragment>>
    %three = arith.constant 3 : index
    tl.parallel (%i) in (16) {
      %at = arith.addi %i, %three : index
      // expected-error@+1 {{'memref.load' op accesses a part of a buffer between those that tiles divide into}}
      %v = memref.load %f[%at] : memref<32xf32, #tl<space fragment>>
      memref.store %v, %A[%i] : memref<32xf32>
    }
  }
  func.return
}

