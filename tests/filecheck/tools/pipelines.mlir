// `-p` takes a list of passes or the name of a pipeline; the IR between passes goes to stderr.

// RUN: tileas-opt %s -p canonicalize,cse | filecheck %s
// RUN: tileas-opt %s -p cleanup | filecheck %s
// RUN: tileas-opt - -p verify-dominance < %s | filecheck %s --check-prefix STDIN
// RUN: tileas-opt %s -p verify-dominance,canonicalize --print-between-passes 2>&1 >/dev/null | filecheck %s --check-prefix BETWEEN

// CHECK-NOT: arith.constant
//     CHECK: func.return
// STDIN: arith.constant
// BETWEEN: IR after verify-dominance:
// BETWEEN: arith.constant

func.func @f() {
  %0 = arith.constant 1 : i32
  func.return
}
