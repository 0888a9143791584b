// `cudatile-sink-loads`: weights that all rows use are loaded behind the reduction of a row.

// RUN: tileas-opt %s -p cudatile-sink-loads | filecheck %s
// RUN: tileas-opt %s -p cudatile-sink-loads,cudatile-sink-loads | filecheck %s

cuda_tile.module @kernels {
  entry @rows(%x: tile<ptr<f32>>, %w: tile<ptr<f32>>, %n: tile<i32>) {
    %i, %j, %k = get_tile_block_id : tile<i32>
    %m = make_tensor_view %x, shape = [%n, 8], strides = [8, 1] : tile<i32> -> tensor_view<?x8xf32, strides=[8,1]>
    %v = make_partition_view %m : partition_view<tile=(1x8), tensor_view<?x8xf32, strides=[8,1]>>
    %l = make_tensor_view %w, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %u = make_partition_view %l : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %c0 = constant <i32: 0> : tile<i32>
    %weights, %a = load_view_tko weak %u[%c0] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %twice = addf %weights, %weights rounding<nearest_even> : tile<8xf32>
    %row, %b = load_view_tko weak %v[%i, %c0] : partition_view<tile=(1x8), tensor_view<?x8xf32, strides=[8,1]>>, tile<i32> -> tile<1x8xf32>, token
    %other, %c = load_view_tko weak %u[%j] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %flat = reshape %row : tile<1x8xf32> -> tile<8xf32>
    %s = reduce %row dim=1 identities=[0.0 : f32] : tile<1x8xf32> -> tile<1xf32> (%before: tile<f32>, %next: tile<f32>) {
      %y = addf %before, %next rounding<nearest_even> : tile<f32>
      yield %y : tile<f32>
    }
    %r = reshape %s : tile<1xf32> -> tile<1xf32>
    %t = broadcast %r : tile<1xf32> -> tile<8xf32>
    %d = mulf %flat, %t rounding<nearest_even> : tile<8xf32>
    %e = mulf %d, %twice rounding<nearest_even> : tile<8xf32>
    %f = addf %e, %other rounding<nearest_even> : tile<8xf32>
    %o = reshape %f : tile<8xf32> -> tile<1x8xf32>
    %z = store_view_tko weak %o, %v[%i, %c0] : tile<1x8xf32>, partition_view<tile=(1x8), tensor_view<?x8xf32, strides=[8,1]>>, tile<i32> -> token
    return
  }
}

// The row and the line that the tile block's number chooses come first, as the program has them.

// CHECK-LABEL: entry @rows
// CHECK-NOT:     addf
// CHECK:         %row, %b = load_view_tko weak
// CHECK-NEXT:    %other, %c = load_view_tko weak
// CHECK:         reduce %row
// CHECK:         %[[D:.*]] = mulf
// CHECK-NEXT:    %weights, %a = load_view_tko weak
// CHECK-NEXT:    %twice = addf %weights, %weights
// CHECK-NEXT:    mulf %[[D]], %twice
