// Products of a warp with block scales that no instruction does.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @scaled(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %h: vector<4xi32>, %s: i32) {
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM120.block_scaled' op has shape 16 x 8 x 32 or 16 x 8 x 64, not 16 x 8 x 16}}
  %0 = cute_nvgpu.arch.mma.SM120.block_scaled %a, %b, %c scales %s of 0, %s of 0 shape [16, 8, 16] elements f4E2M1FN, f4E2M1FN scaled f8E4M3FN by 16 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM120.block_scaled' op sums f32, not i32}}
  %1 = cute_nvgpu.arch.mma.SM120.block_scaled %a, %b, %h scales %s of 0, %s of 0 shape [16, 8, 64] elements f4E2M1FN, f4E2M1FN scaled f8E4M3FN by 16 : vector<4xi32>, vector<2xi32>, vector<4xi32> -> vector<4xi32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM120.block_scaled' op expects sfType to be e8m0 in QMMA, but got 'f8E4M3FN'}}
  %2 = cute_nvgpu.arch.mma.SM120.block_scaled %a, %b, %c scales %s of 0, %s of 0 shape [16, 8, 32] elements f8E4M3FN, f8E4M3FN scaled f8E4M3FN by 32 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM120.block_scaled' op has B in 8 bytes, not in vector<4xi32>}}
  %3 = cute_nvgpu.arch.mma.SM120.block_scaled %a, %a, %c scales %s of 0, %s of 0 shape [16, 8, 64] elements f4E2M1FN, f4E2M1FN scaled f8E4M3FN by 16 : vector<4xi32>, vector<4xi32>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM120.block_scaled' op has thread_id_a 0 to 1, not 2}}
  %4 = cute_nvgpu.arch.mma.SM120.block_scaled %a, %b, %c scales %s of 2, %s of 0 shape [16, 8, 64] elements f4E2M1FN, f4E2M1FN scaled f8E4M3FN by 16 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  func.return
}

// -----

func.func @target(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM120.block_scaled' op needs sm_120f, but the target is sm_100a}}
  %0 = cute_nvgpu.arch.mma.SM120.block_scaled %a, %b, %c scales %s of 0, %s of 0 shape [16, 8, 64] elements f4E2M1FN, f4E2M1FN scaled f8E4M3FN by 16 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  func.return
}
