// Products of matrices.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// Floats, integers, block-scaled floats.

cuda_tile.module @products {
  entry @products() {
    %0 = constant <f16: 0.0> : tile<4x8xf16>
    %1 = constant <f16: 0.0> : tile<8x2xf16>
    %2 = constant <f32: 0.0> : tile<4x2xf32>
    %3 = mmaf %0, %1, %2 : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>
    %4 = constant <i8: 0> : tile<2x4x8xi8>
    %5 = constant <i8: 0> : tile<2x8x2xi8>
    %6 = constant <i32: 0> : tile<2x4x2xi32>
    %7 = mmai %4, %5, %6 signed unsigned : tile<2x4x8xi8>, tile<2x8x2xi8>, tile<2x4x2xi32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @products {
// CHECK-NEXT:    entry @products() {
// CHECK-NEXT:      %0 = constant <f16: 0.000000e+00> : tile<4x8xf16>
// CHECK-NEXT:      %1 = constant <f16: 0.000000e+00> : tile<8x2xf16>
// CHECK-NEXT:      %2 = constant <f32: 0.000000e+00> : tile<4x2xf32>
// CHECK-NEXT:      %3 = mmaf %0, %1, %2 : tile<4x8xf16>, tile<8x2xf16>, tile<4x2xf32>
// CHECK-NEXT:      %4 = constant <i8: 0> : tile<2x4x8xi8>
// CHECK-NEXT:      %5 = constant <i8: 0> : tile<2x8x2xi8>
// CHECK-NEXT:      %6 = constant <i32: 0> : tile<2x4x2xi32>
// CHECK-NEXT:      %7 = mmai %4, %5, %6 signed unsigned : tile<2x4x8xi8>, tile<2x8x2xi8>, tile<2x4x2xi32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// An inexact sum, and scales.

cuda_tile.module @scaled {
  entry @scaled() {
    %0 = constant <f8E4M3FN: 0.0> : tile<4x32xf8E4M3FN>
    %1 = constant <f8E4M3FN: 0.0> : tile<32x2xf8E4M3FN>
    %2 = constant <f32: 0.0> : tile<4x2xf32>
    %3 = mmaf %0, %1, %2 fast_acc : tile<4x32xf8E4M3FN>, tile<32x2xf8E4M3FN>, tile<4x2xf32>
    %4 = constant <f8E8M0FNU: 1.0> : tile<4x1xf8E8M0FNU>
    %5 = constant <f8E8M0FNU: 1.0> : tile<1x2xf8E8M0FNU>
    %6 = mmaf_scaled %0, %1, %2, %4, %5 : tile<4x32xf8E4M3FN>, tile<32x2xf8E4M3FN>, tile<4x2xf32>, tile<4x1xf8E8M0FNU>, tile<1x2xf8E8M0FNU>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @scaled {
// CHECK-NEXT:    entry @scaled() {
// CHECK-NEXT:      %0 = constant <f8E4M3FN: 0.000000e+00> : tile<4x32xf8E4M3FN>
// CHECK-NEXT:      %1 = constant <f8E4M3FN: 0.000000e+00> : tile<32x2xf8E4M3FN>
// CHECK-NEXT:      %2 = constant <f32: 0.000000e+00> : tile<4x2xf32>
// CHECK-NEXT:      %3 = mmaf %0, %1, %2 fast_acc : tile<4x32xf8E4M3FN>, tile<32x2xf8E4M3FN>, tile<4x2xf32>
// CHECK-NEXT:      %4 = constant <f8E8M0FNU: 1.000000e+00> : tile<4x1xf8E8M0FNU>
// CHECK-NEXT:      %5 = constant <f8E8M0FNU: 1.000000e+00> : tile<1x2xf8E8M0FNU>
// CHECK-NEXT:      %6 = mmaf_scaled %0, %1, %2, %4, %5 : tile<4x32xf8E4M3FN>, tile<32x2xf8E4M3FN>, tile<4x2xf32>, tile<4x1xf8E8M0FNU>, tile<1x2xf8E8M0FNU>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
