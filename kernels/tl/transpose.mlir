// B is A transposed: a block turns its tile of 16x32 elements in registers.

!matrix = memref<?x?xf32>
!fragment = memref<16x32xf32, #tl<space fragment>>

func.func @transpose(%A: !matrix, %B: !matrix) {
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
    %f = tl.alloc_fragment : !fragment
    tl.copy %A[%y, %x] to %f : !matrix to !fragment
    tl.parallel (%i, %j) in (16, 32) {
      %a = memref.load %f[%i, %j] : !fragment
      %row = arith.addi %y, %i : index
      %column = arith.addi %x, %j : index
      memref.store %a, %B[%column, %row] : !matrix
    }
  }
  func.return
}
