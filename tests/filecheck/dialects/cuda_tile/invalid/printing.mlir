// Prints whose operands do not fit.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Format expressions.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{'cuda_tile.print_tko' op found unterminated format expression}}
cuda_tile.print_tko "50%" -> token
// expected-error@+1 {{'cuda_tile.print_tko' op incorrect number of operands: expected 2, found 1}}
cuda_tile.print_tko "%d %d", %t_i32 : tile<i32> -> token
