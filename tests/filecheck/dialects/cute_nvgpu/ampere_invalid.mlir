// What asynchronous copies and products of warps refuse.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @wrong_copies(%g: !cute.ptr<f16, gmem, align<16>>, %s: !cute.ptr<f16, smem, align<16>>, %t: !cute.ptr<f16, smem, align<8>>) {
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM80.cp_async' op unsupported cp.async vector width}}
  cute_nvgpu.arch.copy.SM80.cp_async %g to %s bytes 2 cache "always" : !cute.ptr<f16, gmem, align<16>>, !cute.ptr<f16, smem, align<16>>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM80.cp_async' op copies 16 bytes past the first cache, not 8}}
  cute_nvgpu.arch.copy.SM80.cp_async %g to %s bytes 8 cache "global" : !cute.ptr<f16, gmem, align<16>>, !cute.ptr<f16, smem, align<16>>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM80.cp_async' op uses the caches always or global, not none}}
  cute_nvgpu.arch.copy.SM80.cp_async %g to %s bytes 8 cache "none" : !cute.ptr<f16, gmem, align<16>>, !cute.ptr<f16, smem, align<16>>
  // expected-error@+1 {{expects the destination aligned to 16 bytes}}
  cute_nvgpu.arch.copy.SM80.cp_async %g to %t bytes 16 cache "always" : !cute.ptr<f16, gmem, align<16>>, !cute.ptr<f16, smem, align<8>>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM80.cp_async_wait_group' op leaves 0 groups or more under way, not -1}}
  cute_nvgpu.arch.copy.SM80.cp_async_wait_group -1
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM80.cp_async_mbarrier_arrive' op expects a pointer to i64 as the mbarrier, but got !cute.ptr<f16, smem, align<16>>}}
  cute_nvgpu.arch.copy.SM80.cp_async_mbarrier_arrive %s : !cute.ptr<f16, smem, align<16>>
  func.return
}

// -----

func.func @wrong_products(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>, %p: vector<16xf8E4M3FN>) {
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80' op has no product 16 x 8 x 32 of f16 and f16 in f32}}
  %0 = cute_nvgpu.arch.mma.SM80 %a, %b, %c shape [16, 8, 32] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80' op has no product 16 x 8 x 32 of e4m3 and e4m3 in f32}}
  %1 = cute_nvgpu.arch.mma.SM80 %p, %p, %c shape [16, 8, 32] elements "e4m3", "e4m3" : vector<16xf8E4M3FN>, vector<16xf8E4M3FN>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM89' op has B in 2 registers of b32, not in vector<16xf8E4M3FN>}}
  %2 = cute_nvgpu.arch.mma.SM89 %p, %p, %c shape [16, 8, 32] elements "e4m3", "e4m3" : vector<16xf8E4M3FN>, vector<16xf8E4M3FN>, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM80' op gives an accumulator like vector<4xf32>, not vector<4xf16>}}
  %3 = cute_nvgpu.arch.mma.SM80 %a, %b, %c shape [16, 8, 16] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf16>
  func.return
}
