// Block scales by the length of a block need PTX 8.8.

// RUN: tileas-opt %s -t 'ptx{arch=sm_100a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<pred>
  %5 = ptx.undef -> !ptx.reg<b32>
  ptx.tcgen05.mma %2, %3, %3, %5, %4 scales(%2, %2) {kind = "mxf4nvf4", cta_group = 1 : i64, scale_vector = "block16"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tcgen05.mma %2, %3, %3, %5, %4 scales(%2, %2) {kind = "mxf8f6f4", cta_group = 1 : i64, scale_vector = "block32"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.ret
}

// PTX: .version 8.8
// PTX:      tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%r0], %rd0, %rd0, %r1, [%r0], [%r0], %p0;
// PTX-NEXT: tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r0], %rd0, %rd0, %r1, [%r0], [%r0], %p0;
// PTX-NEXT: ret;
