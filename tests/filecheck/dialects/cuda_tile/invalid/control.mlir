// Loops and branches that there are not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// What ends a block may not stand anywhere.

// expected-error@+1 {{'cuda_tile.break' op expects parent op to be one of 'cuda_tile.if, cuda_tile.loop'}}
cuda_tile.break

// -----

// Nor may this.

// expected-error@+1 {{'cuda_tile.yield' op expects parent op to be one of 'cuda_tile.if, cuda_tile.reduce, cuda_tile.scan'}}
cuda_tile.yield

// -----

// Only branches stand between a loop and what leaves it.

cuda_tile.module @m {
  entry @k(%n: tile<i32>, %c: tile<i1>) {
    loop {
      // expected-note@+1 {{see unexpected ancestor operation}}
      for %i in (%n to %n, step %n) : tile<i32> {
        if %c {
          // expected-error@+1 {{'cuda_tile.break' op can only be nested within a ancestor chain of 'cuda_tile.loop', 'cuda_tile.if' operations}}
          break
        }
      }
    }
  }
}

// -----

// A branch without a loop around it.

cuda_tile.module @m {
  // expected-note@+1 {{see unexpected ancestor operation}}
  entry @k(%c: tile<i1>) {
    if %c {
      // expected-error@+1 {{'cuda_tile.continue' op can only be nested within a ancestor chain of 'cuda_tile.for', 'cuda_tile.loop', 'cuda_tile.if' operations}}
      continue
    }
  }
}

// -----

// What a loop is left with.

cuda_tile.module @m {
  entry @k(%n: tile<i32>) {
    %r = loop : tile<i32> {
      // expected-error@+1 {{'cuda_tile.break' op operand types must correspond to the parent loop result types: () vs ('!cuda_tile.tile<i32>')}}
      break
    }
  }
}

// -----

// What a loop goes on with.

cuda_tile.module @m {
  entry @k(%n: tile<i32>) {
    loop iter_values(%a = %n) : tile<i32> {
      // expected-error@+1 {{`loop` is missing a valid terminator. `continue` op should have operand types that match the parent loop iter_values: ('!cuda_tile.tile<i32>'), but found: ()}}
      continue
    }
    for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %n) -> (tile<i32>) {
      // expected-error@+1 {{`for` is missing a valid terminator. `continue` op should have operand types that match the parent loop return types: ('!cuda_tile.tile<i32>'), but found: ()}}
      continue
    }
  }
}

// -----

// Kernels return nothing.

cuda_tile.module @m {
  entry @k(%n: tile<i32>) {
    // expected-error@+1 {{'cuda_tile.return' op has 1 operands, but enclosing function (@k) returns 0}}
    return %n : tile<i32>
  }
}

// -----

// A loop over a range does not return.

cuda_tile.module @m {
  entry @k(%n: tile<i32>) {
    for %i in (%n to %n, step %n) : tile<i32> {
      loop {
        // expected-error@+1 {{'cuda_tile.return' op must be used within a cuda_tile.entry, cuda_tile.if, or cuda_tile.loop operation}}
        return
      }
    }
  }
}

// -----

// Views are not handed on.

cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %c: tile<i1>) {
    %t = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %v = make_partition_view %t : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
    // expected-error@+1 {{'cuda_tile.for' op loop-carried value 0 is a tensor_view, which is not supported}}
    for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %t) -> (tensor_view<64x64xf32, strides=[64,1]>) {
      continue %a : tensor_view<64x64xf32, strides=[64,1]>
    }
    // expected-error@+1 {{'cuda_tile.loop' op loop-carried value 0 is a tile view, which is not supported}}
    loop iter_values(%a = %v) : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>> {
      continue %a : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
    }
    // expected-error@+1 {{'cuda_tile.loop' op result type 0 is a tensor_view, which is not supported}}
    %r = loop : tensor_view<64x64xf32, strides=[64,1]> {
      break %t : tensor_view<64x64xf32, strides=[64,1]>
    }
    // expected-error@+1 {{'cuda_tile.if' op result type 0 is a tile view, which is not supported}}
    %s = if %c -> (partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>) {
      yield %v : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
    } else {
      yield %v : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
    }
  }
}

// -----

// Branches yield what the results are.

cuda_tile.module @m {
  entry @k(%n: tile<i32>, %c: tile<i1>) {
    // expected-error@+1 {{'cuda_tile.if' op has non-empty return type, must define else branch}}
    %0 = if %c -> (tile<i32>) {
      yield %n : tile<i32>
    }
    // expected-error@+1 {{'cuda_tile.if' op has return type of '!cuda_tile.tile<i32>' but then branch does not yield anything}}
    %1 = if %c -> (tile<i32>) {
    } else {
      yield %n : tile<i32>
    }
    // expected-error@+1 {{'cuda_tile.if' op does not return a value, but else branch yields '!cuda_tile.tile<i32>'}}
    if %c {
    } else {
      yield %n : tile<i32>
    }
    // expected-error@+1 {{'cuda_tile.if' op type does not match yield type, then branch yields '!cuda_tile.tile<i1>' but op result type is '!cuda_tile.tile<i32>'}}
    %2 = if %c -> (tile<i32>) {
      yield %c : tile<i1>
    } else {
      yield %n : tile<i32>
    }
  }
}

// -----

// What the generic form may get wrong.

%t_i1 = "test.op"() : () -> !cuda_tile.tile<i1>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
%t_i64 = "test.op"() : () -> !cuda_tile.tile<i64>
// expected-error@+1 {{'cuda_tile.if' op must define then branch}}
"cuda_tile.if"(%t_i1) ({}, {}) : (!cuda_tile.tile<i1>) -> ()
// expected-error@+1 {{'cuda_tile.loop' op region #0 ('region') failed to verify constraint: region with 1 blocks}}
"cuda_tile.loop"() ({}) : () -> ()
// expected-error@+1 {{'cuda_tile.for' op expected at least one block argument for induction variable}}
"cuda_tile.for"(%t_i32, %t_i32, %t_i32) ({
  "cuda_tile.continue"() : () -> ()
}) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> ()
// expected-error@+1 {{'cuda_tile.for' op expected induction variable to be same type as bounds and step: '!cuda_tile.tile<i64>' vs '!cuda_tile.tile<i32>'}}
"cuda_tile.for"(%t_i32, %t_i32, %t_i32) ({
^bb0(%i: !cuda_tile.tile<i64>):
  "cuda_tile.continue"() : () -> ()
}) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> ()
// expected-error@+1 {{'cuda_tile.for' op failed to verify that all of {lowerBound, upperBound, step} have same type}}
"cuda_tile.for"(%t_i32, %t_i32, %t_i64) ({
^bb0(%i: !cuda_tile.tile<i32>):
  "cuda_tile.continue"() : () -> ()
}) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> ()
// expected-error@+1 {{'cuda_tile.loop' op mismatch in number of region iterator values and loop iterator inits: 1 vs 0}}
"cuda_tile.loop"() ({
^bb0(%i: !cuda_tile.tile<i64>):
  "cuda_tile.continue"() : () -> ()
}) : () -> ()
// expected-error@+1 {{'cuda_tile.loop' op init value 0 and region iter_value 0 have different type: '!cuda_tile.tile<i32>' != '!cuda_tile.tile<i64>'}}
"cuda_tile.loop"(%t_i32) ({
^bb0(%i: !cuda_tile.tile<i64>):
  "cuda_tile.continue"(%t_i32) : (!cuda_tile.tile<i32>) -> ()
}) : (!cuda_tile.tile<i32>) -> ()

// -----

// A type too many.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{mismatch in number of loop-carried values and defined values}}
cuda_tile.for %i in (%t_i32 to %t_i32, step %t_i32) : tile<i32> iter_values(%a = %t_i32) -> (tile<i32>, tile<i32>) {

// -----

// A type too many in an endless loop.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{found different number of iter_values and types}}
cuda_tile.loop iter_values(%a = %t_i32) : tile<i32>, tile<i32> {
