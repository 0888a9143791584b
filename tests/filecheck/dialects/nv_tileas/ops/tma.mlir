// TMA: descriptors, and bulk copies that use them.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s --check-prefix=XDSL

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!smem = !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>

// A descriptor: the box starts with the innermost dimension.

func.func @make_tiled_tma_desc(%v: !view, %m: memref<?x?xf16, strided<[?, 1]>>, %w: !nv_tileaa.tiled_view<8x8x8xi32>) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c4 = arith.constant 4 : index
  %0 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c128] {atom = #nv_tileas<atom tma_load_2d<box = [64, 128]>>, swizzle_mode = #nv_tileas<swizzle_mode "128B">, oob_mode = #nv_tileas<oob_mode nan>} : !view -> !nv_tileas.tma_desc
  %1 = nv_tileas.make_tiled_tma_desc %m box[%c64, %c128] {atom = #nv_tileas<atom tma_store_2d>, alignment = 128 : i32, tmaIdx = 1 : i32} : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tma_desc
  %2 = nv_tileas.make_tiled_tma_desc %w box[%c4, %c4, %c4] {atom = #nv_tileas<atom tma_load_3d>, mode = "im2col"} : !nv_tileaa.tiled_view<8x8x8xi32> -> !nv_tileas.tma_desc
  %3 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c128] {atom = #nv_tileas<atom tma_load_2d<multicast>>, num_multicast = 2 : i32} : !view -> !nv_tileas.tma_desc
  %4 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>, tma_internal_type = bf16} : !view -> !nv_tileas.tma_desc
  func.return
}

// CHECK-LABEL: func.func @make_tiled_tma_desc(%v: !view, %m: memref<?x?xf16, strided<[?, 1]>>, %w: !nv_tileaa.tiled_view<8x8x8xi32>) {
// CHECK-NEXT:    %c64 = arith.constant 64 : index
// CHECK-NEXT:    %c128 = arith.constant 128 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %0 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c128] {atom = #nv_tileas<atom tma_load_2d<box = [64, 128]>>, swizzle_mode = #nv_tileas<swizzle_mode "128B">, oob_mode = #nv_tileas<oob_mode nan>} : !view -> !nv_tileas.tma_desc
// CHECK-NEXT:    %1 = nv_tileas.make_tiled_tma_desc %m box[%c64, %c128] {atom = #nv_tileas<atom tma_store_2d>, alignment = 128 : i32, tmaIdx = 1 : i32} : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tma_desc
// CHECK-NEXT:    %2 = nv_tileas.make_tiled_tma_desc %w box[%c4, %c4, %c4] {atom = #nv_tileas<atom tma_load_3d>, mode = "im2col"} : !nv_tileaa.tiled_view<8x8x8xi32> -> !nv_tileas.tma_desc
// CHECK-NEXT:    %3 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c128] {atom = #nv_tileas<atom tma_load_2d<multicast>>, num_multicast = 2 : i32} : !view -> !nv_tileas.tma_desc
// CHECK-NEXT:    %4 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>, tma_internal_type = bf16} : !view -> !nv_tileas.tma_desc
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A load tells the barrier of its bytes; waiting for the token delivers the tile, if it has one.

func.func @tiled_tma_load(%d: !nv_tileas.tma_desc, %s: !smem, %i: index, %j: index, %barrier: !nv_tileas.mem_token) {
  %0 = nv_tileas.async.tiled_tma_load %d, %s[%i, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d<box = [64, 128]>>, padding_value = 0.0 : f16, tmaIdx = 0 : i32, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !smem, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  %1 = nv_tileas.async.tiled_tma_load %d, %s[%i, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d<multicast>>, num_multicast = 2 : i32} : !nv_tileas.tma_desc, !smem, index, index, !nv_tileas.mem_token -> !async.value<tile<128x64xf16>>
  %2 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d<mode = im2col>>} : !nv_tileas.tma_desc, !smem, index, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @tiled_tma_load(%d: !nv_tileas.tma_desc, %s: !smem, %i: index, %j: index, %barrier: !nv_tileas.mem_token) {
// CHECK-NEXT:    %0 = nv_tileas.async.tiled_tma_load %d, %s[%i, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d<box = [64, 128]>>, padding_value = 0.000000e+00 : f16, tmaIdx = 0 : i32, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !smem, index, index, !nv_tileas.mem_token -> !nv_tileas.token
// CHECK-NEXT:    %1 = nv_tileas.async.tiled_tma_load %d, %s[%i, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d<multicast>>, num_multicast = 2 : i32} : !nv_tileas.tma_desc, !smem, index, index, !nv_tileas.mem_token -> !nv_tileas.token<tensor<128x64xf16>>
// CHECK-NEXT:    %2 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d<mode = im2col>>} : !nv_tileas.tma_desc, !smem, index, index, index, !nv_tileas.mem_token -> !nv_tileas.token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

func.func @tiled_tma_store(%d: !nv_tileas.tma_desc, %s: !smem, %i: index, %j: index) {
  %0 = nv_tileas.async.tiled_tma_store %d, %s[%i, %j] {atom = #nv_tileas<atom tma_store_2d>} : !nv_tileas.tma_desc, !smem, index, index -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @tiled_tma_store(%d: !nv_tileas.tma_desc, %s: !smem, %i: index, %j: index) {
// CHECK-NEXT:    %0 = nv_tileas.async.tiled_tma_store %d, %s[%i, %j] {atom = #nv_tileas<atom tma_store_2d>} : !nv_tileas.tma_desc, !smem, index, index -> !nv_tileas.token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Rows by index; the coordinate is the first column.

func.func @gather_scatter(%d: !nv_tileas.tma_desc, %s: !smem, %rows: tensor<128xi32>, %j: index, %barrier: !nv_tileas.mem_token) {
  %0 = nv_tileas.async.gather_tma_load %d, %s[%j] rows %rows barrier %barrier {atom = #nv_tileas<atom tma_load_2d<box = [64, 1], mode = gather4>>, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !smem, index, tensor<128xi32>, !nv_tileas.mem_token -> !nv_tileas.token
  %1 = nv_tileas.async.scatter_tma_store %d, %s[%j] rows %rows {atom = #nv_tileas<atom tma_store_2d<mode = scatter4>>} : !nv_tileas.tma_desc, !smem, index, tensor<128xi32> -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @gather_scatter(%d: !nv_tileas.tma_desc, %s: !smem, %rows: tensor<128xi32>, %j: index, %barrier: !nv_tileas.mem_token) {
// CHECK-NEXT:    %0 = nv_tileas.async.gather_tma_load %d, %s[%j] rows %rows barrier %barrier {atom = #nv_tileas<atom tma_load_2d<box = [64, 1], mode = gather4>>, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !smem, index, tensor<128xi32>, !nv_tileas.mem_token -> !nv_tileas.token
// CHECK-NEXT:    %1 = nv_tileas.async.scatter_tma_store %d, %s[%j] rows %rows {atom = #nv_tileas<atom tma_store_2d<mode = scatter4>>} : !nv_tileas.tma_desc, !smem, index, tensor<128xi32> -> !nv_tileas.token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// The descriptor of a slice of an array: of %n rows, along dimension 0, from row %first on.

func.func @slice(%d: !nv_tileas.tma_desc, %s: !smem, %first: i32, %n: i32, %i: index) {
  %0 = nv_tileas.slice_tma_desc %d[%first, %n] {axis = 0 : i32}
  %1 = nv_tileas.async.tiled_tma_store %0, %s[%i, %i] {atom = #nv_tileas<atom tma_store_2d>} : !nv_tileas.tma_desc, !smem, index, index -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @slice
// CHECK-NEXT:    %0 = nv_tileas.slice_tma_desc %d[%first, %n] {axis = 0 : i32}
// CHECK-NEXT:    %1 = nv_tileas.async.tiled_tma_store %0, %s[%i, %i]

// A function that has its descriptors: the last arguments are the host's, those before the device's.

func.func @indices(%s: !smem, %i: index, %barrier: !nv_tileas.mem_token, %device: !nv_tileas.tma_desc {cute_nvgpu.grid_constant}, %host: !nv_tileas.tma_desc {cute_nvgpu.grid_constant}) attributes {"nv_tileas.num-host-tmas" = 1 : i32, "nv_tileas.num-device-tmas" = 2 : i32} {
  %0 = nv_tileas.async.tiled_tma_store %host, %s[%i, %i] {atom = #nv_tileas<atom tma_store_2d>, tmaIdx = 0 : i32} : !nv_tileas.tma_desc, !smem, index, index -> !nv_tileas.token
  %1 = nv_tileas.async.tiled_tma_store %device, %s[%i, %i] {atom = #nv_tileas<atom tma_store_2d>, tmaIdx = 1 : i32} : !nv_tileas.tma_desc, !smem, index, index -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @indices(%s: !smem, %i: index, %barrier: !nv_tileas.mem_token, %device: !nv_tileas.tma_desc {cute_nvgpu.grid_constant}, %host: !nv_tileas.tma_desc {cute_nvgpu.grid_constant}) attributes {"nv_tileas.num-host-tmas" = 1 : i32, "nv_tileas.num-device-tmas" = 2 : i32} {
// CHECK-NEXT:    %0 = nv_tileas.async.tiled_tma_store %host, %s[%i, %i] {atom = #nv_tileas<atom tma_store_2d>, tmaIdx = 0 : i32} : !nv_tileas.tma_desc, !smem, index, index -> !nv_tileas.token
// CHECK-NEXT:    %1 = nv_tileas.async.tiled_tma_store %device, %s[%i, %i] {atom = #nv_tileas<atom tma_store_2d>, tmaIdx = 1 : i32} : !nv_tileas.tma_desc, !smem, index, index -> !nv_tileas.token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }


// Plain xdsl-opt reads and prints the same, without aliases.

// XDSL: %0 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c128] {atom = #nv_tileas<atom tma_load_2d<box = [64, 128]>>, swizzle_mode = #nv_tileas<swizzle_mode "128B">, oob_mode = #nv_tileas<oob_mode nan>} : !nv_tileas.tiled_view<1024x1024xf16, gmem> -> !nv_tileas.tma_desc
// XDSL: %1 = nv_tileas.make_tiled_tma_desc %m box[%c64, %c128] {atom = #nv_tileas<atom tma_store_2d>, alignment = 128 : i32, tmaIdx = 1 : i32} : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tma_desc
// XDSL: %2 = nv_tileas.make_tiled_tma_desc %w box[%c4, %c4, %c4] {atom = #nv_tileas<atom tma_load_3d>, mode = "im2col"} : !nv_tileaa.tiled_view<8x8x8xi32> -> !nv_tileas.tma_desc
// XDSL: %3 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c128] {atom = #nv_tileas<atom tma_load_2d<multicast>>, num_multicast = 2 : i32} : !nv_tileas.tiled_view<1024x1024xf16, gmem> -> !nv_tileas.tma_desc
// XDSL: %4 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>, tma_internal_type = bf16} : !nv_tileas.tiled_view<1024x1024xf16, gmem> -> !nv_tileas.tma_desc
// XDSL: %0 = nv_tileas.async.tiled_tma_load %d, %s[%i, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d<box = [64, 128]>>, padding_value = 0.000000e+00 : f16, tmaIdx = 0 : i32, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
// XDSL: %1 = nv_tileas.async.tiled_tma_load %d, %s[%i, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d<multicast>>, num_multicast = 2 : i32} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>, index, index, !nv_tileas.mem_token -> !nv_tileas.token<tensor<128x64xf16>>
// XDSL: %2 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d<mode = im2col>>} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>, index, index, index, !nv_tileas.mem_token -> !nv_tileas.token
// XDSL: %0 = nv_tileas.async.tiled_tma_store %d, %s[%i, %j] {atom = #nv_tileas<atom tma_store_2d>} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>, index, index -> !nv_tileas.token
// XDSL: %0 = nv_tileas.async.gather_tma_load %d, %s[%j] rows %rows barrier %barrier {atom = #nv_tileas<atom tma_load_2d<box = [64, 1], mode = gather4>>, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>, index, tensor<128xi32>, !nv_tileas.mem_token -> !nv_tileas.token
// XDSL: %1 = nv_tileas.async.scatter_tma_store %d, %s[%j] rows %rows {atom = #nv_tileas<atom tma_store_2d<mode = scatter4>>} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>, index, tensor<128xi32> -> !nv_tileas.token
// XDSL: %0 = nv_tileas.async.tiled_tma_store %host, %s[%i, %i] {atom = #nv_tileas<atom tma_store_2d>, tmaIdx = 0 : i32} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>, index, index -> !nv_tileas.token
// XDSL: %1 = nv_tileas.async.tiled_tma_store %device, %s[%i, %i] {atom = #nv_tileas<atom tma_store_2d>, tmaIdx = 1 : i32} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>, index, index -> !nv_tileas.token
