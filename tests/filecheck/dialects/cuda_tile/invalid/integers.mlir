// Arithmetic on integers that there is not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Divisions and negations.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
%t_f32 = "test.op"() : () -> !cuda_tile.tile<f32>
// expected-error@+1 {{'cuda_tile.divi' op invalid rounding mode specified, expect one of [zero, negative_inf, positive_inf]}}
cuda_tile.divi %t_i32, %t_i32 signed rounding<nearest_even> : tile<i32>
// expected-error@+1 {{'cuda_tile.divi' op rounding mode 'negative_inf' is not allowed with 'unsigned' flag}}
cuda_tile.divi %t_i32, %t_i32 unsigned rounding<negative_inf> : tile<i32>
// expected-error@+1 {{'cuda_tile.negi' op 'no_unsigned_wrap' overflow flag is not supported}}
cuda_tile.negi %t_i32 overflow<no_unsigned_wrap> : tile<i32>
// expected-error@+1 {{'cuda_tile.addi' op operand #0 must be tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<f32>'}}
cuda_tile.addi %t_f32, %t_f32 : tile<f32>

// -----

// A word that does not say how integers are read.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{expected signedness to be one of: {'signed', 'unsigned'}}}
cuda_tile.maxi %t_i32, %t_i32 sign : tile<i32>

// -----

// A missing keyword.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{expected signedness to be one of: {'signed', 'unsigned'}}}
cuda_tile.maxi %t_i32, %t_i32 : tile<i32>
