// `recompute-conditions` compares again where predicates would have to be kept.

// RUN: tileas-opt %s -p 'recompute-conditions{predicates=1}' --split-input-file | filecheck %s
// RUN: tileas-opt %s -p recompute-conditions --split-input-file | filecheck %s --check-prefix FEW

// Equalities of numbers that are constants apart compare a difference with the constants, and stand
// in front of each use.

func.func @mask(%x: i32, %n: i32, %u: f32, %v: f32, %zero: f32) -> (f32, f32, f32, f32) {
  %one = arith.constant 1 : i32
  %c = arith.cmpi eq, %x, %n : i32
  %y = arith.addi %x, %one : i32
  %d = arith.cmpi eq, %y, %n : i32
  %a0 = arith.select %c, %u, %zero : f32
  %a1 = arith.select %d, %v, %zero : f32
  %b0 = arith.select %c, %v, %zero : f32
  %b1 = arith.select %d, %u, %zero : f32
  func.return %a0, %a1, %b0, %b1 : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @mask
// CHECK:         %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT:    %[[APART:.*]] = arith.subi %n, %x : i32
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    %[[C:.*]] = arith.cmpi eq, %[[APART]], %[[ZERO]] : i32
// CHECK-NEXT:    arith.select %[[C]], %u, %zero : f32
// CHECK-NEXT:    %[[D:.*]] = arith.cmpi eq, %[[APART]], %[[ONE]] : i32
// CHECK-NEXT:    arith.select %[[D]], %v, %zero : f32
// CHECK-NEXT:    %[[E:.*]] = arith.cmpi eq, %[[APART]], %[[ZERO]] : i32
// CHECK-NEXT:    arith.select %[[E]], %v, %zero : f32
// CHECK-NEXT:    %[[F:.*]] = arith.cmpi eq, %[[APART]], %[[ONE]] : i32
// CHECK-NEXT:    arith.select %[[F]], %u, %zero : f32

// FEW-LABEL: func.func @mask
// FEW:         arith.cmpi eq, %x, %n : i32
// FEW:         arith.cmpi eq, %y, %n : i32
// FEW-NOT:     arith.cmpi
// FEW:         func.return

// -----

// Others may wrap when they are rearranged: the sum is made again, too.  Uses in a branch are where
// the branch is.

func.func @below(%x: i32, %n: i32, %u: f32, %zero: f32, %p: i1) -> (f32, f32, f32, f32) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %y = arith.addi %x, %one : i32
  %c = arith.cmpi slt, %y, %n : i32
  %z = arith.addi %x, %two : i32
  %d = arith.cmpi slt, %z, %n : i32
  %a0 = arith.select %c, %u, %zero : f32
  %a1 = arith.select %d, %u, %zero : f32
  %b0, %b1 = scf.if %p -> (f32, f32) {
    %e0 = arith.select %c, %zero, %u : f32
    %e1 = arith.select %d, %zero, %u : f32
    scf.yield %e0, %e1 : f32, f32
  } else {
    scf.yield %u, %u : f32, f32
  }
  func.return %a0, %a1, %b0, %b1 : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @below
// CHECK:         %[[Y:.*]] = arith.addi %x, %one : i32
// CHECK-NEXT:    %[[C:.*]] = arith.cmpi slt, %[[Y]], %n : i32
// CHECK-NEXT:    arith.select %[[C]]
// CHECK-NEXT:    %[[Z:.*]] = arith.addi %x, %two : i32
// CHECK-NEXT:    %[[D:.*]] = arith.cmpi slt, %[[Z]], %n : i32
// CHECK-NEXT:    arith.select %[[D]]
// CHECK-NEXT:    %[[V:.*]] = arith.addi %x, %one : i32
// CHECK-NEXT:    %[[E:.*]] = arith.cmpi slt, %[[V]], %n : i32
// CHECK-NEXT:    scf.if %p
// CHECK-NEXT:      arith.select %[[E]]
// CHECK-NEXT:      arith.select %[[D]]

// -----

// A loop that holds a use makes no condition itself, and is in front of the next use all the same.

func.func @loop(%x: i32, %n: i32, %u: f32, %zero: f32) -> (f32, f32, f32, f32, f32) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %c = arith.cmpi eq, %x, %n : i32
  %y = arith.addi %x, %one : i32
  %d = arith.cmpi eq, %y, %n : i32
  %a0 = arith.select %c, %u, %zero : f32
  %a1 = arith.select %d, %u, %zero : f32
  %s = scf.for %i = %one to %two step %one iter_args(%t = %zero) -> (f32) : i32 {
    %e = arith.select %c, %t, %u : f32
    scf.yield %e : f32
  }
  %b0 = arith.select %c, %s, %u : f32
  %b1 = arith.select %d, %s, %u : f32
  func.return %a0, %a1, %s, %b0, %b1 : f32, f32, f32, f32, f32
}

// CHECK-LABEL: func.func @loop
// CHECK:         %[[APART:.*]] = arith.subi %n, %x : i32
// CHECK:         arith.select
// CHECK:         arith.select
// CHECK-NEXT:    %[[C:.*]] = arith.cmpi eq, %[[APART]]
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      arith.select %[[C]]
// CHECK:         arith.select %[[C]]
// CHECK-NEXT:    %[[D:.*]] = arith.cmpi eq, %[[APART]]
// CHECK-NEXT:    arith.select %[[D]]

// -----

// Comparisons that share no numbers stay: each would keep two registers.

func.func @apart(%x: i32, %y: i32, %n: i32, %u: f32, %zero: f32) -> (f32, f32, f32, f32) {
  %c = arith.cmpi eq, %x, %n : i32
  %d = arith.cmpi eq, %y, %n : i32
  %a0 = arith.select %c, %u, %zero : f32
  %a1 = arith.select %d, %u, %zero : f32
  %b0 = arith.select %c, %zero, %u : f32
  %b1 = arith.select %d, %zero, %u : f32
  func.return %a0, %a1, %b0, %b1 : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @apart
// CHECK:         arith.cmpi eq, %x, %n : i32
// CHECK-NEXT:    arith.cmpi eq, %y, %n : i32
// CHECK-NOT:     arith.cmpi

// -----

// So do conditions that are compared.

func.func @conditions(%p: i1, %q: i1, %u: f32, %zero: f32) -> (f32, f32, f32, f32) {
  %c = arith.cmpi eq, %p, %q : i1
  %d = arith.cmpi ne, %p, %q : i1
  %a0 = arith.select %c, %u, %zero : f32
  %a1 = arith.select %d, %u, %zero : f32
  %b0 = arith.select %c, %zero, %u : f32
  %b1 = arith.select %d, %zero, %u : f32
  func.return %a0, %a1, %b0, %b1 : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @conditions
// CHECK:         arith.cmpi eq, %p, %q : i1
// CHECK-NEXT:    arith.cmpi ne, %p, %q : i1
// CHECK-NOT:     arith.cmpi
