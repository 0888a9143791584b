// Products of a warpgroup are an instruction of sm_90a only.

// RUN: tileas-opt %s -p 'convert-tileas-to-cute-nvgpu{target=sm_100a}' --verify-diagnostics

#smem = #nv_tileas<space smem>

func.func @hopper() {
  %a = nv_tileas.alloc_tensor : tensor<64x64xf16, #smem>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'nv_tileas.dot' op atom 'wgmma_f16_f16_f32' needs sm_90a; sm_100a multiplies by tcgen05.mma}}
  %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #smem>, tensor<64x64xf16, #smem>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return
}
