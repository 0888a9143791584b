// Shapes that do not fit.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Numbers, broadcasts, permutations.

%t2x4_f32 = "test.op"() : () -> !cuda_tile.tile<2x4xf32>
%t4_f32 = "test.op"() : () -> !cuda_tile.tile<4xf32>
// expected-error@+1 {{'cuda_tile.iota' op expects result type to be 1-d tile}}
cuda_tile.iota : tile<2x2xi32>
// expected-error@+1 {{'cuda_tile.iota' op the number of elements 512 exceeds the maximum value of element type 'i8'}}
cuda_tile.iota : tile<512xi8>
// expected-error@+1 {{'cuda_tile.broadcast' op expects the shape of source tile to be compatible with that of the result tile, but got: 2, 4 and 4, 4}}
cuda_tile.broadcast %t2x4_f32 : tile<2x4xf32> -> tile<4x4xf32>
// expected-error@+1 {{'cuda_tile.broadcast' op requires the same element type for all operands and results}}
cuda_tile.broadcast %t2x4_f32 : tile<2x4xf32> -> tile<2x4xf16>
// expected-error@+1 {{'cuda_tile.reshape' op expected source tile and result tile to have the same number of elements}}
cuda_tile.reshape %t2x4_f32 : tile<2x4xf32> -> tile<4xf32>
// expected-error@+1 {{'cuda_tile.permute' op expects at least rank 2, but got: 1}}
cuda_tile.permute %t4_f32 [0] : tile<4xf32> -> tile<4xf32>
// expected-error@+1 {{'cuda_tile.permute' op expect permutation size (3) to equal the rank of the source (2)}}
cuda_tile.permute %t2x4_f32 [1, 0, 2] : tile<2x4xf32> -> tile<4x2xf32>
// expected-error@+1 {{'cuda_tile.permute' op expect permutation elements to be unique}}
cuda_tile.permute %t2x4_f32 [1, 1] : tile<2x4xf32> -> tile<4x4xf32>
// expected-error@+1 {{'cuda_tile.permute' op permutation element at index 0 (2) is out of bound [0, 2)}}
cuda_tile.permute %t2x4_f32 [2, 0] : tile<2x4xf32> -> tile<4x2xf32>
// expected-error@+1 {{'cuda_tile.permute' op result shape invalid at index 0, expected: 4, but got: 2}}
cuda_tile.permute %t2x4_f32 [1, 0] : tile<2x4xf32> -> tile<2x4xf32>

// -----

// Slices.

%t2x4_f32 = "test.op"() : () -> !cuda_tile.tile<2x4xf32>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
%t2_f32 = "test.op"() : () -> !cuda_tile.tile<2xf32>
%t4x4_f32 = "test.op"() : () -> !cuda_tile.tile<4x4xf32>
%t1x2_f16 = "test.op"() : () -> !cuda_tile.tile<1x2xf16>
// expected-error@+1 {{'cuda_tile.extract' op source and result element type do not match}}
cuda_tile.extract %t2x4_f32[%t_i32, %t_i32] : tile<2x4xf32> -> tile<1x2xf16>
// expected-error@+1 {{'cuda_tile.extract' op source dimension 0 size (2) must be evenly divisible by result dimension 0 size (4)}}
cuda_tile.extract %t2x4_f32[%t_i32, %t_i32] : tile<2x4xf32> -> tile<4x2xf32>
// expected-error@+1 {{'cuda_tile.extract' op expected 2 indices, but got 1}}
cuda_tile.extract %t2x4_f32[%t_i32] : tile<2x4xf32> -> tile<1x2xf32>
// expected-error@+1 {{'cuda_tile.insert' op source and result must have the same rank}}
cuda_tile.insert %t2_f32, %t2x4_f32[%t_i32, %t_i32] : tile<2xf32>, tile<2x4xf32>
// expected-error@+1 {{'cuda_tile.insert' op result dimension 0 size (2) must be evenly divisible by source dimension 0 size (4)}}
cuda_tile.insert %t4x4_f32, %t2x4_f32[%t_i32, %t_i32] : tile<4x4xf32>, tile<2x4xf32>
// expected-error@+1 {{'cuda_tile.insert' op source and result element type do not match}}
cuda_tile.insert %t1x2_f16, %t2x4_f32[%t_i32, %t_i32] : tile<1x2xf16>, tile<2x4xf32>

// -----

// Constant indices outside a tile are only warned of.

%t4_f32 = "test.op"() : () -> !cuda_tile.tile<4xf32>
%t2_f32 = "test.op"() : () -> !cuda_tile.tile<2xf32>
%m = cuda_tile.constant <i32: -1> : tile<i32>
%n = cuda_tile.constant <i32: 9> : tile<i32>
// expected-warning@+1 {{extract index 0 has negative value -1, which may cause undefined behavior}}
cuda_tile.extract %t4_f32[%m] : tile<4xf32> -> tile<2xf32>
// expected-warning@+1 {{insert index 0 value 9 may be out of bounds (max valid index: 1)}}
cuda_tile.insert %t2_f32, %t4_f32[%n] : tile<2xf32>, tile<4xf32>

// -----

// Concatenations and choices.

%t2x4_f32 = "test.op"() : () -> !cuda_tile.tile<2x4xf32>
%t2x8_f32 = "test.op"() : () -> !cuda_tile.tile<2x8xf32>
%t2_i1 = "test.op"() : () -> !cuda_tile.tile<2xi1>
%t2_f4E2M1FN = "test.op"() : () -> !cuda_tile.tile<2xf4E2M1FN>
// expected-error@+1 {{'cuda_tile.cat' op expect dim to be [0, 2), but got: 2}}
cuda_tile.cat %t2x4_f32, %t2x4_f32 dim = 2 : tile<2x4xf32>, tile<2x4xf32> -> tile<4x4xf32>
// expected-error@+1 {{'cuda_tile.cat' op invalid concat at position 0, expected: 4 but got: 2}}
cuda_tile.cat %t2x4_f32, %t2x4_f32 dim = 0 : tile<2x4xf32>, tile<2x4xf32> -> tile<2x4xf32>
// expected-error@+1 {{'cuda_tile.cat' op expect lhs and rhs shapes to match at non-concat position 1, expected: 4 but got: 8}}
cuda_tile.cat %t2x4_f32, %t2x8_f32 dim = 0 : tile<2x4xf32>, tile<2x8xf32> -> tile<4x4xf32>
// expected-error@+1 {{'cuda_tile.cat' op expect lhs and result shapes to match at non-concat position 1, expected: 4 but got: 8}}
cuda_tile.cat %t2x4_f32, %t2x4_f32 dim = 0 : tile<2x4xf32>, tile<2x4xf32> -> tile<4x8xf32>
// expected-error@+1 {{'cuda_tile.select' op cannot operate on sub-byte type F4E2M1FN}}
cuda_tile.select %t2_i1, %t2_f4E2M1FN, %t2_f4E2M1FN : tile<2xi1>, tile<2xf4E2M1FN>
