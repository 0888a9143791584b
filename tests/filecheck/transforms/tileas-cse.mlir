// `tileas-cse`: what is computed twice is computed once, and what nothing reads is erased.

// RUN: tileas-opt %s -p tileas-cse | filecheck %s
// RUN: tileas-opt %s -p cse | filecheck %s

// 1. Equal operations on equal operands; others differ in class, operands, properties or type.

func.func @twice(%x: i32, %y: i32) -> (i32, i32, i32, i1, i1) {
  %a = arith.addi %x, %y : i32
  %b = arith.addi %x, %y : i32
  %c = arith.muli %a, %b : i32
  %d = arith.addi %y, %x : i32
  %e = arith.cmpi slt, %x, %y : i32
  %f = arith.cmpi sgt, %x, %y : i32
  func.return %b, %c, %d, %e, %f : i32, i32, i32, i1, i1
}

// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    %a = arith.addi %x, %y : i32
// CHECK-NEXT:    %c = arith.muli %a, %a : i32
// CHECK-NEXT:    %d = arith.addi %y, %x : i32
// CHECK-NEXT:    %e = arith.cmpi slt, %x, %y : i32
// CHECK-NEXT:    %f = arith.cmpi sgt, %x, %y : i32
// CHECK-NEXT:    func.return %a, %c, %d, %e, %f : i32, i32, i32, i1, i1

// 2. Constants are told apart by value and type.

func.func @constants() -> (i32, i32, i64) {
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  %c = arith.constant 1 : i64
  %d = arith.constant 2 : i32
  %e = arith.addi %b, %d : i32
  func.return %a, %e, %c : i32, i32, i64
}

// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %a = arith.constant 1 : i32
// CHECK-NEXT:    %c = arith.constant 1 : i64
// CHECK-NEXT:    %d = arith.constant 2 : i32
// CHECK-NEXT:    %e = arith.addi %a, %d : i32

// 3. A region sees what is computed around it; what one branch computes the other one does not.

func.func @branches(%x: i32, %p: i1) -> (i32, i32) {
  %a = arith.addi %x, %x : i32
  %r = scf.if %p -> (i32) {
    %b = arith.addi %x, %x : i32
    %c = arith.muli %x, %x : i32
    %d = arith.addi %b, %c : i32
    scf.yield %d : i32
  } else {
    %e = arith.muli %x, %x : i32
    scf.yield %e : i32
  }
  func.return %a, %r : i32, i32
}

// CHECK-LABEL: func.func @branches
// CHECK-NEXT:    %a = arith.addi %x, %x : i32
// CHECK-NEXT:    %r = scf.if %p -> (i32) {
// CHECK-NEXT:      %c = arith.muli %x, %x : i32
// CHECK-NEXT:      %d = arith.addi %a, %c : i32
// CHECK-NEXT:      scf.yield %d : i32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %e = arith.muli %x, %x : i32

// 4. Reads of memory are merged up to a write; unused ones go.

func.func @reads(%m: memref<4xf32>, %i: index, %v: f32) -> (f32, f32, f32) {
  %unused = memref.load %m[%i] : memref<4xf32>
  %a = memref.load %m[%i] : memref<4xf32>
  %b = memref.load %m[%i] : memref<4xf32>
  memref.store %v, %m[%i] : memref<4xf32>
  %c = memref.load %m[%i] : memref<4xf32>
  func.return %a, %b, %c : f32, f32, f32
}

// CHECK-LABEL: func.func @reads
// CHECK-NEXT:    %a = memref.load %m[%i] : memref<4xf32>
// CHECK-NEXT:    memref.store %v, %m[%i] : memref<4xf32>
// CHECK-NEXT:    %c = memref.load %m[%i] : memref<4xf32>
// CHECK-NEXT:    func.return %a, %a, %c : f32, f32, f32

// 5. What is deep inside decides: branches that only read, and give nothing that is read, are erased;
//    where one inside writes, all around it stay.

func.func @depths(%m: memref<4xi32>, %i: index, %x: i32, %p: i1) {
  scf.if %p {
    %r = scf.if %p -> (i32) {
      %v = memref.load %m[%i] : memref<4xi32>
      scf.yield %v : i32
    } else {
      scf.yield %x : i32
    }
  }
  scf.if %p {
    scf.if %p {
      %y = arith.addi %x, %x : i32
      memref.store %y, %m[%i] : memref<4xi32>
    }
    %z = arith.muli %x, %x : i32
  }
  func.return
}

// CHECK-LABEL: func.func @depths
// CHECK-NEXT:    scf.if %p {
// CHECK-NEXT:      scf.if %p {
// CHECK-NEXT:        %y = arith.addi %x, %x : i32
// CHECK-NEXT:        memref.store %y, %m[%i] : memref<4xi32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
