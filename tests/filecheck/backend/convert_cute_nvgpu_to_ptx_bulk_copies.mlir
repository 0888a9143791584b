// Bulk copies through tensor maps.

// RUN: tileas-opt %s -p cse,licm,convert-cute-nvgpu-to-ptx | filecheck %s

// CHECK:       ptx.shared @dynamic_shared {size = 0 : i64, align = 1024 : i64, extern}

// Loads complete at an mbarrier; stores and reductions in a group.

func.func @copies(%d: !cute_nvgpu.tma_descriptor_tiled, %i: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  %s = cute_nvgpu.arch.get_dyn_smem 1024 -> !cute.ptr<bf16, smem, align<1024>>
  %b = cute_nvgpu.arch.get_dyn_smem 32768 -> !cute.ptr<i64, smem>
  %m = arith.constant 3 : i16
  %c = cute_nvgpu.arch.elect_one
  cute_nvgpu.arch.prefetch_tma_desc %d if %c
  cute_nvgpu.arch.copy.SM90.tma_load %d[%i, %i] to %s, %b : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
  cute_nvgpu.arch.copy.SM90.tma_load %d[%i, %i, %i] to %s, %b multicast %m if %c : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
  cute_nvgpu.arch.copy.SM90.tma_store %d[%i, %i] from %s if %c : !cute.ptr<bf16, smem, align<1024>>
  cute_nvgpu.arch.copy.SM90.tma_reduce "add", %d[%i] from %s : !cute.ptr<bf16, smem, align<1024>>
  cute_nvgpu.arch.bulk_commit_group if %c
  cute_nvgpu.arch.bulk_wait_group 1 read if %c
  cute_nvgpu.arch.bulk_wait_group 0
  func.return
}

// CHECK-LABEL: ptx.entry @copies(%d: !ptx.param<b8, 128, align 64>, %i: !ptx.param<u32>) attributes {reqntid = array<i32: 128, 1, 1>, explicitcluster, reqnctapercluster = array<i32: 2, 1, 1>, tileas.smem_bytes = 65536 : i32} {
// CHECK-NEXT:    %0 = ptx.address {variable = @dynamic_shared} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 3 : i64} -> !ptx.reg<b16>
// CHECK-NEXT:    %2 = ptx.const {value = -1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.mov %1 {type = "b16"} : !ptx.reg<b16> -> !ptx.reg<b16>
// CHECK-NEXT:    %4 = ptx.param_address %d : !ptx.param<b8, 128, align 64> -> !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.ld_param %i {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %6, %7 = ptx.elect_sync %2 : !ptx.reg<b32> -> !ptx.reg<b32>, !ptx.reg<pred>
// CHECK-NEXT:    ptx.prefetch_tensormap %4 guard(%7) : !ptx.reg<b64>, !ptx.reg<pred>
// CHECK-NEXT:    ptx.tensor_load %0, %4, %0 coordinates(%5, %5) {mode = "tile", to = "shared::cluster", offset = 1024 : i64, barrier_offset = 32768 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.tensor_load %0, %4, %0 coordinates(%5, %5, %5) multicast(%3) guard(%7) {mode = "tile", to = "shared::cluster", offset = 1024 : i64, barrier_offset = 32768 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b16>, !ptx.reg<pred>
// CHECK-NEXT:    ptx.tensor_store %4, %0 coordinates(%5, %5) guard(%7) {mode = "tile", offset = 1024 : i64} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred>
// CHECK-NEXT:    ptx.tensor_reduce %4, %0 coordinates(%5) {mode = "tile", offset = 1024 : i64, operation = "add"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.cp_async_bulk.commit_group guard(%7) : !ptx.reg<pred>
// CHECK-NEXT:    ptx.cp_async_bulk.wait_group guard(%7) {pending = 1 : i64, read} : !ptx.reg<pred>
// CHECK-NEXT:    ptx.cp_async_bulk.wait_group {pending = 0 : i64}
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }
