// What asynchronous copies refuse: cp.async, bulk copies, boxes of tensors.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<pred>
  %5 = ptx.const {value = 1 : i64} -> !ptx.reg<b16>
  %6 = ptx.const {value = 64 : i64} -> !ptx.reg<b32>
  %7 = ptx.const {value = 24 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_async' op copies 4, 8, 16 bytes with ca, not 12}}
      ptx.cp_async %2, %3 {size = 12 : i64, cache = "ca"} : !ptx.reg<b32>, !ptx.reg<b64>
  // expected-error@+1 {{'ptx.cp_async' op copies 16 bytes with cg, not 8}}
      ptx.cp_async %2, %3 {size = 8 : i64, cache = "cg"} : !ptx.reg<b32>, !ptx.reg<b64>
  // expected-error@+1 {{'ptx.cp_async' op needs 'offset' to be a multiple of 16}}
      ptx.cp_async %2, %3 {size = 16 : i64, cache = "cg", offset = 8 : i64} : !ptx.reg<b32>, !ptx.reg<b64>
  // expected-error@+1 {{'ptx.cp_async' op expects the source in b64, but got b32}}
      ptx.cp_async %2, %2 {size = 16 : i64, cache = "cg"} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_async' op has no cache operator 'cs'; there are ca, cg}}
      ptx.cp_async %2, %3 {size = 16 : i64, cache = "cs"} : !ptx.reg<b32>, !ptx.reg<b64>
  // expected-error@+1 {{'ptx.cp_async' op expects the guard in pred, but got b32}}
      ptx.cp_async %2, %3 guard(%2) {size = 16 : i64, cache = "cg"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>
  ptx.cp_async %2, %3 {size = 8 : i64, cache = "ca"} : !ptx.reg<b32>, !ptx.reg<b64>
  // expected-error@+1 {{'ptx.cp_async.wait_group' op leaves 0 or more groups in flight}}
      ptx.cp_async.wait_group {pending = -1 : i64}
  ptx.cp_async.wait_group {pending = 0 : i64}
  // expected-error@+1 {{'ptx.cp_async_bulk' op copies no bytes from local to shared::cluster}}
      ptx.cp_async_bulk %2, %3, %6 barrier(%2) {to = "shared::cluster", source_space = "local"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_async_bulk' op to shared::cluster completes on a barrier: it needs one}}
      ptx.cp_async_bulk %2, %3, %6 {to = "shared::cluster", source_space = "global"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_async_bulk' op to global belongs to a bulk group: it takes no barrier}}
      ptx.cp_async_bulk %3, %2, %6 barrier(%2) {to = "global", source_space = "shared::cta"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_async_bulk' op moves multiples of 16 bytes, not 24}}
      ptx.cp_async_bulk %3, %2, %7 {to = "global", source_space = "shared::cta"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_async_bulk' op needs an offset that is a multiple of 16, not 8}}
      ptx.cp_async_bulk %3, %2, %6 {to = "global", source_space = "shared::cta", offset = 8 : i64} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_async_bulk' op multicasts from global to shared::cluster only}}
      ptx.cp_async_bulk %3, %2, %6 multicast(%5) {to = "global", source_space = "shared::cta"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b16>
  ptx.cp_async_bulk %3, %2, %6 {to = "global", source_space = "shared::cta"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_reduce_async_bulk' op has no operation 'mul' in global; there are add, min, max, inc, dec, and, or, xor}}
      ptx.cp_reduce_async_bulk %3, %2, %6 {to = "global", operation = "mul", type = "f32"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_reduce_async_bulk' op has no type 'f32' for min in global; there are u32, s32, u64, s64, f16, bf16}}
      ptx.cp_reduce_async_bulk %3, %2, %6 {to = "global", operation = "min", type = "f32"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_reduce_async_bulk' op has no type 'f32' for add in shared::cluster; there are u32, s32, u64}}
      ptx.cp_reduce_async_bulk %2, %2, %6 barrier(%2) {to = "shared::cluster", operation = "add", type = "f32"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.cp_reduce_async_bulk %3, %2, %6 {to = "global", operation = "add", type = "f32"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.cp_async_bulk.wait_group' op leaves 0 or more groups in flight}}
      ptx.cp_async_bulk.wait_group {pending = -1 : i64}
  %8 = ptx.undef -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op takes 1 to 5 coordinates, not 6}}
      ptx.tensor_load %2, %3, %2 coordinates(%8, %8, %8, %8, %8, %8) {mode = "tile", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op takes a column and 4 rows in mode tile::gather4, not 2 coordinates}}
      ptx.tensor_load %2, %3, %2 coordinates(%8, %8) {mode = "tile::gather4", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op has no mode 'tiled'; there are tile, tile::gather4, im2col}}
      ptx.tensor_load %2, %3, %2 coordinates(%8, %8) {mode = "tiled", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op takes 3 to 5 coordinates in mode im2col, not 2}}
      ptx.tensor_load %2, %3, %2 coordinates(%8, %8) {mode = "im2col", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op takes 1 offsets in this mode, not 0}}
      ptx.tensor_load %2, %3, %2 coordinates(%8, %8, %8) {mode = "im2col", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op expects the address of the map in b64, but got b32}}
      ptx.tensor_load %2, %2, %2 coordinates(%8) {mode = "tile", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op expects a coordinate in b32, but got b64}}
      ptx.tensor_load %2, %3, %2 coordinates(%3) {mode = "tile", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b64>
  // expected-error@+1 {{'ptx.tensor_load' op expects the mask in b16, but got b32}}
      ptx.tensor_load %2, %3, %2 coordinates(%8) multicast(%8) {mode = "tile", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op multicasts to shared::cluster only}}
      ptx.tensor_load %2, %3, %2 coordinates(%8) multicast(%5) {mode = "tile", to = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b16>
  // expected-error@+1 {{'ptx.tensor_load' op has cta_group 1 or 2, not 3}}
      ptx.tensor_load %2, %3, %2 coordinates(%8) {mode = "tile", to = "shared::cluster", cta_group = 3 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op needs an offset that is a multiple of 128, not 64}}
      ptx.tensor_load %2, %3, %2 coordinates(%8) {mode = "tile", to = "shared::cluster", offset = 64 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op needs a barrier_offset that is a multiple of 8}}
      ptx.tensor_load %2, %3, %2 coordinates(%8) {mode = "tile", to = "shared::cluster", barrier_offset = 4 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_load' op has no destination 'global'; there are shared::cluster, shared::cta}}
      ptx.tensor_load %2, %3, %2 coordinates(%8) {mode = "tile", to = "global"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_load %2, %3, %2 coordinates(%8) {mode = "tile", to = "shared::cluster", offset = 128 : i64, barrier_offset = 8 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_store' op has no mode 'im2col'; there are tile, tile::scatter4, im2col_no_offs}}
      ptx.tensor_store %3, %2 coordinates(%8) {mode = "im2col"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_store' op needs an offset that is a multiple of 128, not 16}}
      ptx.tensor_store %3, %2 coordinates(%8) {mode = "tile", offset = 16 : i64} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_reduce' op has no operation 'mul'; there are add, min, max, inc, dec, and, or, xor}}
      ptx.tensor_reduce %3, %2 coordinates(%8) {mode = "tile", operation = "mul"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_reduce %3, %2 coordinates(%8) {mode = "tile", operation = "add"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.tensor_prefetch' op has no mode 'im2col'; there are tile, tile::gather4}}
      ptx.tensor_prefetch %3 coordinates(%8) {mode = "im2col"} : !ptx.reg<b64>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.prefetch_tensormap' op expects the address of the map in b64, but got b32}}
      ptx.prefetch_tensormap %2 : !ptx.reg<b32>
  ptx.ret
}
