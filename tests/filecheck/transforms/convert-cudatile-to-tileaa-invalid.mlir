// What Tile IR has and nothing below has.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics -p 'convert-cudatile-to-tileaa{compute_capability=90}'

cuda_tile.module @kernels {
  entry @remainder() {
    %a = constant <f32: 1.5> : tile<f32>
    // expected-error@+1 {{'cuda_tile.remf' op has no equivalent in 'arith' or 'math': a remainder of floats}}
    %b = remf %a, %a : tile<f32>
    return
  }
}

// -----

cuda_tile.module @kernels {
  entry @memory() {
    // expected-error@+1 {{'cuda_tile.alloca' op failed to convert cuda_tile to nv_tileaa}}
    %a = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
    return
  }
}
