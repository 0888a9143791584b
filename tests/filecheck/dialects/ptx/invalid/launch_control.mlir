// What requests for clusters refuse.

// RUN: tileas-opt %s --verify-diagnostics

ptx.entry @k(%0: !ptx.param<u64>) attributes {maxntid = array<i32: 32, 1, 1>} {
  %a = ptx.undef -> !ptx.reg<b32>
  %p = ptx.undef -> !ptx.reg<pred>
  %w = ptx.undef -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.clusterlaunchcontrol.try_cancel' op expects the response in b32 or b64, but got pred}}
  ptx.clusterlaunchcontrol.try_cancel %p, %a : !ptx.reg<pred>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.clusterlaunchcontrol.try_cancel' op expects 1 register for the barrier, but got 4}}
  ptx.clusterlaunchcontrol.try_cancel %a, %w : !ptx.reg<b32>, !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.clusterlaunchcontrol.query_cancel' op expects the response in b64, but got b32}}
  %granted, %block = ptx.clusterlaunchcontrol.query_cancel %w : !ptx.reg<b32, 4> -> !ptx.reg<pred>, !ptx.reg<b32, 3>
  ptx.ret
}
