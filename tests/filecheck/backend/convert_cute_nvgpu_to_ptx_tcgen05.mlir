// Tensor memory on the way to PTX.

// RUN: tileas-opt %s -p 'cse,convert-cute-nvgpu-to-ptx{arch=sm_100a}' -t 'ptx{arch=sm_100a}' | filecheck %s

func.func @tile(%n: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 8192 : i32} {
  %w = cute_nvgpu.arch.get_dyn_smem 4096 -> !cute.ptr<i32, smem, align<8>>
  %m = cute_nvgpu.arch.get_dyn_smem 4104 -> !cute.ptr<i64, smem, align<8>>
  %p = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f16, smem, align<1024>>
  cute_nvgpu.arch.sm100.alloc_tmem %w, 64 blocks 1 : !cute.ptr<i32, smem, align<8>>
  cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit blocks 1
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"
  %t = cute_nvgpu.arch.sm100.retrieve_tmem_ptr %w : !cute.ptr<i32, smem, align<8>>
  %one = cute_nvgpu.arch.elect_one
  %no = arith.constant false
  %a = cute_nvgpu.make_umma_smem_desc %p swizzle "128B" leading 16 stride 1024 : !cute.ptr<f16, smem, align<1024>>
  %b = cute_nvgpu.smem_desc_add %a bytes 32
  scf.if %one {
    cute_nvgpu.arch.mma.SM100.umma %a, %b, %t accumulate %no shape [64, 64, 16] elements "f16", "f16", "f32" major "k", "k" blocks 1
    scf.yield
  }
  cute_nvgpu.arch.sm100.umma_commit %m if %one blocks 1 : !cute.ptr<i64, smem, align<8>>
  %l = cute_nvgpu.arch.copy.SM100.tmem_load %t shape "16x256b" repeat 1 : vector<4xf32>
  %v = cute_nvgpu.arch.sm100.wait_tmem "load", %l : vector<4xf32> -> vector<4xf32>
  cute_nvgpu.arch.copy.SM100.tmem_store %v, %t shape "16x256b" repeat 1 : vector<4xf32>
  cute_nvgpu.arch.sm100.wait_tmem "store"
  cute_nvgpu.arch.sm100.dealloc_tmem %t, 64 blocks 1
  func.return
}

// CHECK:      .version 8.6
// CHECK-NEXT: .target sm_100a
// CHECK:      tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r{{[0-9]+}}+4096], 64;
// CHECK-NEXT: tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
// CHECK-NEXT: tcgen05.fence::before_thread_sync;
// CHECK-NEXT: bar.sync 0;
// CHECK-NEXT: tcgen05.fence::after_thread_sync;
// CHECK-NEXT: ld.shared.b32 [[T:%r[0-9]+]], [%r{{[0-9]+}}+4096];
// CHECK:      elect.sync
// CHECK:      tcgen05.mma.cta_group::1.kind::f16 {{\[}}[[T]]], %rd{{[0-9]+}}, %rd{{[0-9]+}}, %r{{[0-9]+}}, %p{{[0-9]+}};
// CHECK:      tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r{{[0-9]+}}+4104];
// CHECK-NEXT: tcgen05.ld.sync.aligned.16x256b.x1.b32 {%f0, %f1, %f2, %f3}, {{\[}}[[T]]];
// CHECK-NEXT: tcgen05.wait::ld.sync.aligned;
// CHECK-NEXT: tcgen05.st.sync.aligned.16x256b.x1.b32 {{\[}}[[T]]], {%f0, %f1, %f2, %f3};
// CHECK-NEXT: tcgen05.wait::st.sync.aligned;
// CHECK:      tcgen05.dealloc.cta_group::1.sync.aligned.b32 [[T]], 64;
