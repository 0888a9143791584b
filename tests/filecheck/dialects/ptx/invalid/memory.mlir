// What loads, stores, matrices and prefetches refuse.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<pred>
  %5 = ptx.undef -> !ptx.reg<f32>
  %6 = ptx.undef -> !ptx.reg<b32, 3>
  // expected-error@+1 {{'ptx.ld' op expects the address in b64, but got b32}}
      %7 = ptx.ld %2 {type = "b32", space = "global"} : !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op has no space 'texture'; there are generic, global, shared, shared::cta, shared::cluster, local, const}}
      %8 = ptx.ld %3 {type = "b32", space = "texture"} : !ptx.reg<b64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op moves 1, 2 or 4 registers at once and up to 16 bytes, not 3}}
      %9 = ptx.ld %3 {type = "b32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32, 3>
  // expected-error@+1 {{'ptx.ld' op moves 1, 2 or 4 registers at once and up to 16 bytes, not 4}}
      %10 = ptx.ld %3 {type = "b64", space = "global", width = 4 : i64} : !ptx.reg<b64> -> !ptx.reg<b64, 4>
  // expected-error@+1 {{'ptx.ld' op needs an offset that is a multiple of its size, not 4}}
      %11 = ptx.ld %3 {type = "b32", space = "global", offset = 4 : i64} : !ptx.reg<b64> -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.ld' op needs a scope: cta, cluster, gpu, sys}}
      %12 = ptx.ld %3 {type = "b32", space = "global", semantics = "acquire"} : !ptx.reg<b64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op takes no scope, but got 'gpu'}}
      %13 = ptx.ld %3 {type = "b32", space = "global", scope = "gpu"} : !ptx.reg<b64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op has no semantics 'release'; there are weak, volatile, relaxed, acquire}}
      %14 = ptx.ld %3 {type = "b32", space = "global", semantics = "release", scope = "gpu"} : !ptx.reg<b64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op is weak if it has a cache operator or an eviction}}
      %15 = ptx.ld %3 {type = "b32", space = "global", semantics = "relaxed", scope = "gpu", cache = "cg"} : !ptx.reg<b64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op reads global memory weakly through the cache of constants}}
      %16 = ptx.ld %3 {type = "b32", space = "shared", nc} : !ptx.reg<b64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op needs 'otherwise' where it has a guard, and only there}}
      %17 = ptx.ld %3 guard(%4) {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op expects otherwise in b32, but got f32}}
      %18 = ptx.ld %3 otherwise(%5) guard(%4) {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>, !ptx.reg<pred> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op has no prefetch '32B'; there are 64B, 128B, 256B}}
      %19 = ptx.ld %3 {type = "b32", space = "global", prefetch = "32B"} : !ptx.reg<b64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op has no cache operator 'wt'; there are ca, cg, cs, lu, cv}}
      %20 = ptx.ld %3 {type = "b32", space = "global", cache = "wt"} : !ptx.reg<b64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op has no eviction 'never'; there are evict_normal, evict_unchanged, evict_first, evict_last, no_allocate}}
      %21 = ptx.ld %3 {type = "b32", space = "global", eviction = "never"} : !ptx.reg<b64> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ld' op has no type 'b24'; there are b8, b16, b32, b64, u8, u16, u32, u64, s8, s16, s32, s64, f32, f64}}
      %22 = ptx.ld %3 {type = "b24", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32>
  %23 = ptx.ld %3 {type = "b32", space = "global", offset = 16 : i64} : !ptx.reg<b64> -> !ptx.reg<b32, 4>
  // expected-error@+1 {{'ptx.st' op of type u32 expects its registers in b32, but got f32}}
      ptx.st %3, %5 {type = "u32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>
  // expected-error@+1 {{'ptx.st' op has no space 'const'; there are generic, global, shared, shared::cta, shared::cluster, local}}
      ptx.st %3, %5 {type = "f32", space = "const"} : !ptx.reg<b64>, !ptx.reg<f32>
  // expected-error@+1 {{'ptx.st' op has no semantics 'acquire'; there are weak, volatile, relaxed, release}}
      ptx.st %3, %5 {type = "f32", space = "global", semantics = "acquire", scope = "gpu"} : !ptx.reg<b64>, !ptx.reg<f32>
  // expected-error@+1 {{'ptx.st' op expects the guard in pred, but got b32}}
      ptx.st %3, %5 guard(%2) {type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.st' op has no cache operator 'cv'; there are wb, cg, cs, wt}}
      ptx.st %3, %5 {type = "f32", space = "global", cache = "cv"} : !ptx.reg<b64>, !ptx.reg<f32>
  // expected-error@+1 {{'ptx.st' op expects the policy in b64, but got b32}}
      ptx.st %3, %5 policy(%2) {type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>, !ptx.reg<b32>
  ptx.st %3, %5 guard(%4) {type = "b32", space = "global", negate} : !ptx.reg<b64>, !ptx.reg<f32>, !ptx.reg<pred>
  // expected-error@+1 {{'ptx.st' op moves 3 registers, which vectors of 2 do not make}}
      ptx.st %3, %6 {type = "b32", space = "global", width = 2 : i64} : !ptx.reg<b64>, !ptx.reg<b32, 3>
  // expected-error@+1 {{'ptx.ldmatrix' op moves 1, 2, 4 matrices of m8n8 at once, not 3}}
      %24 = ptx.ldmatrix %2 {shape = "m8n8", type = "b16", matrices = 3 : i64} : !ptx.reg<b32> -> !ptx.reg<b32, 3>
  // expected-error@+1 {{'ptx.ldmatrix' op has no matrices of m8n16 and b16}}
      %25 = ptx.ldmatrix %2 {shape = "m8n16", type = "b16", matrices = 1 : i64} : !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.ldmatrix' op transposes matrices of bytes: it needs trans}}
      %26 = ptx.ldmatrix %2 {shape = "m16n16", type = "b8", matrices = 1 : i64} : !ptx.reg<b32> -> !ptx.reg<b32, 2>
  // expected-error@+1 {{'ptx.stmatrix' op expects its registers in b32, but got f32}}
      ptx.stmatrix %2, %5 {shape = "m8n8", type = "b16"} : !ptx.reg<b32>, !ptx.reg<f32>
  // expected-error@+1 {{'ptx.stmatrix' op moves 1, 2, 4 matrices of m8n8 at once, not 3}}
      ptx.stmatrix %2, %6 {shape = "m8n8", type = "b16"} : !ptx.reg<b32>, !ptx.reg<b32, 3>
  %27 = ptx.undef -> !ptx.reg<b32, 2>
  ptx.stmatrix %2, %27 {shape = "m8n8", type = "b16"} : !ptx.reg<b32>, !ptx.reg<b32, 2>
  // expected-error@+1 {{'ptx.prefetch' op has no level 'L3'; there are L1, L2, L2::evict_last, L2::evict_normal}}
      ptx.prefetch %3 {space = "global", level = "L3"} : !ptx.reg<b64>
  // expected-error@+1 {{'ptx.prefetch' op has no space 'shared'; there are global, local, generic}}
      ptx.prefetch %3 {space = "shared", level = "L2"} : !ptx.reg<b64>
  ptx.prefetch %3 {space = "global", level = "L2"} : !ptx.reg<b64>
  // expected-error@+1 {{'ptx.createpolicy' op has no primary policy 'evict_soon'; there are evict_last, evict_normal, evict_first, evict_unchanged}}
      %28 = ptx.createpolicy {primary = "evict_soon", fraction = 1.000000e+00 : f32} -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.createpolicy' op treats a fraction in (0, 1], not 0.0}}
      %29 = ptx.createpolicy {primary = "evict_first", fraction = 0.000000e+00 : f32} -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.createpolicy' op has no secondary policy 'evict_last'; there are evict_first, evict_unchanged}}
      %30 = ptx.createpolicy {primary = "evict_first", secondary = "evict_last", fraction = 1.000000e+00 : f32} -> !ptx.reg<b64>
  %31 = ptx.createpolicy {primary = "evict_last", fraction = 2.500000e-01 : f32} -> !ptx.reg<b64>
  ptx.ret
}
