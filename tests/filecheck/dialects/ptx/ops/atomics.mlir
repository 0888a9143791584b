// Atomic updates: with a result, without one, of packed halves, of vectors.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b64>
  %3 = ptx.undef -> !ptx.reg<b32>
  %4 = ptx.undef -> !ptx.reg<b32>
  %5 = ptx.undef -> !ptx.reg<b64>
  %6 = ptx.undef -> !ptx.reg<pred>
  %7 = ptx.undef -> !ptx.reg<f32, 4>
  %8 = ptx.atom %2, %4 {operation = "add", type = "u32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b32>
  %9 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  %10 = ptx.atom %3, %4 compare(%9) {operation = "cas", type = "b32", space = "shared", offset = 4 : i64} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %11 = ptx.atom %2, %5 {operation = "exch", type = "b64", space = "global", semantics = "acq_rel", scope = "gpu"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
  %12 = ptx.atom %2, %4 {operation = "add", type = "bf16x2", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b32>
  %13 = ptx.atom %3, %4 {operation = "inc", type = "u32", space = "shared::cluster", semantics = "relaxed", scope = "cluster"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %14 = ptx.extract %7 {start = 0 : i64} : !ptx.reg<f32, 4> -> !ptx.reg<f32>
  ptx.red %2, %14 guard(%6) {operation = "add", type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>, !ptx.reg<pred>
  ptx.red %2, %7 {operation = "add", type = "f32", space = "global", semantics = "relaxed", scope = "gpu"} : !ptx.reg<b64>, !ptx.reg<f32, 4>
  ptx.red %2, %4 {operation = "max", type = "s32", space = "global", semantics = "release", scope = "sys", offset = 8 : i64} : !ptx.reg<b64>, !ptx.reg<b32>
  %15 = ptx.undef -> !ptx.reg<b32, 2>
  ptx.red %2, %15 {operation = "min", type = "f16x2", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32, 2>
  ptx.ret
}

// PTX: .version 8.1
// PTX:      atom.global.add.u32 %r1, [%rd0], %r0;
// PTX-NEXT: atom.shared.cas.b32 %r3, [%r2+4], 0, %r0;
// PTX-NEXT: atom.acq_rel.gpu.global.exch.b64 %rd2, [%rd0], %rd1;
// PTX-NEXT: atom.global.add.noftz.bf16x2 %r4, [%rd0], %r0;
// PTX-NEXT: atom.relaxed.cluster.shared::cluster.inc.u32 %r5, [%r2], %r0;
// PTX-NEXT: @%p0 red.global.add.f32 [%rd0], %f0;
// PTX-NEXT: red.relaxed.gpu.global.add.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};
// PTX-NEXT: red.release.sys.global.max.s32 [%rd0+8], %r0;
// PTX-NEXT: red.global.min.noftz.v2.f16x2 [%rd0], {%r6, %r7};
// PTX-NEXT: ret;
