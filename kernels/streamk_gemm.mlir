// C = A * B where blocks share tiles along K (stream-K): the sums of a tile meet in the workspace.
//
// A tile is 64x32 and 32 deep; four warps have 32x16 of it each, by cp.async, ldmatrix, mma.sync.

!a = !cute.memref<$ELEMENT, gmem, align<16>, "(?,?):(?{div=8},1)">
!c = !cute.memref<f32, gmem, align<16>, "(?,?):(?{div=8},1)">
!load = !cute_nvgpu.atom.simt_async_copy<$ELEMENT, cache = global, 128 b>
!fill = !cute.tiled_copy<!load, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = ($ELEMENT, $ELEMENT, f32) >
!tiled = !cute.tiled_mma<!mma, atom_layout_MNK = <"(2,2,1):(1,2,0)">>
!ldsm_a = !cute_nvgpu.atom.ldsm<val_type = $ELEMENT, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!ldsm_b = !cute_nvgpu.atom.ldsm<val_type = $ELEMENT, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 2, n>
!read_a = !cute.tiled_copy<!ldsm_a, layout_copy_tv = <"(((4,8),2,2),(2,2,2)):(((64,1),16,0),(32,8,256))">, tiler_mn = <"[32:1;16:1]">>
!read_b = !cute.tiled_copy<!ldsm_b, layout_copy_tv = <"(((4,8),2,2),(2,2)):(((32,1),0,8),(16,128))">, tiler_mn = <"[16:1;16:1]">>
!held = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
!params = !cutlass.scheduler_params<streamk, $RASTER>
!work = !cutlass.work_tile_info<streamk>
!sums = !cute.ptr<f32, gmem, align<16>>
!out = !cute_nvgpu.atom.universal_copy<f32, 64 b>
func.func @streamk_gemm(%a: !a, %b: !a, %c: !c, %workspace: !sums) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %blocks = cute_nvgpu.arch.grid_dim "x"
  %one = arith.constant 1 : i32
  %c1 = arith.constant 1 : index
  %thread = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %load = cute.make_atom() : () -> !load
  %fill = cute.make_tiled_copy(%load) : (!load) -> !fill
  %atom = cute.make_atom() : () -> !mma
  %tiled = cute.make_tiled_mma(%atom) : (!mma) -> !tiled
  %la = cute.make_atom() : () -> !ldsm_a
  %lb = cute.make_atom() : () -> !ldsm_b
  %read_a = cute.make_tiled_copy(%la) : (!ldsm_a) -> !read_a
  %read_b = cute.make_tiled_copy(%lb) : (!ldsm_b) -> !read_b
  %out = cute.make_atom() : () -> !out

  %tile_a = cute.static : !cute.tile<"[64:1;32:1]">
  %tile_b = cute.static : !cute.tile<"[32:1;32:1]">
  %tile_c = cute.static : !cute.tile<"[64:1;32:1]">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<$ELEMENT, smem, align<1024>, S<2,4,3>, "(64,32):(32,1)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<$ELEMENT, smem, align<1024>, S<2,4,3>, "(32,32):(32,1)">
  %to_a = cute.tiled.copy.partition_D(%fill, %sa, %thread) : !cute.view
  %to_b = cute.tiled.copy.partition_D(%fill, %sb, %thread) : !cute.view
  %part_a = cute.tiled.mma.partition(%tiled, %sa, %thread) <{operand_id = "A"}> : !cute.view
  %part_b = cute.tiled.mma.partition(%tiled, %sb, %thread) <{operand_id = "B"}> : !cute.view

  %shape_a = cute.get_shape(%a) : !cute.shape
  %shape_b = cute.get_shape(%b) : !cute.shape
  %m, %k = cute.get_scalars(%shape_a) : (!cute.shape<"(?,?)">) -> (i32, i32)
  %n, %same = cute.get_scalars(%shape_b) : (!cute.shape<"(?,?)">) -> (i32, i32)
  %p = cutlass.tile_scheduler.make_streamk_params %m, %n, %k, %one tile [64, 32, 32] units %blocks least 1 : !params
  %w0 = cutlass.tile_scheduler.initial_work_tile_info %p : !params
  %wn = scf.while (%w = %w0) : (!work) -> (!work) {
    %valid = cutlass.tile_scheduler.work_tile_info_get_value %p, %w["is_valid"] : !params -> i1
    scf.condition(%valid) %w : !work
  } do {
  ^bb0(%w: !work):
    %tm, %tn, %tl = cutlass.tile_scheduler.work_tile_info_to_cta_coord %p, %w : !params
    %rows = cute.make_coord(%tm) : (i32) -> !cute.coord<"(?,_)">
    %columns = cute.make_coord(%tn) : (i32) -> !cute.coord<"(?,_)">
    %place = cute.make_coord(%tm, %tn) : (i32, i32) -> !cute.coord<"(?,?)">
    %ga = cute.local_tile(%a, %tile_a, %rows) : !cute.view
    %gb = cute.local_tile(%b, %tile_b, %columns) : !cute.view
    %gc = cute.local_tile(%c, %tile_c, %place) : !cute.view
    %from_a = cute.tiled.copy.partition_S(%fill, %ga, %thread) : !cute.view
    %from_b = cute.tiled.copy.partition_S(%fill, %gb, %thread) : !cute.view
    %part_c = cute.tiled.mma.partition(%tiled, %gc, %thread) <{operand_id = "C"}> : !cute.view
    %ra = cute.mma.make_fragment(%tiled, %part_a) <{operand_id = "A"}> : !cute.view
    %rb = cute.mma.make_fragment(%tiled, %part_b) <{operand_id = "B"}> : !cute.view
    %shape_c = cute.static : !cute.shape<"(64,32)">
    %kept = cute.tiled.mma.partition_shape(%tiled, %shape_c) <{operand_id = "C"}> : !cute.shape
    %rc = cute.mma.make_fragment(%tiled, %kept) <{operand_id = "C"}> : !held
    %rows_a = cute.tiled.copy.partition_S(%read_a, %sa, %thread) : !cute.view
    %rows_b = cute.tiled.copy.partition_S(%read_b, %sb, %thread) : !cute.view
    %held_a = cute.tiled.copy.retile(%read_a, %ra) : !cute.view
    %held_b = cute.tiled.copy.retile(%read_b, %rb) : !cute.view
    %none = arith.constant dense<0.0> : vector<16xf32>
    cute.memref.store_vec(%none, %rc)

    %first = cutlass.tile_scheduler.get_work_k_tile_start %p, %w : !params
    %count = cutlass.tile_scheduler.get_work_k_tile_count %p, %w : !params
    %behind = arith.addi %first, %count : i32
    scf.for %at = %first to %behind step %one : i32 {
      %step = cute.make_coord(%at) : (i32) -> !cute.coord<"(_,_,_,?)">
      %next_a = cute.slice(%from_a, %step) : !cute.view
      %next_b = cute.slice(%from_b, %step) : !cute.view
      cute.copy(%fill, %next_a, %to_a) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
      cute.copy(%fill, %next_b, %to_b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
      cute_nvgpu.arch.copy.SM80.cp_async_commit_group
      cute_nvgpu.arch.copy.SM80.cp_async_wait_group 0
      cute_nvgpu.arch.barrier id 0
      cute.copy(%read_a, %rows_a, %held_a) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
      cute.copy(%read_b, %rows_b, %held_b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
      cute.gemm(%tiled, %rc, %ra, %rb, %rc) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
      cute_nvgpu.arch.barrier id 0
    }
    cutlass.tile_scheduler.fixup %p, %w, %rc, %workspace thread %t at 1 threads 128 width 4 : !params, !held, !sums
    %last = cutlass.tile_scheduler.compute_epilogue %p, %w : !params
    scf.if %last {
      cute.copy(%out, %rc, %part_c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
    }
    %next = cutlass.tile_scheduler.fetch_next_work %p, %w : !params
    scf.yield %next : !work
  }
  func.return
}
