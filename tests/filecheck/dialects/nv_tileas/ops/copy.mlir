// Copies between memory spaces.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s --check-prefix=XDSL

!g = !nv_tileas.tiled_view<64x64xf16, gmem>
!s = !nv_tileas.tiled_view<64x64xf16, smem>
!t = !nv_tileas.tiled_view<64x64xf16, tmem>
!r = !nv_tileas.tiled_view<64x64xf16, rmem>

// The pairs that exist, each with an atom that serves it.

func.func @pairs(%g: !g, %s: !s, %t: !t, %r: !r) {
  nv_tileas.copy %g, %r {atom = #nv_tileas<atom ldg>} : !g, !r
  nv_tileas.copy %g, %s {atom = #nv_tileas<atom ldgsts>} : !g, !s
  nv_tileas.copy %r, %g {atom = #nv_tileas<atom stg>} : !r, !g
  nv_tileas.copy %r, %s {atom = #nv_tileas<atom sts>} : !r, !s
  nv_tileas.copy %r, %t {atom = #nv_tileas<atom tcgen05_st>} : !r, !t
  nv_tileas.copy %s, %g {atom = #nv_tileas<atom tma_store_2d>} : !s, !g
  nv_tileas.copy %s, %r {atom = #nv_tileas<atom ldsm_m88>} : !s, !r
  nv_tileas.copy %s, %t {atom = #nv_tileas<atom tcgen05_cp>} : !s, !t
  nv_tileas.copy %t, %r {atom = #nv_tileas<atom tcgen05_ld>} : !t, !r
  func.return
}

// CHECK-LABEL: func.func @pairs(%g: !g, %s: !s, %t: !t, %r: !r) {
// CHECK-NEXT:    nv_tileas.copy %g, %r {atom = #nv_tileas<atom ldg>} : !g, !r
// CHECK-NEXT:    nv_tileas.copy %g, %s {atom = #nv_tileas<atom ldgsts>} : !g, !s
// CHECK-NEXT:    nv_tileas.copy %r, %g {atom = #nv_tileas<atom stg>} : !r, !g
// CHECK-NEXT:    nv_tileas.copy %r, %s {atom = #nv_tileas<atom sts>} : !r, !s
// CHECK-NEXT:    nv_tileas.copy %r, %t {atom = #nv_tileas<atom tcgen05_st>} : !r, !t
// CHECK-NEXT:    nv_tileas.copy %s, %g {atom = #nv_tileas<atom tma_store_2d>} : !s, !g
// CHECK-NEXT:    nv_tileas.copy %s, %r {atom = #nv_tileas<atom ldsm_m88>} : !s, !r
// CHECK-NEXT:    nv_tileas.copy %s, %t {atom = #nv_tileas<atom tcgen05_cp>} : !s, !t
// CHECK-NEXT:    nv_tileas.copy %t, %r {atom = #nv_tileas<atom tcgen05_ld>} : !t, !r
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// From tensor to shared memory until copies of tensor memory are made legal.

func.func @tensor_to_shared(%s: !s, %t: !t) {
  nv_tileas.copy %t, %s {atom = #nv_tileas<atom unknown_copy>} : !t, !s
  func.return
}

// CHECK-LABEL: func.func @tensor_to_shared(%s: !s, %t: !t) {
// CHECK-NEXT:    nv_tileas.copy %t, %s {atom = #nv_tileas<atom unknown_copy>} : !t, !s
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Tiles in memory, tiles that are not laid out yet, and memrefs of unknown size.

func.func @tiles(%x: tensor<64x64xf16>, %s: tensor<64x64xf16, #nv_tileas<space smem>>, %m: memref<?x?xf16>) {
  nv_tileas.copy %x, %s {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
  nv_tileas.copy %m, %s {atom = #nv_tileas<atom unknown_copy>, nv_tileas.layout = <(64,64),(64,1),swizzle<3,4,3>>} : memref<?x?xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
  func.return
}

// CHECK-LABEL: func.func @tiles(%x: tensor<64x64xf16>, %s: tensor<64x64xf16, #nv_tileas<space smem>>, %m: memref<?x?xf16>) {
// CHECK-NEXT:    nv_tileas.copy %x, %s {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    nv_tileas.copy %m, %s {nv_tileas.layout = #nv_tileas.layout<(64,64),(64,1),swizzle<3,4,3>>, atom = #nv_tileas<atom unknown_copy>} : memref<?x?xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Asynchronous: the token says when the destination is filled.

func.func @async(%g: !g, %s: !s) -> !nv_tileas.token {
  %0 = nv_tileas.async.copy %g, %s {atom = #nv_tileas<atom ldgsts>} : !g, !s -> !nv_tileas.token
  func.return %0 : !nv_tileas.token
}

// CHECK-LABEL: func.func @async(%g: !g, %s: !s) -> !nv_tileas.token {
// CHECK-NEXT:    %0 = nv_tileas.async.copy %g, %s {atom = #nv_tileas<atom ldgsts>} : !g, !s -> !nv_tileas.token
// CHECK-NEXT:    func.return %0 : !nv_tileas.token
// CHECK-NEXT:  }


// Plain xdsl-opt reads and prints the same, without aliases.

// XDSL: nv_tileas.copy %g, %r {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem>, !nv_tileas.tiled_view<64x64xf16, rmem>
// XDSL: nv_tileas.copy %g, %s {atom = #nv_tileas<atom ldgsts>} : !nv_tileas.tiled_view<64x64xf16, gmem>, !nv_tileas.tiled_view<64x64xf16, smem>
// XDSL: nv_tileas.copy %r, %g {atom = #nv_tileas<atom stg>} : !nv_tileas.tiled_view<64x64xf16, rmem>, !nv_tileas.tiled_view<64x64xf16, gmem>
// XDSL: nv_tileas.copy %r, %s {atom = #nv_tileas<atom sts>} : !nv_tileas.tiled_view<64x64xf16, rmem>, !nv_tileas.tiled_view<64x64xf16, smem>
// XDSL: nv_tileas.copy %r, %t {atom = #nv_tileas<atom tcgen05_st>} : !nv_tileas.tiled_view<64x64xf16, rmem>, !nv_tileas.tiled_view<64x64xf16, tmem>
// XDSL: nv_tileas.copy %s, %g {atom = #nv_tileas<atom tma_store_2d>} : !nv_tileas.tiled_view<64x64xf16, smem>, !nv_tileas.tiled_view<64x64xf16, gmem>
// XDSL: nv_tileas.copy %s, %r {atom = #nv_tileas<atom ldsm_m88>} : !nv_tileas.tiled_view<64x64xf16, smem>, !nv_tileas.tiled_view<64x64xf16, rmem>
// XDSL: nv_tileas.copy %s, %t {atom = #nv_tileas<atom tcgen05_cp>} : !nv_tileas.tiled_view<64x64xf16, smem>, !nv_tileas.tiled_view<64x64xf16, tmem>
// XDSL: nv_tileas.copy %t, %r {atom = #nv_tileas<atom tcgen05_ld>} : !nv_tileas.tiled_view<64x64xf16, tmem>, !nv_tileas.tiled_view<64x64xf16, rmem>
// XDSL: nv_tileas.copy %t, %s {atom = #nv_tileas<atom unknown_copy>} : !nv_tileas.tiled_view<64x64xf16, tmem>, !nv_tileas.tiled_view<64x64xf16, smem>
// XDSL: nv_tileas.copy %x, %s {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
// XDSL: nv_tileas.copy %m, %s {nv_tileas.layout = #nv_tileas.layout<(64,64),(64,1),swizzle<3,4,3>>, atom = #nv_tileas<atom unknown_copy>} : memref<?x?xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
// XDSL: %0 = nv_tileas.async.copy %g, %s {atom = #nv_tileas<atom ldgsts>} : !nv_tileas.tiled_view<64x64xf16, gmem>, !nv_tileas.tiled_view<64x64xf16, smem> -> !nv_tileas.token
