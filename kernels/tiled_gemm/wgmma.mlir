// C = A * B by tiled copies and a tiled MMA alone: warp 0 loads by TMA, warps 4 to 11 multiply by
// wgmma, 64 rows of a tile for each four of them, and store panels of C by TMA.

$TYPES
!mma = !cute_nvgpu.sm90.mma<64x${BN}x$STEP, ab_major = (k, k), elem_type = ($ELEMENT, $ELEMENT, f32), frag_kind = ss>
!tiled = !cute.tiled_mma<!mma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!out = !cute_nvgpu.atom.universal_copy<f32, 64 b>

func.func @tiled_gemm(%a: !a, %b: !b, %c: !c) attributes {cute.kernel, cute.target = "sm_90a", nvvm.reqntid = array<i32: 384, 1, 1>} {
$SETUP
  %loader = cutlass.pipeline.make_participants : !cutlass.participants<[0]>
  %multipliers = cutlass.pipeline.make_participants : !cutlass.participants<[4, 5, 6, 7, 8, 9, 10, 11]>
  cutlass.pipeline.init %pipe, %loader, %multipliers {numStages = $STAGES : i32, numProducers = 1 : i32, numConsumers = 8 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !pipe, !cutlass.participants<[0]>, !cutlass.participants<[4, 5, 6, 7, 8, 9, 10, 11]>

  cutlass.pipeline.switch_by_executor %warp of 12 masks [15, 4080] {
    cute_nvgpu.arch.setmaxregister 40 increase = false
    %zero = arith.constant 0 : i32
    %loads = arith.cmpi eq, %warp, %zero : i32
    scf.if %loads {
$PRODUCE
    }
  } {
    cute_nvgpu.arch.setmaxregister 232 increase = true
    %elected = cute_nvgpu.arch.elect_one
    %below = arith.constant 128 : i32
    %mine = arith.subi %t, %below : i32
    %four = arith.constant 4 : i32
    %warpgroup = arith.divui %warp, %four : i32
    %one = arith.constant 1 : i32
    %number = arith.subi %warpgroup, %one : i32
    %leads = arith.muli %number, %below : i32
    %thread = cute.make_coord(%mine) : (i32) -> !cute.coord<"?">
    %group = cute.make_coord(%leads) : (i32) -> !cute.coord<"?">
    %part_a = cute.tiled.mma.partition(%tiled, %sa, %group) <{operand_id = "A"}> : !cute.view
    %part_b = cute.tiled.mma.partition(%tiled, %sb, %group) <{operand_id = "B"}> : !cute.view
    %part_c = cute.tiled.mma.partition(%tiled, %sc, %thread) <{operand_id = "C"}> : !cute.view
    %ra = cute.mma.make_fragment(%tiled, %part_a) <{operand_id = "A"}> : !cute.view
    %rb = cute.mma.make_fragment(%tiled, %part_b) <{operand_id = "B"}> : !cute.view
    %rc = cute.mma.make_fragment(%tiled, %kept) <{operand_id = "C"}> : !cute.view

    %s0 = cutlass.pipeline.state.create "consumer" : !state
    %sn, %some = scf.for %i = %c0 to %blocks step %c1 iter_args(%at = %s0, %adds = %zero_if) -> (!state, i1) {
      %then = cutlass.pipeline.consume %pipe, %at if %elected : !pipe, !state -> !state {
      ^bb0(%stage: i32):
        %slot = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a_now = cute.slice(%ra, %slot) : !cute.view
        %b_now = cute.slice(%rb, %slot) : !cute.view
        %add = cute_nvgpu.atom.set_value %tiled["accum_c"] = %adds : !tiled, i1 -> !tiled
        cute_nvgpu.arch.wgmma_fence
        cute.gemm(%add, %rc, %a_now, %b_now, %rc) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
        cute_nvgpu.arch.wgmma_commit_group
        cute_nvgpu.arch.wgmma_wait_group 0
        cutlass.yield
      }
      %always = arith.constant true
      scf.yield %then, %always : !state, i1
    }
    %out = cute.make_atom() : () -> !out
    cute.copy(%out, %rc, %part_c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
$STORE
  }
  func.return
}
