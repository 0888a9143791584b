// What the target refuses: instructions that it does not have, other dialects, unknown targets.

// RUN: not tileas-opt %s -t 'ptx{arch=sm_100a}' 2>&1 | filecheck %s
// RUN: not tileas-opt %s -t 'ptx{arch=sm_80}' 2>&1 | filecheck %s --check-prefix TARGET

// CHECK: refused.mlir:[[# @LINE + 3]]:3: error: 'ptx.wgmma.fence' op is not in sm_100a: this form needs sm_90a
// TARGET: error: unknown target 'sm_80'; known: sm_90a, sm_100a, sm_120a
ptx.entry @k() {
  ptx.wgmma.fence
  ptx.ret
}
