// Memory through views.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// Three ways to see a tensor as tiles.

cuda_tile.module @views {
  entry @views(%p: tile<ptr<f32>>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %0 = make_partition_view %t : partition_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>>
    %1 = make_partition_view %t : partition_view<tile=(8x4), padding_value = nan, tensor_view<64x64xf32, strides=[64,1]>, dim_map=[1, 0]>
    %2 = make_strided_view %t : strided_view<tile=(8x4), traversal_strides=[3,1], tensor_view<64x64xf32, strides=[64,1]>>
    %3 = make_gather_scatter_view %t : gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
    %4, %5 = get_index_space_shape %0 : partition_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>> -> tile<i32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @views {
// CHECK-NEXT:    entry @views(%p: tile<ptr<f32>>) {
// CHECK-NEXT:      %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
// CHECK-NEXT:      %0 = make_partition_view %t : partition_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>>
// CHECK-NEXT:      %1 = make_partition_view %t : partition_view<tile=(8x4), padding_value = nan, tensor_view<64x64xf32, strides=[64,1]>, dim_map=[1, 0]>
// CHECK-NEXT:      %2 = make_strided_view %t : strided_view<tile=(8x4), traversal_strides=[3,1], tensor_view<64x64xf32, strides=[64,1]>>
// CHECK-NEXT:      %3 = make_gather_scatter_view %t : gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
// CHECK-NEXT:      %4, %5 = get_index_space_shape %0 : partition_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>> -> tile<i32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Loads and stores; all indices have one type, or each its own.

cuda_tile.module @accesses {
  entry @accesses(%p: tile<ptr<f32>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
    %0, %1 = load_view_tko weak %v[%i, %i] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
    %2, %3 = load_view_tko acquire sys %v[%i, %i] token = %1 : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i32> -> tile<8x8xf32>, token
    %4, %5 = load_view_tko weak %v[%i, %i] optimization_hints = <sm_90 = {allow_tma = false, latency = 3}> inbounds = [true, false] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
    %6, %7 = load_view_tko weak %v[%i, %i] inbounds = [false, false] attributes {tag} : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
    %8 = store_view_tko weak %0, %v[%i, %i] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %9 = store_view_tko release device %0, %v[%i, %i] token = %8 inbounds = [true, true] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }
}

// CHECK-LABEL: cuda_tile.module @accesses {
// CHECK-NEXT:    entry @accesses(%p: tile<ptr<f32>>, %i: tile<i32>) {
// CHECK-NEXT:      %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
// CHECK-NEXT:      %v = make_partition_view %t : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
// CHECK-NEXT:      %0, %1 = load_view_tko weak %v[%i, %i] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
// CHECK-NEXT:      %2, %3 = load_view_tko acquire sys %v[%i, %i] token = %1 : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
// CHECK-NEXT:      %4, %5 = load_view_tko weak %v[%i, %i] optimization_hints = <sm_90 = {allow_tma = false, latency = 3}> inbounds = [true, false] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
// CHECK-NEXT:      %6, %7 = load_view_tko weak %v[%i, %i] attributes {tag} : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
// CHECK-NEXT:      %8 = store_view_tko weak %0, %v[%i, %i] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// CHECK-NEXT:      %9 = store_view_tko release device %0, %v[%i, %i] token = %8 inbounds = [true, true] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Slices with an index each.

cuda_tile.module @gather {
  entry @gather(%p: tile<ptr<f32>>, %i: tile<i32>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_gather_scatter_view %t : gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
    %0 = iota : tile<8xi32>
    %1, %2 = load_view_tko weak %v[%0, %i] : gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<8xi32>, tile<i32> -> tile<8x4xf32>, token
    return
  }
}

// CHECK-LABEL: cuda_tile.module @gather {
// CHECK-NEXT:    entry @gather(%p: tile<ptr<f32>>, %i: tile<i32>) {
// CHECK-NEXT:      %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
// CHECK-NEXT:      %v = make_gather_scatter_view %t : gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
// CHECK-NEXT:      %0 = iota : tile<8xi32>
// CHECK-NEXT:      %1, %2 = load_view_tko weak %v[%0, %i] : gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<8xi32>, tile<i32> -> tile<8x4xf32>, token
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
