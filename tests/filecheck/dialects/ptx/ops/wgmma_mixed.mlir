// Products of signed by unsigned bytes need PTX 8.4.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b64>
  %3 = ptx.undef -> !ptx.reg<pred>
  ptx.wgmma.fence
  %4 = ptx.undef -> !ptx.reg<b32, 4>
  %5 = ptx.wgmma %4, %2, %2, %3 {type = "s32", a_type = "s8", b_type = "u8"} : !ptx.reg<b32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<b32, 4>
  ptx.wgmma.commit_group
  %6 = ptx.wgmma.wait_group values(%5) {pending = 0 : i64} : !ptx.reg<b32, 4> -> !ptx.reg<b32, 4>
  %7 = ptx.undef -> !ptx.reg<b32>
  ptx.st %7, %6 {type = "b32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<b32, 4>
  ptx.ret
}

// PTX: .version 8.4
// PTX:      wgmma.fence.sync.aligned;
// PTX-NEXT: wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%r0, %r1, %r2, %r3}, %rd0, %rd0, %p0;
// PTX-NEXT: wgmma.commit_group.sync.aligned;
// PTX-NEXT: wgmma.wait_group.sync.aligned 0;
// PTX-NEXT: st.shared.v4.b32 [%r4], {%r0, %r1, %r2, %r3};
// PTX-NEXT: ret;
