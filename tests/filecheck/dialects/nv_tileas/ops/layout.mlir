// Layout and shape: the same elements in another layout, shape or memory space.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// Data may move when a layout changes.

func.func @convert_layout(%t: tensor<16x16xf16>) {
  %0 = nv_tileas.convert_layout %t : tensor<16x16xf16> -> tensor<16x16xf16, #nv_tileas<space smem>>
  %1 = nv_tileas.convert_layout %0 : tensor<16x16xf16, #nv_tileas<space smem>> -> tensor<16x16xf16, #nv_tileas.blocked<"(16,16):(1@thread,1@value)">>
  %2 = nv_tileas.convert_layout %t {plancta.direction = "forward"} : tensor<16x16xf16> -> tensor<16x16xf16>
  func.return
}

// CHECK-LABEL: func.func @convert_layout(%t: tensor<16x16xf16>) {
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %t : tensor<16x16xf16> -> tensor<16x16xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %0 : tensor<16x16xf16, #nv_tileas<space smem>> -> tensor<16x16xf16, #nv_tileas.blocked<"(16,16):(1@thread,1@value)">>
// CHECK-NEXT:    %2 = nv_tileas.convert_layout %t {plancta.direction = "forward"} : tensor<16x16xf16> -> tensor<16x16xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Views: of the whole, from an element on, from an offset in elements on (one index is such an
// offset).  One type stands for two equal ones.

func.func @view(%m: memref<?x64xf16>, %t: tensor<128x64xf16>, %i: index, %j: index) {
  %0 = nv_tileas.view %t : tensor<128x64xf16>
  %1 = nv_tileas.view %t {offset = 8192} : tensor<128x64xf16>
  %2 = nv_tileas.view %t[%i] : tensor<128x64xf16> -> tensor<64x64xf16>
  %3 = nv_tileas.view %m[%i, %j] : memref<?x64xf16> -> !nv_tileas.tiled_view<64x64xf16, gmem>
  %4 = nv_tileas.view %3 : !nv_tileas.tiled_view<64x64xf16, gmem> -> !nv_tileaa.tiled_view<64x64xf16>
  func.return
}

// CHECK-LABEL: func.func @view(%m: memref<?x64xf16>, %t: tensor<128x64xf16>, %i: index, %j: index) {
// CHECK-NEXT:    %0 = nv_tileas.view %t : tensor<128x64xf16>
// CHECK-NEXT:    %1 = nv_tileas.view %t {offset = 8192 : i64} : tensor<128x64xf16>
// CHECK-NEXT:    %2 = nv_tileas.view %t[%i] : tensor<128x64xf16> -> tensor<64x64xf16>
// CHECK-NEXT:    %3 = nv_tileas.view %m[%i, %j] : memref<?x64xf16> -> !nv_tileas.tiled_view<64x64xf16, gmem>
// CHECK-NEXT:    %4 = nv_tileas.view %3 : !nv_tileas.tiled_view<64x64xf16, gmem> -> !nv_tileaa.tiled_view<64x64xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// `expand_dim` is another spelling.

func.func @expand_dims(%t: tensor<32x16xf32>) {
  %0 = nv_tileas.expand_dims %t {axis = 0 : i32} : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %1 = nv_tileas.expand_dim %t {axis = 2 : i32} : tensor<32x16xf32> -> tensor<32x16x1xf32>
  %2 = "nv_tileas.expand_dim"(%t) <{axis = 1 : i32}> : (tensor<32x16xf32>) -> tensor<32x1x16xf32>
  func.return
}

// CHECK-LABEL: func.func @expand_dims(%t: tensor<32x16xf32>) {
// CHECK-NEXT:    %0 = nv_tileas.expand_dims %t {axis = 0 : i32} : tensor<32x16xf32> -> tensor<1x32x16xf32>
// CHECK-NEXT:    %1 = nv_tileas.expand_dims %t {axis = 2 : i32} : tensor<32x16xf32> -> tensor<32x16x1xf32>
// CHECK-NEXT:    %2 = nv_tileas.expand_dims %t {axis = 1 : i32} : tensor<32x16xf32> -> tensor<32x1x16xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// The same bits under other elements.

func.func @reinterpret(%t: tensor<32x16xf4E2M1FN>, %m: memref<64xf16>) {
  %0 = nv_tileas.reinterpret %t {reinterpret_byte} : tensor<32x16xf4E2M1FN> -> tensor<256xi8>
  %1 = nv_tileas.reinterpret %m : memref<64xf16> -> memref<32xf32>
  func.return
}

// CHECK-LABEL: func.func @reinterpret(%t: tensor<32x16xf4E2M1FN>, %m: memref<64xf16>) {
// CHECK-NEXT:    %0 = nv_tileas.reinterpret %t {reinterpret_byte} : tensor<32x16xf4E2M1FN> -> tensor<256xi8>
// CHECK-NEXT:    %1 = nv_tileas.reinterpret %m : memref<64xf16> -> memref<32xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Registers exchanged between threads.

func.func @shuffle(%t: tensor<16x16xf16, #nv_tileas.blocked<"(16,16):(1@thread,1@value)">>) {
  %0 = nv_tileas.shuffle %t : tensor<16x16xf16, #nv_tileas.blocked<"(16,16):(1@thread,1@value)">> -> tensor<16x16xf16, #nv_tileas.blocked<"(16,16):(1@value,1@thread)">>
  func.return
}

// CHECK-LABEL: func.func @shuffle(%t: tensor<16x16xf16, #nv_tileas.blocked<"(16,16):(1@thread,1@value)">>) {
// CHECK-NEXT:    %0 = nv_tileas.shuffle %t : tensor<16x16xf16, #nv_tileas.blocked<"(16,16):(1@thread,1@value)">> -> tensor<16x16xf16, #nv_tileas.blocked<"(16,16):(1@value,1@thread)">>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A tile from the coordinates of its elements.

func.func @generate() {
  %0 = nv_tileas.generate : tensor<16x8xindex> {
  ^bb0(%i: index, %j: index):
    %k = arith.addi %i, %j : index
    nv_tileas.yield %k : index
  }
  %1 = nv_tileas.generate {tag} : tensor<f32> {
    %c = arith.constant 1.0 : f32
    nv_tileas.yield %c : f32
  }
  func.return
}

// CHECK-LABEL: func.func @generate() {
// CHECK-NEXT:    %0 = nv_tileas.generate : tensor<16x8xindex> {
// CHECK-NEXT:    ^bb0(%i: index, %j: index):
// CHECK-NEXT:      %k = arith.addi %i, %j : index
// CHECK-NEXT:      nv_tileas.yield %k : index
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = nv_tileas.generate {tag} : tensor<f32> {
// CHECK-NEXT:      %c = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:      nv_tileas.yield %c : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
