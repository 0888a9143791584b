// Between the threads of a warp and the blocks of a cluster.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<f32, 2>
  %4 = ptx.undef -> !ptx.reg<pred>
  %5 = ptx.undef -> !ptx.reg<b64>
  %6 = ptx.const {value = -1 : i64} -> !ptx.reg<b32>
  %7 = ptx.const {value = 31 : i64} -> !ptx.reg<b32>
  %8 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  %9 = ptx.mapa %2, %8 {space = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %10 = ptx.mapa %5, %2 : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b64>
  %11 = ptx.getctarank %2 {space = "shared::cluster"} : !ptx.reg<b32> -> !ptx.reg<b32>
  %12, %13 = ptx.elect_sync %6 : !ptx.reg<b32> -> !ptx.reg<b32>, !ptx.reg<pred>
  %14 = ptx.shfl %2, %8, %7, %6 {mode = "idx"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %15 = ptx.const {value = 16 : i64} -> !ptx.reg<b32>
  %16 = ptx.shfl %3, %15, %7, %6 {mode = "bfly"} : !ptx.reg<f32, 2>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<f32, 2>
  %17 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
  %18, %19 = ptx.shfl %2, %17, %8, %6 {mode = "up"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>, !ptx.reg<pred>
  %20 = ptx.vote %4, %6 {mode = "all"} : !ptx.reg<pred>, !ptx.reg<b32> -> !ptx.reg<pred>
  %21 = ptx.vote %4, %6 {mode = "any"} : !ptx.reg<pred>, !ptx.reg<b32> -> !ptx.reg<pred>
  %22 = ptx.vote %4, %6 {mode = "uni"} : !ptx.reg<pred>, !ptx.reg<b32> -> !ptx.reg<pred>
  %23 = ptx.vote %4, %6 {mode = "ballot"} : !ptx.reg<pred>, !ptx.reg<b32> -> !ptx.reg<b32>
  %24 = ptx.match %2, %6 {mode = "any"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %25, %26 = ptx.match %5, %6 {mode = "all"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b32>, !ptx.reg<pred>
  %27 = ptx.redux %2, %6 {operation = "add", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %28 = ptx.redux %2, %6 {operation = "or", type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %29 = ptx.activemask -> !ptx.reg<b32>
  %30 = ptx.const {value = 100 : i64} -> !ptx.reg<b32>
  ptx.nanosleep %30 : !ptx.reg<b32>
  ptx.griddepcontrol {action = "wait"}
  ptx.griddepcontrol {action = "launch_dependents"}
  ptx.trap
  ptx.ret
}

// PTX: .version 8.0
// PTX:      mapa.shared::cluster.u32 %r0, %r1, 0;
// PTX-NEXT: mapa.u64 %rd0, %rd1, %r1;
// PTX-NEXT: getctarank.shared::cluster.u32 %r2, %r1;
// PTX-NEXT: elect.sync %r3|%p0, -1;
// PTX-NEXT: shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;
// PTX-NEXT: shfl.sync.bfly.b32 %f0, %f2, 16, 31, -1;
// PTX-NEXT: shfl.sync.bfly.b32 %f1, %f3, 16, 31, -1;
// PTX-NEXT: shfl.sync.up.b32 %r5|%p1, %r1, 1, 0, -1;
// PTX-NEXT: vote.sync.all.pred %p3, %p2, -1;
// PTX-NEXT: vote.sync.any.pred %p4, %p2, -1;
// PTX-NEXT: vote.sync.uni.pred %p5, %p2, -1;
// PTX-NEXT: vote.sync.ballot.b32 %r6, %p2, -1;
// PTX-NEXT: match.any.sync.b32 %r7, %r1, -1;
// PTX-NEXT: match.all.sync.b64 %r8|%p6, %rd1, -1;
// PTX-NEXT: redux.sync.add.s32 %r9, %r1, -1;
// PTX-NEXT: redux.sync.or.b32 %r10, %r1, -1;
// PTX-NEXT: activemask.b32 %r11;
// PTX-NEXT: nanosleep.u32 100;
// PTX-NEXT: griddepcontrol.wait;
// PTX-NEXT: griddepcontrol.launch_dependents;
// PTX-NEXT: trap;
// PTX-NEXT: ret;
