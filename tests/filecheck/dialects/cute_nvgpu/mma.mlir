// Products of matrices in the registers of a warp.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx{arch=sm_90a} -t ptx | filecheck %s --check-prefix=PTX

func.func @products(%p: !cute.ptr<f32, gmem, align<16>>, %q: !cute.ptr<i32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 32>, "tileas.smem_bytes" = 0 : i32} {
  %a = arith.constant dense<1.0> : vector<8xf16>
  %b = arith.constant dense<1.0> : vector<4xf16>
  %c = arith.constant dense<0.0> : vector<4xf32>
  %d = cute_nvgpu.arch.mma.SM80 %a, %b, %c shape [16, 8, 16] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
  cute.ptr.store %d, %p : vector<4xf32>, !cute.ptr<f32, gmem, align<16>>
  %e = arith.constant dense<1> : vector<16xi8>
  %f = arith.constant dense<1> : vector<8xi8>
  %g = arith.constant dense<0> : vector<4xi32>
  %h = cute_nvgpu.arch.mma.SM80 %e, %f, %g shape [16, 8, 32] elements "s8", "u8" : vector<16xi8>, vector<8xi8>, vector<4xi32> -> vector<4xi32>
  cute.ptr.store %h, %q : vector<4xi32>, !cute.ptr<i32, gmem, align<16>>
  // Registers of f32 are read as tf32.
  %i = arith.constant dense<1.0> : vector<2xf32>
  %j = cute_nvgpu.arch.mma.SM80 %d, %i, %d shape [16, 8, 8] elements "tf32", "tf32" : vector<4xf32>, vector<2xf32>, vector<4xf32> -> vector<4xf32>
  cute.ptr.store %j, %p : vector<4xf32>, !cute.ptr<f32, gmem, align<16>>
  func.return
}

// CHECK: %d = cute_nvgpu.arch.mma.SM80 %a, %b, %c shape [16, 8, 16] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
// CHECK: %h = cute_nvgpu.arch.mma.SM80 %e, %f, %g shape [16, 8, 32] elements "s8", "u8" : vector<16xi8>, vector<8xi8>, vector<4xi32> -> vector<4xi32>
// CHECK: %j = cute_nvgpu.arch.mma.SM80 %d, %i, %d shape [16, 8, 8] elements "tf32", "tf32" : vector<4xf32>, vector<2xf32>, vector<4xf32> -> vector<4xf32>

// PTX: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX: mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32
// PTX: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
