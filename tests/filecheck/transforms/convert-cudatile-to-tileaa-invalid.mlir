// An operation that has no rule: one of another dialect.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics -p 'convert-cudatile-to-tileaa{compute_capability=90}'

cuda_tile.module @kernels {
  entry @other() {
    // expected-error@+1 {{'arith.constant' op failed to convert cuda_tile to nv_tileaa}}
    %0 = "arith.constant"() <{value = 1 : i32}> : () -> i32
    return
  }
}
