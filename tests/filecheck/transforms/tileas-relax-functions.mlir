// `tileas-relax-functions`: what is made of exponentials and rounded to 16 bits comes from instructions.

// RUN: tileas-opt %s -p tileas-relax-functions --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-relax-functions,tileas-relax-functions --split-input-file | filecheck %s

// x / (1 + exp(-x)), scaled, masked and rounded: x is 88 where the exponential is as large as can be.

func.func @silu(%x: tensor<64x64xf32>, %mask: tensor<64x64xi1>) -> tensor<64x64xbf16> {
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %part = arith.constant dense<0.01> : tensor<64x64xf32>
  %n = arith.negf %x : tensor<64x64xf32>
  %e = math.exp %n : tensor<64x64xf32>
  %d = arith.addf %one, %e : tensor<64x64xf32>
  %q = arith.divf %x, %d : tensor<64x64xf32>
  %s = arith.mulf %q, %part : tensor<64x64xf32>
  %t = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %m = tensor.extract %mask[%row, %column] : tensor<64x64xi1>
    %a = tensor.extract %s[%row, %column] : tensor<64x64xf32>
    %b = tensor.extract %zero[%row, %column] : tensor<64x64xf32>
    %y = arith.select %m, %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %r = arith.truncf %t : tensor<64x64xf32> to tensor<64x64xbf16>
  func.return %r : tensor<64x64xbf16>
}

// CHECK-LABEL: func.func @silu
// CHECK:         %[[C:.*]] = arith.constant dense<-1.44269502> : tensor<64x64xf32>
// CHECK-NEXT:    %[[Y:.*]] = arith.mulf %x, %[[C]] : tensor<64x64xf32>
// CHECK-NEXT:    %[[E:.*]] = math.exp2 %[[Y]] {nv_tileas.ftz} : tensor<64x64xf32>
// CHECK-NEXT:    %[[D:.*]] = arith.addf %{{.*}}, %[[E]] : tensor<64x64xf32>
// CHECK-NEXT:    arith.divf %x, %[[D]] {nv_tileas.rounding = "approx", nv_tileas.ftz}

// -----

// Scores that are scaled, in both places: scales of the argument and of the quotient are one each.

func.func @scaled(%a: tensor<64x64xf32>) -> tensor<64x64xf16> {
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %scale = arith.constant dense<0.125> : tensor<64x64xf32>
  %part = arith.constant dense<0.25> : tensor<64x64xf32>
  %x = arith.mulf %a, %scale : tensor<64x64xf32>
  %n = arith.negf %x : tensor<64x64xf32>
  %e = math.exp %n : tensor<64x64xf32>
  %d = arith.addf %one, %e : tensor<64x64xf32>
  %q = arith.divf %x, %d : tensor<64x64xf32>
  %s = arith.mulf %q, %part : tensor<64x64xf32>
  %r = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  func.return %r : tensor<64x64xf16>
}

// CHECK-LABEL: func.func @scaled
// CHECK:         %[[C:.*]] = arith.constant dense<-0.180336878> : tensor<64x64xf32>
// CHECK-NEXT:    %[[Y:.*]] = arith.mulf %a, %[[C]] : tensor<64x64xf32>
// CHECK:         %[[D:.*]] = arith.addf
// CHECK-NEXT:    %[[B:.*]] = arith.constant dense<3.125000e-02> : tensor<64x64xf32>
// CHECK-NEXT:    %[[X:.*]] = arith.mulf %a, %[[B]] : tensor<64x64xf32>
// CHECK-NEXT:    %[[Q:.*]] = arith.divf %[[X]], %[[D]] {{.*}}"approx"
// CHECK-NEXT:    arith.truncf %[[Q]]

// -----

// A dividend that is bounded, and another number, which the inverse of 2**127 would lose.

func.func @gates(%x: tensor<64x64xf32>, %u: tensor<64x64xf32>) -> (tensor<64x64xf16>, tensor<64x64xf16>) {
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %e = math.exp %x : tensor<64x64xf32>
  %d = arith.addf %e, %one : tensor<64x64xf32>
  %q = arith.divf %one, %d : tensor<64x64xf32>
  %r = arith.truncf %q : tensor<64x64xf32> to tensor<64x64xf16>
  %g = arith.divf %u, %d : tensor<64x64xf32>
  %s = arith.truncf %g : tensor<64x64xf32> to tensor<64x64xf16>
  func.return %r, %s : tensor<64x64xf16>, tensor<64x64xf16>
}

// CHECK-LABEL: func.func @gates
// CHECK:         math.exp2
// CHECK:         arith.divf {{.*}}"approx"
// CHECK:         arith.divf %u, {{.*}}"full"

// -----

// As they are: f32 shows a last place, differences cancel, quotients of data are rounded correctly,
// and a number that nobody knows may multiply what is flushed.

func.func @stay(%x: tensor<64x64xf32>, %u: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) {
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %e = math.exp %x : tensor<64x64xf32>
  %d = arith.addf %e, %one : tensor<64x64xf32>
  %q = arith.divf %x, %d : tensor<64x64xf32>
  %f = math.exp %u : tensor<64x64xf32>
  %m = arith.subf %one, %f : tensor<64x64xf32>
  %c = arith.truncf %m : tensor<64x64xf32> to tensor<64x64xf16>
  %a = math.absf %u : tensor<64x64xf32>
  %b = arith.addf %a, %one : tensor<64x64xf32>
  %p = arith.divf %u, %b : tensor<64x64xf32>
  %r = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
  %g = math.exp %a : tensor<64x64xf32>
  %h = arith.addf %g, %one : tensor<64x64xf32>
  %i = arith.divf %one, %h : tensor<64x64xf32>
  %k = arith.mulf %i, %u : tensor<64x64xf32>
  %s = arith.truncf %k : tensor<64x64xf32> to tensor<64x64xf16>
  func.return %q, %c, %r, %s : tensor<64x64xf32>, tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>
}

// CHECK-LABEL: func.func @stay
// CHECK:         math.exp %x
// CHECK-NOT:     nv_tileas.rounding
// CHECK:         math.exp %u
// CHECK-NOT:     nv_tileas.rounding
// CHECK:         func.return
