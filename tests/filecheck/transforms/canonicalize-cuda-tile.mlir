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
// CHECK:         %[[S:.*]] = constant <i32: [2, 5]>
// CHECK:         %[[R:.*]] = exti %p unsigned : tile<i1> -> tile<i32>
// CHECK:         %[[N:.*]] = assume bounded<0, ?>
// CHECK-NOT:     assume
// CHECK:         print_tko "%d %d %d", %[[R]], %[[S]], %[[N]]

// -----

// A branch that is decided is one of its sides; what follows an exit is not there.

cuda_tile.module @kernels {
  entry @decided_branches(%a: tile<i32>, %b: tile<i32>) {
    %true = constant <i1: 1> : tile<i1>
    %false = constant <i1: 0> : tile<i1>
    %r = if %true -> (tile<i32>) {
      %s = addi %a, %b : tile<i32>
      yield %s : tile<i32>
    } else {
      yield %b : tile<i32>
    }
    print_tko "%d", %r : tile<i32> -> token
    if %false {
      print_tko "never" -> token
    } else {
      return
    }
    print_tko "never" -> token
    return
  }
}

// CHECK-LABEL: entry @decided_branches
// CHECK-NEXT:    %[[S:.*]] = addi %a, %b
// CHECK-NEXT:    print_tko "%d", %[[S]]
// CHECK-NEXT:    return
// CHECK-NEXT:  }

// -----

// Results that are there before are selections, or nothing; constants stand in front, once.

cuda_tile.module @kernels {
  entry @results(%p: tile<i1>, %a: tile<i32>, %b: tile<i32>) {
    %r:3 = if %p -> (tile<i32>, tile<2xi32>, tile<i32>) {
      %one = constant <i32: 1> : tile<2xi32>
      yield %a, %one, %a : tile<i32>, tile<2xi32>, tile<i32>
    } else {
      %two = constant <i32: 2> : tile<2xi32>
      yield %b, %two, %a : tile<i32>, tile<2xi32>, tile<i32>
    }
    print_tko "%d %d %d", %r#0, %r#1, %r#2 : tile<i32>, tile<2xi32>, tile<i32> -> token
    return
  }
}

// CHECK-LABEL: entry @results
// CHECK-DAG:     %[[ONE:.*]] = constant <i32: 1> : tile<2xi32>
// CHECK-DAG:     %[[TWO:.*]] = constant <i32: 2> : tile<2xi32>
// CHECK:         %[[R:.*]] = select %p, %a, %b
// CHECK:         %[[B:.*]] = broadcast %{{.*}} : tile<1xi1> -> tile<2xi1>
// CHECK:         %[[S:.*]] = select %[[B]], %[[ONE]], %[[TWO]]
// CHECK-NEXT:    print_tko "%d %d %d", %[[R]], %[[S]], %a

// -----

// Nested branches ask both conditions; branches with one condition are one; inside it is known.

cuda_tile.module @kernels {
  entry @joined(%p: tile<i1>, %q: tile<i1>, %a: tile<i32>, %b: tile<i32>) {
    if %p {
      if %q {
        print_tko "both" -> token
      }
    }
    if %q {
      print_tko "first" -> token
    }
    if %q {
      %r = select %q, %a, %b : tile<i1>, tile<i32>
      print_tko "second %d", %r : tile<i32> -> token
    } else {
      return
    }
    print_tko "third" -> token
    return
  }
}

// CHECK-LABEL: entry @joined
// CHECK-NEXT:    %[[BOTH:.*]] = andi %p, %q
// CHECK-NEXT:    if %[[BOTH]] {
// CHECK-NEXT:      print_tko "both"
// CHECK-NEXT:    }
// CHECK-NEXT:    if %q {
// CHECK-NEXT:      print_tko "first"
// CHECK-NEXT:      print_tko "second %d", %a
// CHECK-NEXT:    } else {
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:    print_tko "third"

// -----

// Where both sides leave, the second follows the first.

cuda_tile.module @kernels {
  entry @behind(%p: tile<i1>) {
    %true = constant <i1: 1> : tile<i1>
    %n = xori %p, %true : tile<i1>
    if %n {
      print_tko "first" -> token
      return
    } else {
      print_tko "second" -> token
      return
    }
    print_tko "never" -> token
    return
  }
}

// CHECK-LABEL: entry @behind
// CHECK:         if %{{.*}} {
// CHECK-NEXT:      print_tko "first"
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:    print_tko "second"
// CHECK-NEXT:    return
// CHECK-NEXT:  }
