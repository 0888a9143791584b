// C[i, j] = 2 a[i] b[j] + b[j]: one fragment is broadcast along rows, the other along columns.

!matrix = memref<?x?xf32>
!vector = memref<?xf32>
!tile = memref<16x32xf32, #tl<space fragment>>
!left = memref<16xf32, #tl<space fragment>>
!upper = memref<32xf32, #tl<space fragment>>

func.func @outer(%A: !vector, %B: !vector, %C: !matrix) {
  %zero = arith.constant 0 : index
  %rows = arith.constant 16 : index
  %columns = arith.constant 32 : index
  %m = memref.dim %A, %zero : !vector
  %n = memref.dim %B, %zero : !vector
  %gx = arith.ceildivui %n, %columns : index
  %gy = arith.ceildivui %m, %rows : index
  tl.kernel (%bx, %by) in (%gx, %gy) threads(64) {
    %two = arith.constant 2.0 : f32
    %y = arith.muli %by, %rows : index
    %x = arith.muli %bx, %columns : index
    %a = tl.alloc_fragment : !left
    %b = tl.alloc_fragment : !upper
    %c = tl.alloc_fragment : !tile
    tl.parallel (%i) in (16) {
      %row = arith.addi %y, %i : index
      %v = memref.load %A[%row] : !vector
      %twice = arith.mulf %v, %two : f32
      memref.store %twice, %a[%i] : !left
    }
    tl.copy %B[%x] to %b : !vector to !upper
    tl.parallel (%i, %j) in (16, 32) {
      %p = memref.load %a[%i] : !left
      %q = memref.load %b[%j] : !upper
      %r = math.fma %p, %q, %q : f32
      memref.store %r, %c[%i, %j] : !tile
    }
    tl.copy %c to %C[%y, %x] : !tile to !matrix
  }
  func.return
}
