// `separate-constant-offsets` gives accesses at constant distances one address.

// RUN: tileas-opt %s -p separate-constant-offsets --split-input-file | filecheck %s

// Constants of 64 bits may always move: all arithmetic wraps.

func.func @wide(%base: i64, %x: i64, %a: f16, %b: f16) {
  %one = arith.constant 1 : i64
  %size = arith.constant 2 : i64
  %s = arith.muli %x, %size : i64
  %p = arith.addi %base, %s : i64
  %first = cute.inttoptr %p : i64 -> !cute.ptr<f16, gmem>
  cute.ptr.store %a, %first : f16, !cute.ptr<f16, gmem>
  %y = arith.addi %x, %one : i64
  %t = arith.muli %y, %size : i64
  %q = arith.addi %base, %t : i64
  %second = cute.inttoptr %q : i64 -> !cute.ptr<f16, gmem>
  cute.ptr.store %b, %second : f16, !cute.ptr<f16, gmem>
  func.return
}

// CHECK-LABEL: func.func @wide
// CHECK:         %[[P:.*]] = cute.inttoptr
// CHECK-NEXT:    cute.ptr.store %a, %[[P]] : f16
// CHECK-NEXT:    cute.ptr.store %b, %[[P]] offset 1 : f16
// CHECK-NEXT:    func.return

// -----

// What is subtracted is a constant, too, and the sum of 64 bits that is, is as often less.

func.func @less(%base: i64, %x: i32, %y: i64, %n: i32) -> (i8, i8) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i64
  %here = arith.cmpi ult, %x, %n : i32
  %w = arith.extsi %x : i32 to i64
  %b = arith.subi %base, %y : i64
  %p = arith.addi %b, %w : i64
  %first = cute.inttoptr %p : i64 -> !cute.ptr<i8, gmem>
  %a = cute.ptr.load %first if %here : !cute.ptr<i8, gmem> -> i8
  %j = arith.subi %x, %one : i32
  %v = arith.extsi %j : i32 to i64
  %c = arith.subi %b, %two : i64
  %q = arith.addi %c, %v : i64
  %second = cute.inttoptr %q : i64 -> !cute.ptr<i8, gmem>
  %d = cute.ptr.load %second : !cute.ptr<i8, gmem> -> i8
  func.return %a, %d : i8, i8
}

// CHECK-LABEL: func.func @less
// CHECK:         %[[P:.*]] = cute.inttoptr
// CHECK-NEXT:    %a = cute.ptr.load %[[P]] offset 3 if %here
// CHECK:         %d = cute.ptr.load %[[P]] : !cute.ptr

// -----

// Of 32 bits they may where the condition of an access has the sum below an extent: one that wraps
// is negative.  The shared address is that of the least constant, computed as the program says.

func.func @stencil(%base: i64, %x: i32, %n: i32) -> (f16, f16) {
  %less = arith.constant -1 : i32
  %more = arith.constant 1 : i32
  %size = arith.constant 2 : i64
  %i = arith.addi %x, %more : i32
  %inside = arith.cmpi ult, %i, %n : i32
  %w = arith.extsi %i : i32 to i64
  %s = arith.muli %w, %size : i64
  %p = arith.addi %base, %s : i64
  %right = cute.inttoptr %p : i64 -> !cute.ptr<f16, gmem>
  %a = cute.ptr.load %right if %inside : !cute.ptr<f16, gmem> -> f16
  %j = arith.addi %x, %less : i32
  %v = arith.extsi %j : i32 to i64
  %t = arith.muli %v, %size : i64
  %q = arith.addi %base, %t : i64
  %left = cute.inttoptr %q : i64 -> !cute.ptr<f16, gmem>
  %b = cute.ptr.load %left : !cute.ptr<f16, gmem> -> f16
  func.return %a, %b : f16, f16
}

// CHECK-LABEL: func.func @stencil
// CHECK:         %w = arith.extsi %i
// CHECK-NEXT:    %[[LEAST:.*]] = arith.constant -1 : i32
// CHECK-NEXT:    %[[I:.*]] = arith.addi %x, %[[LEAST]] : i32
// CHECK-NEXT:    arith.extsi %[[I]] : i32 to i64
// CHECK:         %[[P:.*]] = cute.inttoptr
// CHECK-NEXT:    %a = cute.ptr.load %[[P]] offset 2 if %inside
// CHECK:         %b = cute.ptr.load %[[P]] : !cute.ptr

// -----

// Without such a condition, or with one on another sum, each access keeps its address.

func.func @unbounded(%base: i64, %x: i32, %n: i32) -> (f16, f16) {
  %more = arith.constant 1 : i32
  %inside = arith.cmpi ult, %x, %n : i32
  %w = arith.extsi %x : i32 to i64
  %p = arith.addi %base, %w : i64
  %here = cute.inttoptr %p : i64 -> !cute.ptr<f16, gmem>
  %a = cute.ptr.load %here if %inside : !cute.ptr<f16, gmem> -> f16
  %j = arith.addi %x, %more : i32
  %v = arith.extsi %j : i32 to i64
  %q = arith.addi %base, %v : i64
  %there = cute.inttoptr %q : i64 -> !cute.ptr<f16, gmem>
  %b = cute.ptr.load %there if %inside : !cute.ptr<f16, gmem> -> f16
  func.return %a, %b : f16, f16
}

// CHECK-LABEL: func.func @unbounded
// CHECK:         %a = cute.ptr.load %here if
// CHECK:         %b = cute.ptr.load %there if

// -----

// Vectors stay, whose alignment is that of their own address.

func.func @vectors(%base: i64, %x: vector<4xf32>) {
  %far = arith.constant 16 : i64
  %first = cute.inttoptr %base : i64 -> !cute.ptr<f32, gmem>
  cute.ptr.store %x, %first : vector<4xf32>, !cute.ptr<f32, gmem>
  %q = arith.addi %base, %far : i64
  %second = cute.inttoptr %q : i64 -> !cute.ptr<f32, gmem>
  cute.ptr.store %x, %second : vector<4xf32>, !cute.ptr<f32, gmem>
  func.return
}

// CHECK-LABEL: func.func @vectors
// CHECK:         cute.ptr.store %x, %first :
// CHECK:         cute.ptr.store %x, %second :

// -----

// Terms keep the order in which the program adds them: the same program gives the same text.

func.func @order(%base: i64, %x: i32, %y: i32, %z: i32, %u: i32, %a: f16, %b: f16) {
  %one = arith.constant 1 : i64
  %size = arith.constant 2 : i64
  %i = arith.addi %x, %y : i32
  %j = arith.addi %i, %z : i32
  %k = arith.addi %j, %u : i32
  %w = arith.extsi %k : i32 to i64
  %s = arith.muli %w, %size : i64
  %p = arith.addi %base, %s : i64
  %first = cute.inttoptr %p : i64 -> !cute.ptr<f16, gmem>
  cute.ptr.store %a, %first : f16, !cute.ptr<f16, gmem>
  %v = arith.addi %w, %one : i64
  %t = arith.muli %v, %size : i64
  %q = arith.addi %base, %t : i64
  %second = cute.inttoptr %q : i64 -> !cute.ptr<f16, gmem>
  cute.ptr.store %b, %second : f16, !cute.ptr<f16, gmem>
  func.return
}

// CHECK-LABEL: func.func @order
// CHECK:         %[[I:.*]] = arith.addi %x, %y : i32
// CHECK-NEXT:    %[[J:.*]] = arith.addi %[[I]], %z : i32
// CHECK-NEXT:    %[[K:.*]] = arith.addi %[[J]], %u : i32
// CHECK-NEXT:    arith.extsi %[[K]] : i32 to i64
// CHECK:         cute.ptr.store %b, %{{.*}} offset 1 : f16
