// Kernels of tensor memory that are refused.

// RUN: tileas-opt %s -p 'convert-cute-nvgpu-to-ptx{arch=sm_90a}' --split-input-file --verify-diagnostics

// sm_90a has no tensor memory.

func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 4096 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i32, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.sm100.alloc_tmem' op is for tcgen05, which needs sm_100a; sm_90a multiplies by wgmma}}
  cute_nvgpu.arch.sm100.alloc_tmem %s, 64 blocks 1 : !cute.ptr<i32, smem>
  func.return
}

// -----

func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 4096 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f16, smem, align<1024>>
  // expected-error@+1 {{'cute_nvgpu.make_umma_smem_desc' op is for tcgen05, which needs sm_100a; sm_90a multiplies by wgmma}}
  %d = cute_nvgpu.make_umma_smem_desc %s swizzle "128B" leading 16 stride 1024 : !cute.ptr<f16, smem, align<1024>>
  func.return
}

// -----

func.func @k(%t: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 4096 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i8, smem, align<1024>>
  %d = cute_nvgpu.make_gmma_smem_desc %s swizzle "none" leading 16 stride 128 : !cute.ptr<i8, smem, align<1024>>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM100.copy_s2t' op is for tcgen05, which needs sm_100a; sm_90a multiplies by wgmma}}
  cute_nvgpu.arch.copy.SM100.copy_s2t %d, %t lanes 32 bits 128 broadcast "x4" blocks 1
  func.return
}

// -----

func.func @k(%t: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 4096 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i8, smem, align<1024>>
  %d = cute_nvgpu.make_gmma_smem_desc %s swizzle "none" leading 16 stride 128 : !cute.ptr<i8, smem, align<1024>>
  %yes = arith.constant true
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma_block_scaled' op is for tcgen05, which needs sm_100a; sm_90a multiplies by wgmma}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %d, %d, %t scales %t[0], %t[0] accumulate %yes shape [128, 64, 64] kind "mxf4" scale_vec "2X" elements "e2m1", "e2m1", "ue8m0" blocks 1
  func.return
}
// -----

// Nor does a block of sm_90a take over another one.

func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 4096 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i32, smem, align<16>>
  %b = cute_nvgpu.arch.get_dyn_smem 64 -> !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.issue_clc_query' op is for clusterlaunchcontrol, which needs sm_100a or sm_120a, not sm_90a}}
  cute_nvgpu.arch.issue_clc_query %s, %b : !cute.ptr<i32, smem, align<16>>, !cute.ptr<i64, smem>
  func.return
}

// -----

func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 4096 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i32, smem, align<16>>
  // expected-error@+1 {{'cute_nvgpu.arch.clc_response' op is for clusterlaunchcontrol, which needs sm_100a or sm_120a, not sm_90a}}
  %granted, %x, %y, %z = cute_nvgpu.arch.clc_response %s : !cute.ptr<i32, smem, align<16>>
  func.return
}
