// What TMA operations refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// A descriptor needs a TMA atom and a view of global memory of its rank.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
#load = #nv_tileas<atom tma_load_2d>

func.func @descriptors(%v: !view, %s: !nv_tileas.tiled_view<64x64xf16, smem>, %x: tensor<64x64xf16>, %w: !nv_tileas.tiled_view<8x8x8xf16, gmem>) {
  %c64 = arith.constant 64 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op requires attribute 'atom'}}
  %0 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op invalid TMA atom type}}
  %1 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom ldg>} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expects a view of global memory, but got !nv_tileas.tiled_view<64x64xf16, smem>}}
  %2 = nv_tileas.make_tiled_tma_desc %s box[%c64, %c64] {atom = #load} : !nv_tileas.tiled_view<64x64xf16, smem> -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expects a view of global memory, but got tensor<64x64xf16>}}
  %3 = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load} : tensor<64x64xf16> -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op atom tma_load_2d moves 2 dimensions, not those of !nv_tileas.tiled_view<8x8x8xf16, gmem>}}
  %4 = nv_tileas.make_tiled_tma_desc %w box[%c64, %c64] {atom = #load} : !nv_tileas.tiled_view<8x8x8xf16, gmem> -> !nv_tileas.tma_desc

  %ok = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #load} : !view -> !nv_tileas.tma_desc
  func.return
}

// -----

// The box is that of the atom, with rows of multiples of 16 bytes.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
#box = #nv_tileas<atom tma_load_2d<box = [64, 128]>>
#load = #nv_tileas<atom tma_load_2d>

func.func @boxes(%v: !view, %n: index, %j: i32) {
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op tmaBoxDim and atomBoxDim length mismatch}}
  %0 = nv_tileas.make_tiled_tma_desc %v box[%c64] {atom = #box} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op tmaBoxDim and atomBoxDim mismatch}}
  %1 = nv_tileas.make_tiled_tma_desc %v box[%c128, %c64] {atom = #box} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op tma boxDims[0] * elemTypeBitWidth is not a multiple of 16 bytes}}
  %2 = nv_tileas.make_tiled_tma_desc %v box[%c4, %c64] {atom = #load} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op tma boxDims[0] * elemTypeBitWidth is not a multiple of 16 bytes}}
  %3 = nv_tileas.make_tiled_tma_desc %v box[%n, %n] {atom = #nv_tileas<atom tma_load_2d<box = [4, 64]>>} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expects CoordType is same as memref index type, but got i32}}
  %4 = nv_tileas.make_tiled_tma_desc %v box[%c64, %j : i32] {atom = #load} : !view -> !nv_tileas.tma_desc

  %ok = nv_tileas.make_tiled_tma_desc %v box[%c64, %n] {atom = #box} : !view -> !nv_tileas.tma_desc
  %ok2 = nv_tileas.make_tiled_tma_desc %v box[%c4, %c64] {atom = #load, tma_internal_type = f32} : !view -> !nv_tileas.tma_desc
  func.return
}

// -----

// Modes of loads have a text of their own.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>

func.func @modes(%v: !view) {
  %c64 = arith.constant 64 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op unsupported tma load mode 'scatter4'}}
  %0 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>, mode = "scatter4"} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op unsupported tma load mode 'w128'}}
  %1 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d<mode = w128>>} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op unsupported tma_store mode 'gather4'}}
  %2 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom tma_store_2d>, mode = "gather4"} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op has mode 'tiled', but its atom has 'im2col'}}
  %3 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d<mode = im2col>>, mode = "tiled"} : !view -> !nv_tileas.tma_desc

  %ok0 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>, mode = "tiled_at"} : !view -> !nv_tileas.tma_desc
  %ok1 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom tma_store_2d>, mode = "scatter4"} : !view -> !nv_tileas.tma_desc
  func.return
}

// -----

// Some dimension has adjacent elements; a descriptor is aligned to 128 bytes; NaN fills floats.

!rows = memref<64x64xf16, strided<[128, 2]>>
!view = !nv_tileas.tiled_view<64x64xf16, gmem, <(64,64),(128,2)>>
!columns = !nv_tileas.tiled_view<64x64xi16, gmem, <(64,64),(1,64)>>
#load = #nv_tileas<atom tma_load_2d>

func.func @rest(%r: !rows, %v: !view, %c: !columns) {
  %c64 = arith.constant 64 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op only support element_stride = 1 tma desc}}
  %0 = nv_tileas.make_tiled_tma_desc %r box[%c64, %c64] {atom = #load} : !rows -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op only support element_stride = 1 tma desc}}
  %1 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #load} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expected tma descriptor pointer to have alignment at least 128}}
  %2 = nv_tileas.make_tiled_tma_desc %c box[%c64, %c64] {atom = #load, alignment = 64 : i32} : !columns -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op alignments are powers of two, not 192}}
  %3 = nv_tileas.make_tiled_tma_desc %c box[%c64, %c64] {atom = #load, alignment = 192 : i32} : !columns -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op fills with NaN what is out of bounds, but elements are i16}}
  %4 = nv_tileas.make_tiled_tma_desc %c box[%c64, %c64] {atom = #load, oob_mode = #nv_tileas<oob_mode nan>} : !columns -> !nv_tileas.tma_desc

  %ok = nv_tileas.make_tiled_tma_desc %c box[%c64, %c64] {atom = #load, alignment = 256 : i32, oob_mode = #nv_tileas<oob_mode zero>} : !columns -> !nv_tileas.tma_desc
  func.return
}

// -----

// Multicast is asked for iff the atom has it, for at least 128 bytes.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!smem = !nv_tileas.tiled_view<64x64xf16, smem>
!small = !nv_tileas.tiled_view<4x8xf16, smem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.mem_token
#load = #nv_tileas<atom tma_load_2d>
#mcast = #nv_tileas<atom tma_load_2d<multicast>>

func.func @multicast(%v: !view, %d: !desc, %s: !smem, %t: !small, %i: index, %b: !token) {
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op num_multicast is 2, but the return TMA load type does not support multicast}}
  %0 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #load, num_multicast = 2 : i32} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op missing or invalid num_multicast for a multicast TMA load}}
  %1 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #mcast} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op missing or invalid num_multicast for a multicast TMA load}}
  %2 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #mcast, num_multicast = 17 : i32} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op mcast is not supported for TMA load with less than 128bytes per atom}}
  %3 = nv_tileas.async.tiled_tma_load %d, %t[%i, %i] barrier %b {atom = #mcast, num_multicast = 2 : i32} : !desc, !small, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op mcast is not supported for TMA load with less than 128bytes per atom}}
  %4 = nv_tileas.make_tiled_tma_desc %v box[%c8, %c4] {atom = #mcast, num_multicast = 2 : i32} : !view -> !desc

  %ok = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #mcast, num_multicast = 2 : i32} : !desc, !smem, index, index, !token -> !nv_tileas.token
  %ok2 = nv_tileas.async.tiled_tma_load %d, %t[%i, %i] barrier %b {atom = #load} : !desc, !small, index, index, !token -> !nv_tileas.token
  func.return
}

// -----

// Structure: segments, a descriptor, a barrier, an atom of the right family, a buffer in shared memory.

!smem = !nv_tileas.tiled_view<64x64xf16, smem>
!gmem = !nv_tileas.tiled_view<64x64xf16, gmem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.mem_token
#load = #nv_tileas<atom tma_load_2d>
#store = #nv_tileas<atom tma_store_2d>

func.func @structure(%d: !desc, %s: !smem, %g: !gmem, %x: tensor<64x64xf16>, %y: memref<?x64xf16, #nv_tileas<space smem>>, %i: index, %j: i32, %b: !token) {
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op operandSegmentSizes does not match the op schema}}
  %0 = "nv_tileas.async.tiled_tma_load"(%d, %s, %i, %i) <{atom = #load, operandSegmentSizes = array<i32: 1, 1, 2>}> : (!desc, !smem, index, index) -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op operand group starting at #4 requires 1 element, but found 0}}
  %1 = "nv_tileas.async.tiled_tma_load"(%d, %s, %i, %i) <{atom = #load, operandSegmentSizes = array<i32: 1, 1, 2, 0>}> : (!desc, !smem, index, index) -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op operandSegmentSizes does not match the op schema}}
  %2 = "nv_tileas.async.tiled_tma_store"(%d, %s, %i, %i) <{atom = #store, operandSegmentSizes = array<i32: 1, 1, 2, 0, 0>}> : (!desc, !smem, index, index) -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op expects a TMA descriptor, but got index}}
  %3 = nv_tileas.async.tiled_tma_store %i, %s[%i, %i] {atom = #store} : index, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op expects a barrier, a memory token, but got index}}
  %4 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %i {atom = #load} : !desc, !smem, index, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op expect a tma_load atom type}}
  %5 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #store} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op expect a tma_store atom type}}
  %6 = nv_tileas.async.tiled_tma_store %d, %s[%i, %i] {atom = #load} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op expect a tma_store atom type}}
  %7 = nv_tileas.async.tiled_tma_store %d, %s[%i, %i] {atom = #nv_tileas<atom stg>} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op expects a destination in shared memory, but got !nv_tileas.tiled_view<64x64xf16, gmem>}}
  %8 = nv_tileas.async.tiled_tma_load %d, %g[%i, %i] barrier %b {atom = #load} : !desc, !gmem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op expects a source in shared memory, but got !nv_tileas.tiled_view<64x64xf16, gmem>}}
  %9 = nv_tileas.async.tiled_tma_store %d, %g[%i, %i] {atom = #store} : !desc, !gmem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op does not support attribute 'padding_value'}}
  %10 = nv_tileas.async.tiled_tma_store %d, %s[%i, %i] {atom = #store, padding_value = 0.0 : f16} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op expects 2 coordinates, but got 3}}
  %11 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i, %i] barrier %b {atom = #load} : !desc, !smem, index, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op expects 2 coordinates, but got 1}}
  %12 = nv_tileas.async.tiled_tma_store %d, %s[%i] {atom = #store} : !desc, !smem, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op expects CoordType is same as memref index type, but got i32}}
  %13 = nv_tileas.async.tiled_tma_store %d, %s[%i, %j] {atom = #store} : !desc, !smem, index, i32 -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op result 'result' at position 0 does not verify: !nv_tileas.mem_token should be of base attribute nv_tileas.token}}
  %14 = "nv_tileas.async.tiled_tma_store"(%d, %s, %i, %i) <{atom = #store, operandSegmentSizes = array<i32: 1, 1, 2>}> : (!desc, !smem, index, index) -> !token

  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op expects a source with constant extents, but got memref<?x64xf16, #nv_tileas<space smem>>}}
  %15 = nv_tileas.async.tiled_tma_store %d, %y[%i, %i] {atom = #store} : !desc, memref<?x64xf16, #nv_tileas<space smem>>, index, index -> !nv_tileas.token

  %ok = nv_tileas.async.tiled_tma_load %d, %x[%i, %i] barrier %b {atom = #load} : !desc, tensor<64x64xf16>, index, index, !token -> !nv_tileas.token
  func.return
}

// -----

// The text needs the types of descriptor, buffer and barrier.

func.func @types(%d: !nv_tileas.tma_desc, %s: !nv_tileas.tiled_view<64x64xf16, smem>, %i: index, %b: !nv_tileas.mem_token) {
  // expected-error@+1 {{expected 3 types and those of the coordinates}}
  %0 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tma_desc, index -> !nv_tileas.token
  func.return
}

// -----

// Modes of operations: gathers and scatters are operations of their own.

!smem = !nv_tileas.tiled_view<64x64xf16, smem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.mem_token
!rows = tensor<64xi32>

func.func @modes(%d: !desc, %s: !smem, %r: !rows, %i: index, %b: !token) {
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op unsupported tma load mode 'scatter4'}}
  %0 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #nv_tileas<atom tma_load_2d<mode = scatter4>>} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op moves tiles in mode tiled or im2col or im2col_at or tiled_at, not gather4}}
  %1 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #nv_tileas<atom tma_load_2d<mode = gather4>>} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.gather_tma_load' op moves tiles in mode gather4, not tiled}}
  %2 = nv_tileas.async.gather_tma_load %d, %s[%i] rows %r barrier %b {atom = #nv_tileas<atom tma_load_2d>} : !desc, !smem, index, !rows, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op moves tiles in mode tiled or im2col, not scatter4}}
  %3 = nv_tileas.async.tiled_tma_store %d, %s[%i, %i] {atom = #nv_tileas<atom tma_store_2d<mode = scatter4>>} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.scatter_tma_store' op moves tiles in mode scatter4, not tiled}}
  %4 = nv_tileas.async.scatter_tma_store %d, %s[%i] rows %r {atom = #nv_tileas<atom tma_store_2d>} : !desc, !smem, index, !rows -> !nv_tileas.token

  %ok = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #nv_tileas<atom tma_load_2d<mode = tiled_at>>} : !desc, !smem, index, index, !token -> !nv_tileas.token
  %ok2 = nv_tileas.async.gather_tma_load %d, %s[%i] rows %r barrier %b {atom = #nv_tileas<atom tma_load_2d<mode = gather4>>} : !desc, !smem, index, !rows, !token -> !nv_tileas.token
  func.return
}

// -----

// Operation and descriptor agree: atom, box, elements, swizzle.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!smem = !nv_tileas.tiled_view<64x64xf16, smem, <(64,64),(64,1),swizzle<3,4,3>>>
!plain = !nv_tileas.tiled_view<64x64xbf16, smem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.mem_token
#load = #nv_tileas<atom tma_load_2d>

func.func @agreement(%v: !view, %s: !smem, %p: !plain, %i: index, %b: !token) {
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
  %store = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #nv_tileas<atom tma_store_2d>} : !view -> !desc
  %narrow = nv_tileas.make_tiled_tma_desc %v box[%c32, %c64] {atom = #load} : !view -> !desc
  %other = nv_tileas.make_tiled_tma_desc %v box[%c32, %c64] {atom = #load, swizzle_mode = #nv_tileas<swizzle_mode "64B">} : !view -> !desc
  %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #load, swizzle_mode = #nv_tileas<swizzle_mode "128B">} : !view -> !desc
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op uses atom tma_load_2d, but its descriptor is for tma_store_2d}}
  %0 = nv_tileas.async.tiled_tma_load %store, %s[%i, %i] barrier %b {atom = #load} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op tma box-dim and copy atom box-dim mismatch}}
  %1 = nv_tileas.async.tiled_tma_load %narrow, %s[%i, %i] barrier %b {atom = #nv_tileas<atom tma_load_2d<box = [64, 64]>>} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op the descriptor swizzles by 64B, but the buffer is laid out by 128B}}
  %2 = nv_tileas.async.tiled_tma_load %other, %s[%i, %i] barrier %b {atom = #load} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op view elementType not equal with tensor element type: f16 != bf16}}
  %3 = nv_tileas.async.tiled_tma_load %d, %p[%i, %i] barrier %b {atom = #load} : !desc, !plain, index, index, !token -> !nv_tileas.token

  %ok = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #nv_tileas<atom tma_load_2d<box = [64, 64]>>} : !desc, !smem, index, index, !token -> !nv_tileas.token
  %ok2 = nv_tileas.async.tiled_tma_load %d, %p[%i, %i] barrier %b {atom = #load, tma_internal_type = bf16} : !desc, !plain, index, index, !token -> !nv_tileas.token
  func.return
}

// -----

// The buffer holds the box, in rows of multiples of 16 bytes, laid out as TMA can fill it.

!thin = !nv_tileas.tiled_view<64x4xf16, smem>
!box = !nv_tileas.tiled_view<64x64xf16, smem>
!odd = !nv_tileas.tiled_view<64x32xf16, smem, <(64,32),(32,1),swizzle<3,4,3>>>
!sparse = tensor<64x64xf16, #nv_tileas.shared<(64,64),(128,2)>>
!good = tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>
!desc = !nv_tileas.tma_desc
#store = #nv_tileas<atom tma_store_2d>

func.func @buffers(%d: !desc, %t: !thin, %b: !box, %o: !odd, %s: !sparse, %g: !good, %r: tensor<64xi32>, %i: index) {
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op tma leading box-dim bit-width is not 16 bytes aligned}}
  %0 = nv_tileas.async.tiled_tma_store %d, %t[%i, %i] {atom = #store} : !desc, !thin, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op tma leading box-dim bit-width is not 16 bytes aligned}}
  %1 = nv_tileas.async.tiled_tma_store %d, %b[%i, %i] {atom = #nv_tileas<atom tma_store_2d<box = [4, 64]>>} : !desc, !box, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op requires the same size for tileSize and tensor}}
  %2 = nv_tileas.async.tiled_tma_store %d, %b[%i, %i] {atom = #nv_tileas<atom tma_store_2d<box = [64, 32]>>} : !desc, !box, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op requires the same shape for tileSize and tensor value}}
  %3 = nv_tileas.async.tiled_tma_store %d, %b[%i, %i] {atom = #nv_tileas<atom tma_store_2d<box = [32, 128]>>} : !desc, !box, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op smem layout is not TMA compatible}}
  %4 = nv_tileas.async.tiled_tma_store %d, %o[%i, %i] {atom = #store} : !desc, !odd, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op smem layout is not TMA compatible}}
  %5 = nv_tileas.async.tiled_tma_store %d, %s[%i, %i] {atom = #store} : !desc, !sparse, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.scatter_tma_store' op requires the same shape for tileSize and tensor value}}
  %6 = nv_tileas.async.scatter_tma_store %d, %b[%i] rows %r {atom = #nv_tileas<atom tma_store_2d<box = [32, 1], mode = scatter4>>} : !desc, !box, index, tensor<64xi32> -> !nv_tileas.token

  %ok = nv_tileas.async.tiled_tma_store %d, %g[%i, %i] {atom = #nv_tileas<atom tma_store_2d<box = [64, 64]>>} : !desc, !good, index, index -> !nv_tileas.token
  func.return
}

// -----

// Loads are padded with zeros, and only floats; they count the bytes of the tile and deliver it.

!smem = !nv_tileas.tiled_view<64x64xf16, smem>
!ints = !nv_tileas.tiled_view<64x64xi16, smem>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.mem_token
!rows = tensor<64xi32>
#load = #nv_tileas<atom tma_load_2d>
#gather = #nv_tileas<atom tma_load_2d<mode = gather4>>

func.func @padding(%d: !desc, %s: !smem, %n: !ints, %r: !rows, %i: index, %b: !token) {
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op TmaLoad only support zero padding now}}
  %0 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #load, padding_value = 1.0 : f16} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.gather_tma_load' op GatherTmaLoad only support zero padding now}}
  %1 = nv_tileas.async.gather_tma_load %d, %s[%i] rows %r barrier %b {atom = #gather, padding_value = #nv_tileas<padding nan>} : !desc, !smem, index, !rows, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op pads floating-point elements only, not i16}}
  %2 = nv_tileas.async.tiled_tma_load %d, %n[%i, %i] barrier %b {atom = #load, padding_value = 0 : i16} : !desc, !ints, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op expects a padding value of type f16, but got 0.000000e+00 : f32}}
  %3 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #load, padding_value = 0.0 : f32} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op tx_count is 4096, but the tile has 8192 bytes}}
  %4 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #load, tx_count = 4096 : i32} : !desc, !smem, index, index, !token -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op fills !nv_tileas.tiled_view<64x64xf16, smem>, but delivers tensor<64x64xf32>}}
  %5 = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #load} : !desc, !smem, index, index, !token -> !nv_tileas.token<tensor<64x64xf32>>

  %ok = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %b {atom = #load, padding_value = 0.0 : f16, tx_count = 8192 : i32} : !desc, !smem, index, index, !token -> !nv_tileas.token<tensor<64x64xf16>>
  func.return
}

// -----

// One number for each row of the buffer, four rows at a time.

!smem = !nv_tileas.tiled_view<64x64xf16, smem>
!two = !nv_tileas.tiled_view<2x64xf16, smem>
!desc = !nv_tileas.tma_desc
#scatter = #nv_tileas<atom tma_store_2d<mode = scatter4>>

func.func @rows(%d: !desc, %s: !smem, %t: !two, %r: tensor<64xi32>, %q: tensor<2xi32>, %f: tensor<64xf32>, %i: index) {
  // expected-error@+1 {{'nv_tileas.async.scatter_tma_store' op expects 64 row numbers for !nv_tileas.tiled_view<64x64xf16, smem>, but got tensor<2xi32>}}
  %0 = nv_tileas.async.scatter_tma_store %d, %s[%i] rows %q {atom = #scatter} : !desc, !smem, index, tensor<2xi32> -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.scatter_tma_store' op expects 64 row numbers for !nv_tileas.tiled_view<64x64xf16, smem>, but got tensor<64xf32>}}
  %1 = nv_tileas.async.scatter_tma_store %d, %s[%i] rows %f {atom = #scatter} : !desc, !smem, index, tensor<64xf32> -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.scatter_tma_store' op moves 4 rows by one instruction, but there are 2}}
  %2 = nv_tileas.async.scatter_tma_store %d, %t[%i] rows %q {atom = #scatter} : !desc, !two, index, tensor<2xi32> -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.scatter_tma_store' op expects 1 coordinates, but got 2}}
  %3 = nv_tileas.async.scatter_tma_store %d, %s[%i, %i] rows %r {atom = #scatter} : !desc, !smem, index, index, tensor<64xi32> -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.scatter_tma_store' op does not support attribute 'padding_value'}}
  %4 = nv_tileas.async.scatter_tma_store %d, %s[%i] rows %r {atom = #scatter, padding_value = 0.0 : f16} : !desc, !smem, index, tensor<64xi32> -> !nv_tileas.token

  %ok = nv_tileas.async.scatter_tma_store %d, %s[%i] rows %r {atom = #scatter} : !desc, !smem, index, tensor<64xi32> -> !nv_tileas.token
  func.return
}

// -----

// Once a function has its descriptors, each use has an index below their number.

!smem = !nv_tileas.tiled_view<64x64xf16, smem>
!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!desc = !nv_tileas.tma_desc
#store = #nv_tileas<atom tma_store_2d>

func.func @indices(%s: !smem, %v: !view, %i: index, %device: !desc, %host: !desc) attributes {"nv_tileas.num-host-tmas" = 1 : i32, "nv_tileas.num-device-tmas" = 2 : i32} {
  %c64 = arith.constant 64 : index
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op not find tmaIdx.}}
  %0 = nv_tileas.async.tiled_tma_store %host, %s[%i, %i] {atom = #store} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op tmaIdx exceed tmaHostNum.}}
  %1 = nv_tileas.async.tiled_tma_store %host, %s[%i, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op tmaIdx exceed tmaDeviceNum.}}
  %2 = nv_tileas.async.tiled_tma_store %device, %s[%i, %i] {atom = #store, tmaIdx = 2 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op tmaIdx exceed tmaDeviceNum.}}
  %3 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #store, tmaIdx = 2 : i32} : !view -> !desc
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op tmaIdx is -1, but tables start with 0}}
  %4 = nv_tileas.async.tiled_tma_store %host, %s[%i, %i] {atom = #store, tmaIdx = -1 : i32} : !desc, !smem, index, index -> !nv_tileas.token

  %ok0 = nv_tileas.async.tiled_tma_store %host, %s[%i, %i] {atom = #store, tmaIdx = 0 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  %ok1 = nv_tileas.async.tiled_tma_store %device, %s[%i, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  func.return
}

func.func @no_counts(%s: !smem, %i: index, %d: !desc {cute_nvgpu.grid_constant}) {
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op funcOp lack tmaDeviceNum and tmaHostNum attr}}
  %0 = nv_tileas.async.tiled_tma_store %d, %s[%i, %i] {atom = #store, tmaIdx = 0 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  func.return
}

func.func @not_yet(%s: !smem, %i: index, %d: !desc) {
  %ok = nv_tileas.async.tiled_tma_store %d, %s[%i, %i] {atom = #store, tmaIdx = 7 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  func.return
}

// -----

// A descriptor that control flow hands on is in the table that it comes from.

!smem = !nv_tileas.tiled_view<64x64xf16, smem>
!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!desc = !nv_tileas.tma_desc
#store = #nv_tileas<atom tma_store_2d>

func.func @carried(%s: !smem, %v: !view, %i: index, %device: !desc, %host: !desc) attributes {"nv_tileas.num-host-tmas" = 1 : i32, "nv_tileas.num-device-tmas" = 2 : i32} {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %made = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #store, tmaIdx = 0 : i32} : !view -> !desc
  %d, %h, %m = scf.for %j = %c1 to %i step %c1 iter_args(%x = %device, %y = %host, %z = %made) -> (!desc, !desc, !desc) {
    // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op tmaIdx exceed tmaDeviceNum.}}
    %0 = nv_tileas.async.tiled_tma_store %x, %s[%i, %i] {atom = #store, tmaIdx = 2 : i32} : !desc, !smem, index, index -> !nv_tileas.token
    // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op tmaIdx exceed tmaHostNum.}}
    %1 = nv_tileas.async.tiled_tma_store %y, %s[%i, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !smem, index, index -> !nv_tileas.token
    %ok0 = nv_tileas.async.tiled_tma_store %x, %s[%i, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !smem, index, index -> !nv_tileas.token
    %ok1 = nv_tileas.async.tiled_tma_store %y, %s[%i, %i] {atom = #store, tmaIdx = 0 : i32} : !desc, !smem, index, index -> !nv_tileas.token
    %ok2 = nv_tileas.async.tiled_tma_store %z, %s[%i, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !smem, index, index -> !nv_tileas.token
    scf.yield %x, %y, %device : !desc, !desc, !desc
  }
  %ok3 = nv_tileas.async.tiled_tma_store %m, %s[%i, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  cf.br ^next(%h : !desc)
^next(%y: !desc):
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op tmaIdx exceed tmaHostNum.}}
  %2 = nv_tileas.async.tiled_tma_store %y, %s[%i, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  %ok4 = nv_tileas.async.tiled_tma_store %y, %s[%i, %i] {atom = #store, tmaIdx = 0 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  func.return
}

// Where the table is not known, an index of either will do.

func.func @merged(%s: !smem, %i: index, %p: i1, %device: !desc, %host: !desc) attributes {"nv_tileas.num-host-tmas" = 1 : i32, "nv_tileas.num-device-tmas" = 2 : i32} {
  %either = scf.if %p -> (!desc) {
    scf.yield %device : !desc
  } else {
    scf.yield %host : !desc
  }
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op tmaIdx exceed tmaDeviceNum.}}
  %0 = nv_tileas.async.tiled_tma_store %either, %s[%i, %i] {atom = #store, tmaIdx = 2 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  %ok = nv_tileas.async.tiled_tma_store %either, %s[%i, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !smem, index, index -> !nv_tileas.token
  func.return
}

// -----

// The type of a buffer may say how it is laid out: its own extents and elements, in boxes of TMA.

!desc = !nv_tileas.tma_desc
!small = !nv_tileas.tiled_view<128x64xf16, smem, <(8,8),(8,1)>>
!tile = tensor<128x64xf16, #nv_tileas.shared<(8,8),(8,1)>>
!padded = !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(72,1)>>
!columns = !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(1,128)>>
!floats = !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),elem=f32>>
!long = !nv_tileas.tiled_view<64x128xf16, smem, <(64,128),(128,1),swizzle<3,4,3>>>
!rows = !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),elem=f16>>
!cut = !nv_tileas.tiled_view<64x128xf16, smem, <(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
!tall = tensor<512x64xf16, #nv_tileas.shared<(512,64),(64,1),swizzle<3,4,3>>>
#store = #nv_tileas<atom tma_store_2d<box = [64, 128]>>
#wide = #nv_tileas<atom tma_store_2d<box = [128, 64]>>

func.func @layouts(%d: !desc, %i: index, %small: !small, %tile: !tile, %padded: !padded, %columns: !columns, %floats: !floats, %long: !long, %rows: !rows, %cut: !cut, %tall: !tall) {
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op smem layout is not TMA compatible}}
  %0 = nv_tileas.async.tiled_tma_store %d, %small[%i, %i] {atom = #store} : !desc, !small, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op smem layout is not TMA compatible}}
  %1 = nv_tileas.async.tiled_tma_store %d, %tile[%i, %i] {atom = #store} : !desc, !tile, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op smem layout is not TMA compatible}}
  %2 = nv_tileas.async.tiled_tma_store %d, %padded[%i, %i] {atom = #store} : !desc, !padded, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op smem layout is not TMA compatible}}
  %3 = nv_tileas.async.tiled_tma_store %d, %columns[%i, %i] {atom = #store} : !desc, !columns, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op smem layout is not TMA compatible}}
  %4 = nv_tileas.async.tiled_tma_store %d, %floats[%i, %i] {atom = #store} : !desc, !floats, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op smem layout is not TMA compatible}}
  %5 = nv_tileas.async.tiled_tma_store %d, %long[%i, %i] {atom = #wide} : !desc, !long, index, index -> !nv_tileas.token

  %ok0 = nv_tileas.async.tiled_tma_store %d, %rows[%i, %i] {atom = #store} : !desc, !rows, index, index -> !nv_tileas.token
  %ok1 = nv_tileas.async.tiled_tma_store %d, %cut[%i, %i] {atom = #wide} : !desc, !cut, index, index -> !nv_tileas.token
  %ok2 = nv_tileas.async.tiled_tma_store %d, %tall[%i, %i] {atom = #nv_tileas<atom tma_store_2d>} : !desc, !tall, index, index -> !nv_tileas.token
  func.return
}

// -----

// Boxes have 1 to 256 elements along a dimension, and rows no longer than what the swizzle spans.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!smem = !nv_tileas.tiled_view<512x64xf16, smem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d>
#tall = #nv_tileas<atom tma_load_2d<box = [64, 512]>>

func.func @extents(%v: !view, %d: !desc, %s: !smem, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op boxes have extents of 1 to 256, not 512}}
  %0 = nv_tileas.make_tiled_tma_desc %v box[%c64, %c512] {atom = #load} : !view -> !desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op boxes have extents of 1 to 256, not 0}}
  %1 = nv_tileas.make_tiled_tma_desc %v box[%c0, %c64] {atom = #load} : !view -> !desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op boxes have extents of 1 to 256, not 512}}
  %2 = nv_tileas.make_tiled_tma_desc %v box[%n, %n] {atom = #tall} : !view -> !desc
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op boxes have extents of 1 to 256, not 512}}
  %3 = nv_tileas.async.tiled_tma_store %d, %s[%n, %n] {atom = #nv_tileas<atom tma_store_2d<box = [64, 512]>>} : !desc, !smem, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op swizzle 128B spans 128 bytes, but rows have 512}}
  %4 = nv_tileas.make_tiled_tma_desc %v box[%c256, %c64] {atom = #load, swizzle_mode = #nv_tileas<swizzle_mode "128B">} : !view -> !desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op swizzle 32B spans 32 bytes, but rows have 64}}
  %5 = nv_tileas.make_tiled_tma_desc %v box[%c32, %c64] {atom = #load, swizzle_mode = #nv_tileas<swizzle_mode "32B">} : !view -> !desc

  %ok0 = nv_tileas.make_tiled_tma_desc %v box[%c256, %c256] {atom = #load, swizzle_mode = #nv_tileas<swizzle_mode none>} : !view -> !desc
  %ok1 = nv_tileas.make_tiled_tma_desc %v box[%c32, %c256] {atom = #load, swizzle_mode = #nv_tileas<swizzle_mode "64B">} : !view -> !desc
  %ok2 = nv_tileas.async.tiled_tma_store %d, %s[%n, %n] {atom = #nv_tileas<atom tma_store_2d>} : !desc, !smem, index, index -> !nv_tileas.token
  func.return
}

// -----

// Without a box, the buffer still has the rank of the atom and something in it; rows are of a matrix.

!cube = !nv_tileas.tiled_view<8x8x8xf16, smem>
!none = !nv_tileas.tiled_view<0x64xf16, smem>
!smem = !nv_tileas.tiled_view<64x64xf16, smem>
!view = !nv_tileas.tiled_view<64x64x64xf16, gmem>
!desc = !nv_tileas.tma_desc
#store = #nv_tileas<atom tma_store_2d>
#scatter = #nv_tileas<atom tma_store_2d<mode = scatter4>>
#cubes = #nv_tileas<atom tma_store_3d<mode = scatter4>>

func.func @ranks(%d: !desc, %c: !cube, %z: !none, %s: !smem, %v: !view, %r: tensor<64xi32>, %x: tensor<64xindex>, %l: tensor<64xi64>, %i: index) {
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op atom tma_store_2d moves 2 dimensions, not those of !nv_tileas.tiled_view<8x8x8xf16, smem>}}
  %0 = nv_tileas.async.tiled_tma_store %d, %c[%i, %i] {atom = #store} : !desc, !cube, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_store' op all dimensions must be positive constants, got 0, 64}}
  %1 = nv_tileas.async.tiled_tma_store %d, %z[%i, %i] {atom = #store} : !desc, !none, index, index -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.async.scatter_tma_store' op mode scatter4 moves rows of 2 dimensions, but atom tma_store_3d has 3}}
  %2 = nv_tileas.async.scatter_tma_store %d, %c[%i, %i] rows %r {atom = #cubes} : !desc, !cube, index, index, tensor<64xi32> -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op mode scatter4 moves rows of 2 dimensions, but atom tma_store_3d has 3}}
  %3 = nv_tileas.make_tiled_tma_desc %v box[%i, %i, %i] {atom = #nv_tileas<atom tma_store_3d>, mode = "scatter4"} : !view -> !desc
  // expected-error@+1 {{'nv_tileas.async.scatter_tma_store' op expects 64 row numbers for !nv_tileas.tiled_view<64x64xf16, smem>, but got tensor<64xi64>}}
  %4 = nv_tileas.async.scatter_tma_store %d, %s[%i] rows %l {atom = #scatter} : !desc, !smem, index, tensor<64xi64> -> !nv_tileas.token

  %ok0 = nv_tileas.async.tiled_tma_store %d, %c[%i, %i, %i] {atom = #nv_tileas<atom tma_store_3d>} : !desc, !cube, index, index, index -> !nv_tileas.token
  %ok1 = nv_tileas.async.scatter_tma_store %d, %s[%i] rows %r {atom = #scatter} : !desc, !smem, index, tensor<64xi32> -> !nv_tileas.token
  %ok2 = nv_tileas.async.scatter_tma_store %d, %s[%i] rows %x {atom = #scatter} : !desc, !smem, index, tensor<64xindex> -> !nv_tileas.token
  %ok3 = nv_tileas.make_tiled_tma_desc %v box[%i, %i, %i] {atom = #nv_tileas<atom tma_store_3d>} : !view -> !desc
  func.return
}
