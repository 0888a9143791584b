// B is A transposed: a block turns its tile of ${ROWS}x${COLUMNS} elements in registers.

!matrix = memref<?x?x${ELEMENT}>
!fragment = memref<${ROWS}x${COLUMNS}x${ELEMENT}, #tl<space fragment>>

func.func @transpose(%A: !matrix, %B: !matrix) {
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
    %f = tl.alloc_fragment : !fragment
    tl.copy %A[%y, %x] to %f : !matrix to !fragment
    tl.parallel (%i, %j) in (${ROWS}, ${COLUMNS}) {
      %a = memref.load %f[%i, %j] : !fragment
      %row = arith.addi %y, %i : index
      %column = arith.addi %x, %j : index
      memref.store %a, %B[%column, %row] : !matrix
    }
  }
  func.return
}
