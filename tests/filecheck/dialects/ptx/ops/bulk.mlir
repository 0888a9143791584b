// Bulk copies and reductions of rows of bytes.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<pred>
  %5 = ptx.const {value = 3 : i64} -> !ptx.reg<b16>
  %6 = ptx.const {value = 1024 : i64} -> !ptx.reg<b32>
  %7 = ptx.createpolicy {primary = "evict_first", fraction = 1.000000e+00 : f32} -> !ptx.reg<b64>
  ptx.cp_async_bulk %2, %3, %6 barrier(%2) {to = "shared::cluster", source_space = "global", offset = 128 : i64, barrier_offset = 8 : i64} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.cp_async_bulk %2, %3, %6 barrier(%2) multicast(%5) policy(%7) guard(%4) {to = "shared::cluster", source_space = "global"} : !ptx.reg<b32>, !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b16>, !ptx.reg<b64>, !ptx.reg<pred>
  ptx.cp_async_bulk %3, %2, %6 {to = "global", source_space = "shared::cta", offset = 256 : i64} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.cp_async_bulk %2, %2, %6 barrier(%2) {to = "shared::cluster", source_space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.cp_reduce_async_bulk %3, %2, %6 {to = "global", operation = "add", type = "f32"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.cp_reduce_async_bulk %3, %2, %6 policy(%7) {to = "global", operation = "add", type = "bf16"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b64>
  ptx.cp_reduce_async_bulk %2, %2, %6 barrier(%2) {to = "shared::cluster", operation = "and", type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>
  ptx.cp_async_bulk.prefetch %3, %6 : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.cp_async_bulk.commit_group
  ptx.cp_async_bulk.commit_group guard(%4) : !ptx.reg<pred>
  ptx.cp_async_bulk.wait_group guard(%4) {pending = 1 : i64, read} : !ptx.reg<pred>
  ptx.cp_async_bulk.wait_group {pending = 0 : i64}
  ptx.ret
}

// PTX: .version 8.0
// PTX:      createpolicy.fractional.L2::evict_first.b64 %rd0, 0f3F800000;
// PTX-NEXT: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0+128], [%rd1], 1024, [%r0+8];
// PTX-NEXT: mov.b16 %h0, 3;
// PTX-NEXT: @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r0], [%rd1], 1024, [%r0], %h0, %rd0;
// PTX-NEXT: cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r0+256], 1024;
// PTX-NEXT: cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r0], [%r0], 1024, [%r0];
// PTX-NEXT: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r0], 1024;
// PTX-NEXT: cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.bf16 [%rd1], [%r0], 1024, %rd0;
// PTX-NEXT: cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and.b32 [%r0], [%r0], 1024, [%r0];
// PTX-NEXT: cp.async.bulk.prefetch.L2.global [%rd1], 1024;
// PTX-NEXT: cp.async.bulk.commit_group;
// PTX-NEXT: @%p0 cp.async.bulk.commit_group;
// PTX-NEXT: @%p0 cp.async.bulk.wait_group.read 1;
// PTX-NEXT: cp.async.bulk.wait_group 0;
// PTX-NEXT: ret;
