// Pairs of floats: only some targets have them, and PTX 8.6.

// RUN: tileas-opt %s -t 'ptx{arch=sm_100a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b64>
  %3 = ptx.add %2, %2 {type = "f32x2", rounding = "rn"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
  %4 = ptx.fma %2, %2, %2 {type = "f32x2", rounding = "rn", ftz} : !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
  %5 = ptx.undef -> !ptx.reg<f32>
  %6 = ptx.const {value = -1 : i64} -> !ptx.reg<b32>
  %7 = ptx.redux %5, %6 {operation = "max", type = "f32"} : !ptx.reg<f32>, !ptx.reg<b32> -> !ptx.reg<f32>
  ptx.ret
}

// PTX: .version 8.6
// PTX:      add.rn.f32x2 %rd0, %rd1, %rd1;
// PTX-NEXT: fma.rn.ftz.f32x2 %rd2, %rd1, %rd1, %rd1;
// PTX-NEXT: redux.sync.max.f32 %f0, %f1, -1;
// PTX-NEXT: ret;
