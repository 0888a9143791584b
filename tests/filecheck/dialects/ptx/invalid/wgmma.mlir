// What products refuse; accumulators in flight are for the wait.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b64>
  %3 = ptx.undef -> !ptx.reg<pred>
  %4 = ptx.undef -> !ptx.reg<b32>
  %5 = ptx.undef -> !ptx.reg<f32, 4>
  %6 = ptx.undef -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.wgmma' op multiplies no f16 by bf16}}
      %7 = ptx.wgmma %5, %2, %2, %3 {type = "f32", a_type = "f16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.wgmma' op has no type of D 'f16' for bf16 and bf16; there are f32}}
      %8 = ptx.wgmma %5, %2, %2, %3 {type = "f16", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.wgmma' op expects the accumulator in f32, but got b32}}
      %9 = ptx.wgmma %6, %2, %2, %3 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<b32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<b32, 4>
  %10 = ptx.undef -> !ptx.reg<f32, 6>
  // expected-error@+1 {{'ptx.wgmma' op has no form with 12 columns of f32}}
      %11 = ptx.wgmma %10, %2, %2, %3 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 6>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 6>
  %12 = ptx.undef -> !ptx.reg<b32, 20>
  // expected-error@+1 {{'ptx.wgmma' op has no form with 40 columns of s32}}
      %13 = ptx.wgmma %12, %2, %2, %3 {type = "s32", a_type = "s8", b_type = "s8"} : !ptx.reg<b32, 20>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<b32, 20>
  %14 = ptx.undef -> !ptx.reg<b32, 2>
  // expected-error@+1 {{'ptx.wgmma' op expects 4 registers for A, but got 2}}
      %15 = ptx.wgmma %5, %14, %2, %3 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b32, 2>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.wgmma' op expects A in b64 or b32, but got f32}}
      %16 = ptx.wgmma %5, %5, %2, %3 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.wgmma' op expects B in b64, but got b32}}
      %17 = ptx.wgmma %5, %2, %4, %3 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.wgmma' op expects scale_d in pred, but got b32}}
      %18 = ptx.wgmma %5, %2, %2, %4 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.wgmma' op transposes operands of 16 bits only}}
      %19 = ptx.wgmma %5, %2, %2, %3 {type = "f32", a_type = "e4m3", b_type = "e4m3", trans_b} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.wgmma' op does not transpose an A in registers}}
      %20 = ptx.wgmma %5, %6, %2, %3 {type = "f32", a_type = "bf16", b_type = "bf16", trans_a} : !ptx.reg<f32, 4>, !ptx.reg<b32, 4>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.wgmma' op does not negate integers}}
      %21 = ptx.wgmma %6, %2, %2, %3 {type = "s32", a_type = "s8", b_type = "s8", negate_a} : !ptx.reg<b32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.wgmma' op saturates integers only}}
      %22 = ptx.wgmma %5, %2, %2, %3 {type = "f32", a_type = "bf16", b_type = "bf16", saturate} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.wgmma' op gives what it accumulates in}}
      %23 = ptx.wgmma %5, %2, %2, %3 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 8>
  %24 = ptx.wgmma %5, %2, %2, %3 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.wgmma.wait_group' op leaves 0 to 7 groups in flight, not 8}}
      ptx.wgmma.wait_group {pending = 8 : i64}
  // expected-error@+1 {{'ptx.wgmma.wait_group' op gives back 1 values of the types it takes}}
      %25 = ptx.wgmma.wait_group values(%5) {pending = 0 : i64} : !ptx.reg<f32, 4> -> !ptx.reg<f32, 8>
  %26 = ptx.wgmma.wait_group values(%5) {pending = 0 : i64} : !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  %27 = ptx.undef -> !ptx.reg<b32, 2>
  %28 = ptx.undef -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.mma' op has no form m16n8k16 with f32, bf16, f16}}
      %29 = ptx.mma %28, %27, %5 {shape = "m16n8k16", type = "f32", a_type = "bf16", b_type = "f16"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.mma' op expects 4 registers for A, but got 2}}
      %30 = ptx.mma %27, %27, %5 {shape = "m16n8k16", type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<b32, 2>, !ptx.reg<b32, 2>, !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  // expected-error@+1 {{'ptx.mma' op expects C in f32, but got b32}}
      %31 = ptx.mma %28, %27, %28 {shape = "m16n8k16", type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<b32, 4> -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.mma' op saturates integers only}}
      %32 = ptx.mma %28, %27, %5 {shape = "m16n8k16", type = "f32", a_type = "bf16", b_type = "bf16", saturate} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  %33 = ptx.mma %28, %27, %5 {shape = "m16n8k16", type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 2>, !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  ptx.ret
}
