// Shapes: which element is where.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// The grid, and numbers in order.

cuda_tile.module @grid {
  entry @grid() {
    %0, %1, %2 = get_tile_block_id : tile<i32>
    %3, %4, %5 = get_num_tile_blocks : tile<i32>
    %6 = iota : tile<8xi32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @grid {
// CHECK-NEXT:    entry @grid() {
// CHECK-NEXT:      %0, %1, %2 = get_tile_block_id : tile<i32>
// CHECK-NEXT:      %3, %4, %5 = get_num_tile_blocks : tile<i32>
// CHECK-NEXT:      %6 = iota : tile<8xi32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Another shape.

cuda_tile.module @shape {
  entry @shape() {
    %0 = constant <f32: 1.0> : tile<2x4xf32>
    %1 = reshape %0 : tile<2x4xf32> -> tile<1x8xf32>
    %2 = broadcast %1 : tile<1x8xf32> -> tile<4x8xf32>
    %3 = permute %0 [1, 0] : tile<2x4xf32> -> tile<4x2xf32>
    %4 = cat %0, %0 dim = 1 : tile<2x4xf32>, tile<2x4xf32> -> tile<2x8xf32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @shape {
// CHECK-NEXT:    entry @shape() {
// CHECK-NEXT:      %0 = constant <f32: 1.000000e+00> : tile<2x4xf32>
// CHECK-NEXT:      %1 = reshape %0 : tile<2x4xf32> -> tile<1x8xf32>
// CHECK-NEXT:      %2 = broadcast %1 : tile<1x8xf32> -> tile<4x8xf32>
// CHECK-NEXT:      %3 = permute %0 [1, 0] : tile<2x4xf32> -> tile<4x2xf32>
// CHECK-NEXT:      %4 = cat %0, %0 dim = 1 : tile<2x4xf32>, tile<2x4xf32> -> tile<2x8xf32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Slices, and a choice.

cuda_tile.module @slices {
  entry @slices(%i: tile<i32>, %c: tile<i1>) {
    %0 = constant <f32: 1.0> : tile<2x4xf32>
    %1 = extract %0[%i, %i] : tile<2x4xf32> -> tile<1x2xf32>
    %2 = insert %1, %0[%i, %i] : tile<1x2xf32>, tile<2x4xf32>
    %3 = select %c, %i, %i : tile<i1>, tile<i32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @slices {
// CHECK-NEXT:    entry @slices(%i: tile<i32>, %c: tile<i1>) {
// CHECK-NEXT:      %0 = constant <f32: 1.000000e+00> : tile<2x4xf32>
// CHECK-NEXT:      %1 = extract %0[%i, %i] : tile<2x4xf32> -> tile<1x2xf32>
// CHECK-NEXT:      %2 = insert %1, %0[%i, %i] : tile<1x2xf32>, tile<2x4xf32>
// CHECK-NEXT:      %3 = select %c, %i, %i : tile<i1>, tile<i32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
