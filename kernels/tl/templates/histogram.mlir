// How often each of ${BINS} numbers is among X: a block counts in shared memory, then adds its
// counts to those of the others.  Numbers that have no bin do not count.

!numbers = memref<?xi32>
!counts = memref<${BINS}xi32>
!bins = memref<${BINS}xi32, #tl<space shared>>

func.func @histogram(%X: !numbers, %counts: !counts) {
  %zero = arith.constant 0 : index
  %chunk = arith.constant ${CHUNK} : index
  %n = memref.dim %X, %zero : !numbers
  %gx = arith.ceildivui %n, %chunk : index
  tl.kernel (%bx) in (%gx) threads(${THREADS}) {
    %none = arith.constant 0 : i32
    %once = arith.constant 1 : i32
    %most = arith.constant ${BINS} : index
    %first = arith.muli %bx, %chunk : index
    %bins = tl.alloc_shared : !bins
    tl.fill %bins, %none : !bins
    tl.parallel (%i) in (${CHUNK}) {
      %at = arith.addi %first, %i : index
      %exists = arith.cmpi ult, %at, %n : index
      %x = memref.load %X[%at] : !numbers
      %bin = arith.index_cast %x : i32 to index
      %has_bin = arith.cmpi ult, %bin, %most : index
      %counts_too = arith.andi %exists, %has_bin : i1
      scf.if %counts_too {
        tl.atomic_add %bins[%bin], %once : !bins
      }
    }
    tl.parallel (%i) in (${BINS}) {
      %count = memref.load %bins[%i] : !bins
      tl.atomic_add %counts[%i], %count : !counts
    }
  }
  func.return
}
