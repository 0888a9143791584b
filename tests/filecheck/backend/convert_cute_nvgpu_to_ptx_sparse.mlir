// Sparse products of a warp (SM80 forms of the cute_nvgpu atoms): one instruction each, with the metadata of a
// thread of each four.

// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tileas-opt %s -p 'convert-cute-nvgpu-to-ptx{arch=sm_90a}' -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

func.func @sparse(%to: !cute.ptr<f32, gmem, align<16>>, %e: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "scalar 1"], tileas.tensor_maps = [], tileas.smem_map = ""} {
  %h = arith.constant dense<1.0> : vector<8xf16>
  %c = arith.constant dense<0.0> : vector<4xf32>
  // CHECK: ptx.mma.sp {{.*}}shape = "m16n8k32"{{.*}}selector = 1 : i64
  // PTX: mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {{.*}}, %r{{[0-9]+}}, 1;
  %0 = cute_nvgpu.arch.mma.SM80.sparse %h, %h, %c metadata %e of 1 shape [16, 8, 32] elements "f16", "f16" : vector<8xf16>, vector<8xf16>, vector<4xf32> -> vector<4xf32>
  // PTX: mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {{.*}}, 0;
  %1 = cute_nvgpu.arch.mma.SM80.sparse %h, %h, %0 metadata %e of 0 ordered shape [16, 8, 32] elements "f16", "f16" : vector<8xf16>, vector<8xf16>, vector<4xf32> -> vector<4xf32>
  cute.ptr.store %1, %to : vector<4xf32>, !cute.ptr<f32, gmem, align<16>>
  func.return
}
