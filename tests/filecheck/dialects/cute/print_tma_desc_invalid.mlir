// A tensor map is printed by the operation of its kind.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @tiled(%columns: !cute_nvgpu.tma_descriptor_im2col, %fd: i32) {
  // expected-error@+1 {{'cute.print_tma_desc_tiled' op prints a tensor map of kind tiled, not !cute_nvgpu.tma_descriptor_im2col}}
  cute.print_tma_desc_tiled(%columns, %fd)
  func.return
}

// -----

func.func @im2col(%boxes: !cute_nvgpu.tma_descriptor_tiled, %fd: i32) {
  // expected-error@+1 {{'cute.print_tma_desc_im2col' op prints a tensor map of kind im2col, not !cute_nvgpu.tma_descriptor_tiled}}
  cute.print_tma_desc_im2col(%boxes, %fd)
  func.return
}

// -----

// It is no address.

func.func @address(%map: !cute.ptr<i64, generic>, %fd: i32) {
  // expected-error@+1 {{prints a tensor map of kind tiled, not !cute.ptr<i64, generic>}}
  cute.print_tma_desc_tiled(%map, %fd)
  func.return
}

// -----

// A file has a number.

func.func @file(%boxes: !cute_nvgpu.tma_descriptor_tiled, %fd: f32) {
  // expected-error@+1 {{operand 'fd' at position 1 does not verify: Expected attribute i32 but got f32}}
  cute.print_tma_desc_tiled(%boxes, %fd)
  func.return
}
