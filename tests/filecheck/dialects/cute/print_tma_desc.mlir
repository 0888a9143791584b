// Tensor maps are printed, each kind by its operation.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s

func.func @maps(%boxes: !cute_nvgpu.tma_descriptor_tiled, %columns: !cute_nvgpu.tma_descriptor_im2col, %fd: i32) {
  cute.print_tma_desc_tiled(%boxes, %fd)
  cute.print_tma_desc_im2col(%columns, %fd)
  func.return
}

// CHECK-LABEL: func.func @maps
// CHECK-NEXT:    cute.print_tma_desc_tiled(%boxes, %fd) : (!cute_nvgpu.tma_descriptor_tiled, i32) -> ()
// CHECK-NEXT:    cute.print_tma_desc_im2col(%columns, %fd) : (!cute_nvgpu.tma_descriptor_im2col, i32) -> ()
