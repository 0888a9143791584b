// A pass that fails is a located error, and nothing reaches stdout.

// RUN: tileas-opt %s --verify-diagnostics -p verify-dominance
// RUN: not tileas-opt %s 2>/dev/null | filecheck %s --check-prefix OUT --allow-empty
// RUN: not tileas-opt %s --disable-verify -p verify-dominance 2>&1 | filecheck %s

// CHECK: pass_errors.mlir:13:8: error: operand #0 does not dominate this use
// OUT-NOT: {{.}}

func.func @f() {
  // expected-error@+2 {{does not dominate}}
  // expected-note@+1 {{operand defined here}}
  %0 = "test.op"(%0) : (i32) -> i32
  func.return
}
