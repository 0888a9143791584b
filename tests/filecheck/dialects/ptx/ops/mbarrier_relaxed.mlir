// Arrivals and waits without an order need PTX 8.6.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b32>
  ptx.mbarrier.arrive %2 {semantics = "relaxed", scope = "cluster", space = "shared::cluster"} : !ptx.reg<b32>
  ptx.mbarrier.arrive_expect_tx %2, %3 {semantics = "relaxed", scope = "cta", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  %4 = ptx.mbarrier.try_wait %2, %3 {semantics = "relaxed", scope = "cta", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  %5 = ptx.mbarrier.test_wait %2, %3 {semantics = "relaxed", scope = "cluster", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  ptx.ret
}

// PTX: .version 8.6
// PTX:      mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r0];
// PTX-NEXT: mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%r0], %r1;
// PTX-NEXT: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p0, [%r0], %r1;
// PTX-NEXT: mbarrier.test_wait.parity.relaxed.cluster.shared::cta.b64 %p1, [%r0], %r1;
// PTX-NEXT: ret;
