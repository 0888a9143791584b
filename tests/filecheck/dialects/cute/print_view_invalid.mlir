// Only elements that could be loaded are printed.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @print(%layout: !cute.layout<"4:1">, %far: !cute.memref<f32, tmem, "4:1">) {
  // expected-error@+2 {{expected a view of memory, not !cute.layout<"4:1">}}
  // expected-error@+1 {{'cute.print_view' op failed to infer returned types}}
  cute.print_view(%layout) : (!cute.layout<"4:1">) -> ()
  // expected-error@+2 {{unsupported address space for memref type, got '!cute.memref<f32, tmem, "4:1">'}}
  // expected-error@+1 {{'cute.print_view' op failed to infer returned types}}
  cute.print_view(%far) : (!cute.memref<f32, tmem, "4:1">) -> ()
  func.return
}
