// What pipelines, barriers and schedulers refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

!p = !cutlass.pipeline<tma_async, 3>
!one = !cutlass.participants<[0]>
!two = !cutlass.participants<[4, 5]>
func.func @init(%pipe: !p, %one: !one, %two: !two, %none: !cutlass.participants<[]>, %m: !cute.ptr<i64, gmem>) {
  // expected-error@+1 {{cutlass.pipeline.init: invalid numStages}}
  cutlass.pipeline.init %pipe, %one, %two {numStages = 0 : i32, numProducers = 1 : i32, numConsumers = 2 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !two
  // expected-error@+1 {{'cutlass.pipeline.init' op has 2 stages, but the pipeline is !cutlass.pipeline<tma_async, 3>}}
  cutlass.pipeline.init %pipe, %one, %two {numStages = 2 : i32, numProducers = 1 : i32, numConsumers = 2 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !two
  // expected-error@+1 {{cutlass.pipeline.init: participants length mismatch}}
  cutlass.pipeline.init %pipe, %one, %two {numStages = 3 : i32, numProducers = 2 : i32, numConsumers = 2 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !two
  // expected-error@+1 {{'cutlass.pipeline.init' op has 1 consumers, but the list is !cutlass.participants<[4, 5]>}}
  cutlass.pipeline.init %pipe, %one, %two {numStages = 3 : i32, numProducers = 1 : i32, numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !two
  // expected-error@+1 {{'cutlass.pipeline.init' op has a producer and a consumer at least}}
  cutlass.pipeline.init %pipe, %one, %none {numStages = 3 : i32, numProducers = 1 : i32, numConsumers = 0 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !cutlass.participants<[]>
  // expected-error@+1 {{'cutlass.pipeline.init' op has a barrier_id_base of 0 to 31, not 32}}
  cutlass.pipeline.init %pipe, %one, %two {numStages = 3 : i32, numProducers = 1 : i32, numConsumers = 2 : i32, barrier_id_base = 32 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !two
  // expected-error@+1 {{'cutlass.pipeline.init' op has a producer and a consumer of different groups, not both of 1}}
  cutlass.pipeline.init %pipe, %one, %two {numStages = 3 : i32, numProducers = 1 : i32, numConsumers = 2 : i32, barrier_id_base = 31 : i32, producer_group_id = 1 : i32, consumer_group_id = 1 : i32} : !p, !one, !two
  // expected-error@+1 {{'cutlass.pipeline.create' op expects a pointer to smem as the mbarrier, but got !cute.ptr<i64, gmem>}}
  %q = cutlass.pipeline.create %m : !cute.ptr<i64, gmem> -> !p
  func.return
}

// -----

// expected-error@+1 {{no pipeline is tma; known: tma_async, tma_umma, async, cp_async, async_umma, umma_async}}
func.func private @kind(!cutlass.pipeline<tma, 3>)

// -----

// expected-error@+1 {{the stages of a pipeline are 1 or more, not 0}}
func.func private @stages(!cutlass.pipeline<async, 0>)

// -----

// expected-error@+1 {{stages are shared by 1, 2, 4, 8 blocks, not 3}}
func.func private @multicast(!cutlass.pipeline<async, 1, multicast 3>)

// -----

// expected-error@+1 {{a block has warps 0 to 31, not 32}}
func.func private @warps(!cutlass.participants<[32]>)

// -----

// expected-error@+1 {{a warp participates once, but got [1, 1]}}
func.func private @twice(!cutlass.participants<[1, 1]>)

// -----

// expected-error@+1 {{the stages of a state are 1 or more, not 0}}
func.func private @state(!cutlass.pipeline_state<0>)

// -----

// expected-error@+1 {{tiles are given dp or static_persistent or streamk or sm100, not guided}}
func.func private @guided(!cutlass.scheduler_params<guided, m>)

// -----

// expected-error@+1 {{the groups of a sequence are 1 or more, not 0}}
func.func private @groups(!cutlass.seq_bar<1, 0>)

// -----

!p = !cutlass.pipeline<tma_async, 3>
!u = !cutlass.pipeline<umma_async, 2>
!c = !cutlass.pipeline<cp_async, 2>
!s = !cutlass.pipeline_state<3>
!t = !cutlass.pipeline_state<2>
func.func @steps(%pipe: !p, %s: !s, %t: !t, %sums: !u, %copies: !c, %one: i1, %x: f32) {
  // expected-error@+1 {{'cutlass.pipeline.consumer_wait' op is at a stage of !cutlass.pipeline<tma_async, 3>, but the state is !cutlass.pipeline_state<2>}}
  cutlass.pipeline.consumer_wait %pipe, %t : !p, !t
  // expected-error@+1 {{'cutlass.pipeline.producer_acquire' op announces 1 to 1048575 bytes, not 0}}
  cutlass.pipeline.producer_acquire %pipe, %s bytes 0 : !p, !s
  // expected-error@+1 {{'cutlass.pipeline.producer_commit' op announces bytes of TMA, which does not fill the stages of !cutlass.pipeline<umma_async, 2>}}
  cutlass.pipeline.producer_commit %sums, %t bytes 64 : !u, !t
  // expected-error@+1 {{'cutlass.pipeline.producer_commit' op is done by every thread that copies by cp.async, as !cutlass.pipeline<cp_async, 2> has it}}
  cutlass.pipeline.producer_commit %copies, %t if %one : !c, !t
  // expected-error@+1 {{'cutlass.pipeline.produce' op is done by every thread that copies by cp.async, as !cutlass.pipeline<cp_async, 2> has it}}
  %d = cutlass.pipeline.produce %copies, %t if %one : !c, !t -> !t {
  ^bb0(%stage: i32, %barrier: !cute.ptr<i64, smem>):
    cutlass.yield
  }
  // expected-error@+1 {{'cutlass.pipeline.state.create' op is for a producer or a consumer, not a reader}}
  %r = cutlass.pipeline.state.create "reader" : !s
  // expected-error@+1 {{'cutlass.pipeline.state.increment' op goes on from !cutlass.pipeline_state<3>, not to !cutlass.pipeline_state<2>}}
  %n = cutlass.pipeline.state.increment %s : !s -> !t
  // expected-error@+1 {{'cutlass.pipeline.produce' op announces the bytes that TMA brings to a stage}}
  %a = cutlass.pipeline.produce %pipe, %s : !p, !s -> !s {
  ^bb0(%stage: i32, %barrier: !cute.ptr<i64, smem>):
    cutlass.yield
  }
  // expected-error@+1 {{'cutlass.pipeline.consume' op has a body that takes i32, not 0 others}}
  %b = cutlass.pipeline.consume %pipe, %s : !p, !s -> !s {
    cutlass.yield
  }
  // expected-error@+1 {{'cutlass.pipeline.consume' op gives nothing, its body f32}}
  %c = cutlass.pipeline.consume %pipe, %s : !p, !s -> !s {
  ^bb0(%stage: i32):
    cutlass.yield %x : f32
  }
  // expected-error@+1 {{'cutlass.async.exec' op has a body that ends with cutlass.yield}}
  cutlass.async.exec {
    "test.termop"() : () -> ()
  }
  // expected-error@+1 {{'cutlass.named_barrier.arrive' op is barrier 1 to 15 of a block, not 16}}
  cutlass.named_barrier.arrive 16 threads 32
  // expected-error@+1 {{'cutlass.named_barrier.arrive_and_wait' op is barrier 1 to 15 of a block, not 0}}
  cutlass.named_barrier.arrive_and_wait 0 threads 32
  // expected-error@+1 {{'cutlass.named_barrier.arrive' op counts whole warps, 32 to 1024 threads, not 48}}
  cutlass.named_barrier.arrive 1 threads 48
  func.return
}

// -----

// Roles: masks of consecutive warps, that are all warps, and those who are at the ends.

!p = !cutlass.pipeline<tma_async, 3>
!s = !cutlass.pipeline_state<3>
func.func @roles(%warp: i32, %m: !cute.ptr<i64, smem>, %s: !s) {
  // expected-error@+1 {{'cutlass.pipeline.switch_by_executor' op has masks of consecutive warps, not 0x5}}
  cutlass.pipeline.switch_by_executor %warp of 3 masks [5, 2] {
  } {
  }
  // expected-error@+1 {{'cutlass.pipeline.switch_by_executor' op has disjoint masks, but warps of 0x2 are twice}}
  cutlass.pipeline.switch_by_executor %warp of 3 masks [3, 6] {
  } {
  }
  // expected-error@+1 {{'cutlass.pipeline.switch_by_executor' op has roles for 0x3, not for all of the 3 warps}}
  cutlass.pipeline.switch_by_executor %warp of 3 masks [1, 2] {
  } {
  }
  // expected-error@+1 {{'cutlass.pipeline.switch_by_executor' op has 1 masks for 2 arms}}
  cutlass.pipeline.switch_by_executor %warp of 3 masks [7] {
  } {
  }
  // expected-error@+1 {{'cutlass.pipeline.switch_by_executor' op is among 1 to 31 warps, not 32}}
  cutlass.pipeline.switch_by_executor %warp of 32 masks [1] {
  }
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !p
  %one = cutlass.pipeline.make_participants : !cutlass.participants<[0]>
  %two = cutlass.pipeline.make_participants : !cutlass.participants<[1, 2]>
  cutlass.pipeline.init %pipe, %one, %two {numStages = 3 : i32, numProducers = 1 : i32, numConsumers = 2 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !cutlass.participants<[0]>, !cutlass.participants<[1, 2]>
  cutlass.pipeline.switch_by_executor %warp of 3 masks [3, 4] {
    // expected-error@+1 {{'cutlass.pipeline.consumer_wait' op is done by warps 0 to 1, but warp 2 is a consumer of the pipeline}}
    cutlass.pipeline.consumer_wait %pipe, %s : !p, !s
  } {
  }
  cutlass.pipeline.switch_by_executor %warp of 3 masks [1, 6] {
  } {
    // expected-error@+1 {{'cutlass.pipeline.producer_acquire' op is done by warps 1 to 2, but warp 0 is a producer of the pipeline}}
    cutlass.pipeline.producer_acquire %pipe, %s bytes 16 : !p, !s
  }
  func.return
}

// -----

!p = !cutlass.pipeline<async, 1>
!one = !cutlass.participants<[0]>
func.func @init_in_a_role(%warp: i32, %pipe: !p, %one: !one) {
  cutlass.pipeline.switch_by_executor %warp of 1 masks [1] {
    // expected-error@+1 {{'cutlass.pipeline.init' op is executed by all threads of the block, not in a role}}
    cutlass.pipeline.init %pipe, %one, %one {numStages = 1 : i32, numProducers = 1 : i32, numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !one
  }
  func.return
}

// -----

!params = !cutlass.scheduler_params<dp, m>
func.func @tiles(%n: i32, %p: !params, %w: !cutlass.work_tile_info, %bar: !cutlass.seq_bar<2, 3>, %s: !cutlass.seq_bar_state<1>) {
  // expected-error@+1 {{'cutlass.tile_scheduler.create_static_persistent_params' op makes parameters of static_persistent, not of dp}}
  %a = cutlass.tile_scheduler.create_static_persistent_params %n, %n, %n : !params
  // expected-error@+1 {{'cutlass.tile_scheduler.params_get_value' op has the fields num_tiles_m, num_tiles_n, num_tiles_l, not k}}
  %b = cutlass.tile_scheduler.params_get_value %p["k"] : !params
  // expected-error@+1 {{'cutlass.tile_scheduler.work_tile_info_get_value' op has the fields m_idx, n_idx, l_idx, is_valid, not k_idx}}
  %c = cutlass.tile_scheduler.work_tile_info_get_value %p, %w["k_idx"] : !params -> i32
  // expected-error@+1 {{'cutlass.tile_scheduler.work_tile_info_get_value' op gives i1, not i32}}
  %d = cutlass.tile_scheduler.work_tile_info_get_value %p, %w["is_valid"] : !params -> i32
  // expected-error@+1 {{'cutlass.tile_scheduler.advance_to_next_work' op is inside cutlass.async.exec}}
  %e = cutlass.tile_scheduler.advance_to_next_work %p, %w : !params
  // expected-error@+1 {{'cutlass.seq_bar.wait' op is at a stage of !cutlass.seq_bar<2, 3>, but the state is !cutlass.seq_bar_state<1>}}
  cutlass.seq_bar.wait %bar, %s group %n : !cutlass.seq_bar<2, 3>, !cutlass.seq_bar_state<1>
  // expected-error@+1 {{'cutlass.seq_bar.init' op counts 1 to 1048575 arrivals, not 0}}
  cutlass.seq_bar.init %bar arrivals 0 : !cutlass.seq_bar<2, 3>
  func.return
}
