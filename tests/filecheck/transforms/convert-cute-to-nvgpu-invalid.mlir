// Atoms and views that are not lowered, each refused where it is.

// RUN: tileas-opt %s -p convert-cute-to-nvgpu --split-input-file --verify-diagnostics

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @predicate(%a: !cute.memref<f16, gmem, "(1,4):(0,1)">) {
  %atom = cute.make_atom() : () -> !copy
  %r = cute.memref.alloca() : () -> !cute.memref<f16, rmem, "(1,4):(0,1)">
  %p = cute.memref.alloca() : () -> !cute.memref<i8, rmem, "(1,4):(0,1)">
  // expected-error@+1 {{'cute.copy' op is not lowered with a predicate: branch around the copy}}
  cute.copy(%atom, %a, %r, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
  func.return
}

// -----

func.func @index(%n: i32) -> f32 {
  %r = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(4):(1)">
  %at = cute.make_coord(%n) : (i32) -> !cute.coord<"?">
  // expected-error@+1 {{'cute.memref.load' op reaches registers by an index that only run time knows}}
  %x = cute.memref.load(%r, %at) : f32
  func.return %x : f32
}

// -----

!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = always, 64 b>
func.func @apart(%a: !cute.memref<f16, gmem, align<16>, "(4):(2)">) {
  %atom = cute.make_atom() : () -> !copy
  %s = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<16>, "(4):(1)">
  // expected-error@+1 {{'cute.copy_atom_call' op takes 8 bytes that lie together in memory, which those of !cute.memref<f16, gmem, align<16>, "(4):(2)"> do not}}
  cute.copy_atom_call(%atom, %a, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = always, 64 b>
func.func @aligned(%a: !cute.memref<f16, gmem, align<4>, "(4):(1)">) {
  %atom = cute.make_atom() : () -> !copy
  %s = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<16>, "(4):(1)">
  // expected-error@+1 {{'cute.copy_atom_call' op takes places aligned to 8 bytes, but those of !cute.memref<f16, gmem, align<4>, "(4):(1)"> are to 4}}
  cute.copy_atom_call(%atom, %a, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f32, 32 b, mem_order = acquire, mem_scope = gpu>
func.func @ordered(%a: !cute.memref<f32, gmem, "(1):(1)">) {
  %atom = cute.make_atom() : () -> !copy
  %r = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(1):(1)">
  // expected-error@+1 {{'cute.copy_atom_call' op is lowered for weak copies of a block only}}
  cute.copy_atom_call(%atom, %a, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

func.func @until(%p: i1, %x: f32) {
  %r = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(1):(1)">
  %at = cute.static : !cute.coord<"0">
  // expected-error@+1 {{'scf.while' op writes registers of outside, which only scf.for and scf.if give on}}
  scf.while () : () -> () {
    scf.condition(%p)
  } do {
    cute.memref.store(%r, %at, %x)
    scf.yield
  }
  func.return
}

// -----

!view = !cute.memref<f32, gmem, "(1):(1)">
func.func @handed(%a: !view, %n: index) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op hands on !cute.memref<f32, gmem, "(1):(1)">, which only operations of cute do}}
  %b = scf.for %i = %c1 to %n step %c1 iter_args(%v = %a) -> (!view) {
    scf.yield %v : !view
  }
  %l = cute.get_layout(%b) : !cute.layout
  func.return
}

// -----

// expected-error@+1 {{takes views of gmem, pointers and scalars, not !cute.memref<f32, smem, "(1):(1)">}}
func.func @shared(%a: !cute.memref<f32, smem, "(1):(1)">) {
  func.return
}

// -----

func.func @printed(%n: i32) {
  // expected-error@+1 {{'cute.print' op is not lowered by convert-cute-to-nvgpu}}
  cute.print(%n)
  func.return
}

// -----

// What is printed of a tensor map no source says.

func.func @map(%map: !cute_nvgpu.tma_descriptor_tiled, %fd: i32) {
  // expected-error@+1 {{'cute.print_tma_desc_tiled' op is not lowered by convert-cute-to-nvgpu}}
  cute.print_tma_desc_tiled(%map, %fd)
  func.return
}

// -----

// Nothing gives a symbol its value.

func.func @symbol() -> !cute.int_tuple<"?"> {
  // expected-error@+1 {{'cute.symbolic' op is not lowered by convert-cute-to-nvgpu}}
  %m = cute.symbolic() <{name = "M"}> : !cute.int_tuple<"?">
  func.return %m : !cute.int_tuple<"?">
}

// -----

// A launch names extents by the axes of an array, which nested ones are not.

// expected-error@+1 {{says by tileas.parameters what its parameters are}}
func.func @nested(%a: !cute.memref<f32, gmem, "((?,2),4):((8,?),1)">) attributes {cute.kernel} {
  %l = cute.get_layout(%a) : !cute.layout
  func.return
}

// -----

// Products with scales of several instructions, each of which has its own: operands of the call.

!scaled = !cute_nvgpu.sm100.mma_bs<128x16x32, num_cta = 1, ab_major = (k, k), elem_type = (f8E4M3FN, f8E4M3FN, f32), sf_type = f8E8M0FNU, frag_kind = ss, vec_size = 32>
func.func @scaled(%adds: i1, %memory: i32, %e: i32) {
  %false = arith.constant false
  %atom = cute.make_atom(%adds, %false, %false, %e, %memory) : (i1, i1, i1, i32, i32) -> !scaled
  %tiled = cute.make_tiled_mma(%atom) : (!scaled) -> !cute.tiled_mma<!scaled, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
  %here = cute.static : !cute.coord<"0">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<1,4,3>, "(256,32):(32,1)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<1,4,3>, "(16,32):(32,1)">
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
  // expected-error@+1 {{'cute.gemm' op has 2 instructions: [A, SFA] and [B, SFB] are its operands}}
  cute.gemm(%tiled, %d, %a, %b, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

// Scales stand behind both operands.

!scaled = !cute_nvgpu.sm100.mma_bs<128x16x32, num_cta = 1, ab_major = (k, k), elem_type = (f8E4M3FN, f8E4M3FN, f32), sf_type = f8E8M0FNU, frag_kind = ss, vec_size = 32>
func.func @scaled(%adds: i1, %memory: i32, %e: i32) {
  %false = arith.constant false
  %atom = cute.make_atom(%adds, %false, %false, %e, %memory) : (i1, i1, i1, i32, i32) -> !scaled
  %tiled = cute.make_tiled_mma(%atom) : (!scaled) -> !cute.tiled_mma<!scaled, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
  %here = cute.static : !cute.coord<"0">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<1,4,3>, "(256,32):(32,1)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<1,4,3>, "(16,32):(32,1)">
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
  // expected-error@+1 {{'cute.gemm' op has [A, SFA] and [B, SFB] as operands of !cute_nvgpu.sm100.mma_bs<128x16x32}}
  cute.gemm(%tiled, %d, %a, %d, %b, %d) <{operandSegmentSizes = array<i32: 1, 1, 2, 1, 1>}>
  func.return
}

// -----

// Scales are bytes.

!scaled = !cute_nvgpu.sm100.mma_bs<128x16x32, num_cta = 1, ab_major = (k, k), elem_type = (f8E4M3FN, f8E4M3FN, f32), sf_type = f8E8M0FNU, frag_kind = ss, vec_size = 32>
func.func @scaled(%adds: i1, %memory: i32, %e: i32) {
  %false = arith.constant false
  %atom = cute.make_atom(%adds, %false, %false, %e, %memory) : (i1, i1, i1, i32, i32) -> !scaled
  %tiled = cute.make_tiled_mma(%atom) : (!scaled) -> !cute.tiled_mma<!scaled, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
  %here = cute.static : !cute.coord<"0">
  %sa = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<1,4,3>, "(256,32):(32,1)">
  %sb = cute.memref.alloc_smem() : () -> !cute.memref<f8E4M3FN, smem, align<1024>, S<1,4,3>, "(16,32):(32,1)">
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
  // expected-error@+1 {{'cute.gemm' op has SFA in tensor memory, in elements of 8 bits}}
  cute.gemm(%tiled, %d, %a, %d, %b, %d, %d) <{operandSegmentSizes = array<i32: 1, 1, 2, 2, 1>}>
  func.return
}
