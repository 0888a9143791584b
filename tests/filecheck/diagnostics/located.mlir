// An error says where: file, line and column, the operation, the source line and a caret.

// RUN: not tileas-opt %s 2>&1 | filecheck %s --match-full-lines --strict-whitespace

func.func @wrong_type(%a: i32) -> i64 {
  func.return %a : i32
}

// A tab in the source line stands under itself.

func.func @tab(%a: i32) {
	%0 = "arith.addi"(%a, %a) : (i32, i32) -> i64
  func.return
}

//      CHECK:{{.*}}located.mlir:6:3: error: 'func.return' op Expected arguments to have the same types as the function output types: expected [i64], got [i32]
// CHECK-NEXT:  func.return %a : i32
// CHECK-NEXT:  ^
// CHECK-NEXT:{{.*}}located.mlir:12:7: error: 'arith.addi' op result 'result' at position 0 does not verify: attribute i32 expected from variable 'T', but got i64
// CHECK-NEXT:	%0 = "arith.addi"(%a, %a) : (i32, i32) -> i64
// CHECK-NEXT:	     ^
//  CHECK-NOT:error
