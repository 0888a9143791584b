// Constants; one number stands for a tile of it.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// Every scalar.

cuda_tile.module @scalars {
  entry @scalars() {
    %0 = constant <i1: true> : tile<i1>
    %1 = constant <i1: 0> : tile<i1>
    %2 = constant <i8: -128> : tile<i8>
    %3 = constant <i16: 65535> : tile<i16>
    %4 = constant <i32: 7> : tile<i32>
    %5 = constant <i64: -1> : tile<i64>
    %6 = constant <f16: 1.5> : tile<f16>
    %7 = constant <bf16: 0.5> : tile<bf16>
    %8 = constant <f32: 3.0> : tile<f32>
    %9 = constant <tf32: 1.0> : tile<tf32>
    %10 = constant <f64: -0.0> : tile<f64>
    %11 = constant <f8E4M3FN: 448.0> : tile<f8E4M3FN>
    %12 = constant <f8E5M2: 2.0> : tile<f8E5M2>
    %13 = constant <f8E8M0FNU: 4.0> : tile<f8E8M0FNU>
    %14 = constant <f4E2M1FN: 6.0> : tile<2xf4E2M1FN>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @scalars {
// CHECK-NEXT:    entry @scalars() {
// CHECK-NEXT:      %0 = constant <i1: true> : tile<i1>
// CHECK-NEXT:      %1 = constant <i1: false> : tile<i1>
// CHECK-NEXT:      %2 = constant <i8: -128> : tile<i8>
// CHECK-NEXT:      %3 = constant <i16: -1> : tile<i16>
// CHECK-NEXT:      %4 = constant <i32: 7> : tile<i32>
// CHECK-NEXT:      %5 = constant <i64: -1> : tile<i64>
// CHECK-NEXT:      %6 = constant <f16: 1.500000e+00> : tile<f16>
// CHECK-NEXT:      %7 = constant <bf16: 5.000000e-01> : tile<bf16>
// CHECK-NEXT:      %8 = constant <f32: 3.000000e+00> : tile<f32>
// CHECK-NEXT:      %9 = constant <tf32: 1.000000e+00> : tile<tf32>
// CHECK-NEXT:      %10 = constant <f64: -0.000000e+00> : tile<f64>
// CHECK-NEXT:      %11 = constant <f8E4M3FN: 4.480000e+02> : tile<f8E4M3FN>
// CHECK-NEXT:      %12 = constant <f8E5M2: 2.000000e+00> : tile<f8E5M2>
// CHECK-NEXT:      %13 = constant <f8E8M0FNU: 4.000000e+00> : tile<f8E8M0FNU>
// CHECK-NEXT:      %14 = constant <f4E2M1FN: 6.000000e+00> : tile<2xf4E2M1FN>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Several elements.

cuda_tile.module @several {
  entry @several() {
    %0 = constant <i32: [[1, 2], [3, 4]]> : tile<2x2xi32>
    %1 = constant <i32: [[5, 5], [5, 5]]> : tile<2x2xi32>
    %2 = constant <i1: [true, false]> : tile<2xi1>
    %3 = constant <f32: "0x0000803F00000040"> : tile<2xf32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @several {
// CHECK-NEXT:    entry @several() {
// CHECK-NEXT:      %0 = constant <i32: [[1, 2], [3, 4]]> : tile<2x2xi32>
// CHECK-NEXT:      %1 = constant <i32: 5> : tile<2x2xi32>
// CHECK-NEXT:      %2 = constant <i1: [true, false]> : tile<2xi1>
// CHECK-NEXT:      %3 = constant <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
