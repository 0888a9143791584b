// `tileas-normalize-dot-operands`: load tiles in memory order, fold permutations, view transposed
// operands column-major.

// RUN: tileas-opt %s --split-input-file -p tileas-normalize-dot-operands | filecheck %s
// RUN: tileas-opt %s --split-input-file -p tileas-normalize-dot-operands,tileas-normalize-dot-operands | filecheck %s

// Contiguous columns are loaded as rows and transposed.  The attributes of a load keep their
// dimensions.
// CHECK-LABEL: @columns
// CHECK:         %[[A:.*]] = nv_tileaa.make_memref %p, sizes[%n : i32, %m : i32], strides[%s : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
// CHECK-NEXT:    %[[V:.*]] = nv_tileas.view %[[A]] : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<4x8xf16, gmem>
// CHECK-NEXT:    %[[L:.*]] = nv_tileas.tiled_load %[[V]][%j, %i] {{.*}}in_bounds = array<i1: false, true>
// CHECK-NEXT:    %t = nv_tileas.generate : tensor<8x4xf16> {
// CHECK-NEXT:    ^{{.*}}(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:      tensor.extract %[[L]][%[[J]], %[[I]]] : tensor<4x8xf16>
// CHECK:         func.return %t
func.func @columns(%p: !nv_tileaa.ptr<f16, 1>, %m: i32, %n: i32, %s: i32, %i: index, %j: index) -> tensor<8x4xf16> {
  %a = nv_tileaa.make_memref %p, sizes [%m : i32, %n : i32], strides [%s : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[1, ?]>>
  %v = nv_tileas.view %a : memref<?x?xf16, strided<[1, ?]>> -> !nv_tileas.tiled_view<8x4xf16, gmem>
  %t = nv_tileas.tiled_load %v[%i, %j] {atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true, false>} : !nv_tileas.tiled_view<8x4xf16, gmem> -> tensor<8x4xf16>
  func.return %t : tensor<8x4xf16>
}

// -----

// Not: rows, and one column, which is adjacent either way.
// CHECK-LABEL: @rows
// CHECK-NOT:     nv_tileas.generate
func.func @rows(%p: !nv_tileaa.ptr<f16, 1>, %m: i32, %s: i32, %i: index) -> (tensor<8x4xf16>, tensor<8x1xf16>) {
  %a = nv_tileaa.make_memref %p, sizes [%m : i32, %m : i32], strides [%s : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %v = nv_tileas.view %a : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<8x4xf16, gmem>
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<8x4xf16, gmem> -> tensor<8x4xf16>
  %b = nv_tileaa.make_memref %p, sizes [%m : i32, %m : i32], strides [%s : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[1, ?]>>
  %w = nv_tileas.view %b : memref<?x?xf16, strided<[1, ?]>> -> !nv_tileas.tiled_view<8x1xf16, gmem>
  %u = nv_tileas.tiled_load %w[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<8x1xf16, gmem> -> tensor<8x1xf16>
  func.return %t, %u : tensor<8x4xf16>, tensor<8x1xf16>
}

// -----

// B that was turned is put into memory as it was; its columns are the rows there.
// CHECK-LABEL: @factor
// CHECK:         %[[S:.*]] = nv_tileas.convert_layout %[[N:.*]] : tensor<8x16xf16> -> tensor<8x16xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[T:.*]] = nv_tileas.view %[[S]] : tensor<8x16xf16, #nv_tileas<space smem>> -> tensor<16x8xf16, #nv_tileas.shared<(16,8),(1,16)>>
// CHECK:         nv_tileas.dot %a, %[[T]], %c
func.func @factor(%a: tensor<64x16xf16, #nv_tileas<space smem>>, %b: tensor<1x8x16xf16>, %c: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %turned = nv_tileas.generate : tensor<1x16x8xf16> {
  ^bb0(%h: index, %i: index, %j: index):
    %e = tensor.extract %b[%h, %j, %i] : tensor<1x8x16xf16>
    nv_tileas.yield %e : f16
  }
  %matrix = nv_tileas.view %turned : tensor<1x16x8xf16> -> tensor<16x8xf16>
  %shared = nv_tileas.convert_layout %matrix : tensor<16x8xf16> -> tensor<16x8xf16, #nv_tileas<space smem>>
  %r = nv_tileas.dot %a, %shared, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x16xf16, #nv_tileas<space smem>>, tensor<16x8xf16, #nv_tileas<space smem>>, tensor<64x8xf32> -> tensor<64x8xf32>
  func.return %r : tensor<64x8xf32>
}

// -----

// Two transpositions are none, also where a view drops a dimension of one element between them.
// CHECK-LABEL: @back_and_forth
// CHECK-NEXT:    %[[M:.*]] = nv_tileas.view %b : tensor<1x8x16xf16> -> tensor<8x16xf16>
// CHECK-NEXT:    func.return %[[M]]
func.func @back_and_forth(%b: tensor<1x8x16xf16>) -> tensor<8x16xf16> {
  %turned = nv_tileas.generate : tensor<1x16x8xf16> {
  ^bb0(%h: index, %i: index, %j: index):
    %e = tensor.extract %b[%h, %j, %i] : tensor<1x8x16xf16>
    nv_tileas.yield %e : f16
  }
  %matrix = nv_tileas.view %turned : tensor<1x16x8xf16> -> tensor<16x8xf16>
  %back = nv_tileas.generate : tensor<8x16xf16> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %matrix[%j, %i] : tensor<16x8xf16>
    nv_tileas.yield %e : f16
  }
  func.return %back : tensor<8x16xf16>
}

// -----

// Two permutations are one.
// CHECK-LABEL: @rotated
// CHECK-NEXT:    nv_tileas.generate : tensor<4x2x3xf16> {
// CHECK-NEXT:    ^{{.*}}(%[[I:.*]]: index, %[[J:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:      tensor.extract %t[%[[J]], %[[K]], %[[I]]] : tensor<2x3x4xf16>
// CHECK-NOT:     nv_tileas.generate
func.func @rotated(%t: tensor<2x3x4xf16>) -> tensor<4x2x3xf16> {
  %once = nv_tileas.generate : tensor<3x4x2xf16> {
  ^bb0(%i: index, %j: index, %k: index):
    %e = tensor.extract %t[%k, %i, %j] : tensor<2x3x4xf16>
    nv_tileas.yield %e : f16
  }
  %twice = nv_tileas.generate : tensor<4x2x3xf16> {
  ^bb0(%i: index, %j: index, %k: index):
    %e = tensor.extract %once[%k, %i, %j] : tensor<3x4x2xf16>
    nv_tileas.yield %e : f16
  }
  func.return %twice : tensor<4x2x3xf16>
}

// -----

// A that was transposed is read as it was where the unit takes it MN-major: wgmma of 16 bits,
// tcgen05 of 8 bits, too.
// CHECK-LABEL: @of_16_bits
// CHECK:         %[[S:.*]] = nv_tileas.convert_layout %a : tensor<16x64xf16> -> tensor<16x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[T:.*]] = nv_tileas.view %[[S]] : tensor<16x64xf16, #nv_tileas<space smem>> -> tensor<64x16xf16, #nv_tileas.shared<(64,16),(1,64)>>
// CHECK:         nv_tileas.dot %[[T]], %b, %c
func.func @of_16_bits(%a: tensor<16x64xf16>, %b: tensor<16x8xf16, #nv_tileas<space smem>>, %c: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %turned = nv_tileas.generate : tensor<64x16xf16> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %a[%j, %i] : tensor<16x64xf16>
    nv_tileas.yield %e : f16
  }
  %shared = nv_tileas.convert_layout %turned : tensor<64x16xf16> -> tensor<64x16xf16, #nv_tileas<space smem>>
  %r = nv_tileas.dot %shared, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x16xf16, #nv_tileas<space smem>>, tensor<16x8xf16, #nv_tileas<space smem>>, tensor<64x8xf32> -> tensor<64x8xf32>
  func.return %r : tensor<64x8xf32>
}

// CHECK-LABEL: @of_8_bits
// CHECK:         %[[K:.*]] = nv_tileas.convert_layout %turned
// CHECK:         nv_tileas.dot %[[K]], %b, %c {atom = #nv_tileas<atom wgmma
// CHECK:         %[[M:.*]] = nv_tileas.view
// CHECK-NEXT:    nv_tileas.dot %[[M]], %b, %c {atom = #nv_tileas<atom tcgen05
func.func @of_8_bits(%a: tensor<32x64xf8E4M3FN>, %b: tensor<32x16xf8E4M3FN, #nv_tileas<space smem>>, %c: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>) {
  %turned = nv_tileas.generate : tensor<64x32xf8E4M3FN> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %a[%j, %i] : tensor<32x64xf8E4M3FN>
    nv_tileas.yield %e : f8E4M3FN
  }
  %one = nv_tileas.convert_layout %turned : tensor<64x32xf8E4M3FN> -> tensor<64x32xf8E4M3FN, #nv_tileas<space smem>>
  %r = nv_tileas.dot %one, %b, %c {atom = #nv_tileas<atom wgmma_e4m3_e4m3_f32>} : tensor<64x32xf8E4M3FN, #nv_tileas<space smem>>, tensor<32x16xf8E4M3FN, #nv_tileas<space smem>>, tensor<64x16xf32> -> tensor<64x16xf32>
  %other = nv_tileas.convert_layout %turned : tensor<64x32xf8E4M3FN> -> tensor<64x32xf8E4M3FN, #nv_tileas<space smem>>
  %s = nv_tileas.dot %other, %b, %c {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<64x32xf8E4M3FN, #nv_tileas<space smem>>, tensor<32x16xf8E4M3FN, #nv_tileas<space smem>>, tensor<64x16xf32> -> tensor<64x16xf32>
  func.return %r, %s : tensor<64x16xf32>, tensor<64x16xf32>
}

// -----

// Bytes that are loaded for wgmma, which reads them K-major only, are transposed from shared memory
// to shared memory.
// CHECK-LABEL: @bytes
// CHECK:         %[[L:.*]] = nv_tileas.tiled_load
// CHECK-NEXT:    %[[S:.*]] = nv_tileas.convert_layout %[[L]] : tensor<32x64xi8> -> tensor<32x64xi8, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[T:.*]] = nv_tileas.view %[[S]] : tensor<32x64xi8, #nv_tileas<space smem>> -> tensor<64x32xi8, #nv_tileas.shared<(64,32),(1,64)>>
// CHECK-NEXT:    %[[K:.*]] = nv_tileas.convert_layout %[[T]] : tensor<64x32xi8, #nv_tileas.shared<(64,32),(1,64)>> -> tensor<64x32xi8, #nv_tileas<space smem>>
// CHECK:         nv_tileas.dot %[[K]], %b, %c
func.func @bytes(%v: !nv_tileas.tiled_view<32x64xi8, gmem>, %i: index, %b: tensor<32x16xi8, #nv_tileas<space smem>>, %c: tensor<64x16xi32>) -> tensor<64x16xi32> {
  %a = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<32x64xi8, gmem> -> tensor<32x64xi8>
  %turned = nv_tileas.generate : tensor<64x32xi8> {
  ^bb0(%p: index, %q: index):
    %e = tensor.extract %a[%q, %p] : tensor<32x64xi8>
    nv_tileas.yield %e : i8
  }
  %shared = nv_tileas.convert_layout %turned : tensor<64x32xi8> -> tensor<64x32xi8, #nv_tileas<space smem>>
  %r = nv_tileas.dot %shared, %b, %c {atom = #nv_tileas<atom wgmma_s8_s8_s32>} : tensor<64x32xi8, #nv_tileas<space smem>>, tensor<32x16xi8, #nv_tileas<space smem>>, tensor<64x16xi32> -> tensor<64x16xi32>
  func.return %r : tensor<64x16xi32>
}

// -----

// Sums that a loop transposes back and forth are carried as the product adds them up.
// CHECK-LABEL: @carried
// CHECK:         %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<64x16xf32>
// CHECK-NEXT:    %[[R:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[Z]]) -> (tensor<64x16xf32>)
// CHECK-NEXT:      %[[N:.*]] = nv_tileas.dot %a, %b, %[[S]]
// CHECK-NEXT:      scf.yield %[[N]] : tensor<64x16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    nv_tileas.generate : tensor<16x64xf32>
// CHECK-NOT:     nv_tileas.generate
func.func @carried(%a: tensor<64x16xf16, #nv_tileas<space smem>>, %b: tensor<16x16xf16, #nv_tileas<space smem>>, %n: index) -> tensor<16x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %r = scf.for %k = %zero to %n step %one iter_args(%sums = %none) -> (tensor<16x64xf32>) {
    %before = nv_tileas.generate : tensor<64x16xf32> {
    ^bb0(%i: index, %j: index):
      %e = tensor.extract %sums[%j, %i] : tensor<16x64xf32>
      nv_tileas.yield %e : f32
    }
    %d = nv_tileas.dot %a, %b, %before {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x16xf16, #nv_tileas<space smem>>, tensor<16x16xf16, #nv_tileas<space smem>>, tensor<64x16xf32> -> tensor<64x16xf32>
    %after = nv_tileas.generate : tensor<16x64xf32> {
    ^bb0(%i: index, %j: index):
      %e = tensor.extract %d[%j, %i] : tensor<64x16xf32>
      nv_tileas.yield %e : f32
    }
    scf.yield %after : tensor<16x64xf32>
  }
  func.return %r : tensor<16x64xf32>
}

// -----

// A that is computed from sums of wgmma stays in the registers that have them; what is loaded goes
// to memory.
// CHECK-LABEL: @chain
// CHECK:         %[[B:.*]] = nv_tileas.convert_layout %b
// CHECK:         %s = nv_tileas.dot %a
// CHECK:         %narrow = arith.truncf
// CHECK-NEXT:    nv_tileas.dot %narrow, %[[B]], %c
func.func @chain(%a: tensor<64x16xf16, #nv_tileas<space smem>>, %k: tensor<16x16xf16, #nv_tileas<space smem>>, %b: tensor<16x8xf16>, %c: tensor<64x8xf32>, %d: tensor<64x16xf32>) -> tensor<64x8xf32> {
  %shared = nv_tileas.convert_layout %b : tensor<16x8xf16> -> tensor<16x8xf16, #nv_tileas<space smem>>
  %s = nv_tileas.dot %a, %k, %d {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x16xf16, #nv_tileas<space smem>>, tensor<16x16xf16, #nv_tileas<space smem>>, tensor<64x16xf32> -> tensor<64x16xf32>
  %powers = math.exp2 %s : tensor<64x16xf32>
  %narrow = arith.truncf %powers : tensor<64x16xf32> to tensor<64x16xf16>
  %left = nv_tileas.convert_layout %narrow : tensor<64x16xf16> -> tensor<64x16xf16, #nv_tileas<space smem>>
  %r = nv_tileas.dot %left, %shared, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x16xf16, #nv_tileas<space smem>>, tensor<16x8xf16, #nv_tileas<space smem>>, tensor<64x8xf32> -> tensor<64x8xf32>
  func.return %r : tensor<64x8xf32>
}

// -----

// A factor that a loop does not change comes to memory before it; one that it makes stays.
// CHECK-LABEL: @loop
// CHECK:         nv_tileas.convert_layout %a
// CHECK:         scf.for
// CHECK:           %[[B:.*]] = arith.addf %b, %b
// CHECK-NEXT:      nv_tileas.convert_layout %[[B]]
func.func @loop(%a: tensor<64x16xf16>, %b: tensor<16x8xf16>, %c: tensor<64x8xf32>, %n: index) -> tensor<64x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%sum = %c) -> (tensor<64x8xf32>) {
    %left = nv_tileas.convert_layout %a : tensor<64x16xf16> -> tensor<64x16xf16, #nv_tileas<space smem>>
    %twice = arith.addf %b, %b : tensor<16x8xf16>
    %right = nv_tileas.convert_layout %twice : tensor<16x8xf16> -> tensor<16x8xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %left, %right, %sum {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x16xf16, #nv_tileas<space smem>>, tensor<16x8xf16, #nv_tileas<space smem>>, tensor<64x8xf32> -> tensor<64x8xf32>
    scf.yield %next : tensor<64x8xf32>
  }
  func.return %r : tensor<64x8xf32>
}

// -----

// Dimensions of one element are dropped by a view, wherever they are; what is left is transposed.
// CHECK-LABEL: @units
// CHECK:         %[[X:.*]] = nv_tileas.view %x : tensor<16x1x8xf16> -> tensor<16x8xf16>
// CHECK-NEXT:    %[[KEPT:.*]] = nv_tileas.convert_layout %[[X]] : tensor<16x8xf16> -> tensor<16x8xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    nv_tileas.view %[[KEPT]] : {{.*}} -> tensor<8x16xf16, #nv_tileas.shared<(8,16),(1,8)>>
func.func @units(%a: tensor<64x8xf16, #nv_tileas<space smem>>, %x: tensor<16x1x8xf16>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %t = nv_tileas.generate : tensor<8x16xf16> {
  ^bb0(%k: index, %n: index):
    %zero = arith.constant 0 : index
    %e = tensor.extract %x[%n, %zero, %k] : tensor<16x1x8xf16>
    nv_tileas.yield %e : f16
  }
  %b = nv_tileas.convert_layout %t : tensor<8x16xf16> -> tensor<8x16xf16, #nv_tileas<space smem>>
  %r = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x8xf16, #nv_tileas<space smem>>, tensor<8x16xf16, #nv_tileas<space smem>>, tensor<64x16xf32> -> tensor<64x16xf32>
  func.return %r : tensor<64x16xf32>
}

// -----

// Not: a tile that repeats one element of another place has nothing to permute.
// CHECK-LABEL: @repeated
// CHECK:         nv_tileas.generate
// CHECK-NEXT:    ^{{.*}}:
// CHECK-NEXT:      nv_tileas.yield %x : f32
func.func @repeated(%x: f32) -> tensor<8x4xf32> {
  %t = nv_tileas.generate : tensor<8x4xf32> {
  ^bb0(%i: index, %j: index):
    nv_tileas.yield %x : f32
  }
  func.return %t : tensor<8x4xf32>
}

// -----

// Bytes of powers of sums are A as threads have them, if threads transpose B for this product alone:
// both have their depth in the order of sums.
// CHECK-LABEL: @bytes
// CHECK:         %[[V:.*]] = nv_tileas.view %{{.*}} -> tensor<128x32xf8E4M3FN, #nv_tileas.shared<(128,32),(1,128)>>
// CHECK-NEXT:    %[[T:.*]] = nv_tileas.convert_layout %[[V]] {nv_tileas.depth_of_sums}
// CHECK-NEXT:    %[[B:.*]] = nv_tileas.view %[[T]]
// CHECK-NEXT:    nv_tileas.dot %p, %[[B]], %c {nv_tileas.depth_of_sums, atom
func.func @bytes(%q: tensor<64x32xf8E4M3FN, #nv_tileas<space smem>>, %k: tensor<32x32xf8E4M3FN, #nv_tileas.shared<(32,32),(1,32)>>, %v: !nv_tileas.tiled_view<32x128xf8E4M3FN, gmem>, %i: index, %z: tensor<64x32xf32>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> attributes {nv_tileas.warps = 4 : i32} {
  %s = nv_tileas.dot %q, %k, %z {atom = #nv_tileas<atom wgmma_f8e4m3_f8e4m3_f32>, promote} : tensor<64x32xf8E4M3FN, #nv_tileas<space smem>>, tensor<32x32xf8E4M3FN, #nv_tileas.shared<(32,32),(1,32)>>, tensor<64x32xf32> -> tensor<64x32xf32>
  %e = math.exp2 %s : tensor<64x32xf32>
  %p = arith.truncf %e : tensor<64x32xf32> to tensor<64x32xf8E4M3FN>
  %a = nv_tileas.convert_layout %p : tensor<64x32xf8E4M3FN> -> tensor<64x32xf8E4M3FN, #nv_tileas<space smem>>
  %l = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<32x128xf8E4M3FN, gmem> -> tensor<32x128xf8E4M3FN>
  %t = nv_tileas.generate : tensor<128x32xf8E4M3FN> {
  ^bb0(%n: index, %d: index):
    %x = tensor.extract %l[%d, %n] : tensor<32x128xf8E4M3FN>
    nv_tileas.yield %x : f8E4M3FN
  }
  %m = nv_tileas.convert_layout %t : tensor<128x32xf8E4M3FN> -> tensor<128x32xf8E4M3FN, #nv_tileas<space smem>>
  %b = nv_tileas.view %m : tensor<128x32xf8E4M3FN, #nv_tileas<space smem>> -> tensor<32x128xf8E4M3FN, #nv_tileas.shared<(32,128),(1,32)>>
  %r = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f8e4m3_f8e4m3_f32>, promote} : tensor<64x32xf8E4M3FN, #nv_tileas<space smem>>, tensor<32x128xf8E4M3FN, #nv_tileas.shared<(32,128),(1,32)>>, tensor<64x128xf32> -> tensor<64x128xf32>
  func.return %r : tensor<64x128xf32>
}

// -----

// Products of batches have rows of their own; operands in registers stay there.
// CHECK-LABEL: @batches
// CHECK-NEXT:    nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_f16_f16_f32>}
func.func @batches(%a: tensor<4x16x32xf16>, %b: tensor<4x32x16xf16>, %c: tensor<4x16x16xf32>) -> tensor<4x16x16xf32> attributes {nv_tileas.warps = 4 : i32} {
  %r = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<4x16x32xf16>, tensor<4x32x16xf16>, tensor<4x16x16xf32> -> tensor<4x16x16xf32>
  func.return %r : tensor<4x16x16xf32>
}

// -----

// Weights of bytes that are stored N x K become floats as they lie, scaled by columns of B.
// CHECK-LABEL: @weights
// CHECK:         %[[Y:.*]] = nv_tileas.generate : tensor<64x32xf16> {
// CHECK-NEXT:    ^bb0(%[[N:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:      tensor.extract %w[%[[N]], %[[K]]] : tensor<64x32xi8>
// CHECK-NEXT:      arith.sitofp
// CHECK-NEXT:      tensor.extract %s[%[[N]]] : tensor<64xf16>
// CHECK:         %[[S:.*]] = nv_tileas.convert_layout %[[Y]] : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[B:.*]] = nv_tileas.view %[[S]] : {{.*}} -> tensor<32x64xf16, #nv_tileas.shared<(32,64),(1,32)>>
// CHECK-NEXT:    nv_tileas.dot %a, %[[B]], %c
func.func @weights(%a: tensor<64x32xf16, #nv_tileas<space smem>>, %w: tensor<64x32xi8>, %s: tensor<64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {nv_tileas.warps = 4 : i32} {
  %y = nv_tileas.generate : tensor<32x64xf16> {
  ^bb0(%k: index, %n: index):
    %x = tensor.extract %w[%n, %k] : tensor<64x32xi8>
    %f = arith.sitofp %x : i8 to f16
    %t = tensor.extract %s[%n] : tensor<64xf16>
    %p = arith.mulf %f, %t : f16
    nv_tileas.yield %p : f16
  }
  %b = nv_tileas.convert_layout %y : tensor<32x64xf16> -> tensor<32x64xf16, #nv_tileas<space smem>>
  %r = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return %r : tensor<64x64xf32>
}

// -----

// What is computed of permuted tiles, and permuted back, is computed as they lie; a line that is
// read along one dimension is made along the other one.
// CHECK-LABEL: @permuted_back
// CHECK-NEXT:    %[[E:.*]] = arith.extf %x : tensor<8x4xf8E4M3FN> to tensor<8x4xf16>
// CHECK-NEXT:    %[[S:.*]] = nv_tileas.generate : tensor<8x4xf16> {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index, %{{.*}}: index):
// CHECK-NEXT:      tensor.extract %s[%[[I]]] : tensor<8xf16>
// CHECK:         %[[M:.*]] = arith.mulf %[[E]], %[[S]] : tensor<8x4xf16>
// CHECK-NEXT:    func.return %[[M]]
func.func @permuted_back(%x: tensor<8x4xf8E4M3FN>, %s: tensor<8xf16>) -> tensor<8x4xf16> {
  %t = nv_tileas.generate : tensor<4x8xf8E4M3FN> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %x[%j, %i] : tensor<8x4xf8E4M3FN>
    nv_tileas.yield %e : f8E4M3FN
  }
  %line = nv_tileas.generate : tensor<4x8xf16> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %s[%j] : tensor<8xf16>
    nv_tileas.yield %e : f16
  }
  %w = arith.extf %t : tensor<4x8xf8E4M3FN> to tensor<4x8xf16>
  %m = arith.mulf %w, %line : tensor<4x8xf16>
  %r = nv_tileas.generate : tensor<8x4xf16> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %m[%j, %i] : tensor<4x8xf16>
    nv_tileas.yield %e : f16
  }
  func.return %r : tensor<8x4xf16>
}

// -----

// Not: something else reads the permuted elements.
// CHECK-LABEL: @read_as_permuted
// CHECK:         arith.extf %{{.*}} : tensor<4x8xf8E4M3FN> to tensor<4x8xf16>
func.func @read_as_permuted(%x: tensor<8x4xf8E4M3FN>) -> (tensor<8x4xf16>, tensor<4x8xf16>) {
  %t = nv_tileas.generate : tensor<4x8xf8E4M3FN> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %x[%j, %i] : tensor<8x4xf8E4M3FN>
    nv_tileas.yield %e : f8E4M3FN
  }
  %w = arith.extf %t : tensor<4x8xf8E4M3FN> to tensor<4x8xf16>
  %r = nv_tileas.generate : tensor<8x4xf16> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %w[%j, %i] : tensor<4x8xf16>
    nv_tileas.yield %e : f16
  }
  func.return %r, %w : tensor<8x4xf16>, tensor<4x8xf16>
}
