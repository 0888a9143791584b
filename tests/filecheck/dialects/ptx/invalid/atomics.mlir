// What atomic updates and changes of tensor maps refuse.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b64>
  %3 = ptx.undef -> !ptx.reg<b32>
  %4 = ptx.undef -> !ptx.reg<b32>
  %5 = ptx.undef -> !ptx.reg<f32, 2>
  // expected-error@+1 {{'ptx.atom' op has no operation 'mul'; there are add, min, max, and, or, xor, inc, dec, exch, cas}}
      %6 = ptx.atom %2, %4 {operation = "mul", type = "u32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.atom' op has no type 'b32' for add; there are u32, s32, u64, f32, f64, f16, bf16, f16x2, bf16x2}}
      %7 = ptx.atom %2, %4 {operation = "add", type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.atom' op compares for cas, and only there}}
      %8 = ptx.atom %2, %4 {operation = "cas", type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.atom' op compares for cas, and only there}}
      %9 = ptx.atom %2, %4 compare(%4) {operation = "add", type = "u32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.atom' op has no space 'const'; there are generic, global, shared, shared::cta, shared::cluster}}
      %10 = ptx.atom %2, %4 {operation = "add", type = "u32", space = "const"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.atom' op needs a scope: cta, cluster, gpu, sys}}
      %11 = ptx.atom %2, %4 {operation = "add", type = "u32", space = "global", semantics = "relaxed"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.atom' op takes vectors of f16x2 for min}}
      %12 = ptx.atom %2, %4 {operation = "min", type = "f16x2", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.atom' op of type u32 expects the value in b32, but got f32}}
      %13 = ptx.atom %2, %5 {operation = "add", type = "u32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32, 2> -> !ptx.reg<b32, 2>
  %14 = ptx.atom %2, %4 compare(%4) {operation = "cas", type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.red' op has no operation 'exch'; there are add, min, max, and, or, xor, inc, dec}}
      ptx.red %2, %4 {operation = "exch", type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.red' op has no vector of 2 f32 in generic memory}}
      ptx.red %2, %5 {operation = "add", type = "f32", space = "generic"} : !ptx.reg<b64>, !ptx.reg<f32, 2>
  // expected-error@+1 {{'ptx.red' op has no semantics 'acquire'; there are relaxed, release}}
      ptx.red %2, %4 {operation = "add", type = "u32", space = "global", semantics = "acquire", scope = "gpu"} : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.red %2, %5 {operation = "add", type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32, 2>
  // expected-error@+1 {{'ptx.tensormap_replace' op has no field 'size'; there are global_address, rank, box_dim, global_dim, global_stride, element_stride, elemtype, interleave_layout, swizzle_mode, fill_mode}}
      ptx.tensormap_replace %3, %4 {field = "size", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensormap_replace' op field rank has no ordinal}}
      ptx.tensormap_replace %3, %4 {field = "rank", space = "shared::cta", ordinal = 0 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensormap_replace' op field global_dim has an ordinal}}
      ptx.tensormap_replace %3, %4 {field = "global_dim", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensormap_replace' op has ordinals 0 to 4, not 5}}
      ptx.tensormap_replace %3, %4 {field = "global_dim", space = "shared::cta", ordinal = 5 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensormap_replace' op field swizzle_mode takes a ptx.const}}
      ptx.tensormap_replace %3, %4 {field = "swizzle_mode", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensormap_replace' op expects the value in b64, but got b32}}
      ptx.tensormap_replace %3, %4 {field = "global_address", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensormap_replace' op has no space 'local'; there are shared::cta, global}}
      ptx.tensormap_replace %3, %4 {field = "rank", space = "local"} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensormap_replace %3, %4 {field = "global_dim", space = "shared::cta", ordinal = 4 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensormap_cp_fenceproxy' op expects the destination in b64, but got b32}}
      ptx.tensormap_cp_fenceproxy %3, %3 {scope = "gpu"} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensormap_cp_fenceproxy %2, %3 {scope = "gpu"} : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.ret
}
