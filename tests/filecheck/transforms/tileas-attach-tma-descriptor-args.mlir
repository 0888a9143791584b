// `tileas-attach-tma-descriptor-args`: every TMA descriptor becomes an argument of its function.

// RUN: tileas-opt %s -p tileas-attach-tma-descriptor-args | filecheck %s
// RUN: tileas-opt %s -p tileas-attach-tma-descriptor-args,tileas-attach-tma-descriptor-args | filecheck %s
// RUN: tileas-opt %s -p tileas-attach-tma-desc-args | filecheck %s
// RUN: xdsl-opt %s -p tileas-attach-tma-descriptor-args | filecheck %s

// TMA and Memops Family, "Descriptor ABI".  Completed: the box, the atom, what is moved.

func.func @k(%p: memref<?x64xf16>, %s: tensor<8x64xf16>, %i: index, %bar: !nv_tileas.mem_token) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %d = nv_tileas.make_tiled_tma_desc %p box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x64xf16> -> !nv_tileas.tma_desc
  %t = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %bar {atom = #nv_tileas<atom tma_load_2d>, tx_count = 1024 : i32} : !nv_tileas.tma_desc, tensor<8x64xf16>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @k(%p: memref<?x64xf16> {nv_tileas.hidden}, %s: tensor<8x64xf16> {nv_tileas.hidden}, %i: index {nv_tileas.hidden}, %bar: !nv_tileas.mem_token {nv_tileas.hidden}, %d: !nv_tileas.tma_desc {cute_nvgpu.grid_constant, nv_tileas.tensor_map = {argument = 0 : i64, box = array<i64: 64, 8>, element = f16, swizzle = "none", nan_fill = false}}) attributes {"nv_tileas.num-device-tmas" = 0 : i32, "nv_tileas.num-host-tmas" = 1 : i32} {
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c64 = arith.constant 64 : index
// CHECK-NEXT:    %t = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %bar {atom = #nv_tileas<atom tma_load_2d>, tx_count = 1024 : i32, tmaIdx = 0 : i32} : !nv_tileas.tma_desc, tensor<8x64xf16>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
// CHECK-NEXT:    func.return

// The box and the swizzle are those of the tile that is moved.  A descriptor that depends on what
// only the device knows stays; its argument, before those of the host, is its template.

func.func @both(%p: memref<?x64xf16>, %q: memref<?x64xbf16>, %i: index, %bar: !nv_tileas.mem_token) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %s = nv_tileas.alloc_tensor : tensor<8x64xf16, #nv_tileas<space smem>>
  %b = nv_tileas.alloc_tensor : tensor<8x32xbf16, #nv_tileas<space smem>>
  %h = nv_tileas.make_tiled_tma_desc %p box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x64xf16> -> !nv_tileas.tma_desc
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %w = nv_tileas.view %q[%block, %c0] : memref<?x64xbf16> -> !nv_tileas.tiled_view<8x64xbf16, gmem>
  %d = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #nv_tileas<atom tma_store_2d>} : !nv_tileas.tiled_view<8x64xbf16, gmem> -> !nv_tileas.tma_desc
  %g = nv_tileas.make_tiled_tma_desc %p box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x64xf16> -> !nv_tileas.tma_desc
  %t = nv_tileas.async.tiled_tma_load %h, %s[%i, %i] barrier %bar {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tma_desc, tensor<8x64xf16, #nv_tileas<space smem>>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  %u = nv_tileas.async.tiled_tma_load %g, %s[%i, %i] barrier %bar {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tma_desc, tensor<8x64xf16, #nv_tileas<space smem>>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  %v = nv_tileas.async.tiled_tma_store %d, %b[%i, %i] {atom = #nv_tileas<atom tma_store_2d>} : !nv_tileas.tma_desc, tensor<8x32xbf16, #nv_tileas<space smem>>, index, index -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @both(%p: memref<?x64xf16> {nv_tileas.hidden}, %q: memref<?x64xbf16> {nv_tileas.hidden}, %i: index {nv_tileas.hidden}, %bar: !nv_tileas.mem_token {nv_tileas.hidden}, %d: !nv_tileas.tma_desc {cute_nvgpu.grid_constant, nv_tileas.tensor_map = {argument = 1 : i64, box = array<i64: 32, 8>, element = bf16, swizzle = "64B", nan_fill = false, written}}, %h: !nv_tileas.tma_desc {cute_nvgpu.grid_constant, nv_tileas.tensor_map = {argument = 0 : i64, box = array<i64: 64, 8>, element = f16, swizzle = "128B", nan_fill = false}}, %g: !nv_tileas.tma_desc {cute_nvgpu.grid_constant, nv_tileas.tensor_map = {argument = 0 : i64, box = array<i64: 64, 8>, element = f16, swizzle = "128B", nan_fill = false}}) attributes {"nv_tileas.num-device-tmas" = 1 : i32, "nv_tileas.num-host-tmas" = 2 : i32} {
// CHECK:         %d_1 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] {atom = #nv_tileas<atom tma_store_2d>, tmaIdx = 0 : i32} : !nv_tileas.tiled_view<8x64xbf16, gmem> -> !nv_tileas.tma_desc
// CHECK-NEXT:    %t = nv_tileas.async.tiled_tma_load %h, %s[%i, %i] barrier %bar {atom = #nv_tileas<atom tma_load_2d>, tmaIdx = 0 : i32}
// CHECK-NEXT:    %u = nv_tileas.async.tiled_tma_load %g, %s[%i, %i] barrier %bar {atom = #nv_tileas<atom tma_load_2d>, tmaIdx = 1 : i32}
// CHECK-NEXT:    %v = nv_tileas.async.tiled_tma_store %d_1, %b[%i, %i] {atom = #nv_tileas<atom tma_store_2d>, tmaIdx = 0 : i32}

// Attributes that arguments have stay.  Functions without descriptors are left alone.

func.func @attributes(%p: memref<?x64xf16> {test.kept}) {
  %c8 = arith.constant 8 : index
  %d = nv_tileas.make_tiled_tma_desc %p box[%c8, %c8] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x64xf16> -> !nv_tileas.tma_desc
  "test.op"(%d) : (!nv_tileas.tma_desc) -> ()
  func.return
}
func.func @plain(%p: memref<?x64xf16>) {
  func.return
}
func.func private @elsewhere(memref<?x64xf16>)

// CHECK-LABEL: func.func @attributes(%p: memref<?x64xf16> {test.kept, nv_tileas.hidden}, %d: !nv_tileas.tma_desc {cute_nvgpu.grid_constant,
// CHECK:         "test.op"(%d) : (!nv_tileas.tma_desc) -> ()
// CHECK-LABEL: func.func @plain(%p: memref<?x64xf16>) {
// CHECK:       func.func private @elsewhere(memref<?x64xf16>) -> ()
