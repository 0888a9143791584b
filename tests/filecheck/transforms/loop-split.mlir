// `loop-split` splits a loop where a branch in it compares the index with an invariant.

// RUN: tileas-opt %s -p loop-split --split-input-file | filecheck %s
// RUN: tileas-opt %s -p 'loop-split{split-threshold=3}' --split-input-file | filecheck %s --check-prefix LONG

// The second loop begins at the invariant: the first has the one side, the second the other.

cuda_tile.module @kernels {
  entry @at(%n: tile<i32>, %s: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %p = cmpi greater_than_or_equal %i, %s, signed : tile<i32> -> tile<i1>
      if %p {
        print_tko "late %d", %i : tile<i32> -> token
      } else {
        print_tko "early %d", %i : tile<i32> -> token
      }
    }
    return
  }
}

// CHECK-LABEL: entry @at
// CHECK:         %[[END:.*]] = mini %s, %n signed
// CHECK-NEXT:    %[[BEGIN:.*]] = maxi %s, %zero signed
// CHECK-NEXT:    for %i in (%zero to %[[END]], step %one)
// CHECK:           print_tko "early %d"
// CHECK:         for %{{.*}} in (%[[BEGIN]] to %n, step %one)
// CHECK:           print_tko "late %d"
// CHECK-NOT:     if

// LONG-LABEL:  entry @at
// LONG:          for
// LONG-NOT:      for
// LONG-LABEL:  entry @behind

// -----

// It begins behind the invariant, which is no number where the invariant is the largest of all.  What
// is carried goes from the first loop to the second.

cuda_tile.module @kernels {
  entry @behind(%n: tile<i32>, %s: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %r = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%c = %zero) -> (tile<i32>) {
      %p = cmpi less_than %s, %i, signed : tile<i32> -> tile<i1>
      %d = if %p -> (tile<i32>) {
        %m = muli %c, %i : tile<i32>
        yield %m : tile<i32>
      } else {
        yield %c : tile<i32>
      }
      continue %d : tile<i32>
    }
    print_tko "%d", %r : tile<i32> -> token
    return
  }
}

// CHECK-LABEL: entry @behind
// CHECK:         %[[ONE:.*]] = constant <i32: 1>
// CHECK:         %[[LAST:.*]] = subi %n, %[[ONE:.*]]
// CHECK-NEXT:    %[[S:.*]] = mini %s, %[[LAST]] signed
// CHECK-NEXT:    %[[AT:.*]] = addi %[[S]], %[[ONE]]
// CHECK-NEXT:    %[[END:.*]] = mini %[[AT]], %n signed
// CHECK-NEXT:    %[[BEGIN:.*]] = maxi %[[AT]], %zero signed
// CHECK-NEXT:    %[[FIRST:.*]] = for %{{.*}} in (%zero to %[[END]], step %one)
// CHECK:         for %{{.*}} in (%[[BEGIN]] to %n, step %one) : tile<i32> iter_values(%{{.*}} = %[[FIRST]])
// CHECK:           muli

// -----

// A hint says no; a comparison that reads the bits in another way than the loop does not count.

cuda_tile.module @kernels {
  entry @refused(%n: tile<i32>, %s: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %n, step %one) : tile<i32> {
      %p = cmpi less_than %i, %s, signed : tile<i32> -> tile<i1>
      if %p {
        print_tko "hint" -> token
      }
    } {cuda_tile.loop_split = 0 : i32}
    for %i in (%zero to %n, step %one) : tile<i32> {
      %p = cmpi less_than %i, %s, unsigned : tile<i32> -> tile<i1>
      if %p {
        print_tko "unsigned" -> token
      }
    }
    return
  }
}

// CHECK-LABEL: entry @refused
// CHECK-NOT:     mini
// CHECK:         print_tko "hint"
// CHECK:         print_tko "unsigned"
