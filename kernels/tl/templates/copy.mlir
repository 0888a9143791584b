// B = A: a block copies its tile of ${ROWS}x${COLUMNS} elements into shared memory, from there
// into a fragment, and out.  What is outside of A is 0; what is outside of B is not written.

!matrix = memref<?x?x${ELEMENT}>
!shared = memref<${ROWS}x${COLUMNS}x${ELEMENT}, #tl<space shared>>
!fragment = memref<${ROWS}x${COLUMNS}x${ELEMENT}, #tl<space fragment>>

func.func @copy(%A: !matrix, %B: !matrix) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant ${ROWS} : index
  %columns = arith.constant ${COLUMNS} : index
  %m = memref.dim %A, %zero : !matrix
  %n = memref.dim %A, %one : !matrix
  %gx = arith.ceildivui %n, %columns : index
  %gy = arith.ceildivui %m, %rows : index
  tl.kernel (%bx, %by) in (%gx, %gy) threads(${THREADS}) {
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
