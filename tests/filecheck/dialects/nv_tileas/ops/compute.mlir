// Matrix products, reductions and scans.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// D = A * B + C; the atom is the instruction.

func.func @dot(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>, %h: tensor<64x64xf16>) {
  %0 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = nv_tileas.dot %a, %b, %h {atom = #nv_tileas<atom wgmma_f16_f16_f16<shape = [64, 64, 16]>>} : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf16> -> tile<64x64xf16>
  func.return
}

// CHECK-LABEL: func.func @dot(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>, %h: tensor<64x64xf16>) {
// CHECK-NEXT:    %0 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:    %1 = nv_tileas.dot %a, %b, %h {atom = #nv_tileas<atom wgmma_f16_f16_f16<shape = [64, 64, 16]>>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// In the background: the token delivers D, and may be the C of the next product.

func.func @async_dot(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) {
  %0 = nv_tileas.async.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> !nv_tileas.token<tensor<64x64xf32>>
  %1 = nv_tileas.async.dot %a, %b, %0 {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, !nv_tileas.token<tensor<64x64xf32>> -> !async.value<tile<64x64xf32>>
  func.return
}

// CHECK-LABEL: func.func @async_dot(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) {
// CHECK-NEXT:    %0 = nv_tileas.async.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> !nv_tileas.token<tensor<64x64xf32>>
// CHECK-NEXT:    %1 = nv_tileas.async.dot %a, %b, %0 {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, !nv_tileas.token<tensor<64x64xf32>> -> !nv_tileas.token<tensor<64x64xf32>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Integers are read as the attributes or the atom say.

func.func @integers(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xi32>) {
  %0 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_i8_i8_i32>, signedness_a = #nv_tileas<signedness signed>, signedness_b = #nv_tileas<signedness unsigned>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
  %1 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_u8_s8_s32>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
  func.return
}

// CHECK-LABEL: func.func @integers(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xi32>) {
// CHECK-NEXT:    %0 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_i8_i8_i32>, signedness_a = #nv_tileas<signedness signed>, signedness_b = #nv_tileas<signedness unsigned>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
// CHECK-NEXT:    %1 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_u8_s8_s32>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A batch of products, doubles, a mixture of narrow floats, tf32 held as f32.

func.func @elements(%a: tensor<2x64x32xf8E4M3FN>, %b: tensor<2x32x64xf8E5M2>, %c: tensor<2x64x64xf16>, %d: tensor<8x8xf64>, %t: tensor<64x32xf32>, %u: tensor<32x64xf32>, %v: tensor<64x64xf32>) {
  %0 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_e4m3_e5m2_f16>} : tensor<2x64x32xf8E4M3FN>, tensor<2x32x64xf8E5M2>, tensor<2x64x64xf16> -> tensor<2x64x64xf16>
  %1 = nv_tileas.dot %d, %d, %d {atom = #nv_tileas<atom mma_f64_f64_f64>} : tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64> -> tensor<8x8xf64>
  %2 = nv_tileas.dot %t, %u, %v {atom = #nv_tileas<atom wgmma_tf32_tf32_f32>} : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return
}

// CHECK-LABEL: func.func @elements(%a: tensor<2x64x32xf8E4M3FN>, %b: tensor<2x32x64xf8E5M2>, %c: tensor<2x64x64xf16>, %d: tensor<8x8xf64>, %t: tensor<64x32xf32>, %u: tensor<32x64xf32>, %v: tensor<64x64xf32>) {
// CHECK-NEXT:    %0 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_e4m3_e5m2_f16>} : tensor<2x64x32xf8E4M3FN>, tensor<2x32x64xf8E5M2>, tensor<2x64x64xf16> -> tensor<2x64x64xf16>
// CHECK-NEXT:    %1 = nv_tileas.dot %d, %d, %d {atom = #nv_tileas<atom mma_f64_f64_f64>} : tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf64> -> tensor<8x8xf64>
// CHECK-NEXT:    %2 = nv_tileas.dot %t, %u, %v {atom = #nv_tileas<atom wgmma_tf32_tf32_f32>} : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// `wgmma` is read as a dot; without an atom, that of its elements.

func.func @wgmma(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) {
  %0 = nv_tileas.wgmma %a, %b, %c : tensor<64x64xf32>
  %1 = nv_tileas.wgmma %a, %b, %0 {atom = #nv_tileas<atom wgmma_f16_f16_f32<shape = [64, 64, 16]>>} : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32> -> tile<64x64xf32>
  %2 = "nv_tileas.wgmma"(%a, %b, %1) <{atom = #nv_tileas<atom wgmma_f16_f16_f32>}> : (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return
}

// CHECK-LABEL: func.func @wgmma(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) {
// CHECK-NEXT:    %0 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:    %1 = nv_tileas.dot %a, %b, %0 {atom = #nv_tileas<atom wgmma_f16_f16_f32<shape = [64, 64, 16]>>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:    %2 = nv_tileas.dot %a, %b, %1 {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Every block of elements along K has a scale.

func.func @block_scaled(%a: tensor<128x128xf4E2M1FN>, %b: tensor<128x64xf4E2M1FN>, %c: tensor<128x64xf32>, %sa: tensor<128x8xf8E4M3FN>, %sb: tensor<8x64xf8E4M3FN>) {
  %0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%sa : tensor<128x8xf8E4M3FN>, %sb : tensor<8x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<shape = [128, 64, 64], scale_vector = 16>>, cta_group = 2 : i32} : tensor<128x128xf4E2M1FN>, tensor<128x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>
  func.return
}

// CHECK-LABEL: func.func @block_scaled(%a: tensor<128x128xf4E2M1FN>, %b: tensor<128x64xf4E2M1FN>, %c: tensor<128x64xf32>, %sa: tensor<128x8xf8E4M3FN>, %sb: tensor<8x64xf8E4M3FN>) {
// CHECK-NEXT:    %0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%sa : tensor<128x8xf8E4M3FN>, %sb : tensor<8x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<shape = [128, 64, 64], scale_vector = 16>>, cta_group = 2 : i32} : tensor<128x128xf4E2M1FN>, tensor<128x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// The body combines an accumulator and the next element; an atom names what it does.

func.func @reduce(%t: tensor<32x16xf32>) {
  %0 = nv_tileas.reduce %t {axis = 1 : i32, atom = #nv_tileas<atom reduce_add>} : tensor<32x16xf32> -> tensor<32xf32> {
  ^bb0(%acc: f32, %val: f32):
    %s = arith.addf %acc, %val : f32
    nv_tileas.yield %s : f32
  }
  %1 = nv_tileas.reduce %0 {axis = 0 : i32} : tensor<32xf32> -> tensor<f32> {
  ^bb0(%acc: f32, %val: f32):
    %d = arith.subf %acc, %val : f32
    %s = arith.maximumf %d, %val : f32
    nv_tileas.yield %s : f32
  }
  func.return
}

// CHECK-LABEL: func.func @reduce(%t: tensor<32x16xf32>) {
// CHECK-NEXT:    %0 = nv_tileas.reduce %t {axis = 1 : i32, atom = #nv_tileas<atom reduce_add>} : tensor<32x16xf32> -> tensor<32xf32> {
// CHECK-NEXT:    ^bb0(%acc: f32, %val: f32):
// CHECK-NEXT:      %s = arith.addf %acc, %val : f32
// CHECK-NEXT:      nv_tileas.yield %s : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = nv_tileas.reduce %0 {axis = 0 : i32} : tensor<32xf32> -> tensor<f32> {
// CHECK-NEXT:    ^bb0(%acc_1: f32, %val_1: f32):
// CHECK-NEXT:      %d = arith.subf %acc_1, %val_1 : f32
// CHECK-NEXT:      %s_1 = arith.maximumf %d, %val_1 : f32
// CHECK-NEXT:      nv_tileas.yield %s_1 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A scan keeps the shape; it may run from the end.

func.func @scan(%t: tensor<32x16xi32>) {
  %0 = nv_tileas.scan %t {axis = 0 : i32, reverse, atom = #nv_tileas<atom reduce_max>} : tensor<32x16xi32> -> tensor<32x16xi32> {
  ^bb0(%acc: i32, %val: i32):
    %s = arith.maxsi %acc, %val : i32
    nv_tileas.yield %s : i32
  }
  func.return
}

// CHECK-LABEL: func.func @scan(%t: tensor<32x16xi32>) {
// CHECK-NEXT:    %0 = nv_tileas.scan %t {axis = 0 : i32, reverse, atom = #nv_tileas<atom reduce_max>} : tensor<32x16xi32> -> tensor<32x16xi32> {
// CHECK-NEXT:    ^bb0(%acc: i32, %val: i32):
// CHECK-NEXT:      %s = arith.maxsi %acc, %val : i32
// CHECK-NEXT:      nv_tileas.yield %s : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Several tiles at once: the body takes all accumulators, then all elements.

func.func @several(%t: tensor<32x16xf32>, %u: tensor<32x16xi32>) {
  %0, %1 = nv_tileas.reduce %t, %u {axis = 1 : i32} : tensor<32x16xf32>, tensor<32x16xi32> -> tensor<32xf32>, tensor<32xi32> {
  ^bb0(%acc: f32, %at: i32, %val: f32, %here: i32):
    %p = arith.cmpf ogt, %val, %acc : f32
    %m = arith.select %p, %val, %acc : f32
    %n = arith.select %p, %here, %at : i32
    nv_tileas.yield %m, %n : f32, i32
  }
  func.return
}

// CHECK-LABEL: func.func @several(%t: tensor<32x16xf32>, %u: tensor<32x16xi32>) {
// CHECK-NEXT:    %0, %1 = nv_tileas.reduce %t, %u {axis = 1 : i32} : tensor<32x16xf32>, tensor<32x16xi32> -> tensor<32xf32>, tensor<32xi32> {
// CHECK-NEXT:    ^bb0(%acc: f32, %at: i32, %val: f32, %here: i32):
// CHECK-NEXT:      %p = arith.cmpf ogt, %val, %acc : f32
// CHECK-NEXT:      %m = arith.select %p, %val, %acc : f32
// CHECK-NEXT:      %n = arith.select %p, %here, %at : i32
// CHECK-NEXT:      nv_tileas.yield %m, %n : f32, i32
// CHECK-NEXT:    }
