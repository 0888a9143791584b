// The worked example of "How to Write Layout Correctly": 64 threads fill a fragment; four of its
// elements go out, by threads 0, 16, 32 and 48.

!A = memref<4x16xf32>
!B = memref<4xf32>
!fragment = memref<4x16xf32, #tl<space fragment>>

func.func @article(%A: !A, %B: !B) {
  tl.kernel threads(64) {
    %zero = arith.constant 0 : index
    %f = tl.alloc_fragment : !fragment
    tl.parallel (%row, %col) in (4, 16) {
      %a = memref.load %A[%row, %col] : !A
      memref.store %a, %f[%row, %col] : !fragment
    }
    tl.parallel (%group, %of_group) in (2, 2) {
      %row = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%group, %of_group)
      %x = memref.load %f[%row, %zero] : !fragment
      memref.store %x, %B[%row] : !B
    }
  }
  func.return
}
