// Tensors in global memory, and their extents.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// Numbers in the type, and operands.

cuda_tile.module @tensors {
  entry @tensors(%p: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i64>) {
    %0 = make_tensor_view %p, shape = [], strides = [] : tensor_view<f32>
    %1 = make_tensor_view %p, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf32, strides=[32,1]>
    %2 = make_tensor_view %p, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %3 = make_tensor_view %p, shape = [32], strides = [%m] : tile<i64> -> tensor_view<32xf32, strides=[?]>
    %4, %5 = get_tensor_shape %2 : tensor_view<?x?xf32, strides=[?,1]> -> tile<i64>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @tensors {
// CHECK-NEXT:    entry @tensors(%p: tile<ptr<f32>>, %n: tile<i32>, %m: tile<i64>) {
// CHECK-NEXT:      %0 = make_tensor_view %p, shape = [], strides = [] : tensor_view<f32>
// CHECK-NEXT:      %1 = make_tensor_view %p, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf32, strides=[32,1]>
// CHECK-NEXT:      %2 = make_tensor_view %p, shape = [%n, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
// CHECK-NEXT:      %3 = make_tensor_view %p, shape = [32], strides = [%m] : tile<i64> -> tensor_view<32xf32, strides=[?]>
// CHECK-NEXT:      %4, %5 = get_tensor_shape %2 : tensor_view<?x?xf32, strides=[?,1]> -> tile<i64>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// An address with a classification says its type.

cuda_tile.module @classified {
  entry @classified(%p: tile<ptr<f32, #cuda_tile.ptr_attr<none>>>, %n: tile<i32>) {
    %0 = make_tensor_view %p, shape = [32], strides = [1] : tile<ptr<f32, #cuda_tile.ptr_attr<none>>> -> tensor_view<32xf32, strides=[1], #cuda_tile.ptr_attr<none>>
    %1 = make_tensor_view %p, shape = [%n], strides = [1] : tile<ptr<f32, #cuda_tile.ptr_attr<none>>>, tile<i32> -> tensor_view<?xf32, strides=[1], #cuda_tile.ptr_attr<none>>
    %2 = make_tensor_view %p, shape = [], strides = [] : tile<ptr<f32, #cuda_tile.ptr_attr<none>>> -> tensor_view<f32, #cuda_tile.ptr_attr<none>>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @classified {
// CHECK-NEXT:    entry @classified(%p: tile<ptr<f32, #cuda_tile.ptr_attr<none>>>, %n: tile<i32>) {
// CHECK-NEXT:      %0 = make_tensor_view %p, shape = [32], strides = [1] : tile<ptr<f32, #cuda_tile.ptr_attr<none>>> -> tensor_view<32xf32, strides=[1], #cuda_tile.ptr_attr<none>>
// CHECK-NEXT:      %1 = make_tensor_view %p, shape = [%n], strides = [1] : tile<ptr<f32, #cuda_tile.ptr_attr<none>>>, tile<i32> -> tensor_view<?xf32, strides=[1], #cuda_tile.ptr_attr<none>>
// CHECK-NEXT:      %2 = make_tensor_view %p, shape = [], strides = [] : tile<ptr<f32, #cuda_tile.ptr_attr<none>>> -> tensor_view<f32, #cuda_tile.ptr_attr<none>>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
