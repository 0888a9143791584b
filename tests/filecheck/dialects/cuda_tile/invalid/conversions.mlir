// Conversions that there are not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Integers.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
%t_f32 = "test.op"() : () -> !cuda_tile.tile<f32>
// expected-error@+1 {{'cuda_tile.exti' op extending to smaller or identical integer}}
cuda_tile.exti %t_i32 signed : tile<i32> -> tile<i32>
// expected-error@+1 {{'cuda_tile.trunci' op truncating to larger or identical integer}}
cuda_tile.trunci %t_i32 : tile<i32> -> tile<i64>
// expected-error@+1 {{'cuda_tile.itof' op integer to f8E8M0FNU conversion is not supported, please first convert to another float type}}
cuda_tile.itof %t_i32 signed : tile<i32> -> tile<f8E8M0FNU>
// expected-error@+1 {{'cuda_tile.itof' op invalid rounding mode specified. Only 'nearest_even' is supported}}
cuda_tile.itof %t_i32 signed rounding<zero> : tile<i32> -> tile<f32>
// expected-error@+1 {{'cuda_tile.ftoi' op invalid rounding mode specified. Only 'nearest_int_to_zero' is supported}}
"cuda_tile.ftoi"(%t_f32) <{signedness = #cuda_tile.signedness<signed>, rounding_mode = #cuda_tile.rounding<zero>}> : (!cuda_tile.tile<f32>) -> !cuda_tile.tile<i32>

// -----

// Floats: the first rule that fits holds.

%t_f32 = "test.op"() : () -> !cuda_tile.tile<f32>
%t_f16 = "test.op"() : () -> !cuda_tile.tile<f16>
%t_f64 = "test.op"() : () -> !cuda_tile.tile<f64>
// expected-error@+1 {{'cuda_tile.ftof' op converting tiles must not be a no-op}}
cuda_tile.ftof %t_f32 : tile<f32> -> tile<f32>
// expected-error@+1 {{'cuda_tile.ftof' op invalid rounding mode specified for conversion to f8E8M0FNU. Only 'zero' and 'positive_inf' are supported}}
cuda_tile.ftof %t_f32 : tile<f32> -> tile<f8E8M0FNU>
// expected-error@+1 {{'cuda_tile.ftof' op invalid rounding mode specified for conversion to low-precision type. Only 'nearest_even' is supported}}
cuda_tile.ftof %t_f32 rounding<zero> : tile<f32> -> tile<f8E5M2>
// expected-error@+1 {{'cuda_tile.ftof' op invalid rounding mode specified for widening conversion. Only IEEE float rounding modes are supported: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', 'nearest_away'}}
"cuda_tile.ftof"(%t_f16) <{rounding_mode = #cuda_tile.rounding<full>}> : (!cuda_tile.tile<f16>) -> !cuda_tile.tile<f32>
// expected-error@+1 {{'cuda_tile.ftof' op invalid rounding mode specified for conversion from f64 to f32. Only 'nearest_even', 'zero', 'negative_inf', and 'positive_inf' are supported}}
cuda_tile.ftof %t_f64 rounding<nearest_away> : tile<f64> -> tile<f32>
// expected-error@+1 {{'cuda_tile.ftof' op invalid rounding mode specified for conversion from f32 to tf32. Only 'nearest_even', 'zero', and 'nearest_away' are supported}}
cuda_tile.ftof %t_f32 rounding<positive_inf> : tile<f32> -> tile<tf32>
// expected-error@+1 {{'cuda_tile.ftof' op invalid rounding mode specified. Only 'nearest_even' and 'zero' are supported for narrowing conversions to standard types}}
cuda_tile.ftof %t_f32 rounding<negative_inf> : tile<f32> -> tile<f16>

// -----

// Bits.

%t_f32 = "test.op"() : () -> !cuda_tile.tile<f32>
%t2x2_f32 = "test.op"() : () -> !cuda_tile.tile<2x2xf32>
%t8_f8E5M2 = "test.op"() : () -> !cuda_tile.tile<8xf8E5M2>
%t2_i1 = "test.op"() : () -> !cuda_tile.tile<2xi1>
%t1_i8 = "test.op"() : () -> !cuda_tile.tile<1xi8>
%t2_f32 = "test.op"() : () -> !cuda_tile.tile<2xf32>
%p4_f32 = "test.op"() : () -> !cuda_tile.tile<4xptr<f32>>
// expected-error@+1 {{'cuda_tile.bitcast' op types must be equal width, cannot convert '!cuda_tile.tile<f32>' of width 32 to type '!cuda_tile.tile<i64>' of width 64}}
cuda_tile.bitcast %t_f32 : tile<f32> -> tile<i64>
// expected-error@+1 {{'cuda_tile.pack' op expects source and result to be rank-1 tiles}}
cuda_tile.pack %t2x2_f32 : tile<2x2xf32> -> tile<4x4xi8>
// expected-error@+1 {{'cuda_tile.pack' op expects source and result to have different element type widths}}
cuda_tile.pack %t8_f8E5M2 : tile<8xf8E5M2> -> tile<8xi8>
// expected-error@+1 {{'cuda_tile.pack' op expects source tile to be byte-aligned}}
cuda_tile.pack %t2_i1 : tile<2xi1> -> tile<1xi8>
// expected-error@+1 {{'cuda_tile.unpack' op expects result tile to be byte-aligned}}
cuda_tile.unpack %t1_i8 : tile<1xi8> -> tile<4xi1>
// expected-error@+1 {{'cuda_tile.pack' op expects source and result to have the same size in bytes, but got source tile size 8 bytes and result tile size 4 bytes}}
cuda_tile.pack %t2_f32 : tile<2xf32> -> tile<4xi8>
// expected-error@+1 {{'cuda_tile.ptr_to_int' op failed to verify that all of {source, result} have same shape}}
cuda_tile.ptr_to_int %p4_f32 : tile<4xptr<f32>> -> tile<2xi64>
