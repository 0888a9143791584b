// Constants that their types do not have.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Elements that are no numbers.

// expected-error@+1 {{expect element type to be one of i1 or i8 or i16 or i32 or i64 or f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or f8E5M3FNU values, but got '!cuda_tile.ptr<f32>'}}
cuda_tile.constant <ptr<f32>: 0> : tile<ptr<f32>>

// -----

// A type that is no tile.

// expected-error@+1 {{result #0 must be tile of i1 or i8 or i16 or i32 or i64 or f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN values, but got 'f32'}}
cuda_tile.constant <f32: 0.0> : f32

// -----

// Two element types.

// expected-error@+1 {{mismatch between the element type: 'f32' and the tile element type 'f16'}}
cuda_tile.constant <f32: 0.0> : tile<f16>

// -----

// Another shape.

// expected-error@+1 {{inferred shape of elements literal ([2]) does not match type ([4])}}
cuda_tile.constant <i32: [1, 2]> : tile<4xi32>

// -----

// Brackets around a scalar.

// expected-error@+1 {{inferred shape of elements literal ([1]) does not match type ([])}}
cuda_tile.constant <i32: [1]> : tile<i32>

// -----

// No elements.

// expected-error@+1 {{dense attribute cannot be empty}}
cuda_tile.constant <i32: []> : tile<4xi32>

// -----

// Brackets of several depths.

// expected-error@+1 {{tensor literal is invalid; ranks are not consistent between elements}}
cuda_tile.constant <i32: [[1, 2], [3]]> : tile<2x2xi32>

// -----

// No integer.

// expected-error@+1 {{expected integer value}}
cuda_tile.constant <i32: 1.5> : tile<i32>

// -----

// Too large an integer.

// expected-error@+1 {{integer constant out of range for type}}
cuda_tile.constant <i8: 256> : tile<i8>

// -----

// A value of another type.

// expected-error@+1 {{'cuda_tile.constant' op failed to verify that all of {value, result} have same type}}
"cuda_tile.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> !cuda_tile.tile<f32>
