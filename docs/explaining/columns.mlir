// A matrix is transposed through shared memory: written by rows, read by columns.
!matrix = memref<48x80xf16>
!shared = memref<48x80xf16, #tl<space shared>>

func.func @columns(%A: !matrix, %B: memref<80x48xf16>) {
  tl.kernel threads(128) {
    %s = tl.alloc_shared : !shared
    tl.copy %A to %s : !matrix to !shared
    tl.parallel (%i, %j) in (80, 48) {
      %x = memref.load %s[%j, %i] : !shared
      memref.store %x, %B[%i, %j] : memref<80x48xf16>
    }
  }
  func.return
}
