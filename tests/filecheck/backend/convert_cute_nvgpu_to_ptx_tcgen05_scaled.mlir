// Scales go to tensor memory, then products take them there; each kind needs its PTX version.

// RUN: tileas-opt %s -p 'cse,convert-cute-nvgpu-to-ptx{arch=sm_100a}' -t 'ptx{arch=sm_100a}' | filecheck %s

func.func @scaled(%t: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 8192 : i32} {
  %p = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i8, smem, align<1024>>
  %one = cute_nvgpu.arch.elect_one
  %no = arith.constant false
  %yes = arith.constant true
  %four = arith.constant 4 : i32
  %y = arith.addi %t, %four : i32
  %s = cute_nvgpu.make_umma_smem_desc %p swizzle "none" leading 16 stride 128 : !cute.ptr<i8, smem, align<1024>>
  %a = cute_nvgpu.make_umma_smem_desc %p swizzle "128B" leading 16 stride 1024 : !cute.ptr<i8, smem, align<1024>>
  scf.if %one {
    cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 32 bits 128 broadcast "x4" blocks 1
    cute_nvgpu.arch.copy.SM100.copy_s2t %s, %y lanes 64 bits 128 broadcast "lw_0123" blocks 1
    cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %t scales %t[0], %y[0] accumulate %no shape [128, 64, 32] kind "mxf8f6f4" scale_vec "1X" elements "e4m3", "e4m3", "ue8m0" blocks 1
    cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %t scales %t[2], %y[2] accumulate %yes shape [128, 64, 64] kind "mxf4" scale_vec "2X" elements "e2m1", "e2m1", "ue8m0" blocks 1
    cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %t scales %t[0], %y[0] accumulate %yes shape [128, 64, 64] kind "mxf4nvf4" scale_vec "4X" elements "e2m1", "e2m1", "ue4m3" blocks 1
    scf.yield
  }
  func.return
}

// CHECK:      .version 8.7
// CHECK-NEXT: .target sm_100a
// CHECK:      elect.sync
// CHECK:      tcgen05.cp.cta_group::1.32x128b.warpx4 {{\[}}[[T:%r[0-9]+]]], [[S:%rd[0-9]+]];
// CHECK-NEXT: tcgen05.cp.cta_group::1.64x128b.warpx2::01_23 {{\[}}[[Y:%r[0-9]+]]], [[S]];
// CHECK:      tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X {{\[}}[[T]]], [[A:%rd[0-9]+]], [[A]], %r{{[0-9]+}}, {{\[}}[[T]]], {{\[}}[[Y]]], %p{{[0-9]+}};
// CHECK:      tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X {{\[}}[[T]]], [[A]], [[A]], %r{{[0-9]+}}, {{\[}}[[T]]], {{\[}}[[Y]]], %p{{[0-9]+}};
// CHECK:      tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X {{\[}}[[T]]], [[A]], [[A]], %r{{[0-9]+}}, {{\[}}[[T]]], {{\[}}[[Y]]], %p{{[0-9]+}};
