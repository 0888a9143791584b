// What `tl-layout-inference` refuses.

// RUN: tileas-opt %s -p tl-layout-inference --split-input-file --verify-diagnostics

func.func @several_iterations_write_one_element(%A: memref<64xf32>) {
  tl.kernel threads(64) {
    %zero = arith.constant 0 : index
    %f = tl.alloc_fragment : memref<64xf32, #tl<space fragment>>
    tl.parallel (%i) in (32) {
      %x = memref.load %A[%i] : memref<64xf32>
      // expected-error@+1 {{both write f[0]}}
      memref.store %x, %f[%zero] : memref<64xf32, #tl<space fragment>>
    }
  }
  func.return
}
