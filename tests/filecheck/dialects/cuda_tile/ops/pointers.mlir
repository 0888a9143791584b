// Memory through tiles of pointers, and the tokens that order it.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// Addresses, loads, stores.

cuda_tile.module @addresses {
  entry @addresses(%q: tile<ptr<f32>>) {
    %r = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>
    %p = broadcast %r : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %0 = iota : tile<4xi32>
    %1 = offset %p, %0 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %2 = constant <i1: 1> : tile<4xi1>
    %3 = constant <f32: 0.0> : tile<4xf32>
    %4, %5 = load_ptr_tko weak %1 : tile<4xptr<f32>> -> tile<4xf32>, token
    %6, %7 = load_ptr_tko acquire device %1, %2 token = %5 : tile<4xptr<f32>>, tile<4xi1> -> tile<4xf32>, token
    %8, %9 = load_ptr_tko relaxed sys %1, %2, %3 optimization_hints = <sm_100 = {latency = 2}> : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, !cuda_tile.token
    %10 = store_ptr_tko weak %1, %3 : tile<4xptr<f32>>, tile<4xf32> -> token
    %11 = store_ptr_tko release tl_blk %1, %3, %2 token=%10 : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> token
    return
  }
}

// CHECK-LABEL: cuda_tile.module @addresses {
// CHECK-NEXT:    entry @addresses(%q: tile<ptr<f32>>) {
// CHECK-NEXT:      %r = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>
// CHECK-NEXT:      %p = broadcast %r : tile<1xptr<f32>> -> tile<4xptr<f32>>
// CHECK-NEXT:      %0 = iota : tile<4xi32>
// CHECK-NEXT:      %1 = offset %p, %0 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
// CHECK-NEXT:      %2 = constant <i1: true> : tile<4xi1>
// CHECK-NEXT:      %3 = constant <f32: 0.000000e+00> : tile<4xf32>
// CHECK-NEXT:      %4, %5 = load_ptr_tko weak %1 : tile<4xptr<f32>> -> tile<4xf32>, token
// CHECK-NEXT:      %6, %7 = load_ptr_tko acquire device %1, %2 token=%5 : tile<4xptr<f32>>, tile<4xi1> -> tile<4xf32>, token
// CHECK-NEXT:      %8, %9 = load_ptr_tko relaxed sys %1, %2, %3 optimization_hints = <sm_100 = {latency = 2}> : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
// CHECK-NEXT:      %10 = store_ptr_tko weak %1, %3 : tile<4xptr<f32>>, tile<4xf32> -> token
// CHECK-NEXT:      %11 = store_ptr_tko release tl_blk %1, %3, %2 token=%10 : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> token
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Tokens, memory of a block, dependent kernels.

cuda_tile.module @tokens {
  entry @tokens() {
    %0 = make_token : token
    %1 = join_tokens %0, %0, %0 : token
    %2 = memory_fence_alias_tko %1
    %3 = gdc_wait_tko -> token
    %4 = gdc_wait_tko token = %2 -> token
    %5 = gdc_launch_dependents_tko -> token
    %6 = gdc_launch_dependents_tko token = %4 -> token
    %7 = alloca num_elem = 64, alignment = 16 : tile<ptr<f32>>
    %8 = alloca num_elem = 64, alignment = 16 global : tile<ptr<f32>>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @tokens {
// CHECK-NEXT:    entry @tokens() {
// CHECK-NEXT:      %0 = make_token : token
// CHECK-NEXT:      %1 = join_tokens %0, %0, %0 : token
// CHECK-NEXT:      %2 = memory_fence_alias_tko %1
// CHECK-NEXT:      %3 = gdc_wait_tko -> token
// CHECK-NEXT:      %4 = gdc_wait_tko token = %2 -> token
// CHECK-NEXT:      %5 = gdc_launch_dependents_tko -> token
// CHECK-NEXT:      %6 = gdc_launch_dependents_tko token = %4 -> token
// CHECK-NEXT:      %7 = alloca num_elem = 64, alignment = 16 : tile<ptr<f32>>
// CHECK-NEXT:      %8 = alloca num_elem = 64, alignment = 16 global : tile<ptr<f32>>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
