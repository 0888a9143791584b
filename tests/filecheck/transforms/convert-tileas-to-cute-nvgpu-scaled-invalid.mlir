// Tensor cores before sm_100a scale no blocks, and nothing but TMA moves elements of four bits.

// RUN: tileas-opt %s -p 'convert-tileas-to-cute-nvgpu{target=sm_90a}' --split-input-file --verify-diagnostics

#smem = #nv_tileas<space smem>
!a = tensor<128x128xf8E4M3FN, #smem>
!b = tensor<128x128xf8E4M3FN, #nv_tileas.shared<(128,128),(1,128)>>
!t = tensor<1x1x2x256xf8E8M0FNU, #smem>
!sfa = tensor<128x4xf8E8M0FNU, #nv_tileas.shared<((32,4),4),((16,4),1)>>
!sfb = tensor<4x128xf8E8M0FNU, #nv_tileas.shared<(4,(32,4)),(1,(16,4))>>
!sum = tensor<128x128xf32, #nv_tileas.linear<"(128,128):(1@lane,1@column)">>
!rows = tensor<128x128xf32, #nv_tileas.linear<"(128,128):(1@thread,1@value)">>
!window = !nv_tileas.tiled_view<128x128xf32, gmem>

func.func @mxf8(%c: memref<128x128xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %nothing = arith.constant dense<0.0> : !sum
  %x = nv_tileas.alloc_tensor : !a
  %p = nv_tileas.alloc_tensor : !t
  %z = nv_tileas.view %x : !a -> !b
  %sa = nv_tileas.view %p : !t -> !sfa
  %sb = nv_tileas.view %p : !t -> !sfb
  // expected-error@+1 {{'nv_tileas.block_scaled_mma' op mma block scale is not supported by compute capability < sm100}}
  %d = nv_tileas.block_scaled_mma %x, %z, %nothing scales(%sa : !sfa, %sb : !sfb) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : !a, !b, !sum -> !sum
  %r = nv_tileas.convert_layout %d : !sum -> !rows
  %w = nv_tileas.view %c : memref<128x128xf32> -> !window
  nv_tileas.tiled_store %r, %w[%zero, %zero] {atom = #nv_tileas<atom stg>} : !rows, !window
  func.return
}

// -----

!window = !nv_tileas.tiled_view<64x64xf4E2M1FN, gmem>

func.func @nibbles(%a: memref<64x64xf4E2M1FN>, %b: memref<64x64xf4E2M1FN>) {
  %zero = arith.constant 0 : index
  %v = nv_tileas.view %a : memref<64x64xf4E2M1FN> -> !window
  %w = nv_tileas.view %b : memref<64x64xf4E2M1FN> -> !window
  // expected-error@+1 {{'nv_tileas.tiled_load' op elements f4E2M1FN lie two in a byte; TMA alone moves them}}
  %t = nv_tileas.tiled_load %v[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !window -> tensor<64x64xf4E2M1FN>
  nv_tileas.tiled_store %t, %w[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf4E2M1FN>, !window
  func.return
}
