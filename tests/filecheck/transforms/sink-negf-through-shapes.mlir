// `sink-negf-through-shapes`: what works on single elements is done before they are repeated.

// RUN: tileas-opt %s -p sink-negf-through-shapes | filecheck %s
// RUN: tileas-opt %s -p 'sink-negf-through-shapes{explain=true}' 2>&1 | filecheck %s --check-prefix=NOTE

// CHECK-LABEL: @a_column
func.func @a_column(%x: tensor<64x1xf32>) -> tensor<64x128xf32> {
  // CHECK-NEXT: %[[N:.*]] = arith.negf %x : tensor<64x1xf32>
  // CHECK-NEXT: %[[B:.*]] = nv_tileaa.broadcast %[[N]] : tensor<64x1xf32> -> tensor<64x128xf32>
  // CHECK-NEXT: func.return %[[B]]
  %b = nv_tileaa.broadcast %x : tensor<64x1xf32> -> tensor<64x128xf32>
  %n = arith.negf %b : tensor<64x128xf32>
  func.return %n : tensor<64x128xf32>
}

// Conversions too, by way of several shapes; what else reads the tile still does.
// CHECK-LABEL: @a_line
func.func @a_line(%x: tensor<64xf32>) -> (tensor<64x128xf16>, tensor<64x128xf32>) {
  // CHECK-NEXT: %[[X:.*]] = nv_tileaa.expand_dims %x {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  // CHECK-NEXT: %[[B:.*]] = nv_tileaa.broadcast %[[X]] : tensor<64x1xf32> -> tensor<64x128xf32>
  // CHECK-NEXT: %[[E:.*]] = math.exp %x fastmath<fast> : tensor<64xf32>
  // CHECK-NEXT: %[[H:.*]] = arith.truncf %[[E]] : tensor<64xf32> to tensor<64xf16>
  // CHECK-NEXT: %[[V:.*]] = nv_tileaa.expand_dims %[[H]] {axis = 1 : i32} : tensor<64xf16> -> tensor<64x1xf16>
  // CHECK-NEXT: %[[R:.*]] = nv_tileaa.broadcast %[[V]] : tensor<64x1xf16> -> tensor<64x128xf16>
  // CHECK-NEXT: func.return %[[R]], %[[B]]
  %v = nv_tileaa.expand_dims %x {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %b = nv_tileaa.broadcast %v : tensor<64x1xf32> -> tensor<64x128xf32>
  %e = math.exp %b fastmath<fast> : tensor<64x128xf32>
  %h = arith.truncf %e : tensor<64x128xf32> to tensor<64x128xf16>
  func.return %h, %b : tensor<64x128xf16>, tensor<64x128xf32>
}

// Of a scalar it is one element.
// CHECK-LABEL: @a_scalar
func.func @a_scalar(%x: f32) -> tensor<16xf32> {
  // CHECK-NEXT: %[[S:.*]] = math.sqrt %x : f32
  // CHECK-NEXT: nv_tileaa.splat %[[S]]
  %b = nv_tileaa.splat %x : f32 -> tensor<16xf32>
  %n = math.sqrt %b : tensor<16xf32>
  func.return %n : tensor<16xf32>
}

// A tile of its own stays, and so does one that is only reshaped.
// CHECK-LABEL: @stays
func.func @stays(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: arith.negf %x : tensor<64xf32>
  // CHECK-NEXT: nv_tileaa.view %x
  // CHECK-NEXT: arith.negf %{{.*}} : tensor<8x8xf32>
  // NOTE: 50:8: note: no broadcast/expand_dim op
  %n = arith.negf %x : tensor<64xf32>
  %v = nv_tileaa.view %x : tensor<64xf32> -> tensor<8x8xf32>
  %m = arith.negf %v : tensor<8x8xf32>
  func.return %n, %m : tensor<64xf32>, tensor<8x8xf32>
}
