// What block-striped accesses refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

!array = !cute.ptr<f32, gmem, align<16>>
!held = !cute.memref<f32, rmem, "8:1">
!smem = !cute.memref<f32, smem, "8:1">
!open = !cute.memref<f32, rmem, "?:1">
!bytes = !cute.memref<i8, rmem, "8:1">
!near = !cute.ptr<f32, gmem>
!other = !cute.ptr<i32, gmem, align<16>>
!shared = !cute.ptr<f32, smem, align<16>>
func.func @stripes(%array: !array, %near: !near, %other: !other, %shared: !shared, %held: !held, %smem: !smem, %open: !open, %bytes: !bytes, %t: i32) {
  // expected-error@+1 {{'cutlass.block_striped.load' op moves a view of rmem, but got !cute.memref<f32, smem, "8:1">}}
  cutlass.block_striped.load %smem, %array thread %t of 128 width 4 : !smem, !array
  // expected-error@+1 {{'cutlass.block_striped.load' op moves a view of rmem, but got !cute.ptr<f32, gmem, align<16>>}}
  cutlass.block_striped.load %array, %array thread %t of 128 width 4 : !array, !array
  // expected-error@+1 {{'cutlass.block_striped.store' op moves what is known before run time, not !cute.memref<f32, rmem, "?:1">}}
  cutlass.block_striped.store %open, %array thread %t of 128 width 4 : !open, !array
  // expected-error@+1 {{'cutlass.block_striped.store' op moves elements of 16 bits or more, not !cute.memref<i8, rmem, "8:1">}}
  cutlass.block_striped.store %bytes, %array thread %t of 128 width 4 : !bytes, !array
  // expected-error@+1 {{'cutlass.block_striped.load_add' op is of 1 thread or more, not 0}}
  cutlass.block_striped.load_add %held, %array thread %t of 0 width 4 : !held, !array
  // expected-error@+1 {{'cutlass.block_striped.load_add' op moves 8 elements in pieces of 3}}
  cutlass.block_striped.load_add %held, %array thread %t of 128 width 3 : !held, !array
  // expected-error@+1 {{'cutlass.block_striped.load_add' op moves 8 elements in pieces of 0}}
  cutlass.block_striped.load_add %held, %array thread %t of 128 width 0 : !held, !array
  // expected-error@+1 {{'cutlass.block_striped.load' op moves 2, 4, 8 or 16 bytes at once, not 32}}
  cutlass.block_striped.load %held, %array thread %t of 128 width 8 : !held, !array
  // expected-error@+1 {{'cutlass.block_striped.load' op expects the array aligned to 8 bytes, but !cute.ptr<f32, gmem> promises 4}}
  cutlass.block_striped.load %held, %near thread %t of 128 width 2 : !held, !near
  // expected-error@+1 {{'cutlass.block_striped.load' op expects a pointer to gmem as the array, but got !cute.ptr<f32, smem, align<16>>}}
  cutlass.block_striped.load %held, %shared thread %t of 128 width 2 : !held, !shared
  // expected-error@+1 {{'cutlass.block_striped.load' op moves f32, but the array is !cute.ptr<i32, gmem, align<16>>}}
  cutlass.block_striped.load %held, %other thread %t of 128 width 2 : !held, !other
  // expected-error@+1 {{'cutlass.block_striped.reduce' op updates by add or max, not by min}}
  cutlass.block_striped.reduce "min" %held, %array thread %t of 128 width 1 : !held, !array
  // expected-error@+1 {{'cutlass.block_striped.reduce' op has no max of f32}}
  cutlass.block_striped.reduce "max" %held, %array thread %t of 128 width 1 : !held, !array
  func.return
}
