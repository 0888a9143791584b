// Products of a warpgroup: accumulators stay in their registers, up to the wait.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b64>
  %3 = ptx.undef -> !ptx.reg<pred>
  %4 = ptx.const {value = 1 : i64} -> !ptx.reg<pred>
  ptx.wgmma.fence
  %5 = ptx.undef -> !ptx.reg<f32, 4>
  %6 = ptx.wgmma %5, %2, %2, %3 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  %7 = ptx.wgmma %6, %2, %2, %3 {type = "f32", a_type = "f16", b_type = "f16", negate_b, trans_a, trans_b} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  %8 = ptx.undef -> !ptx.reg<b32, 4>
  %9 = ptx.wgmma %8, %2, %2, %3 {type = "f16", a_type = "f16", b_type = "f16"} : !ptx.reg<b32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<b32, 4>
  %10 = ptx.undef -> !ptx.reg<f32, 4>
  %11 = ptx.undef -> !ptx.reg<b32, 4>
  %12 = ptx.wgmma %10, %11, %2, %3 {type = "f32", a_type = "bf16", b_type = "bf16", trans_b} : !ptx.reg<f32, 4>, !ptx.reg<b32, 4>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  %13 = ptx.undef -> !ptx.reg<f32, 8>
  %14 = ptx.wgmma %13, %2, %2, %3 {type = "f32", a_type = "tf32", b_type = "tf32", negate_a} : !ptx.reg<f32, 8>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 8>
  %15 = ptx.undef -> !ptx.reg<f32, 4>
  %16 = ptx.wgmma %15, %2, %2, %3 {type = "f32", a_type = "e4m3", b_type = "e5m2"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  %17 = ptx.undef -> !ptx.reg<b32, 4>
  %18 = ptx.wgmma %17, %2, %2, %3 {type = "s32", a_type = "s8", b_type = "s8", saturate} : !ptx.reg<b32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<b32, 4>
  ptx.wgmma.commit_group
  %19, %20, %21, %22, %23, %24 = ptx.wgmma.wait_group values(%7, %9, %12, %14, %16, %18) {pending = 0 : i64} : !ptx.reg<f32, 4>, !ptx.reg<b32, 4>, !ptx.reg<f32, 4>, !ptx.reg<f32, 8>, !ptx.reg<f32, 4>, !ptx.reg<b32, 4> -> !ptx.reg<f32, 4>, !ptx.reg<b32, 4>, !ptx.reg<f32, 4>, !ptx.reg<f32, 8>, !ptx.reg<f32, 4>, !ptx.reg<b32, 4>
  %25 = ptx.undef -> !ptx.reg<b32>
  ptx.st %25, %19 {type = "b32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<f32, 4>
  ptx.st %25, %20 {type = "b32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<b32, 4>
  ptx.st %25, %21 {type = "b32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<f32, 4>
  ptx.st %25, %22 {type = "b32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<f32, 8>
  ptx.st %25, %23 {type = "b32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<f32, 4>
  ptx.st %25, %24 {type = "b32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<b32, 4>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      wgmma.fence.sync.aligned;
// PTX-NEXT: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd0, %rd0, %p0, 1, 1, 0, 0;
// PTX-NEXT: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd0, %p0, 1, -1, 1, 1;
// PTX-NEXT: wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%r0, %r1, %r2, %r3}, %rd0, %rd0, %p0, 1, 1, 0, 0;
// PTX-NEXT: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f4, %f5, %f6, %f7}, {%r4, %r5, %r6, %r7}, %rd0, %p0, 1, 1, 1;
// PTX-NEXT: wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 {%f8, %f9, %f10, %f11, %f12, %f13, %f14, %f15}, %rd0, %rd0, %p0, -1, 1;
// PTX-NEXT: wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%f16, %f17, %f18, %f19}, %rd0, %rd0, %p0, 1, 1;
// PTX-NEXT: wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.s8 {%r8, %r9, %r10, %r11}, %rd0, %rd0, %p0;
// PTX-NEXT: wgmma.commit_group.sync.aligned;
// PTX-NEXT: wgmma.wait_group.sync.aligned 0;
// PTX-NEXT: st.shared.v4.b32 [%r12], {%f0, %f1, %f2, %f3};
// PTX-NEXT: st.shared.v4.b32 [%r12], {%r0, %r1, %r2, %r3};
// PTX-NEXT: st.shared.v4.b32 [%r12], {%f4, %f5, %f6, %f7};
// PTX-NEXT: st.shared.v4.b32 [%r12], {%f8, %f9, %f10, %f11};
// PTX-NEXT: st.shared.v4.b32 [%r12+16], {%f12, %f13, %f14, %f15};
// PTX-NEXT: st.shared.v4.b32 [%r12], {%f16, %f17, %f18, %f19};
// PTX-NEXT: st.shared.v4.b32 [%r12], {%r8, %r9, %r10, %r11};
// PTX-NEXT: ret;
