// Copies of a few bytes per thread, in groups or on an mbarrier.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<pred>
  ptx.cp_async %2, %3 {size = 16 : i64, cache = "cg"} : !ptx.reg<b32>, !ptx.reg<b64>
  ptx.cp_async %2, %3 {size = 4 : i64, cache = "ca", offset = 64 : i64, source_offset = 8 : i64} : !ptx.reg<b32>, !ptx.reg<b64>
  ptx.cp_async %2, %3 source_size(%2) guard(%4) {size = 16 : i64, cache = "cg", prefetch = "128B"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  ptx.cp_async.commit_group
  ptx.cp_async.wait_group {pending = 1 : i64}
  ptx.cp_async.wait_group
  ptx.cp_async.mbarrier_arrive %2 {noinc} : !ptx.reg<b32>
  ptx.cp_async.mbarrier_arrive %2 guard(%4) {offset = 8 : i64, negate} : !ptx.reg<b32>, !ptx.reg<pred>
  %5 = ptx.createpolicy {primary = "evict_last", fraction = 1.000000e+00 : f32} -> !ptx.reg<b64>
  ptx.cp_async %2, %3 policy(%5) {size = 8 : i64, cache = "ca"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      cp.async.cg.shared.global [%r0], [%rd0], 16;
// PTX-NEXT: cp.async.ca.shared.global [%r0+64], [%rd0+8], 4;
// PTX-NEXT: @%p0 cp.async.cg.shared.global.L2::128B [%r0], [%rd0], 16, %r0;
// PTX-NEXT: cp.async.commit_group;
// PTX-NEXT: cp.async.wait_group 1;
// PTX-NEXT: cp.async.wait_all;
// PTX-NEXT: cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r0];
// PTX-NEXT: @!%p0 cp.async.mbarrier.arrive.shared::cta.b64 [%r0+8];
// PTX-NEXT: createpolicy.fractional.L2::evict_last.b64 %rd1, 0f3F800000;
// PTX-NEXT: cp.async.ca.shared.global.L2::cache_hint [%r0], [%rd0], 8, %rd1;
// PTX-NEXT: ret;
