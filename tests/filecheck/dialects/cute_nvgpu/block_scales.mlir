// Scales copied to tensor memory, and the products that take them there.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s

// An atom of scales, 128 rows by 4 scales, is 32 rows of 16 bytes that all four quarters get.

func.func @copies(%s: !cute_nvgpu.smem_desc, %t: i32) {
  cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 32 bits 128 broadcast "x4" blocks 1
  cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 64 bits 128 broadcast "lw_0213" blocks 2
  cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 128 bits 256 broadcast "none" blocks 1
  func.return
}

// CHECK-LABEL: func.func @copies(%s: !cute_nvgpu.smem_desc, %t: i32) {
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 32 bits 128 broadcast "x4" blocks 1
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 64 bits 128 broadcast "lw_0213" blocks 2
// CHECK-NEXT:    cute_nvgpu.arch.copy.SM100.copy_s2t %s, %t lanes 128 bits 256 broadcast "none" blocks 1
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// The kind says how many scales a row has in one instruction; they begin at a byte of a column.

func.func @products(%a: !cute_nvgpu.smem_desc, %d: i32, %x: i32, %y: i32, %acc: i1) {
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %x[3], %y[1] accumulate %acc shape [128, 64, 32] kind "mxf8f6f4" scale_vec "1X" elements "e4m3", "e5m2", "ue8m0" blocks 1
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %x[2], %y[0] accumulate %acc shape [128, 256, 64] kind "mxf4" scale_vec "2X" elements "e2m1", "e2m1", "ue8m0" blocks 1
  cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %x[0], %y[0] accumulate %acc shape [256, 256, 64] kind "mxf4nvf4" scale_vec "4X" elements "e2m1", "e2m1", "ue4m3" blocks 2
  func.return
}

// CHECK-LABEL: func.func @products(
// CHECK-NEXT:    cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %x[3], %y[1] accumulate %acc shape [128, 64, 32] kind "mxf8f6f4" scale_vec "1X" elements "e4m3", "e5m2", "ue8m0" blocks 1
// CHECK-NEXT:    cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %x[2], %y[0] accumulate %acc shape [128, 256, 64] kind "mxf4" scale_vec "2X" elements "e2m1", "e2m1", "ue8m0" blocks 1
// CHECK-NEXT:    cute_nvgpu.arch.mma.SM100.umma_block_scaled %a, %a, %d scales %x[0], %y[0] accumulate %acc shape [256, 256, 64] kind "mxf4nvf4" scale_vec "4X" elements "e2m1", "e2m1", "ue4m3" blocks 2
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
