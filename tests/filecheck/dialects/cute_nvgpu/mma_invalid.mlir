// What products of a warp do not have.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @invalid(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>, %d: vector<4xi32>, %e: f32) {
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80' op has a shape M, N, K}}
  %0 = cute_nvgpu.arch.mma.SM80 %a, %b, %c shape [16, 8] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80' op has no product m16n8k16 of f16 and bf16 in f32}}
  %1 = cute_nvgpu.arch.mma.SM80 %a, %b, %c shape [16, 8, 16] elements "f16", "bf16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80' op has no product m16n8k16 of f16 and f16 in s32}}
  %2 = cute_nvgpu.arch.mma.SM80 %a, %b, %d shape [16, 8, 16] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xi32> -> vector<4xi32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80' op has 16 bytes of A in a thread, but got vector<4xf16>}}
  %3 = cute_nvgpu.arch.mma.SM80 %b, %b, %c shape [16, 8, 16] elements "f16", "f16" : vector<4xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80' op gives an accumulator like vector<4xf32>, not vector<8xf16>}}
  %4 = cute_nvgpu.arch.mma.SM80 %a, %b, %c shape [16, 8, 16] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<8xf16>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80' op expects a fragment vector<NxT> as the accumulator, but got f32}}
  %5 = cute_nvgpu.arch.mma.SM80 %a, %b, %e shape [16, 8, 16] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, f32 -> f32
  func.return
}
