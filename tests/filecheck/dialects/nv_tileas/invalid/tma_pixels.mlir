// What descriptors of columns of pixels refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Corners and filter are said together, in mode im2col, for an image.

#columns = #nv_tileas<atom tma_load_4d<mode = im2col>>

func.func @parts(%v: memref<?x?x?x?xf16>, %m: memref<?x?xf16>) {
  %c = arith.constant 64 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op says pixel_lower and filter; pixels are pixel_lower, pixel_upper, filter}}
  %0 = nv_tileas.make_tiled_tma_desc %v box[%c, %c, %one, %one] {atom = #columns, pixel_lower = array<i32: 0, 0>, filter = array<i32: 1, 1>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op says pixels, but its mode is 'tiled', not 'im2col'}}
  %1 = nv_tileas.make_tiled_tma_desc %v box[%c, %c, %one, %one] {atom = #nv_tileas<atom tma_load_4d>, pixel_lower = array<i32: 0, 0>, pixel_upper = array<i32: 0, 0>, filter = array<i32: 1, 1>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op says pixels of 2 dimensions; there are 3 or more}}
  %2 = nv_tileas.make_tiled_tma_desc %m box[%c, %c] {atom = #nv_tileas<atom tma_load_2d<mode = im2col>>, pixel_lower = array<i32: 0, 0>, pixel_upper = array<i32: 0, 0>, filter = array<i32: 1, 1>} : memref<?x?xf16> -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op has 3 numbers in pixel_upper, but an image of 2 dimensions}}
  %3 = nv_tileas.make_tiled_tma_desc %v box[%c, %c, %one, %one] {atom = #columns, pixel_lower = array<i32: 0, 0>, pixel_upper = array<i32: 0, 0, 0>, filter = array<i32: 1, 1>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc

  %ok = nv_tileas.make_tiled_tma_desc %v box[%c, %c, %one, %one] {atom = #columns, pixel_lower = array<i32: 0, 0>, pixel_upper = array<i32: 0, 0>, filter = array<i32: 1, 1>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc
  func.return
}

// -----

// Corners and filters are as large as the map has bits for them; a column has 1024 pixels at most.

#columns = #nv_tileas<atom tma_load_4d<mode = im2col>>

func.func @ranges(%v: memref<?x?x?x?xf16>) {
  %c = arith.constant 64 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %many = arith.constant 205 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op has -129 in pixel_lower, which goes from -128 to 127}}
  %0 = nv_tileas.make_tiled_tma_desc %v box[%c, %c, %one, %one] {atom = #columns, pixel_lower = array<i32: 0, -129>, pixel_upper = array<i32: 0, 0>, filter = array<i32: 1, 1>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op has 128 in pixel_upper, which goes from -128 to 127}}
  %1 = nv_tileas.make_tiled_tma_desc %v box[%c, %c, %one, %one] {atom = #columns, pixel_lower = array<i32: 0, 0>, pixel_upper = array<i32: 128, 0>, filter = array<i32: 1, 1>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op has a filter of 0; extents are 1 to 256}}
  %2 = nv_tileas.make_tiled_tma_desc %v box[%c, %c, %one, %one] {atom = #columns, pixel_lower = array<i32: 0, 0>, pixel_upper = array<i32: 0, 0>, filter = array<i32: 0, 1>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op copies 1025 pixels at once; 1024 is the most}}
  %3 = nv_tileas.make_tiled_tma_desc %v box[%c, %many, %five, %one] {atom = #columns, pixel_lower = array<i32: 0, 0>, pixel_upper = array<i32: 0, 0>, filter = array<i32: 1, 1>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc

  %ok = nv_tileas.make_tiled_tma_desc %v box[%c, %c, %five, %one] {atom = #columns, pixel_lower = array<i32: -128, 0>, pixel_upper = array<i32: 127, 0>, filter = array<i32: 256, 1>} : memref<?x?x?x?xf16> -> !nv_tileas.tma_desc
  func.return
}
