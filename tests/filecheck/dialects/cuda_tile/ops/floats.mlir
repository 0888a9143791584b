// Arithmetic on floats, element by element.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// One operand.

cuda_tile.module @unary {
  entry @unary() {
    %0 = constant <f32: 1.0> : tile<4xf32>
    %1 = absf %0 : tile<4xf32>
    %2 = negf %0 : tile<4xf32>
    %3 = ceil %0 : tile<4xf32>
    %4 = floor %0 : !cuda_tile.tile<4xf32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @unary {
// CHECK-NEXT:    entry @unary() {
// CHECK-NEXT:      %0 = constant <f32: 1.000000e+00> : tile<4xf32>
// CHECK-NEXT:      %1 = absf %0 : tile<4xf32>
// CHECK-NEXT:      %2 = negf %0 : tile<4xf32>
// CHECK-NEXT:      %3 = ceil %0 : tile<4xf32>
// CHECK-NEXT:      %4 = floor %0 : tile<4xf32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Two operands and their modifiers; a default is left out.

cuda_tile.module @binary {
  entry @binary() {
    %0 = constant <f32: [1.0, 2.0]> : tile<2xf32>
    %1 = addf %0, %0 : tile<2xf32>
    %2 = addf %0, %0 rounding<nearest_even> : tile<2xf32>
    %3 = subf %0, %0 rounding<zero> : tile<2xf32>
    %4 = mulf %0, %0 rounding<positive_inf> flush_to_zero : tile<2xf32>
    %5 = divf %0, %0 rounding<approx> : tile<2xf32>
    %6 = divf %0, %0 rounding<full> flush_to_zero : tile<2xf32>
    %7 = remf %0, %0 : tile<2xf32>
    %8 = maxf %0, %0 propagate_nan flush_to_zero : tile<2xf32>
    %9 = minf %0, %0 propagate_nan : tile<2xf32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @binary {
// CHECK-NEXT:    entry @binary() {
// CHECK-NEXT:      %0 = constant <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
// CHECK-NEXT:      %1 = addf %0, %0 : tile<2xf32>
// CHECK-NEXT:      %2 = addf %0, %0 : tile<2xf32>
// CHECK-NEXT:      %3 = subf %0, %0 rounding<zero> : tile<2xf32>
// CHECK-NEXT:      %4 = mulf %0, %0 rounding<positive_inf> flush_to_zero : tile<2xf32>
// CHECK-NEXT:      %5 = divf %0, %0 rounding<approx> : tile<2xf32>
// CHECK-NEXT:      %6 = divf %0, %0 rounding<full> flush_to_zero : tile<2xf32>
// CHECK-NEXT:      %7 = remf %0, %0 : tile<2xf32>
// CHECK-NEXT:      %8 = maxf %0, %0 flush_to_zero propagate_nan : tile<2xf32>
// CHECK-NEXT:      %9 = minf %0, %0 propagate_nan : tile<2xf32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Three operands, and comparisons.

cuda_tile.module @others {
  entry @others() {
    %0 = constant <f16: 1.0> : tile<2xf16>
    %1 = fma %0, %0, %0 rounding<negative_inf> : tile<2xf16>
    %2 = cmpf less_than ordered %0, %0 : tile<2xf16> -> tile<2xi1>
    %3 = cmpf not_equal unordered %0, %0 : tile<2xf16> -> tile<2xi1>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @others {
// CHECK-NEXT:    entry @others() {
// CHECK-NEXT:      %0 = constant <f16: 1.000000e+00> : tile<2xf16>
// CHECK-NEXT:      %1 = fma %0, %0, %0 rounding<negative_inf> : tile<2xf16>
// CHECK-NEXT:      %2 = cmpf less_than ordered %0, %0 : tile<2xf16> -> tile<2xi1>
// CHECK-NEXT:      %3 = cmpf not_equal unordered %0, %0 : tile<2xf16> -> tile<2xi1>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
