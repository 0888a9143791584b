// What operations on tensor memory refuse.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @columns(%w: !cute.ptr<i32, smem>, %h: !cute.ptr<i16, smem>, %t: i32) {
  // expected-error@+1 {{'cute_nvgpu.arch.sm100.alloc_tmem' op has 32, 64, 128, 256, 512 columns, not 96}}
  cute_nvgpu.arch.sm100.alloc_tmem %w, 96 blocks 1 : !cute.ptr<i32, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.sm100.alloc_tmem' op expects the place of the address aligned to 4 bytes, but !cute.ptr<i16, smem> promises 2}}
  cute_nvgpu.arch.sm100.alloc_tmem %h, 64 blocks 1 : !cute.ptr<i16, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.sm100.dealloc_tmem' op is of 1 or 2 blocks, not 4}}
  cute_nvgpu.arch.sm100.dealloc_tmem %t, 64 blocks 4
  // expected-error@+1 {{'cute_nvgpu.arch.sm100.fence_tmem' op is before or after a barrier, not around}}
  cute_nvgpu.arch.sm100.fence_tmem "around"
  func.return
}

// -----

func.func @moves(%t: i32, %v: vector<4xf32>, %h: vector<4xf16>) {
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM100.tmem_load' op has a shape 32x32b, 16x64b, 16x128b, 16x256b, 16x32bx2, not 64x32b}}
  %0 = cute_nvgpu.arch.copy.SM100.tmem_load %t shape "64x32b" repeat 4 : vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM100.tmem_load' op has no form 16x256b.x64}}
  %1 = cute_nvgpu.arch.copy.SM100.tmem_load %t shape "16x256b" repeat 64 : vector<256xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM100.tmem_load' op 32x32b.x8 moves 8 registers, not vector<4xf32>}}
  %2 = cute_nvgpu.arch.copy.SM100.tmem_load %t shape "32x32b" repeat 8 : vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM100.tmem_store' op moves elements of 32 bits, not f16}}
  cute_nvgpu.arch.copy.SM100.tmem_store %h, %t shape "32x32b" repeat 4 : vector<4xf16>
  // expected-error@+1 {{'cute_nvgpu.arch.sm100.wait_tmem' op waits for a load or a store, not for a copy}}
  cute_nvgpu.arch.sm100.wait_tmem "copy"
  // expected-error@+1 {{'cute_nvgpu.arch.sm100.wait_tmem' op gives back the values that it takes, with their types}}
  %3 = cute_nvgpu.arch.sm100.wait_tmem "load", %v : vector<4xf32> -> vector<2xf32>
  func.return
}

// -----

func.func @products(%a: !cute_nvgpu.smem_desc, %t: i32, %acc: i1) {
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma' op multiplies f16, bf16, tf32, e4m3, e5m2, s8, u8, not f64}}
  cute_nvgpu.arch.mma.SM100.umma %a, %a, %t accumulate %acc shape [128, 128, 8] elements "f64", "f64", "f32" major "k", "k" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma' op has shape M x N x 16 for bf16, not 128 x 128 x 32}}
  cute_nvgpu.arch.mma.SM100.umma %a, %a, %t accumulate %acc shape [128, 128, 32] elements "bf16", "bf16", "f32" major "k", "k" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma' op kind::f16 with cta_group::1 has M 64 or 128, not 256}}
  cute_nvgpu.arch.mma.SM100.umma %a, %a, %t accumulate %acc shape [256, 128, 16] elements "f16", "f16", "f32" major "k", "k" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma' op kind::f16: A is f16 and B bf16, they must be of one type}}
  cute_nvgpu.arch.mma.SM100.umma %a, %a, %t accumulate %acc shape [128, 128, 16] elements "f16", "bf16", "f32" major "k", "k" blocks 1
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma' op is of 1 or 2 blocks, not 3}}
  cute_nvgpu.arch.mma.SM100.umma %a, %a, %t accumulate %acc shape [128, 128, 16] elements "f16", "f16", "f32" major "k", "k" blocks 3
  func.return
}
