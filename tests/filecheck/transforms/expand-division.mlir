// `expand-division` replaces divisions of fragments by fused multiply-adds, behind one test.

// RUN: tileas-opt %s -p expand-division,canonicalize,cse --split-input-file | filecheck %s

// A divisor that is common to all elements has one inverse. Behind the test stands a loop that
// divides the first element and puts it behind the others.

func.func @common(%v: vector<4xf32>, %x: f32) -> vector<4xf32> {
  %b = math.exp2 %x : f32
  %bs = vector.broadcast %b : f32 to vector<4xf32>
  %q = arith.divf %v, %bs {nv_tileas.operand_ranges = [0.0 : f64, 1.0 : f64, 0.001 : f64, 0.0 : f64, 1.0e9 : f64, 0.0 : f64]} : vector<4xf32>
  func.return %q : vector<4xf32>
}

// CHECK-LABEL: func.func @common
// CHECK:         %[[LARGE:.*]] = arith.cmpf oge, %b, %{{.*}} : f32
// CHECK-NEXT:    %[[Q:.*]] = scf.if %[[LARGE]] -> (vector<4xf32>) {
// CHECK:           %[[R0:.*]] = arith.divf %{{.*}}, %b {nv_tileas.rounding = "approx", nv_tileas.ftz} : f32
// CHECK:           %[[T:.*]] = math.fma %{{.*}}, %[[R0]], %{{.*}} : f32
// CHECK-NEXT:      %[[R:.*]] = math.fma %[[R0]], %[[T]], %[[R0]] : f32
// CHECK-NEXT:      %[[RS:.*]] = vector.broadcast %[[R]] : f32 to vector<4xf32>
// CHECK-NEXT:      %[[Q0:.*]] = arith.mulf %v, %[[RS]] : vector<4xf32>
// CHECK:           %[[E:.*]] = math.fma %{{.*}}, %[[Q0]], %{{.*}} : vector<4xf32>
// CHECK:           %[[Q1:.*]] = math.fma %[[E]], %{{.*}}, %[[Q0]] : vector<4xf32>
// CHECK-NEXT:      scf.yield %[[Q1]] : vector<4xf32>
// CHECK-NEXT:    } else {
// CHECK:           scf.for {{.*}} iter_args(%[[A:.*]] = %v) -> (vector<4xf32>) : i32 {
// CHECK-NEXT:        %[[HEAD:.*]] = vector.extract %[[A]][0] : f32 from vector<4xf32>
// CHECK-NEXT:        %[[TAIL:.*]] = cute.fragment.slice %[[A]][1] : vector<4xf32> -> vector<3xf32>
// CHECK-NEXT:        %[[ONE:.*]] = arith.divf %[[HEAD]], %b {nv_tileas.by_f64} : f32
// CHECK-NEXT:        %{{.*}} = cute.fragment.make %[[TAIL]], %[[ONE]] : vector<3xf32>, f32 -> vector<4xf32>

// -----

// Quotients that become f16 may lose remainders that are too small: nothing asks for the smallest
// dividend. exp is between 0 and 1 here, which the first division knows of the tile.

func.func @becomes_f16(%x: vector<8xf32>) -> vector<8xf16> {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %one = arith.constant dense<1.0> : vector<8xf32>
  %n = arith.minnumf %x, %zero : vector<8xf32>
  %e = math.exp %n : vector<8xf32>
  %s = arith.addf %e, %one : vector<8xf32>
  %q = arith.divf %e, %s : vector<8xf32>
  %h = arith.truncf %q : vector<8xf32> to vector<8xf16>
  func.return %h : vector<8xf16>
}

// CHECK-LABEL: func.func @becomes_f16
// CHECK-NOT:     arith.cmp
// CHECK:         arith.divf %one, %s {nv_tileas.rounding = "approx", nv_tileas.ftz} : vector<8xf32>
// CHECK:         math.fma
// CHECK-NOT:     scf
// CHECK:         func.return

// -----

// Of data that is quantised only the divisors and the largest dividend are compared: floats of 8
// bits do not show whether the quotient of a subnormal dividend is rounded correctly.

func.func @quantised(%x: vector<4xf32>, %s: f32) -> vector<4xf8E4M3FN> {
  %ss = vector.broadcast %s : f32 to vector<4xf32>
  %q = arith.divf %x, %ss : vector<4xf32>
  %b = arith.truncf %q : vector<4xf32> to vector<4xf8E4M3FN>
  func.return %b : vector<4xf8E4M3FN>
}

// CHECK-LABEL: func.func @quantised
// CHECK:         arith.cmpf ole
// CHECK:         arith.cmpi ule
// CHECK:         arith.cmpf oge
// CHECK-NOT:     arith.minui
// CHECK:         scf.if

// -----

// What is exact in 16 bits and becomes 16 bits needs no rounded inverse. Of halves nothing is asked
// but whether the sum of all quotients is a number: what goes wrong is NaN.

func.func @halves(%x: vector<4xf16>, %s: vector<4xf32>) -> vector<4xf16> {
  %w = arith.extf %x : vector<4xf16> to vector<4xf32>
  %m = math.absf %s : vector<4xf32>
  %q = arith.divf %w, %m : vector<4xf32>
  %h = arith.truncf %q : vector<4xf32> to vector<4xf16>
  func.return %h : vector<4xf16>
}

// CHECK-LABEL: func.func @halves
// CHECK-NOT:     arith.cmp
// CHECK:         %[[R:.*]] = arith.divf %{{.*}}, %m {nv_tileas.rounding = "approx", nv_tileas.ftz} : vector<4xf32>
// CHECK-NEXT:    %[[Q0:.*]] = arith.mulf %w, %[[R]] : vector<4xf32>
// CHECK:         %[[E:.*]] = math.fma %m, %[[Q0]], %{{.*}} : vector<4xf32>
// CHECK:         %[[Q1:.*]] = math.fma %[[E]], %{{.*}}, %[[Q0]] : vector<4xf32>
// CHECK:         %[[SUM:.*]] = arith.addf
// CHECK:         %[[NUMBER:.*]] = arith.cmpf oeq, %[[TOTAL:.*]], %[[TOTAL]] : f32
// CHECK-NEXT:    scf.if %[[NUMBER]]
// CHECK-NEXT:      scf.yield %[[Q1]]

// -----

// Scalars, f64 and approximate divisions stay.

func.func @stay(%x: f32, %d: vector<4xf64>, %v: vector<4xf32>) -> (f32, vector<4xf64>, vector<4xf32>) {
  %0 = arith.divf %x, %x : f32
  %1 = arith.divf %d, %d : vector<4xf64>
  %2 = arith.divf %v, %v {nv_tileas.rounding = "approx"} : vector<4xf32>
  func.return %0, %1, %2 : f32, vector<4xf64>, vector<4xf32>
}

// CHECK-LABEL: func.func @stay
// CHECK-NEXT:    %{{.*}} = arith.divf %x, %x : f32
// CHECK-NEXT:    %{{.*}} = arith.divf %d, %d : vector<4xf64>
// CHECK-NEXT:    %{{.*}} = arith.divf %v, %v {nv_tileas.rounding = "approx"} : vector<4xf32>

// -----

// Exponentials are far from the smallest numbers where their least argument is not far below zero, so
// that dividends are looked at one by one only elsewhere.

func.func @shares(%d: vector<4xf32>, %s: f32) -> vector<4xbf16> {
  %e = math.exp %d : vector<4xf32>
  %ss = vector.broadcast %s : f32 to vector<4xf32>
  %q = arith.divf %e, %ss {nv_tileas.operand_ranges = [0.0 : f64, 1.0 : f64, 0.0 : f64, 1.0 : f64, 1.0e9 : f64, 0.0 : f64]} : vector<4xf32>
  %h = arith.truncf %q : vector<4xf32> to vector<4xbf16>
  func.return %h : vector<4xbf16>
}

// CHECK-LABEL: func.func @shares
// CHECK:         %[[LEAST:.*]] = vector.extract %{{.*}}[0] : f32 from vector<1xf32>
// CHECK-NEXT:    %[[LIMIT:.*]] = arith.constant -4.400000e+01 : f32
// CHECK-NEXT:    %[[FAR:.*]] = arith.cmpf oge, %[[LEAST]], %[[LIMIT]] : f32
// CHECK-NEXT:    %[[OK:.*]] = scf.if %[[FAR]] -> (i1) {
// CHECK:           scf.yield %{{.*}} : i1
// CHECK-NEXT:    } else {
// CHECK:           arith.minui
// CHECK:           arith.cmpi uge
// CHECK:         }
// CHECK-NEXT:    scf.if %[[OK]]

// -----

// Of inverses only the divisors rotate in the loop: each becomes its inverse.

func.func @inverses(%x: vector<4xf32>) -> vector<4xf32> {
  %one = arith.constant dense<1.0> : vector<4xf32>
  %q = arith.divf %one, %x : vector<4xf32>
  func.return %q : vector<4xf32>
}

// CHECK-LABEL: func.func @inverses
// CHECK:         scf.for {{.*}} iter_args(%[[B:.*]] = %x) -> (vector<4xf32>) : i32 {
// CHECK-NEXT:      %[[HEAD:.*]] = vector.extract %[[B]][0] : f32 from vector<4xf32>
// CHECK:           %[[ONE:.*]] = arith.divf %{{.*}}, %[[HEAD]] {nv_tileas.by_f64} : f32
// CHECK-NEXT:      cute.fragment.make %{{.*}}, %[[ONE]] : vector<3xf32>, f32 -> vector<4xf32>
