// Bulk copies of rows by their numbers, and of columns of pixels.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s

func.func @copies(%d: !cute_nvgpu.tma_descriptor_tiled, %s: !cute.ptr<bf16, smem, align<1024>>, %b: !cute.ptr<i64, smem>, %i: i32, %o: i16, %c: i1) {
  cute_nvgpu.arch.copy.SM90.tma_load mode "gather4" %d[%i, %i, %i, %i, %i] to %s, %b if %c : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
  cute_nvgpu.arch.copy.SM90.tma_load mode "im2col" %d[%i, %i, %i, %i] offsets[%o, %o] to %s, %b multicast %o : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
  cute_nvgpu.arch.copy.SM90.tma_store mode "scatter4" %d[%i, %i, %i, %i, %i] from %s if %c : !cute.ptr<bf16, smem, align<1024>>
  cute_nvgpu.arch.copy.SM90.tma_store mode "im2col" %d[%i, %i, %i] from %s : !cute.ptr<bf16, smem, align<1024>>
  func.return
}

// CHECK-LABEL: func.func @copies
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM90.tma_load mode "gather4" %d[%i, %i, %i, %i, %i] to %s, %b if %c : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM90.tma_load mode "im2col" %d[%i, %i, %i, %i] offsets[%o, %o] to %s, %b multicast %o : !cute.ptr<bf16, smem, align<1024>>, !cute.ptr<i64, smem>
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM90.tma_store mode "scatter4" %d[%i, %i, %i, %i, %i] from %s if %c : !cute.ptr<bf16, smem, align<1024>>
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM90.tma_store mode "im2col" %d[%i, %i, %i] from %s : !cute.ptr<bf16, smem, align<1024>>
// CHECK-NEXT:    func.return
