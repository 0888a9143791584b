// Atomic updates of tiles.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s --check-prefix=XDSL

!view = !nv_tileas.tiled_view<64x64xf32, gmem>

// The result is the tile before.

func.func @tiled_atomic_rmw(%x: tensor<64x64xf32>, %v: !view, %i: index, %t: !nv_tileas.mem_token) {
  %0 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf32>, !view -> tensor<64x64xf32>
  %1, %t1 = nv_tileas.tiled_atomic_rmw max %x, %v[%i, %i] acq_rel gpu after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom tma_redg_2d<op = max>>, in_bounds = array<i1: true, true>} : tensor<64x64xf32>, !view -> tensor<64x64xf32>, !nv_tileas.mem_token
  func.return
}

// CHECK-LABEL: func.func @tiled_atomic_rmw(%x: tensor<64x64xf32>, %v: !view, %i: index, %t: !nv_tileas.mem_token) {
// CHECK-NEXT:    %0 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf32>, !view -> tensor<64x64xf32>
// CHECK-NEXT:    %1, %t1 = nv_tileas.tiled_atomic_rmw max %x, %v[%i, %i] acq_rel gpu after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom tma_redg_2d<op = max>>, in_bounds = array<i1: true, true>} : tensor<64x64xf32>, !view -> tensor<64x64xf32>, !nv_tileas.mem_token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// All modes of integers; halves add and compare.

func.func @modes(%x: tensor<64x64xi32>, %v: !nv_tileas.tiled_view<64x64xi32, gmem>, %h: tensor<8xbf16>, %w: !nv_tileas.tiled_view<8xbf16, gmem>, %i: index) {
  %0 = nv_tileas.tiled_atomic_rmw and %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xi32>, !nv_tileas.tiled_view<64x64xi32, gmem> -> tensor<64x64xi32>
  %1 = nv_tileas.tiled_atomic_rmw umin %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xi32>, !nv_tileas.tiled_view<64x64xi32, gmem> -> tensor<64x64xi32>
  %2 = nv_tileas.tiled_atomic_rmw min %h, %w[%i] {atom = #nv_tileas<atom unknown_copy>} : tensor<8xbf16>, !nv_tileas.tiled_view<8xbf16, gmem> -> tensor<8xbf16>
  func.return
}

// CHECK-LABEL: func.func @modes(%x: tensor<64x64xi32>, %v: !nv_tileas.tiled_view<64x64xi32, gmem>, %h: tensor<8xbf16>, %w: !nv_tileas.tiled_view<8xbf16, gmem>, %i: index) {
// CHECK-NEXT:    %0 = nv_tileas.tiled_atomic_rmw and %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xi32>, !nv_tileas.tiled_view<64x64xi32, gmem> -> tensor<64x64xi32>
// CHECK-NEXT:    %1 = nv_tileas.tiled_atomic_rmw umin %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xi32>, !nv_tileas.tiled_view<64x64xi32, gmem> -> tensor<64x64xi32>
// CHECK-NEXT:    %2 = nv_tileas.tiled_atomic_rmw min %h, %w[%i] {atom = #nv_tileas<atom unknown_copy>} : tensor<8xbf16>, !nv_tileas.tiled_view<8xbf16, gmem> -> tensor<8xbf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// The TMA form reduces a tile of shared memory; the tile before is not known.

func.func @async(%d: !nv_tileas.tma_desc, %s: !nv_tileas.tiled_view<64x64xf32, smem>, %i: index) {
  %0 = nv_tileas.async.tiled_atomic_rmw add %d, %s[%i, %i] {atom = #nv_tileas<atom tma_redg_2d>} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<64x64xf32, smem>, index, index -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @async(%d: !nv_tileas.tma_desc, %s: !nv_tileas.tiled_view<64x64xf32, smem>, %i: index) {
// CHECK-NEXT:    %0 = nv_tileas.async.tiled_atomic_rmw add %d, %s[%i, %i] {atom = #nv_tileas<atom tma_redg_2d<op = add>>} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<64x64xf32, smem>, index, index -> !nv_tileas.token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }


// Plain xdsl-opt reads and prints the same, without aliases.

// XDSL: %0 = nv_tileas.tiled_atomic_rmw add %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> tensor<64x64xf32>
// XDSL: %1, %t1 = nv_tileas.tiled_atomic_rmw max %x, %v[%i, %i] acq_rel gpu after %t : !nv_tileas.mem_token {atom = #nv_tileas<atom tma_redg_2d<op = max>>, in_bounds = array<i1: true, true>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> tensor<64x64xf32>, !nv_tileas.mem_token
// XDSL: %0 = nv_tileas.tiled_atomic_rmw and %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xi32>, !nv_tileas.tiled_view<64x64xi32, gmem> -> tensor<64x64xi32>
// XDSL: %1 = nv_tileas.tiled_atomic_rmw umin %x, %v[%i, %i] {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xi32>, !nv_tileas.tiled_view<64x64xi32, gmem> -> tensor<64x64xi32>
// XDSL: %2 = nv_tileas.tiled_atomic_rmw min %h, %w[%i] {atom = #nv_tileas<atom unknown_copy>} : tensor<8xbf16>, !nv_tileas.tiled_view<8xbf16, gmem> -> tensor<8xbf16>
// XDSL: %0 = nv_tileas.async.tiled_atomic_rmw add %d, %s[%i, %i] {atom = #nv_tileas<atom tma_redg_2d<op = add>>} : !nv_tileas.tma_desc, !nv_tileas.tiled_view<64x64xf32, smem>, index, index -> !nv_tileas.token
