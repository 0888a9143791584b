// Schedulers of tiles by `clusterlaunchcontrol` that cannot be lowered.

// RUN: tileas-opt %s -p convert-pipeline-to-nvgpu --split-input-file --verify-diagnostics

func.func @kind(%p: !cutlass.scheduler_params<static_persistent, m>, %room: !cute.ptr<i32, smem, align<16>>) {
  // expected-error@+1 {{'cutlass.tile_scheduler.create_SM100_scheduler' op takes the tiles of dp parameters, not of static_persistent}}
  %s = cutlass.tile_scheduler.create_SM100_scheduler %p, %room : !cutlass.scheduler_params<static_persistent, m>, !cute.ptr<i32, smem, align<16>> -> !cutlass.scheduler_params<sm100, m>
  func.return
}

// -----

func.func @raster(%p: !cutlass.scheduler_params<dp, m>, %room: !cute.ptr<i32, smem, align<16>>) {
  // expected-error@+1 {{makes !cutlass.scheduler_params<sm100, m> of !cutlass.scheduler_params<dp, m>, not !cutlass.scheduler_params<sm100, n>}}
  %s = cutlass.tile_scheduler.create_SM100_scheduler %p, %room : !cutlass.scheduler_params<dp, m>, !cute.ptr<i32, smem, align<16>> -> !cutlass.scheduler_params<sm100, n>
  func.return
}

// -----

func.func @asks_of_dp(%m: i32, %bar: !cute.ptr<i64, smem>) {
  %p = cutlass.tile_scheduler.create_dp_params %m, %m, %m : !cutlass.scheduler_params<dp, m>
  // expected-error@+1 {{asks for tiles of sm100, not of dp}}
  cutlass.tile_scheduler.query_next_work %p, %m, %bar : !cutlass.scheduler_params<dp, m>
  func.return
}

// -----

func.func @answer_of_dp(%m: i32) {
  %p = cutlass.tile_scheduler.create_dp_params %m, %m, %m : !cutlass.scheduler_params<dp, m>
  // expected-error@+1 {{asks for tiles of sm100, not of dp}}
  %at = cutlass.tile_scheduler.get_workid_response_ptr %p, %m : !cutlass.scheduler_params<dp, m>
  func.return
}

// -----

func.func @without_stage(%m: i32, %room: !cute.ptr<i32, smem, align<16>>) {
  %d = cutlass.tile_scheduler.create_dp_params %m, %m, %m : !cutlass.scheduler_params<dp, m>
  %p = cutlass.tile_scheduler.create_SM100_scheduler %d, %room : !cutlass.scheduler_params<dp, m>, !cute.ptr<i32, smem, align<16>> -> !cutlass.scheduler_params<sm100, m>
  %w = cutlass.tile_scheduler.initial_work_tile_info %p : !cutlass.scheduler_params<sm100, m>
  // expected-error@+1 {{of sm100 has a stage}}
  %a = cutlass.tile_scheduler.fetch_next_work %p, %w : !cutlass.scheduler_params<sm100, m>
  %v = cutlass.tile_scheduler.initial_work_tile_info %d : !cutlass.scheduler_params<dp, m>
  // expected-error@+1 {{of dp has no stage}}
  %b = cutlass.tile_scheduler.fetch_next_work %d, %v at %m : !cutlass.scheduler_params<dp, m>
  // expected-error@+1 {{is of a scheduler that asks nobody; sm100 asks by query_next_work}}
  %c = cutlass.tile_scheduler.static_fetch_next_work %p, %w : !cutlass.scheduler_params<sm100, m>
  func.return
}

// -----

func.func @in_a_cluster(%m: i32, %room: !cute.ptr<i32, smem, align<16>>, %bar: !cute.ptr<i64, smem>) attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  %d = cutlass.tile_scheduler.create_dp_params %m, %m, %m : !cutlass.scheduler_params<dp, m>
  %p = cutlass.tile_scheduler.create_SM100_scheduler %d, %room : !cutlass.scheduler_params<dp, m>, !cute.ptr<i32, smem, align<16>> -> !cutlass.scheduler_params<sm100, m>
  // expected-error@+1 {{tells the tiles of blocks without a cluster; this one has 2}}
  cutlass.tile_scheduler.query_next_work %p, %m, %bar : !cutlass.scheduler_params<sm100, m>
  func.return
}
