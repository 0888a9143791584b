// Layout and Buffer Family, "Input / Output Shape" of Assign Load/Store Layouts: the loads.
//
// Completed: the function, the aliases, an atom (a load out of shared memory has none of its own until
// one is chosen) and the coordinates of the tile.  `#smem` is shared memory, `#dot_a` a layout in
// registers.  The product that follows is under the name of its own section.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

#smem = #nv_tileas<space smem>
#dot_a = #nv_tileas.dot_operand<"((8,4,4,2,2),(2,4,8)):((4@thread,32@thread,64@value,1@value,2@value),(4@value,1@thread,8@value))">
#ldsm = #nv_tileas<atom unknown_copy>

func.func @input(%src: memref<128x64xf16, #smem>, %i: index) {
  %a = nv_tileas.tiled_load %src[%i, %i] {atom = #ldsm} : memref<128x64xf16, #smem> -> tensor<128x64xf16>
  func.return
}

// CHECK-LABEL: func.func @input(%src: memref<128x64xf16, #smem>, %i: index) {
// CHECK-NEXT:    %a = nv_tileas.tiled_load %src[%i, %i] {atom = #ldsm} : memref<128x64xf16, #smem> -> tensor<128x64xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

func.func @output(%src: memref<128x64xf16, #smem>, %i: index) {
  %a = nv_tileas.tiled_load %src[%i, %i]
       {nv_tileas.layout = <(128, 64), (64, 1), swizzle<3, 4, 3>>, atom = #ldsm}
       : memref<128x64xf16, #smem> -> tensor<128x64xf16, #dot_a>
  func.return
}

// CHECK-LABEL: func.func @output(%src: memref<128x64xf16, #smem>, %i: index) {
// CHECK-NEXT:    %a = nv_tileas.tiled_load %src[%i, %i] {nv_tileas.layout = #nv_tileas.layout<(128,64),(64,1),swizzle<3,4,3>>, atom = #ldsm} : memref<128x64xf16, #smem> -> tensor<128x64xf16, #dot_a>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
