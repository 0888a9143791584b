// What `tileas-attach-tma-descriptor-args` refuses.  Each time the module stays as it was.

// RUN: tileas-opt %s -p tileas-attach-tma-descriptor-args --split-input-file --verify-diagnostics

func.func @left(%a: memref<8x8xf32>) attributes {"nv_tileas.num-host-tmas" = 1 : i32, "nv_tileas.num-device-tmas" = 1 : i32} {
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expect lower MakeTiledTMADescOp}}
  %d = nv_tileas.make_tiled_tma_desc %a box[%c8, %c8] {atom = #nv_tileas<atom tma_load_2d>, tmaIdx = 0 : i32} : memref<8x8xf32> -> !nv_tileas.tma_desc
  func.return
}

// -----

// expected-error@+1 {{'func.func' op gets descriptors from a launch, and is called}}
func.func @called(%a: memref<8x8xf32>) {
  %c8 = arith.constant 8 : index
  %d = nv_tileas.make_tiled_tma_desc %a box[%c8, %c8] {atom = #nv_tileas<atom tma_load_2d>} : memref<8x8xf32> -> !nv_tileas.tma_desc
  func.return
}
func.func @caller(%a: memref<8x8xf32>) {
  // expected-note@+1 {{called here}}
  func.call @called(%a) : (memref<8x8xf32>) -> ()
  func.return
}

// -----

func.func @two_boxes(%p: memref<?x64xf16>, %i: index, %bar: !nv_tileas.mem_token) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %s = nv_tileas.alloc_tensor : tensor<8x64xf16, #nv_tileas<space smem>>
  %r = nv_tileas.alloc_tensor : tensor<16x32xf16, #nv_tileas<space smem>>
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op is used to move boxes (32, 16) 64B and boxes (64, 8) 128B; one descriptor has one box}}
  %h = nv_tileas.make_tiled_tma_desc %p box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x64xf16> -> !nv_tileas.tma_desc
  %t = nv_tileas.async.tiled_tma_load %h, %s[%i, %i] barrier %bar {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tma_desc, tensor<8x64xf16, #nv_tileas<space smem>>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  %u = nv_tileas.async.tiled_tma_load %h, %r[%i, %i] barrier %bar {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tma_desc, tensor<16x32xf16, #nv_tileas<space smem>>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  func.return
}

// -----

func.func @choice(%p: memref<?x64xf16>, %s: tensor<8x64xf16>, %i: index, %bar: !nv_tileas.mem_token, %c: i1) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %x = nv_tileas.make_tiled_tma_desc %p box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x64xf16> -> !nv_tileas.tma_desc
  %y = nv_tileas.make_tiled_tma_desc %p box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x64xf16> -> !nv_tileas.tma_desc
  %h = scf.if %c -> (!nv_tileas.tma_desc) {
    scf.yield %x : !nv_tileas.tma_desc
  } else {
    scf.yield %y : !nv_tileas.tma_desc
  }
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op moves through one of 2 descriptors; each transfer has its own}}
  %t = nv_tileas.async.tiled_tma_load %h, %s[%i, %i] barrier %bar {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tma_desc, tensor<8x64xf16>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  func.return
}

// -----

func.func @given(%d: !nv_tileas.tma_desc, %p: memref<?x64xf16>, %s: tensor<8x64xf16>, %i: index, %bar: !nv_tileas.mem_token) {
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %x = nv_tileas.make_tiled_tma_desc %p box[%c64, %c8] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x64xf16> -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op moves through a descriptor that its function does not make}}
  %t = nv_tileas.async.tiled_tma_load %d, %s[%i, %i] barrier %bar {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tma_desc, tensor<8x64xf16>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  func.return
}
