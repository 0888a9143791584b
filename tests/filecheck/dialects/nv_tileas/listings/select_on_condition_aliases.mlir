// The layout and buffer page, "Select-on-Condition Aliases", before and after.
//
// Completed: the encoding, the wrapping functions.
// Adapted: `tile.select` is read as `arith.select`.  An attribute holds no expression: the selected
// offset, `{offset = tile.select(%flag, 0, 8192)}`, is an index operand.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

#smem = #nv_tileas<space smem>

// CHECK-LABEL: func.func @before
func.func @before(%flag: i1) -> tensor<128x64xf16, #smem> {
  // CHECK: %a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
  %a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
  // CHECK: %b = nv_tileas.view %a {offset = 8192 : i64} : tensor<128x64xf16, #smem>
  %b = nv_tileas.view %a {offset = 8192} : tensor<128x64xf16, #smem>
  // CHECK: %buf = arith.select %flag, %a, %b : tensor<128x64xf16, #smem>
  %buf = tile.select %flag, %a, %b : tensor<128x64xf16, #smem>
  func.return %buf : tensor<128x64xf16, #smem>
}

// CHECK-LABEL: func.func @after
func.func @after(%flag: i1) -> tensor<128x64xf16, #smem> {
  // CHECK: %a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
  %a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
  %c0 = arith.constant 0 : index
  %c8192 = arith.constant 8192 : index
  // CHECK: %offset = arith.select %flag, %c0, %c8192 : index
  %offset = tile.select %flag, %c0, %c8192 : index
  // CHECK: %buf = nv_tileas.view %a[%offset] : tensor<128x64xf16, #smem>
  %buf = nv_tileas.view %a[%offset] : tensor<128x64xf16, #smem>
  func.return %buf : tensor<128x64xf16, #smem>
}
