// Tensors that their operands do not make.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// No number.

%p_f32 = "test.op"() : () -> !cuda_tile.tile<ptr<f32>>
// expected-error@+1 {{expected either integer or SSA value}}
cuda_tile.make_tensor_view %p_f32, shape = [?], strides = [1] : tensor_view<?xf32, strides=[1]>

// -----

// A number too few.

%p_f32 = "test.op"() : () -> !cuda_tile.tile<ptr<f32>>
// expected-error@+1 {{expected shape declaration to contain 2 elements due to tensor_view type, but 1 were provided}}
cuda_tile.make_tensor_view %p_f32, shape = [64], strides = [1] : tensor_view<64x64xf32, strides=[64,1]>

// -----

// Another number.

%p_f32 = "test.op"() : () -> !cuda_tile.tile<ptr<f32>>
// expected-error@+1 {{input stride dimension 0 does not match tensor_view type (expected 1, got 2)}}
cuda_tile.make_tensor_view %p_f32, shape = [64], strides = [2] : tensor_view<64xf32, strides=[1]>

// -----

// A number for an operand.

%p_f32 = "test.op"() : () -> !cuda_tile.tile<ptr<f32>>
// expected-error@+1 {{input shape dimension 0 does not match tensor_view type (expected dynamic, got 64)}}
cuda_tile.make_tensor_view %p_f32, shape = [64], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>

// -----

// No tensor.

%p_f32 = "test.op"() : () -> !cuda_tile.tile<ptr<f32>>
// expected-error@+1 {{expected 'tensor_view' type, but got '!cuda_tile.tile<i32>'}}
cuda_tile.make_tensor_view %p_f32, shape = [64], strides = [1] : tile<i32> -> tile<i32>

// -----

// What the generic form may get wrong.

%p_f16 = "test.op"() : () -> !cuda_tile.tile<ptr<f16>>
%q = "test.op"() : () -> !cuda_tile.tile<ptr<f32, #cuda_tile.ptr_attr<none>>>
%p_f32 = "test.op"() : () -> !cuda_tile.tile<ptr<f32>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
%t_i64 = "test.op"() : () -> !cuda_tile.tile<i64>
// expected-error@+1 {{'cuda_tile.make_tensor_view' op expected pointer to 'f32' to build tensor_view of this type, got 'f16'}}
"cuda_tile.make_tensor_view"(%p_f16) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f16>>) -> !cuda_tile.tensor_view<f32>
// expected-error@+1 {{'cuda_tile.make_tensor_view' op tensor_view must preserve ptr_attr from base pointer (#cuda_tile.ptr_attr<none>)}}
"cuda_tile.make_tensor_view"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f32, #cuda_tile.ptr_attr<none>>>) -> !cuda_tile.tensor_view<f32>
// expected-error@+1 {{'cuda_tile.make_tensor_view' op pointer base without ptr_attr cannot produce tensor_view with ptr_attr}}
"cuda_tile.make_tensor_view"(%p_f32) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<f32, #cuda_tile.ptr_attr<none>>
// expected-error@+1 {{'cuda_tile.make_tensor_view' op expected 1 dynamic shape operands, got 0}}
"cuda_tile.make_tensor_view"(%p_f32) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<?xf32, strides=[1]>
// expected-error@+1 {{'cuda_tile.make_tensor_view' op expected 1 dynamic stride operands, got 0}}
"cuda_tile.make_tensor_view"(%p_f32) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!cuda_tile.tile<ptr<f32>>) -> !cuda_tile.tensor_view<8xf32, strides=[?]>
// expected-error@+1 {{'cuda_tile.make_tensor_view' op expected dynamic stride index 0 to be of the same type as the other dynamic values ('!cuda_tile.tile<i32>'), got '!cuda_tile.tile<i64>'}}
"cuda_tile.make_tensor_view"(%p_f32, %t_i32, %t_i64) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>) -> !cuda_tile.tensor_view<?xf32, strides=[?]>
