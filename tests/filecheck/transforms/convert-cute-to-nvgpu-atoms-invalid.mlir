// Atoms that are called as no instruction does it, each refused where it is.

// RUN: tileas-opt %s -p convert-cute-to-nvgpu --split-input-file --verify-diagnostics

!wgmma = !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!d = !cute.memref<f32, rmem, "(8):(1)">
!s = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">
func.func @outside(%atom: !wgmma, %s: !s) {
  %d = cute.memref.alloca() : () -> !d
  // expected-error@+1 {{'cute.mma_atom_call' op has an atom whose values are not known here: !cute_nvgpu.sm90.mma}}
  cute.mma_atom_call(%atom, %d, %s, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!d = !cute.memref<f32, rmem, "(8):(1)">
!s = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">
func.func @descriptors(%s: !s) {
  %atom = cute.make_atom() : () -> !wgmma
  %d = cute.memref.alloca() : () -> !d
  // expected-error@+1 {{'cute.mma_atom_call' op has descriptors that no operation of this function makes}}
  cute.mma_atom_call(%atom, %d, %s, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!d = !cute.memref<f32, rmem, "(8):(1)">
!s = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">
func.func @apart(%s: !s) {
  %atom = cute.make_atom() : () -> !wgmma
  %d = cute.memref.alloca() : () -> !d
  %c = cute.memref.alloca() : () -> !d
  // expected-error@+1 {{'cute.mma_atom_call' op adds to the registers of D: C is D}}
  cute.mma_atom_call(%atom, %d, %s, %s, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
func.func @unset() -> i1 {
  %atom = cute.make_atom() : () -> !wgmma
  // expected-error@+1 {{'cute_nvgpu.atom.get_value' op reads accum_c, which nothing in this function has set}}
  %x = cute_nvgpu.atom.get_value %atom["accum_c"] : !wgmma -> i1
  func.return %x : i1
}

// -----

!umma = !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>
!d = !cute.memref<f32, tmem, align<16>, "((128,16)):((65536,1))">
!s = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">
func.func @sum(%x: i1, %p: !cute.ptr<f32, tmem, align<16>>, %q: !cute.ptr<f32, tmem, align<16>>, %s: !s) {
  %no = arith.constant false
  %atom = cute.make_atom(%no, %no, %no) : (i1, i1, i1) -> !umma
  %lie = cute.static : !cute.layout<"((128,16)):((65536,1))">
  %d = cute.make_view(%p, %lie) : !cute.view
  %e = cute.make_view(%q, %lie) : !cute.view
  // expected-error@+1 {{'cute.mma_atom_call' op adds to D in tensor memory: C is D}}
  cute.mma_atom_call(%atom, %d, %s, %s, %e) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!umma = !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>
!d = !cute.memref<f32, tmem, align<16>, "((128,16)):((65536,1))">
!s = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">
func.func @negated(%x: i1, %p: !cute.ptr<f32, tmem, align<16>>, %q: !cute.ptr<f32, tmem, align<16>>, %s: !s) {
  %no = arith.constant false
  %atom = cute.make_atom(%no, %x, %no) : (i1, i1, i1) -> !umma
  %lie = cute.static : !cute.layout<"((128,16)):((65536,1))">
  %d = cute.make_view(%p, %lie) : !cute.view
  // expected-error@+1 {{'cute.mma_atom_call' op is not lowered with neg_a: it is a constant false}}
  cute.mma_atom_call(%atom, %d, %s, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!umma = !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 3>
!d = !cute.memref<f32, tmem, align<16>, "((128,16)):((65536,1))">
!s = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">
func.func @scaled(%x: i1, %p: !cute.ptr<f32, tmem, align<16>>, %q: !cute.ptr<f32, tmem, align<16>>, %s: !s) {
  %no = arith.constant false
  %atom = cute.make_atom(%no, %no, %no) : (i1, i1, i1) -> !umma
  %lie = cute.static : !cute.layout<"((128,16)):((65536,1))">
  %d = cute.make_view(%p, %lie) : !cute.view
  // expected-error@+1 {{'cute.mma_atom_call' op is not lowered with sums that are scaled: !cute_nvgpu.sm100.mma<}}
  cute.mma_atom_call(%atom, %d, %s, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!umma = !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ts, c_scale_exp = 0>
!d = !cute.memref<f32, tmem, align<16>, "((128,16)):((65536,1))">
!s = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">
func.func @stored(%p: !cute.ptr<f32, tmem, align<16>>, %s: !s) {
  %no = arith.constant false
  %atom = cute.make_atom(%no, %no, %no) : (i1, i1, i1) -> !umma
  %lie = cute.static : !cute.layout<"((128,16)):((65536,1))">
  %d = cute.make_view(%p, %lie) : !cute.view
  // expected-error@+1 {{'cute.mma_atom_call' op is not lowered with A in tensor memory: !cute_nvgpu.sm100.mma<}}
  cute.mma_atom_call(%atom, %d, %s, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!mma = !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f16), frag_kind = ss, c_scale_exp = 0>
!tiled = !cute.tiled_mma<!mma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
func.func @halves(%tiled: !tiled) {
  %shape = cute.static : !cute.shape<"((128,16),1,1)">
  // expected-error@+1 {{views of tensor memory have elements of 32 bits, not f16}}
  %d = cute.mma.make_fragment(%tiled, %shape) <{operand_id = "C"}> : !cute.view
  func.return
}

// -----

!read = !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x2>
func.func @lanes(%p: !cute.ptr<f32, tmem, align<16>>) {
  %atom = cute.make_atom() : () -> !read
  %lanes = cute.static : !cute.layout<"((32,2)):((65536,1))">
  %cells = cute.make_view(%p, %lanes) : !cute.view
  %r = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(2):(1)">
  // expected-error@+1 {{'cute.copy_atom_call' op moves 32 lanes of 2 columns, which those of !cute.memref<f32, tmem, align<16>, "((32,2)):((65536,1))"> are not}}
  cute.copy_atom_call(%atom, %cells, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!read = !cute_nvgpu.atom.tmem_load<f16, 32 DP, 32 bit, x2>
func.func @elements(%p: !cute.ptr<f16, tmem, align<16>>) {
  %atom = cute.make_atom() : () -> !read
  %lanes = cute.static : !cute.layout<"((4,32)):((1,131072))">
  // expected-error@+1 {{'cute.make_view' op views tensor memory in elements of 32 bits, not of f16}}
  %cells = cute.make_view(%p, %lanes) : !cute.view
  func.return
}

// -----

!box = !cute.layout<"(8,64):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@1,1@0)">, tma_format = F16_RN>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
func.func @barrier(%a: !view, %full: !cute.ptr<i64, smem>, %n: i16, %p: i64) attributes {cute.kernel} {
  %lies = cute.static : !lies
  %box = cute.static : !box
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lies, %box : !view, !lies, !box -> !parts, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  %made = cute_nvgpu.atom.make_exec_tma %parts : !parts -> !load
  %to = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((512,1)):((1,0))">
  %zero = cute.static : !cute.int_tuple<"(0,0)">
  %shape = cute.static : !cute.layout<"(((64,8),1)):(((1@0,1@1),0))">
  %from = cute.make_view(%zero, %shape) : !cute.view
  // expected-error@+1 {{'cute.copy' op completes at no mbarrier: tma_bar is not set}}
  cute.copy(%made, %from, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!box = !cute.layout<"(8,64):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@1,1@0)">, tma_format = F16_RN>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
func.func @mask(%a: !view, %full: !cute.ptr<i64, smem>, %n: i16, %p: i64) attributes {cute.kernel} {
  %lies = cute.static : !lies
  %box = cute.static : !box
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lies, %box : !view, !lies, !box -> !parts, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  %made = cute_nvgpu.atom.make_exec_tma %parts : !parts -> !load
  %bound = cute_nvgpu.atom.set_value %made["tma_bar"] = %full : !load, !cute.ptr<i64, smem> -> !load
  %load = cute_nvgpu.atom.set_value %bound["mcast_mask"] = %n : !load, i16 -> !load
  %to = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((512,1)):((1,0))">
  %zero = cute.static : !cute.int_tuple<"(0,0)">
  %shape = cute.static : !cute.layout<"(((64,8),1)):(((1@0,1@1),0))">
  %from = cute.make_view(%zero, %shape) : !cute.view
  // expected-error@+1 {{'cute.copy' op has a mask of blocks for multicast, and only then: !cute_nvgpu.atom.tma_load}}
  cute.copy(%load, %from, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!box = !cute.layout<"(8,64):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@1,1@0)">, tma_format = F16_RN>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
func.func @policy(%a: !view, %full: !cute.ptr<i64, smem>, %n: i16, %p: i64) attributes {cute.kernel} {
  %lies = cute.static : !lies
  %box = cute.static : !box
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lies, %box : !view, !lies, !box -> !parts, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  %made = cute_nvgpu.atom.make_exec_tma %parts : !parts -> !load
  %bound = cute_nvgpu.atom.set_value %made["tma_bar"] = %full : !load, !cute.ptr<i64, smem> -> !load
  %load = cute_nvgpu.atom.set_value %bound["cache_policy"] = %p : !load, i64 -> !load
  %to = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((512,1)):((1,0))">
  %zero = cute.static : !cute.int_tuple<"(0,0)">
  %shape = cute.static : !cute.layout<"(((64,8),1)):(((1@0,1@1),0))">
  %from = cute.make_view(%zero, %shape) : !cute.view
  // expected-error@+1 {{'cute.copy' op is not lowered with a cache policy}}
  cute.copy(%load, %from, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!box = !cute.layout<"(8,64):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@1,1@0)">, tma_format = F16_RN>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = im2col, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
func.func @pixels(%a: !view, %full: !cute.ptr<i64, smem>, %n: i16, %p: i64) attributes {cute.kernel} {
  %lies = cute.static : !lies
  %box = cute.static : !box
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lies, %box : !view, !lies, !box -> !parts, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  %made = cute_nvgpu.atom.make_exec_tma %parts : !parts -> !load
  %load = cute_nvgpu.atom.set_value %made["tma_bar"] = %full : !load, !cute.ptr<i64, smem> -> !load
  %to = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((512,1)):((1,0))">
  %zero = cute.static : !cute.int_tuple<"(0,0)">
  %shape = cute.static : !cute.layout<"(((64,8),1)):(((1@0,1@1),0))">
  %from = cute.make_view(%zero, %shape) : !cute.view
  // expected-error@+1 {{'cute.copy' op is lowered for copies of boxes, not in mode im2col}}
  cute.copy(%load, %from, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!box = !cute.layout<"(8,64):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@1,1@0)">, tma_format = F16_RN>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
func.func @swizzle(%a: !view, %full: !cute.ptr<i64, smem>, %n: i16, %p: i64) attributes {cute.kernel} {
  %lies = cute.static : !lies
  %box = cute.static : !box
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lies, %box : !view, !lies, !box -> !parts, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  %made = cute_nvgpu.atom.make_exec_tma %parts : !parts -> !load
  %load = cute_nvgpu.atom.set_value %made["tma_bar"] = %full : !load, !cute.ptr<i64, smem> -> !load
  %to = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, "((512,1)):((1,0))">
  %zero = cute.static : !cute.int_tuple<"(0,0)">
  %shape = cute.static : !cute.layout<"(((64,8),1)):(((1@0,1@1),0))">
  %from = cute.make_view(%zero, %shape) : !cute.view
  // expected-error@+1 {{'cute.copy' op copies by a tensor map that swizzles by S<3,4,3>, but got !cute.memref<f16, smem, align<1024>, "((512,1)):((1,0))">}}
  cute.copy(%load, %from, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!box = !cute.layout<"(8,64):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@1,1@0)">, tma_format = F16_RN>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
func.func @turned(%a: !view, %full: !cute.ptr<i64, smem>, %n: i16, %p: i64) attributes {cute.kernel} {
  %lies = cute.static : !lies
  %box = cute.static : !box
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lies, %box : !view, !lies, !box -> !parts, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  %made = cute_nvgpu.atom.make_exec_tma %parts : !parts -> !load
  %load = cute_nvgpu.atom.set_value %made["tma_bar"] = %full : !load, !cute.ptr<i64, smem> -> !load
  %to = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((512,1)):((1,0))">
  %zero = cute.static : !cute.int_tuple<"(0,0)">
  %shape = cute.static : !cute.layout<"(((8,64),1)):(((1@1,1@0),0))">
  %from = cute.make_view(%zero, %shape) : !cute.view
  // expected-error@+1 {{'cute.copy' op copies boxes (64,8):(1@0,1@1) of !cute_nvgpu.atom.tma_load}}
  cute.copy(%load, %from, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!box = !cute.layout<"(8,64):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@1,1@0)">, tma_format = F16_RN>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
  // expected-error@+1 {{'func.func' op asks for tensor maps}}
func.func @plain(%a: !view, %full: !cute.ptr<i64, smem>, %n: i16, %p: i64)  {
  %lies = cute.static : !lies
  %box = cute.static : !box
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lies, %box : !view, !lies, !box -> !parts, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  %made = cute_nvgpu.atom.make_exec_tma %parts : !parts -> !load
  %load = cute_nvgpu.atom.set_value %made["tma_bar"] = %full : !load, !cute.ptr<i64, smem> -> !load
  %to = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((512,1)):((1,0))">
  %zero = cute.static : !cute.int_tuple<"(0,0)">
  %shape = cute.static : !cute.layout<"(((64,8),1)):(((1@0,1@1),0))">
  %from = cute.make_view(%zero, %shape) : !cute.view
  cute.copy(%load, %from, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!box = !cute.layout<"(8,64):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@1,1@0)">, tma_format = F16_RN>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
func.func @window(%a: !view, %full: !cute.ptr<i64, smem>, %n: i16, %p: i64) attributes {cute.kernel} {
  %q = cute.get_iter(%a) : !cute.ptr
  %l = cute.get_layout(%a) : !cute.layout
  %b = cute.make_view(%q, %l) : !cute.view
  %lies = cute.static : !lies
  %box = cute.static : !box
  // expected-error@+1 {{makes tensor maps of arguments of the kernel, as they are given}}
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %b, %lies, %box : !view, !lies, !box -> !parts, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, mode = tiled, num_cta = 1, g_stride = <"()"> mcast = false tma_gbasis = <"(64,8):(1@1,1@0)">>
func.func @address(%p: !cute.ptr<i64, generic>, %full: !cute.ptr<i64, smem>) {
  %load = cute.make_atom(%p, %full) : (!cute.ptr<i64, generic>, !cute.ptr<i64, smem>) -> !load
  %to = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((512,1)):((1,0))">
  %zero = cute.static : !cute.int_tuple<"(0,0)">
  %shape = cute.static : !cute.layout<"(((64,8),1)):(((1@0,1@1),0))">
  %from = cute.make_view(%zero, %shape) : !cute.view
  // expected-error@+1 {{'cute.copy' op takes tma_descriptor_ptr of cute_nvgpu.get_tma_desc_addr}}
  cute.copy(%load, %from, %to) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!box = !cute.layout<"(64,8):(1@0,1@1)">
!lies = !cute.composed_layout<"S<3,4,3> o 0 o (64,8):(1,64)">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@0,1@1)">, tma_format = F16_RN>
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(1,?{div=8})">
func.func @columns(%a: !view) attributes {cute.kernel} {
  %lies = cute.static : !lies
  %box = cute.static : !box
  // expected-error@+1 {{makes tensor maps of arrays whose last axis is innermost, not of !cute.memref<f16, gmem, align<16>, "(?,?):(1,?{div=8})">}}
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lies, %box : !view, !lies, !box -> !parts, !cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">
  func.return
}

// -----

!box = !cute.layout<"(8,64):(1@0,1@1)">
!lies = !cute.layout<"(8,(8,8)):(8,(1,64))">
!parts = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 8192, tma_gbasis = <"(8,8,8):(1@1,1@0,8@1)">, tma_format = F16_RN>
!view = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
func.func @cores(%a: !view) attributes {cute.kernel} {
  %lies = cute.static : !lies
  %box = cute.static : !box
  // expected-error@+1 {{makes tensor maps of boxes with one run along each axis: (8,8,8):(1@1,1@0,8@1)}}
  %parts, %in = cute_nvgpu.atom.make_non_exec_tiled_tma_load %a, %lies, %box : !view, !lies, !box -> !parts, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
  func.return
}

// -----

!mma = !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ts, c_scale_exp = 0>
!tiled = !cute.tiled_mma<!mma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
func.func @a_in_tensor_memory(%tiled: !tiled) {
  %shape = cute.static : !cute.shape<"((128,16),1,1)">
  // expected-error@+1 {{A in tensor memory is a view that the kernel makes}}
  %a = cute.mma.make_fragment(%tiled, %shape) <{operand_id = "A"}> : !cute.view
  func.return
}

// -----

!mma = !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!tiled = !cute.tiled_mma<!mma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
func.func @odd(%tiled: !tiled, %s: !cute.memref<f16, smem, align<1024>, "((64,16),1,2):((64,1),0,12)">) {
  // expected-error@+1 {{descriptors are known numbers of 16 bytes apart, not 12 elements of 16 bits}}
  %a = cute.mma.make_fragment(%tiled, %s) <{operand_id = "A"}> : !cute.view
  func.return
}
