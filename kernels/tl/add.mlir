// C = A + B, element by element, in tiles of 16x32.

!matrix = memref<?x?xf32>
!fragment = memref<16x32xf32, #tl<space fragment>>

func.func @add(%A: !matrix, %B: !matrix, %C: !matrix) {
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
    %a = tl.alloc_fragment : !fragment
    %b = tl.alloc_fragment : !fragment
    tl.copy %A[%y, %x] to %a : !matrix to !fragment
    tl.copy %B[%y, %x] to %b : !matrix to !fragment
    tl.parallel (%i, %j) in (16, 32) {
      %p = memref.load %a[%i, %j] : !fragment
      %q = memref.load %b[%i, %j] : !fragment
      %sum = arith.addf %p, %q : f32
      memref.store %sum, %a[%i, %j] : !fragment
    }
    tl.copy %a to %C[%y, %x] : !fragment to !matrix
  }
  func.return
}
