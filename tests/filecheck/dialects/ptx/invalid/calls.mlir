// What declarations and calls refuse.

// RUN: tileas-opt %s --verify-diagnostics

// expected-error@+1 {{'ptx.global' op has an alignment that is a power of two, not 3}}
ptx.global @odd {data = array<i8: 1>, align = 3 : i64}
// expected-error@+1 {{'ptx.global' op has bytes, one at least}}
ptx.global @words {data = array<i32: 1>, align = 4 : i64}
// expected-error@+1 {{'ptx.global' op declares what has a name in PTX, and '1x' is none}}
ptx.global @"1x" {data = array<i8: 1>, align = 1 : i64}
// expected-error@+1 {{'ptx.function' op takes and gives b32, b64, f32, f64, not 'pred'}}
ptx.function @asks {parameters = ["pred"]}
ptx.function @report {parameters = ["f32"]}
ptx.global @text {data = array<i8: 0>, align = 1 : i64}
ptx.entry @k(%0: !ptx.param<u64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %1 = ptx.undef -> !ptx.reg<b64>
  %2 = ptx.undef -> !ptx.reg<f32, 2>
  %3 = ptx.undef -> !ptx.reg<f32>
  // expected-error@+1 {{'ptx.call' op calls no ptx.function: @text}}
  ptx.call {callee = @text}
  // expected-error@+1 {{'ptx.call' op calls a function that takes (f32) and gives nothing}}
  ptx.call arguments(%1) {callee = @report} : !ptx.reg<b64>
  // expected-error@+1 {{'ptx.call' op calls a function that takes (f32) and gives nothing}}
  %4 = ptx.call arguments(%3) {callee = @report} : !ptx.reg<f32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.call' op passes single registers of b32, b64, f32, f64}}
  ptx.call arguments(%2) {callee = @report} : !ptx.reg<f32, 2>
  // expected-error@+1 {{'ptx.local' op has 1 to 1048576 bytes, not 0}}
  %5 = ptx.local {size = 0 : i64, align = 8 : i64} -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.local' op gives an address in b64, not !ptx.reg<b32>}}
  %6 = ptx.local {size = 8 : i64, align = 8 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.address' op expects an address in global memory in b64, but got b32}}
  %7 = ptx.address {variable = @text} -> !ptx.reg<b32>
  ptx.ret
}
