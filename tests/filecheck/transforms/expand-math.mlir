// `expand-math` writes out the functions that no instruction computes accurately.

// RUN: tileas-opt %s -p expand-math,cse --split-input-file | filecheck %s

// A sign is a bit; of f32 and f64 an instruction copies it.

func.func @sign(%x: f16, %y: f16) -> f16 {
  %0 = math.copysign %x, %y : f16
  func.return %0 : f16
}

// CHECK-LABEL: func.func @sign(%x: f16, %y: f16) -> f16 {
// CHECK-NEXT:    %0 = arith.bitcast %x : f16 to i16
// CHECK-NEXT:    %1 = arith.bitcast %y : f16 to i16
// CHECK-NEXT:    %2 = arith.constant 32767 : i16
// CHECK-NEXT:    %3 = arith.andi %0, %2 : i16
// CHECK-NEXT:    %4 = arith.constant -32768 : i16
// CHECK-NEXT:    %5 = arith.andi %1, %4 : i16
// CHECK-NEXT:    %6 = arith.ori %3, %5 : i16
// CHECK-NEXT:    %7 = arith.bitcast %6 : i16 to f16
// CHECK-NEXT:    func.return %7 : f16
// CHECK-NEXT:  }

// -----

// What may be approximated by an instruction stays, and so do functions that an instruction rounds
// and those of f64 that have no expansion.

func.func @stay(%x: f32, %v: vector<4xf32>, %d: f64) -> (f32, vector<4xf32>, f32, f64, f32, f32) {
  %0 = math.exp %x fastmath<afn> : f32
  %1 = math.tanh %v {nv_tileas.rounding = "approx"} : vector<4xf32>
  %2 = math.sqrt %x : f32
  %3 = math.erf %d : f64
  %4 = math.exp2 %x : f32
  %5 = math.copysign %2, %x : f32
  func.return %0, %1, %2, %3, %4, %5 : f32, vector<4xf32>, f32, f64, f32, f32
}

// CHECK-LABEL: func.func @stay
// CHECK-NEXT:    %0 = math.exp %x fastmath<afn> : f32
// CHECK-NEXT:    %1 = math.tanh %v {nv_tileas.rounding = "approx"} : vector<4xf32>
// CHECK-NEXT:    %2 = math.sqrt %x : f32
// CHECK-NEXT:    %3 = math.erf %d : f64
// CHECK-NEXT:    %4 = math.exp2 %x : f32
// CHECK-NEXT:    %5 = math.copysign %2, %x : f32

// -----

// A tangent that 1 is added to, or that is taken from 1, is one inverse; one that has other uses is
// written out.

func.func @step(%v: vector<4xf32>, %x: f32) -> (vector<4xf32>, f32, f32, f32) {
  %c = arith.constant 1.0 : f32
  %one = vector.broadcast %c : f32 to vector<4xf32>
  %t = math.tanh %v : vector<4xf32>
  %0 = arith.addf %one, %t : vector<4xf32>
  %u = math.tanh %x : f32
  %1 = arith.subf %c, %u : f32
  %s = math.tanh %x : f32
  %2 = arith.addf %s, %c : f32
  func.return %0, %1, %s, %2 : vector<4xf32>, f32, f32, f32
}

// CHECK-LABEL: func.func @step
// CHECK:         %[[X:.*]] = arith.mulf %v, %{{.*}} : vector<4xf32>
// CHECK-NEXT:    %[[E:.*]] = math.exp2 %[[X]] {nv_tileas.ftz} : vector<4xf32>
// CHECK:         %[[S:.*]] = math.fma %[[E]], %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK:         arith.divf %{{.*}}, %[[S]] {nv_tileas.rounding = "approx", nv_tileas.ftz} : vector<4xf32>
// CHECK:         %[[N:.*]] = arith.negf %x : f32
// CHECK:         math.absf %x : f32
// CHECK:         arith.addf %{{.*}}, %c : f32

// -----

// A fragment is gone through element by element; narrow floats are computed in f32.

func.func @cosh(%v: vector<2xbf16>) -> vector<2xbf16> {
  %0 = math.cosh %v : vector<2xbf16>
  func.return %0 : vector<2xbf16>
}

// CHECK-LABEL: func.func @cosh(%v: vector<2xbf16>) -> vector<2xbf16> {
// CHECK-NEXT:    %0 = arith.extf %v : vector<2xbf16> to vector<2xf32>
// CHECK-NEXT:    %1 = cute.fragment.map %0 : vector<2xf32> -> vector<2xf32> {
// CHECK-NEXT:    ^bb0(%2: f32):
// CHECK-NEXT:      %3 = math.absf %2 : f32
// CHECK-NEXT:      %4 = arith.constant 1.44269502 : f32
// CHECK-NEXT:      %5 = arith.mulf %3, %4 : f32
// CHECK-NEXT:      %6 = math.trunc %5 : f32
// CHECK:           cute.fragment.yield %{{.*}} : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %{{.*}} = arith.truncf %1 : vector<2xf32> to vector<2xbf16>

// -----

// exp is `2**n * 2**f`, n by a saturated product that stays within the exponents of f32.

func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  func.return %0 : f32
}

// CHECK-LABEL: func.func @exp(%x: f32) -> f32 {
// CHECK:         %[[SHARE:.*]] = math.fma %x, %{{.*}}, %{{.*}} {nv_tileas.sat} : f32
// CHECK:         %[[SHIFTED:.*]] = math.fma %[[SHARE]], %{{.*}} {nv_tileas.rounding = "rm"} : f32
// CHECK:         %[[N:.*]] = arith.subf %[[SHIFTED]], %{{.*}} : f32
// CHECK:         %[[F:.*]] = math.exp2 %{{.*}} {nv_tileas.ftz} : f32
// CHECK:         arith.bitcast %[[SHIFTED]] : f32 to i32
// CHECK:         arith.shli
// CHECK:         arith.mulf %[[F]], %{{.*}} : f32

// -----

// Angles are large so seldom that they are a branch.

func.func @sin(%x: f32) -> f32 {
  %0 = math.sin %x : f32
  func.return %0 : f32
}

// CHECK-LABEL: func.func @sin(%x: f32) -> f32 {
// CHECK:         %{{.*}} = arith.constant 1.056150e+05 : f32
// CHECK-NEXT:    %[[LARGE:.*]] = arith.cmpf oge, %{{.*}}, %{{.*}} : f32
// CHECK-NEXT:    %{{.*}}, %{{.*}} = scf.if %[[LARGE]] -> (f32, i32) {
// CHECK:           arith.shrui
// CHECK:         } else {

// -----

// A power of integers is a loop over the bits of the exponent.

func.func @power(%x: i32, %n: i32) -> i32 {
  %0 = math.ipowi %x, %n : i32
  func.return %0 : i32
}

// CHECK-LABEL: func.func @power(%x: i32, %n: i32) -> i32 {
// CHECK:         scf.for
// CHECK-NEXT:      arith.subi
// CHECK-NEXT:      arith.andi
// CHECK-NEXT:      arith.muli
// CHECK-NEXT:      arith.addi
// CHECK-NEXT:      arith.muli
// CHECK-NEXT:      arith.muli
// CHECK-NEXT:      arith.shrui
// CHECK-NEXT:      scf.yield

// -----

// Exponentials of a fragment, and of a warp, are tested together: up to 87 they are 2^y * (1 + r), with
// y = x log2(e) and r what its rounding leaves.

func.func @exponentials(%v: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp %v : vector<4xf32>
  func.return %0 : vector<4xf32>
}

// CHECK-LABEL: func.func @exponentials
// CHECK-NEXT:    %0 = math.absf %v : vector<4xf32>
// CHECK:         %6 = arith.maxnumf %4, %5 : vector<1xf32>
// CHECK-NEXT:    %7 = vector.extract %6[0] : f32 from vector<1xf32>
// CHECK-NEXT:    %8 = arith.constant 8.700000e+01 : f32
// CHECK-NEXT:    %9 = arith.cmpf ole, %7, %8 : f32
// CHECK-NEXT:    %10 = cute_nvgpu.arch.vote "all" %9
// CHECK-NEXT:    %11 = scf.if %10 -> (vector<4xf32>) {
// CHECK-NEXT:      %12 = cute.fragment.map %v : vector<4xf32> -> vector<4xf32> {
// CHECK-NEXT:      ^bb0(%13: f32):
// CHECK-NEXT:        %14 = arith.constant 1.44269502 : f32
// CHECK-NEXT:        %15 = arith.mulf %13, %14 : f32
// CHECK-NEXT:        %16 = arith.constant -0.693147182 : f32
// CHECK-NEXT:        %17 = math.fma %15, %16, %13 : f32
// CHECK-NEXT:        %18 = arith.constant 1.500000e-09 : f32
// CHECK-NEXT:        %19 = math.fma %15, %18, %17 : f32
// CHECK-NEXT:        %20 = math.exp2 %15 {nv_tileas.ftz} : f32
// CHECK-NEXT:        %21 = math.fma %20, %19, %20 : f32
// CHECK-NEXT:        cute.fragment.yield %21 : f32
// CHECK:         } else {
// CHECK:             {nv_tileas.sat} : f32

// -----

// What is not positive, as x - max(x), needs half of the test; of what was extended from 16 bits, it
// looks at pairs.

func.func @of_softmax(%h: vector<4xf16>, %m: f32) -> vector<4xf32> {
  %x = arith.extf %h : vector<4xf16> to vector<4xf32>
  %ms = vector.broadcast %m : f32 to vector<4xf32>
  %d = arith.subf %x, %ms : vector<4xf32>
  %0 = math.exp %d {nv_tileas.operand_ranges = [0xFFF0000000000000 : f64, 0.0 : f64, 0.0 : f64]} : vector<4xf32>
  func.return %0 : vector<4xf32>
}

// CHECK-LABEL: func.func @of_softmax
// CHECK:         %2 = arith.minnumf %0, %1 : vector<2xf16>
// CHECK:         %6 = vector.extract %5[0] : f16 from vector<1xf16>
// CHECK-NEXT:    %7 = arith.extf %6 : f16 to f32
// CHECK-NEXT:    %8 = arith.subf %7, %m : f32
// CHECK-NEXT:    %9 = arith.constant -8.700000e+01 : f32
// CHECK-NEXT:    %10 = arith.cmpf oge, %8, %9 : f32
// CHECK:         scf.if %{{.*}} -> (vector<4xf32>) {

// -----

// The logarithm of what ranges say is no subnormal number, no zero and not negative: nothing but
// infinity and NaN is special.

func.func @log_of_sum(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %m = math.absf %x : f32
  %s = arith.addf %one, %m : f32
  %0 = math.log %s : f32
  func.return %0 : f32
}

// CHECK-LABEL: func.func @log_of_sum
// CHECK-NOT:     arith.cmpf
// CHECK:         arith.cmpi ult
// CHECK-NEXT:    arith.select
// CHECK-NEXT:    func.return

// -----

// Where an argument may be anything, it is scaled, and zero has an end of its own.

func.func @log_of_any(%x: f32) -> f32 {
  %0 = math.log %x : f32
  func.return %0 : f32
}

// CHECK-LABEL: func.func @log_of_any
// CHECK:         arith.cmpf olt, %x
// CHECK:         arith.cmpf oeq, %x

// -----

// Square roots of a fragment are rounded by fused multiply-adds behind one test of all elements, where ptxas
// would branch at each.

func.func @roots(%v: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sqrt %v : vector<8xf32>
  func.return %0 : vector<8xf32>
}

// CHECK-LABEL: func.func @roots
// CHECK:         %[[PLAIN:.*]] = arith.andi
// CHECK-NEXT:    scf.if %[[PLAIN]] -> (vector<8xf32>) {
// CHECK:           %[[R:.*]] = math.rsqrt %{{.*}} {nv_tileas.ftz} : vector<8xf32>
// CHECK-NEXT:      %[[S:.*]] = arith.mulf %v, %[[R]]
// CHECK:           math.fma %{{.*}}, %[[S]], %v
// CHECK:         } else {
// CHECK:           scf.for
// CHECK:             math.sqrt %{{.*}} : f32
