// What `tileas-slicing{independent=true}` refuses: what a loop carries that is no reduction.

// RUN: tileas-opt %s --split-input-file -p 'tileas-slicing{independent=true}' --verify-diagnostics

// Two kinds in one chain (a polynomial by Horner's rule); the loop in order is sliced without the
// option.

func.func @f(%n: index, %init: f32, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op carries a value, number 0, that is no sum, product, extremum or bitwise combination over the iterations: its slices depend on one another}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (f32) {
    %y = arith.mulf %s, %x : f32
    %z = arith.addf %y, %x : f32
    // expected-note@+1 {{it is used here}}
    scf.yield %z : f32
  } {sliceCount = 2 : i32}
  func.return %r : f32
}

// -----

// A value that is used twice; a difference with the sum on the right changes its sign each time.

func.func @f(%n: index, %init: f32, %x: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op carries a value, number 0, that is no sum}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (f32) {
    // expected-note@+1 {{it is used here}}
    %w = arith.mulf %s, %s : f32
    %z = arith.addf %w, %x : f32
    scf.yield %z : f32
  } {sliceCount = 2 : i32}
  // expected-error@+1 {{'scf.for' op carries a value, number 0, that is no sum}}
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (f32) {
    // expected-note@+1 {{it is used here}}
    %z = arith.subf %x, %s : f32
    scf.yield %z : f32
  } {sliceCount = 2 : i32}
  func.return %r, %q : f32, f32
}

// -----

// Sums of 8-bit floats that have no infinity have an identity, their maximum has none.

func.func @f(%n: index, %init: f8E4M3FN, %x: f8E4M3FN) -> f8E4M3FN {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op has no independent slices: -inf is no constant of type f8E4M3FN}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %init) -> (f8E4M3FN) {
    %z = arith.maximumf %s, %x : f8E4M3FN
    scf.yield %z : f8E4M3FN
  } {sliceCount = 2 : i32}
  func.return %r : f8E4M3FN
}

// -----

// A loop that counts itself.

func.func @f(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.while' op carries its counter: only scf.for has independent slices}}
  %r = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  } attributes {sliceCount = 2 : i32}
  func.return %r : index
}
