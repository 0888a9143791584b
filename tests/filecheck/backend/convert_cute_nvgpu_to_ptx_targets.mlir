// Products of a warpgroup are an instruction of sm_90a only.

// RUN: tileas-opt %s -p 'convert-cute-nvgpu-to-ptx{arch=sm_100a}' --split-input-file --verify-diagnostics

// A descriptor of sm_90a means something else on sm_100a.

func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 4096 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f16, smem, align<1024>>
  // expected-error@+1 {{'cute_nvgpu.make_gmma_smem_desc' op is for wgmma, which needs sm_90a; sm_100a multiplies by tcgen05.mma}}
  %d = cute_nvgpu.make_gmma_smem_desc %s swizzle "128B" leading 16 stride 1024 : !cute.ptr<f16, smem, align<1024>>
  func.return
}

// -----

// And there is no fence for what does not exist.

func.func @k() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'cute_nvgpu.arch.wgmma_fence' op is for wgmma, which needs sm_90a; sm_100a multiplies by tcgen05.mma}}
  cute_nvgpu.arch.wgmma_fence
  func.return
}
