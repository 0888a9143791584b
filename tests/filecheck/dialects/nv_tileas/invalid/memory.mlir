// What tiled loads and stores refuse, in the order of their checks, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// No regions, no successors.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
#ldg = #nv_tileas<atom ldg>

func.func @regions(%v: !view, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires zero regions}}
  %0 = "nv_tileas.tiled_load"(%v, %i, %i) <{atom = #ldg, operandSegmentSizes = array<i32: 1, 2, 0, 0, 0>}> ({}) : (!view, index, index) -> tensor<64x64xf16>
  %ok = "nv_tileas.tiled_load"(%v, %i, %i) <{atom = #ldg, operandSegmentSizes = array<i32: 1, 2, 0, 0, 0>}> : (!view, index, index) -> tensor<64x64xf16>
  func.return
}

func.func @successors(%v: !view, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires 0 successors but found 2}}
  %0 = "nv_tileas.tiled_load"(%v, %i, %i) [^next, ^next] <{atom = #ldg, operandSegmentSizes = array<i32: 1, 2, 0, 0, 0>}> : (!view, index, index) -> tensor<64x64xf16>
^next:
  func.return
}

// -----

// As many results as the tables say; the token result is optional.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
!token = !nv_tileas.mem_token
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>

func.func @results(%v: !view, %x: tensor<64x64xf16>, %i: index, %t: !token) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires at least 1 result, but found 0}}
  "nv_tileas.tiled_load"(%v, %i, %i) <{atom = #ldg, operandSegmentSizes = array<i32: 1, 2, 0, 0, 0>}> : (!view, index, index) -> ()
  // expected-error@+1 {{'nv_tileas.tiled_load' op result group starting at #1 requires 0 or 1 element, but found 2}}
  %0:3 = "nv_tileas.tiled_load"(%v, %i, %i, %t) <{atom = #ldg, operandSegmentSizes = array<i32: 1, 2, 0, 1, 0>}> : (!view, index, index, !token) -> (tensor<64x64xf16>, !token, !token)
  // expected-error@+1 {{'nv_tileas.tiled_store' op result group starting at #0 requires 0 or 1 element, but found 2}}
  %1:2 = "nv_tileas.tiled_store"(%v, %x, %i, %i, %t) <{atom = #stg, operandSegmentSizes = array<i32: 1, 1, 2, 0, 1>}> : (!view, tensor<64x64xf16>, index, index, !token) -> (!token, !token)
  // expected-error@+1 {{'nv_tileas.async.copy' op requires 1 result, but found 0}}
  "nv_tileas.async.copy"(%v, %v) <{atom = #ldg}> : (!view, !view) -> ()

  %ok:2 = "nv_tileas.tiled_load"(%v, %i, %i, %t) <{atom = #ldg, operandSegmentSizes = array<i32: 1, 2, 0, 1, 0>}> : (!view, index, index, !token) -> (tensor<64x64xf16>, !token)
  func.return
}

// -----

// Segments: a list of the right length that covers the operands, one view, at most one token.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
!token = !nv_tileas.mem_token
#ldg = #nv_tileas<atom ldg>

func.func @segments(%v: !view, %i: index, %t: !token) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op operandSegmentSizes does not match the op schema}}
  %0 = "nv_tileas.tiled_load"(%v, %i, %i) <{atom = #ldg}> : (!view, index, index) -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op operandSegmentSizes does not match the op schema}}
  %1 = "nv_tileas.tiled_load"(%v, %i, %i) <{atom = #ldg, operandSegmentSizes = array<i32: 1, 2, 0>}> : (!view, index, index) -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op operandSegmentSizes does not match the op schema}}
  %2 = "nv_tileas.tiled_load"(%v, %i, %i) <{atom = #ldg, operandSegmentSizes = array<i32: 1, 3, 0, 0, 0>}> : (!view, index, index) -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op operandSegmentSizes does not match the op schema}}
  %3 = "nv_tileas.tiled_load"(%v, %i, %i) <{atom = #ldg, operandSegmentSizes = array<i64: 1, 2, 0, 0, 0>}> : (!view, index, index) -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op operand group starting at #0 requires 1 element, but found 2}}
  %4 = "nv_tileas.tiled_load"(%v, %v, %i, %i) <{atom = #ldg, operandSegmentSizes = array<i32: 2, 2, 0, 0, 0>}> : (!view, !view, index, index) -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op operand group starting at #3 requires 0 or 1 element, but found 2}}
  %5:2 = "nv_tileas.tiled_load"(%v, %i, %i, %t, %t) <{atom = #ldg, operandSegmentSizes = array<i32: 1, 2, 0, 2, 0>}> : (!view, index, index, !token, !token) -> (tensor<64x64xf16>, !token)
  // expected-error@+1 {{'nv_tileas.copy' op requires 2 operands, but found 1}}
  "nv_tileas.copy"(%v) <{atom = #ldg}> : (!view) -> ()

  %short = "nv_tileas.tiled_load"(%v, %i, %i) <{atom = #ldg, operandSegmentSizes = array<i32: 1, 2, 0, 0>}> : (!view, index, index) -> tensor<64x64xf16>
  func.return
}

// -----

// In the text of an operation as well.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @segments_in_text(%v: !view, %i: index) {
  // expected-error@+1 {{operandSegmentSizes does not match the op schema}}
  %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>, operandSegmentSizes = array<i32: 1, 1, 0, 0>} : !view -> tensor<64x64xf16>
  func.return
}

// -----

// An atom is needed, one that loads or stores, from or to where the view is.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
!smem = !nv_tileas.tiled_view<64x64xf16, smem>

func.func @atoms(%v: !view, %s: !smem, %x: tensor<64x64xf16>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires attribute 'atom'}}
  %0 = nv_tileas.tiled_load %v[%i, %i] : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expect a ldgsts, tma_load, ldg or unknown_copy atom type}}
  %1 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom stg>} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_store' op expect a stg, tma_store or unknown_copy atom type}}
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom tma_redg_2d>} : tensor<64x64xf16>, !view
  // expected-error@+1 {{'nv_tileas.tiled_load' op atom ldg copies gmem to rmem, but the source is in smem}}
  %2 = nv_tileas.tiled_load %s[%i, %i] {atom = #nv_tileas<atom ldg>} : !smem -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_store' op atom stg copies rmem to gmem, but the destination is in smem}}
  nv_tileas.tiled_store %x, %s[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x64xf16>, !smem

  // expected-error@+1 {{'nv_tileas.tiled_load' op atom ldg copies gmem to rmem, not gmem to smem}}
  %3 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xf16, #nv_tileas<space smem>>
  // expected-error@+1 {{'nv_tileas.tiled_load' op unsupported tma load mode 'w128'}}
  %4 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d<mode = w128>>} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op moves tiles in mode tiled or im2col or im2col_at or tiled_at, not gather4}}
  %5 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d<mode = gather4>>} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op atom tma_load_3d moves 3 dimensions, not those of !nv_tileas.tiled_view<64x64xf16, gmem>}}
  %6 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_3d>} : !view -> tensor<64x64xf16>

  %ok = nv_tileas.tiled_load %s[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : !smem -> tensor<64x64xf16>
  %ok2 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldgsts>} : !view -> tensor<64x64xf16, #nv_tileas<space smem>>
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16>, !view
  func.return
}

// -----

// There is a token behind iff there is one before, of the same type.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
#ldg = #nv_tileas<atom ldg>

func.func @tokens(%v: !view, %i: index, %t: !nv_tileas.mem_token, %p: !nv_tileas.async.pipeline.producer_token) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op gives a token iff it takes one, but takes 1 and gives 0}}
  %0 = nv_tileas.tiled_load %v[%i, %i] after %t : !nv_tileas.mem_token {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op gives a token iff it takes one, but takes 0 and gives 1}}
  %1, %t1 = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg} : !view -> tensor<64x64xf16>, !nv_tileas.mem_token
  // expected-error@+1 {{'nv_tileas.tiled_load' op takes a token !nv_tileas.mem_token, but gives !nv_tileas.token}}
  %2, %t2 = nv_tileas.tiled_load %v[%i, %i] after %t : !nv_tileas.mem_token {atom = #ldg} : !view -> tensor<64x64xf16>, !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects a memory token or an asynchronous token, but got !nv_tileas.async.pipeline.producer_token}}
  %3, %t3 = nv_tileas.tiled_load %v[%i, %i] after %p : !nv_tileas.async.pipeline.producer_token {atom = #ldg} : !view -> tensor<64x64xf16>, !nv_tileas.async.pipeline.producer_token

  %ok, %t4 = nv_tileas.tiled_load %v[%i, %i] after %t : !nv_tileas.mem_token {atom = #ldg} : !view -> tensor<64x64xf16>, !nv_tileas.mem_token
  func.return
}

// -----

// From memory to a tile of constant extents.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
#copy = #nv_tileas<atom unknown_copy>

func.func @kinds(%v: !view, %x: tensor<64x64xf16>, %r: !nv_tileas.tiled_view<64x64xf16, rmem>, %s: tensor<64x64xf16, #nv_tileas<space smem>>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects a tiled view, a memref or a tile in memory, but got index}}
  %0 = nv_tileas.tiled_load %i[%i, %i] {atom = #copy} : index -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects a place in memory, but tensor<64x64xf16> is in registers}}
  %1 = nv_tileas.tiled_load %x[%i, %i] {atom = #copy} : tensor<64x64xf16> -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects a place in memory, but !nv_tileas.tiled_view<64x64xf16, rmem> is in registers}}
  %2 = nv_tileas.tiled_load %r[%i, %i] {atom = #copy} : !nv_tileas.tiled_view<64x64xf16, rmem> -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects a tile with constant extents, but got tensor<?x64xf16>}}
  %3 = nv_tileas.tiled_load %v[%i, %i] {atom = #copy} : !view -> tensor<?x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects a tile with constant extents, but got !nv_tileas.tiled_view<64x64xf16, gmem>}}
  %4 = nv_tileas.tiled_load %v[%i, %i] {atom = #copy} : !view -> !view
  // expected-error@+1 {{'nv_tileas.async.tiled_load' op expects a token that delivers a tile, but got !nv_tileas.token}}
  %5 = nv_tileas.async.tiled_load %v[%i, %i] {atom = #copy} : !view -> !nv_tileas.token

  %ok = nv_tileas.tiled_load %s[%i, %i] {atom = #copy} : tensor<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16>
  %ok2 = nv_tileas.async.tiled_load %v[%i, %i] {atom = #copy} : !view -> !nv_tileas.token<tensor<64x64xf16>>
  func.return
}

// -----

// The tile is the box of the atom, or else the view: the same number of elements, the same shape.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @sizes(%v: !view, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires the same size for tileSize and tensor}}
  %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x32xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires the same shape for tileSize and tensor value}}
  %1 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !view -> tensor<32x128xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires the same size for tileSize and tensor}}
  %2 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d<box = [16, 32]>>} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires the same shape for tileSize and tensor value}}
  %3 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d<box = [16, 32]>>} : !view -> tensor<16x32xf16>

  %ok = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d<box = [16, 32]>>} : !view -> tensor<32x16xf16>
  func.return
}

// -----

// One coordinate for each dimension, of type index; for im2col the leading offset too.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
#ldg = #nv_tileas<atom ldg>

func.func @coordinates(%v: !view, %n: !nv_tileas.tiled_view<1x8x64xf16, gmem>, %i: index, %j: i32) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects 2 coordinates, but got 1}}
  %0 = nv_tileas.tiled_load %v[%i] {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects 2 coordinates, but got 3}}
  %1 = nv_tileas.tiled_load %v[%i, %i, %i] {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects 4 coordinates, but got 3}}
  %2 = nv_tileas.tiled_load %n[%i, %i, %i] {atom = #nv_tileas<atom tma_load_3d<mode = im2col>>} : !nv_tileas.tiled_view<1x8x64xf16, gmem> -> tensor<1x8x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects CoordType is same as memref index type, but got i32}}
  %3 = nv_tileas.tiled_load %v[%i, %j : i32] {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects no offsets or 2, but got 1}}
  %4 = nv_tileas.tiled_load %v[%i, %i] offset[%i] {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects CoordType is same as memref index type, but got i32}}
  %5 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %j : i32] {atom = #ldg} : !view -> tensor<64x64xf16>

  %ok = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #ldg} : !view -> tensor<64x64xf16>
  %ok2 = nv_tileas.tiled_load %n[%i, %i, %i, %i] {atom = #nv_tileas<atom tma_load_3d<mode = im2col>>} : !nv_tileas.tiled_view<1x8x64xf16, gmem> -> tensor<1x8x64xf16>
  func.return
}

// -----

// Rotated rows have an offset, no mask, and a promise of alignment.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @rotated(%v: !view, %i: index, %m: tensor<64x64xi1>) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op rotates rows by the offset of the last dimension, but has no offsets}}
  %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>, rotated = 16 : i32} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op promises an alignment, a power of two, not 12}}
  %1 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom ldg>, rotated = 12 : i32} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op rotates rows, but has a mask of rows that are not rotated}}
  %2 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] mask %m : tensor<64x64xi1> {atom = #nv_tileas<atom ldg>, rotated = 16 : i32} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op rotates rows in registers, not in tensor<64x64xf16, #nv_tileas<space smem>>}}
  %3 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom ldgsts>, rotated = 16 : i32} : !view -> tensor<64x64xf16, #nv_tileas<space smem>>
  // expected-error@+1 {{'nv_tileas.tiled_load' op rotates rows of 96 columns in parts of 64}}
  %4 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom ldg>, rotated = 16 : i32, row_width = 96 : i32} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op says how wide rows are that it does not rotate}}
  %5 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>, row_width = 256 : i32} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op rotates rows of 64 columns by less than 12}}
  %6 = nv_tileas.tiled_load %v[%i, %i] offset[%i, %i] {atom = #nv_tileas<atom ldg>, rotated = 16 : i32, modulus = 12 : i32} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op says by how much rows are rotated at most, but rotates none}}
  %7 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>, modulus = 8 : i32} : !view -> tensor<64x64xf16>
  func.return
}

// -----

// The same elements.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @elements(%v: !view, %x: tensor<64x64xf32>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op view elementType not equal with tensor element type: f16 != bf16}}
  %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xbf16>
  // expected-error@+1 {{'nv_tileas.tiled_store' op view elementType not equal with tensor element type: f16 != f32}}
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !view

  %ok = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xf16>
  func.return
}

// -----

// Extents of tiles: constants that are positive, powers of two, and not too many elements.

#ldg = #nv_tileas<atom ldg>

func.func @dimensions(%a: memref<?x64xf16>, %b: memref<0x64xf16>, %c: memref<48x3xf16>, %d: memref<4096x8192xf16>, %e: memref<4096x4096xf16>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op all dimensions must be positive constants, got ?, 64}}
  %0 = nv_tileas.tiled_load %a[%i, %i] {atom = #ldg} : memref<?x64xf16> -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op all dimensions must be positive constants, got 0, 64}}
  %1 = nv_tileas.tiled_load %b[%i, %i] {atom = #ldg} : memref<0x64xf16> -> tensor<0x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op all dimensions must be powers of two, got 48, 3}}
  %2 = nv_tileas.tiled_load %c[%i, %i] {atom = #ldg} : memref<48x3xf16> -> tensor<48x3xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op tile would exceed the maximum of 16777216 elements}}
  %3 = nv_tileas.tiled_load %d[%i, %i] {atom = #ldg} : memref<4096x8192xf16> -> tensor<4096x8192xf16>

  %ok = nv_tileas.tiled_load %e[%i, %i] {atom = #ldg} : memref<4096x4096xf16> -> tensor<4096x4096xf16>
  %ok2 = nv_tileas.tiled_load %a[%i, %i] {atom = #nv_tileas<atom tma_load_2d<box = [64, 32]>>} : memref<?x64xf16> -> tensor<32x64xf16>
  func.return
}

// -----

// Tiled loads and stores are weak or relaxed, with a scope iff they are not weak.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>

func.func @ordering(%v: !view, %x: tensor<64x64xf16>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op unsupported mem_semantic: acquire}}
  %0 = nv_tileas.tiled_load %v[%i, %i] acquire gpu {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op unsupported mem_semantic: acq_rel}}
  %1 = nv_tileas.tiled_load %v[%i, %i] acq_rel gpu {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op unsupported mem_semantic: release}}
  %2 = nv_tileas.tiled_load %v[%i, %i] release gpu {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op mem_scope not supported when mem_semantic is weak}}
  %3 = nv_tileas.tiled_load %v[%i, %i] weak cta {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op mem_scope not supported when mem_semantic is weak}}
  %4 = nv_tileas.tiled_load %v[%i, %i] cta {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op mem_scope required when mem_semantic is not weak}}
  %5 = nv_tileas.tiled_load %v[%i, %i] relaxed {atom = #ldg} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_store' op unsupported mem_semantic: release}}
  nv_tileas.tiled_store %x, %v[%i, %i] release gpu {atom = #stg} : tensor<64x64xf16>, !view
  // expected-error@+1 {{'nv_tileas.tiled_store' op unsupported mem_semantic: acq_rel}}
  nv_tileas.tiled_store %x, %v[%i, %i] acq_rel gpu {atom = #stg} : tensor<64x64xf16>, !view
  // expected-error@+1 {{'nv_tileas.tiled_store' op unsupported mem_semantic: acquire}}
  nv_tileas.tiled_store %x, %v[%i, %i] acquire gpu {atom = #stg} : tensor<64x64xf16>, !view
  // expected-error@+1 {{'nv_tileas.tiled_store' op mem_scope not supported when mem_semantic is weak}}
  nv_tileas.tiled_store %x, %v[%i, %i] weak gpu {atom = #stg} : tensor<64x64xf16>, !view
  // expected-error@+1 {{'nv_tileas.tiled_store' op mem_scope required when mem_semantic is not weak}}
  nv_tileas.tiled_store %x, %v[%i, %i] relaxed {atom = #stg} : tensor<64x64xf16>, !view

  %ok = nv_tileas.tiled_load %v[%i, %i] relaxed tl_blk {atom = #ldg} : !view -> tensor<64x64xf16>
  %ok2 = nv_tileas.tiled_load %v[%i, %i] weak {atom = #ldg} : !view -> tensor<64x64xf16>
  nv_tileas.tiled_store %x, %v[%i, %i] relaxed sys {atom = #stg} : tensor<64x64xf16>, !view
  func.return
}

// -----

// One flag for each dimension; a load is padded only where it may leave its bounds.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
#ldg = #nv_tileas<atom ldg>

func.func @load_bounds(%v: !view, %n: !nv_tileas.tiled_view<64x64xi32, gmem>, %i: index, %m: tensor<64xi1>) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op incorrect number of in_bounds elements: expected 2, but found 1}}
  %0 = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, in_bounds = array<i1: true>} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op padding value is allowed only when in-bounds is false}}
  %1 = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, in_bounds = array<i1: true, true>, padding_value = 0.0 : f16} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects a padding value of type f16, but got 0.000000e+00 : f32}}
  %2 = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, padding_value = 0.0 : f32} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects a padding value of type f16, but got "nan"}}
  %3 = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, padding_value = "nan"} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op special padding values (nan, pos_inf, neg_inf, neg_zero) only for float-like element types}}
  %4 = nv_tileas.tiled_load %n[%i, %i] {atom = #ldg, padding_value = #nv_tileas<padding nan>} : !nv_tileas.tiled_view<64x64xi32, gmem> -> tensor<64x64xi32>
  // expected-error@+1 {{'nv_tileas.tiled_load' op padding value is not supported for TMA load with non-zero padding value}}
  %5 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>, padding_value = 1.0 : f16} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op padding value is not supported for TMA load with non-zero padding value}}
  %6 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>, padding_value = -0.0 : f16} : !view -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects a mask of i1 in the shape of tensor<64x64xf16>, but got tensor<64xi1>}}
  %7 = nv_tileas.tiled_load %v[%i, %i] mask %m : tensor<64xi1> {atom = #ldg} : !view -> tensor<64x64xf16>

  %ok = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, in_bounds = array<i1: true, false>, padding_value = 0.0 : f16} : !view -> tensor<64x64xf16>
  %ok2 = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, padding_value = #nv_tileas<padding nan>} : !view -> tensor<64x64xf16>
  %ok3 = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>, padding_value = 0.0 : f16} : !view -> tensor<64x64xf16>
  %ok4 = nv_tileas.tiled_load %n[%i, %i] {atom = #ldg, padding_value = 7 : i32} : !nv_tileas.tiled_view<64x64xi32, gmem> -> tensor<64x64xi32>
  func.return
}

// -----

// Where a store says something about its bounds, it is padded iff it may leave them.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
#stg = #nv_tileas<atom stg>

func.func @store_bounds(%x: tensor<64x64xf16>, %v: !view, %y: tensor<64x64xi32>, %n: !nv_tileas.tiled_view<64x64xi32, gmem>, %i: index) {
  // expected-error@+1 {{'nv_tileas.tiled_store' op incorrect number of in_bounds elements: expected 2, but found 3}}
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #stg, in_bounds = array<i1: true, true, true>} : tensor<64x64xf16>, !view
  // expected-error@+1 {{'nv_tileas.tiled_store' op inbounds must be true when paddingValue is not set}}
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #stg, in_bounds = array<i1: true, false>} : tensor<64x64xf16>, !view
  // expected-error@+1 {{'nv_tileas.tiled_store' op inbounds must be false when paddingValue is set}}
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #stg, in_bounds = array<i1: true, false>, padding_value = 0.0 : f16} : tensor<64x64xf16>, !view
  // expected-error@+1 {{'nv_tileas.tiled_store' op special padding values (nan, pos_inf, neg_inf, neg_zero) only for float-like element types}}
  nv_tileas.tiled_store %y, %n[%i, %i] {atom = #stg, in_bounds = array<i1: false, false>, padding_value = #nv_tileas<padding neg_zero>} : tensor<64x64xi32>, !nv_tileas.tiled_view<64x64xi32, gmem>
  // expected-error@+1 {{'nv_tileas.tiled_store' op expects a padding value of type f16, but got 0 : i16}}
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #stg, padding_value = 0 : i16} : tensor<64x64xf16>, !view

  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #stg, in_bounds = array<i1: true, true>} : tensor<64x64xf16>, !view
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #stg, in_bounds = array<i1: false, false>, padding_value = 0.0 : f16} : tensor<64x64xf16>, !view
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #stg, padding_value = #nv_tileas<padding neg_zero>} : tensor<64x64xf16>, !view
  nv_tileas.tiled_store %x, %v[%i, %i] {atom = #stg} : tensor<64x64xf16>, !view
  func.return
}

// -----

// Of several things that are wrong the first in this order is reported, here one less each time.

!view = !nv_tileas.tiled_view<48x48xf16, gmem>
!ok = !nv_tileas.tiled_view<64x64xf16, gmem>
!token = !nv_tileas.mem_token

func.func @order(%v: !view, %ok: !ok, %i: index, %j: i32, %t: !token) {
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires zero regions}}
  "nv_tileas.tiled_load"(%v, %j, %t, %t) <{mem_semantic = #nv_tileas<mem_semantic acquire>, operandSegmentSizes = array<i32: 1, 1, 0, 2, 0>, in_bounds = array<i1: true>, padding_value = 0.0 : f32}> ({}) : (!view, i32, !token, !token) -> ()
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires at least 1 result, but found 0}}
  "nv_tileas.tiled_load"(%v, %j, %t, %t) <{mem_semantic = #nv_tileas<mem_semantic acquire>, operandSegmentSizes = array<i32: 1, 1, 0, 2, 0>, in_bounds = array<i1: true>, padding_value = 0.0 : f32}> : (!view, i32, !token, !token) -> ()
  // expected-error@+1 {{'nv_tileas.tiled_load' op operand group starting at #2 requires 0 or 1 element, but found 2}}
  %2 = "nv_tileas.tiled_load"(%v, %j, %t, %t) <{mem_semantic = #nv_tileas<mem_semantic acquire>, operandSegmentSizes = array<i32: 1, 1, 0, 2, 0>, in_bounds = array<i1: true>, padding_value = 0.0 : f32}> : (!view, i32, !token, !token) -> tensor<64x64xf32>
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires attribute 'atom'}}
  %3 = nv_tileas.tiled_load %v[%j : i32] acquire after %t : !token {in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !view -> tensor<64x64xf32>
  // expected-error@+1 {{'nv_tileas.tiled_load' op gives a token iff it takes one, but takes 1 and gives 0}}
  %4 = nv_tileas.tiled_load %v[%j : i32] acquire after %t : !token {atom = #nv_tileas<atom stg>, in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !view -> tensor<64x64xf32>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expect a ldgsts, tma_load, ldg or unknown_copy atom type}}
  %5 = nv_tileas.tiled_load %v[%j : i32] acquire {atom = #nv_tileas<atom stg>, in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !view -> tensor<64x64xf32>
  // expected-error@+1 {{'nv_tileas.tiled_load' op requires the same size for tileSize and tensor}}
  %6 = nv_tileas.tiled_load %v[%j : i32] acquire {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !view -> tensor<64x64xf32>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects 2 coordinates, but got 1}}
  %7 = nv_tileas.tiled_load %v[%j : i32] acquire {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !view -> tensor<48x48xf32>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects CoordType is same as memref index type, but got i32}}
  %8 = nv_tileas.tiled_load %v[%j : i32, %i] acquire {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !view -> tensor<48x48xf32>
  // expected-error@+1 {{'nv_tileas.tiled_load' op view elementType not equal with tensor element type: f16 != f32}}
  %9 = nv_tileas.tiled_load %v[%i, %i] acquire {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !view -> tensor<48x48xf32>
  // expected-error@+1 {{'nv_tileas.tiled_load' op all dimensions must be powers of two, got 48, 48}}
  %10 = nv_tileas.tiled_load %v[%i, %i] acquire {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !view -> tensor<48x48xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op unsupported mem_semantic: acquire}}
  %11 = nv_tileas.tiled_load %ok[%i, %i] acquire {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !ok -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op mem_scope required when mem_semantic is not weak}}
  %12 = nv_tileas.tiled_load %ok[%i, %i] relaxed {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !ok -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op incorrect number of in_bounds elements: expected 2, but found 1}}
  %13 = nv_tileas.tiled_load %ok[%i, %i] {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true>, padding_value = 0.0 : f32} : !ok -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op padding value is allowed only when in-bounds is false}}
  %14 = nv_tileas.tiled_load %ok[%i, %i] {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true, true>, padding_value = 0.0 : f32} : !ok -> tensor<64x64xf16>
  // expected-error@+1 {{'nv_tileas.tiled_load' op expects a padding value of type f16, but got 0.000000e+00 : f32}}
  %15 = nv_tileas.tiled_load %ok[%i, %i] {atom = #nv_tileas<atom ldg>, padding_value = 0.0 : f32} : !ok -> tensor<64x64xf16>
  %16 = nv_tileas.tiled_load %ok[%i, %i] {atom = #nv_tileas<atom ldg>, padding_value = 0.0 : f16} : !ok -> tensor<64x64xf16>
  func.return
}

// -----

// Loads and stores that are not tiled: a value per pointer, or one position in a view.

!ptrs = tensor<64x!nv_tileaa.ptr<f16, 1>>
#blocked = #nv_tileas.blocked<"(32,2):(1@thread,1@value)">
!view = !nv_tileas.tiled_view<64x64xf16, gmem>
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>

func.func @access(%p: !ptrs, %v: !view, %x: tensor<64xf16>, %i: index, %m: tensor<32xi1>, %t: !nv_tileas.mem_token, %q: tensor<64x!nv_tileaa.ptr<f16, 3>, #blocked>, %o: tensor<64x!nv_tileaa.ptr<f16, 1>, #blocked>, %one: !nv_tileaa.ptr<f16, 1>) {
  // expected-error@+1 {{'nv_tileas.load' op reaches elements one by one, but tma_load_1d moves boxes}}
  %0 = nv_tileas.load %p {atom = #nv_tileas<atom tma_load_1d>} : !ptrs -> tensor<64xf16>
  // expected-error@+1 {{'nv_tileas.store' op reaches elements one by one, but tma_store_1d moves boxes}}
  nv_tileas.store %x, %p {atom = #nv_tileas<atom tma_store_1d>} : tensor<64xf16>, !ptrs
  // expected-error@+1 {{'nv_tileas.load' op accesses a value for each pointer, but got tensor<32xf16> for tensor<64x!nv_tileaa.ptr<f16, 1>>}}
  %1 = nv_tileas.load %p {atom = #ldg} : !ptrs -> tensor<32xf16>
  // expected-error@+1 {{'nv_tileas.load' op view elementType not equal with tensor element type: f16 != f32}}
  %2 = nv_tileas.load %p {atom = #ldg} : !ptrs -> tensor<64xf32>
  // expected-error@+1 {{'nv_tileas.load' op expects 0 coordinates, but got 1}}
  %3 = nv_tileas.load %p[%i] {atom = #ldg} : !ptrs -> tensor<64xf16>
  // expected-error@+1 {{'nv_tileas.load' op accesses one element or a tile of rank 2, but got tensor<64xf16>}}
  %4 = nv_tileas.load %v[%i, %i] {atom = #ldg} : !view -> tensor<64xf16>
  // expected-error@+1 {{'nv_tileas.load' op expects 2 coordinates, but got 1}}
  %5 = nv_tileas.load %v[%i] {atom = #ldg} : !view -> f16
  // expected-error@+1 {{'nv_tileas.load' op unsupported mem_semantic: release}}
  %6 = nv_tileas.load %p release gpu {atom = #ldg} : !ptrs -> tensor<64xf16>
  // expected-error@+1 {{'nv_tileas.store' op unsupported mem_semantic: acquire}}
  nv_tileas.store %x, %p acquire gpu {atom = #stg} : tensor<64xf16>, !ptrs
  // expected-error@+1 {{'nv_tileas.load' op mem_scope required when mem_semantic is not weak}}
  %7 = nv_tileas.load %p acquire {atom = #ldg} : !ptrs -> tensor<64xf16>
  // expected-error@+1 {{'nv_tileas.load' op expects a mask of i1 in the shape of tensor<64xf16>, but got tensor<32xi1>}}
  %8 = nv_tileas.load %p mask %m : tensor<32xi1> {atom = #ldg} : !ptrs -> tensor<64xf16>
  // expected-error@+1 {{'nv_tileas.load' op expects a mask of i1 in the shape of f16, but got tensor<32xi1>}}
  %scalar = nv_tileas.load %one mask %m : tensor<32xi1> {atom = #ldg} : !nv_tileaa.ptr<f16, 1> -> f16
  // expected-error@+1 {{'nv_tileas.load' op expects a padding value of type f16, but got 0 : i16}}
  %9 = nv_tileas.load %p {atom = #ldg, padding_value = 0 : i16} : !ptrs -> tensor<64xf16>
  // expected-error@+1 {{'nv_tileas.async.store' op gives a token iff it takes one, but takes 1 and gives 0}}
  %10 = nv_tileas.async.store %x, %p after %t : !nv_tileas.mem_token {atom = #stg} : tensor<64xf16>, !ptrs -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.load' op expects a tiled view, a memref or a tile in memory, but got index}}
  %11 = nv_tileas.load %i {atom = #ldg} : index -> f16

  // expected-error@+1 {{'nv_tileas.load' op atom ldg copies gmem to rmem, but the source is in smem}}
  %12 = nv_tileas.load %q {atom = #ldg} : tensor<64x!nv_tileaa.ptr<f16, 3>, #blocked> -> tensor<64xf16>

  %ok0 = nv_tileas.load %o {atom = #ldg} : tensor<64x!nv_tileaa.ptr<f16, 1>, #blocked> -> tensor<64xf16, #blocked>
  %ok = nv_tileas.load %p acquire gpu {atom = #ldg} : !ptrs -> tensor<64xf16>
  nv_tileas.store %x, %p release gpu {atom = #stg} : tensor<64xf16>, !ptrs
  %ok2 = nv_tileas.load %v[%i, %i] {atom = #ldg} : !view -> tensor<8x8xf16>
  func.return
}

// -----

// Gathers and scatters have a coordinate for each dimension, and one of them a tile.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>

func.func @gather(%v: !view, %r: tensor<32xi32>, %f: tensor<32xf32>, %x: tensor<16xf16>, %y: tensor<32xf16>, %i: index) {
  // expected-error@+1 {{'nv_tileas.gather_load' op expects 2 coordinates, but got 1}}
  %0 = nv_tileas.gather_load %v[%r : tensor<32xi32>] {atom = #ldg} : !view -> tensor<32xf16>
  // expected-error@+1 {{'nv_tileas.gather_load' op expects a tile of coordinates for one dimension at least}}
  %1 = nv_tileas.gather_load %v[%i, %i] {atom = #ldg} : !view -> tensor<32xf16>
  // expected-error@+1 {{'nv_tileas.gather_load' op expects an index, or integers in the shape of tensor<32xf16>, but got tensor<32xf32>}}
  %2 = nv_tileas.gather_load %v[%f : tensor<32xf32>, %i] {atom = #ldg} : !view -> tensor<32xf16>
  // expected-error@+1 {{'nv_tileas.scatter_store' op expects an index, or integers in the shape of tensor<16xf16>, but got tensor<32xi32>}}
  nv_tileas.scatter_store %x, %v[%r : tensor<32xi32>, %i] {atom = #stg} : tensor<16xf16>, !view
  // expected-error@+1 {{'nv_tileas.gather_load' op view elementType not equal with tensor element type: f16 != f32}}
  %3 = nv_tileas.gather_load %v[%r : tensor<32xi32>, %i] {atom = #ldg} : !view -> tensor<32xf32>
  // expected-error@+1 {{'nv_tileas.scatter_store' op mem_scope required when mem_semantic is not weak}}
  nv_tileas.scatter_store %y, %v[%r : tensor<32xi32>, %i] relaxed {atom = #stg} : tensor<32xf16>, !view
  // expected-error@+1 {{'nv_tileas.gather_load' op incorrect number of in_bounds elements: expected 2, but found 1}}
  %4 = nv_tileas.gather_load %v[%r : tensor<32xi32>, %i] {atom = #ldg, in_bounds = array<i1: true>} : !view -> tensor<32xf16>
  // expected-error@+1 {{'nv_tileas.gather_load' op padding value is allowed only when in-bounds is false}}
  %5 = nv_tileas.gather_load %v[%r : tensor<32xi32>, %i] {atom = #ldg, in_bounds = array<i1: true, true>, padding_value = 0.0 : f16} : !view -> tensor<32xf16>
  // expected-error@+1 {{'nv_tileas.gather_load' op expect a ldgsts, tma_load, ldg or unknown_copy atom type}}
  %6 = nv_tileas.gather_load %v[%r : tensor<32xi32>, %i] {atom = #stg} : !view -> tensor<32xf16>

  %ok = nv_tileas.gather_load %v[%r : tensor<32xi32>, %i] {atom = #ldg, padding_value = 0.0 : f16} : !view -> tensor<32xf16>
  nv_tileas.scatter_store %y, %v[%r : tensor<32xi32>, %i] {atom = #stg} : tensor<32xf16>, !view
  func.return
}

// -----

// Pointers in a view are elements like others: a load gives the pointer, and takes coordinates.

!view = !nv_tileas.tiled_view<64x!nv_tileaa.ptr<f16, 1>, gmem>
#any = #nv_tileas<atom unknown_copy>

func.func @pointers_in_a_view(%v: !view, %i: index) {
  // expected-error@+1 {{'nv_tileas.load' op view elementType not equal with tensor element type: !nv_tileaa.ptr<f16, 1> != f16}}
  %0 = nv_tileas.load %v[%i] {atom = #any} : !view -> f16
  // expected-error@+1 {{'nv_tileas.load' op expects 1 coordinates, but got 0}}
  %1 = nv_tileas.load %v {atom = #any} : !view -> !nv_tileaa.ptr<f16, 1>

  %ok = nv_tileas.load %v[%i] {atom = #any} : !view -> !nv_tileaa.ptr<f16, 1>
  func.return
}
