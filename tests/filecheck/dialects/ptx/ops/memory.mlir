// Loads and stores: vectors, orders, caches, and guards that choose another value.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<b32, 8>
  %5 = ptx.undef -> !ptx.reg<pred>
  %6 = ptx.createpolicy {primary = "evict_first", fraction = 5.000000e-01 : f32} -> !ptx.reg<b64>
  %7 = ptx.ld %3 {type = "b32", space = "global", offset = 16 : i64, eviction = "no_allocate", prefetch = "128B", nc} : !ptx.reg<b64> -> !ptx.reg<b32, 4>
  %8 = ptx.ld %3 {type = "f32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<f32, 8>
  %9 = ptx.ld %2 {type = "u8", space = "shared"} : !ptx.reg<b32> -> !ptx.reg<b16>
  %10 = ptx.ld %3 {type = "b64", space = "generic", semantics = "volatile"} : !ptx.reg<b64> -> !ptx.reg<b64>
  %11 = ptx.ld %3 {type = "u32", space = "global", semantics = "acquire", scope = "gpu"} : !ptx.reg<b64> -> !ptx.reg<b32>
  %12 = ptx.ld %2 {type = "f32", space = "shared::cluster", semantics = "relaxed", scope = "cluster"} : !ptx.reg<b32> -> !ptx.reg<f32>
  %13 = ptx.ld %3 {type = "u16", space = "global", cache = "cg"} : !ptx.reg<b64> -> !ptx.reg<b16>
  %14 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  %15 = ptx.ld %3 otherwise(%14) guard(%5) {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<b32, 2>
  %16 = ptx.const {value = 0.000000e+00 : f32} -> !ptx.reg<f32>
  %17 = ptx.ld %3 otherwise(%16) policy(%6) guard(%5) {type = "f32", space = "global", negate} : !ptx.reg<b64>, !ptx.reg<f32>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32>
  %18 = ptx.ld %3 {type = "f64", space = "const"} : !ptx.reg<b64> -> !ptx.reg<f64>
  ptx.st %3, %4 {type = "b32", space = "global", width = 2 : i64} : !ptx.reg<b64>, !ptx.reg<b32, 8>
  %19 = ptx.extract %4 {start = 0 : i64} : !ptx.reg<b32, 8> -> !ptx.reg<b32, 4>
  ptx.st %2, %19 guard(%5) {type = "b32", space = "shared", offset = 32 : i64} : !ptx.reg<b32>, !ptx.reg<b32, 4>, !ptx.reg<pred>
  %20 = ptx.extract %4 {start = 0 : i64} : !ptx.reg<b32, 8> -> !ptx.reg<b32>
  ptx.st %3, %20 {type = "u32", space = "global", semantics = "release", scope = "sys"} : !ptx.reg<b64>, !ptx.reg<b32>
  %21 = ptx.const {value = 7 : i64} -> !ptx.reg<b16>
  ptx.st %3, %21 {type = "u16", space = "global", cache = "cs"} : !ptx.reg<b64>, !ptx.reg<b16>
  %22 = ptx.extract %4 {start = 0 : i64} : !ptx.reg<b32, 8> -> !ptx.reg<b32>
  ptx.st %3, %22 policy(%6) guard(%5) {type = "b32", space = "global", negate} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<pred>
  %23 = ptx.extract %4 {start = 0 : i64} : !ptx.reg<b32, 8> -> !ptx.reg<b32, 4>
  ptx.st %3, %23 {type = "b32", space = "global", eviction = "no_allocate"} : !ptx.reg<b64>, !ptx.reg<b32, 4>
  ptx.prefetch %3 {space = "global", level = "L2"} : !ptx.reg<b64>
  ptx.prefetch %3 guard(%5) {space = "global", level = "L1"} : !ptx.reg<b64>, !ptx.reg<pred>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      createpolicy.fractional.L2::evict_first.b64 %rd0, 0f3F000000;
// PTX-NEXT: ld.global.nc.L1::no_allocate.L2::128B.v4.b32 {%r0, %r1, %r2, %r3}, [%rd1+16];
// PTX-NEXT: ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1];
// PTX-NEXT: ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%rd1+16];
// PTX-NEXT: ld.shared.u8 %h0, [%r4];
// PTX-NEXT: ld.volatile.b64 %rd2, [%rd1];
// PTX-NEXT: ld.acquire.gpu.global.u32 %r5, [%rd1];
// PTX-NEXT: ld.relaxed.cluster.shared::cluster.f32 %f8, [%r4];
// PTX-NEXT: ld.global.cg.u16 %h1, [%rd1];
// PTX-NEXT: mov.b32 %r6, 0;
// PTX-NEXT: mov.b32 %r7, 0;
// PTX-NEXT: @%p0 ld.global.v2.b32 {%r6, %r7}, [%rd1];
// PTX-NEXT: mov.f32 %f9, 0f00000000;
// PTX-NEXT: @!%p0 ld.global.L2::cache_hint.f32 %f9, [%rd1], %rd0;
// PTX-NEXT: ld.const.f64 %fd0, [%rd1];
// PTX-NEXT: st.global.v2.b32 [%rd1], {%r8, %r9};
// PTX-NEXT: st.global.v2.b32 [%rd1+8], {%r10, %r11};
// PTX-NEXT: st.global.v2.b32 [%rd1+16], {%r12, %r13};
// PTX-NEXT: st.global.v2.b32 [%rd1+24], {%r14, %r15};
// PTX-NEXT: @%p0 st.shared.v4.b32 [%r4+32], {%r8, %r9, %r10, %r11};
// PTX-NEXT: st.release.sys.global.u32 [%rd1], %r8;
// PTX-NEXT: st.global.cs.u16 [%rd1], 7;
// PTX-NEXT: @!%p0 st.global.L2::cache_hint.b32 [%rd1], %r8, %rd0;
// PTX-NEXT: st.global.L1::no_allocate.v4.b32 [%rd1], {%r8, %r9, %r10, %r11};
// PTX-NEXT: prefetch.global.L2 [%rd1];
// PTX-NEXT: @%p0 prefetch.global.L1 [%rd1];
// PTX-NEXT: ret;
