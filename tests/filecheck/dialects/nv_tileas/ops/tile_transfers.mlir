// Tiles that one CTA transfers to another one.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// CHECK-LABEL: func.func @transferred
// CHECK-NEXT:    nv_tileas.transfer_out %sum, %rows in %slot : tensor<128x128xf32>, tensor<128xf32>
// CHECK-NEXT:    %taken = nv_tileas.transfer_in %slot : tensor<128x128xf32>
// CHECK-NEXT:    %both, %more = nv_tileas.transfer_in %slot : tensor<128x128xf32>, tensor<128xf32>
// CHECK-NEXT:    %of_one, %of_other = nv_tileas.transfer_in %slot, %other : tensor<128xf32>, tensor<128xf32>
func.func @transferred(%slot: i32, %other: i32, %sum: tensor<128x128xf32>, %rows: tensor<128xf32>) {
  nv_tileas.transfer_out %sum, %rows in %slot : tensor<128x128xf32>, tensor<128xf32>
  %taken = nv_tileas.transfer_in %slot : tile<128x128xf32>
  %both, %more = nv_tileas.transfer_in %slot : tensor<128x128xf32>, tensor<128xf32>
  %of_one, %of_other = nv_tileas.transfer_in %slot, %other : tensor<128xf32>, tensor<128xf32>
  func.return
}
