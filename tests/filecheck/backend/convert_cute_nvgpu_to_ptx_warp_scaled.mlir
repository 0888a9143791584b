// Products of a warp with block scales (SM120 forms of the cute_nvgpu atoms): one instruction each; byte
// and thread of the scales are constants.

// RUN: tileas-opt %s -p 'convert-cute-nvgpu-to-ptx{arch=sm_120a}' -t 'ptx{arch=sm_120a}' | filecheck %s

func.func @scaled(%to: !cute.ptr<f32, gmem, align<16>>, %s: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "scalar 1"], tileas.tensor_maps = [], tileas.smem_map = ""} {
  %x = arith.constant dense<1> : vector<4xi32>
  %y = arith.constant dense<1> : vector<2xi32>
  %c = arith.constant dense<0.0> : vector<4xf32>
  %0 = cute_nvgpu.arch.mma.SM120.block_scaled %x, %y, %c scales %s of 1, %s of 3 shape [16, 8, 32] elements f8E4M3FN, f6E3M2FN scaled f8E8M0FNU by 32 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  %1 = cute_nvgpu.arch.mma.SM120.block_scaled %x, %y, %0 scales %s of 0, %s of 0 shape [16, 8, 64] elements f4E2M1FN, f4E2M1FN scaled f8E8M0FNU by 32 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  %2 = cute_nvgpu.arch.mma.SM120.block_scaled %x, %y, %1 scales %s of 0, %s of 2 shape [16, 8, 64] elements f4E2M1FN, f4E2M1FN scaled f8E4M3FN by 16 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  cute.ptr.store %2, %to : vector<4xf32>, !cute.ptr<f32, gmem, align<16>>
  func.return
}

// CHECK: .version 8.7
// CHECK: .target sm_120a
// CHECK: mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e3m2.f32.ue8m0 {{.*}}, [[S:%r[0-9]+]], {0, 1}, [[S]], {0, 3};
// CHECK: mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {{.*}}, [[S]], {0, 0}, [[S]], {0, 0};
// CHECK: mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {{.*}}, [[S]], {0, 0}, [[S]], {0, 2};
