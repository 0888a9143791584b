// S[j] = the sum of column j of A: a block goes down 32 columns, 16 rows at a time.

!matrix = memref<?x?xf32>
!vector = memref<?xf32>
!tile = memref<16x32xf32, #tl<space fragment>>
!sums = memref<32xf32, #tl<space fragment>>

func.func @column_sums(%A: !matrix, %S: !vector) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 16 : index
  %columns = arith.constant 32 : index
  %m = memref.dim %A, %zero : !matrix
  %n = memref.dim %A, %one : !matrix
  %gx = arith.ceildivui %n, %columns : index
  tl.kernel (%bx) in (%gx) threads(64) {
    %none = arith.constant 0.0 : f32
    %x = arith.muli %bx, %columns : index
    %tile = tl.alloc_fragment : !tile
    %sums = tl.alloc_fragment : !sums
    tl.fill %sums, %none : !sums
    tl.serial %y = %zero to %m step %rows {
      tl.copy %A[%y, %x] to %tile : !matrix to !tile
      tl.reduce sum %tile to %sums axis 0 {clear = false} : !tile to !sums
    }
    tl.copy %sums to %S[%x] : !sums to !vector
  }
  func.return
}
