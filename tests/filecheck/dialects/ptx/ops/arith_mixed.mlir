// Sums and products of halves that are added to f32: one rounding, Blackwell and later.

// RUN: tileas-opt %s -t 'ptx{arch=sm_100a}' | filecheck %s --check-prefix PTX

ptx.entry @k() attributes {maxntid = array<i32: 128, 1, 1>} {
  %0 = ptx.undef -> !ptx.reg<b16, 2>
  %1 = ptx.undef -> !ptx.reg<f32, 2>
  %2 = ptx.add_mixed terms(%0, %1) {type = "f16"} : !ptx.reg<b16, 2>, !ptx.reg<f32, 2> -> !ptx.reg<f32, 2>
  %3 = ptx.fma_mixed terms(%0, %0, %2) {type = "bf16", rounding = "rn", sat} : !ptx.reg<b16, 2>, !ptx.reg<b16, 2>, !ptx.reg<f32, 2> -> !ptx.reg<f32, 2>
  ptx.ret
}
// PTX:      .version 8.6
// PTX:      add.f32.f16 %f0, %h0, %f2;
// PTX-NEXT: add.f32.f16 %f1, %h1, %f3;
// PTX-NEXT: fma.rn.sat.f32.bf16 %f4, %h0, %h0, %f0;
// PTX-NEXT: fma.rn.sat.f32.bf16 %f5, %h1, %h1, %f1;
