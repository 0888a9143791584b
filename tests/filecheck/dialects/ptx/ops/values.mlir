// Constants are literals, tuples are names: no instruction for any of them.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
  %3 = ptx.const {value = 1.000000e+00 : f32} -> !ptx.reg<f32>
  %4 = ptx.const {value = -1 : i64} -> !ptx.reg<b64>
  %5 = ptx.const {value = 5.000000e-01 : f64} -> !ptx.reg<f64>
  %6 = ptx.const {value = 1 : i64} -> !ptx.reg<pred>
  %7 = ptx.address {variable = @smem, offset = 64 : i64} -> !ptx.reg<b32>
  %8 = ptx.undef -> !ptx.reg<f32, 4>
  %9 = ptx.extract %8 {start = 0 : i64} : !ptx.reg<f32, 4> -> !ptx.reg<f32, 2>
  %10 = ptx.extract %8 {start = 2 : i64} : !ptx.reg<f32, 4> -> !ptx.reg<f32, 2>
  %11 = ptx.pack values(%10, %9) : !ptx.reg<f32, 2>, !ptx.reg<f32, 2> -> !ptx.reg<f32, 4>
  %12, %13 = ptx.unpack %11 : !ptx.reg<f32, 4> -> !ptx.reg<f32, 2>, !ptx.reg<f32, 2>
  ptx.st %7, %11 {type = "f32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<f32, 4>
  ptx.st %7, %13 {type = "f32", space = "shared", offset = 16 : i64} : !ptx.reg<b32>, !ptx.reg<f32, 2>
  %14 = ptx.pack values(%2, %2) : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32, 2>
  ptx.st %7, %14 {type = "b32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<b32, 2>
  %15 = ptx.mov %8 {type = "b32"} : !ptx.reg<f32, 4> -> !ptx.reg<b32, 4>
  %16 = ptx.mov %8 {type = "b32"} : !ptx.reg<f32, 4> -> !ptx.reg<b32, 4>
  %17 = ptx.join %16 : !ptx.reg<b32, 4> -> !ptx.reg<b64, 2>
  %18 = ptx.split %17 : !ptx.reg<b64, 2> -> !ptx.reg<b16, 8>
  %19 = ptx.mov %6 {type = "pred"} : !ptx.reg<pred> -> !ptx.reg<pred>
  %20 = ptx.add %5, %5 {type = "f64"} : !ptx.reg<f64>, !ptx.reg<f64> -> !ptx.reg<f64>
  %21 = ptx.add %4, %4 {type = "u64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
  %22 = ptx.add %3, %3 {type = "f32"} : !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32>
  %23 = ptx.selp %2, %2, %6 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<b32>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      mov.b32 %r0, smem+64;
// PTX-NEXT: st.shared.v4.f32 [%r0], {%f2, %f3, %f0, %f1};
// PTX-NEXT: st.shared.v2.f32 [%r0+16], {%f0, %f1};
// PTX-NEXT: st.shared.v2.b32 [%r0], {1, 1};
// PTX-NEXT: mov.b32 %r1, %f0;
// PTX-NEXT: mov.b32 %r2, %f1;
// PTX-NEXT: mov.b32 %r3, %f2;
// PTX-NEXT: mov.b32 %r4, %f3;
// PTX-NEXT: mov.b32 %r5, %f0;
// PTX-NEXT: mov.b32 %r6, %f1;
// PTX-NEXT: mov.b32 %r7, %f2;
// PTX-NEXT: mov.b32 %r8, %f3;
// PTX-NEXT: mov.b64 %rd0, {%r5, %r6};
// PTX-NEXT: mov.b64 %rd1, {%r7, %r8};
// PTX-NEXT: mov.b64 {%h0, %h1, %h2, %h3}, %rd0;
// PTX-NEXT: mov.b64 {%h4, %h5, %h6, %h7}, %rd1;
// PTX-NEXT: mov.pred %p0, 1;
// PTX-NEXT: add.f64 %fd0, 0d3FE0000000000000, 0d3FE0000000000000;
// PTX-NEXT: add.u64 %rd2, -1, -1;
// PTX-NEXT: add.f32 %f4, 0f3F800000, 0f3F800000;
// PTX-NEXT: selp.b32 %r9, 1, 1, 1;
// PTX-NEXT: ret;
