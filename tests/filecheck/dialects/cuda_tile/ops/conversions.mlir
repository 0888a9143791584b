// Conversions between element types.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// Numbers.

cuda_tile.module @numbers {
  entry @numbers() {
    %0 = constant <f32: 1.0> : tile<2xf32>
    %1 = constant <i16: 1> : tile<2xi16>
    %2 = ftof %0 : tile<2xf32> -> tile<2xf16>
    %3 = ftof %0 rounding<nearest_away> : tile<2xf32> -> tile<2xtf32>
    %4 = ftoi %0 signed : tile<2xf32> -> tile<2xi32>
    %5 = ftoi %0 unsigned rounding<nearest_int_to_zero> saturating : tile<2xf32> -> tile<2xi8>
    %6 = itof %1 signed : tile<2xi16> -> tile<2xf32>
    %7 = exti %1 unsigned : tile<2xi16> -> tile<2xi64>
    %8 = trunci %1 overflow<no_wrap> : tile<2xi16> -> tile<2xi8>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @numbers {
// CHECK-NEXT:    entry @numbers() {
// CHECK-NEXT:      %0 = constant <f32: 1.000000e+00> : tile<2xf32>
// CHECK-NEXT:      %1 = constant <i16: 1> : tile<2xi16>
// CHECK-NEXT:      %2 = ftof %0 : tile<2xf32> -> tile<2xf16>
// CHECK-NEXT:      %3 = ftof %0 rounding<nearest_away> : tile<2xf32> -> tile<2xtf32>
// CHECK-NEXT:      %4 = ftoi %0 signed : tile<2xf32> -> tile<2xi32>
// CHECK-NEXT:      %5 = ftoi %0 unsigned saturating : tile<2xf32> -> tile<2xi8>
// CHECK-NEXT:      %6 = itof %1 signed : tile<2xi16> -> tile<2xf32>
// CHECK-NEXT:      %7 = exti %1 unsigned : tile<2xi16> -> tile<2xi64>
// CHECK-NEXT:      %8 = trunci %1 overflow<no_wrap> : tile<2xi16> -> tile<2xi8>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Bits.

cuda_tile.module @bits {
  entry @bits(%p: tile<ptr<f32>>) {
    %0 = constant <f32: 1.0> : tile<2xf32>
    %1 = bitcast %0 : tile<2xf32> -> tile<2xi32>
    %2 = pack %0 : tile<2xf32> -> tile<8xi8>
    %3 = unpack %2 : tile<8xi8> -> tile<4xf16>
    %4 = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
    %5 = int_to_ptr %4 : tile<i64> -> tile<ptr<i8>>
    %6 = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<f16>>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @bits {
// CHECK-NEXT:    entry @bits(%p: tile<ptr<f32>>) {
// CHECK-NEXT:      %0 = constant <f32: 1.000000e+00> : tile<2xf32>
// CHECK-NEXT:      %1 = bitcast %0 : tile<2xf32> -> tile<2xi32>
// CHECK-NEXT:      %2 = pack %0 : tile<2xf32> -> tile<8xi8>
// CHECK-NEXT:      %3 = unpack %2 : tile<8xi8> -> tile<4xf16>
// CHECK-NEXT:      %4 = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
// CHECK-NEXT:      %5 = int_to_ptr %4 : tile<i64> -> tile<ptr<i8>>
// CHECK-NEXT:      %6 = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<f16>>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
