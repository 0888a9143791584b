// Reductions and scans.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// One operand.

cuda_tile.module @one {
  entry @one() {
    %0 = constant <f32: 0.0> : tile<8x4xf32>
    %1 = reduce %0 dim=1 identities=[0.0 : f32] : tile<8x4xf32> -> tile<8xf32>
    (%a: tile<f32>, %b: tile<f32>) {
      %s = addf %a, %b : tile<f32>
      yield %s : tile<f32>
    }
    %2 = scan %0 dim=0 reverse=true identities=[1.0 : f32] : tile<8x4xf32> -> tile<8x4xf32>
    (%a: tile<f32>, %b: tile<f32>) {
      %s = mulf %a, %b : tile<f32>
      yield %s : tile<f32>
    }
    return
  }
}

// CHECK-LABEL: cuda_tile.module @one {
// CHECK-NEXT:    entry @one() {
// CHECK-NEXT:      %0 = constant <f32: 0.000000e+00> : tile<8x4xf32>
// CHECK-NEXT:      %1 = reduce %0 dim=1 identities=[0.000000e+00 : f32] : tile<8x4xf32> -> tile<8xf32>
// CHECK-NEXT:        (%a: tile<f32>, %b: tile<f32>) {
// CHECK-NEXT:          %s = addf %a, %b : tile<f32>
// CHECK-NEXT:          yield %s : tile<f32>
// CHECK-NEXT:        }
// CHECK-NEXT:      %2 = scan %0 dim=0 reverse=true identities=[1.000000e+00 : f32] : tile<8x4xf32> -> tile<8x4xf32>
// CHECK-NEXT:        (%a_1: tile<f32>, %b_1: tile<f32>) {
// CHECK-NEXT:          %s_1 = mulf %a_1, %b_1 : tile<f32>
// CHECK-NEXT:          yield %s_1 : tile<f32>
// CHECK-NEXT:        }
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Two operands at once.

cuda_tile.module @two {
  entry @two() {
    %0 = constant <f32: 0.0> : tile<8xf32>
    %1 = constant <i32: 0> : tile<8xi32>
    %2, %3 = reduce %0, %1 dim=0 identities=[0xFF800000 : f32, -1 : i32] : tile<8xf32>, tile<8xi32> -> tile<f32>, tile<i32>
    (%a: tile<f32>, %b: tile<f32>, %i: tile<i32>, %j: tile<i32>) {
      %c = cmpf greater_than ordered %a, %b : tile<f32> -> tile<i1>
      %r = select %c, %a, %b : tile<i1>, tile<f32>
      %k = select %c, %i, %j : tile<i1>, tile<i32>
      yield %r, %k : tile<f32>, tile<i32>
    }
    return
  }
}

// CHECK-LABEL: cuda_tile.module @two {
// CHECK-NEXT:    entry @two() {
// CHECK-NEXT:      %0 = constant <f32: 0.000000e+00> : tile<8xf32>
// CHECK-NEXT:      %1 = constant <i32: 0> : tile<8xi32>
// CHECK-NEXT:      %2, %3 = reduce %0, %1 dim=0 identities=[0xFF800000 : f32, -1 : i32] : tile<8xf32>, tile<8xi32> -> tile<f32>, tile<i32>
// CHECK-NEXT:        (%a: tile<f32>, %b: tile<f32>, %i: tile<i32>, %j: tile<i32>) {
// CHECK-NEXT:          %c = cmpf greater_than ordered %a, %b : tile<f32> -> tile<i1>
// CHECK-NEXT:          %r = select %c, %a, %b : tile<i1>, tile<f32>
// CHECK-NEXT:          %k = select %c, %i, %j : tile<i1>, tile<i32>
// CHECK-NEXT:          yield %r, %k : tile<f32>, tile<i32>
// CHECK-NEXT:        }
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
