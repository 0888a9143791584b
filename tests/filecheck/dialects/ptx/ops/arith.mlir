// Arithmetic: one instruction per register of a tuple, single operands for all of it.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<f32>
  %5 = ptx.undef -> !ptx.reg<f64>
  %6 = ptx.undef -> !ptx.reg<b16>
  %7 = ptx.undef -> !ptx.reg<f32, 3>
  %8 = ptx.const {value = 5 : i64} -> !ptx.reg<b32>
  %9 = ptx.setp %2, %8 {comparison = "lt", type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  %10 = ptx.add %2, %8 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %11 = ptx.sub %2, %8 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %12 = ptx.const {value = 8 : i64} -> !ptx.reg<b64>
  %13 = ptx.add %3, %12 {type = "u64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
  %14 = ptx.mul %2, %8 {type = "u32", mode = "lo"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %15 = ptx.mul %2, %2 {type = "s32", mode = "hi"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %16 = ptx.mul %2, %8 {type = "u32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
  %17 = ptx.mad %2, %8, %2 {type = "u32", mode = "lo"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %18 = ptx.mad %2, %8, %3 {type = "s32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b64> -> !ptx.reg<b64>
  %19 = ptx.div %2, %8 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %20 = ptx.rem %2, %8 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %21 = ptx.min %2, %8 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %22 = ptx.max %2, %2 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %23 = ptx.abs %2 {type = "s32"} : !ptx.reg<b32> -> !ptx.reg<b32>
  %24 = ptx.neg %2 {type = "s32"} : !ptx.reg<b32> -> !ptx.reg<b32>
  %25 = ptx.and %2, %8 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %26 = ptx.or %3, %3 {type = "b64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
  %27 = ptx.xor %9, %9 {type = "pred"} : !ptx.reg<pred>, !ptx.reg<pred> -> !ptx.reg<pred>
  %28 = ptx.not %9 {type = "pred"} : !ptx.reg<pred> -> !ptx.reg<pred>
  %29 = ptx.shl %3, %8 {type = "b64"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b64>
  %30 = ptx.shr %2, %8 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %31 = ptx.bfe %2, %8, %8 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %32 = ptx.const {value = 21520 : i64} -> !ptx.reg<b32>
  %33 = ptx.prmt %2, %2, %32 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %34 = ptx.popc %3 {type = "b64"} : !ptx.reg<b64> -> !ptx.reg<b32>
  %35 = ptx.clz %2 {type = "b32"} : !ptx.reg<b32> -> !ptx.reg<b32>
  %36 = ptx.brev %2 {type = "b32"} : !ptx.reg<b32> -> !ptx.reg<b32>
  %37 = ptx.add %7, %4 {type = "f32"} : !ptx.reg<f32, 3>, !ptx.reg<f32> -> !ptx.reg<f32, 3>
  %38 = ptx.sub %7, %7 {type = "f32", rounding = "rn", ftz} : !ptx.reg<f32, 3>, !ptx.reg<f32, 3> -> !ptx.reg<f32, 3>
  %39 = ptx.const {value = 1.500000e+00 : f32} -> !ptx.reg<f32>
  %40 = ptx.mul %4, %39 {type = "f32", sat} : !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32>
  %41 = ptx.fma %7, %4, %7 {type = "f32", rounding = "rn"} : !ptx.reg<f32, 3>, !ptx.reg<f32>, !ptx.reg<f32, 3> -> !ptx.reg<f32, 3>
  %42 = ptx.div %4, %4 {type = "f32", rounding = "full", ftz} : !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32>
  %43 = ptx.div %5, %5 {type = "f64", rounding = "rn"} : !ptx.reg<f64>, !ptx.reg<f64> -> !ptx.reg<f64>
  %44 = ptx.sqrt %4 {type = "f32", rounding = "approx"} : !ptx.reg<f32> -> !ptx.reg<f32>
  %45 = ptx.rcp %4 {type = "f32", rounding = "rn"} : !ptx.reg<f32> -> !ptx.reg<f32>
  %46 = ptx.rsqrt %4 {type = "f32", rounding = "approx", ftz} : !ptx.reg<f32> -> !ptx.reg<f32>
  %47 = ptx.ex2 %7 {type = "f32", rounding = "approx", ftz} : !ptx.reg<f32, 3> -> !ptx.reg<f32, 3>
  %48 = ptx.lg2 %4 {type = "f32", rounding = "approx"} : !ptx.reg<f32> -> !ptx.reg<f32>
  %49 = ptx.sin %4 {type = "f32", rounding = "approx"} : !ptx.reg<f32> -> !ptx.reg<f32>
  %50 = ptx.cos %4 {type = "f32", rounding = "approx"} : !ptx.reg<f32> -> !ptx.reg<f32>
  %51 = ptx.tanh %4 {type = "f32", rounding = "approx"} : !ptx.reg<f32> -> !ptx.reg<f32>
  %52 = ptx.max %4, %4 {type = "f32", ftz, nan} : !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32>
  %53 = ptx.add %2, %2 {type = "bf16x2"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %54 = ptx.fma %2, %2, %2 {type = "f16x2", rounding = "rn", relu} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %55 = ptx.mul %6, %6 {type = "f16"} : !ptx.reg<b16>, !ptx.reg<b16> -> !ptx.reg<b16>
  %56 = ptx.min %2, %2 {type = "f16x2"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %57 = ptx.ex2 %2 {type = "bf16x2", rounding = "approx", ftz} : !ptx.reg<b32> -> !ptx.reg<b32>
  %58 = ptx.copysign %4, %51 {type = "f32"} : !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      setp.lt.u32 %p0, %r0, 5;
// PTX-NEXT: add.u32 %r1, %r0, 5;
// PTX-NEXT: sub.s32 %r2, %r0, 5;
// PTX-NEXT: add.u64 %rd0, %rd1, 8;
// PTX-NEXT: mul.lo.u32 %r3, %r0, 5;
// PTX-NEXT: mul.hi.s32 %r4, %r0, %r0;
// PTX-NEXT: mul.wide.u32 %rd2, %r0, 5;
// PTX-NEXT: mad.lo.u32 %r5, %r0, 5, %r0;
// PTX-NEXT: mad.wide.s32 %rd3, %r0, 5, %rd1;
// PTX-NEXT: div.u32 %r6, %r0, 5;
// PTX-NEXT: rem.s32 %r7, %r0, 5;
// PTX-NEXT: min.u32 %r8, %r0, 5;
// PTX-NEXT: max.s32 %r9, %r0, %r0;
// PTX-NEXT: abs.s32 %r10, %r0;
// PTX-NEXT: neg.s32 %r11, %r0;
// PTX-NEXT: and.b32 %r12, %r0, 5;
// PTX-NEXT: or.b64 %rd4, %rd1, %rd1;
// PTX-NEXT: xor.pred %p1, %p0, %p0;
// PTX-NEXT: not.pred %p2, %p0;
// PTX-NEXT: shl.b64 %rd5, %rd1, 5;
// PTX-NEXT: shr.s32 %r13, %r0, 5;
// PTX-NEXT: bfe.u32 %r14, %r0, 5, 5;
// PTX-NEXT: prmt.b32 %r15, %r0, %r0, 21520;
// PTX-NEXT: popc.b64 %r16, %rd1;
// PTX-NEXT: clz.b32 %r17, %r0;
// PTX-NEXT: brev.b32 %r18, %r0;
// PTX-NEXT: add.f32 %f0, %f3, %f6;
// PTX-NEXT: add.f32 %f1, %f4, %f6;
// PTX-NEXT: add.f32 %f2, %f5, %f6;
// PTX-NEXT: sub.rn.ftz.f32 %f7, %f3, %f3;
// PTX-NEXT: sub.rn.ftz.f32 %f8, %f4, %f4;
// PTX-NEXT: sub.rn.ftz.f32 %f9, %f5, %f5;
// PTX-NEXT: mul.sat.f32 %f10, %f6, 0f3FC00000;
// PTX-NEXT: fma.rn.f32 %f11, %f3, %f6, %f3;
// PTX-NEXT: fma.rn.f32 %f12, %f4, %f6, %f4;
// PTX-NEXT: fma.rn.f32 %f13, %f5, %f6, %f5;
// PTX-NEXT: div.full.ftz.f32 %f14, %f6, %f6;
// PTX-NEXT: div.rn.f64 %fd0, %fd1, %fd1;
// PTX-NEXT: sqrt.approx.f32 %f15, %f6;
// PTX-NEXT: rcp.rn.f32 %f16, %f6;
// PTX-NEXT: rsqrt.approx.ftz.f32 %f17, %f6;
// PTX-NEXT: ex2.approx.ftz.f32 %f18, %f3;
// PTX-NEXT: ex2.approx.ftz.f32 %f19, %f4;
// PTX-NEXT: ex2.approx.ftz.f32 %f20, %f5;
// PTX-NEXT: lg2.approx.f32 %f21, %f6;
// PTX-NEXT: sin.approx.f32 %f22, %f6;
// PTX-NEXT: cos.approx.f32 %f23, %f6;
// PTX-NEXT: tanh.approx.f32 %f24, %f6;
// PTX-NEXT: max.ftz.NaN.f32 %f25, %f6, %f6;
// PTX-NEXT: add.bf16x2 %r19, %r0, %r0;
// PTX-NEXT: fma.rn.relu.f16x2 %r20, %r0, %r0, %r0;
// PTX-NEXT: mul.f16 %h0, %h1, %h1;
// PTX-NEXT: min.f16x2 %r21, %r0, %r0;
// PTX-NEXT: ex2.approx.ftz.bf16x2 %r22, %r0;
// PTX-NEXT: copysign.f32 %f26, %f6, %f24;
// PTX-NEXT: ret;
