// Tensor maps that the device changes: copied by a warp, changed field by field, published, acquired.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx{arch=sm_90a} -t ptx | filecheck %s --check-prefix=PTX

func.func @update(%template: !cute_nvgpu.tma_descriptor_tiled, %array: !cute.ptr<f16, gmem, align<16>>, %arena: !cute.ptr<i8, gmem, align<128>>, %rows: i32, %pitch: i64) attributes {cute.kernel, nvvm.reqntid = array<i32: 32>, "tileas.smem_bytes" = 256 : i32} {
  %lane = cute_nvgpu.arch.lane_idx
  %zero = arith.constant 0 : i32
  %one = arith.cmpi eq, %lane, %zero : i32
  %s = cute_nvgpu.arch.get_dyn_smem 128 -> !cute.ptr<i8, smem, align<128>>
  cute_nvgpu.copy_tma_desc %template to %s : !cute_nvgpu.tma_descriptor_tiled, !cute.ptr<i8, smem, align<128>>
  cute_nvgpu.update_tma_desc "global_address" of %s, %array if %one : !cute.ptr<i8, smem, align<128>>, !cute.ptr<f16, gmem, align<16>>
  cute_nvgpu.update_tma_desc "global_dim", 1 of %s, %rows if %one : !cute.ptr<i8, smem, align<128>>, i32
  cute_nvgpu.update_tma_desc "global_stride", 0 of %s, %pitch : !cute.ptr<i8, smem, align<128>>, i64
  cute_nvgpu.arch.publish_tma_desc %s to %arena : !cute.ptr<i8, smem, align<128>>, !cute.ptr<i8, gmem, align<128>>
  cute_nvgpu.arch.barrier id 0
  %map = cute_nvgpu.arch.acquire_tma_desc %arena : !cute.ptr<i8, gmem, align<128>>
  cute_nvgpu.arch.prefetch_tma_desc %map
  func.return
}

// CHECK:      cute_nvgpu.copy_tma_desc %template to %s : !cute_nvgpu.tma_descriptor_tiled, !cute.ptr<i8, smem, align<128>>
// CHECK-NEXT: cute_nvgpu.update_tma_desc "global_address" of %s, %array if %one : !cute.ptr<i8, smem, align<128>>, !cute.ptr<f16, gmem, align<16>>
// CHECK-NEXT: cute_nvgpu.update_tma_desc "global_dim", 1 of %s, %rows if %one : !cute.ptr<i8, smem, align<128>>, i32
// CHECK-NEXT: cute_nvgpu.update_tma_desc "global_stride", 0 of %s, %pitch : !cute.ptr<i8, smem, align<128>>, i64
// CHECK-NEXT: cute_nvgpu.arch.publish_tma_desc %s to %arena : !cute.ptr<i8, smem, align<128>>, !cute.ptr<i8, gmem, align<128>>
// CHECK-NEXT: cute_nvgpu.arch.barrier id 0
// CHECK-NEXT: %map = cute_nvgpu.arch.acquire_tma_desc %arena : !cute.ptr<i8, gmem, align<128>>
// CHECK-NEXT: cute_nvgpu.arch.prefetch_tma_desc %map

// PTX:      shl.b32 %r4, %r0, 2;
// PTX:      cvt.u64.u32 %rd6, %r4;
// PTX:      ld.b32 %r5, [%rd7];
// PTX:      st.shared.b32 [%r6+128], %r5;
// PTX:      bar.warp.sync -1;
// PTX:      @%p0 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r2], %rd2;
// PTX:      @%p0 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 1, %r3;
// PTX:      tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r2], 0, %rd5;
// PTX:      bar.warp.sync -1;
// PTX:      tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd4], [%r2], 128;
// PTX:      bar.sync 0;
// PTX:      fence.proxy.tensormap::generic.acquire.gpu [%rd4], 128;
// PTX:      prefetch.tensormap [%rd4];
