// Modules, kernels and globals that there are not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// What may be in a module.

cuda_tile.module @m {
  // expected-error@+1 {{'cuda_tile.constant' op non-symbol operations are not allowed in a module body}}
  %0 = constant <i32: 0> : tile<i32>
}

// -----

// Kernels and globals.

cuda_tile.module @m {
  // expected-error@+1 {{'cuda_tile.global' op type must have rank 1}}
  global @g <i32: 0> : tile<i32>
  // expected-error@+1 {{'cuda_tile.entry' op entry op must have scalar types (rank 0 !cuda_tile.tile)}}
  entry @k(%a: tile<4xf32>) {
  }
  // expected-error@+1 {{'cuda_tile.entry' op entry op must not return values}}
  entry @l() -> tile<f32> {
  }
}

// -----

// Addresses of globals.

cuda_tile.module @m {
  global @g <i32: 0> : tile<1xi32>
  entry @k() {
    // expected-error@+1 {{'cuda_tile.get_global' op 'h' does not reference a valid global}}
    get_global @h : tile<ptr<i32>>
    // expected-error@+1 {{'cuda_tile.get_global' op 'k' does not reference a valid global}}
    get_global @k : tile<ptr<i32>>
    // expected-error@+1 {{'cuda_tile.get_global' op pointee type of result type '!cuda_tile.ptr<f32>' does not match type 'i32' of the global @g}}
    get_global @g : tile<ptr<f32>>
  }
}

// -----

// What the generic form may get wrong.

// expected-error@+1 {{'cuda_tile.entry' op entry block must have 1 arguments to match function signature}}
"cuda_tile.entry"() <{sym_name = "k", function_type = (!cuda_tile.tile<f32>) -> ()}> ({
  "cuda_tile.return"() : () -> ()
}) : () -> ()
// expected-error@+1 {{'cuda_tile.entry' op type of entry block argument #0('!cuda_tile.tile<f16>') must match the type of the corresponding argument in function signature('!cuda_tile.tile<f32>')}}
"cuda_tile.entry"() <{sym_name = "k", function_type = (!cuda_tile.tile<f32>) -> ()}> ({
^bb0(%a: !cuda_tile.tile<f16>):
  "cuda_tile.return"() : () -> ()
}) : () -> ()
// expected-error@+1 {{'cuda_tile.entry' op expects regions to end with 'cuda_tile.return', found 'test.termop'}}
"cuda_tile.entry"() <{sym_name = "k", function_type = () -> ()}> ({
  "test.termop"() : () -> ()
}) : () -> ()
