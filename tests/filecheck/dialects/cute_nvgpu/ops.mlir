// What one thread block does.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s

// Indices, roles and register budgets.

func.func @threads() {
  %0 = cute_nvgpu.arch.thread_idx "x"
  %1 = cute_nvgpu.arch.block_idx "y"
  %2 = cute_nvgpu.arch.grid_dim "z"
  %3 = cute_nvgpu.arch.lane_idx
  %4 = cute_nvgpu.arch.warp_idx
  %5 = cute_nvgpu.arch.cluster_ctarank
  %6 = cute_nvgpu.arch.elect_one
  %7 = cute_nvgpu.arch.make_warp_uniform %0 : i32 -> i32
  cute_nvgpu.arch.setmaxregister 232 increase = true
  cute_nvgpu.arch.setmaxregister 40 increase = false
  func.return
}

// CHECK-LABEL: func.func @threads() {
// CHECK-NEXT:    %0 = cute_nvgpu.arch.thread_idx "x"
// CHECK-NEXT:    %1 = cute_nvgpu.arch.block_idx "y"
// CHECK-NEXT:    %2 = cute_nvgpu.arch.grid_dim "z"
// CHECK-NEXT:    %3 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:    %4 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:    %5 = cute_nvgpu.arch.cluster_ctarank
// CHECK-NEXT:    %6 = cute_nvgpu.arch.elect_one
// CHECK-NEXT:    %7 = cute_nvgpu.arch.make_warp_uniform %0 : i32 -> i32
// CHECK-NEXT:    cute_nvgpu.arch.setmaxregister 232 increase = true
// CHECK-NEXT:    cute_nvgpu.arch.setmaxregister 40 increase = false
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Shared memory of the launch, by its distance from the start.

func.func @shared() {
  %0 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<bf16, smem, align<1024>>
  %1 = cute_nvgpu.arch.get_dyn_smem 65544 -> !cute.ptr<i64, smem>
  func.return
}

// CHECK-LABEL: func.func @shared() {
// CHECK-NEXT:    %0 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<bf16, smem, align<1024>>
// CHECK-NEXT:    %1 = cute_nvgpu.arch.get_dyn_smem 65544 -> !cute.ptr<i64, smem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// mbarriers: counts are constants, the parity of a phase is a value.

func.func @mbarriers(%b: !cute.ptr<i64, smem>, %i: i32, %c: i1) {
  cute_nvgpu.arch.mbarrier_init %b, 2 : !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_init %b, 1 if %c : !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_inval %b if %c : !cute.ptr<i64, smem>
  cute_nvgpu.arch.fence_mbarrier_init
  cute_nvgpu.arch.mbarrier_arrive %b : !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_arrive %b cta %i if %c : !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_arrive_expect_tx %b, 32768 if %c : !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_wait %b, %i : !cute.ptr<i64, smem>
  func.return
}

// CHECK-LABEL: func.func @mbarriers(%b: !cute.ptr<i64, smem>, %i: i32, %c: i1) {
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_init %b, 2 : !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_init %b, 1 if %c : !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_inval %b if %c : !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.fence_mbarrier_init
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_arrive %b : !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_arrive %b cta %i if %c : !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_arrive_expect_tx %b, 32768 if %c : !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_wait %b, %i : !cute.ptr<i64, smem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Barriers of the block and of the cluster, fences between proxies.

func.func @barriers(%i: i32) {
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.barrier id 1 threads 128
  cute_nvgpu.arch.barrier of %i threads 256
  cute_nvgpu.arch.barrier_arrive id 2 threads 256
  cute_nvgpu.arch.cluster_arrive
  cute_nvgpu.arch.cluster_arrive relaxed
  cute_nvgpu.arch.cluster_wait
  cute_nvgpu.arch.sync_warp
  cute_nvgpu.arch.fence_proxy_async "shared::cta"
  cute_nvgpu.arch.fence_proxy_async "generic"
  func.return
}

// CHECK-LABEL: func.func @barriers(%i: i32) {
// CHECK-NEXT:    cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:    cute_nvgpu.arch.barrier id 1 threads 128
// CHECK-NEXT:    cute_nvgpu.arch.barrier of %i threads 256
// CHECK-NEXT:    cute_nvgpu.arch.barrier_arrive id 2 threads 256
// CHECK-NEXT:    cute_nvgpu.arch.cluster_arrive
// CHECK-NEXT:    cute_nvgpu.arch.cluster_arrive relaxed
// CHECK-NEXT:    cute_nvgpu.arch.cluster_wait
// CHECK-NEXT:    cute_nvgpu.arch.sync_warp
// CHECK-NEXT:    cute_nvgpu.arch.fence_proxy_async "shared::cta"
// CHECK-NEXT:    cute_nvgpu.arch.fence_proxy_async "generic"
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Bulk copies of boxes; coordinates start with the innermost dimension.

func.func @copies(%d: !cute_nvgpu.tma_descriptor_tiled, %s: !cute.ptr<bf16, smem, align<1024>>, %b: !cute.ptr<i64, smem>, %i: i32, %m: i16, %c: i1) {
  cute_nvgpu.arch.prefetch_tma_desc %d if %c
  cute_nvgpu.arch.copy.SM90.tma_load %d[%i] to %s, %b : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
  cute_nvgpu.arch.copy.SM90.tma_load %d[%i, %i, %i] to %s, %b multicast %m if %c : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
  cute_nvgpu.arch.copy.SM90.tma_store %d[%i, %i] from %s if %c : !cute.ptr<bf16, smem, align<1024>>
  cute_nvgpu.arch.copy.SM90.tma_reduce "add", %d[%i, %i] from %s : !cute.ptr<bf16, smem, align<1024>>
  cute_nvgpu.arch.bulk_commit_group if %c
  cute_nvgpu.arch.bulk_wait_group 1 read if %c
  cute_nvgpu.arch.bulk_wait_group 0
  func.return
}

// CHECK-LABEL: func.func @copies(%d: !cute_nvgpu.tma_descriptor_tiled, %s: !cute.ptr<bf16, smem, align<1024>>, %b: !cute.ptr<i64, smem>, %i: i32, %m: i16, %c: i1) {
// CHECK-NEXT:    cute_nvgpu.arch.prefetch_tma_desc %d if %c
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM90.tma_load %d[%i] to %s, %b : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM90.tma_load %d[%i, %i, %i] to %s, %b multicast %m if %c : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM90.tma_store %d[%i, %i] from %s if %c : !cute.ptr<bf16, smem, align<1024>>
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM90.tma_reduce "add", %d[%i, %i] from %s : !cute.ptr<bf16, smem, align<1024>>
// CHECK-NEXT:    cute_nvgpu.arch.bulk_commit_group if %c
// CHECK-NEXT:    cute_nvgpu.arch.bulk_wait_group 1 read if %c
// CHECK-NEXT:    cute_nvgpu.arch.bulk_wait_group 0
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Descriptors of operands, and how far they are advanced.

func.func @descriptors(%s: !cute.ptr<bf16, smem, align<1024>>, %i: i32) {
  %0 = cute_nvgpu.make_gmma_smem_desc %s swizzle "128B" leading 16 stride 1024 : !cute.ptr<bf16, smem, align<1024>>
  %1 = cute_nvgpu.smem_desc_add %0 bytes 32
  %2 = cute_nvgpu.smem_desc_add %0 by %i
  func.return
}

// CHECK-LABEL: func.func @descriptors(%s: !cute.ptr<bf16, smem, align<1024>>, %i: i32) {
// CHECK-NEXT:    %0 = cute_nvgpu.make_gmma_smem_desc %s swizzle "128B" leading 16 stride 1024 : !cute.ptr<bf16, smem, align<1024>>
// CHECK-NEXT:    %1 = cute_nvgpu.smem_desc_add %0 bytes 32
// CHECK-NEXT:    %2 = cute_nvgpu.smem_desc_add %0 by %i
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Products of a warpgroup: A from shared memory or from registers.

func.func @products(%a: !cute_nvgpu.smem_desc, %r: vector<8xbf16>, %c: vector<32xf32>, %h: vector<64xf16>, %n: vector<16xi32>, %s: i1) {
  cute_nvgpu.arch.wgmma_fence
  %0 = cute_nvgpu.arch.mma.SM90 %a, %a, %c scale_d %s shape [64, 64, 16] elements "bf16", "bf16" major "k", "mn" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
  %1 = cute_nvgpu.arch.mma.SM90 %r, %a, %0 shape [64, 64, 16] elements "bf16", "bf16" major "k", "k" : vector<8xbf16>, vector<32xf32> -> vector<32xf32>
  %2 = cute_nvgpu.arch.mma.SM90 %a, %a, %h shape [64, 128, 32] elements "e4m3", "e5m2" major "k", "k" : !cute_nvgpu.smem_desc, vector<64xf16> -> vector<64xf16>
  %3 = cute_nvgpu.arch.mma.SM90 %a, %a, %n shape [64, 32, 32] elements "u8", "s8" major "k", "k" : !cute_nvgpu.smem_desc, vector<16xi32> -> vector<16xi32>
  cute_nvgpu.arch.wgmma_commit_group
  cute_nvgpu.arch.wgmma_wait_group 1
  %4, %5 = cute_nvgpu.arch.wgmma_wait_group 0, %1, %2 : vector<32xf32>, vector<64xf16> -> vector<32xf32>, vector<64xf16>
  func.return
}

// CHECK-LABEL: func.func @products(%a: !cute_nvgpu.smem_desc, %r: vector<8xbf16>, %c: vector<32xf32>, %h: vector<64xf16>, %n: vector<16xi32>, %s: i1) {
// CHECK-NEXT:    cute_nvgpu.arch.wgmma_fence
// CHECK-NEXT:    %0 = cute_nvgpu.arch.mma.SM90 %a, %a, %c scale_d %s shape [64, 64, 16] elements "bf16", "bf16" major "k", "mn" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
// CHECK-NEXT:    %1 = cute_nvgpu.arch.mma.SM90 %r, %a, %0 shape [64, 64, 16] elements "bf16", "bf16" major "k", "k" : vector<8xbf16>, vector<32xf32> -> vector<32xf32>
// CHECK-NEXT:    %2 = cute_nvgpu.arch.mma.SM90 %a, %a, %h shape [64, 128, 32] elements "e4m3", "e5m2" major "k", "k" : !cute_nvgpu.smem_desc, vector<64xf16> -> vector<64xf16>
// CHECK-NEXT:    %3 = cute_nvgpu.arch.mma.SM90 %a, %a, %n shape [64, 32, 32] elements "u8", "s8" major "k", "k" : !cute_nvgpu.smem_desc, vector<16xi32> -> vector<16xi32>
// CHECK-NEXT:    cute_nvgpu.arch.wgmma_commit_group
// CHECK-NEXT:    cute_nvgpu.arch.wgmma_wait_group 1
// CHECK-NEXT:    %4, %5 = cute_nvgpu.arch.wgmma_wait_group 0, %1, %2 : vector<32xf32>, vector<64xf16> -> vector<32xf32>, vector<64xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// What a warp does together.

func.func @warps(%s: !cute.ptr<bf16, smem, align<16>>, %v: vector<8xbf16>, %i: i32, %f: f32) {
  cute_nvgpu.arch.copy.stsm %v, %s matrices 4 : vector<8xbf16>, !cute.ptr<bf16, smem, align<16>>
  %0 = cute_nvgpu.arch.copy.ldsm %s matrices 2 transpose : !cute.ptr<bf16, smem, align<16>> -> vector<2xi32>
  %1 = cute_nvgpu.arch.shuffle "bfly" %f by 16 : f32 -> f32
  %2 = cute_nvgpu.arch.shuffle "idx" %i lane %i : i32 -> i32
  %3 = cute_nvgpu.arch.redux "umax" %i
  %4 = cute_nvgpu.arch.prmt %i, %2 by %3
  %5 = arith.cmpi eq, %4, %i : i32
  %6 = cute_nvgpu.arch.vote "any" %5
  func.return
}

// CHECK-LABEL: func.func @warps(%s: !cute.ptr<bf16, smem, align<16>>, %v: vector<8xbf16>, %i: i32, %f: f32) {
// CHECK-NEXT:    cute_nvgpu.arch.copy.stsm %v, %s matrices 4 : vector<8xbf16>, !cute.ptr<bf16, smem, align<16>>
// CHECK-NEXT:    %0 = cute_nvgpu.arch.copy.ldsm %s matrices 2 transpose : !cute.ptr<bf16, smem, align<16>> -> vector<2xi32>
// CHECK-NEXT:    %1 = cute_nvgpu.arch.shuffle "bfly" %f by 16 : f32 -> f32
// CHECK-NEXT:    %2 = cute_nvgpu.arch.shuffle "idx" %i lane %i : i32 -> i32
// CHECK-NEXT:    %3 = cute_nvgpu.arch.redux "umax" %i
// CHECK-NEXT:    %4 = cute_nvgpu.arch.prmt %i, %2 by %3
// CHECK-NEXT:    %5 = arith.cmpi eq, %4, %i : i32
// CHECK-NEXT:    %6 = cute_nvgpu.arch.vote "any" %5
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
