// Products of a warp of floats of 8, 6 and 4 bits, each in a byte of its register (sm_120a).  Two of
// 8 bits need no kind, and print none.

// RUN: tileas-opt %s -t 'ptx{arch=sm_120a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>) attributes {maxntid = array<i32: 32, 1, 1>} {
  %1 = ptx.undef -> !ptx.reg<b32, 4>
  %2 = ptx.undef -> !ptx.reg<b32, 2>
  %3 = ptx.undef -> !ptx.reg<f32, 4>
  %4 = ptx.undef -> !ptx.reg<b32>
  %5 = ptx.mma %1, %2, %3 {shape = "m16n8k32", type = "f32", a_type = "e4m3", b_type = "e2m1"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  %6 = ptx.mma %1, %2, %3 {shape = "m16n8k32", type = "f32", a_type = "e4m3", b_type = "e5m2"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  %7 = ptx.mma.sp %1, %1, %3, %4 {shape = "m16n8k64", type = "f32", a_type = "e3m2", b_type = "e2m3", ordered} : !ptx.reg<b32, 4>, !ptx.reg<b32, 4>, !ptx.reg<f32, 4>, !ptx.reg<b32> -> !ptx.reg<f32, 4>
  ptx.ret
}

// PTX:      .version 8.7
// PTX:      mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32
// PTX-NEXT: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// PTX-NEXT: mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32
// PTX-NEXT: ret;
