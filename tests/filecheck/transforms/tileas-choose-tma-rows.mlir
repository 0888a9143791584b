// `tileas-choose-tma`: accesses through pointers that are rows of an array, by a vector of their numbers,
// move rows by gather4 and scatter4 where a target has them (TileAS TMA and Memops Family, load modes).

// RUN: tileas-opt %s -p tileas-choose-tma --split-input-file | filecheck %s
// RUN: tileas-opt %s -p 'tileas-choose-tma{rows=false}' --split-input-file | filecheck %s --check-prefix THREADS

// An element is at %rows[row] * %s + %j * 64 + column, if that is a row and a column of the array.

builtin.module attributes {nv_tileas.target = "sm_100a"} {
func.func @rows(%p: !nv_tileaa.ptr<f16, 1>, %h: i32, %w: i32, %t: i32, %rows: tensor<32xi32>, %j: i32) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %base = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %s = nv_tileaa.assume %t, #nv_tileaa.div_by<8> : i32
  %n = nv_tileaa.assume %w, #nv_tileaa.div_by<8> : i32
  %c64 = arith.constant 64 : i32
  %first = arith.muli %j, %c64 : i32
  %s64 = arith.extsi %s : i32 to i64
  %h64 = arith.extsi %h : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %offset = nv_tileas.generate : tensor<32x64xi64> {
  ^bb0(%r: index, %c: index):
    %row = tensor.extract %rows[%r] : tensor<32xi32>
    %row64 = arith.extsi %row : i32 to i64
    %scaled = arith.muli %row64, %s64 : i64
    %ci = arith.index_cast %c : index to i32
    %column = arith.addi %first, %ci : i32
    %wide = arith.extsi %column : i32 to i64
    %o = arith.addi %scaled, %wide : i64
    nv_tileas.yield %o : i64
  }
  %mask = nv_tileas.generate : tensor<32x64xi1> {
  ^bb0(%r: index, %c: index):
    %row = tensor.extract %rows[%r] : tensor<32xi32>
    %row64 = arith.extsi %row : i32 to i64
    %isrow = arith.cmpi ult, %row64, %h64 : i64
    %ci = arith.index_cast %c : index to i32
    %column = arith.addi %first, %ci : i32
    %wide = arith.extsi %column : i32 to i64
    %iscolumn = arith.cmpi ult, %wide, %n64 : i64
    %both = arith.andi %isrow, %iscolumn : i1
    nv_tileas.yield %both : i1
  }
  %all = tensor.splat %base : tensor<32x64x!nv_tileaa.ptr<f16, 1>>
  %at = nv_tileaa.addptr %all, %offset : tensor<32x64x!nv_tileaa.ptr<f16, 1>>, tensor<32x64xi64>
  %x = nv_tileas.load %at mask %mask : tensor<32x64xi1> {atom = #nv_tileas<atom ldg>, padding_value = 0.0 : f16} : tensor<32x64x!nv_tileaa.ptr<f16, 1>> -> tensor<32x64xf16>
  %y = arith.addf %x, %x : tensor<32x64xf16>
  nv_tileas.store %y, %at mask %mask : tensor<32x64xi1> {atom = #nv_tileas<atom stg>} : tensor<32x64xf16>, tensor<32x64x!nv_tileaa.ptr<f16, 1>>
  func.return
}
}

// THREADS-LABEL: func.func @rows
// THREADS-NOT: gather
// THREADS: nv_tileas.load
// THREADS-NOT: scatter

// CHECK-LABEL: func.func @rows
// CHECK:       nv_tileaa.make_memref %base, sizes[%h : i32, %n : i32], strides[%s : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
// CHECK:       %x = nv_tileas.gather_load {{.*}} {atom = #nv_tileas<atom tma_load_2d<mode = gather4>>, in_bounds = array<i1: false, false>, padding_value = 0.000000e+00 : f16}
// CHECK:       nv_tileas.scatter_store {{.*}} {atom = #nv_tileas<atom tma_store_2d<mode = scatter4>>, in_bounds = array<i1: false, false>}
// CHECK-NOT:   addptr

// -----

// A product of 32 bits wraps around, and addresses of TMA do not.

builtin.module attributes {nv_tileas.target = "sm_100a"} {
func.func @wraps(%p: !nv_tileaa.ptr<f16, 1>, %h: i32, %w: i32, %t: i32, %rows: tensor<32xi32>, %j: i32) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %base = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %s = nv_tileaa.assume %t, #nv_tileaa.div_by<8> : i32
  %n = nv_tileaa.assume %w, #nv_tileaa.div_by<8> : i32
  %c64 = arith.constant 64 : i32
  %first = arith.muli %j, %c64 : i32
  %s64 = arith.extsi %s : i32 to i64
  %h64 = arith.extsi %h : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %offset = nv_tileas.generate : tensor<32x64xi64> {
  ^bb0(%r: index, %c: index):
    %row = tensor.extract %rows[%r] : tensor<32xi32>
    %narrow = arith.muli %row, %s : i32
    %scaled = arith.extsi %narrow : i32 to i64
    %ci = arith.index_cast %c : index to i32
    %column = arith.addi %first, %ci : i32
    %wide = arith.extsi %column : i32 to i64
    %o = arith.addi %scaled, %wide : i64
    nv_tileas.yield %o : i64
  }
  %mask = nv_tileas.generate : tensor<32x64xi1> {
  ^bb0(%r: index, %c: index):
    %row = tensor.extract %rows[%r] : tensor<32xi32>
    %row64 = arith.extsi %row : i32 to i64
    %isrow = arith.cmpi ult, %row64, %h64 : i64
    %ci = arith.index_cast %c : index to i32
    %column = arith.addi %first, %ci : i32
    %wide = arith.extsi %column : i32 to i64
    %iscolumn = arith.cmpi ult, %wide, %n64 : i64
    %both = arith.andi %isrow, %iscolumn : i1
    nv_tileas.yield %both : i1
  }
  %all = tensor.splat %base : tensor<32x64x!nv_tileaa.ptr<f16, 1>>
  %at = nv_tileaa.addptr %all, %offset : tensor<32x64x!nv_tileaa.ptr<f16, 1>>, tensor<32x64xi64>
  %x = nv_tileas.load %at mask %mask : tensor<32x64xi1> {atom = #nv_tileas<atom ldg>, padding_value = 0.0 : f16} : tensor<32x64x!nv_tileaa.ptr<f16, 1>> -> tensor<32x64xf16>
  %y = arith.addf %x, %x : tensor<32x64xf16>
  nv_tileas.store %y, %at mask %mask : tensor<32x64xi1> {atom = #nv_tileas<atom stg>} : tensor<32x64xf16>, tensor<32x64x!nv_tileaa.ptr<f16, 1>>
  func.return
}
}

// CHECK-LABEL: func.func @wraps
// CHECK:       %x = nv_tileas.load %at mask %mask
// CHECK:       nv_tileas.store %y, %at mask %mask
