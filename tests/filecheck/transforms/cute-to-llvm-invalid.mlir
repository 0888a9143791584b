// What `cute-to-llvm` leaves to others.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics -p cute-to-llvm

// Regions become branches before.

func.func @loop(%n: i32) {
  %zero = arith.constant 0 : i32
  // expected-error@+1 {{'scf.for' op has a region: run convert-scf-to-cf before cute-to-llvm}}
  scf.for %i = %zero to %n step %n : i32 {
  }
  func.return
}

// -----

// Printing needs a runtime.

func.func @print(%n: i32) {
  // expected-error@+1 {{'cute.print' op is no algebra: the passes of an architecture lower it}}
  cute.print(%n) : (i32) -> ()
  func.return
}

// -----

// Fragments are taken apart by an architecture.

func.func @reduce(%x: vector<4xf32>, %s: !cute.shape<"(4)">, %init: f32) -> f32 {
  // expected-error@+1 {{'cute.reduce' op is no algebra: the passes of an architecture lower it}}
  %y = cute.reduce(%x, %s, %init) <{reduction_op = "ADD"}>
  func.return %y : f32
}

// -----

// Nothing gives a symbol its value.

func.func @symbol() -> !cute.int_tuple<"?"> {
  // expected-error@+1 {{'cute.symbolic' op is no algebra: the passes of an architecture lower it}}
  %m = cute.symbolic() <{name = "M"}> : !cute.int_tuple<"?">
  func.return %m : !cute.int_tuple<"?">
}

// -----

// Elements narrower than a byte have no address.

func.func @narrow(%v: !cute.memref<i4, gmem, "8:1">, %c: !cute.coord<"3">) {
  // expected-error@+1 {{'cute.memref.load' op i4 has no address of its own in memory}}
  %0 = cute.memref.load(%v, %c) : (!cute.memref<i4, gmem, "8:1">, !cute.coord<"3">) -> i4
  func.return
}

// -----

// Shared memory is planned for a whole kernel.

func.func @shared() {
  // expected-error@+1 {{'cute.memref.alloc_smem' op is no algebra: the passes of an architecture lower it}}
  %0 = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, "8:1">
  func.return
}

// -----

// An order of accesses is one of an architecture.

func.func @order(%p: !cute.ptr<f32, gmem>) {
  // expected-error@+1 {{'cute.ptr.load' op is lowered by an architecture if it has order and scope}}
  %0 = cute.ptr.load %p order "acquire" scope "gpu" : !cute.ptr<f32, gmem> -> f32
  func.return
}
