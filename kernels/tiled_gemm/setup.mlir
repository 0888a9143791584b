  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %warp = cute_nvgpu.arch.warp_idx
  %t = cute_nvgpu.arch.thread_idx "x"
  %bx = cute_nvgpu.arch.block_idx "x"
  %by = cute_nvgpu.arch.block_idx "y"
  %here = cute.static : !cute.coord<"0">
  %alone = cute.static : !cute.layout<"1:0">

  // A stage of A, of B and a panel of C in shared memory, and what of a tensor each is.
  %lie_a = cute.static : !lie_a
  %lie_b = cute.static : !lie_b
  %lie_c = cute.static : !lie_c
  %are_a = cute.static : !are_a
  %are_b = cute.static : !are_b
  %are_c = cute.static : !are_c
  %parts_a, %in_a = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lie_a, %are_a : !a, !lie_a, !are_a -> !parts_a, !where
  %parts_b, %in_b = cute_nvgpu.atom.make_non_exec_tiled_tma_load %b, %lie_b, %are_b : !b, !lie_b, !are_b -> !parts_b, !where
  %parts_c, %in_c = cute_nvgpu.atom.make_non_exec_tiled_tma_store %c, %lie_c, %are_c : !c, !lie_c, !are_c -> !parts_c, !where
  %load_a = cute_nvgpu.atom.make_exec_tma %parts_a : !parts_a -> !load_a
  %load_b = cute_nvgpu.atom.make_exec_tma %parts_b : !parts_b -> !load_b
  %store_c = cute_nvgpu.atom.make_exec_tma %parts_c : !parts_c -> !store_c

  // The tiles of this block: coordinates of A and B along K, of C in panels.
  %rows = cute.make_coord(%by) : (i32) -> !cute.coord<"(?,_)">
  %columns = cute.make_coord(%bx) : (i32) -> !cute.coord<"(?,_)">
  %place = cute.make_coord(%by, %bx) : (i32, i32) -> !cute.coord<"(?,?)">
  %tile_a = cute.static : !cute.tile<"[$BM:1;$BK:1]">
  %tile_b = cute.static : !cute.tile<"[$BN:1;$BK:1]">
  %tile_c = cute.static : !cute.tile<"[$BM:1;$BN:1]">
  %panel = cute.static : !cute.tile<"[$BM:1;32:1]">
  %ga = cute.local_tile(%in_a, %tile_a, %rows) : !cute.view
  %gb = cute.local_tile(%in_b, %tile_b, %columns) : !cute.view
  %gc = cute.local_tile(%in_c, %tile_c, %place) : !cute.view
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<$ELEMENT, smem, align<1024>, S<3,4,3>, "($BM,$BK,$STAGES):($BK,1,$SIZE_A)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<$ELEMENT, smem, align<1024>, S<3,4,3>, "($BN,$BK,$STAGES):($BK,1,$SIZE_B)">
  %sc = cute.memref.alloc_smem() : () -> !cute.memref<f32, smem, align<1024>, S<3,4,3>, "($BM,(32,$PANELS)):(32,(1,$SIZE_C))">

  %whole_sa = cute.group_modes(%sa) <{begin = 0, end = 2}> : !cute.view
  %whole_sb = cute.group_modes(%sb) <{begin = 0, end = 2}> : !cute.view
  %whole_ga = cute.group_modes(%ga) <{begin = 0, end = 2}> : !cute.view
  %whole_gb = cute.group_modes(%gb) <{begin = 0, end = 2}> : !cute.view
  %panels_sc = cute.zipped_divide(%sc, %panel) : !cute.view
  %panels_gc = cute.zipped_divide(%gc, %panel) : !cute.view
  %to_a, %from_a = cute_nvgpu.atom.tma_partition(%load_a, %here, %alone, %whole_sa, %whole_ga)
  %to_b, %from_b = cute_nvgpu.atom.tma_partition(%load_b, %here, %alone, %whole_sb, %whole_gb)
  %from_c, %to_c = cute_nvgpu.atom.tma_partition(%store_c, %here, %alone, %panels_sc, %panels_gc)

  %tiles = cute.size(%ga) <{mode = [2]}> : !cute.int_tuple
  %many = cute.get_scalars(%tiles) <{only_dynamic}> : i32
  %blocks = arith.index_cast %many : i32 to index

  %zero_if = arith.constant false
  %atom = cute.make_atom($STATE) : ($STATE_TYPES) -> !mma
  %tiled = cute.make_tiled_mma(%atom) : (!mma) -> !tiled
  %shape_c = cute.static : !cute.shape<"($BM,$BN)">
  %kept = cute.tiled.mma.partition_shape(%tiled, %shape_c) <{operand_id = "C"}> : !cute.shape

  %barriers = cute.memref.alloc_smem() : () -> !cute.memref<i64, smem, align<8>, "($BARRIERS):(1)">
  %first_barrier = cute.get_iter(%barriers) : !cute.ptr
  %pipe = cutlass.pipeline.create %first_barrier : !barrier -> !pipe
