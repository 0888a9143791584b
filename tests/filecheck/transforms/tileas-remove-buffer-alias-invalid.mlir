// Diagnostics of `tileas-remove-buffer-alias` for remaining aliases and non-termination.

// RUN: tileas-opt %s -p tileas-remove-buffer-alias --split-input-file --verify-diagnostics

// Remove Buffer Aliases, Failure Modes: a selection between two allocations.

func.func @two_allocations(%c: i1) {
  // expected-note@+1 {{one of its allocations}}
  %a = nv_tileas.alloc_tensor : tensor<64xf16, #nv_tileas<space smem>>
  // expected-note@+1 {{one of its allocations}}
  %b = nv_tileas.alloc_tensor : tensor<64xf16, #nv_tileas<space smem>>
  // expected-error@+1 {{'arith.select' op Cannot find last written SSA.}}
  %s = arith.select %c, %a, %b : tensor<64xf16, #nv_tileas<space smem>>
  "test.op"(%s) : (tensor<64xf16, #nv_tileas<space smem>>) -> ()
  func.return
}

// -----

// A buffer that another function gives, or that comes in.

func.func private @give() -> tensor<64xf16, #nv_tileas<space smem>>

// expected-note@+1 {{the walk back ends here}}
func.func @unknown_buffers(%c: i1, %x: tensor<64xf16, #nv_tileas<space smem>>) {
  // expected-note@+1 {{the walk back ends here}}
  %a = func.call @give() : () -> tensor<64xf16, #nv_tileas<space smem>>
  // expected-error@+1 {{'arith.select' op Cannot find last written SSA.}}
  %s = arith.select %c, %a, %x : tensor<64xf16, #nv_tileas<space smem>>
  "test.op"(%s) : (tensor<64xf16, #nv_tileas<space smem>>) -> ()
  func.return
}

// -----

// Two allocations that change places in a loop: what the loop carries is not one buffer.

func.func @swap(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{one of its allocations}}
  %a = nv_tileas.alloc_tensor : tensor<64xf16, #nv_tileas<space smem>>
  // expected-note@+1 {{one of its allocations}}
  %b = nv_tileas.alloc_tensor : tensor<64xf16, #nv_tileas<space smem>>
  // expected-error@+1 {{'scf.for' op Cannot find last written SSA.}}
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%u = %a, %v = %b) -> (tensor<64xf16, #nv_tileas<space smem>>, tensor<64xf16, #nv_tileas<space smem>>) {
    "test.op"(%u) : (tensor<64xf16, #nv_tileas<space smem>>) -> ()
    scf.yield %v, %u : tensor<64xf16, #nv_tileas<space smem>>, tensor<64xf16, #nv_tileas<space smem>>
  }
  func.return
}

// -----

// A while whose rounds allocate what they hand on: outside of it the allocation has no name.

func.func @allocates(%c: i1) {
  // expected-error@+1 {{'scf.while' op Yielded alias not implemented yet}}
  %r = scf.while () : () -> (tensor<64xf16, #nv_tileas<space smem>>) {
    // expected-note@+1 {{allocated here, in every round}}
    %a = nv_tileas.alloc_tensor : tensor<64xf16, #nv_tileas<space smem>>
    scf.condition(%c) %a : tensor<64xf16, #nv_tileas<space smem>>
  } do {
  ^bb0(%b: tensor<64xf16, #nv_tileas<space smem>>):
    scf.yield
  }
  "test.op"(%r) : (tensor<64xf16, #nv_tileas<space smem>>) -> ()
  func.return
}

// -----

// Parts of one allocation that begin at no number, and are not made in one way.

func.func @ways(%c: i1) {
  %a = nv_tileas.alloc_tensor : tensor<32x32xf16, #nv_tileas<space smem>>
  // expected-note@+1 {{'nv_tileas.extract_slice' shows it here}}
  %v = nv_tileas.extract_slice %a[0, 16][16, 16][1, 1] : tensor<32x32xf16, #nv_tileas<space smem>> -> tensor<16x16xf16, #nv_tileas<space smem>>
  // expected-note@+1 {{'nv_tileas.view' shows it here}}
  %w = nv_tileas.view %a : tensor<32x32xf16, #nv_tileas<space smem>> -> tensor<16x16xf16, #nv_tileas<space smem>>
  // expected-error@+1 {{'arith.select' op RemoveBufferAlias: not supported operation type}}
  %s = arith.select %c, %v, %w : tensor<16x16xf16, #nv_tileas<space smem>>
  "test.op"(%s) : (tensor<16x16xf16, #nv_tileas<space smem>>) -> ()
  func.return
}
