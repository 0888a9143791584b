// A module of PTX has operations of `ptx` only.

// RUN: not tileas-opt %s -t ptx 2>&1 | filecheck %s

// CHECK: foreign.mlir:[[# @LINE + 2]]:8: error: 'arith.constant' op has no text in PTX
ptx.entry @k() {
  %c = arith.constant 1 : i32
  ptx.ret
}
