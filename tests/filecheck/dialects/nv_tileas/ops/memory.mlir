// Tiled loads and stores, and those of pointers and scattered elements.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s --check-prefix=XDSL

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

// A tile of a view: the coordinates count tiles.

func.func @tiled_load(%v: !view, %i: index, %j: index) -> tensor<64x64xf16> {
  %0 = nv_tileas.tiled_load %v[%i, %j] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xf16>
  func.return %0 : tensor<64x64xf16>
}

// CHECK-LABEL: func.func @tiled_load(%v: !view, %i: index, %j: index) -> tensor<64x64xf16> {
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %v[%i, %j] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xf16>
// CHECK-NEXT:    func.return %0 : tensor<64x64xf16>
// CHECK-NEXT:  }

// The offsets count elements; the token comes after another one and there is one behind.

func.func @everything(%v: !view, %i: index, %m: tensor<64x64xi1>, %t: !nv_tileas.mem_token) {
  %0, %t0 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] relaxed gpu mask %m : tensor<64x64xi1> after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true, false>, padding_value = 0.0 : f16, nv_tileas.layout = <(64,64),(64,1)>} : !view -> tensor<64x64xf16>, !nv_tileas.mem_token
  func.return
}

// CHECK-LABEL: func.func @everything(%v: !view, %i: index, %m: tensor<64x64xi1>, %t: !nv_tileas.mem_token) {
// CHECK-NEXT:    %0, %t0 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] relaxed gpu mask %m : tensor<64x64xi1> after %t : !nv_tileas.mem_token {nv_tileas.layout = #nv_tileas.layout<(64,64),(64,1)>, atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true, false>, padding_value = 0.000000e+00 : f16} : !view -> tensor<64x64xf16>, !nv_tileas.mem_token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A rotated access: the last offset is the column of the first element of each row.

func.func @rotated(%v: !view, %i: index) {
  %0 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom ldg>, rotated = 16 : i32} : !view -> tensor<64x64xf16>
  nv_tileas.tiled_store %0, %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom stg>, rotated = 1 : i32} : tensor<64x64xf16>, !view
  func.return
}

// CHECK-LABEL: func.func @rotated(%v: !view, %i: index) {
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom ldg>, rotated = 16 : i32} : !view -> tensor<64x64xf16>
// CHECK-NEXT:    nv_tileas.tiled_store %0, %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom stg>, rotated = 1 : i32} : tensor<64x64xf16>, !view
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Parts of a row of 256 columns, which are rotated together.

func.func @parts_of_rows(%v: !view, %i: index) {
  %0 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom ldg>, rotated = 16 : i32, row_width = 256 : i32} : !view -> tensor<64x64xf16>
  nv_tileas.tiled_store %0, %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom stg>, rotated = 2 : i32, row_width = 256 : i32} : tensor<64x64xf16>, !view
  func.return
}

// CHECK-LABEL: func.func @parts_of_rows(%v: !view, %i: index) {
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom ldg>, rotated = 16 : i32, row_width = 256 : i32} : !view -> tensor<64x64xf16>
// CHECK-NEXT:    nv_tileas.tiled_store %0, %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom stg>, rotated = 2 : i32, row_width = 256 : i32} : tensor<64x64xf16>, !view
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Each row has an offset of its own: the first one is added from row to row, modulo 8.

func.func @each_row(%v: !view, %i: index) {
  %0 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom ldg>, rotated = 16 : i32, modulus = 8 : i32} : !view -> tensor<64x64xf16>
  nv_tileas.tiled_store %0, %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom stg>, rotated = 2 : i32, modulus = 8 : i32} : tensor<64x64xf16>, !view
  func.return
}

// CHECK-LABEL: func.func @each_row(%v: !view, %i: index) {
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom ldg>, rotated = 16 : i32, modulus = 8 : i32} : !view -> tensor<64x64xf16>
// CHECK-NEXT:    nv_tileas.tiled_store %0, %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom stg>, rotated = 2 : i32, modulus = 8 : i32} : tensor<64x64xf16>, !view
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// The box of a TMA atom is the tile; it starts with the innermost dimension.

func.func @box(%v: !nv_tileas.tiled_view<1024x1024xf16, gmem>, %i: index) {
  %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d<box = [64, 128]>>, allow_tma = true} : !nv_tileas.tiled_view<1024x1024xf16, gmem> -> tensor<128x64xf16>
  func.return
}

// CHECK-LABEL: func.func @box(%v: !nv_tileas.tiled_view<1024x1024xf16, gmem>, %i: index) {
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d<box = [64, 128]>>, allow_tma = true} : !nv_tileas.tiled_view<1024x1024xf16, gmem> -> tensor<128x64xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// An im2col atom takes the leading offset too.

func.func @im2col(%v: !nv_tileaa.tiled_view<1x8x64xf16>, %i: index) {
  %0 = nv_tileas.tiled_load %v[%i, %i, %i, %i] {atom = #nv_tileas<atom tma_load_3d<mode = im2col>>} : !nv_tileaa.tiled_view<1x8x64xf16> -> tensor<1x8x64xf16>
  func.return
}

// CHECK-LABEL: func.func @im2col(%v: !nv_tileaa.tiled_view<1x8x64xf16>, %i: index) {
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %v[%i, %i, %i, %i] {atom = #nv_tileas<atom tma_load_3d<mode = im2col>>} : !nv_tileaa.tiled_view<1x8x64xf16> -> tensor<1x8x64xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// What is in shared or tensor memory is read like this as well, be it a view, a memref or a tile.

func.func @resident(%m: memref<64x64xf16, #nv_tileas<space smem>>, %s: tensor<64x64xf16, #nv_tileas<space smem>>, %i: index) {
  %0 = nv_tileas.tiled_load %m[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : memref<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16>
  %1 = nv_tileas.tiled_load %s[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16>
  func.return
}

// CHECK-LABEL: func.func @resident(%m: memref<64x64xf16, #nv_tileas<space smem>>, %s: tensor<64x64xf16, #nv_tileas<space smem>>, %i: index) {
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %m[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : memref<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16>
// CHECK-NEXT:    %1 = nv_tileas.tiled_load %s[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Asynchronous: waiting for the token delivers the tile.

func.func @async_tiled_load(%v: !view, %i: index, %t: !nv_tileaa.mem_token) -> !nv_tileas.token<tensor<64x64xf16>> {
  %0 = nv_tileas.async.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldgsts>} : !view -> !async.value<tile<64x64xf16>>
  %1, %t1 = nv_tileas.async.tiled_load %v[%i, %i] after %t : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldgsts>} : !view -> !nv_tileas.token<tensor<64x64xf16>>, !nv_tileaa.mem_token
  func.return %0 : !nv_tileas.token<tensor<64x64xf16>>
}

// CHECK-LABEL: func.func @async_tiled_load(%v: !view, %i: index, %t: !nv_tileaa.mem_token) -> !nv_tileas.token<tensor<64x64xf16>> {
// CHECK-NEXT:    %0 = nv_tileas.async.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldgsts>} : !view -> !nv_tileas.token<tensor<64x64xf16>>
// CHECK-NEXT:    %1, %t1 = nv_tileas.async.tiled_load %v[%i, %i] after %t : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldgsts>} : !view -> !nv_tileas.token<tensor<64x64xf16>>, !nv_tileaa.mem_token
// CHECK-NEXT:    func.return %0 : !nv_tileas.token<tensor<64x64xf16>>
// CHECK-NEXT:  }

// Where a store may leave its bounds, `in_bounds` is false and a padding value is given.

func.func @tiled_store(%x: tensor<64x64xf16>, %v: !view, %i: index, %t: !nv_tileas.token) {
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x64xf16>, !view
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>, in_bounds = array<i1: true, true>} : tensor<64x64xf16>, !view
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>, in_bounds = array<i1: false, false>, padding_value = #nv_tileas<padding nan>} : tensor<64x64xf16>, !view
  %0 = nv_tileas.tiled_store %x, %v[%i, %i] offset[%i, %i] relaxed sys after %t : !nv_tileas.token {atom = #nv_tileas<atom tma_store_2d>} : tensor<64x64xf16>, !view -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @tiled_store(%x: tensor<64x64xf16>, %v: !view, %i: index, %t: !nv_tileas.token) {
// CHECK-NEXT:    nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x64xf16>, !view
// CHECK-NEXT:    nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>, in_bounds = array<i1: true, true>} : tensor<64x64xf16>, !view
// CHECK-NEXT:    nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>, in_bounds = array<i1: false, false>, padding_value = #nv_tileas<padding nan>} : tensor<64x64xf16>, !view
// CHECK-NEXT:    %0 = nv_tileas.tiled_store %x, %v[%i, %i] offset[%i, %i] relaxed sys after %t : !nv_tileas.token {atom = #nv_tileas<atom tma_store_2d>} : tensor<64x64xf16>, !view -> !nv_tileas.token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// `operandSegmentSizes` may be stated; the last segment may be left out when it is empty.

func.func @segments(%x: tensor<64x64xf16>, %v: !view, %i: index) {
  %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>, operandSegmentSizes = array<i32: 1, 2, 0, 0>} : !view -> tensor<64x64xf16>
  %1 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>, operandSegmentSizes = array<i32: 1, 2, 0, 0, 0>} : !view -> tensor<64x64xf16>
  %2 = "nv_tileas.tiled_load"(%v, %i, %i) <{atom = #nv_tileas<atom ldg>, operandSegmentSizes = array<i32: 1, 2, 0, 0>}> : (!view, index, index) -> tensor<64x64xf16>
  "nv_tileas.tiled_store"(%v, %x, %i, %i) <{atom = #nv_tileas<atom stg>, operandSegmentSizes = array<i32: 1, 1, 2, 0>}> : (!view, tensor<64x64xf16>, index, index) -> ()
  func.return
}

// CHECK-LABEL: func.func @segments(%x: tensor<64x64xf16>, %v: !view, %i: index) {
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xf16>
// CHECK-NEXT:    %1 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xf16>
// CHECK-NEXT:    %2 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xf16>
// CHECK-NEXT:    nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x64xf16>, !view
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Through pointers, or at coordinates of elements.  Acquire and release are here.

func.func @load(%p: tensor<64x!nv_tileaa.ptr<f16, 1>>, %q: !nv_tileaa.ptr<i32, 1>, %v: !view, %i: index, %m: tensor<64xi1>, %t: !nv_tileas.mem_token) {
  %0 = nv_tileas.load %p mask %m : tensor<64xi1> {atom = #nv_tileas<atom ldg>, padding_value = 0.0 : f16} : tensor<64x!nv_tileaa.ptr<f16, 1>> -> tensor<64xf16>
  %1, %t1 = nv_tileas.load %q acquire gpu after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileaa.ptr<i32, 1> -> i32, !nv_tileas.mem_token
  %2 = nv_tileas.load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !view -> f16
  %3 = nv_tileas.async.load %p {atom = #nv_tileas<atom ldgsts>} : tensor<64x!nv_tileaa.ptr<f16, 1>> -> !nv_tileas.token<tensor<64xf16>>
  func.return
}

// CHECK-LABEL: func.func @load(%p: tensor<64x!nv_tileaa.ptr<f16, 1>>, %q: !nv_tileaa.ptr<i32, 1>, %v: !view, %i: index, %m: tensor<64xi1>, %t: !nv_tileas.mem_token) {
// CHECK-NEXT:    %0 = nv_tileas.load %p mask %m : tensor<64xi1> {atom = #nv_tileas<atom ldg>, padding_value = 0.000000e+00 : f16} : tensor<64x!nv_tileaa.ptr<f16, 1>> -> tensor<64xf16>
// CHECK-NEXT:    %1, %t1 = nv_tileas.load %q acquire gpu after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileaa.ptr<i32, 1> -> i32, !nv_tileas.mem_token
// CHECK-NEXT:    %2 = nv_tileas.load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !view -> f16
// CHECK-NEXT:    %3 = nv_tileas.async.load %p {atom = #nv_tileas<atom ldgsts>} : tensor<64x!nv_tileaa.ptr<f16, 1>> -> !nv_tileas.token<tensor<64xf16>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

func.func @store(%x: tensor<64xf16>, %p: tensor<64x!nv_tileaa.ptr<f16, 1>>, %y: i32, %q: !nv_tileaa.ptr<i32, 1>, %m: tensor<64xi1>, %t: !nv_tileas.mem_token) {
  nv_tileas.store %x, %p mask %m : tensor<64xi1> {atom = #nv_tileas<atom stg>} : tensor<64xf16>, tensor<64x!nv_tileaa.ptr<f16, 1>>
  %t1 = nv_tileas.store %y, %q release gpu after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom stg>} : i32, !nv_tileaa.ptr<i32, 1> -> !nv_tileas.mem_token
  %0 = nv_tileas.async.store %x, %p {atom = #nv_tileas<atom stg>} : tensor<64xf16>, tensor<64x!nv_tileaa.ptr<f16, 1>> -> !nv_tileas.token
  %1, %t2 = nv_tileas.async.store %x, %p after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom stg>} : tensor<64xf16>, tensor<64x!nv_tileaa.ptr<f16, 1>> -> !nv_tileas.token, !nv_tileas.mem_token
  func.return
}

// CHECK-LABEL: func.func @store(%x: tensor<64xf16>, %p: tensor<64x!nv_tileaa.ptr<f16, 1>>, %y: i32, %q: !nv_tileaa.ptr<i32, 1>, %m: tensor<64xi1>, %t: !nv_tileas.mem_token) {
// CHECK-NEXT:    nv_tileas.store %x, %p mask %m : tensor<64xi1> {atom = #nv_tileas<atom stg>} : tensor<64xf16>, tensor<64x!nv_tileaa.ptr<f16, 1>>
// CHECK-NEXT:    %t1 = nv_tileas.store %y, %q release gpu after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom stg>} : i32, !nv_tileaa.ptr<i32, 1> -> !nv_tileas.mem_token
// CHECK-NEXT:    %0 = nv_tileas.async.store %x, %p {atom = #nv_tileas<atom stg>} : tensor<64xf16>, tensor<64x!nv_tileaa.ptr<f16, 1>> -> !nv_tileas.token
// CHECK-NEXT:    %1, %t2 = nv_tileas.async.store %x, %p after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom stg>} : tensor<64xf16>, tensor<64x!nv_tileaa.ptr<f16, 1>> -> !nv_tileas.token, !nv_tileas.mem_token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// One coordinate for all elements, or one for each.

func.func @gather_scatter(%v: !view, %rows: tensor<32xi32>, %i: index, %m: tensor<32xi1>, %t: !nv_tileas.mem_token) {
  %0 = nv_tileas.gather_load %v[%rows : tensor<32xi32>, %i] mask %m : tensor<32xi1> {atom = #nv_tileas<atom ldg>, padding_value = #nv_tileas<padding neg_inf>} : !view -> tensor<32xf16>
  %1, %t1 = nv_tileas.gather_load %v[%rows : tensor<32xi32>, %i] relaxed cluster after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true, true>} : !view -> tensor<32xf16>, !nv_tileas.mem_token
  nv_tileas.scatter_store %0, %v[%rows : tensor<32xi32>, %i] mask %m : tensor<32xi1> {atom = #nv_tileas<atom stg>} : tensor<32xf16>, !view
  func.return
}

// CHECK-LABEL: func.func @gather_scatter(%v: !view, %rows: tensor<32xi32>, %i: index, %m: tensor<32xi1>, %t: !nv_tileas.mem_token) {
// CHECK-NEXT:    %0 = nv_tileas.gather_load %v[%rows : tensor<32xi32>, %i] mask %m : tensor<32xi1> {atom = #nv_tileas<atom ldg>, padding_value = #nv_tileas<padding neg_inf>} : !view -> tensor<32xf16>
// CHECK-NEXT:    %1, %t1 = nv_tileas.gather_load %v[%rows : tensor<32xi32>, %i] relaxed cluster after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true, true>} : !view -> tensor<32xf16>, !nv_tileas.mem_token
// CHECK-NEXT:    nv_tileas.scatter_store %0, %v[%rows : tensor<32xi32>, %i] mask %m : tensor<32xi1> {atom = #nv_tileas<atom stg>} : tensor<32xf16>, !view
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }


// Plain xdsl-opt reads and prints the same, without aliases.

// XDSL: %0 = nv_tileas.tiled_load %v[%i, %j] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// XDSL: %0, %t0 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] relaxed gpu mask %m : tensor<64x64xi1> after %t : !nv_tileas.mem_token {nv_tileas.layout = #nv_tileas.layout<(64,64),(64,1)>, atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true, false>, padding_value = 0.000000e+00 : f16} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>, !nv_tileas.mem_token
// XDSL: %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d<box = [64, 128]>>, allow_tma = true} : !nv_tileas.tiled_view<1024x1024xf16, gmem> -> tensor<128x64xf16>
// XDSL: %0 = nv_tileas.tiled_load %v[%i, %i, %i, %i] {atom = #nv_tileas<atom tma_load_3d<mode = im2col>>} : !nv_tileaa.tiled_view<1x8x64xf16> -> tensor<1x8x64xf16>
// XDSL: %0 = nv_tileas.tiled_load %m[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : memref<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16>
// XDSL: %1 = nv_tileas.tiled_load %s[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16>
// XDSL: %0 = nv_tileas.async.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldgsts>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> !nv_tileas.token<tensor<64x64xf16>>
// XDSL: %1, %t1 = nv_tileas.async.tiled_load %v[%i, %i] after %t : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldgsts>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> !nv_tileas.token<tensor<64x64xf16>>, !nv_tileaa.mem_token
// XDSL: nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem>
// XDSL: nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>, in_bounds = array<i1: true, true>} : tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem>
// XDSL: nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>, in_bounds = array<i1: false, false>, padding_value = #nv_tileas<padding nan>} : tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem>
// XDSL: %0 = nv_tileas.tiled_store %x, %v[%i, %i] offset[%i, %i] relaxed sys after %t : !nv_tileas.token {atom = #nv_tileas<atom tma_store_2d>} : tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem> -> !nv_tileas.token
// XDSL: %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// XDSL: %1 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// XDSL: %2 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// XDSL: nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem>
// XDSL: %0 = nv_tileas.load %p mask %m : tensor<64xi1> {atom = #nv_tileas<atom ldg>, padding_value = 0.000000e+00 : f16} : tensor<64x!nv_tileaa.ptr<f16, 1>> -> tensor<64xf16>
// XDSL: %1, %t1 = nv_tileas.load %q acquire gpu after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileaa.ptr<i32, 1> -> i32, !nv_tileas.mem_token
// XDSL: %2 = nv_tileas.load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> f16
// XDSL: %3 = nv_tileas.async.load %p {atom = #nv_tileas<atom ldgsts>} : tensor<64x!nv_tileaa.ptr<f16, 1>> -> !nv_tileas.token<tensor<64xf16>>
// XDSL: nv_tileas.store %x, %p mask %m : tensor<64xi1> {atom = #nv_tileas<atom stg>} : tensor<64xf16>, tensor<64x!nv_tileaa.ptr<f16, 1>>
// XDSL: %t1 = nv_tileas.store %y, %q release gpu after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom stg>} : i32, !nv_tileaa.ptr<i32, 1> -> !nv_tileas.mem_token
// XDSL: %0 = nv_tileas.async.store %x, %p {atom = #nv_tileas<atom stg>} : tensor<64xf16>, tensor<64x!nv_tileaa.ptr<f16, 1>> -> !nv_tileas.token
// XDSL: %1, %t2 = nv_tileas.async.store %x, %p after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom stg>} : tensor<64xf16>, tensor<64x!nv_tileaa.ptr<f16, 1>> -> !nv_tileas.token, !nv_tileas.mem_token
// XDSL: %0 = nv_tileas.gather_load %v[%rows : tensor<32xi32>, %i] mask %m : tensor<32xi1> {atom = #nv_tileas<atom ldg>, padding_value = #nv_tileas<padding neg_inf>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<32xf16>
// XDSL: %1, %t1 = nv_tileas.gather_load %v[%rows : tensor<32xi32>, %i] relaxed cluster after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true, true>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<32xf16>, !nv_tileas.mem_token
// XDSL: nv_tileas.scatter_store %0, %v[%rows : tensor<32xi32>, %i] mask %m : tensor<32xi1> {atom = #nv_tileas<atom stg>} : tensor<32xf16>, !nv_tileas.tiled_view<64x64xf16, gmem>
