// What plain `canonicalize` does to slices; `tileas-canonicalize` has the same patterns and more.

// RUN: tileas-opt %s -p canonicalize | filecheck %s
// RUN: xdsl-opt %s -p canonicalize | filecheck %s

// Constants, a view and an insertion in one chain.

func.func @chain(%t: tensor<32x32xf32>, %x: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32, #nv_tileas<space smem>>) {
  %c8 = arith.constant 8 : index
  %0 = nv_tileas.insert_slice %x into %t[8, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %1 = nv_tileas.extract_slice %0[%c8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %2 = nv_tileas.view %t : tensor<32x32xf32> -> tensor<32x32xf32, #nv_tileas<space smem>>
  %3 = nv_tileas.extract_slice %2[%c8, 0][16, 32][1, 1] : tensor<32x32xf32, #nv_tileas<space smem>> -> tensor<16x32xf32, #nv_tileas<space smem>>
  func.return %1, %3 : tensor<16x32xf32>, tensor<16x32xf32, #nv_tileas<space smem>>
}

// CHECK-LABEL: func.func @chain(%t: tensor<32x32xf32>, %x: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32, #nv_tileas<space smem>>) {
// CHECK-NEXT:    %0 = nv_tileas.extract_slice %t[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %1 = nv_tileas.view %0 : tensor<16x32xf32> -> tensor<16x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:    func.return %x, %1 : tensor<16x32xf32>, tensor<16x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:  }

// A size that becomes known gives a static type; who used the other one still does.

func.func @size(%t: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %c8 = arith.constant 8 : index
  %0 = nv_tileas.extract_slice %t[0, 0][%c8, 32][1, 1] {tag} : tensor<32x32xf32> -> tensor<?x32xf32>
  func.return %0 : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @size(%t: tensor<32x32xf32>) -> tensor<?x32xf32> {
// CHECK-NEXT:    %0 = nv_tileas.extract_slice %t[0, 0][8, 32][1, 1] {tag} : tensor<32x32xf32> -> tensor<8x32xf32>
// CHECK-NEXT:    %1 = tensor.cast %0 : tensor<8x32xf32> to tensor<?x32xf32>
// CHECK-NEXT:    func.return %1 : tensor<?x32xf32>
// CHECK-NEXT:  }

// What has no use goes away; what orders memory stays.

func.func @dead(%t: tensor<32x32xf32>, %a: tensor<32x32xf16>) {
  %0 = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %1 = nv_tileas.insert_slice %t into %0[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
  %2 = nv_tileas.convert_layout %1 : tensor<32x32xf32> -> tensor<32x32xf32, #nv_tileas<space smem>>
  %3 = nv_tileas.dot %a, %a, %t {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32> -> tensor<32x32xf32>
  %4 = nv_tileas.async.dot %a, %a, %t {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32> -> !nv_tileas.token<tensor<32x32xf32>>
  func.return
}

// CHECK-LABEL: func.func @dead(%t: tensor<32x32xf32>, %a: tensor<32x32xf16>) {
// CHECK-NEXT:    %0 = nv_tileas.async.dot %a, %a, %t {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32> -> !nv_tileas.token<tensor<32x32xf32>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
