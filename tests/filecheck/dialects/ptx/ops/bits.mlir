// Fields of bits, functions of three words and funnel shifts.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b32, 2>
  %4 = ptx.const {value = 4 : i64} -> !ptx.reg<b32>
  %5 = ptx.bfi %2, %3, %4, %4 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32, 2>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32, 2>
  %6 = ptx.lop3 %2, %3, %2 {table = 150 : i64} : !ptx.reg<b32>, !ptx.reg<b32, 2>, !ptx.reg<b32> -> !ptx.reg<b32, 2>
  %7 = ptx.shf %2, %2, %4 {direction = "l", mode = "wrap"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %8 = ptx.shf %2, %2, %4 {direction = "r", mode = "clamp"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      bfi.b32 %r0, %r2, %r3, 4, 4;
// PTX-NEXT: bfi.b32 %r1, %r2, %r4, 4, 4;
// PTX-NEXT: lop3.b32 %r5, %r2, %r3, %r2, 150;
// PTX-NEXT: lop3.b32 %r6, %r2, %r4, %r2, 150;
// PTX-NEXT: shf.l.wrap.b32 %r7, %r2, %r2, 4;
// PTX-NEXT: shf.r.clamp.b32 %r8, %r2, %r2, 4;
// PTX-NEXT: ret;
