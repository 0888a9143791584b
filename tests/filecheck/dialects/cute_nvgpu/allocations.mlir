// Syntax of allocations, tensor maps and copies that a lowering emits.

// RUN: tileas-opt %s | tileas-opt | filecheck %s

!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
!box = !cute.layout<"(8,64):(1@0,1@1)">
!read = !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x8>
!half = !cute_nvgpu.atom.tmem_load<f32, 16 DP, 256 bit, x1>
func.func @made(%a: !view, %lies: !lies, %box: !box, %load: !cute_nvgpu.atom.tma_store<f16, copy_bits = 8192, mode = tiled, g_stride = <"()"> tma_gbasis = <"(64,8):(1@1,1@0)">>, %read: !read, %half: !half, %d: !cute.memref<f32, tmem, align<16>, "(128,16):(65536,1)">, %e: !cute.memref<f32, tmem, align<16>, "((16,4),8):((65536,2097152),1)">) {
  %s = cute_nvgpu.arch.alloc_smem 64 -> !cute.ptr<f16, smem, align<128>>
  %n = cute.static : !cute.int_tuple<"8">
  %r = cute_nvgpu.arch.alloc_rmem %n : !cute.int_tuple<"8"> -> !cute.ptr<f16, rmem, align<16>>
  %map = cute_nvgpu.make_tma_desc_tiled %a, %lies, %box multicast 2 : !view, !lies, !box
  %at = cute_nvgpu.get_grid_constant_pointer %map : !cute_nvgpu.tma_descriptor_tiled
  cute_nvgpu.prefetch_tma_desc %load : !cute_nvgpu.atom.tma_store<f16, copy_bits = 8192, mode = tiled, g_stride = <"()"> tma_gbasis = <"(64,8):(1@1,1@0)">>
  %whole = cute_nvgpu.atom.make_tmem_copy(%read, %d)
  %parts = cute_nvgpu.atom.make_tmem_copy(%half, %e)
  func.return
}

// CHECK:       %s = cute_nvgpu.arch.alloc_smem 64 -> !cute.ptr<f16, smem, align<128>>
// CHECK:       %r = cute_nvgpu.arch.alloc_rmem %n : !cute.int_tuple<"8"> -> !cute.ptr<f16, rmem, align<16>>
// CHECK-NEXT:  %map = cute_nvgpu.make_tma_desc_tiled %a, %lies, %box multicast 2 : !view, !lies, !box
// CHECK-NEXT:  %at = cute_nvgpu.get_grid_constant_pointer %map : !cute_nvgpu.tma_descriptor_tiled
// CHECK-NEXT:  cute_nvgpu.prefetch_tma_desc %load : !cute_nvgpu.atom.tma_store<
// CHECK-NEXT:  %whole = cute_nvgpu.atom.make_tmem_copy(%read, %d) : {{.*}} -> !cute.tiled_copy<!read, layout_copy_tv = <"((32,4),8):((1,32),128)">, tiler_mn = <"[128:1;8:1]">>
// CHECK-NEXT:  %parts = cute_nvgpu.atom.make_tmem_copy(%half, %e) : {{.*}} -> !cute.tiled_copy<!half, layout_copy_tv = <"(((4,8),4),(2,2)):(((128,1),16),(64,8))">, tiler_mn = <"[64:1;8:1]">>
