// Sparse products into tensor memory: the address of the metadata stands before the instruction
// descriptor, the modifiers of the instruction are attributes.

// RUN: tileas-opt %s -p 'convert-cute-nvgpu-to-ptx{arch=sm_100a}' -t 'ptx{arch=sm_100a}' | filecheck %s

func.func @sparse(%t: i32, %e: i32, %idesc: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 8192 : i32} {
  %p = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i8, smem, align<1024>>
  %one = cute_nvgpu.arch.elect_one
  %no = arith.constant false
  %yes = arith.constant true
  %a = cute_nvgpu.make_umma_smem_desc %p swizzle "128B" leading 16 stride 1024 : !cute.ptr<i8, smem, align<1024>>
  scf.if %one {
    cute_nvgpu.arch.mma.SM100.umma_sparse %a, %a, %t metadata %e descriptor %idesc accumulate %no {kind = "f16", num_cta = 1 : i32}
    cute_nvgpu.arch.mma.SM100.umma_sparse %a, %a, %t metadata %e descriptor %idesc accumulate %yes {kind = "tf32", num_cta = 1 : i32, scale_input = 3 : i32, collector = "lastuse"}
    cute_nvgpu.arch.mma.SM100.umma_sparse %a, %a, %t metadata %e descriptor %idesc accumulate %yes {kind = "i8", num_cta = 1 : i32, weight_stationary}
    cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %a, %a, %t scales %e, %t metadata %e descriptor %idesc accumulate %yes {kind = "mxf4nvf4", num_cta = 1 : i32, scale_vec = "4X"}
    scf.yield
  }
  func.return
}

// CHECK:      tcgen05.mma.sp.cta_group::1.kind::f16 {{\[}}[[T:%r[0-9]+]]], [[A:%rd[0-9]+]], [[A]], {{\[}}[[E:%r[0-9]+]]], [[I:%r[0-9]+]], %p{{[0-9]+}};
// CHECK-NEXT: tcgen05.mma.sp.cta_group::1.kind::tf32.collector::a::lastuse {{\[}}[[T]]], [[A]], [[A]], {{\[}}[[E]]], [[I]], %p{{[0-9]+}}, 3;
// CHECK-NEXT: tcgen05.mma.ws.sp.cta_group::1.kind::i8 {{\[}}[[T]]], [[A]], [[A]], {{\[}}[[E]]], [[I]], %p{{[0-9]+}};
// CHECK-NEXT: tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X {{\[}}[[T]]], [[A]], [[A]], {{\[}}[[E]]], [[I]], {{\[}}[[E]]], {{\[}}[[T]]], %p{{[0-9]+}};
