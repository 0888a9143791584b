// B = A: a block copies its tile of 16x32 elements into shared memory, from there
// into a fragment, and out.  What is outside of A is 0; what is outside of B is not written.

!matrix = memref<?x?xf32>
!shared = memref<16x32xf32, #tl<space shared>>
!fragment = memref<16x32xf32, #tl<space fragment>>

func.func @copy(%A: !matrix, %B: !matrix) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %columns = arith.constant 32 : index
  %m = memref.dim %A, %zero : !matrix
  %n = memref.dim %A, %one : !matrix
  %gx = arith.ceildivui %n, %columns : index
  %gy = arith.ceildivui %m, %rows : index
  tl.kernel (%bx, %by) in (%gx, %gy) threads(64) {
    %y = arith.muli %by, %rows : index
    %x = arith.muli %bx, %columns : index
    %s = tl.alloc_shared : !shared
    %f = tl.alloc_fragment : !fragment
    tl.copy %A[%y, %x] to %s : !matrix to !shared
    tl.copy %s to %f : !shared to !fragment
    tl.copy %f to %B[%y, %x] : !fragment to !matrix
  }
  func.return
}
