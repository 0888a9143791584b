// Numbers given by their bits; xDSL reads them as integers in generic form, so not tried.

// RUN: tileas-opt %s | tileas-opt | filecheck %s

// Infinity and NaN.

cuda_tile.module @bits {
  entry @bits() {
    %0 = constant <bf16: 0x7F80> : tile<bf16>
    %1 = constant <f32: [0x7FC00000, 0xFF800000]> : tile<2xf32>
    %2 = constant <f16: 0x3E00> : tile<f16>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @bits {
// CHECK-NEXT:    entry @bits() {
// CHECK-NEXT:      %0 = constant <bf16: 0x7F80> : tile<bf16>
// CHECK-NEXT:      %1 = constant <f32: [0x7FC00000, 0xFF800000]> : tile<2xf32>
// CHECK-NEXT:      %2 = constant <f16: 1.500000e+00> : tile<f16>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
