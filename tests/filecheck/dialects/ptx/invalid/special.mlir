// What special registers, parameters and addresses refuse.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.sreg' op unknown special register 'tid.w'}}
      %4 = ptx.sreg {register = "tid.w"} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.sreg' op expects its result in b32, but got b64}}
      %5 = ptx.sreg {register = "tid.x"} -> !ptx.reg<b64>
  %6 = ptx.sreg {register = "tid.x"} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.address' op names no ptx.shared or ptx.global variable: @nothing}}
      %7 = ptx.address {variable = @nothing} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.address' op expects its result in b32 or b64, but got f32}}
      %8 = ptx.address {variable = @smem} -> !ptx.reg<f32>
  %9 = ptx.address {variable = @smem} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld_param' op reads bytes 8 to 16 of a parameter of 8}}
      %10 = ptx.ld_param %0 {type = "u64", offset = 8 : i64} : !ptx.param<u64> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.ld_param' op reads bytes 2 to 6 of a parameter of 128}}
      %11 = ptx.ld_param %1 {type = "b32", offset = 2 : i64} : !ptx.param<b8, 128, align 64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld_param' op reads bytes 120 to 136 of a parameter of 128}}
      %12 = ptx.ld_param %1 {type = "b32", offset = 120 : i64} : !ptx.param<b8, 128, align 64> -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.ld_param' op of type u64 expects its result in b64, but got b32}}
      %13 = ptx.ld_param %0 {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b32>
  %14 = ptx.ld_param %1 {type = "b32", offset = 112 : i64} : !ptx.param<b8, 128, align 64> -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.cvta' op of type u64 expects its operand in b64, but got b32}}
      %15 = ptx.cvta %2 {space = "global", type = "u64"} : !ptx.reg<b32> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.cvta' op has no space 'texture'; there are global, shared, shared::cta, shared::cluster, local, const, param}}
      %16 = ptx.cvta %3 {space = "texture", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
  %17 = ptx.cvta %3 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
  ptx.ret
}
