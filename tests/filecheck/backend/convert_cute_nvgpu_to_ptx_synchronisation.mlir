// mbarriers, barriers and fences.

// RUN: tileas-opt %s -p cse,licm,convert-cute-nvgpu-to-ptx | filecheck %s

// CHECK:       ptx.shared @dynamic_shared {size = 0 : i64, align = 1024 : i64, extern}

// An array of mbarriers: constant places in instructions, one that varies added once.

func.func @mbarriers(%i: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  %b = cute_nvgpu.arch.get_dyn_smem 4096 -> !cute.ptr<i64, smem>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c = arith.cmpi eq, %i, %c0 : i32
  %b1 = cute.add_offset %b, %c1 : !cute.ptr<i64, smem>, i32 -> !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_init %b, 1 if %c : !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_init %b1, 256 if %c : !cute.ptr<i64, smem>
  cute_nvgpu.arch.fence_mbarrier_init
  %bi = cute.add_offset %b, %i : !cute.ptr<i64, smem>, i32 -> !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_arrive_expect_tx %bi, 32768 if %c : !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_arrive %bi : !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_arrive %bi cta %i if %c : !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_wait %bi, %c1 : !cute.ptr<i64, smem>
  func.return
}

// CHECK-LABEL: ptx.entry @mbarriers(%i: !ptx.param<u32>) attributes {reqntid = array<i32: 128, 1, 1>, explicitcluster, reqnctapercluster = array<i32: 2, 1, 1>, tileas.smem_bytes = 65536 : i32} {
// CHECK-NEXT:    %0 = ptx.address {variable = @dynamic_shared} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.const {value = 256 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.const {value = 3 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.const {value = 32768 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.ld_param %i {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.shl %6, %4 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.setp %6, %1 {comparison = "eq", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    ptx.mbarrier.init %0, %2 guard(%8) {offset = 4096 : i64} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred>
// CHECK-NEXT:    ptx.mbarrier.init %0, %3 guard(%8) {offset = 4104 : i64} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred>
// CHECK-NEXT:    ptx.fence.mbarrier_init
// CHECK-NEXT:    %9 = ptx.add %0, %7 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.mbarrier.arrive_expect_tx %9, %5 guard(%8) {space = "shared::cta", offset = 4096 : i64} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred>
// CHECK-NEXT:    ptx.mbarrier.arrive %9 {space = "shared::cta", offset = 4096 : i64} : !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.mapa %9, %6 {space = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.mbarrier.arrive %10 guard(%8) {space = "shared::cluster", offset = 4096 : i64} : !ptx.reg<b32>, !ptx.reg<pred>
// CHECK-NEXT:    ptx.mbarrier.wait %9, %2 {space = "shared::cta", offset = 4096 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Barriers by number or value; the cheap forms of fences and cluster barriers.

func.func @barriers(%i: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.barrier id 1 threads 128
  cute_nvgpu.arch.barrier of %i threads 128
  cute_nvgpu.arch.barrier_arrive id 2 threads 128
  cute_nvgpu.arch.fence_proxy_async "shared::cta"
  cute_nvgpu.arch.fence_proxy_async "generic"
  cute_nvgpu.arch.cluster_arrive relaxed
  cute_nvgpu.arch.cluster_arrive
  cute_nvgpu.arch.cluster_wait
  func.return
}

// CHECK-LABEL: ptx.entry @barriers(%i: !ptx.param<u32>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const {value = 128 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.const {value = 2 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.ld_param %i {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.bar.sync %0 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bar.sync %1 threads(%2) : !ptx.reg<b32>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.bar.sync %4 threads(%2) : !ptx.reg<b32>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.bar.arrive %3, %2 : !ptx.reg<b32>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.fence.proxy {proxy = "async", space = "shared::cta"}
// CHECK-NEXT:    ptx.fence.proxy {proxy = "async"}
// CHECK-NEXT:    ptx.cluster.arrive {semantics = "relaxed", aligned}
// CHECK-NEXT:    ptx.cluster.arrive {aligned}
// CHECK-NEXT:    ptx.cluster.wait {aligned}
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// The lanes of a warp wait for one another, all of them.

func.func @lanes() attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  cute_nvgpu.arch.sync_warp
  cute_nvgpu.arch.sync_warp
  func.return
}

// CHECK-LABEL: ptx.entry @lanes() attributes {reqntid = array<i32: 32, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = -1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.bar.warp.sync %0 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bar.warp.sync %0 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// An arrival that is repeated while a condition holds is a loop, which ptxas moves nothing across.

func.func @again(%i: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %never = arith.cmpi eq, %i, %c0 : i32
  cute_nvgpu.arch.barrier_arrive id 2 threads 128 again %never
  func.return
}

// CHECK-LABEL: ptx.entry @again
// CHECK:         %[[NEVER:.*]] = ptx.setp
// CHECK-NEXT:    ptx.bar.arrive %{{.*}}, %{{.*}} again(%[[NEVER]]) : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred>
