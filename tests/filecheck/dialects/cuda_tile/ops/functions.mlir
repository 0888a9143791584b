// Functions of floats, element by element.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// Without modifiers.

cuda_tile.module @plain {
  entry @plain() {
    %0 = constant <f32: 1.0> : tile<f32>
    %1 = log %0 : tile<f32>
    %2 = log2 %0 : tile<f32>
    %3 = sin %0 : tile<f32>
    %4 = sinh %0 : tile<f32>
    %5 = cos %0 : tile<f32>
    %6 = cosh %0 : tile<f32>
    %7 = tan %0 : tile<f32>
    %8 = atan2 %0, %0 : tile<f32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @plain {
// CHECK-NEXT:    entry @plain() {
// CHECK-NEXT:      %0 = constant <f32: 1.000000e+00> : tile<f32>
// CHECK-NEXT:      %1 = log %0 : tile<f32>
// CHECK-NEXT:      %2 = log2 %0 : tile<f32>
// CHECK-NEXT:      %3 = sin %0 : tile<f32>
// CHECK-NEXT:      %4 = sinh %0 : tile<f32>
// CHECK-NEXT:      %5 = cos %0 : tile<f32>
// CHECK-NEXT:      %6 = cosh %0 : tile<f32>
// CHECK-NEXT:      %7 = tan %0 : tile<f32>
// CHECK-NEXT:      %8 = atan2 %0, %0 : tile<f32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// With modifiers.

cuda_tile.module @modified {
  entry @modified() {
    %0 = constant <f32: 1.0> : tile<f32>
    %1 = exp %0 : tile<f32>
    %2 = exp %0 rounding<approx> : tile<f32>
    %3 = exp2 %0 flush_to_zero : tile<f32>
    %4 = rsqrt %0 flush_to_zero : tile<f32>
    %5 = sqrt %0 rounding<approx> flush_to_zero : tile<f32>
    %6 = tanh %0 rounding<full> : tile<f32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @modified {
// CHECK-NEXT:    entry @modified() {
// CHECK-NEXT:      %0 = constant <f32: 1.000000e+00> : tile<f32>
// CHECK-NEXT:      %1 = exp %0 : tile<f32>
// CHECK-NEXT:      %2 = exp %0 rounding<approx> : tile<f32>
// CHECK-NEXT:      %3 = exp2 %0 flush_to_zero : tile<f32>
// CHECK-NEXT:      %4 = rsqrt %0 flush_to_zero : tile<f32>
// CHECK-NEXT:      %5 = sqrt %0 rounding<approx> flush_to_zero : tile<f32>
// CHECK-NEXT:      %6 = tanh %0 : tile<f32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Powers; `pow` is what 13.1 called `fpowf`.

cuda_tile.module @powers {
  entry @powers() {
    %0 = constant <f32: 1.0> : tile<2xf32>
    %1 = constant <i32: 3> : tile<2xi32>
    %2 = fpowf %0, %0 : tile<2xf32>
    %3 = pow %0, %0 : tile<2xf32>
    %4 = fpowi %0, %1 : tile<2xf32>, tile<2xi32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @powers {
// CHECK-NEXT:    entry @powers() {
// CHECK-NEXT:      %0 = constant <f32: 1.000000e+00> : tile<2xf32>
// CHECK-NEXT:      %1 = constant <i32: 3> : tile<2xi32>
// CHECK-NEXT:      %2 = fpowf %0, %0 : tile<2xf32>
// CHECK-NEXT:      %3 = fpowf %0, %0 : tile<2xf32>
// CHECK-NEXT:      %4 = fpowi %0, %1 : tile<2xf32>, tile<2xi32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
