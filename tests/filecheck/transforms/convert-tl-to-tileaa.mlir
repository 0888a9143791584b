// `convert-tl-to-tileaa`: what buffers of a block hold becomes values, parallel loops tile operations.

// RUN: tileas-opt %s -p convert-tl-to-tileaa | filecheck %s

// C = relu(A B): buffers become tile values, offsets numbers of tiles, the loop counts iterations.

// CHECK-LABEL: func.func @product
// CHECK-SAME: num_warps = 8
// CHECK: %[[A:.*]] = nv_tileaa.assume %A, #nv_tileaa.div_by<16>
// CHECK: %[[S:.*]] = scf.for %[[N:.*]] = {{.*}} iter_args(%[[ACC:.*]] = {{.*}}) -> (tensor<128x128xf32>)
// CHECK: %[[K:.*]] = arith.index_cast %[[N]]
// CHECK: %[[LA:.*]] = nv_tileaa.tiled_load %{{.*}}[%{{.*}}, %[[K]]] {padding_value = 0.000000e+00 : f16}
// CHECK: %[[LB:.*]] = nv_tileaa.tiled_load %{{.*}}[%[[K]], %{{.*}}]
// CHECK: nv_tileaa.dot %[[LA]], %[[LB]], %[[ACC]]
// CHECK: %[[R:.*]] = arith.maximumf %[[S]], {{.*}} : tensor<128x128xf32>
// CHECK: %[[H:.*]] = nv_tileaa.fp_to_fp %[[R]]
// CHECK: nv_tileaa.tiled_store %[[H]]
func.func @product(%A: memref<256x256xf16>, %B: memref<256x256xf16>, %C: memref<256x256xf16>) {
  %zero = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 256 : index
  tl.kernel (%bx, %by) in (2, 2) threads(128) {
    %none = arith.constant 0.0 : f32
    %bm = arith.constant 128 : index
    %y = arith.muli %by, %bm : index
    %x = arith.muli %bx, %bm : index
    %a = tl.alloc_shared : memref<128x64xf16, #tl<space shared>>
    %b = tl.alloc_shared : memref<64x128xf16, #tl<space shared>>
    %c = tl.alloc_fragment : memref<128x128xf32, #tl<space fragment>>
    tl.fill %c, %none : memref<128x128xf32, #tl<space fragment>>
    tl.pipelined %k = %zero to %end step %step stages(3) {
      tl.copy %A[%y, %k] to %a : memref<256x256xf16> to memref<128x64xf16, #tl<space shared>>
      tl.copy %B[%k, %x] to %b : memref<256x256xf16> to memref<64x128xf16, #tl<space shared>>
      tl.gemm %a, %b, %c : memref<128x64xf16, #tl<space shared>>, memref<64x128xf16, #tl<space shared>>, memref<128x128xf32, #tl<space fragment>>
    }
    tl.parallel (%i, %j) in (128, 128) {
      %v = memref.load %c[%i, %j] : memref<128x128xf32, #tl<space fragment>>
      %w = arith.maximumf %v, %none : f32
      memref.store %w, %c[%i, %j] : memref<128x128xf32, #tl<space fragment>>
    }
    tl.copy %c to %C[%y, %x] : memref<128x128xf32, #tl<space fragment>> to memref<256x256xf16>
  }
  func.return
}

// Extents of tiles are powers of two: 96 columns are 64 and 32, in copies, loops and reductions.

// CHECK-LABEL: func.func @uneven
// CHECK: %[[X0:[0-9]+]], %{{.*}} = nv_tileaa.tiled_load {{.*}} -> tensor<16x64xf32>
// CHECK: %[[X1:[0-9]+]], %{{.*}} = nv_tileaa.tiled_load {{.*}} -> tensor<16x32xf32>
// CHECK: nv_tileaa.reduce %[[X0]] {axis = 1 : i32
// CHECK: %[[R1:.*]] = nv_tileaa.reduce %[[X1]] {axis = 1 : i32
// CHECK: %[[M:.*]] = arith.maxnumf %{{.*}}, %[[R1]] : tensor<16xf32>
// CHECK: arith.subf %[[X0]], %{{.*}} : tensor<16x64xf32>
// CHECK: arith.subf %[[X1]], %{{.*}} : tensor<16x32xf32>
func.func @uneven(%X: memref<64x96xf32>) {
  %zero = arith.constant 0 : index
  tl.kernel (%bx) in (4) threads(128) {
    %rows = arith.constant 16 : index
    %first = arith.muli %bx, %rows : index
    %x = tl.alloc_fragment : memref<16x96xf32, #tl<space fragment>>
    %m = tl.alloc_fragment : memref<16xf32, #tl<space fragment>>
    tl.copy %X[%first, %zero] to %x : memref<64x96xf32> to memref<16x96xf32, #tl<space fragment>>
    tl.reduce max %x to %m axis 1 : memref<16x96xf32, #tl<space fragment>> to memref<16xf32, #tl<space fragment>>
    tl.parallel (%i, %j) in (16, 96) {
      %v = memref.load %x[%i, %j] : memref<16x96xf32, #tl<space fragment>>
      %most = memref.load %m[%i] : memref<16xf32, #tl<space fragment>>
      %w = arith.subf %v, %most : f32
      memref.store %w, %x[%i, %j] : memref<16x96xf32, #tl<space fragment>>
    }
    tl.copy %x to %X[%first, %zero] : memref<16x96xf32, #tl<space fragment>> to memref<64x96xf32>
  }
  func.return
}

// What belongs to rows is computed once a row; an array that is written has a token. A maximum
// leaves out NaN: that of NaN alone is -inf.

// CHECK-LABEL: func.func @rows
// CHECK: %[[TOKEN:.*]] = nv_tileaa.create_mem_token
// CHECK: %[[X:.*]] = nv_tileaa.tiled_load
// CHECK: %[[R:.*]] = nv_tileaa.reduce %[[X]] {axis = 1 : i32, identities = [0x7FC00000 : f32]}
// CHECK: %[[LEAST:.*]] = arith.constant dense<0xFF800000> : tensor<16xf32>
// CHECK: %[[M:.*]] = arith.maxnumf %[[LEAST]], %[[R]] : tensor<16xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[M]], {{.*}} : tensor<16xf32>
// CHECK: %[[COLUMN:.*]] = nv_tileaa.view %[[SCALED]] : tensor<16xf32> -> tensor<16x1xf32>
// CHECK: %[[WIDE:.*]] = nv_tileaa.broadcast %[[COLUMN]] : tensor<16x1xf32> -> tensor<16x32xf32>
// CHECK: %[[Y:.*]] = arith.subf %[[X]], %[[WIDE]]
// CHECK: nv_tileaa.tiled_store %[[Y]], {{.*}} after %[[TOKEN]]
func.func @rows(%X: memref<64x32xf32>, %Y: memref<64x32xf32>) {
  %zero = arith.constant 0 : index
  tl.kernel (%bx) in (4) threads(128) {
    %half = arith.constant 0.5 : f32
    %rows = arith.constant 16 : index
    %first = arith.muli %bx, %rows : index
    %x = tl.alloc_fragment : memref<16x32xf32, #tl<space fragment>>
    %m = tl.alloc_fragment : memref<16xf32, #tl<space fragment>>
    tl.copy %X[%first, %zero] to %x : memref<64x32xf32> to memref<16x32xf32, #tl<space fragment>>
    tl.reduce max %x to %m axis 1 : memref<16x32xf32, #tl<space fragment>> to memref<16xf32, #tl<space fragment>>
    tl.parallel (%i, %j) in (16, 32) {
      %v = memref.load %x[%i, %j] : memref<16x32xf32, #tl<space fragment>>
      %most = memref.load %m[%i] : memref<16xf32, #tl<space fragment>>
      %scaled = arith.mulf %most, %half : f32
      %w = arith.subf %v, %scaled : f32
      %row = arith.addi %first, %i : index
      memref.store %w, %Y[%row, %j] : memref<64x32xf32>
    }
  }
  func.return
}

// A product of f32 multiplies the bits that tf32 has. An array that is only read is reinterpreted in
// another shape; a part of a buffer that a loop chooses is one of those it divides into.

// CHECK-LABEL: func.func @shapes
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [32, 16], strides: [16, 1]
// CHECK: nv_tileaa.block_tile %[[FLAT]]
// CHECK: %[[A:.*]] = nv_tileaa.fp_to_fp %{{.*}} {nv_tileas.rounding = "rz"} : tensor<16x32xf32> -> tensor<16x32xtf32>
// CHECK: nv_tileaa.dot %[[A]], %{{.*}}, %{{.*}} : tensor<16x32xtf32>, tensor<32x16xtf32>
// CHECK: scf.for %[[N:[0-9]+]] =
// CHECK: %[[J:.*]] = arith.index_cast %[[N]]
// CHECK: nv_tileaa.extract %{{.*}}[%{{.*}}, %[[J]]] : tensor<16x16xf32> -> tensor<16x4xf32>
func.func @shapes(%X: memref<16x32xf32>, %W: memref<2x16x16xf32>, %Y: memref<16x4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  tl.kernel threads(128) {
    %flat = tl.reshape %W : memref<2x16x16xf32> to memref<32x16xf32>
    %x = tl.alloc_shared : memref<16x32xf32, #tl<space shared>>
    %w = tl.alloc_shared : memref<32x16xf32, #tl<space shared>>
    %c = tl.alloc_fragment : memref<16x16xf32, #tl<space fragment>>
    %y = tl.alloc_fragment : memref<16x4xf32, #tl<space fragment>>
    %none = arith.constant 0.0 : f32
    tl.copy %X to %x : memref<16x32xf32> to memref<16x32xf32, #tl<space shared>>
    tl.copy %flat to %w : memref<32x16xf32> to memref<32x16xf32, #tl<space shared>>
    tl.gemm %x, %w, %c {clear} : memref<16x32xf32, #tl<space shared>>, memref<32x16xf32, #tl<space shared>>, memref<16x16xf32, #tl<space fragment>>
    tl.fill %y, %none : memref<16x4xf32, #tl<space fragment>>
    tl.serial %n = %zero to %four step %one {
      tl.parallel (%i, %j) in (16, 4) {
        %first = arith.muli %n, %four : index
        %at = arith.addi %first, %j : index
        %v = memref.load %c[%i, %at] : memref<16x16xf32, #tl<space fragment>>
        %s = memref.load %y[%i, %j] : memref<16x4xf32, #tl<space fragment>>
        %t = arith.addf %s, %v : f32
        memref.store %t, %y[%i, %j] : memref<16x4xf32, #tl<space fragment>>
      }
    }
    tl.copy %y to %Y : memref<16x4xf32, #tl<space fragment>> to memref<16x4xf32>
  }
  func.return
}
