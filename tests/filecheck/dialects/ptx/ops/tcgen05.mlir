// Tensor memory and products of Blackwell.

// RUN: tileas-opt %s -t 'ptx{arch=sm_100a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b32>
  %4 = ptx.undef -> !ptx.reg<b64>
  %5 = ptx.undef -> !ptx.reg<pred>
  %6 = ptx.undef -> !ptx.reg<b32>
  %7 = ptx.const {value = 3 : i64} -> !ptx.reg<b16>
  %8 = ptx.const {value = 128 : i64} -> !ptx.reg<b32>
  ptx.tcgen05.alloc %2, %8 {cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tcgen05.alloc %2, %8 {cta_group = 1 : i64, offset = 16 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tcgen05.relinquish_alloc_permit {cta_group = 1 : i64}
  %9 = ptx.tcgen05.ld %3 {shape = "32x32b", repeat = 4 : i64} : !ptx.reg<b32> -> !ptx.reg<b32, 4>
  %10 = ptx.tcgen05.ld %3 {shape = "16x256b", repeat = 1 : i64, offset = 32 : i64} : !ptx.reg<b32> -> !ptx.reg<b32, 4>
  %11 = ptx.tcgen05.ld %3 {shape = "16x32bx2", repeat = 2 : i64, half_split = 8 : i64} : !ptx.reg<b32> -> !ptx.reg<b32, 2>
  %12 = ptx.tcgen05.ld %3 {shape = "32x32b", repeat = 2 : i64, pack} : !ptx.reg<b32> -> !ptx.reg<b32, 2>
  %13, %14, %15, %16 = ptx.tcgen05.wait values(%9, %10, %11, %12) {access = "ld"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<b32, 2> -> !ptx.reg<b32, 4>, !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<b32, 2>
  ptx.tcgen05.st %3, %13 {shape = "32x32b"} : !ptx.reg<b32>, !ptx.reg<b32, 4>
  ptx.tcgen05.st %3, %13 {shape = "16x128b", unpack} : !ptx.reg<b32>, !ptx.reg<b32, 4>
  ptx.tcgen05.st %3, %15 {shape = "16x32bx2", half_split = 4 : i64} : !ptx.reg<b32>, !ptx.reg<b32, 2>
  ptx.tcgen05.wait {access = "st"}
  ptx.tcgen05.fence {side = "before"}
  ptx.tcgen05.fence {side = "after"}
  ptx.tcgen05.commit %2 {cta_group = 1 : i64} : !ptx.reg<b32>
  ptx.tcgen05.commit %2 multicast(%7) guard(%5) {cta_group = 1 : i64, offset = 8 : i64} : !ptx.reg<b32>, !ptx.reg<b16>, !ptx.reg<pred>
  ptx.tcgen05.cp %3, %4 {shape = "128x256b", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>
  ptx.tcgen05.cp %3, %4 {shape = "64x128b", multicast = "warpx2::02_13", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>
  ptx.tcgen05.cp %3, %4 guard(%5) {shape = "32x128b", multicast = "warpx4", source_format = "b6x16_p32", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<pred>
  ptx.tcgen05.shift %3 {cta_group = 1 : i64} : !ptx.reg<b32>
  ptx.tcgen05.mma %3, %4, %4, %6, %5 {kind = "f16", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  %17 = ptx.const {value = 1 : i64} -> !ptx.reg<pred>
  %18 = ptx.undef -> !ptx.reg<b32, 4>
  ptx.tcgen05.mma %3, %3, %4, %6, %17 disabled_lanes(%18) guard(%5) {kind = "tf32", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32, 4>, !ptx.reg<pred>
  ptx.tcgen05.mma %3, %4, %4, %6, %5 {kind = "f16", cta_group = 1 : i64, scale_d = 2 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  ptx.tcgen05.mma %3, %4, %4, %6, %5 {kind = "i8", cta_group = 1 : i64, collector = "lastuse"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  ptx.tcgen05.mma %3, %4, %4, %6, %5 {kind = "f8f6f4", cta_group = 1 : i64, weights} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  ptx.tcgen05.mma %3, %4, %4, %6, %5 scales(%3, %3) {kind = "mxf8f6f4", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tcgen05.mma %3, %4, %4, %6, %5 scales(%3, %3) {kind = "mxf4", cta_group = 1 : i64, scale_vector = "2X"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tcgen05.mma %3, %3, %4, %6, %5 {kind = "f16", cta_group = 1 : i64, ashift} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  ptx.tcgen05.dealloc %3, %8 {cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.ret
}

// PTX: .version 8.6
// PTX:      tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 128;
// PTX-NEXT: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0+16], 128;
// PTX-NEXT: tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
// PTX-NEXT: tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r1, %r2, %r3, %r4}, [%r5];
// PTX-NEXT: tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r6, %r7, %r8, %r9}, [%r5+32];
// PTX-NEXT: tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r10, %r11}, [%r5], 8;
// PTX-NEXT: tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%r12, %r13}, [%r5];
// PTX-NEXT: tcgen05.wait::ld.sync.aligned;
// PTX-NEXT: tcgen05.st.sync.aligned.32x32b.x4.b32 [%r5], {%r1, %r2, %r3, %r4};
// PTX-NEXT: tcgen05.st.sync.aligned.16x128b.x2.unpack::16b.b32 [%r5], {%r1, %r2, %r3, %r4};
// PTX-NEXT: tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%r5], 4, {%r10, %r11};
// PTX-NEXT: tcgen05.wait::st.sync.aligned;
// PTX-NEXT: tcgen05.fence::before_thread_sync;
// PTX-NEXT: tcgen05.fence::after_thread_sync;
// PTX-NEXT: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r0];
// PTX-NEXT: mov.b16 %h0, 3;
// PTX-NEXT: @%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r0+8], %h0;
// PTX-NEXT: tcgen05.cp.cta_group::1.128x256b [%r5], %rd0;
// PTX-NEXT: tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%r5], %rd0;
// PTX-NEXT: @%p0 tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16.b6x16_p32 [%r5], %rd0;
// PTX-NEXT: tcgen05.shift.cta_group::1.down [%r5];
// PTX-NEXT: tcgen05.mma.cta_group::1.kind::f16 [%r5], %rd0, %rd0, %r14, %p0;
// PTX-NEXT: mov.pred %p1, 1;
// PTX-NEXT: @%p0 tcgen05.mma.cta_group::1.kind::tf32 [%r5], [%r5], %rd0, %r14, {%r15, %r16, %r17, %r18}, %p1;
// PTX-NEXT: tcgen05.mma.cta_group::1.kind::f16 [%r5], %rd0, %rd0, %r14, %p0, 2;
// PTX-NEXT: tcgen05.mma.cta_group::1.kind::i8.collector::a::lastuse [%r5], %rd0, %rd0, %r14, %p0;
// PTX-NEXT: tcgen05.mma.ws.cta_group::1.kind::f8f6f4 [%r5], %rd0, %rd0, %r14, %p0;
// PTX-NEXT: tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r5], %rd0, %rd0, %r14, [%r5], [%r5], %p0;
// PTX-NEXT: tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%r5], %rd0, %rd0, %r14, [%r5], [%r5], %p0;
// PTX-NEXT: tcgen05.mma.cta_group::1.kind::f16.ashift [%r5], [%r5], %rd0, %r14, %p0;
// PTX-NEXT: tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 128;
// PTX-NEXT: ret;
