// Plain `xdsl-opt` finds our passes through the installed entry point.

// RUN: xdsl-opt %s -p verify-dominance --verify-diagnostics | filecheck %s

// CHECK: error: operand #0 does not dominate this use

func.func @f() {
  %0 = "test.op"(%0) : (i32) -> i32
  func.return
}
