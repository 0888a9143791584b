// C = A * B as a user of CuTe writes it: warp 0 loads by TMA, warps 4 to $LAST multiply by wgmma.

!pipe = !cutlass.pipeline<tma_async, $STAGES>
!state = !cutlass.pipeline_state<$STAGES>
!params = !cutlass.scheduler_params<$SCHEDULER, m>
!work = !cutlass.work_tile_info
!acc = vector<${SUMS}xf32>
!tile = !cute.ptr<i8, smem, align<1024>, S<3,4,3>>
!elements = !cute.ptr<$ELEMENT, smem, align<1024>, S<3,4,3>>
!barrier = !cute.ptr<i64, smem>

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
  %pipe = cutlass.pipeline.create %barriers : !barrier -> !pipe
  %producers = cutlass.pipeline.make_participants : !cutlass.participants<[0]>
  %consumers = cutlass.pipeline.make_participants : !cutlass.participants<[$CONSUMERS]>
  cutlass.pipeline.init %pipe, %producers, %consumers {numStages = $STAGES : i32, numProducers = 1 : i32, numConsumers = $COUNT : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !pipe, !cutlass.participants<[0]>, !cutlass.participants<[$CONSUMERS]>

  cutlass.pipeline.switch_by_executor %warp of $WARPS masks [15, $MASK] {
    cute_nvgpu.arch.setmaxregister 40 increase = false
    %zero = arith.constant 0 : i32
    %is_first = arith.cmpi eq, %warp, %zero : i32
    scf.if %is_first {
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
    }
  } {
    cute_nvgpu.arch.setmaxregister 232 increase = $GROWS
    %elected = cute_nvgpu.arch.elect_one
    $PLACE_OF_WARP
    %s0 = cutlass.pipeline.state.create "consumer" : !state
    %w0 = cutlass.tile_scheduler.initial_work_tile_info %params : !params
    %wn, %sn = scf.while (%w = %w0, %s = %s0) : (!work, !state) -> (!work, !state) {
      %valid = cutlass.tile_scheduler.work_tile_info_get_value %params, %w["is_valid"] : !params -> i1
      scf.condition(%valid) %w, %s : !work, !state
    } do {
    ^bb0(%w: !work, %s: !state):
      %tm, %tn, %tk, %tl = cutlass.tile_scheduler.work_tile_info_to_coord_mnkl %params, %w : !params
      %none = arith.constant dense<0.0> : !acc
      %se, %acc = scf.for %i = %c0 to %blocks step %c1 iter_args(%at = %s, %sum = %none) -> (!state, !acc) {
        %then, %done = cutlass.pipeline.consume %pipe, %at if %elected : !pipe, !state -> !state, !acc {
        ^bb0(%stage: i32):
          %offset = arith.muli %stage, %slot_bytes : i32
          %slot = cute.add_offset %tiles, %offset : !tile, i32 -> !tile
          %own = arith.constant $BYTES_OF_ROWS : i32
          %mine = arith.muli %group, %own : i32
          %of_a = cute.add_offset %slot, %mine : !tile, i32 -> !tile
          %behind = arith.constant $BYTES_A : i32
          %of_b = cute.add_offset %slot, %behind : !tile, i32 -> !tile
          %ta = cute.recast_iter %of_a : !tile -> !elements
          %tb = cute.recast_iter %of_b : !tile -> !elements
          %da = cute_nvgpu.gmma_smem_desc_of %ta layout <"(64,$STEP):($BK,1)"> major "k" : !elements
          %db = cute_nvgpu.gmma_smem_desc_of %tb layout <"($BN,$STEP):($BK,1)"> major "k" : !elements
          cute_nvgpu.arch.wgmma_fence
          $PRODUCTS
          cute_nvgpu.arch.wgmma_commit_group
          %read = cute_nvgpu.arch.wgmma_wait_group 0, $SUM : !acc -> !acc
          cutlass.yield %read : !acc
        }
        scf.yield %then, %done : !state, !acc
      }
      $STORES
      %next = cutlass.tile_scheduler.static_fetch_next_work %params, %w : !params
      scf.yield %next, %se : !work, !state
    }
  }
  func.return
}
