// Every value is defined before it is used, on every path; the rules and the wording are MLIR's.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// In a block.

func.func @order(%a: i32) -> i32 {
  // expected-error@+1 {{operand #0 does not dominate this use}}
  %1 = arith.addi %0, %a : i32
  // expected-note@+1 {{operand defined here (op in the same block)}}
  %0 = arith.addi %a, %a : i32
  func.return %1 : i32
}

// -----

// Into a region.

func.func @into_a_region(%c: i1, %a: i32) {
  scf.if %c {
    // expected-error@+1 {{operand #0 does not dominate this use}}
    %1 = arith.addi %0, %a : i32
  }
  // expected-note@+1 {{operand defined here (op in a parent region)}}
  %0 = arith.addi %a, %a : i32
  func.return
}

// -----

// On one path only.

func.func @one_path(%c: i1) -> i32 {
  cf.cond_br %c, ^a, ^b
^a:
  // expected-note@+1 {{operand defined here (op in the same region)}}
  %0 = arith.constant 1 : i32
  cf.br ^b
^b:
  // expected-error@+1 {{operand #0 does not dominate this use}}
  func.return %0 : i32
}

// -----

// Block arguments.

// expected-note@+1 {{operand defined as a block argument (block #1 in the same region)}}
func.func @argument(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^a(%x : i32), ^b
^a(%0: i32):
  cf.br ^b
^b:
  // expected-error@+1 {{operand #0 does not dominate this use}}
  func.return %0 : i32
}

// -----

// What a loop carries is there before its body.

func.func @carried(%n: index, %x: i32) -> i32 {
  // expected-error@+1 {{operand #3 does not dominate this use}}
  %r = scf.for %i = %n to %n step %n iter_args(%a = %y) -> (i32) {
    // expected-note@+1 {{operand defined here (op in a child region)}}
    %y = arith.addi %a, %x : i32
    scf.yield %y : i32
  }
  func.return %r : i32
}

// -----

// Through a wall.

%0 = "test.op"() : () -> i32
// expected-note@+1 {{required by region isolation constraints}}
func.func @isolated() -> i32 {
  // expected-error@+1 {{'func.return' op using value defined outside the region}}
  func.return %0 : i32
}

// -----

// Unreachable blocks are tolerated, and a module has no order.

"test.op"(%later) : (i32) -> ()
%later = "test.op"() : () -> i32
func.func @unreachable() {
  func.return
^dead:
  %0 = "test.op"(%1) : (i32) -> i32
  %1 = "test.op"(%0) : (i32) -> i32
  cf.br ^dead
}
