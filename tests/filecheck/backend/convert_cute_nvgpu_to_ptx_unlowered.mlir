// Products of warps that are described only are refused where they are.

// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx --split-input-file --verify-diagnostics

func.func @scaled(%a: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, tileas.smem_bytes = 0 : i32, tileas.parameters = ["scalar 0"], tileas.tensor_maps = [], tileas.smem_map = ""} {
  %x = arith.constant dense<1> : vector<4xi32>
  %y = arith.constant dense<1> : vector<2xi32>
  %c = arith.constant dense<0.0> : vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM120.block_scaled' op is not lowered to PTX}}
  %0 = cute_nvgpu.arch.mma.SM120.block_scaled %x, %y, %c scales %a of 0, %a of 3 shape [16, 8, 64] elements f4E2M1FN, f4E2M1FN scaled f8E4M3FN by 16 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  func.return
}
