// `canonicalize` simplifies Tile IR.

// RUN: tileas-opt %s -p canonicalize --split-input-file | filecheck %s

// A sum begins with its product; one of two products stays.

cuda_tile.module @kernels {
  entry @sums(%a: tile<f32>, %b: tile<f32>, %c: tile<f32>) {
    %p = mulf %a, %b : tile<f32>
    %q = mulf %b, %c : tile<f32>
    %r = addf %c, %p : tile<f32>
    %s = addf %q, %p : tile<f32>
    print_tko "%f %f", %r, %s : tile<f32>, tile<f32> -> token
    return
  }
}

// CHECK-LABEL: entry @sums
// CHECK:         addf %p, %c
// CHECK-NEXT:    addf %q, %p

// -----

// Tiles in the shape that they have.

cuda_tile.module @kernels {
  entry @shapes() {
    %a = constant <f32: 1.0> : tile<1x4xf32>
    %b = broadcast %a : tile<1x4xf32> -> tile<1x4xf32>
    %c = reshape %b : tile<1x4xf32> -> tile<1x4xf32>
    %d = reshape %c : tile<1x4xf32> -> tile<4xf32>
    print_tko "%f", %d : tile<4xf32> -> token
    return
  }
}

// CHECK-LABEL: entry @shapes
// CHECK:         reshape %a : tile<1x4xf32> -> tile<4xf32>
// CHECK-NEXT:    print
