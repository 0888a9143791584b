// Updates of memory that nothing can come between.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// Through pointers.

cuda_tile.module @pointers {
  entry @pointers(%q: tile<ptr<i32>>) {
    %p = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
    %0 = constant <i32: 1> : tile<1xi32>
    %1 = constant <i1: 1> : tile<1xi1>
    %2, %3 = atomic_cas_tko relaxed device %p, %0, %0 : tile<1xptr<i32>>, tile<1xi32> -> tile<1xi32>, token
    %4, %5 = atomic_cas_tko acq_rel sys %p, %0, %0, %1 token = %3 : tile<1xptr<i32>>, tile<1xi32>, tile<1xi1> -> tile<1xi32>, token
    %6, %7 = atomic_rmw_tko release tl_blk %p, xchg, %0 : tile<1xptr<i32>>, tile<1xi32> -> tile<1xi32>, token
    %8, %9 = atomic_rmw_tko acquire device %p, umax, %0, %1 token=%7 : tile<1xptr<i32>>, tile<1xi32>, tile<1xi1> -> tile<1xi32>, token
    return
  }
}

// CHECK-LABEL: cuda_tile.module @pointers {
// CHECK-NEXT:    entry @pointers(%q: tile<ptr<i32>>) {
// CHECK-NEXT:      %p = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
// CHECK-NEXT:      %0 = constant <i32: 1> : tile<1xi32>
// CHECK-NEXT:      %1 = constant <i1: true> : tile<1xi1>
// CHECK-NEXT:      %2, %3 = atomic_cas_tko relaxed device %p, %0, %0 : tile<1xptr<i32>>, tile<1xi32> -> tile<1xi32>, token
// CHECK-NEXT:      %4, %5 = atomic_cas_tko acq_rel sys %p, %0, %0, %1 token=%3 : tile<1xptr<i32>>, tile<1xi32>, tile<1xi1> -> tile<1xi32>, token
// CHECK-NEXT:      %6, %7 = atomic_rmw_tko release tl_blk %p, xchg, %0 : tile<1xptr<i32>>, tile<1xi32> -> tile<1xi32>, token
// CHECK-NEXT:      %8, %9 = atomic_rmw_tko acquire device %p, umax, %0, %1 token=%7 : tile<1xptr<i32>>, tile<1xi32>, tile<1xi1> -> tile<1xi32>, token
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Through views.

cuda_tile.module @views {
  entry @views(%p: tile<ptr<f32>>, %i: tile<i32>, %j: tile<i64>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>

    %0 = constant <f32: 1.0> : tile<8x8xf32>
    %1 = atomic_red_view_tko relaxed device %v[%i, %i], addf, %0 : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    %2 = atomic_red_view_tko relaxed tl_blk %v[%i, %j], addf, %0 token = %1 attributes {tag} : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i64> -> token
    return
  }
}

// CHECK-LABEL: cuda_tile.module @views {
// CHECK-NEXT:    entry @views(%p: tile<ptr<f32>>, %i: tile<i32>, %j: tile<i64>) {
// CHECK-NEXT:      %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
// CHECK-NEXT:      %v = make_partition_view %t : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
// CHECK-NEXT:      %0 = constant <f32: 1.000000e+00> : tile<8x8xf32>
// CHECK-NEXT:      %1 = atomic_red_view_tko relaxed device %v[%i, %i], addf, %0 : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// CHECK-NEXT:      %2 = atomic_red_view_tko relaxed tl_blk %v[%i, %j], addf, %0 token = %1 attributes {tag} : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i64> -> token
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
