// Rows by their numbers and columns of pixels become modes of tensor copies.

// RUN: tileas-opt %s -p 'cse,licm,convert-cute-nvgpu-to-ptx{arch=sm_100a}' | filecheck %s

func.func @copies(%d: !cute_nvgpu.tma_descriptor_tiled, %i: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 1024 -> !cute.ptr<bf16, smem, align<1024>>
  %b = cute_nvgpu.arch.get_dyn_smem 32768 -> !cute.ptr<i64, smem>
  %o = arith.trunci %i : i32 to i16
  cute_nvgpu.arch.copy.SM90.tma_load mode "gather4" %d[%i, %i, %i, %i, %i] to %s, %b : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
  cute_nvgpu.arch.copy.SM90.tma_load mode "im2col" %d[%i, %i, %i, %i] offsets[%o, %o] to %s, %b : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
  cute_nvgpu.arch.copy.SM90.tma_store mode "scatter4" %d[%i, %i, %i, %i, %i] from %s : !cute.ptr<bf16, smem, align<1024>>
  cute_nvgpu.arch.copy.SM90.tma_store mode "im2col" %d[%i, %i, %i] from %s : !cute.ptr<bf16, smem, align<1024>>
  func.return
}

// CHECK-LABEL: ptx.entry @copies
// CHECK:         ptx.tensor_load %{{.*}} coordinates(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {mode = "tile::gather4", to = "shared::cluster", offset = 1024 : i64, barrier_offset = 32768 : i64}
// CHECK-NEXT:    ptx.tensor_load %{{.*}} coordinates(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) offsets(%{{.*}}, %{{.*}}) {mode = "im2col", to = "shared::cluster", offset = 1024 : i64, barrier_offset = 32768 : i64}
// CHECK-NEXT:    ptx.tensor_store %{{.*}} coordinates(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {mode = "tile::scatter4", offset = 1024 : i64}
// CHECK-NEXT:    ptx.tensor_store %{{.*}} coordinates(%{{.*}}, %{{.*}}, %{{.*}}) {mode = "im2col_no_offs", offset = 1024 : i64}
