// Scales that tensor memory has for mxf4nvf4, but warps have not.

// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx --verify-diagnostics

func.func @scaled(%to: !cute.ptr<f32, gmem, align<16>>, %s: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "scalar 1"], tileas.tensor_maps = [], tileas.smem_map = ""} {
  %x = arith.constant dense<1> : vector<4xi32>
  %y = arith.constant dense<1> : vector<2xi32>
  %c = arith.constant dense<0.0> : vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM120.block_scaled' op has scales of ue4m3 for mxf4nvf4 by 4X, not of f8E8M0FNU}}
  %0 = cute_nvgpu.arch.mma.SM120.block_scaled %x, %y, %c scales %s of 0, %s of 0 shape [16, 8, 64] elements f4E2M1FN, f4E2M1FN scaled f8E8M0FNU by 16 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  func.return
}
