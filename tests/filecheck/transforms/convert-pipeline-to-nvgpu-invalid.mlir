// Pipelines that cannot be lowered, each refused where it is.

// RUN: tileas-opt %s -p convert-pipeline-to-nvgpu --split-input-file --verify-diagnostics

!p = !cutlass.pipeline<async, 1>
func.func @nobody(%m: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{'cutlass.pipeline.create' op is initialised once by cutlass.pipeline.init, not 0 times}}
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !p
  func.return
}

// -----

func.func @no_turns(%m: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{'cutlass.seq_bar.create' op is initialised once by cutlass.seq_bar.init, not 0 times}}
  %bar = cutlass.seq_bar.create %m : !cute.ptr<i64, smem> -> !cutlass.seq_bar<1, 1>
  func.return
}

// -----

!p = !cutlass.pipeline<async, 1, multicast 2>
!one = !cutlass.participants<[0]>
func.func @alone(%m: !cute.ptr<i64, smem>, %one: i32) {
  // expected-error@+1 {{'cutlass.pipeline.create' op shares stages among 2 blocks, but the cluster has 1}}
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !p
  %a = cutlass.pipeline.make_participants : !one
  cutlass.pipeline.init %pipe, %a, %a {numStages = 1 : i32, numProducers = 1 : i32, numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !one
  func.return
}

// -----

// Somebody has to say how many bytes TMA brings, once for every stage.

!p = !cutlass.pipeline<tma_async, 1>
!s = !cutlass.pipeline_state<1>
!one = !cutlass.participants<[0]>
func.func @silent(%m: !cute.ptr<i64, smem>) {
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !p
  %a = cutlass.pipeline.make_participants : !one
  cutlass.pipeline.init %pipe, %a, %a {numStages = 1 : i32, numProducers = 1 : i32, numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !one
  %s = cutlass.pipeline.state.create "producer" : !s
  // expected-error@+1 {{'cutlass.pipeline.producer_acquire' op acquires a stage for TMA, whose bytes neither it nor a commit announces}}
  cutlass.pipeline.producer_acquire %pipe, %s : !p, !s
  func.return
}

// -----

!p = !cutlass.pipeline<tma_async, 1>
!s = !cutlass.pipeline_state<1>
!one = !cutlass.participants<[0]>
func.func @twice(%m: !cute.ptr<i64, smem>) {
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !p
  %a = cutlass.pipeline.make_participants : !one
  cutlass.pipeline.init %pipe, %a, %a {numStages = 1 : i32, numProducers = 1 : i32, numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !one
  %s = cutlass.pipeline.state.create "producer" : !s
  cutlass.pipeline.producer_acquire %pipe, %s bytes 64 : !p, !s
  // expected-error@+1 {{'cutlass.pipeline.producer_commit' op announces bytes that were announced when a stage was acquired}}
  cutlass.pipeline.producer_commit %pipe, %s bytes 64 : !p, !s
  func.return
}

// -----

!p = !cutlass.pipeline<tma_async, 1>
!s = !cutlass.pipeline_state<1>
!one = !cutlass.participants<[0]>
func.func @sometimes(%m: !cute.ptr<i64, smem>) {
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !p
  %a = cutlass.pipeline.make_participants : !one
  cutlass.pipeline.init %pipe, %a, %a {numStages = 1 : i32, numProducers = 1 : i32, numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !one
  %s = cutlass.pipeline.state.create "producer" : !s
  cutlass.pipeline.producer_acquire %pipe, %s bytes 64 : !p, !s
  // expected-error@+1 {{'cutlass.pipeline.producer_acquire' op announces the bytes that TMA brings, as others of this pipeline do}}
  cutlass.pipeline.producer_acquire %pipe, %s : !p, !s
  func.return
}

// -----

// expected-error@+1 {{'func.func' op hands on !cutlass.pipeline_state<1> from block to block, which is lowered in one only}}
func.func @handed(%s: !cutlass.pipeline_state<1>) {
  func.return
}

// -----

!s = !cutlass.pipeline_state<1>
func.func @elsewhere() {
  %s = cutlass.pipeline.state.create "producer" : !s
  // expected-error@+1 {{'test.op' op has values of cutlass, which only scf.for, scf.if, scf.while hand on}}
  "test.op"(%s) : (!s) -> ()
  func.return
}

// -----

!params = !cutlass.scheduler_params<dp, m>
func.func @together(%m: i32) attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  %p = cutlass.tile_scheduler.create_dp_params %m, %m, %m : !params
  %w = cutlass.tile_scheduler.initial_work_tile_info %p : !params
  // expected-error@+1 {{'cutlass.tile_scheduler.work_tile_info_to_cta_coord' op tells the tiles of blocks without a cluster; this one has 2}}
  %a, %b, %c = cutlass.tile_scheduler.work_tile_info_to_cta_coord %p, %w : !params
  func.return
}
