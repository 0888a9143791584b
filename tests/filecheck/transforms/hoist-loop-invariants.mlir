// `hoist-loop-invariants` moves what a loop does not change in front of it, as far as the registers
// of a thread suffice.

// RUN: tileas-opt %s -p hoist-loop-invariants --split-input-file | filecheck %s

// Registers are left: 32 indices are computed once.

func.func @few(%x: vector<32xi32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %indices = arith.addi %x, %x : vector<32xi32>
    %scaled = arith.muli %n, %n : i32
    "test.op"(%indices, %scaled, %x) : (vector<32xi32>, i32, vector<32xi32>) -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @few
// CHECK:         %indices = arith.addi
// CHECK-NEXT:    %scaled = arith.muli
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      "test.op"(%indices, %scaled, %x)

// -----

// The accumulator and what else lives through the loop leave none: a number is still hoisted, the
// fragment is computed in each iteration. So is a broadcast, which names one register 64 times.

func.func @many(%x: vector<64xi32>, %acc: vector<128xf32>, %n: i32) -> vector<128xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %d = scf.for %i = %zero to %n step %one iter_args(%a = %acc) -> (vector<128xf32>) : i32 {
    %indices = arith.addi %x, %x : vector<64xi32>
    %scaled = arith.muli %n, %n : i32
    %all = vector.broadcast %scaled : i32 to vector<64xi32>
    %b = "test.op"(%indices, %all, %a, %x) : (vector<64xi32>, vector<64xi32>, vector<128xf32>, vector<64xi32>) -> vector<128xf32>
    scf.yield %b : vector<128xf32>
  }
  func.return %d : vector<128xf32>
}

// CHECK-LABEL: func.func @many
// CHECK:         %scaled = arith.muli
// CHECK-NEXT:    %all = vector.broadcast
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      %indices = arith.addi

// -----

// A fragment whose operands the loop needs no more takes only the registers that these leave.

func.func @replaced(%x: vector<64xi32>, %acc: vector<128xf32>, %n: i32) -> vector<128xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %d = scf.for %i = %zero to %n step %one iter_args(%a = %acc) -> (vector<128xf32>) : i32 {
    %indices = arith.addi %x, %x : vector<64xi32>
    %b = "test.op"(%indices, %a) : (vector<64xi32>, vector<128xf32>) -> vector<128xf32>
    scf.yield %b : vector<128xf32>
  }
  func.return %d : vector<128xf32>
}

// CHECK-LABEL: func.func @replaced
// CHECK:         %indices = arith.addi
// CHECK-NEXT:    scf.for

// -----

// An outer loop computes a number rarely: it stays where there are no registers. An agent has those
// that it asks for.

func.func @outer(%acc: vector<128xf32>, %n: i32) -> vector<128xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cute_nvgpu.arch.setmaxregister 128 increase = false
  %d = scf.for %i = %zero to %n step %one iter_args(%a = %acc) -> (vector<128xf32>) : i32 {
    %scaled = arith.muli %n, %n : i32
    %c = scf.for %j = %zero to %n step %one iter_args(%b = %a) -> (vector<128xf32>) : i32 {
      %e = "test.op"(%b) : (vector<128xf32>) -> vector<128xf32>
      scf.yield %e : vector<128xf32>
    }
    "test.op"(%scaled, %n) : (i32, i32) -> ()
    scf.yield %c : vector<128xf32>
  }
  func.return %d : vector<128xf32>
}

// CHECK-LABEL: func.func @outer
// CHECK:         scf.for
// CHECK-NEXT:      %scaled = arith.muli
// CHECK-NEXT:      scf.for

// -----

// Small values are too many in the end: the second fragment of 8 registers stays where it is used.
// The lowering to PTX, which makes descriptors and addresses, gets what is left of the same limit.

func.func @many_small(%x: vector<8xi32>, %acc: vector<240xf32>, %n: i32) -> vector<240xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %d = scf.for %i = %zero to %n step %one iter_args(%a = %acc) -> (vector<240xf32>) : i32 {
    %1 = arith.addi %x, %x : vector<8xi32>
    %2 = arith.muli %x, %x : vector<8xi32>
    %3 = arith.muli %x, %1 : vector<8xi32>
    %4 = arith.muli %x, %2 : vector<8xi32>
    %5 = arith.muli %x, %3 : vector<8xi32>
    %6 = arith.muli %x, %4 : vector<8xi32>
    %7 = arith.muli %x, %5 : vector<8xi32>
    %8 = arith.muli %x, %6 : vector<8xi32>
    %9 = arith.muli %x, %7 : vector<8xi32>
    %b = "test.op"(%a, %x, %1, %2, %3, %4, %5, %6, %7, %8, %9) : (vector<240xf32>, vector<8xi32>, vector<8xi32>, vector<8xi32>, vector<8xi32>, vector<8xi32>, vector<8xi32>, vector<8xi32>, vector<8xi32>, vector<8xi32>, vector<8xi32>) -> vector<240xf32>
    scf.yield %b : vector<240xf32>
  }
  func.return %d : vector<240xf32>
}

// CHECK-LABEL:  func.func @many_small
// CHECK:          arith.addi
// CHECK-NEXT:     scf.for
// CHECK-COUNT-8:    arith.muli
// CHECK-NEXT:       "test.op"
// CHECK:          {cute_nvgpu.registers_left = 0 : i32, cute_nvgpu.registers_free = 0 : i32}

// -----

// Sums are regrouped: what the loop does not change is added in front of it.

func.func @regrouped(%base: i64, %row: i64, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i64
  scf.for %i = %zero to %n step %one : i32 {
    %column = arith.extsi %i : i32 to i64
    %at = arith.addi %row, %column : i64
    %bytes = arith.muli %at, %two : i64
    %address = arith.addi %base, %bytes : i64
    "test.op"(%address) : (i64) -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @regrouped
// CHECK:         %[[ROW:.*]] = arith.muli %row, %two : i64
// CHECK-NEXT:    %[[FIRST:.*]] = arith.addi %base, %[[ROW]] : i64
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      %column = arith.extsi
// CHECK-NEXT:      %[[COLUMN:.*]] = arith.muli %column, %two : i64
// CHECK-NEXT:      %address = arith.addi %[[FIRST]], %[[COLUMN]] : i64
// CHECK-NEXT:      "test.op"(%address)

// -----

// What is said to be worth its registers is computed in front of the loop where none are left, and
// out of a branch, with all that it is made of; not what the loop changes.

func.func @worth(%x: vector<64xi32>, %acc: vector<128xf32>, %n: i32, %p: i1) -> vector<128xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %d = scf.for %i = %zero to %n step %one iter_args(%a = %acc) -> (vector<128xf32>) : i32 {
    scf.if %p {
      %least = arith.maxsi %n, %one : i32
      %bits = arith.shli %one, %least {cute_nvgpu.in_front_of_loops} : i32
      %moving = arith.shli %one, %i {cute_nvgpu.in_front_of_loops} : i32
      "test.op"(%bits, %moving) : (i32, i32) -> ()
    }
    %b = "test.op"(%a, %x) : (vector<128xf32>, vector<64xi32>) -> vector<128xf32>
    scf.yield %b : vector<128xf32>
  }
  func.return %d : vector<128xf32>
}

// CHECK-LABEL: func.func @worth
// CHECK:         %least = arith.maxsi
// CHECK-NEXT:    %bits = arith.shli %one, %least
// CHECK-NEXT:    %d = scf.for
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        %moving = arith.shli %one, %i
// CHECK-NEXT:        "test.op"(%bits, %moving)
