// Layout and Buffer Family, "Input / Output Shape" of Slicing: the loads of a sliced loop.
//
// Completed: the function, the bounds, an atom, the second coordinate of the tile and its types.  The
// accumulator passes through, since the product is under the name of its own section.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

#ldg = #nv_tileas<atom ldg>

func.func @input(%src: !nv_tileas.tiled_view<64x64xf16, gmem>, %init: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> (tensor<64x64xf16>) {
    %a = nv_tileas.tiled_load %src[%i, %c0] {atom = #ldg} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
    scf.yield %a : tensor<64x64xf16>
  } {sliceCount = 2 : i32}
  func.return %r : tensor<64x64xf16>
}

// CHECK-LABEL: func.func @input(%src: !nv_tileas.tiled_view<64x64xf16, gmem>, %init: tensor<64x64xf16>) -> tensor<64x64xf16> {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c64 = arith.constant 64 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> (tensor<64x64xf16>) {
// CHECK-NEXT:      %a = nv_tileas.tiled_load %src[%i, %c0] {atom = #ldg} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// CHECK-NEXT:      scf.yield %a : tensor<64x64xf16>
// CHECK-NEXT:    } {sliceCount = 2 : i32}
// CHECK-NEXT:    func.return %r : tensor<64x64xf16>
// CHECK-NEXT:  }

func.func @output(%src: !nv_tileas.tiled_view<64x64xf16, gmem>, %init: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %r0 = scf.for %i = %c0 to %c32 step %c1 iter_args(%acc0 = %init) -> (tensor<64x64xf16>) {
    %a0 = nv_tileas.tiled_load %src[%i, %c0] {atom = #ldg} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
    scf.yield %a0 : tensor<64x64xf16>
  }
  %r1 = scf.for %j = %c32 to %c64 step %c1 iter_args(%acc1 = %r0) -> (tensor<64x64xf16>) {
    %a1 = nv_tileas.tiled_load %src[%j, %c0] {atom = #ldg} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
    scf.yield %a1 : tensor<64x64xf16>
  }
  func.return %r1 : tensor<64x64xf16>
}

// CHECK-LABEL: func.func @output(%src: !nv_tileas.tiled_view<64x64xf16, gmem>, %init: tensor<64x64xf16>) -> tensor<64x64xf16> {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c32 = arith.constant 32 : index
// CHECK-NEXT:    %c64 = arith.constant 64 : index
// CHECK-NEXT:    %r0 = scf.for %i = %c0 to %c32 step %c1 iter_args(%acc0 = %init) -> (tensor<64x64xf16>) {
// CHECK-NEXT:      %a0 = nv_tileas.tiled_load %src[%i, %c0] {atom = #ldg} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// CHECK-NEXT:      scf.yield %a0 : tensor<64x64xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    %r1 = scf.for %j = %c32 to %c64 step %c1 iter_args(%acc1 = %r0) -> (tensor<64x64xf16>) {
// CHECK-NEXT:      %a1 = nv_tileas.tiled_load %src[%j, %c0] {atom = #ldg} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// CHECK-NEXT:      scf.yield %a1 : tensor<64x64xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r1 : tensor<64x64xf16>
// CHECK-NEXT:  }
