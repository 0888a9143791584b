// What copies refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// The same shape and the same elements.

!g = !nv_tileas.tiled_view<64x64xf16, gmem>
#any = #nv_tileas<atom unknown_copy>

func.func @shapes(%g: !g, %s: !nv_tileas.tiled_view<64x32xf16, smem>, %f: !nv_tileas.tiled_view<64x64xf32, smem>, %m: memref<?x64xf16>, %i: index) {
  // expected-error@+1 {{'nv_tileas.copy' op copies to the same shape, not from !nv_tileas.tiled_view<64x64xf16, gmem> to !nv_tileas.tiled_view<64x32xf16, smem>}}
  nv_tileas.copy %g, %s {atom = #any} : !g, !nv_tileas.tiled_view<64x32xf16, smem>
  // expected-error@+1 {{'nv_tileas.copy' op copies elements as they are, not f16 to f32}}
  nv_tileas.copy %g, %f {atom = #any} : !g, !nv_tileas.tiled_view<64x64xf32, smem>
  // expected-error@+1 {{'nv_tileas.copy' op expects a view or a tile, but got index}}
  nv_tileas.copy %i, %g {atom = #any} : index, !g
  // expected-error@+1 {{'nv_tileas.async.copy' op expects a view or a tile, but got index}}
  %0 = nv_tileas.async.copy %g, %i {atom = #any} : !g, index -> !nv_tileas.token

  %r = nv_tileas.alloc_tensor : tensor<64x64xf16, #nv_tileas<space smem>>
  nv_tileas.copy %m, %r {atom = #any} : memref<?x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
  func.return
}

// -----

// The pairs of memory spaces between which there is no copy.

!g = !nv_tileas.tiled_view<64x64xf16, gmem>
!s = !nv_tileas.tiled_view<64x64xf16, smem>
!t = !nv_tileas.tiled_view<64x64xf16, tmem>
!r = !nv_tileas.tiled_view<64x64xf16, rmem>
#any = #nv_tileas<atom unknown_copy>

func.func @pairs(%g: !g, %s: !s, %t: !t, %r: !r) {
  // expected-error@+1 {{'nv_tileas.copy' op no tile is copied from gmem to gmem}}
  nv_tileas.copy %g, %g {atom = #any} : !g, !g
  // expected-error@+1 {{'nv_tileas.copy' op no tile is copied from gmem to tmem}}
  nv_tileas.copy %g, %t {atom = #any} : !g, !t
  // expected-error@+1 {{'nv_tileas.copy' op no tile is copied from rmem to rmem}}
  nv_tileas.copy %r, %r {atom = #any} : !r, !r
  // expected-error@+1 {{'nv_tileas.copy' op no tile is copied from smem to smem}}
  nv_tileas.copy %s, %s {atom = #any} : !s, !s
  // expected-error@+1 {{'nv_tileas.copy' op no tile is copied from tmem to gmem}}
  nv_tileas.copy %t, %g {atom = #any} : !t, !g
  // expected-error@+1 {{'nv_tileas.copy' op no tile is copied from tmem to tmem}}
  nv_tileas.copy %t, %t {atom = #any} : !t, !t

  nv_tileas.copy %t, %s {atom = #any} : !t, !s
  func.return
}

// -----

// An atom that copies, between just these spaces.

!g = !nv_tileas.tiled_view<64x64xf16, gmem>
!s = !nv_tileas.tiled_view<64x64xf16, smem>
!t = !nv_tileas.tiled_view<64x64xf16, tmem>

func.func @atoms(%g: !g, %s: !s, %t: !t, %a: !nv_tileaa.tiled_view<64x64xf16>) {
  // expected-error@+1 {{'nv_tileas.copy' op expects a copy atom, but got mma_f16_f16_f32}}
  nv_tileas.copy %g, %s {atom = #nv_tileas<atom mma_f16_f16_f32>} : !g, !s
  // expected-error@+1 {{'nv_tileas.copy' op atom ldg copies gmem to rmem, not gmem to smem}}
  nv_tileas.copy %g, %s {atom = #nv_tileas<atom ldg>} : !g, !s
  // expected-error@+1 {{'nv_tileas.copy' op atom tma_load_2d copies gmem to smem, gmem to tmem, not smem to gmem}}
  nv_tileas.copy %s, %g {atom = #nv_tileas<atom tma_load_2d>} : !s, !g
  // expected-error@+1 {{'nv_tileas.async.copy' op atom tcgen05_ld copies tmem to rmem, not tmem to smem}}
  %0 = nv_tileas.async.copy %t, %s {atom = #nv_tileas<atom tcgen05_ld>} : !t, !s -> !nv_tileas.token
  // expected-error@+1 {{'nv_tileas.copy' op atom ldg copies gmem to rmem, but the destination is in smem}}
  nv_tileas.copy %a, %s {atom = #nv_tileas<atom ldg>} : !nv_tileaa.tiled_view<64x64xf16>, !s
  // expected-error@+1 {{'nv_tileas.copy' op requires attribute 'atom'}}
  nv_tileas.copy %g, %s : !g, !s

  nv_tileas.copy %g, %s {atom = #nv_tileas<atom tma_load_2d>} : !g, !s
  nv_tileas.copy %a, %s {atom = #nv_tileas<atom ldgsts>} : !nv_tileaa.tiled_view<64x64xf16>, !s
  func.return
}
