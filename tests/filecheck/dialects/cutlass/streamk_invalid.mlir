// What schedulers refuse, of tiles that are split and of those that are not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

!once = !cutlass.scheduler_params<dp, n>
!params = !cutlass.scheduler_params<streamk, m>
func.func @params(%m: i32, %p: !once, %s: !params) {
  // expected-error@+1 {{'cutlass.tile_scheduler.make_dp_params' op has tiles of 2 extents, 1 or more each, not [128, 64, 32]}}
  %0 = cutlass.tile_scheduler.make_dp_params %m, %m, %m tile [128, 64, 32] : !once
  // expected-error@+1 {{'cutlass.tile_scheduler.make_dp_params' op has tiles of 2 extents, 1 or more each, not [128, 0]}}
  %1 = cutlass.tile_scheduler.make_dp_params %m, %m, %m tile [128, 0] : !once
  // expected-error@+1 {{'cutlass.tile_scheduler.make_dp_params' op makes parameters of dp, not of streamk}}
  %2 = cutlass.tile_scheduler.make_dp_params %m, %m, %m tile [128, 64] : !params
  // expected-error@+1 {{'cutlass.tile_scheduler.make_streamk_params' op has tiles of 3 extents, 1 or more each, not [128, 64]}}
  %3 = cutlass.tile_scheduler.make_streamk_params %m, %m, %m, %m tile [128, 64] units %m least 8 : !params
  // expected-error@+1 {{'cutlass.tile_scheduler.make_streamk_params' op makes parameters of streamk, not of dp}}
  %4 = cutlass.tile_scheduler.make_streamk_params %m, %m, %m, %m tile [1, 1, 1] units %m least 8 : !once
  // expected-error@+1 {{'cutlass.tile_scheduler.create_streamk_params' op gives units 1 tile along K or more, not 0}}
  %5 = cutlass.tile_scheduler.create_streamk_params %m, %m, %m, %m units %m least 0 : !params
  // expected-error@+1 {{'cutlass.tile_scheduler.params_get_value' op has the fields num_tiles_m, num_tiles_n, num_tiles_l, not sk_tiles}}
  %6 = cutlass.tile_scheduler.params_get_value %p["sk_tiles"] : !once
  // expected-error@+1 {{'cutlass.tile_scheduler.params_get_value' op has the fields num_tiles_m, num_tiles_n, num_tiles_l, num_tiles_k, sk_units, sk_tiles, not splits}}
  %7 = cutlass.tile_scheduler.params_get_value %s["splits"] : !params
  // expected-error@+1 {{'cutlass.tile_scheduler.get_workspace_sizes' op says the bytes of a tile where tiles are split, by streamk only}}
  %8 = cutlass.tile_scheduler.get_workspace_sizes %p tile_bytes 64 : !once
  // expected-error@+1 {{'cutlass.tile_scheduler.get_workspace_sizes' op says the bytes of a tile where tiles are split, by streamk only}}
  %9 = cutlass.tile_scheduler.get_workspace_sizes %s : !params
  // expected-error@+1 {{'cutlass.tile_scheduler.get_workspace_sizes' op has tiles of 1 byte or more, not 0}}
  %10 = cutlass.tile_scheduler.get_workspace_sizes %s tile_bytes 0 : !params
  func.return
}

// -----

!once = !cutlass.scheduler_params<dp, n>
!stay = !cutlass.scheduler_params<static_persistent, n>
!params = !cutlass.scheduler_params<streamk, m>
!work = !cutlass.work_tile_info
!part = !cutlass.work_tile_info<streamk>
func.func @tiles(%p: !once, %q: !stay, %s: !params, %w: !work, %v: !part, %m: i32, %yes: i1) {
  // expected-error@+1 {{'cutlass.tile_scheduler.compute_epilogue' op has !cutlass.work_tile_info<streamk> of !cutlass.scheduler_params<streamk, m>, not !cutlass.work_tile_info}}
  %0 = "cutlass.tile_scheduler.compute_epilogue"(%s, %w) : (!params, !work) -> i1
  // expected-error@+1 {{'cutlass.tile_scheduler.initial_work_tile_info' op has !cutlass.work_tile_info of !cutlass.scheduler_params<dp, n>, not !cutlass.work_tile_info<streamk>}}
  %1 = "cutlass.tile_scheduler.initial_work_tile_info"(%p) : (!once) -> !part
  // expected-error@+1 {{'cutlass.tile_scheduler.fetch_next_work' op has !cutlass.work_tile_info of !cutlass.scheduler_params<dp, n>, not !cutlass.work_tile_info<streamk>}}
  %2 = "cutlass.tile_scheduler.fetch_next_work"(%p, %w) : (!once, !work) -> !part
  // expected-error@+1 {{'cutlass.tile_scheduler.create_dp_work_tile_info' op makes tiles of dp, not of static_persistent}}
  %3 = cutlass.tile_scheduler.create_dp_work_tile_info %q, %m, %m, %m if %yes : !stay
  // expected-error@+1 {{'cutlass.tile_scheduler.create_streamk_work_tile_info' op makes tiles of streamk, not of dp}}
  %4 = cutlass.tile_scheduler.create_streamk_work_tile_info %p, %m, %m, %m, %m count %m unit %m if %yes : !once
  // expected-error@+1 {{'cutlass.tile_scheduler.work_tile_info_get_value' op has the fields m_idx, n_idx, l_idx, is_valid, not k_idx}}
  %5 = cutlass.tile_scheduler.work_tile_info_get_value %p, %w["k_idx"] : !once -> i32
  // expected-error@+1 {{'cutlass.tile_scheduler.work_tile_info_set_value' op has the fields is_valid, not m_idx}}
  %6 = cutlass.tile_scheduler.work_tile_info_set_value %s, %v["m_idx"] = %m : !params, i32
  // expected-error@+1 {{'cutlass.tile_scheduler.work_tile_info_set_value' op sets i1, not i32}}
  %7 = cutlass.tile_scheduler.work_tile_info_set_value %p, %w["is_valid"] = %m : !once, i32
  // expected-error@+1 {{'cutlass.tile_scheduler.get_work_k_tile_count' op is of streamk, which splits tiles: !cutlass.scheduler_params<dp, n> does not}}
  %8 = cutlass.tile_scheduler.get_work_k_tile_count %p, %w : !once
  func.return
}

// -----

!once = !cutlass.scheduler_params<dp, n>
!params = !cutlass.scheduler_params<streamk, m>
!work = !cutlass.work_tile_info
!part = !cutlass.work_tile_info<streamk>
!sums = !cute.ptr<f32, gmem>
!shared = !cute.ptr<f32, smem>
!held = !cute.memref<f32, rmem, "8:1">
func.func @fixups(%p: !once, %s: !params, %w: !work, %v: !part, %sums: !sums, %shared: !shared, %held: !held, %t: i32) {
  // expected-error@+1 {{'cutlass.tile_scheduler.initialize_workspace' op is of streamk, which splits tiles: !cutlass.scheduler_params<dp, n> does not}}
  cutlass.tile_scheduler.initialize_workspace %p, %sums thread %t of %t tile_bytes 64 : !once, !sums
  // expected-error@+1 {{'cutlass.tile_scheduler.initialize_workspace' op expects a pointer to gmem as the workspace, but got !cute.ptr<f32, smem>}}
  cutlass.tile_scheduler.initialize_workspace %s, %shared thread %t of %t tile_bytes 64 : !params, !shared
  // expected-error@+1 {{'cutlass.tile_scheduler.initialize_workspace' op has tiles of 1 byte or more, not 0}}
  cutlass.tile_scheduler.initialize_workspace %s, %sums thread %t of %t tile_bytes 0 : !params, !sums
  // expected-error@+1 {{'cutlass.tile_scheduler.fixup_wait' op is of streamk, which splits tiles: !cutlass.scheduler_params<dp, n> does not}}
  cutlass.tile_scheduler.fixup_wait %p, %w, %sums thread %t at 1 threads 128 tile_bytes 64 : !once, !sums
  // expected-error@+1 {{'cutlass.tile_scheduler.fixup_wait' op expects a pointer to gmem as the workspace, but got !cute.ptr<f32, smem>}}
  cutlass.tile_scheduler.fixup_wait %s, %v, %shared thread %t at 1 threads 128 tile_bytes 64 : !params, !shared
  // expected-error@+1 {{'cutlass.tile_scheduler.fixup_increment' op is of whole warps, 32 to 1024 threads, not 100}}
  cutlass.tile_scheduler.fixup_increment %s, %v, %sums thread %t at 1 threads 100 tile_bytes 64 : !params, !sums
  // expected-error@+1 {{'cutlass.tile_scheduler.fixup_increment' op has tiles of 1 byte or more, not -4}}
  cutlass.tile_scheduler.fixup_increment %s, %v, %sums thread %t at 1 threads 128 tile_bytes -4 : !params, !sums
  // expected-error@+1 {{'cutlass.tile_scheduler.fixup' op moves a view of rmem, but got !cute.ptr<f32, gmem>}}
  cutlass.tile_scheduler.fixup %s, %v, %sums, %sums thread %t at 1 threads 128 width 1 : !params, !sums, !sums
  // expected-error@+1 {{'cutlass.tile_scheduler.fixup' op expects the array aligned to 16 bytes, but !cute.ptr<f32, gmem> promises 4}}
  cutlass.tile_scheduler.fixup %s, %v, %held, %sums thread %t at 1 threads 128 width 4 : !params, !held, !sums
  // expected-error@+1 {{'cutlass.tile_scheduler.fixup' op moves 8 elements in pieces of 3}}
  cutlass.tile_scheduler.fixup %s, %v, %held, %sums thread %t at 1 threads 128 width 3 : !params, !held, !sums
  func.return
}
