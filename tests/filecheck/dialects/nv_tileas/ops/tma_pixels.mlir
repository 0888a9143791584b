// Columns of pixels (im2col): what a descriptor says of an image and a filter.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s

// 32 pixels of 64 channels, for each of 3x3 taps; the image has a border of one pixel.  The leading
// coordinate is the tap, then come batch, height and width in pixels, and channels in tiles.

func.func @columns(%image: memref<?x?x?x?xf16>, %s: !nv_tileas.tiled_view<1x1x32x64xf16, smem>, %i: index, %barrier: !nv_tileas.mem_token) {
  %one = arith.constant 1 : index
  %channels = arith.constant 64 : index
  %pixels = arith.constant 32 : index
  %d = nv_tileas.make_tiled_tma_desc %image box[%channels, %pixels, %one, %one] {atom = #nv_tileas<atom tma_load_4d<mode = im2col>>, pixel_lower = array<i32: -1, -1>, pixel_upper = array<i32: -1, -1>, filter = array<i32: 3, 3>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc
  %t = nv_tileas.async.tiled_tma_load %d, %s[%i, %i, %i, %i, %i] barrier %barrier {atom = #nv_tileas<atom tma_load_4d<mode = im2col>>} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<1x1x32x64xf16, smem>, index, index, index, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @columns
// CHECK:         %d = nv_tileas.make_tiled_tma_desc %image box[%channels, %pixels, %one, %one] {atom = #nv_tileas<atom tma_load_4d<mode = im2col>>, pixel_lower = array<i32: -1, -1>, pixel_upper = array<i32: -1, -1>, filter = array<i32: 3, 3>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc
// CHECK-NEXT:    %t = nv_tileas.async.tiled_tma_load %d, %s[%i, %i, %i, %i, %i] barrier %barrier {atom = #nv_tileas<atom tma_load_4d<mode = im2col>>} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<1x1x32x64xf16, smem>, index, index, index, index, index, !nv_tileas.mem_token -> !nv_tileas.token
// CHECK-NEXT:    func.return

// The mode may be that of the descriptor, and a line of pixels an image of one dimension.

func.func @line(%image: memref<4x100x64xf32>) {
  %one = arith.constant 1 : index
  %channels = arith.constant 16 : index
  %pixels = arith.constant 128 : index
  %d = nv_tileas.make_tiled_tma_desc %image box[%channels, %one, %pixels] {atom = #nv_tileas<atom tma_load_3d>, mode = "im2col", pixel_lower = array<i32: 0>, pixel_upper = array<i32: -6>, filter = array<i32: 7>} : memref<4x100x64xf32> -> !nv_tileas.tma_desc
  func.return
}

// CHECK-LABEL: func.func @line
// CHECK:         %d = nv_tileas.make_tiled_tma_desc %image box[%channels, %one, %pixels] {atom = #nv_tileas<atom tma_load_3d>, mode = "im2col", pixel_lower = array<i32: 0>, pixel_upper = array<i32: -6>, filter = array<i32: 7>} : memref<4x100x64xf32> -> !nv_tileas.tma_desc
