// Clusters that have not started are asked for; the indices of the first block are zeros where the request is refused.

// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s -t 'ptx{arch=sm_100a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 64 : i64, align = 16 : i64}
ptx.entry @k(%0: !ptx.param<u64>) attributes {maxntid = array<i32: 32, 1, 1>} {
  %a = ptx.address {variable = @smem} -> !ptx.reg<b32>
  %p = ptx.undef -> !ptx.reg<pred>
  // CHECK: ptx.clusterlaunchcontrol.try_cancel %a, %a {offset = 16 : i64, barrier_offset = 8 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  // PTX: clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [[[A:%r[0-9]+]]+16], [[[A]]+8];
  ptx.clusterlaunchcontrol.try_cancel %a, %a {offset = 16 : i64, barrier_offset = 8 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  // PTX-NEXT: @%p{{[0-9]+}} clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128
  ptx.clusterlaunchcontrol.try_cancel %a, %a guard(%p) {multicast} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred>
  %halves = ptx.ld %a {type = "b64", space = "shared::cta", offset = 16 : i64} : !ptx.reg<b32> -> !ptx.reg<b64, 2>
  // CHECK: ptx.clusterlaunchcontrol.query_cancel %halves : !ptx.reg<b64, 2> -> !ptx.reg<pred>, !ptx.reg<b32, 3>
  // PTX: mov.b128 [[Q:%rq[0-9]+]], {%rd{{[0-9]+}}, %rd{{[0-9]+}}};
  // PTX-NEXT: clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 [[P:%p[0-9]+]], [[Q]];
  // PTX-NEXT: mov.b32 [[X:%r[0-9]+]], 0;
  // PTX-NEXT: mov.b32 [[Y:%r[0-9]+]], 0;
  // PTX-NEXT: mov.b32 [[Z:%r[0-9]+]], 0;
  // PTX-NEXT: @[[P]] clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {[[X]], [[Y]], [[Z]], _}, [[Q]];
  %granted, %block = ptx.clusterlaunchcontrol.query_cancel %halves : !ptx.reg<b64, 2> -> !ptx.reg<pred>, !ptx.reg<b32, 3>
  ptx.st %a, %block {type = "b32", space = "shared::cta", width = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b32, 3>
  ptx.ret
}
