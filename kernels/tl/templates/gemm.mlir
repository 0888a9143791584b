// C = ${TITLE}(A B + bias): ${BM}x${BN} tiles of C, in steps of ${BK}, ${STAGES} stages; f32 sums.

!a = memref<?x?x${ELEMENT}>
!b = memref<?x?x${ELEMENT}>
!bias = memref<?xf32>
!c = memref<?x?x${ELEMENT}>
!a_tile = memref<${BM}x${BK}x${ELEMENT}, #tl<space shared>>
!b_tile = memref<${B_TILE}x${ELEMENT}, #tl<space shared>>
!sums = memref<${BM}x${BN}xf32, #tl<space fragment>>
!row = memref<${BN}xf32, #tl<space fragment>>

func.func @gemm(%A: !a, %B: !b, %bias: !bias, %C: !c) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %bk = arith.constant ${BK} : index
  %m = memref.dim %C, %zero : !c
  %n = memref.dim %C, %one : !c
  %depth = memref.dim %A, %one : !a
  %gx = arith.ceildivui %n, %bn : index
  %gy = arith.ceildivui %m, %bm : index
  tl.kernel (%bx, %by) in (%gx, %gy) threads(${THREADS}) {
    %none = arith.constant 0.0 : f32
    %y = arith.muli %by, %bm : index
    %x = arith.muli %bx, %bn : index
    %a = tl.alloc_shared : !a_tile
    %b = tl.alloc_shared : !b_tile
    %c = tl.alloc_fragment : !sums
    %added = tl.alloc_fragment : !row
    tl.fill %c, %none : !sums
    tl.pipelined %k = %zero to %depth step %bk stages(${STAGES}) {
      tl.copy %A[%y, %k] to %a : !a to !a_tile
      tl.copy %B[${B_INDEX}] to %b : !b to !b_tile
      tl.gemm %a, %b, %c policy(${POLICY}) ${CLAUSES} : !a_tile, !b_tile, !sums
    }
    tl.copy %bias[%x] to %added : !bias to !row
    tl.parallel (%i, %j) in (${BM}, ${BN}) {
      %sum = memref.load %c[%i, %j] : !sums
      %shift = memref.load %added[%j] : !row
      %v = arith.addf %sum, %shift : f32
      $ACTIVATION
      memref.store %w, %c[%i, %j] : !sums
    }
    tl.copy %c to %C[%y, %x] : !sums to !c
  }
  func.return
}
