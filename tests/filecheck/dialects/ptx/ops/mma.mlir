// Products of a warp.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32, 4>
  %3 = ptx.undef -> !ptx.reg<b32, 2>
  %4 = ptx.undef -> !ptx.reg<f32, 4>
  %5 = ptx.mma %2, %3, %4 {shape = "m16n8k16", type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  %6 = ptx.undef -> !ptx.reg<b32, 2>
  %7 = ptx.mma %2, %3, %6 {shape = "m16n8k16", type = "f16", a_type = "f16", b_type = "f16"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<b32, 2> -> !ptx.reg<b32, 2>
  %8 = ptx.mma %2, %3, %4 {shape = "m16n8k8", type = "f32", a_type = "tf32", b_type = "tf32"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  %9 = ptx.undef -> !ptx.reg<b32, 4>
  %10 = ptx.mma %2, %3, %9 {shape = "m16n8k32", type = "s32", a_type = "s8", b_type = "u8", saturate} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<b32, 4> -> !ptx.reg<b32, 4>
  %11 = ptx.undef -> !ptx.reg<f64>
  %12 = ptx.undef -> !ptx.reg<f64>
  %13 = ptx.undef -> !ptx.reg<f64, 2>
  %14 = ptx.mma %11, %12, %13 {shape = "m8n8k4", type = "f64", a_type = "f64", b_type = "f64"} : !ptx.reg<f64>, !ptx.reg<f64>, !ptx.reg<f64, 2> -> !ptx.reg<f64, 2>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f4, %f5, %f6, %f7};
// PTX-NEXT: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r6, %r7}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r8, %r9};
// PTX-NEXT: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f8, %f9, %f10, %f11}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f4, %f5, %f6, %f7};
// PTX-NEXT: mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%r10, %r11, %r12, %r13}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r14, %r15, %r16, %r17};
// PTX-NEXT: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd0, %fd1}, {%fd2}, {%fd3}, {%fd4, %fd5};
// PTX-NEXT: ret;
