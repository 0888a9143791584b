// The scheduler of clusterlaunchcontrol: a block's own tile, then those of blocks that have not started.

// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: tileas-opt %s -p convert-pipeline-to-nvgpu | filecheck %s --check-prefix=THREADS

!dp = !cutlass.scheduler_params<dp, m>
!params = !cutlass.scheduler_params<sm100, m>
!answers = !cute.ptr<i32, smem, align<16>>

// CHECK-LABEL: func.func @asks
// THREADS-LABEL: func.func @asks
func.func @asks(%m: i32, %n: i32, %l: i32, %room: !answers, %stage: i32, %bar: !cute.ptr<i64, smem>, %first: i1) -> i1 {
  %tiles = cutlass.tile_scheduler.create_dp_params %m, %n, %l : !dp
  // CHECK: %p = cutlass.tile_scheduler.create_SM100_scheduler %tiles, %room : !dp, !answers -> !params
  %p = cutlass.tile_scheduler.create_SM100_scheduler %tiles, %room : !dp, !answers -> !params
  // CHECK-NEXT: cutlass.tile_scheduler.get_workid_response_ptr %p, %stage : !params
  // THREADS: [[WORDS:%.*]] = arith.muli %stage
  // THREADS-NEXT: cute.add_offset %room, [[WORDS]] : !answers, i32 -> !answers
  %at = cutlass.tile_scheduler.get_workid_response_ptr %p, %stage : !params
  // CHECK-NEXT: cutlass.tile_scheduler.query_next_work %p, %stage, %bar if %first : !params
  // THREADS: cute_nvgpu.arch.issue_clc_query {{.*}}, %bar if %first : !answers, !cute.ptr<i64, smem>
  cutlass.tile_scheduler.query_next_work %p, %stage, %bar if %first : !params
  %own = cutlass.tile_scheduler.initial_work_tile_info %p : !params
  // CHECK: cutlass.tile_scheduler.fetch_next_work %p, %own at %stage : !params
  // THREADS: cute_nvgpu.arch.clc_response
  // The next request may write over the answer: its write is one of the asynchronous proxy.
  // THREADS-NEXT: cute_nvgpu.arch.fence_proxy_async
  %next = cutlass.tile_scheduler.fetch_next_work %p, %own at %stage : !params
  %valid = cutlass.tile_scheduler.work_tile_info_get_value %p, %next["is_valid"] : !params -> i1
  func.return %valid : i1
}
