// Schedulers by extents of a problem, and tiles whose K several blocks share.

// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

!once = !cutlass.scheduler_params<dp, n>
!params = !cutlass.scheduler_params<streamk, m>
!part = !cutlass.work_tile_info<streamk>
!sums = !cute.ptr<f32, gmem, align<16>>
!held = !cute.memref<f32, rmem, "8:1">

// CHECK-LABEL: func.func @problem
func.func @problem(%m: i32, %n: i32, %k: i32, %l: i32, %units: i32, %yes: i1) {
  // CHECK-NEXT: %p = cutlass.tile_scheduler.make_dp_params %m, %n, %l tile [128, 64] : !once
  %p = cutlass.tile_scheduler.make_dp_params %m, %n, %l tile [128, 64] : !once
  // CHECK-NEXT: cutlass.tile_scheduler.make_static_persistent_params %m, %n, %l tile [1, 1] : !cutlass.scheduler_params<static_persistent, m>
  %q = cutlass.tile_scheduler.make_static_persistent_params %m, %n, %l tile [1, 1] : !cutlass.scheduler_params<static_persistent, m>
  // CHECK-NEXT: %s = cutlass.tile_scheduler.make_streamk_params %m, %n, %k, %l tile [128, 64, 32] units %units least 8 : !params
  %s = cutlass.tile_scheduler.make_streamk_params %m, %n, %k, %l tile [128, 64, 32] units %units least 8 : !params
  // CHECK-NEXT: cutlass.tile_scheduler.create_streamk_params %m, %n, %k, %l units %units least 1 : !params
  %t = cutlass.tile_scheduler.create_streamk_params %m, %n, %k, %l units %units least 1 : !params
  // CHECK-NEXT: cutlass.tile_scheduler.params_get_value %s["sk_units"] : !params
  %field = cutlass.tile_scheduler.params_get_value %s["sk_units"] : !params
  // CHECK-NEXT: cutlass.tile_scheduler.get_workspace_sizes %s tile_bytes 32768 : !params
  %bytes = cutlass.tile_scheduler.get_workspace_sizes %s tile_bytes 32768 : !params
  // CHECK-NEXT: %w = cutlass.tile_scheduler.create_dp_work_tile_info %p, %m, %n, %l if %yes : !once
  %w = cutlass.tile_scheduler.create_dp_work_tile_info %p, %m, %n, %l if %yes : !once
  // CHECK-NEXT: cutlass.tile_scheduler.work_tile_info_set_value %p, %w["m_idx"] = %n : !once, i32
  %x = cutlass.tile_scheduler.work_tile_info_set_value %p, %w["m_idx"] = %n : !once, i32
  // CHECK-NEXT: cutlass.tile_scheduler.work_tile_info_to_cta_coord %p, %x : !once
  %tm, %tn, %tl = cutlass.tile_scheduler.work_tile_info_to_cta_coord %p, %x : !once
  // CHECK-NEXT: cutlass.tile_scheduler.create_streamk_work_tile_info %s, %m, %n, %k, %l count %units unit %m if %yes : !params
  %y = cutlass.tile_scheduler.create_streamk_work_tile_info %s, %m, %n, %k, %l count %units unit %m if %yes : !params
  func.return
}

// CHECK-LABEL: func.func @parts
func.func @parts(%p: !params, %number: i32, %thread: i32, %all: i32, %held: !held, %sums: !sums) {
  // CHECK-NEXT: cutlass.tile_scheduler.initialize_workspace %p, %sums thread %thread of %all tile_bytes 4096 : !params, !sums
  cutlass.tile_scheduler.initialize_workspace %p, %sums thread %thread of %all tile_bytes 4096 : !params, !sums
  // CHECK-NEXT: %w = cutlass.tile_scheduler.get_current_work %p, %number : !params
  %w = cutlass.tile_scheduler.get_current_work %p, %number : !params
  // CHECK-NEXT: cutlass.tile_scheduler.get_work_k_tile_start %p, %w : !params
  %start = cutlass.tile_scheduler.get_work_k_tile_start %p, %w : !params
  // CHECK-NEXT: cutlass.tile_scheduler.get_work_k_tile_count %p, %w : !params
  %count = cutlass.tile_scheduler.get_work_k_tile_count %p, %w : !params
  // CHECK-NEXT: cutlass.tile_scheduler.work_tile_info_get_value %p, %w["k_tile_remaining"] : !params -> i32
  %left = cutlass.tile_scheduler.work_tile_info_get_value %p, %w["k_tile_remaining"] : !params -> i32
  // CHECK-NEXT: cutlass.tile_scheduler.fixup %p, %w, %held, %sums thread %thread at 1 threads 128 width 4 : !params, !held, !sums
  cutlass.tile_scheduler.fixup %p, %w, %held, %sums thread %thread at 1 threads 128 width 4 : !params, !held, !sums
  // CHECK-NEXT: cutlass.tile_scheduler.fixup_wait %p, %w, %sums thread %thread at 1 threads 128 tile_bytes 4096 : !params, !sums
  cutlass.tile_scheduler.fixup_wait %p, %w, %sums thread %thread at 1 threads 128 tile_bytes 4096 : !params, !sums
  // CHECK-NEXT: cutlass.tile_scheduler.fixup_increment %p, %w, %sums thread %thread at 1 threads 128 tile_bytes 4096 : !params, !sums
  cutlass.tile_scheduler.fixup_increment %p, %w, %sums thread %thread at 1 threads 128 tile_bytes 4096 : !params, !sums
  // CHECK-NEXT: cutlass.tile_scheduler.compute_epilogue %p, %w : !params
  %ends = cutlass.tile_scheduler.compute_epilogue %p, %w : !params
  // CHECK-NEXT: %v = cutlass.tile_scheduler.fetch_next_work %p, %w : !params
  %v = cutlass.tile_scheduler.fetch_next_work %p, %w : !params
  // CHECK-NEXT: "test.op"(%v) : (!part) -> ()
  "test.op"(%v) : (!part) -> ()
  func.return
}
