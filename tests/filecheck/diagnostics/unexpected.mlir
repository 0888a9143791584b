// Output of `--verify-diagnostics` when the expectations are wrong.

// RUN: not tileas-opt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s --match-full-lines

// CHECK: {{.*}}unexpected.mlir:8:3: error: unexpected error: 'func.return' op Expected {{.*}}

func.func @nobody_expects(%a: i32) -> i64 {
  func.return %a : i32
}

// -----

// CHECK: {{.*}}unexpected.mlir:14:4: error: expected error "this one" was not produced
// expected-error@+1 {{this one}}
func.func @nothing_wrong() { func.return }

// -----

// CHECK: {{.*}}unexpected.mlir:21:6: error: 'error' diagnostic emitted when expecting a 'warning'
func.func @only_a_warning(%a: i32) -> i64 {
  // expected-warning@+1 {{Expected arguments}}
  func.return %a : i32
}

// -----

// CHECK: {{.*}}unexpected.mlir:28:4: error: malformed expected diagnostic; write {{.*}}
// expected-eror@+1 {{typing mistake}}
func.func @nothing_wrong() { func.return }
