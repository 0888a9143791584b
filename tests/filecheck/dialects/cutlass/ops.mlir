// Pipelines, named barriers, sequence barriers and tile schedulers, as they are written.

// RUN: tileas-opt %s | tileas-opt | filecheck %s

// A pipeline at the address of its mbarriers; its producer and consumer are warps.

// CHECK-LABEL: func.func @begin
func.func @begin(%m: !cute.ptr<i64, smem>) {
  // CHECK: %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !cutlass.pipeline<tma_async, 3>
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !cutlass.pipeline<tma_async, 3>
  // CHECK-NEXT: cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !cutlass.pipeline<tma_umma, 2, multicast 2>
  %shared = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !cutlass.pipeline<tma_umma, 2, multicast 2>
  // CHECK-NEXT: %p = cutlass.pipeline.make_participants : !cutlass.participants<[0]>
  %p = cutlass.pipeline.make_participants : !cutlass.participants<[0]>
  %c = cutlass.pipeline.make_participants : !cutlass.participants<[4, 5]>
  // CHECK: cutlass.pipeline.init %pipe, %p, %c {numStages = 3 : i32, numProducers = 1 : i32, numConsumers = 2 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !cutlass.pipeline<tma_async, 3>, !cutlass.participants<[0]>, !cutlass.participants<[4, 5]>
  cutlass.pipeline.init %pipe, %p, %c {numStages = 3 : i32, numProducers = 1 : i32, numConsumers = 2 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !cutlass.pipeline<tma_async, 3>, !cutlass.participants<[0]>, !cutlass.participants<[4, 5]>
  func.return
}

// Producer and consumer operations; a state designates the stage.

// CHECK-LABEL: func.func @steps
func.func @steps(%pipe: !cutlass.pipeline<tma_async, 3>, %elected: i1) {
  // CHECK: %s = cutlass.pipeline.state.create "producer" : !cutlass.pipeline_state<3>
  %s = cutlass.pipeline.state.create "producer" : !cutlass.pipeline_state<3>
  // CHECK-NEXT: %e = cutlass.pipeline.producer_try_acquire %pipe, %s : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  %e = cutlass.pipeline.producer_try_acquire %pipe, %s : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  // CHECK-NEXT: cutlass.pipeline.producer_acquire %pipe, %s bytes 4096 unless %e if %elected : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  cutlass.pipeline.producer_acquire %pipe, %s bytes 4096 unless %e if %elected : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  // CHECK-NEXT: cutlass.pipeline.get_producer_barrier %pipe, %s : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  %b = cutlass.pipeline.get_producer_barrier %pipe, %s : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  // CHECK-NEXT: cutlass.pipeline.get_producer_mask %pipe : !cutlass.pipeline<tma_async, 3>
  %k = cutlass.pipeline.get_producer_mask %pipe : !cutlass.pipeline<tma_async, 3>
  // CHECK-NEXT: cutlass.pipeline.producer_commit %pipe, %s if %elected : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  cutlass.pipeline.producer_commit %pipe, %s if %elected : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  // CHECK-NEXT: %t = cutlass.pipeline.state.increment %s : !cutlass.pipeline_state<3> -> !cutlass.pipeline_state<3>
  %t = cutlass.pipeline.state.increment %s : !cutlass.pipeline_state<3> -> !cutlass.pipeline_state<3>
  // CHECK-NEXT: cutlass.pipeline.state.get_index %t : !cutlass.pipeline_state<3>
  %i = cutlass.pipeline.state.get_index %t : !cutlass.pipeline_state<3>
  // CHECK-NEXT: cutlass.pipeline.state.get_phase %t : !cutlass.pipeline_state<3>
  %h = cutlass.pipeline.state.get_phase %t : !cutlass.pipeline_state<3>
  // CHECK-NEXT: cutlass.pipeline.state.get_count %t : !cutlass.pipeline_state<3>
  %n = cutlass.pipeline.state.get_count %t : !cutlass.pipeline_state<3>
  // CHECK-NEXT: cutlass.pipeline.producer_tail %pipe, %t : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  cutlass.pipeline.producer_tail %pipe, %t : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  // CHECK-NEXT: %f = cutlass.pipeline.consumer_try_wait %pipe, %s
  %f = cutlass.pipeline.consumer_try_wait %pipe, %s : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  // CHECK-NEXT: cutlass.pipeline.consumer_wait %pipe, %s unless %f : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  cutlass.pipeline.consumer_wait %pipe, %s unless %f : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  // CHECK-NEXT: cutlass.pipeline.consumer_release %pipe, %s if %elected : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  cutlass.pipeline.consumer_release %pipe, %s if %elected : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3>
  func.return
}

// Stages with bodies, and roles.

// CHECK-LABEL: func.func @bodies
func.func @bodies(%pipe: !cutlass.pipeline<tma_async, 3>, %s: !cutlass.pipeline_state<3>, %warp: i32, %x: f32) {
  // CHECK: cutlass.pipeline.switch_by_executor %warp of 3 masks [1, 6] {
  cutlass.pipeline.switch_by_executor %warp of 3 masks [1, 6] {
    // CHECK-NEXT: %t = cutlass.pipeline.produce %pipe, %s bytes 64 : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3> -> !cutlass.pipeline_state<3> {
    %t = cutlass.pipeline.produce %pipe, %s bytes 64 : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3> -> !cutlass.pipeline_state<3> {
    // CHECK-NEXT: ^bb0(%stage: i32, %barrier: !cute.ptr<i64, smem>):
    ^bb0(%stage: i32, %barrier: !cute.ptr<i64, smem>):
      // CHECK-NEXT: cutlass.yield
      cutlass.yield
    }
  } {
    // CHECK: cutlass.pipeline.consume %pipe, %s : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3> -> !cutlass.pipeline_state<3>, f32 {
    %t, %y = cutlass.pipeline.consume %pipe, %s : !cutlass.pipeline<tma_async, 3>, !cutlass.pipeline_state<3> -> !cutlass.pipeline_state<3>, f32 {
    ^bb0(%stage: i32):
      // CHECK: cutlass.yield %x : f32
      cutlass.yield %x : f32
    }
  }
  func.return
}

// Named barriers of a block, and ordered groups.

// CHECK-LABEL: func.func @turns
func.func @turns(%m: !cute.ptr<i64, smem>, %group: i32, %elected: i1) {
  // CHECK: cutlass.named_barrier.arrive 1 threads 64
  cutlass.named_barrier.arrive 1 threads 64
  // CHECK-NEXT: cutlass.named_barrier.arrive_and_wait 15 threads 128
  cutlass.named_barrier.arrive_and_wait 15 threads 128
  // CHECK-NEXT: %bar = cutlass.seq_bar.create %m : !cute.ptr<i64, smem> -> !cutlass.seq_bar<2, 3>
  %bar = cutlass.seq_bar.create %m : !cute.ptr<i64, smem> -> !cutlass.seq_bar<2, 3>
  // CHECK-NEXT: cutlass.seq_bar.init %bar arrivals 1 : !cutlass.seq_bar<2, 3>
  cutlass.seq_bar.init %bar arrivals 1 : !cutlass.seq_bar<2, 3>
  // CHECK-NEXT: %s = cutlass.seq_bar.state.create %group : !cutlass.seq_bar_state<2>
  %s = cutlass.seq_bar.state.create %group : !cutlass.seq_bar_state<2>
  // CHECK-NEXT: cutlass.seq_bar.wait %bar, %s group %group : !cutlass.seq_bar<2, 3>, !cutlass.seq_bar_state<2>
  cutlass.seq_bar.wait %bar, %s group %group : !cutlass.seq_bar<2, 3>, !cutlass.seq_bar_state<2>
  // CHECK-NEXT: cutlass.seq_bar.arrive %bar, %s group %group if %elected : !cutlass.seq_bar<2, 3>, !cutlass.seq_bar_state<2> -> !cutlass.seq_bar_state<2>
  %t = cutlass.seq_bar.arrive %bar, %s group %group if %elected : !cutlass.seq_bar<2, 3>, !cutlass.seq_bar_state<2> -> !cutlass.seq_bar_state<2>
  func.return
}

// Schedulers: which tiles a block computes.

// CHECK-LABEL: func.func @tiles
func.func @tiles(%m: i32, %n: i32, %l: i32) {
  // CHECK: cutlass.tile_scheduler.create_dp_params %m, %n, %l : !cutlass.scheduler_params<dp, n>
  %once = cutlass.tile_scheduler.create_dp_params %m, %n, %l : !cutlass.scheduler_params<dp, n>
  // CHECK-NEXT: %p = cutlass.tile_scheduler.create_static_persistent_params %m, %n, %l : !cutlass.scheduler_params<static_persistent, m>
  %p = cutlass.tile_scheduler.create_static_persistent_params %m, %n, %l : !cutlass.scheduler_params<static_persistent, m>
  // CHECK-NEXT: cutlass.tile_scheduler.params_get_value %p["num_tiles_n"] : !cutlass.scheduler_params<static_persistent, m>
  %tiles = cutlass.tile_scheduler.params_get_value %p["num_tiles_n"] : !cutlass.scheduler_params<static_persistent, m>
  // CHECK-NEXT: %x, %y, %z = cutlass.tile_scheduler.get_grid_shape %once : !cutlass.scheduler_params<dp, n>
  %x, %y, %z = cutlass.tile_scheduler.get_grid_shape %once : !cutlass.scheduler_params<dp, n>
  // CHECK-NEXT: cutlass.tile_scheduler.get_workspace_sizes %p : !cutlass.scheduler_params<static_persistent, m>
  %bytes = cutlass.tile_scheduler.get_workspace_sizes %p : !cutlass.scheduler_params<static_persistent, m>
  // CHECK-NEXT: %w = cutlass.tile_scheduler.initial_work_tile_info %p : !cutlass.scheduler_params<static_persistent, m>
  %w = cutlass.tile_scheduler.initial_work_tile_info %p : !cutlass.scheduler_params<static_persistent, m>
  // CHECK-NEXT: cutlass.tile_scheduler.work_tile_info_get_value %p, %w["is_valid"] : !cutlass.scheduler_params<static_persistent, m> -> i1
  %valid = cutlass.tile_scheduler.work_tile_info_get_value %p, %w["is_valid"] : !cutlass.scheduler_params<static_persistent, m> -> i1
  // CHECK-NEXT: %tm, %tn, %tk, %tl = cutlass.tile_scheduler.work_tile_info_to_coord_mnkl %p, %w : !cutlass.scheduler_params<static_persistent, m>
  %tm, %tn, %tk, %tl = cutlass.tile_scheduler.work_tile_info_to_coord_mnkl %p, %w : !cutlass.scheduler_params<static_persistent, m>
  // CHECK-NEXT: %next = cutlass.async.exec -> !cutlass.work_tile_info {
  %next = cutlass.async.exec -> !cutlass.work_tile_info {
    // CHECK-NEXT: %v = cutlass.tile_scheduler.advance_to_next_work %p, %w : !cutlass.scheduler_params<static_persistent, m>
    %v = cutlass.tile_scheduler.advance_to_next_work %p, %w : !cutlass.scheduler_params<static_persistent, m>
    cutlass.yield %v : !cutlass.work_tile_info
  }
  // CHECK: cutlass.tile_scheduler.static_fetch_next_work %p, %next : !cutlass.scheduler_params<static_persistent, m>
  %after = cutlass.tile_scheduler.static_fetch_next_work %p, %next : !cutlass.scheduler_params<static_persistent, m>
  func.return
}
