// Boxes of tensors by TMA: loads, stores, reductions, prefetches.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<pred>
  %5 = ptx.undef -> !ptx.reg<b16>
  %6 = ptx.undef -> !ptx.reg<b32>
  %7 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  %8 = ptx.createpolicy {primary = "evict_first", fraction = 1.000000e+00 : f32} -> !ptx.reg<b64>
  %9 = ptx.const {value = 1 : i64} -> !ptx.reg<b16>
  ptx.tensor_load %2, %3, %2 coordinates(%6) {mode = "tile", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_load %2, %3, %2 coordinates(%6, %6) {mode = "tile", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_load %2, %3, %2 coordinates(%6, %6, %6) {mode = "tile", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_load %2, %3, %2 coordinates(%6, %6, %6, %6) {mode = "tile", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_load %2, %3, %2 coordinates(%6, %6, %6, %6, %6) {mode = "tile", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_load %2, %3, %2 coordinates(%6, %7) multicast(%5) policy(%8) guard(%4) {mode = "tile", to = "shared::cluster", offset = 1024 : i64, barrier_offset = 8 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b16>, !ptx.reg<b64>, !ptx.reg<pred>
  ptx.tensor_load %2, %3, %2 coordinates(%6, %7, %7) offsets(%9) {mode = "im2col", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b16>
  ptx.tensor_store %3, %2 coordinates(%6, %7) guard(%4) {mode = "tile"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred>
  ptx.tensor_store %3, %2 coordinates(%6, %7, %7, %7) policy(%8) {mode = "im2col_no_offs", offset = 128 : i64} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b64>
  ptx.tensor_reduce %3, %2 coordinates(%6, %7) {mode = "tile", operation = "add"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_reduce %3, %2 coordinates(%6) guard(%4) {mode = "tile", operation = "xor"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred>
  ptx.tensor_prefetch %3 coordinates(%6, %7) policy(%8) {mode = "tile"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b64>
  ptx.prefetch_tensormap %3 : !ptx.reg<b64>
  ptx.prefetch_tensormap %3 guard(%4) : !ptx.reg<b64>, !ptx.reg<pred>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      createpolicy.fractional.L2::evict_first.b64 %rd0, 0f3F800000;
// PTX-NEXT: cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd1, {%r1}], [%r0];
// PTX-NEXT: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd1, {%r1, %r1}], [%r0];
// PTX-NEXT: cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd1, {%r1, %r1, %r1}], [%r0];
// PTX-NEXT: cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd1, {%r1, %r1, %r1, %r1}], [%r0];
// PTX-NEXT: cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd1, {%r1, %r1, %r1, %r1, %r1}], [%r0];
// PTX-NEXT: @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r0+1024], [%rd1, {%r1, 0}], [%r0+8], %h0, %rd0;
// PTX-NEXT: mov.b16 %h1, 1;
// PTX-NEXT: cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%rd1, {%r1, 0, 0}], [%r0], {%h1};
// PTX-NEXT: @%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r1, 0}], [%r0];
// PTX-NEXT: cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group.L2::cache_hint [%rd1, {%r1, 0, 0, 0}], [%r0+128], %rd0;
// PTX-NEXT: cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd1, {%r1, 0}], [%r0];
// PTX-NEXT: @%p0 cp.reduce.async.bulk.tensor.1d.global.shared::cta.xor.tile.bulk_group [%rd1, {%r1}], [%r0];
// PTX-NEXT: cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::cache_hint [%rd1, {%r1, 0}], %rd0;
// PTX-NEXT: prefetch.tensormap [%rd1];
// PTX-NEXT: @%p0 prefetch.tensormap [%rd1];
// PTX-NEXT: ret;
