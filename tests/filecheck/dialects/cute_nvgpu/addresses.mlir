// Addresses of tensor maps, and the size of dynamic shared memory, as they are written and in PTX.

// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s --check-prefix PTX

func.func @kernel(%m: !cute_nvgpu.tma_descriptor_tiled, %p: !cute.ptr<i64, gmem>, %q: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
  // CHECK: cute_nvgpu.cast_tma_desc_to_integer %m : !cute_nvgpu.tma_descriptor_tiled
  %0 = cute_nvgpu.cast_tma_desc_to_integer %m : !cute_nvgpu.tma_descriptor_tiled
  // CHECK: cute_nvgpu.get_tma_desc_addr %m : !cute_nvgpu.tma_descriptor_tiled
  %1 = cute_nvgpu.get_tma_desc_addr %m : !cute_nvgpu.tma_descriptor_tiled
  // CHECK: cute_nvgpu.arch.get_dyn_smem_size
  %2 = cute_nvgpu.arch.get_dyn_smem_size
  %3 = cute.ptrtoint %1 : !cute.ptr<i64, generic> -> i64
  %4 = arith.addi %0, %3 : i64
  cute.ptr.store %4, %p : i64, !cute.ptr<i64, gmem>
  cute.ptr.store %2, %q : i32, !cute.ptr<i32, gmem>
  func.return
}

// PTX-DAG: [[MAP:%[^ ]*]] = ptx.param_address %m
// PTX-DAG: [[SIZE:%[^ ]*]] = ptx.sreg {register = "dynamic_smem_size"
