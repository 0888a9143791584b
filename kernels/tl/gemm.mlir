// C = gelu(A B + bias): 64x64 tiles of C, in steps of 32, 3 stages; f32 sums.

!a = memref<?x?xf16>
!b = memref<?x?xf16>
!bias = memref<?xf32>
!c = memref<?x?xf16>
!a_tile = memref<64x32xf16, #tl<space shared>>
!b_tile = memref<32x64xf16, #tl<space shared>>
!sums = memref<64x64xf32, #tl<space fragment>>
!row = memref<64xf32, #tl<space fragment>>

func.func @gemm(%A: !a, %B: !b, %bias: !bias, %C: !c) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %bm = arith.constant 64 : index
  %bn = arith.constant 64 : index
  %bk = arith.constant 32 : index
  %m = memref.dim %C, %zero : !c
  %n = memref.dim %C, %one : !c
  %depth = memref.dim %A, %one : !a
  %gx = arith.ceildivui %n, %bn : index
  %gy = arith.ceildivui %m, %bm : index
  tl.kernel (%bx, %by) in (%gx, %gy) threads(128) {
    %none = arith.constant 0.0 : f32
    %y = arith.muli %by, %bm : index
    %x = arith.muli %bx, %bn : index
    %a = tl.alloc_shared : !a_tile
    %b = tl.alloc_shared : !b_tile
    %c = tl.alloc_fragment : !sums
    %added = tl.alloc_fragment : !row
    tl.fill %c, %none : !sums
    tl.pipelined %k = %zero to %depth step %bk stages(3) {
      tl.copy %A[%y, %k] to %a : !a to !a_tile
      tl.copy %B[%k, %x] to %b : !b to !b_tile
      tl.gemm %a, %b, %c policy(square)  : !a_tile, !b_tile, !sums
    }
    tl.copy %bias[%x] to %added : !bias to !row
    tl.parallel (%i, %j) in (64, 64) {
      %sum = memref.load %c[%i, %j] : !sums
      %shift = memref.load %added[%j] : !row
      %v = arith.addf %sum, %shift : f32
      %root = arith.constant 0.707106769 : f32
      %half = arith.constant 0.5 : f32
      %unit = arith.constant 1.0 : f32
      %turned = arith.mulf %v, %root : f32
      %e = math.erf %turned : f32
      %more = arith.addf %e, %unit : f32
      %halved = arith.mulf %v, %half : f32
      %w = arith.mulf %halved, %more : f32
      memref.store %w, %c[%i, %j] : !sums
    }
    tl.copy %c to %C[%y, %x] : !sums to !c
  }
  func.return
}
