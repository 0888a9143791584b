// Products of an operand that is selected.

// RUN: tileas-opt %s -p canonicalize | filecheck %s

// A select by a constant is decided.

func.func @known(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %d: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %false = arith.constant false
  %e = arith.select %false, %c, %d : tensor<16x8xf32>
  %0 = nv_tileas.dot %a, %b, %e {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32> -> tensor<16x8xf32>
  func.return %0 : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @known(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %d: tensor<16x8xf32>) -> tensor<16x8xf32> {
// CHECK-NEXT:    %0 = nv_tileas.dot %a, %b, %d {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32> -> tensor<16x8xf32>
// CHECK-NEXT:    func.return %0 : tensor<16x8xf32>
// CHECK-NEXT:  }

// Integers times a selected zero: only the product that counts is made.  Atom and signedness stay.

func.func @zero(%p: i1, %a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xi32>) -> (tensor<16x8xi32>, tensor<16x8xi32>) {
  %z = arith.constant dense<0> : tensor<16x32xi8>
  %y = arith.constant dense<0> : tensor<32x8xi8>
  %s = arith.select %p, %a, %z : tensor<16x32xi8>
  %0 = nv_tileas.dot %s, %b, %c {atom = #nv_tileas<atom mma_i8_u8_i32>, signedness_a = #nv_tileas<signedness signed>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
  %t = arith.select %p, %y, %b : tensor<32x8xi8>
  %1 = nv_tileas.dot %a, %t, %c {atom = #nv_tileas<atom mma_u8_u8_i32>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
  func.return %0, %1 : tensor<16x8xi32>, tensor<16x8xi32>
}

// CHECK-LABEL: func.func @zero(%p: i1, %a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xi32>) -> (tensor<16x8xi32>, tensor<16x8xi32>) {
// CHECK-NEXT:    %0 = scf.if %p -> (tensor<16x8xi32>) {
// CHECK-NEXT:      %1 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_i8_u8_i32>, signedness_a = #nv_tileas<signedness signed>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
// CHECK-NEXT:      scf.yield %1 : tensor<16x8xi32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %c : tensor<16x8xi32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = scf.if %p -> (tensor<16x8xi32>) {
// CHECK-NEXT:      scf.yield %c : tensor<16x8xi32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %3 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_u8_u8_i32>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
// CHECK-NEXT:      scf.yield %3 : tensor<16x8xi32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0, %2 : tensor<16x8xi32>, tensor<16x8xi32>
// CHECK-NEXT:  }

// Not for floats (zero times infinity), not for another constant, not for a selected accumulator.

func.func @not_zero(%p: i1, %a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %d: tensor<16x32xi8>, %e: tensor<32x8xi8>, %f: tensor<16x8xi32>) -> (tensor<16x8xf32>, tensor<16x8xi32>, tensor<16x8xi32>) {
  %z = arith.constant dense<0.0> : tensor<16x32xf16>
  %o = arith.constant dense<1> : tensor<16x32xi8>
  %y = arith.constant dense<0> : tensor<16x8xi32>
  %s = arith.select %p, %a, %z : tensor<16x32xf16>
  %0 = nv_tileas.dot %s, %b, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32> -> tensor<16x8xf32>
  %t = arith.select %p, %d, %o : tensor<16x32xi8>
  %1 = nv_tileas.dot %t, %e, %f {atom = #nv_tileas<atom mma_s8_s8_s32>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
  %u = arith.select %p, %f, %y : tensor<16x8xi32>
  %2 = nv_tileas.dot %d, %e, %u {atom = #nv_tileas<atom mma_s8_s8_s32>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
  func.return %0, %1, %2 : tensor<16x8xf32>, tensor<16x8xi32>, tensor<16x8xi32>
}

// CHECK-LABEL: func.func @not_zero(%p: i1, %a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %d: tensor<16x32xi8>, %e: tensor<32x8xi8>, %f: tensor<16x8xi32>) -> (tensor<16x8xf32>, tensor<16x8xi32>, tensor<16x8xi32>) {
// CHECK-NEXT:    %z = arith.constant dense<0.000000e+00> : tensor<16x32xf16>
// CHECK-NEXT:    %o = arith.constant dense<1> : tensor<16x32xi8>
// CHECK-NEXT:    %y = arith.constant dense<0> : tensor<16x8xi32>
// CHECK-NEXT:    %s = arith.select %p, %a, %z : tensor<16x32xf16>
// CHECK-NEXT:    %0 = nv_tileas.dot %s, %b, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32> -> tensor<16x8xf32>
// CHECK-NEXT:    %t = arith.select %p, %d, %o : tensor<16x32xi8>
// CHECK-NEXT:    %1 = nv_tileas.dot %t, %e, %f {atom = #nv_tileas<atom mma_s8_s8_s32>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
// CHECK-NEXT:    %u = arith.select %p, %f, %y : tensor<16x8xi32>
// CHECK-NEXT:    %2 = nv_tileas.dot %d, %e, %u {atom = #nv_tileas<atom mma_s8_s8_s32>} : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32> -> tensor<16x8xi32>
// CHECK-NEXT:    func.return %0, %1, %2 : tensor<16x8xf32>, tensor<16x8xi32>, tensor<16x8xi32>
// CHECK-NEXT:  }
