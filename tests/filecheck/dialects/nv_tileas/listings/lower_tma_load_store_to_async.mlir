// TMA and Memops Family, "LowerTMALoadStoreToAsync": one load before and after, as its phases say.
//
// The section has no listing of its own; this is the sequence that it describes in words: descriptor,
// asynchronous load into a buffer with index and byte count, wait for the token.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
#tma_load = #nv_tileas<atom tma_load_2d<box = [64, 64]>>
#smem = #nv_tileas<space smem>

func.func @before(%v: !view, %i: index, %k: index) {
  %t = nv_tileas.tiled_load %v[%i, %k] {atom = #tma_load, allow_tma = true} : !view -> tile<64x64xf16>
  func.return
}

// CHECK-LABEL: func.func @before(%v: !view, %i: index, %k: index) {
// CHECK-NEXT:    %t = nv_tileas.tiled_load %v[%i, %k] {atom = #tma_load, allow_tma = true} : !view -> tensor<64x64xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

func.func @after(%v: !view, %i: index, %k: index, %mbar: !nv_tileas.mem_token) {
  %c64 = arith.constant 64 : index
  %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #tma_load, tmaIdx = 0 : i32} : !view -> !nv_tileas.tma_desc
  %s = nv_tileas.alloc_tensor : tensor<64x64xf16, #smem>
  %k0 = nv_tileas.async.tiled_tma_load %d, %s[%i, %k] barrier %mbar {atom = #tma_load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !nv_tileas.tma_desc, tensor<64x64xf16, #smem>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  nv_tileas.async.wait %k0 : !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @after(%v: !view, %i: index, %k: index, %mbar: !nv_tileas.mem_token) {
// CHECK-NEXT:    %c64 = arith.constant 64 : index
// CHECK-NEXT:    %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #tma_load, tmaIdx = 0 : i32} : !view -> !nv_tileas.tma_desc
// CHECK-NEXT:    %s = nv_tileas.alloc_tensor : tensor<64x64xf16, #smem>
// CHECK-NEXT:    %k0 = nv_tileas.async.tiled_tma_load %d, %s[%i, %k] barrier %mbar {atom = #tma_load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !nv_tileas.tma_desc, tensor<64x64xf16, #smem>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
// CHECK-NEXT:    nv_tileas.async.wait %k0 : !nv_tileas.token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
