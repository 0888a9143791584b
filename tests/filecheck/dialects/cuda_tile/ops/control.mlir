// Loops and branches; what ends a block may be left out where nothing is handed on.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// Branches.

cuda_tile.module @branches {
  entry @branches(%c: tile<i1>, %x: tile<f32>) {
    if %c {
    }
    if %c {
      yield
    } else {
      assert %c, "never" : tile<i1>
    }
    %0 = if %c -> (tile<f32>) {
      yield %x : tile<f32>
    } else {
      return
    }
    return
  }
}

// CHECK-LABEL: cuda_tile.module @branches {
// CHECK-NEXT:    entry @branches(%c: tile<i1>, %x: tile<f32>) {
// CHECK-NEXT:      if %c {
// CHECK-NEXT:      }
// CHECK-NEXT:      if %c {
// CHECK-NEXT:      } else {
// CHECK-NEXT:        assert %c, "never" : tile<i1>
// CHECK-NEXT:      }
// CHECK-NEXT:      %0 = if %c -> (tile<f32>) {
// CHECK-NEXT:        yield %x : tile<f32>
// CHECK-NEXT:      } else {
// CHECK-NEXT:        return
// CHECK-NEXT:      }
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Loops over a range.

cuda_tile.module @ranges {
  entry @ranges(%c: tile<i1>, %n: tile<i32>, %x: tile<f32>) {
    for %i in (%n to %n, step %n) : tile<i32> {
      continue
    }
    %0 = for unsigned %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
      if %c {
        continue %a : tile<f32>
      }
      continue %x : tile<f32>
    } {tag}
    return
  }
}

// CHECK-LABEL: cuda_tile.module @ranges {
// CHECK-NEXT:    entry @ranges(%c: tile<i1>, %n: tile<i32>, %x: tile<f32>) {
// CHECK-NEXT:      for %i in (%n to %n, step %n) : tile<i32> {
// CHECK-NEXT:      }
// CHECK-NEXT:      %0 = for unsigned %i_1 in (%n to %n, step %n) : tile<i32> iter_values(%a = %x) -> (tile<f32>) {
// CHECK-NEXT:        if %c {
// CHECK-NEXT:          continue %a : tile<f32>
// CHECK-NEXT:        }
// CHECK-NEXT:        continue %x : tile<f32>
// CHECK-NEXT:      } {tag}
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Loops without an end.

cuda_tile.module @endless {
  entry @endless(%c: tile<i1>, %n: tile<i32>, %x: tile<f32>) {
    loop {
      if %c {
        break
      }
    }
    loop iter_values(%a = %n) : tile<i32> {
      continue %a : tile<i32>
    }
    %0 = loop : tile<f32> {
      break %x : tile<f32>
    }
    %1, %2 = loop iter_values(%a = %n) : tile<i32> -> tile<i32>, tile<f32> {
      if %c {
        break %a, %x : tile<i32>, tile<f32>
      }
      continue %a : tile<i32>
    }
    return
  }
}

// CHECK-LABEL: cuda_tile.module @endless {
// CHECK-NEXT:    entry @endless(%c: tile<i1>, %n: tile<i32>, %x: tile<f32>) {
// CHECK-NEXT:      loop {
// CHECK-NEXT:        if %c {
// CHECK-NEXT:          break
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      loop iter_values(%a = %n) : tile<i32> {
// CHECK-NEXT:        continue %a : tile<i32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %0 = loop : tile<f32> {
// CHECK-NEXT:        break %x : tile<f32>
// CHECK-NEXT:      }
// CHECK-NEXT:      %1, %2 = loop iter_values(%a_1 = %n) : tile<i32> -> tile<i32>, tile<f32> {
// CHECK-NEXT:        if %c {
// CHECK-NEXT:          break %a_1, %x : tile<i32>, tile<f32>
// CHECK-NEXT:        }
// CHECK-NEXT:        continue %a_1 : tile<i32>
// CHECK-NEXT:      }
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
