// What tensor memory and its products refuse.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b32>
  %4 = ptx.undef -> !ptx.reg<b64>
  %5 = ptx.undef -> !ptx.reg<pred>
  %6 = ptx.undef -> !ptx.reg<b32>
  %7 = ptx.const {value = 48 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tcgen05.alloc' op has 32, 64, 128, 256, 512 columns, not 48}}
      ptx.tcgen05.alloc %2, %7 {cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  %8 = ptx.const {value = 64 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tcgen05.alloc' op has cta_group 1 or 2, not 4}}
      ptx.tcgen05.alloc %2, %8 {cta_group = 4 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  %9 = ptx.const {value = 64 : i64} -> !ptx.reg<b32>
  ptx.tcgen05.alloc %2, %9 {cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  %10 = ptx.const {value = 64 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tcgen05.dealloc' op expects the address in b32, but got b64}}
      ptx.tcgen05.dealloc %4, %10 {cta_group = 1 : i64} : !ptx.reg<b64>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tcgen05.ld' op has no form 32x32b.x3}}
      %11 = ptx.tcgen05.ld %3 {shape = "32x32b", repeat = 3 : i64} : !ptx.reg<b32> -> !ptx.reg<b32, 3>
  // expected-error@+1 {{'ptx.tcgen05.ld' op has no shape '64x64b'; there are 32x32b, 16x64b, 16x128b, 16x256b, 16x32bx2}}
      %12 = ptx.tcgen05.ld %3 {shape = "64x64b", repeat = 1 : i64} : !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tcgen05.ld' op has no form 16x256b.x64}}
      %13 = ptx.tcgen05.ld %3 {shape = "16x256b", repeat = 64 : i64} : !ptx.reg<b32> -> !ptx.reg<b32, 256>
  // expected-error@+1 {{'ptx.tcgen05.ld' op has a half_split with shape 16x32bx2, and only there}}
      %14 = ptx.tcgen05.ld %3 {shape = "32x32b", repeat = 1 : i64, half_split = 2 : i64} : !ptx.reg<b32> -> !ptx.reg<b32>
  %15 = ptx.undef -> !ptx.reg<b32, 3>
  // expected-error@+1 {{'ptx.tcgen05.st' op has no form 32x32b of 3 registers}}
      ptx.tcgen05.st %3, %15 {shape = "32x32b"} : !ptx.reg<b32>, !ptx.reg<b32, 3>
  %16 = ptx.undef -> !ptx.reg<b64, 2>
  // expected-error@+1 {{'ptx.tcgen05.st' op expects the value in b32 or f32, but got b64}}
      ptx.tcgen05.st %3, %16 {shape = "32x32b"} : !ptx.reg<b32>, !ptx.reg<b64, 2>
  %17 = ptx.undef -> !ptx.reg<b32, 4>
  ptx.tcgen05.st %3, %17 {shape = "16x128b"} : !ptx.reg<b32>, !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.tcgen05.wait' op has no access 'mma'; there are ld, st}}
      ptx.tcgen05.wait {access = "mma"}
  // expected-error@+1 {{'ptx.tcgen05.fence' op has no side 'around'; there are before, after}}
      ptx.tcgen05.fence {side = "around"}
  // expected-error@+1 {{'ptx.tcgen05.commit' op expects the mask in b16, but got b32}}
      ptx.tcgen05.commit %2 multicast(%2) {cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tcgen05.cp' op needs a multicast for 64x128b: warpx2::02_13, warpx2::01_23}}
      ptx.tcgen05.cp %3, %4 {shape = "64x128b", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>
  // expected-error@+1 {{'ptx.tcgen05.cp' op has no shape '64x256b'; there are 128x256b, 4x256b, 128x128b, 64x128b, 32x128b}}
      ptx.tcgen05.cp %3, %4 {shape = "64x256b", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>
  // expected-error@+1 {{'ptx.tcgen05.cp' op has no source format 'b8'; there are b6x16_p32, b4x16_p64}}
      ptx.tcgen05.cp %3, %4 {shape = "128x256b", source_format = "b8", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>
  ptx.tcgen05.cp %3, %4 {shape = "64x128b", multicast = "warpx2::02_13", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>
  // expected-error@+1 {{'ptx.tcgen05.shift' op expects the address in b32, but got b64}}
      ptx.tcgen05.shift %4 {cta_group = 1 : i64} : !ptx.reg<b64>
  // expected-error@+1 {{'ptx.tcgen05.mma' op has no kind 'f64'; there are f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 {kind = "f64", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  // expected-error@+1 {{'ptx.tcgen05.mma' op expects A in b64 or b32, but got pred}}
      ptx.tcgen05.mma %3, %5, %4, %6, %5 {kind = "f16", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  // expected-error@+1 {{'ptx.tcgen05.mma' op takes 0 scales for f16, not 2}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 scales(%3, %3) {kind = "f16", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tcgen05.mma' op takes 2 scales for mxf4, not 1}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 scales(%3) {kind = "mxf4", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tcgen05.mma' op has no scale vector '4X' for mxf4; there are 2X, block32}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 scales(%3, %3) {kind = "mxf4", cta_group = 1 : i64, scale_vector = "4X"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tcgen05.mma' op does not scale D for i8}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 {kind = "i8", cta_group = 1 : i64, scale_d = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  // expected-error@+1 {{'ptx.tcgen05.mma' op divides D by 2 to the power of 0 to 15, not 16}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 {kind = "f16", cta_group = 1 : i64, scale_d = 16 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  %18 = ptx.undef -> !ptx.reg<b32, 8>
  // expected-error@+1 {{'ptx.tcgen05.mma' op expects 4 registers for the lanes, but got 8}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 disabled_lanes(%18) {kind = "f16", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32, 8>
  // expected-error@+1 {{'ptx.tcgen05.mma' op with stationary weights is of one block, without scales}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 {kind = "f16", cta_group = 2 : i64, weights} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  // expected-error@+1 {{'ptx.tcgen05.mma' op with stationary weights is of one block, without scales}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 {kind = "f16", cta_group = 1 : i64, scale_d = 1 : i64, weights} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  %19 = ptx.undef -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.tcgen05.mma' op disables no lanes with scales or stationary weights}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 disabled_lanes(%19) {kind = "f16", cta_group = 1 : i64, weights} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.tcgen05.mma' op has no collector 'keep'; there are fill, use, lastuse, discard}}
      ptx.tcgen05.mma %3, %4, %4, %6, %5 {kind = "f16", cta_group = 1 : i64, collector = "keep"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
  %20 = ptx.undef -> !ptx.reg<b32, 4>
  ptx.tcgen05.mma %3, %4, %4, %6, %5 disabled_lanes(%20) {kind = "f16", cta_group = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32, 4>
  ptx.ret
}
