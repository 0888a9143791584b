// Text becomes Tile IR bytecode and the same text again.  Names of values and of the module are not
// in bytecode; places are, each in the function around it.

// RUN: tileas compile %s --emit bytecode -o %t.tileirbc
// RUN: tileas-opt %t.tileirbc | filecheck %s
// RUN: tileas compile %s --emit bytecode --bytecode-version 13.1 -o %t.old.tileirbc
// RUN: tileas-opt %t.old.tileirbc --print-debuginfo | filecheck %s --check-prefix PLACES

cuda_tile.module @scaled {
  entry @first(%x: tile<ptr<f32>>, %by: tile<f32>) {
    %token = make_token : token
    %view = make_tensor_view %x, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
    %tiles = make_partition_view %view
      : partition_view<tile=(64), tensor_view<1024xf32, strides=[1]>>
    %i, %j, %k = get_tile_block_id : tile<i32>
    %old, %loaded = load_view_tko weak %tiles[%i] token = %token
      : partition_view<tile=(64), tensor_view<1024xf32, strides=[1]>>, tile<i32>
      -> tile<64xf32>, token
    %one = reshape %by : tile<f32> -> tile<1xf32>
    %all = broadcast %one : tile<1xf32> -> tile<64xf32>
    %new = mulf %old, %all rounding<nearest_even> flush_to_zero : tile<64xf32>
    %stored = store_view_tko weak %new, %tiles[%i] token = %loaded
      : tile<64xf32>, partition_view<tile=(64), tensor_view<1024xf32, strides=[1]>>, tile<i32>
      -> token
    return
  }
}

// CHECK:      cuda_tile.module @kernels {
// CHECK-NEXT:   entry @first(%0: tile<ptr<f32>>, %1: tile<f32>) {
// CHECK-NEXT:     %2 = make_token : token
// CHECK-NEXT:     %3 = make_tensor_view %0, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
// CHECK-NEXT:     %4 = make_partition_view %3 : partition_view<tile=(64), tensor_view<1024xf32, strides=[1]>>
// CHECK-NEXT:     %5, %6, %7 = get_tile_block_id : tile<i32>
// CHECK-NEXT:     %8, %9 = load_view_tko weak %4[%5] token = %2
// CHECK-NEXT:     %10 = reshape %1 : tile<f32> -> tile<1xf32>
// CHECK-NEXT:     %11 = broadcast %10 : tile<1xf32> -> tile<64xf32>
// CHECK-NEXT:     %12 = mulf %8, %11 flush_to_zero : tile<64xf32>
// CHECK-NEXT:     %13 = store_view_tko weak %12, %4[%5] token = %9
// CHECK-NEXT:     return

// PLACES:     make_token : token loc(#[[TOKEN:.*]])
// PLACES:     mulf {{.*}} loc(#[[MULF:.*]])
// PLACES-DAG: #[[AT_TOKEN:.*]] = loc("{{.*}}bytecode.mlir":11:14)
// PLACES-DAG: #[[AT_MULF:.*]] = loc("{{.*}}bytecode.mlir":21:12)
// PLACES-DAG: #[[FIRST:.*]] = #cuda_tile.di_subprogram<{{.*}}name = "first"
// PLACES-DAG: #[[TOKEN]] = #cuda_tile.di_loc<#[[AT_TOKEN]] in #[[FIRST]]>
// PLACES-DAG: #[[MULF]] = #cuda_tile.di_loc<#[[AT_MULF]] in #[[FIRST]]>
