// `fuse-fma` fuses products of Tile IR with the sums and differences that alone read them.

// RUN: tileas-opt %s -p fuse-fma --split-input-file | filecheck %s

// The product is on the left.

cuda_tile.module @kernels {
  entry @sum(%a: tile<f32>, %b: tile<f32>, %c: tile<f32>) {
    %p = mulf %a, %b : tile<f32>
    %r = addf %p, %c : tile<f32>
    print_tko "%f", %r : tile<f32> -> token
    return
  }
}

// CHECK-LABEL: entry @sum
// CHECK-NEXT:    %r = fma %a, %b, %c : tile<f32>
// CHECK-NEXT:    print

// -----

// It may be on the right.

cuda_tile.module @kernels {
  entry @right(%a: tile<f32>, %b: tile<f32>, %c: tile<f32>) {
    %p = mulf %a, %b rounding<zero> flush_to_zero : tile<f32>
    %r = addf %c, %p rounding<zero> flush_to_zero : tile<f32>
    print_tko "%f", %r : tile<f32> -> token
    return
  }
}

// CHECK-LABEL: entry @right
// CHECK-NEXT:    %r = fma %a, %b, %c rounding<zero> flush_to_zero : tile<f32>

// -----

// What is subtracted is negated, which is exact.

cuda_tile.module @kernels {
  entry @difference(%a: tile<f32>, %b: tile<f32>, %c: tile<f32>) {
    %p = mulf %a, %b : tile<f32>
    %r = subf %p, %c : tile<f32>
    print_tko "%f", %r : tile<f32> -> token
    return
  }
}

// CHECK-LABEL: entry @difference
// CHECK-NEXT:    %[[N:.*]] = negf %c : tile<f32>
// CHECK-NEXT:    %{{.*}} = fma %a, %b, %[[N]] : tile<f32>

// -----

// Others stay: roundings and flushes that differ, and products that are read twice.  A sum begins
// with its product all the same.

cuda_tile.module @kernels {
  entry @others(%a: tile<f32>, %b: tile<f32>, %c: tile<f32>) {
    %p = mulf %a, %b : tile<f32>
    %r = addf %c, %p rounding<zero> : tile<f32>
    %q = mulf %a, %b flush_to_zero : tile<f32>
    %s = addf %q, %c : tile<f32>
    %t = mulf %b, %c : tile<f32>
    %u = addf %t, %a : tile<f32>
    %v = subf %t, %u : tile<f32>
    %w = addf %r, %s : tile<f32>
    print_tko "%f %f", %v, %w : tile<f32>, tile<f32> -> token
    return
  }
}

// CHECK-LABEL: entry @others
// CHECK-NOT:     fma
// CHECK:         addf %p, %c rounding<zero>
// CHECK-NOT:     fma
