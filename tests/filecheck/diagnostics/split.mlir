// Only lines that are `// -----` split: no part of a line, no string, no longer line.

// RUN: tileas-opt %s --split-input-file | filecheck %s

// CHECK:      text = "// -----"
// CHECK:      func.func @same
// CHECK:      // -----
// CHECK:      func.func @same
// CHECK-NOT:  // -----

"test.op"() {text = "// -----"} : () -> () // -----
// -----// IR Dump
// ------
func.func @same() {
  func.return
}

  // -----

func.func @same() {
  func.return
}
