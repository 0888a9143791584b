// Block-striped arrays: accesses interleaved over the threads of a group.

// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

!array = !cute.ptr<f32, gmem, align<16>>
!held = !cute.memref<f32, rmem, "(4,2):(1,4)">

// CHECK-LABEL: func.func @stripes
func.func @stripes(%array: !array, %held: !held, %thread: i32) {
  // CHECK-NEXT: cutlass.block_striped.load %held, %array thread %thread of 128 width 4 : !held, !array
  cutlass.block_striped.load %held, %array thread %thread of 128 width 4 : !held, !array
  // CHECK-NEXT: cutlass.block_striped.load_add %held, %array thread %thread of 100 width 2 : !held, !array
  cutlass.block_striped.load_add %held, %array thread %thread of 100 width 2 : !held, !array
  // CHECK-NEXT: cutlass.block_striped.store %held, %array thread %thread of 1 width 1 : !held, !array
  cutlass.block_striped.store %held, %array thread %thread of 1 width 1 : !held, !array
  // CHECK-NEXT: cutlass.block_striped.reduce "add" %held, %array thread %thread of 128 width 4 : !held, !array
  cutlass.block_striped.reduce "add" %held, %array thread %thread of 128 width 4 : !held, !array
  func.return
}
