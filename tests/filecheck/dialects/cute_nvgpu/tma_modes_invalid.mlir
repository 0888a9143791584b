// What bulk copies refuse to move.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @copies(%d: !cute_nvgpu.tma_descriptor_tiled, %s: !cute.ptr<bf16, smem, align<128>>, %b: !cute.ptr<i64, smem>, %i: i32, %o: i16) {
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_load' op has mode gather4 or im2col, not scatter4}}
  cute_nvgpu.arch.copy.SM90.tma_load mode "scatter4" %d[%i, %i, %i, %i, %i] to %s, %b : !cute.ptr<bf16, smem, align<128>>, !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_store' op has mode scatter4 or im2col, not gather4}}
  cute_nvgpu.arch.copy.SM90.tma_store mode "gather4" %d[%i, %i, %i, %i, %i] from %s : !cute.ptr<bf16, smem, align<128>>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_load' op takes a column and four rows in mode gather4, not 4}}
  cute_nvgpu.arch.copy.SM90.tma_load mode "gather4" %d[%i, %i, %i, %i] to %s, %b : !cute.ptr<bf16, smem, align<128>>, !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_store' op takes a column and four rows in mode scatter4, not 2}}
  cute_nvgpu.arch.copy.SM90.tma_store mode "scatter4" %d[%i, %i] from %s : !cute.ptr<bf16, smem, align<128>>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_load' op takes 3 to 5 coordinates in mode im2col, not 2}}
  cute_nvgpu.arch.copy.SM90.tma_load mode "im2col" %d[%i, %i] to %s, %b : !cute.ptr<bf16, smem, align<128>>, !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_load' op takes 2 offsets, not 1}}
  cute_nvgpu.arch.copy.SM90.tma_load mode "im2col" %d[%i, %i, %i, %i] offsets[%o] to %s, %b : !cute.ptr<bf16, smem, align<128>>, !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_load' op takes 0 offsets, not 1}}
  cute_nvgpu.arch.copy.SM90.tma_load %d[%i, %i, %i] offsets[%o] to %s, %b : !cute.ptr<bf16, smem, align<128>>, !cute.ptr<i64, smem>
  func.return
}
