// Parse errors point to the token they are about, also where xDSL itself knows no place.
// Every chunk is parsed; line numbers are those of the file.

// RUN: not tileas-opt %s --split-input-file 2>&1 | filecheck %s --match-full-lines

// CHECK: {{.*}}parse.mlir:7:8: error: Operation arith.constnt is not registered; did you mean {{.*}}
  %0 = arith.constnt 1 : i32

// -----

// CHECK: {{.*}}parse.mlir:13:6: error: 'arith.addi' op {{.*}}
%v = arith.constant 1.0 : f32
%0 = arith.addi %v, %v : f32

// -----

// CHECK: {{.*}}parse.mlir:18:26: error: Integer value 300 is out of range {{.*}}
%narrow = arith.constant 300 : i8

// -----

// CHECK: {{.*}}parse.mlir:25:15: error: use of undeclared SSA value name %missing
// CHECK: {{.*}}parse.mlir:25:25: error: use of undeclared SSA value name %other
func.func @f() {
  func.return %missing, %other : i32, i32
}

// -----

// CHECK: {{.*}}parse.mlir:32:9: error: reference to an undefined block ^nowhere
func.func @f() {
  cf.br ^nowhere
}

// -----

// CHECK: {{.*}}parse.mlir:38:21: error: 'no.type' is not registered
"test.op"() : () -> !no.type

// -----

// CHECK: {{.*}}parse.mlir:43:15: error: End of file reached before closing string literal.
"test.op"() { "never closed } : () -> ()
