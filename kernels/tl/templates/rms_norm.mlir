// Y = X w / sqrt(mean of X^2 + 1e-5), by rows: a block for ${ROWS} rows of ${COLUMNS} elements.

!matrix = memref<?x${COLUMNS}x${ELEMENT}>
!weights = memref<${COLUMNS}x${ELEMENT}>
!tile = memref<${ROWS}x${COLUMNS}xf32, #tl<space fragment>>
!column = memref<${ROWS}xf32, #tl<space fragment>>
!row = memref<${COLUMNS}xf32, #tl<space fragment>>

func.func @rms_norm(%X: !matrix, %W: !weights, %Y: !matrix) {
  %zero = arith.constant 0 : index
  %rows = arith.constant ${ROWS} : index
  %m = memref.dim %X, %zero : !matrix
  %gx = arith.ceildivui %m, %rows : index
  tl.kernel (%bx) in (%gx) threads(${THREADS}) {
    %count = arith.constant ${COLUMNS}.0 : f32
    %epsilon = arith.constant 1.0e-5 : f32
    %first = arith.muli %bx, %rows : index
    %x = tl.alloc_fragment : !tile
    %squares = tl.alloc_fragment : !tile
    %scale = tl.alloc_fragment : !column
    %w = tl.alloc_fragment : !row
    tl.copy %X[%first, %zero] to %x : !matrix to !tile
    tl.copy %W to %w : !weights to !row
    tl.parallel (%i, %j) in (${ROWS}, ${COLUMNS}) {
      %v = memref.load %x[%i, %j] : !tile
      %square = arith.mulf %v, %v : f32
      memref.store %square, %squares[%i, %j] : !tile
    }
    tl.reduce sum %squares to %scale axis 1 : !tile to !column
    tl.parallel (%i) in (${ROWS}) {
      %sum = memref.load %scale[%i] : !column
      %mean = arith.divf %sum, %count : f32
      %more = arith.addf %mean, %epsilon : f32
      %root = math.rsqrt %more : f32
      memref.store %root, %scale[%i] : !column
    }
    tl.parallel (%i, %j) in (${ROWS}, ${COLUMNS}) {
      %v = memref.load %x[%i, %j] : !tile
      %factor = memref.load %scale[%i] : !column
      %weight = memref.load %w[%j] : !row
      %scaled = arith.mulf %v, %factor : f32
      %result = arith.mulf %scaled, %weight : f32
      memref.store %result, %x[%i, %j] : !tile
    }
    tl.copy %x to %Y[%first, %zero] : !tile to !matrix
  }
  func.return
}
