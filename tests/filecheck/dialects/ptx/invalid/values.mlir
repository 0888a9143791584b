// What constants, tuples and moves refuse.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<f32>
  %5 = ptx.undef -> !ptx.reg<f32, 4>
  %6 = ptx.undef -> !ptx.reg<b16, 3>
  // expected-error@+1 {{'ptx.const' op of b32 has 32 bits: 1099511627776 does not fit}}
      %7 = ptx.const {value = 1099511627776 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.const' op of b32 holds an integer, not a float}}
      %8 = ptx.const {value = 1.000000e+00 : f32} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.const' op of f32 holds a float, not an integer}}
      %9 = ptx.const {value = 1 : i64} -> !ptx.reg<f32>
  // expected-error@+1 {{'ptx.const' op has a number as value, not "one"}}
      %10 = ptx.const {value = "one"} -> !ptx.reg<f32>
  %11 = ptx.const {value = -1 : i64} -> !ptx.reg<b32>
  %12 = ptx.const {value = 4294967295 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.pack' op expects parts in b32, but got f32}}
      %13 = ptx.pack values(%2, %4) : !ptx.reg<b32>, !ptx.reg<f32> -> !ptx.reg<b32, 2>
  // expected-error@+1 {{'ptx.pack' op expects 2 registers for its result, but got 3}}
      %14 = ptx.pack values(%2, %2) : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32, 3>
  %15 = ptx.pack values(%2, %2) : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32, 2>
  // expected-error@+1 {{'ptx.extract' op takes 3 to 5 of 4 registers}}
      %16 = ptx.extract %5 {start = 3 : i64} : !ptx.reg<f32, 4> -> !ptx.reg<f32, 2>
  // expected-error@+1 {{'ptx.extract' op expects its result in f32, but got b32}}
      %17 = ptx.extract %5 {start = 0 : i64} : !ptx.reg<f32, 4> -> !ptx.reg<b32>
  %18 = ptx.extract %5 {start = 2 : i64} : !ptx.reg<f32, 4> -> !ptx.reg<f32, 2>
  // expected-error@+1 {{'ptx.unpack' op cuts 4 registers into equal pieces, all of them}}
      %19 = ptx.unpack %5 : !ptx.reg<f32, 4> -> !ptx.reg<f32, 3>
  %20, %21 = ptx.unpack %5 : !ptx.reg<f32, 4> -> !ptx.reg<f32, 2>, !ptx.reg<f32, 2>
  // expected-error@+1 {{'ptx.mov' op of type u32 expects its operand in b32, but got f32}}
      %22 = ptx.mov %4 {type = "u32"} : !ptx.reg<f32> -> !ptx.reg<f32>
  // expected-error@+1 {{'ptx.mov' op of type b32 expects its result in b32, but got b64}}
      %23 = ptx.mov %2 {type = "b32"} : !ptx.reg<b32> -> !ptx.reg<b64>
  %24 = ptx.mov %4 {type = "b32"} : !ptx.reg<f32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.join' op expects 2 registers for the narrow side, but got 3}}
      %25 = ptx.join %6 : !ptx.reg<b16, 3> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.join' op needs wider registers than b32, but got b32}}
      %26 = ptx.join %2 : !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.split' op expects the wide side in b32 or b64, but got f32}}
      %27 = ptx.split %4 : !ptx.reg<f32> -> !ptx.reg<b16, 2>
  %28 = ptx.split %3 : !ptx.reg<b64> -> !ptx.reg<b32, 2>
  ptx.ret
}
