// What preparing a divisor refuses.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @divide(%n: i32, %p: !cute.fast_divmod_divisor<32>) {
  // expected-error@+1 {{'cute.fast_divmod.divide' op result 'quotient' at position 0 does not verify: Expected attribute i32 but got i64}}
  %q = "cute.fast_divmod.divide"(%n, %p) : (i32, !cute.fast_divmod_divisor<32>) -> i64
  // expected-error@+1 {{result 'shift1' at position 1 does not verify}}
  %m, %s, %t = "cute.fast_divmod.get_aux"(%p) : (!cute.fast_divmod_divisor<32>) -> (i32, i32, i8)
  func.return
}
