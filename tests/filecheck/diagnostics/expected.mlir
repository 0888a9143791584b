// `--verify-diagnostics` compares what is reported with comments, as MLIR does.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics | filecheck %s --allow-empty
// CHECK-NOT: {{.}}

// The next line, a line above, and the line that is nearest below.

func.func @f(%a: i32) -> i64 {
  // expected-error@+1 {{'func.return' op Expected arguments to have the same types}}
  func.return %a : i32
}

// -----

func.func @f(%a: i32) -> i64 {
  func.return %a : i32
  // expected-error@above {{expected [i64], got [i32]}}
}

// -----

func.func @f(%a: i32) -> i64 {
  // expected-error@below {{}}
  func.return %a : i32
}

// -----

// Regular expressions stand between inner braces.

func.func @f(%a: i32) -> i64 {
  // expected-error-re@+1 {{expected [{{i[0-9]+}}], got [{{.*}}]}}
  func.return %a : i32
}

// -----

// Parse errors count too.

// expected-error@+1 {{Operation no.such is not registered}}
"no.such"() : () -> ()
