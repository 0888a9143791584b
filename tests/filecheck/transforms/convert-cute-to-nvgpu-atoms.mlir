// Atoms of TMA, of warpgroups and of tensor memory become single instructions.

// RUN: tileas-opt %s -p convert-cute-to-nvgpu,canonicalize,cse | filecheck %s

// A tensor map is an argument that the launch makes; a box is a copy by it.

!box = !cute.layout<"(8,64):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@1,1@0)">, tma_format = F16_RN>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!where = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
func.func @load(%a: !view, %full: !cute.ptr<i64, smem>, %n: i32) attributes {cute.kernel} {
  %lies = cute.static : !lies
  %box = cute.static : !box
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lies, %box : !view, !lies, !box -> !parts, !where
  %made = cute_nvgpu.atom.make_exec_tma %parts : !parts -> !load
  %load = cute_nvgpu.atom.set_value %made["tma_bar"] = %full : !load, !cute.ptr<i64, smem> -> !load
  %s = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,64),2):((64,1),512)">
  %tile = cute.static : !cute.tile<"[8:1;64:1]">
  %tiles = cute.zipped_divide(%in, %tile) : !cute.view
  %block = cute.static : !cute.coord<"0">
  %blocks = cute.static : !cute.layout<"1:0">
  %to, %from = cute_nvgpu.atom.tma_partition(%load, %block, %blocks, %s, %tiles)
  %second = cute.static : !cute.coord<"(_,1)">
  %which = cute.make_coord(%n) : (i32) -> !cute.coord<"(_,(?,3))">
  %here = cute.slice(%to, %second) : !cute.view
  %there = cute.slice(%from, %which) : !cute.view
  cute.copy(%load, %there, %here) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// CHECK-LABEL:  func.func @load(%a: !cute.ptr<f16, gmem, align<16>>, %a_1: i32, %a_2: i32, %a_3: i32, %full: !cute.ptr<i64, smem>, %n: i32, %0: !cute_nvgpu.tma_descriptor_tiled) attributes {cute.kernel, tileas.smem_bytes = 2048 : i32, tileas.parameters = ["ptr 0", "size 0 0", "size 0 1", "stride 0 0", "ptr 1", "scalar 2", "tensor map 0"], tileas.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 8>, element = f16, swizzle = "128B", nan_fill = false}], tileas.smem_map = ""} {
// CHECK-NEXT:     %1 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
// CHECK-NEXT:     %2 = arith.constant 8 : i32
// CHECK-NEXT:     %3 = arith.constant 512 : i32
// CHECK-NEXT:     %4 = cute.add_offset %1, %3 : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>, i32 -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
// CHECK-NEXT:     %5 = arith.muli %n, %2 : i32
// CHECK-NEXT:     %6 = arith.constant 192 : i32
// CHECK-NEXT:     cute_nvgpu.arch.copy.SM90.tma_load %0[%6, %5] to %4, %full : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>, !cute.ptr<i64, smem>
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }

// Operands of a warpgroup are descriptors; the wait is for the registers that products write.

!wgmma = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!warpgroup = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
func.func @wgmma(%adds: i1, %stage: i32) -> vector<4xf32> {
  %atom = cute.make_atom() : () -> !wgmma
  %tiled = cute.make_tiled_mma(%atom) : (!wgmma) -> !warpgroup
  %thread = cute.static : !cute.coord<"0">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<2,4,3>, "(64,32,2):(32,1,2048)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<2,4,3>, "(8,32,2):(32,1,256)">
  %pa = cute.tiled.mma.partition(%tiled, %sa, %thread) <{operand_id = "A"}> : !cute.view
  %pb = cute.tiled.mma.partition(%tiled, %sb, %thread) <{operand_id = "B"}> : !cute.view
  %shape = cute.static : !cute.shape<"(64,8)">
  %pc = cute.tiled.mma.partition_shape(%tiled, %shape) <{operand_id = "C"}> : !cute.shape
  %ra = cute.mma.make_fragment(%tiled, %pa) <{operand_id = "A"}> : !cute.view
  %rb = cute.mma.make_fragment(%tiled, %pb) <{operand_id = "B"}> : !cute.view
  %rc = cute.mma.make_fragment(%tiled, %pc) <{operand_id = "C"}> : !cute.view
  %at = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
  %a = cute.slice(%ra, %at) : !cute.view
  %b = cute.slice(%rb, %at) : !cute.view
  %first = cute_nvgpu.atom.set_value %tiled["accum_c"] = %adds : !warpgroup, i1 -> !warpgroup
  cute_nvgpu.arch.wgmma_fence
  cute.gemm(%first, %rc, %a, %b, %rc) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  cute_nvgpu.arch.wgmma_commit_group
  cute_nvgpu.arch.wgmma_wait_group 0
  %sums = cute.memref.load_vec(%rc) : vector<4xf32>
  func.return %sums : vector<4xf32>
}

// CHECK-LABEL:  func.func @wgmma(%adds: i1, %stage: i32) -> vector<4xf32> {
// CHECK-NEXT:     %0 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
// CHECK-NEXT:     %1 = cute_nvgpu.arch.get_dyn_smem 8192 -> !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
// CHECK-NEXT:     %2 = cute_nvgpu.gmma_smem_desc_of %0 layout <"(64,16):(32,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
// CHECK-NEXT:     %3 = cute_nvgpu.gmma_smem_desc_of %1 layout <"(8,16):(32,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
// CHECK-NEXT:     %4 = cute.fragment.undef : vector<4xf32>
// CHECK-NEXT:     %5 = arith.constant 4096 : i32
// CHECK-NEXT:     %6 = arith.muli %stage, %5 : i32
// CHECK-NEXT:     %7 = cute_nvgpu.smem_desc_add %2 by %6
// CHECK-NEXT:     %8 = arith.constant 512 : i32
// CHECK-NEXT:     %9 = arith.muli %stage, %8 : i32
// CHECK-NEXT:     %10 = cute_nvgpu.smem_desc_add %3 by %9
// CHECK-NEXT:     cute_nvgpu.arch.wgmma_fence
// CHECK-NEXT:     %11 = cute_nvgpu.arch.mma.SM90 %7, %10, %4 scale_d %adds shape [64, 8, 16] elements "f16", "f16" major "k", "k" : !cute_nvgpu.smem_desc, vector<4xf32> -> vector<4xf32>
// CHECK-NEXT:     %12 = cute_nvgpu.smem_desc_add %7 bytes 32
// CHECK-NEXT:     %13 = cute_nvgpu.smem_desc_add %10 bytes 32
// CHECK-NEXT:     %14 = cute_nvgpu.arch.mma.SM90 %12, %13, %11 shape [64, 8, 16] elements "f16", "f16" major "k", "k" : !cute_nvgpu.smem_desc, vector<4xf32> -> vector<4xf32>
// CHECK-NEXT:     cute_nvgpu.arch.wgmma_commit_group
// CHECK-NEXT:     %sums = cute_nvgpu.arch.wgmma_wait_group 0, %14 : vector<4xf32> -> vector<4xf32>
// CHECK-NEXT:     func.return %sums : vector<4xf32>
// CHECK-NEXT:   }

// Sums in tensor memory have addresses, of lanes and columns; a warp reads its own lanes.

!umma = !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>
!block = !cute.tiled_mma<!umma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!read = !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x16>
!reads = !cute.tiled_copy<!read, layout_copy_tv = <"(128,16):(1,128)">, tiler_mn = <"[128:1;16:1]">>
func.func @umma(%adds: i1, %no: i1, %memory: i32, %t: i32) -> vector<16xf32> {
  %false = arith.constant false
  %atom = cute.make_atom(%adds, %false, %false) : (i1, i1, i1) -> !umma
  %tiled = cute.make_tiled_mma(%atom) : (!umma) -> !block
  %here = cute.static : !cute.coord<"0">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<2,4,3>, "(128,32):(32,1)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<2,4,3>, "(32,32):(32,1)">
  %pa = cute.tiled.mma.partition(%tiled, %sa, %here) <{operand_id = "A"}> : !cute.view
  %pb = cute.tiled.mma.partition(%tiled, %sb, %here) <{operand_id = "B"}> : !cute.view
  %shape = cute.static : !cute.shape<"(128,32)">
  %pc = cute.tiled.mma.partition_shape(%tiled, %shape) <{operand_id = "C"}> : !cute.shape
  %a = cute.mma.make_fragment(%tiled, %pa) <{operand_id = "A"}> : !cute.view
  %b = cute.mma.make_fragment(%tiled, %pb) <{operand_id = "B"}> : !cute.view
  %shaped = cute.mma.make_fragment(%tiled, %pc) <{operand_id = "C"}> : !cute.view
  %lie = cute.get_layout(%shaped) : !cute.layout
  %base = cute.inttoptr %memory : i32 -> !cute.ptr<f32, tmem, align<16>>
  %d = cute.make_view(%base, %lie) : !cute.view
  cute.gemm(%tiled, %d, %a, %b, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  %thread = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %right = cute.static : !cute.coord<"((_,_),0,1)">
  %half = cute.slice(%d, %right) : !cute.view
  %read = cute.make_atom() : () -> !read
  %reads = cute.make_tiled_copy(%read) : (!read) -> !reads
  %cells = cute.tiled.copy.partition_S(%reads, %half, %thread) : !cute.view
  %r = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "((16),1,1):((1),0,0)">
  cute.copy(%reads, %cells, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute_nvgpu.arch.sm100.wait_tmem "load"
  %v = cute.memref.load_vec(%r) : vector<16xf32>
  func.return %v : vector<16xf32>
}

// CHECK-LABEL:  func.func @umma(%adds: i1, %no: i1, %memory: i32, %t: i32) -> vector<16xf32> {
// CHECK-NEXT:     %0 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
// CHECK-NEXT:     %1 = cute_nvgpu.arch.get_dyn_smem 8192 -> !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
// CHECK-NEXT:     %2 = cute_nvgpu.umma_smem_desc_of %0 layout <"(128,16):(32,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
// CHECK-NEXT:     %3 = cute_nvgpu.umma_smem_desc_of %1 layout <"(16,16):(32,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
// CHECK-NEXT:     cute_nvgpu.arch.mma.SM100.umma %2, %3, %memory accumulate %adds shape [128, 16, 16] elements "f16", "f16", "f32" major "k", "k" blocks 1
// CHECK-NEXT:     %4 = arith.constant 16 : i32
// CHECK-NEXT:     %5 = arith.addi %memory, %4 : i32
// CHECK-NEXT:     %6 = cute_nvgpu.smem_desc_add %3 bytes 1024
// CHECK-NEXT:     cute_nvgpu.arch.mma.SM100.umma %2, %6, %5 accumulate %adds shape [128, 16, 16] elements "f16", "f16", "f32" major "k", "k" blocks 1
// CHECK-NEXT:     %7 = arith.constant true
// CHECK-NEXT:     %8 = cute_nvgpu.smem_desc_add %2 bytes 32
// CHECK-NEXT:     %9 = cute_nvgpu.smem_desc_add %3 bytes 32
// CHECK-NEXT:     cute_nvgpu.arch.mma.SM100.umma %8, %9, %memory accumulate %7 shape [128, 16, 16] elements "f16", "f16", "f32" major "k", "k" blocks 1
// CHECK-NEXT:     %10 = cute_nvgpu.smem_desc_add %3 bytes 1056
// CHECK-NEXT:     cute_nvgpu.arch.mma.SM100.umma %8, %10, %5 accumulate %7 shape [128, 16, 16] elements "f16", "f16", "f32" major "k", "k" blocks 1
// CHECK-NEXT:     %11 = arith.constant 32 : i32
// CHECK-NEXT:     %12 = arith.divsi %t, %11 : i32
// CHECK-NEXT:     %13 = arith.constant 2097152 : i32
// CHECK-NEXT:     %14 = arith.muli %12, %13 : i32
// CHECK-NEXT:     %15 = arith.addi %5, %14 : i32
// CHECK-NEXT:     %16 = cute_nvgpu.arch.copy.SM100.tmem_load %15 shape "32x32b" repeat 16 : vector<16xf32>
// CHECK-NEXT:     %v = cute_nvgpu.arch.sm100.wait_tmem "load", %16 : vector<16xf32> -> vector<16xf32>
// CHECK-NEXT:     func.return %v : vector<16xf32>
// CHECK-NEXT:   }

// What registers hold goes to tensor memory the other way.

!write = !cute_nvgpu.atom.tmem_store<f32, 32 DP, 32 bit, x2>
func.func @store(%p: !cute.ptr<f32, tmem, align<16>>, %x: vector<2xf32>) {
  %atom = cute.make_atom() : () -> !write
  %cells = cute.static : !cute.layout<"((2,32)):((1,65536))">
  %to = cute.make_view(%p, %cells) : !cute.view
  %r = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(2):(1)">
  cute.memref.store_vec(%x, %r)
  cute.copy_atom_call(%atom, %r, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// CHECK-LABEL:  func.func @store(%p: !cute.ptr<f32, tmem, align<16>>, %x: vector<2xf32>) {
// CHECK-NEXT:     %0 = cute.ptrtoint %p : !cute.ptr<f32, tmem, align<16>> -> i32
// CHECK-NEXT:     cute_nvgpu.arch.copy.SM100.tmem_store %x, %0 shape "32x32b" repeat 2 : vector<2xf32>
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }
