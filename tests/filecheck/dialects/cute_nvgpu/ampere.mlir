// Asynchronous copies of threads and products of warps.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// CHECK-LABEL: func.func @copies
func.func @copies(%g: !cute.ptr<f16, gmem, align<16>>, %s: !cute.ptr<f16, smem, align<16>>, %m: !cute.ptr<i64, smem>, %y: i1) {
  // CHECK: cute_nvgpu.arch.copy.SM80.cp_async %g to %s bytes 16 cache "global" if %y : !cute.ptr<f16, gmem, align<16>>, !cute.ptr<f16, smem, align<16>>
  cute_nvgpu.arch.copy.SM80.cp_async %g to %s bytes 16 cache "global" if %y : !cute.ptr<f16, gmem, align<16>>, !cute.ptr<f16, smem, align<16>>
  // CHECK: cute_nvgpu.arch.copy.SM80.cp_async_commit_group
  cute_nvgpu.arch.copy.SM80.cp_async_commit_group
  // CHECK: cute_nvgpu.arch.copy.SM80.cp_async_mbarrier_arrive %m : !cute.ptr<i64, smem>
  cute_nvgpu.arch.copy.SM80.cp_async_mbarrier_arrive %m : !cute.ptr<i64, smem>
  // CHECK: cute_nvgpu.arch.copy.SM80.cp_async_wait_group 1
  cute_nvgpu.arch.copy.SM80.cp_async_wait_group 1
  func.return
}


// CHECK-LABEL: func.func @products
func.func @products(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>, %p: vector<16xf8E4M3FN>, %q: vector<8xf8E5M2>) {
  // CHECK: %0 = cute_nvgpu.arch.mma.SM80 %a, %b, %c shape [16, 8, 16] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
  %0 = cute_nvgpu.arch.mma.SM80 %a, %b, %c shape [16, 8, 16] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
  // CHECK: %1 = cute_nvgpu.arch.mma.SM89 %p, %q, %c shape [16, 8, 32] elements "e4m3", "e5m2" : vector<16xf8E4M3FN>, vector<8xf8E5M2>, vector<4xf32> -> vector<4xf32>
  %1 = cute_nvgpu.arch.mma.SM89 %p, %q, %c shape [16, 8, 32] elements "e4m3", "e5m2" : vector<16xf8E4M3FN>, vector<8xf8E5M2>, vector<4xf32> -> vector<4xf32>
  func.return
}
