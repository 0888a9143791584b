// What is known of values, and printing.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// Assumptions.

cuda_tile.module @assumptions {
  entry @assumptions(%p: tile<ptr<f32>>, %n: tile<i32>) {
    %0 = assume div_by<16>, %p : tile<ptr<f32>>
    %1 = assume #cuda_tile.bounded<0, ?>, %n : tile<i32>
    %2 = assume bounded<?, 7>, %n : tile<i32>
    %3 = iota : tile<8xi32>
    %4 = assume div_by<4, every 4 along 0>, %3 : tile<8xi32>
    %5 = assume same_elements<[2]>, %3 : tile<8xi32>
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %6 = assume div_by<2>, %t : tensor_view<64x64xf32, strides=[64,1]>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @assumptions {
// CHECK-NEXT:    entry @assumptions(%p: tile<ptr<f32>>, %n: tile<i32>) {
// CHECK-NEXT:      %0 = assume div_by<16>, %p : tile<ptr<f32>>
// CHECK-NEXT:      %1 = assume bounded<0, ?>, %n : tile<i32>
// CHECK-NEXT:      %2 = assume bounded<?, 7>, %n : tile<i32>
// CHECK-NEXT:      %3 = iota : tile<8xi32>
// CHECK-NEXT:      %4 = assume div_by<4, every 4 along 0>, %3 : tile<8xi32>
// CHECK-NEXT:      %5 = assume same_elements<[2]>, %3 : tile<8xi32>
// CHECK-NEXT:      %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
// CHECK-NEXT:      %6 = assume div_by<2>, %t : tensor_view<64x64xf32, strides=[64,1]>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Printing; `print` is what 13.1 called `print_tko`.

cuda_tile.module @printing {
  entry @printing(%n: tile<i32>) {
    %0 = print_tko "100%%\n" -> token
    %1 = print_tko "%d, %+08.3f", %n, %n : tile<i32>, tile<i32> -> token
    %2 = print_tko "%d", %n token = %1 : tile<i32> -> token
    %3 = print_tko "done" token = %2 -> token
    %4 = print "done" -> token
    return
  }
}

// CHECK-LABEL: cuda_tile.module @printing {
// CHECK-NEXT:    entry @printing(%n: tile<i32>) {
// CHECK-NEXT:      %0 = print_tko "100%%\0A" -> token
// CHECK-NEXT:      %1 = print_tko "%d, %+08.3f", %n, %n : tile<i32>, tile<i32> -> token
// CHECK-NEXT:      %2 = print_tko "%d", %n token=%1 : tile<i32> -> token
// CHECK-NEXT:      %3 = print_tko "done" token=%2 -> token
// CHECK-NEXT:      %4 = print_tko "done" -> token
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
