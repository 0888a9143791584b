// Old names of passes run the pass and warn, in one line, with the name to use instead.

// RUN: tileas-opt %s -p tileas-arrange-factors 2>&1 | filecheck %s --check-prefix=DOT
// RUN: tileas-opt %s -p tileas-attach-tma-desc-args 2>&1 | filecheck %s --check-prefix=TMA
// RUN: tileas-opt %s -p tileas-fuse-generates 2>&1 | filecheck %s --check-prefix=FUSE
// RUN: tileas-opt %s -p tileas-place-constants 2>&1 | filecheck %s --check-prefix=CONSTANTS
// RUN: tileas-opt %s -p tileas-widen-truths 2>&1 | filecheck %s --check-prefix=I1
// RUN: tileas-opt %s -p tileas-widen-truths | filecheck %s

func.func @load(%from: !nv_tileaa.ptr<i1, 1>) -> i1 {
  %t = nv_tileas.load %from[] {atom = #nv_tileas<atom ldg>} : !nv_tileaa.ptr<i1, 1> -> i1
  func.return %t : i1
}

// DOT: warning: pass 'tileas-arrange-factors' is now called 'tileas-normalize-dot-operands'; the old name goes with the next release
// DOT-NOT: warning:
// TMA: warning: pass 'tileas-attach-tma-desc-args' is now called 'tileas-attach-tma-descriptor-args'; the old name goes with the next release
// TMA-NOT: warning:
// FUSE: warning: pass 'tileas-fuse-generates' is now called 'tileas-fuse-elementwise'; the old name goes with the next release
// FUSE-NOT: warning:
// CONSTANTS: warning: pass 'tileas-place-constants' is now called 'tileas-materialize-constants'; the old name goes with the next release
// CONSTANTS-NOT: warning:
// I1: warning: pass 'tileas-widen-truths' is now called 'tileas-legalize-i1-memory'; the old name goes with the next release
// I1-NOT: warning:
// CHECK:       builtin.module {
// CHECK-NEXT:    func.func @load(%from: !nv_tileaa.ptr<i8, 1>) -> i1 {
