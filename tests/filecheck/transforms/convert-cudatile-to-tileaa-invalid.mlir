// What Tile IR has and nothing below has.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics -p 'convert-cudatile-to-tileaa{compute_capability=90}'

cuda_tile.module @kernels {
  entry @memory() {
    // expected-note@+2 {{memory of a block is not lowered; pass an array as scratch, a part for each block}}
    // expected-error@+1 {{'cuda_tile.alloca' op failed to convert cuda_tile to nv_tileaa}}
    %a = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
    return
  }
}
