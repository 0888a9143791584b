// C = A W^T, where W is packed: two weights of 4 bits a byte, the lower half first, each 8 too
// large, and a factor for each row of W.  A block unpacks them in registers.

!a = memref<?x?xf16>
!packed = memref<?x?xi8>
!factors = memref<?xf16>
!c = memref<?x?xf16>
!a_tile = memref<${BM}x${BK}xf16, #tl<space shared>>
!packed_tile = memref<${BN}x${HALF}xi8, #tl<space shared>>
!unpacked = memref<${BN}x${BK}xf16, #tl<space fragment>>
!w_tile = memref<${BN}x${BK}xf16, #tl<space shared>>
!row = memref<${BN}xf16, #tl<space fragment>>
!sums = memref<${BM}x${BN}xf32, #tl<space fragment>>

func.func @dequant_gemm(%A: !a, %W: !packed, %factors: !factors, %C: !c) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
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
    %low_bits = arith.constant 15 : i8
    %half = arith.constant 4 : i8
    %eight = arith.constant 8 : i8
    %y = arith.muli %by, %bm : index
    %x = arith.muli %bx, %bn : index
    %a = tl.alloc_shared : !a_tile
    %bytes = tl.alloc_shared : !packed_tile
    %unpacked = tl.alloc_fragment : !unpacked
    %w = tl.alloc_shared : !w_tile
    %factor = tl.alloc_fragment : !row
    %c = tl.alloc_fragment : !sums
    tl.fill %c, %none : !sums
    tl.copy %factors[%x] to %factor : !factors to !row
    tl.serial %k = %zero to %depth step %bk {
      %byte = arith.divui %k, %two : index
      tl.copy %A[%y, %k] to %a : !a to !a_tile
      tl.copy %W[%x, %byte] to %bytes : !packed to !packed_tile
      tl.parallel (%i, %j) in (${BN}, ${BK}) {
        %at = affine.apply affine_map<(d0) -> (d0 floordiv 2)> (%j)
        %odd = affine.apply affine_map<(d0) -> (d0 mod 2)> (%j)
        %both = memref.load %bytes[%i, %at] : !packed_tile
        %upper = arith.shrui %both, %half : i8
        %is_odd = arith.cmpi eq, %odd, %one : index
        %chosen = arith.select %is_odd, %upper, %both : i8
        %bits = arith.andi %chosen, %low_bits : i8
        %number = arith.subi %bits, %eight : i8
        %weight = arith.sitofp %number : i8 to f16
        %by_ = memref.load %factor[%i] : !row
        %scaled = arith.mulf %weight, %by_ : f16
        memref.store %scaled, %unpacked[%i, %j] : !unpacked
      }
      tl.copy %unpacked to %w : !unpacked to !w_tile
      tl.gemm %a, %w, %c {transpose_b} : !a_tile, !w_tile, !sums
    }
    tl.copy %c to %C[%y, %x] : !sums to !c
  }
  func.return
}
