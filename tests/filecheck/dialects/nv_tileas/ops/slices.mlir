// Tile storage and slices: `[offsets][sizes][strides]`, static or not.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// New tiles: not laid out, resident, laid out.

func.func @alloc() {
  %0 = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %1 = nv_tileas.alloc_tensor : tile<32x32xf32>
  %2 = nv_tileas.alloc_tensor : tensor<32x32xf32, #nv_tileas<space smem>>
  %3 = nv_tileas.alloc_tensor : tensor<128x64xf16, #nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>>
  func.return
}

// CHECK-LABEL: func.func @alloc() {
// CHECK-NEXT:    %0 = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %1 = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %2 = nv_tileas.alloc_tensor : tensor<32x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:    %3 = nv_tileas.alloc_tensor : tensor<128x64xf16, #nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A part of a tile; `to` is read like `->`.

func.func @extract(%t: tensor<32x32xf32>, %i: index, %n: index) {
  %0 = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %1 = nv_tileas.extract_slice %t[16, 0] [16, 16] [1, 2] : tensor<32x32xf32> to tensor<16x16xf32>
  %2 = nv_tileas.extract_slice %t[%i, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %3 = nv_tileas.extract_slice %t[%i, 0][%n, 32][%n, 1] {tag} : tensor<32x32xf32> -> tensor<?x32xf32>
  func.return
}

// CHECK-LABEL: func.func @extract(%t: tensor<32x32xf32>, %i: index, %n: index) {
// CHECK-NEXT:    %0 = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %1 = nv_tileas.extract_slice %t[16, 0][16, 16][1, 2] : tensor<32x32xf32> -> tensor<16x16xf32>
// CHECK-NEXT:    %2 = nv_tileas.extract_slice %t[%i, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %3 = nv_tileas.extract_slice %t[%i, 0][%n, 32][%n, 1] {tag} : tensor<32x32xf32> -> tensor<?x32xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A tile with a part replaced.

func.func @insert(%x: tensor<16x32xf32>, %b: tensor<32x32xf32>, %i: index) {
  %0 = nv_tileas.insert_slice %x into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %1 = nv_tileas.insert_slice %x into %b[%i, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  func.return
}

// CHECK-LABEL: func.func @insert(%x: tensor<16x32xf32>, %b: tensor<32x32xf32>, %i: index) {
// CHECK-NEXT:    %0 = nv_tileas.insert_slice %x into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:    %1 = nv_tileas.insert_slice %x into %b[%i, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Slices of tiles that tokens will deliver.

func.func @async(%t: !nv_tileas.token<tensor<32x32xf32>>, %x: tensor<16x32xf32>, %b: tensor<32x32xf32>) {
  %0 = nv_tileas.async.extract_slice %t[0, 0][16, 32][1, 1] : !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<16x32xf32>>
  %1 = nv_tileas.async.extract_slice %t[0, 0][16, 32][1, 1] : !async.value<tile<32x32xf32>> -> !async.value<tile<16x32xf32>>
  %2 = nv_tileas.async.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<32x32xf32>>
  %3 = nv_tileas.async.insert_slice %0 into %b[0, 0][16, 32][1, 1] : !nv_tileas.token<tensor<16x32xf32>> into tensor<32x32xf32> -> !nv_tileas.token<tensor<32x32xf32>>
  func.return
}

// CHECK-LABEL: func.func @async(%t: !nv_tileas.token<tensor<32x32xf32>>, %x: tensor<16x32xf32>, %b: tensor<32x32xf32>) {
// CHECK-NEXT:    %0 = nv_tileas.async.extract_slice %t[0, 0][16, 32][1, 1] : !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<16x32xf32>>
// CHECK-NEXT:    %1 = nv_tileas.async.extract_slice %t[0, 0][16, 32][1, 1] : !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<16x32xf32>>
// CHECK-NEXT:    %2 = nv_tileas.async.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<32x32xf32>>
// CHECK-NEXT:    %3 = nv_tileas.async.insert_slice %0 into %b[0, 0][16, 32][1, 1] : !nv_tileas.token<tensor<16x32xf32>> into tensor<32x32xf32> -> !nv_tileas.token<tensor<32x32xf32>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A new tile that nobody uses goes away, but two of them are never one.

// RUN: tileas-opt %s -p canonicalize,cse | filecheck %s --check-prefix=EFFECTS

func.func @storage() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = nv_tileas.alloc_tensor : tensor<8xf32>
  %1 = nv_tileas.alloc_tensor : tensor<8xf32>
  %2 = nv_tileas.alloc_tensor : tensor<8xf32>
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @storage() -> (tensor<8xf32>, tensor<8xf32>) {
// CHECK-NEXT:    %0 = nv_tileas.alloc_tensor : tensor<8xf32>
// CHECK-NEXT:    %1 = nv_tileas.alloc_tensor : tensor<8xf32>
// CHECK-NEXT:    %2 = nv_tileas.alloc_tensor : tensor<8xf32>
// CHECK-NEXT:    func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
// CHECK-NEXT:  }

// EFFECTS-LABEL: @storage
// EFFECTS-NEXT:  %0 = nv_tileas.alloc_tensor
// EFFECTS-NEXT:  %1 = nv_tileas.alloc_tensor
// EFFECTS-NEXT:  func.return %0, %1
