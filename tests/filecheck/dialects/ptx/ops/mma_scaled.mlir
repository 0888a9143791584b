// Products of a warp with block scales: one scale for 32 elements along K, of the threads that are said.

// RUN: tileas-opt %s -t 'ptx{arch=sm_120a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %1 = ptx.undef -> !ptx.reg<b32, 4>
  %2 = ptx.undef -> !ptx.reg<b32, 2>
  %3 = ptx.undef -> !ptx.reg<f32, 4>
  %4 = ptx.undef -> !ptx.reg<b32>
  %5 = ptx.mma.block_scale %1, %2, %3, %4, %4 {kind = "mxf8f6f4", scale_vector = "1X", a_type = "e4m3", b_type = "e5m2", thread_a = 0 : i64, thread_b = 1 : i64} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<f32, 4>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<f32, 4>
  ptx.ret
}

// PTX:      mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f4, %f5, %f6, %f7}, %r6, {0, 0}, %r6, {0, 1};
// PTX-NEXT: ret;
