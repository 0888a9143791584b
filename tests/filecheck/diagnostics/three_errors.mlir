// Three errors in three chunks, found in one run.

// RUN: tileas-opt %s --verify-diagnostics --split-input-file

// expected-error@+1 {{operation name expected}}
%0 = )

// -----

func.func @verifier(%a: i32) -> i64 {
  // expected-error@+1 {{expected [i64], got [i32]}}
  func.return %a : i32
}

// -----

func.func @dominance() {
  // expected-error@+2 {{operand #0 does not dominate this use}}
  // expected-note@+1 {{operand defined here (op in the same block)}}
  %0 = "test.op"(%0) : (i32) -> i32
  func.return
}
