// Masks of a few comparisons, such as those of columns with the end of a row: one branch passes over
// the selections where all of them hold.

// RUN: tileas-opt %s -p convert-tileas-to-cute-nvgpu,canonicalize,cse | filecheck %s

#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>
!row = tensor<512xf16, #nv_tileas.blocked<"((8,32,2)):((1@value,1@thread,8@value))">>

// A thread has two pieces of 8 columns; the end is a multiple of 8, so it lies in neither.

func.func @columns(%x: memref<512xf16>, %eights: i32) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : i32
  %n = arith.muli %eights, %c8 : i32
  %none = arith.constant 0.0 : f16
  %t = nv_tileas.tiled_load %x[%c0] {atom = #ldg, in_bounds = array<i1: true>} : memref<512xf16> -> !row
  %g = nv_tileas.generate : !row {
  ^bb0(%j: index):
    %column = arith.index_cast %j : index to i32
    %inside = arith.cmpi slt, %column, %n : i32
    %e = tensor.extract %t[%j] : !row
    %s = arith.select %inside, %e, %none : f16
    nv_tileas.yield %s : f16
  }
  nv_tileas.tiled_store %g, %x[%c0] {atom = #stg, in_bounds = array<i1: true>} : !row, memref<512xf16>
  func.return
}

// CHECK-LABEL: func.func @columns
// CHECK:         %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %[[N:.*]] : i32
// CHECK:         %[[LAST:.*]] = arith.cmpi slt, %{{.*}}, %[[N]] : i32
// CHECK-NOT:     arith.select
// CHECK:         %[[WHOLE:.*]] = arith.andi %[[FIRST]], %[[LAST]] : i1
// CHECK-NEXT:    %{{.*}} = scf.if %[[WHOLE]] -> (vector<16xf16>) {
// CHECK-NEXT:      scf.yield %[[ALL:.*]] : vector<16xf16>
// CHECK-NEXT:    } else {
// CHECK-COUNT-16:  arith.select
// CHECK:           scf.yield
