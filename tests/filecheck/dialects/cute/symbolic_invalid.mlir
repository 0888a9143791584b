// A symbol stands for a number, and has a name.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @known() {
  // expected-error@+1 {{'cute.symbolic' op gives numbers that run time knows, not !cute.shape<"(4,8)">}}
  %m = cute.symbolic() <{name = "M"}> : !cute.shape<"(4,8)">
  func.return
}

// -----

func.func @float() {
  // expected-error@+1 {{'cute.symbolic' op gives numbers that run time knows, not f32}}
  %m = cute.symbolic() <{name = "M"}> : f32
  func.return
}

// -----

func.func @nameless() {
  // expected-error@+1 {{'cute.symbolic' op has a name}}
  %m = cute.symbolic() <{name = ""}> : i32
  func.return
}
