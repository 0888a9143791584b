// Comparisons, selections, conversions; neighbours packed into pairs.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<f32>
  %5 = ptx.undef -> !ptx.reg<b16>
  %6 = ptx.undef -> !ptx.reg<f32, 4>
  %7 = ptx.const {value = 0.000000e+00 : f32} -> !ptx.reg<f32>
  %8 = ptx.setp %6, %7 {comparison = "gtu", type = "f32", ftz} : !ptx.reg<f32, 4>, !ptx.reg<f32> -> !ptx.reg<pred, 4>
  %9 = ptx.extract %8 {start = 1 : i64} : !ptx.reg<pred, 4> -> !ptx.reg<pred>
  %10 = ptx.const {value = 3 : i64} -> !ptx.reg<b32>
  %11 = ptx.setp %2, %10 other(%9) {comparison = "lt", type = "u32", combine = "and"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<pred>
  %12 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  %13 = ptx.selp %2, %12, %9 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<b32>
  %14 = ptx.selp %6, %4, %8 {type = "f32"} : !ptx.reg<f32, 4>, !ptx.reg<f32>, !ptx.reg<pred, 4> -> !ptx.reg<f32, 4>
  %15 = ptx.cvt %2 {to = "u64", source = "u32"} : !ptx.reg<b32> -> !ptx.reg<b64>
  %16 = ptx.cvt %3 {to = "u32", source = "u64"} : !ptx.reg<b64> -> !ptx.reg<b32>
  %17 = ptx.cvt %2 {to = "f32", source = "s32", rounding = "rn"} : !ptx.reg<b32> -> !ptx.reg<f32>
  %18 = ptx.cvt %4 {to = "s32", source = "f32", rounding = "rzi", ftz} : !ptx.reg<f32> -> !ptx.reg<b32>
  %19 = ptx.cvt %4 {to = "f16", source = "f32", rounding = "rn"} : !ptx.reg<f32> -> !ptx.reg<b16>
  %20 = ptx.cvt %5 {to = "f32", source = "f16"} : !ptx.reg<b16> -> !ptx.reg<f32>
  %21 = ptx.cvt %5 {to = "f32", source = "bf16"} : !ptx.reg<b16> -> !ptx.reg<f32>
  %22 = ptx.cvt %4 {to = "tf32", source = "f32", rounding = "rna"} : !ptx.reg<f32> -> !ptx.reg<b32>
  %23 = ptx.cvt %2 {to = "u8", source = "u32", saturation = "sat"} : !ptx.reg<b32> -> !ptx.reg<b16>
  %24 = ptx.cvt %2 {to = "e4m3x2", source = "f16x2", rounding = "rn", saturation = "satfinite"} : !ptx.reg<b32> -> !ptx.reg<b16>
  %25 = ptx.cvt %5 {to = "f16x2", source = "e5m2x2", rounding = "rn"} : !ptx.reg<b16> -> !ptx.reg<b32>
  %26 = ptx.cvt_pack %6 {to = "f16x2", rounding = "rn"} : !ptx.reg<f32, 4> -> !ptx.reg<b32, 2>
  %27 = ptx.cvt_pack %6 {to = "bf16x2", rounding = "rn", relu} : !ptx.reg<f32, 4> -> !ptx.reg<b32, 2>
  %28 = ptx.cvt_pack %6 {to = "e4m3x2", rounding = "rn", saturation = "satfinite"} : !ptx.reg<f32, 4> -> !ptx.reg<b16, 2>
  %29 = ptx.cvt %4 {to = "f32", source = "f32", rounding = "rni"} : !ptx.reg<f32> -> !ptx.reg<f32>
  %30 = ptx.cvt %4 {to = "bf16", source = "f32", rounding = "rz", relu} : !ptx.reg<f32> -> !ptx.reg<b16>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      setp.gtu.ftz.f32 %p0, %f0, 0f00000000;
// PTX-NEXT: setp.gtu.ftz.f32 %p1, %f1, 0f00000000;
// PTX-NEXT: setp.gtu.ftz.f32 %p2, %f2, 0f00000000;
// PTX-NEXT: setp.gtu.ftz.f32 %p3, %f3, 0f00000000;
// PTX-NEXT: setp.lt.and.u32 %p4, %r0, 3, %p1;
// PTX-NEXT: selp.b32 %r1, %r0, 0, %p1;
// PTX-NEXT: selp.f32 %f4, %f0, %f8, %p0;
// PTX-NEXT: selp.f32 %f5, %f1, %f8, %p1;
// PTX-NEXT: selp.f32 %f6, %f2, %f8, %p2;
// PTX-NEXT: selp.f32 %f7, %f3, %f8, %p3;
// PTX-NEXT: cvt.u64.u32 %rd0, %r0;
// PTX-NEXT: cvt.u32.u64 %r2, %rd1;
// PTX-NEXT: cvt.rn.f32.s32 %f9, %r0;
// PTX-NEXT: cvt.rzi.ftz.s32.f32 %r3, %f8;
// PTX-NEXT: cvt.rn.f16.f32 %h0, %f8;
// PTX-NEXT: cvt.f32.f16 %f10, %h1;
// PTX-NEXT: cvt.f32.bf16 %f11, %h1;
// PTX-NEXT: cvt.rna.tf32.f32 %r4, %f8;
// PTX-NEXT: cvt.sat.u8.u32 %h2, %r0;
// PTX-NEXT: cvt.rn.satfinite.e4m3x2.f16x2 %h3, %r0;
// PTX-NEXT: cvt.rn.f16x2.e5m2x2 %r5, %h1;
// PTX-NEXT: cvt.rn.f16x2.f32 %r6, %f1, %f0;
// PTX-NEXT: cvt.rn.f16x2.f32 %r7, %f3, %f2;
// PTX-NEXT: cvt.rn.relu.bf16x2.f32 %r8, %f1, %f0;
// PTX-NEXT: cvt.rn.relu.bf16x2.f32 %r9, %f3, %f2;
// PTX-NEXT: cvt.rn.satfinite.e4m3x2.f32 %h4, %f1, %f0;
// PTX-NEXT: cvt.rn.satfinite.e4m3x2.f32 %h5, %f3, %f2;
// PTX-NEXT: cvt.rni.f32.f32 %f12, %f8;
// PTX-NEXT: cvt.rz.relu.bf16.f32 %h6, %f8;
// PTX-NEXT: ret;
