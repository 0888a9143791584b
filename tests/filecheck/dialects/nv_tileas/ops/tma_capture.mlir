// What descriptors may be built from: arguments, constants, arithmetic, views of them.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s --check-prefix=XDSL

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>

// A descriptor may be built inside a loop as long as nothing it needs comes from the loop.

func.func @inside(%m: memref<1024x1024xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %wide = arith.addi %c64, %n : index
  scf.for %i = %c0 to %n step %c64 {
    %v = nv_tileas.view %m[%c0, %n] : memref<1024x1024xf16> -> !view
    %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %wide] {atom = #nv_tileas<atom tma_load_2d>} : !view -> !nv_tileas.tma_desc
  }
  func.return
}

// CHECK-LABEL: func.func @inside(%m: memref<1024x1024xf16>, %n: index) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c64 = arith.constant 64 : index
// CHECK-NEXT:    %wide = arith.addi %c64, %n : index
// CHECK-NEXT:    scf.for %i = %c0 to %n step %c64 {
// CHECK-NEXT:      %v = nv_tileas.view %m[%c0, %n] : memref<1024x1024xf16> -> !view
// CHECK-NEXT:      %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %wide] {atom = #nv_tileas<atom tma_load_2d>} : !view -> !nv_tileas.tma_desc
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A block with one predecessor has one value for each argument.

func.func @branch(%v: !view, %n: index) {
  %c64 = arith.constant 64 : index
  cf.br ^next(%c64 : index)
^next(%x: index):
  %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %x] {atom = #nv_tileas<atom tma_load_2d>} : !view -> !nv_tileas.tma_desc
  func.return
}

// CHECK-LABEL: func.func @branch(%v: !view, %n: index) {
// CHECK-NEXT:    %c64 = arith.constant 64 : index
// CHECK-NEXT:    cf.br ^next(%c64 : index)
// CHECK-NEXT:  ^next(%x: index):
// CHECK-NEXT:    %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %x] {atom = #nv_tileas<atom tma_load_2d>} : !view -> !nv_tileas.tma_desc
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }


// Plain xdsl-opt reads and prints the same, without aliases.

// XDSL: %v = nv_tileas.view %m[%c0, %n] : memref<1024x1024xf16> -> !nv_tileas.tiled_view<1024x1024xf16, gmem>
// XDSL: %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %wide] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<1024x1024xf16, gmem> -> !nv_tileas.tma_desc
// XDSL: %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %x] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<1024x1024xf16, gmem> -> !nv_tileas.tma_desc
