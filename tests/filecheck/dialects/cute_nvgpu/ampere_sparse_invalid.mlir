// Sparse products of a warp that no instruction does.

// RUN: tileas-opt %s --verify-diagnostics

func.func @sparse(%a: vector<8xf16>, %b: vector<4xf16>, %d: vector<8xf16>, %c: vector<4xf32>, %e: i32, %x: vector<2xf64>, %y: vector<4xf64>) {
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80.sparse' op has no product 16 x 8 x 64 of f16 and f16 in f32}}
  %0 = cute_nvgpu.arch.mma.SM80.sparse %a, %d, %c metadata %e of 0 shape [16, 8, 64] elements "f16", "f16" : vector<8xf16>, vector<8xf16>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80.sparse' op has B in 4 registers of b32, not in vector<4xf16>}}
  %1 = cute_nvgpu.arch.mma.SM80.sparse %a, %b, %c metadata %e of 0 shape [16, 8, 32] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80.sparse' op takes the metadata of threads 0 to 1 of each four, not of 2}}
  %2 = cute_nvgpu.arch.mma.SM80.sparse %a, %d, %c metadata %e of 2 shape [16, 8, 32] elements "f16", "f16" : vector<8xf16>, vector<8xf16>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80.sparse' op takes the metadata of threads 0 to 3 of each four, not of 4}}
  %3 = cute_nvgpu.arch.mma.SM80.sparse %b, %b, %c metadata %e of 4 shape [16, 8, 16] elements "f16", "f16" : vector<4xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80.sparse' op has no product 16 x 8 x 8 of f64 and f64 in f64}}
  %4 = cute_nvgpu.arch.mma.SM80.sparse %x, %x, %y metadata %e of 0 shape [16, 8, 8] elements "f64", "f64" : vector<2xf64>, vector<2xf64>, vector<4xf64> -> vector<4xf64>
  func.return
}
