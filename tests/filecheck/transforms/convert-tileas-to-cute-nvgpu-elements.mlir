// Single elements of arrays, `memref.load` and `memref.store`: every thread loads, one stores.

// RUN: tileas-opt %s -p convert-tileas-to-cute-nvgpu | filecheck %s

func.func @k(%a: memref<64x32xi32>, %o: memref<128xi32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = memref.load %a[%c3, %c0] : memref<64x32xi32>
  memref.store %n, %o[%c3] : memref<128xi32>
  func.return
}

// CHECK-LABEL: @k
// CHECK:       [[N:%[a-z0-9_]+]] = cute.ptr.load
// CHECK:       cute.ptr.store{{.*}}[[N]]
