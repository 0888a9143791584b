// Tiles that one CTA hands over to another one.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// CHECK-LABEL: func.func @handed
// CHECK-NEXT:    nv_tileas.hand_over %sum, %rows in %place : tensor<128x128xf32>, tensor<128xf32>
// CHECK-NEXT:    %taken = nv_tileas.take_over %place : tensor<128x128xf32>
// CHECK-NEXT:    %both, %more = nv_tileas.take_over %place : tensor<128x128xf32>, tensor<128xf32>
func.func @handed(%place: i32, %sum: tensor<128x128xf32>, %rows: tensor<128xf32>) {
  nv_tileas.hand_over %sum, %rows in %place : tensor<128x128xf32>, tensor<128xf32>
  %taken = nv_tileas.take_over %place : tile<128x128xf32>
  %both, %more = nv_tileas.take_over %place : tensor<128x128xf32>, tensor<128xf32>
  func.return
}
