// A pair of blocks.

// RUN: tileas-opt %s -t 'ptx{arch=sm_100a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b32>
  %4 = ptx.undef -> !ptx.reg<b64>
  %5 = ptx.undef -> !ptx.reg<pred>
  %6 = ptx.undef -> !ptx.reg<b32>
  %7 = ptx.const {value = 256 : i64} -> !ptx.reg<b32>
  ptx.tcgen05.alloc %2, %7 {cta_group = 2 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  %8 = ptx.undef -> !ptx.reg<b32, 8>
  ptx.tcgen05.mma %3, %4, %4, %6, %5 disabled_lanes(%8) {kind = "f16", cta_group = 2 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32, 8>
  %9 = ptx.const {value = 3 : i64} -> !ptx.reg<b16>
  ptx.tcgen05.commit %2 multicast(%9) {cta_group = 2 : i64} : !ptx.reg<b32>, !ptx.reg<b16>
  ptx.tcgen05.cp %3, %4 {shape = "128x128b", cta_group = 2 : i64} : !ptx.reg<b32>, !ptx.reg<b64>
  ptx.tcgen05.dealloc %3, %7 {cta_group = 2 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tcgen05.relinquish_alloc_permit {cta_group = 2 : i64}
  ptx.ret
}

// PTX: .version 8.6
// PTX:      tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r0], 256;
// PTX-NEXT: tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd0, %rd0, %r2, {%r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10}, %p0;
// PTX-NEXT: mov.b16 %h0, 3;
// PTX-NEXT: tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r0], %h0;
// PTX-NEXT: tcgen05.cp.cta_group::2.128x128b [%r1], %rd0;
// PTX-NEXT: tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r1, 256;
// PTX-NEXT: tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
// PTX-NEXT: ret;
