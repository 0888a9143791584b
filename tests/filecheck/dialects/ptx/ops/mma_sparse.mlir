// Sparse products of a warp: A has two of each four elements, the metadata says which.  ptxas advises against
// the form without ordered metadata (tests/filecheck/backend/convert_cute_nvgpu_to_ptx_sparse.mlir).

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %1 = ptx.undef -> !ptx.reg<b32, 4>
  %2 = ptx.undef -> !ptx.reg<f32, 4>
  %3 = ptx.undef -> !ptx.reg<b32>
  %4 = ptx.mma.sp %1, %1, %2, %3 {shape = "m16n8k32", type = "f32", a_type = "f16", b_type = "f16", ordered} : !ptx.reg<b32, 4>, !ptx.reg<b32, 4>, !ptx.reg<f32, 4>, !ptx.reg<b32> -> !ptx.reg<f32, 4>
  ptx.ret
}

// PTX:      mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, {%f4, %f5, %f6, %f7}, %r4, 0;
// PTX-NEXT: ret;
