// `tileas-materialize-constants`: tiles of several constants are selected by position, or loaded.

// RUN: tileas-opt %s -p tileas-materialize-constants --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-materialize-constants,tileas-materialize-constants --split-input-file | filecheck %s

// One value in all elements waits for its registers.

func.func @splat() -> tensor<4xi32> {
  %c = arith.constant dense<7> : tensor<4xi32>
  func.return %c : tensor<4xi32>
}

// CHECK-LABEL: func.func @splat() -> tensor<4xi32> {
// CHECK-NEXT:    %c = arith.constant dense<7> : tensor<4xi32>

// -----

func.func @pair() -> tensor<2xf32> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  func.return %c : tensor<2xf32>
}

// CHECK-LABEL: func.func @pair() -> tensor<2xf32> {
// CHECK-NEXT:    %c = nv_tileas.generate
// CHECK:           arith.constant 1.000000e+00 : f32
// CHECK:           arith.cmpi eq
// CHECK:           arith.constant 2.000000e+00 : f32
// CHECK-NEXT:      arith.select

// -----

// More than eight elements are a global, once for all of its uses.

func.func @many() -> (tensor<16xi16>, tensor<16xi16>) {
  %c = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 10, 9, 8, 7, 6, 5, 4, 3]> : tensor<16xi16>
  %d = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 10, 9, 8, 7, 6, 5, 4, 3]> : tensor<16xi16>
  func.return %c, %d : tensor<16xi16>, tensor<16xi16>
}

// CHECK:       nv_tileaa.global "constant_0"
// CHECK-NOT:   nv_tileaa.global
// CHECK-LABEL: func.func @many
// CHECK-NEXT:    %0 = nv_tileaa.get_global "constant_0" : !nv_tileaa.ptr<i16, 1>
// CHECK-NEXT:    tensor.splat
// CHECK:         nv_tileaa.addptr
// CHECK-NEXT:    %c = nv_tileas.load
