// What copies of scales and block-scaled products refuse.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @copies(%s: !cute_nvgpu.smem_desc, %t: i32) {
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM100.copy_s2t' op copies 128x256b, 4x256b, 128x128b, 64x128b, 32x128b, not 16x128b}}
  cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 16 bits 128 broadcast "x4" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM100.copy_s2t' op broadcasts 32x128b by x4, not by none}}
  cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 32 bits 128 broadcast "none" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM100.copy_s2t' op broadcasts 64x128b by lw_0213 or lw_0123, not by x4}}
  cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 64 bits 128 broadcast "x4" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM100.copy_s2t' op is of 1 or 2 blocks, not 4}}
  cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 32 bits 128 broadcast "x4" blocks 4
  func.return
}

// -----

// Kind and shape come first, then the scales, then what the instruction descriptor cannot say.

func.func @products(%a: !cute_nvgpu.smem_desc, %d: i32, %acc: i1) {
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma_block_scaled' op is of kind mxf8f6f4, mxf4, mxf4nvf4, not f16}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %d[0], %d[0] accumulate %acc shape [128, 64, 16] kind "f16" scale_vec "1X" elements "e4m3", "e5m2", "ue8m0" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma_block_scaled' op has shape M x N x 64 for mxf4, not 128 x 64 x 32}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %d[0], %d[0] accumulate %acc shape [128, 64, 32] kind "mxf4" scale_vec "2X" elements "e2m1", "e2m1", "ue8m0" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma_block_scaled' op kind::mxf4 has no scale vector '4X'}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %d[0], %d[0] accumulate %acc shape [128, 64, 64] kind "mxf4" scale_vec "4X" elements "e2m1", "e2m1", "ue8m0" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma_block_scaled' op kind::mxf4nvf4 takes 2 scales as ue8m0, not ue4m3}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %d[0], %d[0] accumulate %acc shape [128, 64, 64] kind "mxf4nvf4" scale_vec "2X" elements "e2m1", "e2m1", "ue4m3" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma_block_scaled' op 2 scales begin at byte 0, 2, not 3}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %d[0], %d[3] accumulate %acc shape [128, 64, 64] kind "mxf4" scale_vec "2X" elements "e2m1", "e2m1", "ue8m0" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma_block_scaled' op kind::mxf8f6f4 with cta_group::1 has M 128, not 64}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %d[0], %d[0] accumulate %acc shape [64, 64, 32] kind "mxf8f6f4" scale_vec "1X" elements "e4m3", "e5m2", "ue8m0" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma_block_scaled' op kind::mxf4: element of A}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %d[0], %d[0] accumulate %acc shape [128, 64, 64] kind "mxf4" scale_vec "2X" elements "e4m3", "e2m1", "ue8m0" blocks 1
  func.return
}
