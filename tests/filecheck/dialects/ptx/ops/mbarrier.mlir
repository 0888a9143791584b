// mbarriers; a wait is a loop around try_wait.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<pred>
  %5 = ptx.undef -> !ptx.reg<b32>
  %6 = ptx.const {value = 64 : i64} -> !ptx.reg<b32>
  %7 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
  ptx.mbarrier.init %2, %7 : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.mbarrier.init %2, %6 guard(%4) {offset = 8 : i64} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred>
  ptx.fence.mbarrier_init
  %8 = ptx.mbarrier.arrive %2 {space = "shared::cta"} : !ptx.reg<b32> -> !ptx.reg<b64>
  ptx.mbarrier.arrive %2 guard(%4) {space = "shared::cta", offset = 8 : i64} : !ptx.reg<b32>, !ptx.reg<pred>
  ptx.mbarrier.arrive %2 count(%6) {semantics = "release", scope = "cluster", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.mbarrier.arrive %2 {space = "shared::cluster"} : !ptx.reg<b32>
  ptx.mbarrier.arrive %2 {space = "shared::cta", drop} : !ptx.reg<b32>
  %9 = ptx.mbarrier.arrive %2 count(%6) {space = "shared::cta", no_complete} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
  ptx.mbarrier.arrive %2 guard(%4) {space = "shared::cluster", negate} : !ptx.reg<b32>, !ptx.reg<pred>
  %10 = ptx.const {value = 16384 : i64} -> !ptx.reg<b32>
  ptx.mbarrier.arrive_expect_tx %2, %10 {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.mbarrier.arrive_expect_tx %2, %5 guard(%4) {space = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred>
  %11 = ptx.mbarrier.arrive_expect_tx %2, %5 {space = "shared::cta", drop} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
  ptx.mbarrier.expect_tx %2, %5 {semantics = "relaxed", scope = "cta", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.mbarrier.expect_tx %2, %5 {semantics = "relaxed", scope = "cluster", space = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.mbarrier.complete_tx %2, %5 {semantics = "relaxed", scope = "cta", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  %12 = ptx.mbarrier.test_wait %2, %5 {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  %13 = ptx.mbarrier.test_wait %2, %8 {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b64> -> !ptx.reg<pred>
  %14 = ptx.mbarrier.try_wait %2, %5 hint(%6) {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  %15 = ptx.mbarrier.try_wait %2, %8 {semantics = "acquire", scope = "cluster", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b64> -> !ptx.reg<pred>
  ptx.mbarrier.wait %2, %5 {space = "shared::cta", offset = 16 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.mbarrier.wait %2, %8 {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b64>
  %16 = ptx.mbarrier.pending_count %8 : !ptx.reg<b64> -> !ptx.reg<b32>
  ptx.mbarrier.inval %2 : !ptx.reg<b32>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      mbarrier.init.shared::cta.b64 [%r0], 1;
// PTX-NEXT: @%p0 mbarrier.init.shared::cta.b64 [%r0+8], 64;
// PTX-NEXT: fence.mbarrier_init.release.cluster;
// PTX-NEXT: mbarrier.arrive.shared::cta.b64 %rd0, [%r0];
// PTX-NEXT: @%p0 mbarrier.arrive.shared::cta.b64 _, [%r0+8];
// PTX-NEXT: mbarrier.arrive.release.cluster.shared::cta.b64 _, [%r0], 64;
// PTX-NEXT: mbarrier.arrive.shared::cluster.b64 _, [%r0];
// PTX-NEXT: mbarrier.arrive_drop.shared::cta.b64 _, [%r0];
// PTX-NEXT: mbarrier.arrive.noComplete.shared::cta.b64 %rd1, [%r0], 64;
// PTX-NEXT: @!%p0 mbarrier.arrive.shared::cluster.b64 _, [%r0];
// PTX-NEXT: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], 16384;
// PTX-NEXT: @%p0 mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%r0], %r1;
// PTX-NEXT: mbarrier.arrive_drop.expect_tx.shared::cta.b64 %rd2, [%r0], %r1;
// PTX-NEXT: mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r0], %r1;
// PTX-NEXT: mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r0], %r1;
// PTX-NEXT: mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r0], %r1;
// PTX-NEXT: mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r0], %r1;
// PTX-NEXT: mbarrier.test_wait.shared::cta.b64 %p2, [%r0], %rd0;
// PTX-NEXT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r0], %r1, 64;
// PTX-NEXT: mbarrier.try_wait.acquire.cluster.shared::cta.b64 %p4, [%r0], %rd0;
// PTX-NEXT: $W1:
// PTX-NEXT: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r0+16], %r1;
// PTX-NEXT: @!%p5 bra $W1;
// PTX-NEXT: $W2:
// PTX-NEXT: mbarrier.try_wait.shared::cta.b64 %p6, [%r0], %rd0;
// PTX-NEXT: @!%p6 bra $W2;
// PTX-NEXT: mbarrier.pending_count.b64 %r2, %rd0;
// PTX-NEXT: mbarrier.inval.shared::cta.b64 [%r0];
// PTX-NEXT: ret;
