// Sparse products, and products with block scales in tensor memory: metadata and addresses of scales
// are values of the atom.  The instruction descriptor of a sparse product is a constant.

// RUN: tileas-opt %s -p convert-cute-to-nvgpu | filecheck %s

!warp = !cute_nvgpu.sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32), metadata = ordered>

func.func @warp(%e: i32) -> f32 {
  %atom = cute.make_atom(%e) : (i32) -> !warp
  %a = cute.memref.alloca() : () -> !cute.memref<f16, rmem, "(8):(1)">
  %b = cute.memref.alloca() : () -> !cute.memref<f16, rmem, "(8):(1)">
  %d = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(4):(1)">
  cute.mma_atom_call(%atom, %d, %a, %b, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  %at = cute.static : !cute.coord<"2">
  %x = cute.memref.load(%d, %at) : f32
  func.return %x : f32
}

!sparse = !cute_nvgpu.sm100.mma_sp<128x16x32, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>
!scaled = !cute_nvgpu.sm100.mma_bs<128x16x32, num_cta = 1, ab_major = (k, k), elem_type = (f8E4M3FN, f8E4M3FN, f32), sf_type = f8E8M0FNU, frag_kind = ss, vec_size = 32>
!both = !cute_nvgpu.sm100.mma_bs_sp<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f8E4M3FN, f8E4M3FN, f32), sf_type = f8E8M0FNU, frag_kind = ss, vec_size = 32>
!view = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">

// CHECK-LABEL: func.func @warp
// CHECK:     %{{[0-9]+}} = cute_nvgpu.arch.mma.SM80.sparse %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} metadata %e of 0 ordered shape [16, 8, 32] elements "f16", "f16" : vector<8xf16>, vector<8xf16>, vector<4xf32> -> vector<4xf32>

!narrow = !cute_nvgpu.SM120.mma_bs<16x8x32, vec_size = 32, elem_type = (f8E4M3FN, f8E5M2, f32), sf_type = f8E8M0FNU, use_sf_layout_TV = false>
func.func @narrow(%s: i32) -> f32 {
  %atom = cute.make_atom(%s, %s) : (i32, i32) -> !narrow
  %a = cute.memref.alloca() : () -> !cute.memref<f8E4M3FN, rmem, "(16):(1)">
  %b = cute.memref.alloca() : () -> !cute.memref<f8E5M2, rmem, "(8):(1)">
  %d = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(4):(1)">
  cute.mma_atom_call(%atom, %d, %a, %b, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  %at = cute.static : !cute.coord<"2">
  %x = cute.memref.load(%d, %at) : f32
  func.return %x : f32
}

// CHECK-LABEL: func.func @narrow
// CHECK: cute_nvgpu.arch.mma.SM120.block_scaled {{.*}} scales %s of 0, %s of 0 shape [16, 8, 32] elements f8E4M3FN, f8E5M2 scaled f8E8M0FNU by 32 : vector<16xf8E4M3FN>, vector<8xf8E5M2>, vector<4xf32> -> vector<4xf32>

func.func @sparse(%adds: i1, %memory: i32, %e: i32) {
  %false = arith.constant false
  %atom = cute.make_atom(%adds, %false, %false, %e) : (i1, i1, i1, i32) -> !sparse
  %tiled = cute.make_tiled_mma(%atom) : (!sparse) -> !cute.tiled_mma<!sparse, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
  %here = cute.static : !cute.coord<"0">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<2,4,3>, "(128,32):(32,1)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<2,4,3>, "(16,32):(32,1)">
  %pa = cute.tiled.mma.partition(%tiled, %sa, %here) <{operand_id = "A"}> : !cute.view
  %pb = cute.tiled.mma.partition(%tiled, %sb, %here) <{operand_id = "B"}> : !cute.view
  %shape = cute.static : !cute.shape<"(128,16)">
  %pc = cute.tiled.mma.partition_shape(%tiled, %shape) <{operand_id = "C"}> : !cute.shape
  %a = cute.mma.make_fragment(%tiled, %pa) <{operand_id = "A"}> : !cute.view
  %b = cute.mma.make_fragment(%tiled, %pb) <{operand_id = "B"}> : !cute.view
  %shaped = cute.mma.make_fragment(%tiled, %pc) <{operand_id = "C"}> : !cute.view
  %lie = cute.get_layout(%shaped) : !cute.layout
  %base = cute.inttoptr %memory : i32 -> !cute.ptr<f32, tmem, align<16>>
  %d = cute.make_view(%base, %lie) : !cute.view
  cute.gemm(%tiled, %d, %a, %b, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// CHECK-LABEL: func.func @sparse
// CHECK:     %{{[0-9]+}} = arith.constant 134479892 : i32
// CHECK:     cute_nvgpu.arch.mma.SM100.umma_sparse %{{[0-9]+}}, %{{[0-9]+}}, %memory metadata %e descriptor %{{[0-9]+}} accumulate %adds {kind = "f16", num_cta = 1 : i32}

func.func @scaled(%adds: i1, %memory: i32, %e: i32) {
  %false = arith.constant false
  %atom = cute.make_atom(%adds, %false, %false, %e, %memory) : (i1, i1, i1, i32, i32) -> !scaled
  %tiled = cute.make_tiled_mma(%atom) : (!scaled) -> !cute.tiled_mma<!scaled, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
  %here = cute.static : !cute.coord<"0">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<1,4,3>, "(128,32):(32,1)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<1,4,3>, "(16,32):(32,1)">
  %pa = cute.tiled.mma.partition(%tiled, %sa, %here) <{operand_id = "A"}> : !cute.view
  %pb = cute.tiled.mma.partition(%tiled, %sb, %here) <{operand_id = "B"}> : !cute.view
  %shape = cute.static : !cute.shape<"(128,16)">
  %pc = cute.tiled.mma.partition_shape(%tiled, %shape) <{operand_id = "C"}> : !cute.shape
  %a = cute.mma.make_fragment(%tiled, %pa) <{operand_id = "A"}> : !cute.view
  %b = cute.mma.make_fragment(%tiled, %pb) <{operand_id = "B"}> : !cute.view
  %shaped = cute.mma.make_fragment(%tiled, %pc) <{operand_id = "C"}> : !cute.view
  %lie = cute.get_layout(%shaped) : !cute.layout
  %base = cute.inttoptr %memory : i32 -> !cute.ptr<f32, tmem, align<16>>
  %d = cute.make_view(%base, %lie) : !cute.view
  cute.gemm(%tiled, %d, %a, %b, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// CHECK-LABEL: func.func @scaled
// CHECK:     cute_nvgpu.arch.mma.SM100.umma_block_scaled %{{[0-9]+}}, %{{[0-9]+}}, %memory scales %e[0], %memory[0] accumulate %adds shape [128, 16, 32] kind "mxf8f6f4" scale_vec "1X" elements "e4m3", "e4m3", "ue8m0" blocks 1

func.func @both(%adds: i1, %memory: i32, %e: i32) {
  %false = arith.constant false
  %atom = cute.make_atom(%adds, %false, %false, %e, %memory, %e) : (i1, i1, i1, i32, i32, i32) -> !both
  %tiled = cute.make_tiled_mma(%atom) : (!both) -> !cute.tiled_mma<!both, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
  %here = cute.static : !cute.coord<"0">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<2,4,3>, "(128,64):(64,1)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<2,4,3>, "(16,64):(64,1)">
  %pa = cute.tiled.mma.partition(%tiled, %sa, %here) <{operand_id = "A"}> : !cute.view
  %pb = cute.tiled.mma.partition(%tiled, %sb, %here) <{operand_id = "B"}> : !cute.view
  %shape = cute.static : !cute.shape<"(128,16)">
  %pc = cute.tiled.mma.partition_shape(%tiled, %shape) <{operand_id = "C"}> : !cute.shape
  %a = cute.mma.make_fragment(%tiled, %pa) <{operand_id = "A"}> : !cute.view
  %b = cute.mma.make_fragment(%tiled, %pb) <{operand_id = "B"}> : !cute.view
  %shaped = cute.mma.make_fragment(%tiled, %pc) <{operand_id = "C"}> : !cute.view
  %lie = cute.get_layout(%shaped) : !cute.layout
  %base = cute.inttoptr %memory : i32 -> !cute.ptr<f32, tmem, align<16>>
  %d = cute.make_view(%base, %lie) : !cute.view
  cute.gemm(%tiled, %d, %a, %b, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// CHECK-LABEL: func.func @both
// CHECK:     %{{[0-9]+}} = arith.constant 142868484 : i32
// CHECK:     cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %{{[0-9]+}}, %{{[0-9]+}}, %memory scales %e, %memory metadata %e descriptor %{{[0-9]+}} accumulate %adds {kind = "mxf8f6f4", num_cta = 1 : i32, scale_vec = "1X"}

// Further instructions have scales of their own: the bytes of a column along K, further columns
// along M (128 rows are 4 columns).  Metadata of f16 are in one column of a pair.

func.func @scaled_loop(%adds: i1, %memory: i32, %at: i32, %bt: i32) {
  %false = arith.constant false
  %atom = cute.make_atom(%adds, %false, %false, %at, %bt) : (i1, i1, i1, i32, i32) -> !scaled
  %tiled = cute.make_tiled_mma(%atom) : (!scaled) -> !cute.tiled_mma<!scaled, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
  %here = cute.static : !cute.coord<"0">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<2,4,3>, "(256,64):(64,1)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<2,4,3>, "(16,64):(64,1)">
  %pa = cute.tiled.mma.partition(%tiled, %sa, %here) <{operand_id = "A"}> : !cute.view
  %pb = cute.tiled.mma.partition(%tiled, %sb, %here) <{operand_id = "B"}> : !cute.view
  %shape = cute.static : !cute.shape<"(256,16)">
  %pc = cute.tiled.mma.partition_shape(%tiled, %shape) <{operand_id = "C"}> : !cute.shape
  %a = cute.mma.make_fragment(%tiled, %pa) <{operand_id = "A"}> : !cute.view
  %b = cute.mma.make_fragment(%tiled, %pb) <{operand_id = "B"}> : !cute.view
  %shaped = cute.mma.make_fragment(%tiled, %pc) <{operand_id = "C"}> : !cute.view
  %lie = cute.get_layout(%shaped) : !cute.layout
  %base = cute.inttoptr %memory : i32 -> !cute.ptr<f32, tmem, align<16>>
  %d = cute.make_view(%base, %lie) : !cute.view
  %pfa = cute.inttoptr %at : i32 -> !cute.ptr<f8E8M0FNU, tmem, align<16>>
  %pfb = cute.inttoptr %bt : i32 -> !cute.ptr<f8E8M0FNU, tmem, align<16>>
  %la = cute.static : !cute.layout<"(4,2,2):(4,16,1)">
  %lb = cute.static : !cute.layout<"(4,1,2):(4,0,1)">
  %sfa = cute.make_view(%pfa, %la) : !cute.view
  %sfb = cute.make_view(%pfb, %lb) : !cute.view
  cute.gemm(%tiled, %d, %a, %sfa, %b, %sfb, %d) <{operandSegmentSizes = array<i32: 1, 1, 2, 2, 1>}>
  func.return
}

// CHECK-LABEL: func.func @scaled_loop
// CHECK: cute_nvgpu.arch.mma.SM100.umma_block_scaled {{.*}}, %memory scales %at[0], %bt[0] accumulate %adds
// CHECK: %[[TILE:[0-9]+]] = arith.constant 4 : i32
// CHECK: %[[SECOND:[0-9]+]] = arith.addi %at, %[[TILE]] : i32
// CHECK: cute_nvgpu.arch.mma.SM100.umma_block_scaled {{.*}} scales %[[SECOND]][0], %bt[0] accumulate %adds
// CHECK: %[[YES:[0-9]+]] = arith.constant true
// CHECK: cute_nvgpu.arch.mma.SM100.umma_block_scaled {{.*}}, %memory scales %at[1], %bt[1] accumulate %[[YES]]
// CHECK: %[[THIRD:[0-9]+]] = arith.addi %at, %[[TILE]] : i32
// CHECK: cute_nvgpu.arch.mma.SM100.umma_block_scaled {{.*}} scales %[[THIRD]][1], %bt[1] accumulate %[[YES]]

func.func @sparse_loop(%adds: i1, %memory: i32, %e: i32) {
  %false = arith.constant false
  %atom = cute.make_atom(%adds, %false, %false, %e) : (i1, i1, i1, i32) -> !sparse
  %tiled = cute.make_tiled_mma(%atom) : (!sparse) -> !cute.tiled_mma<!sparse, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
  %here = cute.static : !cute.coord<"0">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,(64,2)):(64,(1,8192))">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(16,(64,2)):(64,(1,1024))">
  %pa = cute.tiled.mma.partition(%tiled, %sa, %here) <{operand_id = "A"}> : !cute.view
  %pb = cute.tiled.mma.partition(%tiled, %sb, %here) <{operand_id = "B"}> : !cute.view
  %shape = cute.static : !cute.shape<"(128,16)">
  %pc = cute.tiled.mma.partition_shape(%tiled, %shape) <{operand_id = "C"}> : !cute.shape
  %a = cute.mma.make_fragment(%tiled, %pa) <{operand_id = "A"}> : !cute.view
  %b = cute.mma.make_fragment(%tiled, %pb) <{operand_id = "B"}> : !cute.view
  %shaped = cute.mma.make_fragment(%tiled, %pc) <{operand_id = "C"}> : !cute.view
  %lie = cute.get_layout(%shaped) : !cute.layout
  %base = cute.inttoptr %memory : i32 -> !cute.ptr<f32, tmem, align<16>>
  %d = cute.make_view(%base, %lie) : !cute.view
  %pe = cute.inttoptr %e : i32 -> !cute.ptr<i8, tmem, align<16>>
  %le = cute.static : !cute.layout<"(4,1,4):(1,0,4)">
  %me = cute.make_view(%pe, %le) : !cute.view
  cute.gemm(%tiled, %d, %a, %me, %b, %d) <{operandSegmentSizes = array<i32: 1, 1, 2, 1, 1>}>
  func.return
}

// Instructions 0 and 2 have selector 0, 1 and 3 have selector 1; a pair of columns for two of them.

// CHECK-LABEL: func.func @sparse_loop
// CHECK: %[[I0:[0-9]+]] = arith.constant 134479892 : i32
// CHECK: umma_sparse {{.*}}, %memory metadata %e descriptor %[[I0]] accumulate %adds
// CHECK: %[[I1:[0-9]+]] = arith.constant 134479893 : i32
// CHECK: umma_sparse {{.*}}, %memory metadata %e descriptor %[[I1]]
// CHECK: %[[TWO:[0-9]+]] = arith.constant 2 : i32
// CHECK: %[[E2:[0-9]+]] = arith.addi %e, %[[TWO]] : i32
// CHECK: umma_sparse {{.*}}, %memory metadata %[[E2]]
// CHECK: umma_sparse {{.*}}, %memory metadata
