// Barriers of blocks, clusters and warps, and fences.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<pred>
  %3 = ptx.undef -> !ptx.reg<b32>
  %4 = ptx.undef -> !ptx.reg<b64>
  %5 = ptx.const {value = 128 : i64} -> !ptx.reg<b32>
  %6 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  ptx.bar.sync %6 : !ptx.reg<b32>
  %7 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
  ptx.bar.sync %7 threads(%5) : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.bar.sync %3 threads(%5) : !ptx.reg<b32>, !ptx.reg<b32>
  %8 = ptx.const {value = 2 : i64} -> !ptx.reg<b32>
  ptx.bar.arrive %8, %5 : !ptx.reg<b32>, !ptx.reg<b32>
  %9 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  %10 = ptx.bar.red %9, %2 {operation = "and"} : !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<pred>
  %11 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  %12 = ptx.bar.red %11, %2 threads(%5) {operation = "popc"} : !ptx.reg<b32>, !ptx.reg<pred>, !ptx.reg<b32> -> !ptx.reg<b32>
  %13 = ptx.const {value = -1 : i64} -> !ptx.reg<b32>
  ptx.bar.warp.sync %13 : !ptx.reg<b32>
  ptx.cluster.arrive {semantics = "relaxed", aligned}
  ptx.cluster.arrive
  ptx.cluster.arrive {semantics = "release", aligned}
  ptx.cluster.wait {aligned}
  ptx.cluster.wait {semantics = "acquire"}
  ptx.fence {semantics = "acq_rel", scope = "cta"}
  ptx.fence {semantics = "sc", scope = "gpu"}
  ptx.fence.proxy {proxy = "async", space = "shared::cta"}
  ptx.fence.proxy {proxy = "async"}
  ptx.fence.proxy {proxy = "async", space = "global"}
  ptx.fence.proxy {proxy = "alias"}
  ptx.fence.mbarrier_init guard(%2) : !ptx.reg<pred>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      bar.sync 0;
// PTX-NEXT: bar.sync 1, 128;
// PTX-NEXT: bar.sync %r0, 128;
// PTX-NEXT: bar.arrive 2, 128;
// PTX-NEXT: bar.red.and.pred %p1, 0, %p0;
// PTX-NEXT: bar.red.popc.u32 %r1, 0, 128, %p0;
// PTX-NEXT: bar.warp.sync -1;
// PTX-NEXT: barrier.cluster.arrive.relaxed.aligned;
// PTX-NEXT: barrier.cluster.arrive;
// PTX-NEXT: barrier.cluster.arrive.release.aligned;
// PTX-NEXT: barrier.cluster.wait.aligned;
// PTX-NEXT: barrier.cluster.wait.acquire;
// PTX-NEXT: fence.acq_rel.cta;
// PTX-NEXT: fence.sc.gpu;
// PTX-NEXT: fence.proxy.async.shared::cta;
// PTX-NEXT: fence.proxy.async;
// PTX-NEXT: fence.proxy.async.global;
// PTX-NEXT: fence.proxy.alias;
// PTX-NEXT: @%p0 fence.mbarrier_init.release.cluster;
// PTX-NEXT: ret;
