// C = A * B by tiled copies and a tiled MMA alone: warp 0 loads by TMA, warp 1 multiplies by tcgen05
// into tensor memory, warps 4 to 7 read it and store panels of C by TMA.

$TYPES
!mma = !cute_nvgpu.sm100.mma<${BM}x${BN}x$STEP, num_cta = 1, ab_major = (k, k), elem_type = ($ELEMENT, $ELEMENT, f32), frag_kind = ss, c_scale_exp = 0>
!tiled = !cute.tiled_mma<!mma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!read = !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x32>
!reads = !cute.tiled_copy<!read, layout_copy_tv = <"(128,32):(1,128)">, tiler_mn = <"[128:1;32:1]">>
!out = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!sums = !cutlass.pipeline<umma_async, 1>
!turn = !cutlass.pipeline_state<1>
!place = !cute.ptr<i32, smem, align<8>>

func.func @tiled_gemm(%a: !a, %b: !b, %c: !c) attributes {cute.kernel, cute.target = "sm_100a", nvvm.reqntid = array<i32: 256, 1, 1>} {
$SETUP
  %others = cute.memref.alloc_smem() : () -> !cute.memref<i64, smem, align<8>, "(2):(1)">
  %first_other = cute.get_iter(%others) : !cute.ptr
  %sums = cutlass.pipeline.create %first_other : !barrier -> !sums
  %loader = cutlass.pipeline.make_participants : !cutlass.participants<[0]>
  %issuer = cutlass.pipeline.make_participants : !cutlass.participants<[1]>
  %storers = cutlass.pipeline.make_participants : !cutlass.participants<[4, 5, 6, 7]>
  cutlass.pipeline.init %pipe, %loader, %issuer {numStages = $STAGES : i32, numProducers = 1 : i32, numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !pipe, !cutlass.participants<[0]>, !cutlass.participants<[1]>
  cutlass.pipeline.init %sums, %issuer, %storers {numStages = 1 : i32, numProducers = 1 : i32, numConsumers = 4 : i32, producer_group_id = 1 : i32, consumer_group_id = 2 : i32} : !sums, !cutlass.participants<[1]>, !cutlass.participants<[4, 5, 6, 7]>

  // Sums are in tensor memory: the type says how they lie, the allocation says where.
  %cell = cute.memref.alloc_smem() : () -> !cute.memref<i32, smem, align<8>, "(1):(1)">
  %written = cute.get_iter(%cell) : !cute.ptr
  %two = arith.constant 2 : i32
  %allocates = arith.cmpi eq, %warp, %two : i32
  scf.if %allocates {
    cute_nvgpu.arch.sm100.alloc_tmem %written, $COLUMNS blocks 1 : !place
    cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit blocks 1
  }
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"
  %memory = cute_nvgpu.arch.sm100.retrieve_tmem_ptr %written : !place
  %base = cute.inttoptr %memory : i32 -> !cute.ptr<f32, tmem, align<16>>
  %shaped = cute.mma.make_fragment(%tiled, %kept) <{operand_id = "C"}> : !cute.view
  %lie = cute.get_layout(%shaped) : !cute.layout
  %d = cute.make_view(%base, %lie) : !cute.view

  cutlass.pipeline.switch_by_executor %warp of 8 masks [1, 2, 12, 240] {
$PRODUCE
  } {
    %elected = cute_nvgpu.arch.elect_one
    %part_a = cute.tiled.mma.partition(%tiled, %sa, %here) <{operand_id = "A"}> : !cute.view
    %part_b = cute.tiled.mma.partition(%tiled, %sb, %here) <{operand_id = "B"}> : !cute.view
    %ra = cute.mma.make_fragment(%tiled, %part_a) <{operand_id = "A"}> : !cute.view
    %rb = cute.mma.make_fragment(%tiled, %part_b) <{operand_id = "B"}> : !cute.view
    %t0 = cutlass.pipeline.state.create "producer" : !turn
    cutlass.pipeline.producer_acquire %sums, %t0 : !sums, !turn
    %s0 = cutlass.pipeline.state.create "consumer" : !state
    %sn, %some = scf.for %i = %c0 to %blocks step %c1 iter_args(%at = %s0, %adds = %zero_if) -> (!state, i1) {
      %then = cutlass.pipeline.consume %pipe, %at if %elected : !pipe, !state -> !state {
      ^bb0(%stage: i32):
        scf.if %elected {
          %slot = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
          %a_now = cute.slice(%ra, %slot) : !cute.view
          %b_now = cute.slice(%rb, %slot) : !cute.view
          %add = cute_nvgpu.atom.set_value %tiled["accum_c"] = %adds : !tiled, i1 -> !tiled
          cute.gemm(%add, %d, %a_now, %b_now, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
        }
        cutlass.yield
      }
      %always = arith.constant true
      scf.yield %then, %always : !state, i1
    }
    cutlass.pipeline.producer_commit %sums, %t0 if %elected : !sums, !turn
  } {
  } {
    %elected = cute_nvgpu.arch.elect_one
    %below = arith.constant 128 : i32
    %mine = arith.subi %t, %below : i32
    %thread = cute.make_coord(%mine) : (i32) -> !cute.coord<"?">
    %read = cute.make_atom() : () -> !read
    %reads = cute.make_tiled_copy(%read) : (!read) -> !reads
    %out = cute.make_atom() : () -> !out
    %only = cute.static : !cute.coord<"((_,_),0,0)">
    %tile_d = cute.slice(%d, %only) : !cute.view
    %cells = cute.tiled.copy.partition_S(%reads, %tile_d, %thread) : !cute.view
    %part_c = cute.tiled.copy.partition_D(%reads, %sc, %thread) : !cute.view
    %rc = cute.make_fragment_like(%part_c) : !cute.view
    %t0 = cutlass.pipeline.state.create "consumer" : !turn
    cutlass.pipeline.consumer_wait %sums, %t0 : !sums, !turn
    cute.copy(%reads, %cells, %rc) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
    cute_nvgpu.arch.sm100.wait_tmem "load"
    cutlass.pipeline.consumer_release %sums, %t0 if %elected : !sums, !turn
    cute.copy(%out, %rc, %part_c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
$STORE
  }
  cute_nvgpu.arch.sm100.fence_tmem "before"
  cute_nvgpu.arch.barrier id 0
  cute_nvgpu.arch.sm100.fence_tmem "after"
  scf.if %allocates {
    cute_nvgpu.arch.sm100.dealloc_tmem %memory, $COLUMNS blocks 1
  }
  func.return
}
