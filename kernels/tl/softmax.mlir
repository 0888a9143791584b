// Y = softmax of each row of X: a block for 8 rows of at most 64 elements.

!matrix = memref<?x?xf32>
!read = memref<8x64xf32, #tl<space fragment>>
!tile = memref<8x64xf32, #tl<space fragment>>
!column = memref<8xf32, #tl<space fragment>>

func.func @softmax(%X: !matrix, %Y: !matrix) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 8 : index
  %m = memref.dim %X, %zero : !matrix
  %n = memref.dim %X, %one : !matrix
  %gx = arith.ceildivui %m, %rows : index
  tl.kernel (%bx) in (%gx) threads(128) {
    %lowest = arith.constant 0xFF800000 : f32
    %first = arith.muli %bx, %rows : index
    %x = tl.alloc_fragment : !tile
    %max = tl.alloc_fragment : !column
    %sum = tl.alloc_fragment : !column
    %y = tl.alloc_fragment : !read
    tl.copy %X[%first, %zero] to %x : !matrix to !tile
    // What is beyond a row is -inf, whose exponential is 0.
    tl.parallel (%i, %j) in (8, 64) {
      %v = memref.load %x[%i, %j] : !tile
      %exists = arith.cmpi ult, %j, %n : index
      %w = arith.select %exists, %v, %lowest : f32
      memref.store %w, %x[%i, %j] : !tile
    }
    tl.reduce max %x to %max axis 1 : !tile to !column
    tl.parallel (%i, %j) in (8, 64) {
      %v = memref.load %x[%i, %j] : !tile
      %top = memref.load %max[%i] : !column
      %shifted = arith.subf %v, %top : f32
      %power = math.exp %shifted : f32
      memref.store %power, %x[%i, %j] : !tile
    }
    tl.reduce sum %x to %sum axis 1 : !tile to !column
    tl.parallel (%i, %j) in (8, 64) {
      %v = memref.load %x[%i, %j] : !tile
      %total = memref.load %sum[%i] : !column
      %share = arith.divf %v, %total : f32
      memref.store %share, %x[%i, %j] : !tile
    }
    tl.copy %x to %y : !tile to !read
    tl.copy %y to %Y[%first, %zero] : !read to !matrix
  }
  func.return
}
