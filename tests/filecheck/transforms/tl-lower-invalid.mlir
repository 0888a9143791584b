// Unsupported lowerings are errors at the operation that state the limits exceeded.

// RUN: tileas-opt %s -p tl-lower --split-input-file --verify-diagnostics

func.func @threads() {
  // expected-error@+1 {{'tl.kernel' op has whole warps of 32 threads, not 48 threads}}
  tl.kernel threads(48) {
  }
  func.return
}

// -----

func.func @fragment() {
  tl.kernel threads(32) {
    // expected-error@+1 {{'tl.alloc_fragment' op has no layout: tl-layout-inference gives it one}}
    %f = tl.alloc_fragment : memref<32xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @loop(%A: memref<32xf32>, %x: f32) {
  tl.kernel threads(32) {
    // expected-error@+1 {{'tl.parallel' op has no layout: tl-layout-inference gives it one}}
    tl.parallel (%i) in (32) {
      memref.store %x, %A[%i] : memref<32xf32>
    }
  }
  func.return
}

// -----

func.func @registers() {
  tl.kernel threads(32) {
    // expected-error@+1 {{'tl.alloc_fragment' op gives each thread 300 elements, and at most 256 fit in registers}}
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0) -> (0, d0)>>}
        : memref<300xf32, #tl<space fragment>>
  }
  func.return
}

// -----

func.func @elsewhere(%A: memref<32xf32>) {
  tl.kernel threads(32) {
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0) -> (31 - d0, 0)>>}
        : memref<32xf32, #tl<space fragment>>
    tl.parallel (%i) in (32) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
      // expected-error@+1 {{'memref.load' op element [0] lives in thread 31, and thread 0 touches it}}
      %x = memref.load %f[%i] : memref<32xf32, #tl<space fragment>>
      memref.store %x, %A[%i] : memref<32xf32>
    }
  }
  func.return
}

// -----

// Both copies of an element have to be written.

func.func @copies(%x: f32) {
  tl.kernel threads(32) {
    %f = tl.alloc_fragment {
        layout = #tl.fragment<affine_map<(d0)[s0] -> (d0 + s0 * 16, 0)>, replicas = 2>}
        : memref<16xf32, #tl<space fragment>>
    tl.parallel (%i) in (16) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
      // expected-error@+1 {{'memref.store' op leaves the copy of element [0] in thread 16 as it was}}
      memref.store %x, %f[%i] : memref<16xf32, #tl<space fragment>>
    }
  }
  func.return
}

// -----

func.func @hidden_reduction(%A: memref<4x32xf32>) {
  tl.kernel threads(32) {
    %zero = arith.constant 0 : index
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d1, d0)>>}
        : memref<1x32xf32, #tl<space fragment>>
    tl.parallel (%i, %j) in (4, 32)
        attributes {layout = #tl.fragment<affine_map<(d0, d1) -> (d1, d0)>>} {
      %x = memref.load %A[%i, %j] : memref<4x32xf32>
      // expected-error@+1 {{'memref.store' op writes element [0, 0] in several iterations of one loop}}
      memref.store %x, %f[%zero, %j] : memref<1x32xf32, #tl<space fragment>>
    }
  }
  func.return
}

// -----

func.func @scatter(%I: memref<32xi32>, %x: f32) {
  tl.kernel threads(32) {
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>}
        : memref<32xf32, #tl<space fragment>>
    tl.parallel (%i) in (32) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
      %n = memref.load %I[%i] : memref<32xi32>
      %k = arith.index_cast %n : i32 to index
      // expected-error@+1 {{'memref.store' op index 0 of a fragment depends on a value that only run time knows: registers have no address}}
      memref.store %x, %f[%k] : memref<32xf32, #tl<space fragment>>
    }
  }
  func.return
}

// -----

func.func @rounds(%x: f32, %n: index) {
  tl.kernel threads(32) {
    %zero = arith.constant 0 : index
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d1, d0)>>}
        : memref<4x32xf32, #tl<space fragment>>
    // expected-error@+1 {{'tl.serial' op picks registers of fragments by its variable and has as many rounds as run time says; at most 64 are written out}}
    tl.serial %k = %zero to %n {
      tl.parallel (%i) in (32) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
        memref.store %x, %f[%k, %i] : memref<4x32xf32, #tl<space fragment>>
      }
    }
  }
  func.return
}

// -----

func.func @local(%A: memref<32xf32>, %x: f32) {
  tl.kernel threads(32) {
    %l = tl.alloc_local : memref<32xf32, #tl<space local>>
    tl.parallel (%i) in (32) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
      // expected-error@+1 {{'memref.store' op takes constant elements of a local buffer: registers have no index}}
      memref.store %x, %l[%i] : memref<32xf32, #tl<space local>>
    }
  }
  func.return
}

// -----

func.func @itself() {
  tl.kernel threads(32) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %s = tl.alloc_shared : memref<32xf32, #tl<space shared>>
    // expected-error@+1 {{'tl.copy' op copies a buffer onto itself, where one thread may outrun another}}
    tl.copy %s[%zero] to %s[%one] extents(8) : memref<32xf32, #tl<space shared>> to memref<32xf32, #tl<space shared>>
  }
  func.return
}

// -----

func.func @atomic(%A: memref<32xi8>, %x: i8) {
  tl.kernel threads(32) {
    tl.parallel (%i) in (32) attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
      // expected-error@+1 {{'tl.atomic_add' op adds elements of i8, which no instruction does}}
      tl.atomic_add %A[%i], %x : memref<32xi8>
    }
  }
  func.return
}
