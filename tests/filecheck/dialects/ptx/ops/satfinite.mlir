// Halves that saturate need PTX 8.1: the version is that of all instructions.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<f32, 2>
  %3 = ptx.cvt_pack %2 {to = "f16x2", rounding = "rn", saturation = "satfinite"} : !ptx.reg<f32, 2> -> !ptx.reg<b32>
  ptx.ret
}

// PTX: .version 8.1
// PTX:      cvt.rn.satfinite.f16x2.f32 %r0, %f1, %f0;
// PTX-NEXT: ret;
