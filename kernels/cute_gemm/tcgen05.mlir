// C = A * B as a user of CuTe writes it: warp 0 loads by TMA, warp 1 multiplies by tcgen05, warps 4
// to 7 store what it leaves in one half of tensor memory while it goes on in the other.

!pipe = !cutlass.pipeline<tma_umma, $STAGES>
!state = !cutlass.pipeline_state<$STAGES>
!sums = !cutlass.pipeline<umma_async, 2>
!half = !cutlass.pipeline_state<2>
!params = !cutlass.scheduler_params<$SCHEDULER, m>
!work = !cutlass.work_tile_info
!tile = !cute.ptr<i8, smem, align<1024>, S<3,4,3>>
!elements = !cute.ptr<$ELEMENT, smem, align<1024>, S<3,4,3>>
!barrier = !cute.ptr<i64, smem>
!place = !cute.ptr<i32, smem, align<8>>

func.func @cute_gemm(%a: !cute_nvgpu.tma_descriptor_tiled, %b: !cute_nvgpu.tma_descriptor_tiled, %c: !cute.ptr<f32, gmem, align<16>>, %m: i32, %n: i32, %k: i32) attributes {$INTERFACE} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %bm = arith.constant $BM : i32
  %bn = arith.constant $BN : i32
  %bk = arith.constant $BK : i32
  %slot_bytes = arith.constant $SLOT : i32
  %warp = cute_nvgpu.arch.warp_idx
  %lane = cute_nvgpu.arch.lane_idx
  $SIZES

  %tiles = cute_nvgpu.arch.get_dyn_smem 0 -> !tile
  %barriers = cute_nvgpu.arch.get_dyn_smem $BARRIERS -> !barrier
  %others = cute_nvgpu.arch.get_dyn_smem $OTHERS -> !barrier
  %place = cute_nvgpu.arch.get_dyn_smem $PLACE -> !place
  %pipe = cutlass.pipeline.create %barriers : !barrier -> !pipe
  %sums = cutlass.pipeline.create %others : !barrier -> !sums
  %loader = cutlass.pipeline.make_participants : !cutlass.participants<[0]>
  %issuer = cutlass.pipeline.make_participants : !cutlass.participants<[1]>
  %storers = cutlass.pipeline.make_participants : !cutlass.participants<[4, 5, 6, 7]>
  cutlass.pipeline.init %pipe, %loader, %issuer {numStages = $STAGES : i32, numProducers = 1 : i32, numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !pipe, !cutlass.participants<[0]>, !cutlass.participants<[1]>
  cutlass.pipeline.init %sums, %issuer, %storers {numStages = 2 : i32, numProducers = 1 : i32, numConsumers = 4 : i32, producer_group_id = 1 : i32, consumer_group_id = 2 : i32} : !sums, !cutlass.participants<[1]>, !cutlass.participants<[4, 5, 6, 7]>

  %two = arith.constant 2 : i32
  %allocates = arith.cmpi eq, %warp, %two : i32
  scf.if %allocates {
    cute_nvgpu.arch.sm100.alloc_tmem %place, $COLUMNS blocks 1 : !place
    cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit blocks 1
  }
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"
  %memory = cute_nvgpu.arch.sm100.retrieve_tmem_ptr %place : !place

  cutlass.pipeline.switch_by_executor %warp of 8 masks [1, 2, 12, 240] {
    %elected = cute_nvgpu.arch.elect_one
    scf.if %elected {
      %s0 = cutlass.pipeline.state.create "producer" : !state
      %w0 = cutlass.tile_scheduler.initial_work_tile_info %params : !params
      %wn, %sn = scf.while (%w = %w0, %s = %s0) : (!work, !state) -> (!work, !state) {
        %valid = cutlass.tile_scheduler.work_tile_info_get_value %params, %w["is_valid"] : !params -> i1
        scf.condition(%valid) %w, %s : !work, !state
      } do {
      ^bb0(%w: !work, %s: !state):
        %tm, %tn, %tk, %tl = cutlass.tile_scheduler.work_tile_info_to_coord_mnkl %params, %w : !params
        %row = arith.muli %tm, %bm : i32
        %col = arith.muli %tn, %bn : i32
        %se = scf.for %i = %c0 to %blocks step %c1 iter_args(%at = %s) -> (!state) {
          $PRODUCE
          scf.yield %then : !state
        }
        %next = cutlass.async.exec -> !work {
          %further = cutlass.tile_scheduler.advance_to_next_work %params, %w : !params
          cutlass.yield %further : !work
        }
        scf.yield %next, %se : !work, !state
      }
      cutlass.pipeline.producer_tail %pipe, %sn : !pipe, !state
    }
  } {
    %elected = cute_nvgpu.arch.elect_one
    %s0 = cutlass.pipeline.state.create "consumer" : !state
    %h0 = cutlass.pipeline.state.create "producer" : !half
    %w0 = cutlass.tile_scheduler.initial_work_tile_info %params : !params
    %wn, %sn, %hn = scf.while (%w = %w0, %s = %s0, %h = %h0) : (!work, !state, !half) -> (!work, !state, !half) {
      %valid = cutlass.tile_scheduler.work_tile_info_get_value %params, %w["is_valid"] : !params -> i1
      scf.condition(%valid) %w, %s, %h : !work, !state, !half
    } do {
    ^bb0(%w: !work, %s: !state, %h: !half):
      cutlass.pipeline.producer_acquire %sums, %h : !sums, !half
      %which = cutlass.pipeline.state.get_index %h : !half
      %shift = arith.muli %which, %bn : i32
      %d = arith.addi %memory, %shift : i32
      %none = arith.constant false
      %se, %some = scf.for %i = %c0 to %blocks step %c1 iter_args(%at = %s, %adds = %none) -> (!state, i1) {
        %then = cutlass.pipeline.consume %pipe, %at if %elected : !pipe, !state -> !state {
        ^bb0(%stage: i32):
          scf.if %elected {
            %offset = arith.muli %stage, %slot_bytes : i32
            %of_a = cute.add_offset %tiles, %offset : !tile, i32 -> !tile
            %behind = arith.constant $BYTES_A : i32
            %of_b = cute.add_offset %of_a, %behind : !tile, i32 -> !tile
            %ta = cute.recast_iter %of_a : !tile -> !elements
            %tb = cute.recast_iter %of_b : !tile -> !elements
            %da = cute_nvgpu.umma_smem_desc_of %ta layout <"($BM,$STEP):($BK,1)"> major "k" : !elements
            %db = cute_nvgpu.umma_smem_desc_of %tb layout <"($BN,$STEP):($BK,1)"> major "k" : !elements
            %yes = arith.constant true
            $PRODUCTS
          }
          cutlass.yield
        }
        %always = arith.constant true
        scf.yield %then, %always : !state, i1
      }
      cutlass.pipeline.producer_commit %sums, %h if %elected : !sums, !half
      %hi = cutlass.pipeline.state.increment %h : !half -> !half
      %next = cutlass.tile_scheduler.static_fetch_next_work %params, %w : !params
      scf.yield %next, %se, %hi : !work, !state, !half
    }
  } {
  } {
    %elected = cute_nvgpu.arch.elect_one
    $PLACE_OF_WARP
    %h0 = cutlass.pipeline.state.create "consumer" : !half
    %w0 = cutlass.tile_scheduler.initial_work_tile_info %params : !params
    %wn, %hn = scf.while (%w = %w0, %h = %h0) : (!work, !half) -> (!work, !half) {
      %valid = cutlass.tile_scheduler.work_tile_info_get_value %params, %w["is_valid"] : !params -> i1
      scf.condition(%valid) %w, %h : !work, !half
    } do {
    ^bb0(%w: !work, %h: !half):
      %tm, %tn, %tk, %tl = cutlass.tile_scheduler.work_tile_info_to_coord_mnkl %params, %w : !params
      cutlass.pipeline.consumer_wait %sums, %h : !sums, !half
      %which = cutlass.pipeline.state.get_index %h : !half
      %shift = arith.muli %which, %bn : i32
      %d = arith.addi %lanes, %shift : i32
      $READS
      cutlass.pipeline.consumer_release %sums, %h if %elected : !sums, !half
      %hi = cutlass.pipeline.state.increment %h : !half -> !half
      $STORES
      %next = cutlass.tile_scheduler.static_fetch_next_work %params, %w : !params
      scf.yield %next, %hi : !work, !half
    }
  }
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"
  scf.if %allocates {
    cute_nvgpu.arch.sm100.dealloc_tmem %memory, $COLUMNS blocks 1
  }
  func.return
}
