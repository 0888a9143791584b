// Division by a divisor that stays the same: it is prepared once, and may be taken apart.

// RUN: tileas-opt %s | tileas-opt | filecheck %s

// CHECK-LABEL: func.func @divide
func.func @divide(%n: i32, %d: i32, %m: i32, %s: i8) -> i32 {
  // CHECK-NEXT: %p = cute.fast_divmod.create_divisor(%d) : (i32) -> !cute.fast_divmod_divisor<32>
  %p = cute.fast_divmod.create_divisor(%d) : (i32) -> !cute.fast_divmod_divisor<32>
  // CHECK-NEXT: cute.fast_divmod.get_divisor(%p) : (!cute.fast_divmod_divisor<32>) -> i32
  %same = cute.fast_divmod.get_divisor(%p)
  // CHECK-NEXT: %f, %s1, %s2 = cute.fast_divmod.get_aux(%p) : (!cute.fast_divmod_divisor<32>) -> (i32, i8, i8)
  %f, %s1, %s2 = cute.fast_divmod.get_aux(%p)
  // CHECK-NEXT: %o = cute.fast_divmod.make_divisor(%d, %m, %s, %s2) : (i32, i32, i8, i8) -> !cute.fast_divmod_divisor<32>
  %o = cute.fast_divmod.make_divisor(%d, %m, %s, %s2)
  // CHECK-NEXT: %q, %r = cute.fast_divmod.compute(%n, %o) : (i32, !cute.fast_divmod_divisor<32>) -> (i32, i32)
  %q, %r = cute.fast_divmod.compute(%n, %o)
  // CHECK-NEXT: cute.fast_divmod.divide(%n, %o) : (i32, !cute.fast_divmod_divisor<32>) -> i32
  %t = cute.fast_divmod.divide(%n, %o)
  func.return %r : i32
}
