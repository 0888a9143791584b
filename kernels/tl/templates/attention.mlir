// O = softmax(Q K^T / sqrt(${D})) V: a block for ${BM} queries goes over the keys, ${BN} at a time,
// with the running maximum and sum of each row.

!matrix = memref<?x${D}x${ELEMENT}>
!query = memref<${BM}x${D}x${ELEMENT}, #tl<space shared>>
!keys = memref<${BN}x${D}x${ELEMENT}, #tl<space shared>>
!scores = memref<${BM}x${BN}xf32, #tl<space fragment>>
!shares = memref<${BM}x${BN}x${ELEMENT}, #tl<space fragment>>
!result = memref<${BM}x${D}xf32, #tl<space fragment>>
!column = memref<${BM}xf32, #tl<space fragment>>

func.func @attention(%Q: !matrix, %K: !matrix, %V: !matrix, %O: !matrix) {
  %zero = arith.constant 0 : index
  %bm = arith.constant ${BM} : index
  %bn = arith.constant ${BN} : index
  %queries = memref.dim %Q, %zero : !matrix
  %count = memref.dim %K, %zero : !matrix
  %gx = arith.ceildivui %queries, %bm : index
  tl.kernel (%bx) in (%gx) threads(${THREADS}) {
    %none = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    // log2(e) / sqrt(D), since powers are of 2.
    %scale = arith.constant ${SCALE} : f32
    %first = arith.muli %bx, %bm : index
    %q = tl.alloc_shared : !query
    %k = tl.alloc_shared : !keys
    %v = tl.alloc_shared : !keys
    %s = tl.alloc_fragment : !scores
    %p = tl.alloc_fragment : !shares
    %o = tl.alloc_fragment : !result
    %max = tl.alloc_fragment : !column
    %before = tl.alloc_fragment : !column
    %factor = tl.alloc_fragment : !column
    %part = tl.alloc_fragment : !column
    %sum = tl.alloc_fragment : !column
    tl.copy %Q[%first, %zero] to %q : !matrix to !query
    tl.fill %o, %none : !result
    tl.fill %sum, %none : !column
    tl.fill %max, %lowest : !column
    tl.pipelined %at = %zero to %count step %bn stages(${STAGES}) {
      tl.copy %K[%at, %zero] to %k : !matrix to !keys
      tl.gemm %q, %k, %s policy(full_row) {transpose_b, clear} : !query, !keys, !scores
      tl.parallel (%i, %j) in (${BM}, ${BN}) {
        %x = memref.load %s[%i, %j] : !scores
        %scaled = arith.mulf %x, %scale : f32
        %key = arith.addi %at, %j : index
        %exists = arith.cmpi ult, %key, %count : index
        %y = arith.select %exists, %scaled, %lowest : f32
        memref.store %y, %s[%i, %j] : !scores
      }
      tl.copy %max to %before : !column to !column
      tl.reduce max %s to %max axis 1 {clear = false} : !scores to !column
      tl.parallel (%i) in (${BM}) {
        %old = memref.load %before[%i] : !column
        %new = memref.load %max[%i] : !column
        %less = arith.subf %old, %new : f32
        %shrunk = math.exp2 %less : f32
        memref.store %shrunk, %factor[%i] : !column
      }
      tl.parallel (%i, %j) in (${BM}, ${BN}) {
        %x = memref.load %s[%i, %j] : !scores
        %top = memref.load %max[%i] : !column
        %less = arith.subf %x, %top : f32
        %power = math.exp2 %less : f32
        memref.store %power, %s[%i, %j] : !scores
      }
      tl.reduce sum %s to %part axis 1 : !scores to !column
      tl.parallel (%i) in (${BM}) {
        %old = memref.load %sum[%i] : !column
        %by = memref.load %factor[%i] : !column
        %new = memref.load %part[%i] : !column
        %total = math.fma %old, %by, %new : f32
        memref.store %total, %sum[%i] : !column
      }
      tl.parallel (%i, %j) in (${BM}, ${D}) {
        %old = memref.load %o[%i, %j] : !result
        %by = memref.load %factor[%i] : !column
        %new = arith.mulf %old, %by : f32
        memref.store %new, %o[%i, %j] : !result
      }
      tl.copy %s to %p : !scores to !shares
      tl.copy %V[%at, %zero] to %v : !matrix to !keys
      tl.gemm %p, %v, %o policy(full_row) : !shares, !keys, !result
    }
    tl.parallel (%i, %j) in (${BM}, ${D}) {
      %x = memref.load %o[%i, %j] : !result
      %total = memref.load %sum[%i] : !column
      %y = arith.divf %x, %total : f32
      memref.store %y, %o[%i, %j] : !result
    }
    tl.copy %o to %O[%first, %zero] : !result to !matrix
  }
  func.return
}
