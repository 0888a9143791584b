// What comparisons, selections and conversions refuse.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<f32>
  %5 = ptx.undef -> !ptx.reg<b16>
  %6 = ptx.undef -> !ptx.reg<pred>
  %7 = ptx.undef -> !ptx.reg<f32, 3>
  // expected-error@+1 {{'ptx.setp' op has no comparison 'ltu' for u32; there are eq, ne, lt, le, gt, ge, lo, ls, hi, hs}}
      %8 = ptx.setp %2, %2 {comparison = "ltu", type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.setp' op of type u32 expects b in b32, but got f32}}
      %9 = ptx.setp %2, %4 {comparison = "lt", type = "u32"} : !ptx.reg<b32>, !ptx.reg<f32> -> !ptx.reg<pred>
  %10 = ptx.setp %2, %2 {comparison = "lo", type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.setp' op takes no ftz for u32}}
      %11 = ptx.setp %2, %2 {comparison = "lt", type = "u32", ftz} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.setp' op combines with a predicate: it needs both 'combine' and 'other'}}
      %12 = ptx.setp %2, %2 {comparison = "lt", type = "u32", combine = "and"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.setp' op has no combination 'nor'; there are and, or, xor}}
      %13 = ptx.setp %2, %2 other(%6) {comparison = "lt", type = "u32", combine = "nor"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.setp' op expects other in pred, but got b32}}
      %14 = ptx.setp %2, %2 other(%2) {comparison = "lt", type = "u32", combine = "or"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.setp' op has no comparison 'lt' for b32; there are eq, ne}}
      %15 = ptx.setp %2, %2 {comparison = "lt", type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  %16 = ptx.setp %2, %2 other(%6) {comparison = "lt", type = "u32", combine = "and"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.selp' op expects the condition in pred, but got b32}}
      %17 = ptx.selp %2, %2, %2 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.selp' op of type u32 expects b in b32, but got f32}}
      %18 = ptx.selp %2, %4, %6 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<f32>, !ptx.reg<pred> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.selp' op has no type 'f16'; there are b16, b32, b64, u16, s16, u32, s32, u64, s64, f32, f64}}
      %19 = ptx.selp %5, %5, %6 {type = "f16"} : !ptx.reg<b16>, !ptx.reg<b16>, !ptx.reg<pred> -> !ptx.reg<b16>
  %20 = ptx.selp %4, %4, %6 {type = "f32"} : !ptx.reg<f32>, !ptx.reg<f32>, !ptx.reg<pred> -> !ptx.reg<f32>
  // expected-error@+1 {{'ptx.cvt' op does not convert f32 to e4m3x2}}
      %21 = ptx.cvt %4 {to = "e4m3x2", source = "f32"} : !ptx.reg<f32> -> !ptx.reg<b16>
  // expected-error@+1 {{'ptx.cvt' op needs a rounding from u32 to f32: rn, rz, rm, rp}}
      %22 = ptx.cvt %2 {to = "f32", source = "u32"} : !ptx.reg<b32> -> !ptx.reg<f32>
  // expected-error@+1 {{'ptx.cvt' op has no rounding 'rn' from f32 to u32; there are rni, rzi, rmi, rpi}}
      %23 = ptx.cvt %4 {to = "u32", source = "f32", rounding = "rn"} : !ptx.reg<f32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cvt' op takes no saturation from u32 to u64, but got 'sat'}}
      %24 = ptx.cvt %2 {to = "u64", source = "u32", saturation = "sat"} : !ptx.reg<b32> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.cvt' op has either relu or sat}}
      %25 = ptx.cvt %4 {to = "f16", source = "f32", rounding = "rn", saturation = "sat", relu} : !ptx.reg<f32> -> !ptx.reg<b16>
  // expected-error@+1 {{'ptx.cvt' op has either relu or rounding rna}}
      %26 = ptx.cvt %4 {to = "tf32", source = "f32", rounding = "rna", relu} : !ptx.reg<f32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cvt' op takes no ftz from u32 to u64}}
      %27 = ptx.cvt %2 {to = "u64", source = "u32", ftz} : !ptx.reg<b32> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.cvt' op expects its operand in b32, but got b64}}
      %28 = ptx.cvt %3 {to = "f32", source = "u32", rounding = "rn"} : !ptx.reg<b64> -> !ptx.reg<f32>
  %29 = ptx.cvt %2 {to = "f32", source = "u32", rounding = "rn"} : !ptx.reg<b32> -> !ptx.reg<f32>
  // expected-error@+1 {{'ptx.cvt_pack' op expects 2 registers for its operand, but got 3}}
      %30 = ptx.cvt_pack %7 {to = "f16x2", rounding = "rn"} : !ptx.reg<f32, 3> -> !ptx.reg<b32>
  %31 = ptx.undef -> !ptx.reg<f32, 2>
  // expected-error@+1 {{'ptx.cvt_pack' op has no rounding 'rm' from f32 to f16x2; there are rn, rz}}
      %32 = ptx.cvt_pack %31 {to = "f16x2", rounding = "rm"} : !ptx.reg<f32, 2> -> !ptx.reg<b32>
  %33 = ptx.undef -> !ptx.reg<f32, 2>
  // expected-error@+1 {{'ptx.cvt_pack' op needs a saturation from f32 to e4m3x2: satfinite}}
      %34 = ptx.cvt_pack %33 {to = "e4m3x2", rounding = "rn"} : !ptx.reg<f32, 2> -> !ptx.reg<b16>
  %35 = ptx.undef -> !ptx.reg<f32, 2>
  // expected-error@+1 {{'ptx.cvt_pack' op has no packed type 'f32x2'; there are f16x2, bf16x2, e4m3x2, e5m2x2}}
      %36 = ptx.cvt_pack %35 {to = "f32x2", rounding = "rn"} : !ptx.reg<f32, 2> -> !ptx.reg<b32>
  %37 = ptx.undef -> !ptx.reg<b32, 2>
  // expected-error@+1 {{'ptx.cvt_pack' op of type bf16x2 expects its result in b32, but got b64}}
      %38 = ptx.cvt_pack %37 {to = "bf16x2", rounding = "rn"} : !ptx.reg<b32, 2> -> !ptx.reg<b64>
  %39 = ptx.undef -> !ptx.reg<f32, 2>
  %40 = ptx.cvt_pack %39 {to = "e4m3x2", rounding = "rn", saturation = "satfinite"} : !ptx.reg<f32, 2> -> !ptx.reg<b16>
  ptx.ret
}
