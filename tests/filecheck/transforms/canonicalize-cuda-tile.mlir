// `canonicalize` simplifies Tile IR.

// RUN: tileas-opt %s -p canonicalize --split-input-file | filecheck %s

// A sum begins with its product; one of two products stays.

cuda_tile.module @kernels {
  entry @sums(%a: tile<f32>, %b: tile<f32>, %c: tile<f32>) {
    %p = mulf %a, %b : tile<f32>
    %q = mulf %b, %c : tile<f32>
    %r = addf %c, %p : tile<f32>
    %s = addf %q, %p : tile<f32>
    print_tko "%f %f", %r, %s : tile<f32>, tile<f32> -> token
    return
  }
}

// CHECK-LABEL: entry @sums
// CHECK:         addf %p, %c
// CHECK-NEXT:    addf %q, %p

// -----

// Tiles in the shape that they have.

cuda_tile.module @kernels {
  entry @shapes() {
    %a = constant <f32: 1.0> : tile<1x4xf32>
    %b = broadcast %a : tile<1x4xf32> -> tile<1x4xf32>
    %c = reshape %b : tile<1x4xf32> -> tile<1x4xf32>
    %d = reshape %c : tile<1x4xf32> -> tile<4xf32>
    print_tko "%f", %d : tile<4xf32> -> token
    return
  }
}

// CHECK-LABEL: entry @shapes
// CHECK:         reshape %a : tile<1x4xf32> -> tile<4xf32>
// CHECK-NEXT:    print

// -----

// The condition is known, or both values are the same.

cuda_tile.module @kernels {
  entry @decided(%p: tile<i1>, %a: tile<i32>, %b: tile<i32>) {
    %true = constant <i1: 1> : tile<i1>
    %false = constant <i1: 0> : tile<i1>
    %r = select %true, %a, %b : tile<i1>, tile<i32>
    %s = select %false, %a, %b : tile<i1>, tile<i32>
    %t = select %p, %b, %b : tile<i1>, tile<i32>
    print_tko "%d %d %d", %r, %s, %t : tile<i32>, tile<i32>, tile<i32> -> token
    return
  }
}

// CHECK-LABEL: entry @decided
// CHECK:         print_tko "%d %d %d", %a, %b, %b

// -----

// Nested selections, negations, and comparisons of what is selected.

cuda_tile.module @kernels {
  entry @nested(%p: tile<i1>, %a: tile<i32>, %b: tile<i32>, %c: tile<i32>) {
    %true = constant <i1: 1> : tile<i1>
    %i = select %p, %a, %b : tile<i1>, tile<i32>
    %r = select %p, %i, %c : tile<i1>, tile<i32>
    %n = xori %p, %true : tile<i1>
    %s = select %n, %a, %b : tile<i1>, tile<i32>
    %e = cmpi equal %a, %b, signed : tile<i32> -> tile<i1>
    %t = select %e, %a, %b : tile<i1>, tile<i32>
    print_tko "%d %d %d", %r, %s, %t : tile<i32>, tile<i32>, tile<i32> -> token
    return
  }
}

// CHECK-LABEL: entry @nested
// CHECK:         %[[R:.*]] = select %p, %a, %c
// CHECK:         %[[S:.*]] = select %p, %b, %a
// CHECK:         print_tko "%d %d %d", %[[R]], %[[S]], %b

// -----

// One and zero are the condition; constants are selected at once; an assumption is made once.

cuda_tile.module @kernels {
  entry @numbers(%p: tile<i1>, %a: tile<i32>) {
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %r = select %p, %one, %zero : tile<i1>, tile<i32>
    %c = constant <i1: [1, 0]> : tile<2xi1>
    %x = constant <i32: [2, 3]> : tile<2xi32>
    %y = constant <i32: [4, 5]> : tile<2xi32>
    %s = select %c, %x, %y : tile<2xi1>, tile<2xi32>
    %m = assume div_by<8>, %a : tile<i32>
    %n = assume bounded<0, ?>, %m : tile<i32>
    %o = assume div_by<8>, %n : tile<i32>
    print_tko "%d %d %d", %r, %s, %o : tile<i32>, tile<2xi32>, tile<i32> -> token
    return
  }
}

// CHECK-LABEL: entry @numbers
// CHECK:         %[[R:.*]] = exti %p unsigned : tile<i1> -> tile<i32>
// CHECK:         %[[S:.*]] = constant <i32: [2, 5]>
// CHECK:         %[[N:.*]] = assume bounded<0, ?>
// CHECK-NOT:     assume
// CHECK:         print_tko "%d %d %d", %[[R]], %[[S]], %[[N]]
