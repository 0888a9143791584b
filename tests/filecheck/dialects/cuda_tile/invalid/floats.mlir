// Modifiers that an operation on floats does not take.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Roundings.

%t2_f32 = "test.op"() : () -> !cuda_tile.tile<2xf32>
// expected-error@+1 {{'cuda_tile.addf' op invalid rounding mode specified, expect one of [nearest_even, zero, negative_inf, positive_inf]}}
"cuda_tile.addf"(%t2_f32, %t2_f32) <{rounding_mode = #cuda_tile.rounding<approx>}> : (!cuda_tile.tile<2xf32>, !cuda_tile.tile<2xf32>) -> !cuda_tile.tile<2xf32>
// expected-error@+1 {{'cuda_tile.fma' op invalid rounding mode specified, expect one of [nearest_even, zero, negative_inf, positive_inf]}}
cuda_tile.fma %t2_f32, %t2_f32, %t2_f32 rounding<nearest_away> : tile<2xf32>
// expected-error@+1 {{'cuda_tile.divf' op invalid rounding mode specified, expect one of [nearest_even, zero, negative_inf, positive_inf, approx, full]}}
"cuda_tile.divf"(%t2_f32, %t2_f32) <{rounding_mode = #cuda_tile.rounding<nearest_away>}> : (!cuda_tile.tile<2xf32>, !cuda_tile.tile<2xf32>) -> !cuda_tile.tile<2xf32>
// expected-error@+1 {{'cuda_tile.exp' op invalid rounding mode specified, expect one of [approx, full]}}
cuda_tile.exp %t2_f32 rounding<zero> : tile<2xf32>
// expected-error@+1 {{'cuda_tile.tanh' op invalid rounding mode specified, expect one of [approx, full]}}
cuda_tile.tanh %t2_f32 rounding<nearest_even> : tile<2xf32>
// expected-error@+1 {{'cuda_tile.sqrt' op invalid rounding mode specified, expect one of [nearest_even, zero, negative_inf, positive_inf, approx]}}
cuda_tile.sqrt %t2_f32 rounding<full> : tile<2xf32>
// expected-error@+1 {{'cuda_tile.addf' op requires attribute 'rounding_mode'}}
"cuda_tile.addf"(%t2_f32, %t2_f32) : (!cuda_tile.tile<2xf32>, !cuda_tile.tile<2xf32>) -> !cuda_tile.tile<2xf32>

// -----

// Only f32 is flushed and approximated.

%t2_f16 = "test.op"() : () -> !cuda_tile.tile<2xf16>
%t2_f64 = "test.op"() : () -> !cuda_tile.tile<2xf64>
// expected-error@+1 {{'cuda_tile.mulf' op flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
cuda_tile.mulf %t2_f16, %t2_f16 flush_to_zero : tile<2xf16>
// expected-error@+1 {{'cuda_tile.maxf' op flush_to_zero modifier only supported for f32 data type, but got: 'f64'}}
cuda_tile.maxf %t2_f64, %t2_f64 flush_to_zero : tile<2xf64>
// expected-error@+1 {{'cuda_tile.exp2' op flush_to_zero modifier only supported for f32 data type, but got: 'f16'}}
cuda_tile.exp2 %t2_f16 flush_to_zero : tile<2xf16>
// expected-error@+1 {{'cuda_tile.exp' op approx modifier only supported for f32 data type, but got: 'f16'}}
cuda_tile.exp %t2_f16 rounding<approx> : tile<2xf16>
// expected-error@+1 {{'cuda_tile.sqrt' op approx modifier only supported for f32 data type, but got: 'f64'}}
cuda_tile.sqrt %t2_f64 rounding<approx> : tile<2xf64>
// expected-error@+1 {{'cuda_tile.divf' op full modifier only supported for f32 data type, but got: 'f16'}}
cuda_tile.divf %t2_f16, %t2_f16 rounding<full> : tile<2xf16>

// -----

// A rounding keyword that this operation does not support.

%t2_f32 = "test.op"() : () -> !cuda_tile.tile<2xf32>
// expected-error@+1 {{expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', 'nearest_away', got: 'approx'}}
cuda_tile.addf %t2_f32, %t2_f32 rounding<approx> : tile<2xf32>

// -----

// An unknown rounding keyword.

%t2_f32 = "test.op"() : () -> !cuda_tile.tile<2xf32>
// expected-error@+1 {{expected rounding mode to be one of: 'nearest_even', 'zero', 'negative_inf', 'positive_inf', 'approx', 'full'}}
cuda_tile.divf %t2_f32, %t2_f32 rounding<up> : tile<2xf32>

// -----

// An unknown comparison predicate.

%t2_f32 = "test.op"() : () -> !cuda_tile.tile<2xf32>
// expected-error@+1 {{expected 'comparison_predicate' to be one of: {'equal', 'not_equal', 'less_than', 'less_than_or_equal', 'greater_than', 'greater_than_or_equal'}}}
cuda_tile.cmpf lt ordered %t2_f32, %t2_f32 : tile<2xf32> -> tile<2xi1>

// -----

// A word that does not say what becomes of NaN.

%t2_f32 = "test.op"() : () -> !cuda_tile.tile<2xf32>
// expected-error@+1 {{expected 'comparison_ordering' to be one of: {'ordered', 'unordered'}}}
cuda_tile.cmpf less_than oeq %t2_f32, %t2_f32 : tile<2xf32> -> tile<2xi1>

// -----

// Types.

%t2_i32 = "test.op"() : () -> !cuda_tile.tile<2xi32>
%t2_tf32 = "test.op"() : () -> !cuda_tile.tile<2xtf32>
%t2_f32 = "test.op"() : () -> !cuda_tile.tile<2xf32>
%t4_f32 = "test.op"() : () -> !cuda_tile.tile<4xf32>
%t4_i32 = "test.op"() : () -> !cuda_tile.tile<4xi32>
%t2_i64 = "test.op"() : () -> !cuda_tile.tile<2xi64>
// expected-error@+1 {{'cuda_tile.addf' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2xi32>'}}
cuda_tile.addf %t2_i32, %t2_i32 : tile<2xi32>
// expected-error@+1 {{'cuda_tile.log' op operand #0 must be tile of f16 or bf16 or f32 or f64 values, but got '!cuda_tile.tile<2xtf32>'}}
cuda_tile.log %t2_tf32 : tile<2xtf32>
// expected-error@+1 {{'cuda_tile.remf' op failed to verify that all of {lhs, rhs, result} have same type}}
"cuda_tile.remf"(%t2_f32, %t4_f32) : (!cuda_tile.tile<2xf32>, !cuda_tile.tile<4xf32>) -> !cuda_tile.tile<2xf32>
// expected-error@+1 {{'cuda_tile.cmpf' op failed to verify that Result type has i1 element type and same shape as operands}}
cuda_tile.cmpf equal ordered %t2_f32, %t2_f32 : tile<2xf32> -> tile<4xi1>
// expected-error@+1 {{'cuda_tile.fpowi' op failed to verify that all of {source, exponent} have same shape}}
cuda_tile.fpowi %t2_f32, %t4_i32 : tile<2xf32>, tile<4xi32>
// expected-error@+1 {{'cuda_tile.fpowi' op operand #1 must be tile of i1 or i8 or i16 or i32 values, but got '!cuda_tile.tile<2xi64>'}}
cuda_tile.fpowi %t2_f32, %t2_i64 : tile<2xf32>, tile<2xi64>
