// Tensor memory, and products into it.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s

// Columns are taken and given back by a whole warp; an address is lane and column.

func.func @columns(%w: !cute.ptr<i32, smem>) {
  cute_nvgpu.arch.sm100.alloc_tmem %w, 256 blocks 1 : !cute.ptr<i32, smem>
  cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit blocks 1
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"
  %t = cute_nvgpu.arch.sm100.retrieve_tmem_ptr %w : !cute.ptr<i32, smem>
  cute_nvgpu.arch.sm100.dealloc_tmem %t, 256 blocks 1
  func.return
}

// CHECK-LABEL: func.func @columns(%w: !cute.ptr<i32, smem>) {
// CHECK-NEXT:    cute_nvgpu.arch.sm100.alloc_tmem %w, 256 blocks 1 : !cute.ptr<i32, smem>
// CHECK-NEXT:    cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit blocks 1
// CHECK-NEXT:    cute_nvgpu.arch.sm100.fence_tmem "before"
// CHECK-NEXT:    cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:    cute_nvgpu.arch.sm100.fence_tmem "after"
// CHECK-NEXT:    %t = cute_nvgpu.arch.sm100.retrieve_tmem_ptr %w : !cute.ptr<i32, smem>
// CHECK-NEXT:    cute_nvgpu.arch.sm100.dealloc_tmem %t, 256 blocks 1
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Registers are there, and stores are done, after a wait.

func.func @moves(%t: i32, %v: vector<4xf32>) -> vector<32xf32> {
  cute_nvgpu.arch.copy.SM100.tmem_store %v, %t shape "16x256b" repeat 1 : vector<4xf32>
  cute_nvgpu.arch.sm100.wait_tmem "store"
  %a = cute_nvgpu.arch.copy.SM100.tmem_load %t shape "32x32b" repeat 32 : vector<32xf32>
  %b = cute_nvgpu.arch.sm100.wait_tmem "load", %a : vector<32xf32> -> vector<32xf32>
  func.return %b : vector<32xf32>
}

// CHECK-LABEL: func.func @moves(%t: i32, %v: vector<4xf32>) -> vector<32xf32> {
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM100.tmem_store %v, %t shape "16x256b" repeat 1 : vector<4xf32>
// CHECK-NEXT:    cute_nvgpu.arch.sm100.wait_tmem "store"
// CHECK-NEXT:    %a = cute_nvgpu.arch.copy.SM100.tmem_load %t shape "32x32b" repeat 32 : vector<32xf32>
// CHECK-NEXT:    %b = cute_nvgpu.arch.sm100.wait_tmem "load", %a : vector<32xf32> -> vector<32xf32>
// CHECK-NEXT:    func.return %b : vector<32xf32>
// CHECK-NEXT:  }

// One thread issues MMAs; an mbarrier observes their completion, in one or several CTAs.

func.func @products(%p: !cute.ptr<f16, smem, align<1024>>, %t: i32, %acc: i1, %m: !cute.ptr<i64, smem>, %mask: i16) {
  %a = cute_nvgpu.make_umma_smem_desc %p swizzle "128B" leading 16 stride 1024 : !cute.ptr<f16, smem, align<1024>>
  %b = cute_nvgpu.smem_desc_add %a bytes 32
  cute_nvgpu.arch.mma.SM100.umma %a, %b, %t accumulate %acc shape [128, 256, 16] elements "f16", "f16", "f32" major "k", "mn" blocks 1
  cute_nvgpu.arch.mma.SM100.umma %a, %b, %t accumulate %acc shape [256, 128, 32] elements "e4m3", "e5m2", "f32" major "k", "k" blocks 2
  cute_nvgpu.arch.sm100.umma_commit %m blocks 1 : !cute.ptr<i64, smem>
  cute_nvgpu.arch.sm100.umma_commit %m mask %mask if %acc blocks 2 : !cute.ptr<i64, smem>
  func.return
}

// CHECK-LABEL: func.func @products(
// CHECK-NEXT:    %a = cute_nvgpu.make_umma_smem_desc %p swizzle "128B" leading 16 stride 1024 : !cute.ptr<f16, smem, align<1024>>
// CHECK-NEXT:    %b = cute_nvgpu.smem_desc_add %a bytes 32
// CHECK-NEXT:    cute_nvgpu.arch.mma.SM100.umma %a, %b, %t accumulate %acc shape [128, 256, 16] elements "f16", "f16", "f32" major "k", "mn" blocks 1
// CHECK-NEXT:    cute_nvgpu.arch.mma.SM100.umma %a, %b, %t accumulate %acc shape [256, 128, 32] elements "e4m3", "e5m2", "f32" major "k", "k" blocks 2
// CHECK-NEXT:    cute_nvgpu.arch.sm100.umma_commit %m blocks 1 : !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.sm100.umma_commit %m mask %mask if %acc blocks 2 : !cute.ptr<i64, smem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
