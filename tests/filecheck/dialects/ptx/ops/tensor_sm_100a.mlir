// Boxes of tensors that only Blackwell has.

// RUN: tileas-opt %s -t 'ptx{arch=sm_100a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<b32>
  ptx.tensor_load %2, %3, %2 coordinates(%4, %4, %4, %4, %4) {mode = "tile::gather4", to = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_load %2, %3, %2 coordinates(%4, %4) {mode = "tile", to = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_load %2, %3, %2 coordinates(%4, %4) {mode = "tile", to = "shared::cluster", cta_group = 2 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  %5 = ptx.const {value = 3 : i64} -> !ptx.reg<b16>
  ptx.tensor_load %2, %3, %2 coordinates(%4, %4) multicast(%5) {mode = "tile", to = "shared::cluster", cta_group = 2 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b16>
  ptx.tensor_store %3, %2 coordinates(%4, %4, %4, %4, %4) {mode = "tile::scatter4"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensor_prefetch %3 coordinates(%4, %4, %4, %4, %4) {mode = "tile::gather4"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  %6 = ptx.const {value = 16 : i64} -> !ptx.reg<b32>
  ptx.cp_async_bulk %2, %3, %6 barrier(%2) {to = "shared::cta", source_space = "global"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.ret
}

// PTX: .version 8.6
// PTX:      cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1, %r1, %r1, %r1, %r1}], [%r0];
// PTX-NEXT: cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1, %r1}], [%r0];
// PTX-NEXT: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%r0], [%rd0, {%r1, %r1}], [%r0];
// PTX-NEXT: mov.b16 %h0, 3;
// PTX-NEXT: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2 [%r0], [%rd0, {%r1, %r1}], [%r0], %h0;
// PTX-NEXT: cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd0, {%r1, %r1, %r1, %r1, %r1}], [%r0];
// PTX-NEXT: cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%rd0, {%r1, %r1, %r1, %r1, %r1}];
// PTX-NEXT: cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0], [%rd0], 16, [%r0];
// PTX-NEXT: ret;
