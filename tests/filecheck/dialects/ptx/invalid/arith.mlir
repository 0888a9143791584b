// What arithmetic refuses, each with the nearest thing that it accepts.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<f32>
  %5 = ptx.undef -> !ptx.reg<b16>
  %6 = ptx.undef -> !ptx.reg<pred>
  %7 = ptx.undef -> !ptx.reg<b32, 4>
  %8 = ptx.undef -> !ptx.reg<b32, 3>
  // expected-error@+1 {{'ptx.add' op has no type 'b32'; there are u16, s16, u32, s32, u64, s64, u16x2, s16x2, f32, f64, f32x2, f16, f16x2, bf16, bf16x2}}
      %9 = ptx.add %2, %2 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %10 = ptx.add %2, %2 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.add' op of type u32 expects operand 1 in b32, but got b64}}
      %11 = ptx.add %2, %3 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.add' op expects its result in b32, but got b64}}
      %12 = ptx.add %2, %2 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.mul' op needs a mode for u32: lo, hi, wide}}
      %13 = ptx.mul %2, %2 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mul' op has no mode 'wide' for u64; there are lo, hi}}
      %14 = ptx.mul %3, %3 {type = "u64", mode = "wide"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
  %15 = ptx.mul %2, %2 {type = "u32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.add' op takes no rounding for u32, but got 'rn'}}
      %16 = ptx.add %2, %2 {type = "u32", rounding = "rn"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.fma' op needs a rounding for f32: rn, rz, rm, rp}}
      %17 = ptx.fma %4, %4, %4 {type = "f32"} : !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32>
  %18 = ptx.fma %4, %4, %4 {type = "f32", rounding = "rz"} : !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32>
  // expected-error@+1 {{'ptx.add' op has no rounding 'ru' for f32; there are rn, rz, rm, rp}}
      %19 = ptx.add %4, %4 {type = "f32", rounding = "ru"} : !ptx.reg<f32>, !ptx.reg<f32> -> !ptx.reg<f32>
  // expected-error@+1 {{'ptx.add' op takes no ftz for u32}}
      %20 = ptx.add %2, %2 {type = "u32", ftz} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ex2' op needs ftz for bf16}}
      %21 = ptx.ex2 %5 {type = "bf16", rounding = "approx"} : !ptx.reg<b16> -> !ptx.reg<b16>
  // expected-error@+1 {{'ptx.tanh' op needs a rounding for f32: approx}}
      %22 = ptx.tanh %4 {type = "f32"} : !ptx.reg<f32> -> !ptx.reg<f32>
  // expected-error@+1 {{'ptx.shl' op expects a number of bits in b32, but got b64}}
      %23 = ptx.shl %3, %3 {type = "b64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
  %24 = ptx.shl %3, %2 {type = "b64"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.add' op expects operands of 1 or 4 registers like its result, but got 3}}
      %25 = ptx.add %7, %8 {type = "u32"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 3> -> !ptx.reg<b32, 4>
  %26 = ptx.add %7, %2 {type = "u32"} : !ptx.reg<b32, 4>, !ptx.reg<b32> -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.and' op of type pred expects operand 1 in pred, but got b32}}
      %27 = ptx.and %6, %2 {type = "pred"} : !ptx.reg<pred>, !ptx.reg<b32> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.popc' op expects its result in b32, but got b64}}
      %28 = ptx.popc %3 {type = "b64"} : !ptx.reg<b64> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.mad' op expects operand 2 in b64, but got b32}}
      %29 = ptx.mad %2, %2, %2 {type = "u32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
  %30 = ptx.mad %2, %2, %3 {type = "u32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b64> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.bfi' op expects a number of bits in b32, but got b64}}
      %31 = ptx.bfi %2, %2, %3, %2 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.lop3' op has a table of 8 bits, not 256}}
      %32 = ptx.lop3 %2, %2, %2 {table = 256 : i64} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.lop3' op expects operand 2 in b32, but got f32}}
      %33 = ptx.lop3 %2, %2, %4 {table = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<f32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.shf' op has no direction 'x'; there are l, r}}
      %34 = ptx.shf %2, %2, %2 {direction = "x", mode = "wrap"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.shf' op has no mode 'round'; there are wrap, clamp}}
      %35 = ptx.shf %2, %2, %2 {direction = "l", mode = "round"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %36 = ptx.shf %2, %2, %2 {direction = "l", mode = "wrap"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  ptx.ret
}
