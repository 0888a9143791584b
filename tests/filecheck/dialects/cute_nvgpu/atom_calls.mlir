// Rejected calls of MMA atoms: the order of checks is the same for all of equal syntax.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %d: !cute.memref<f32, rmem, "(8):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, !cute.memref<f32, rmem, "(8):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>, %d: !cute.memref<f32, rmem, "(8):(1)">, %a0: !cute.memref<f16, rmem, "(8):(1)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>, !cute.memref<f32, rmem, "(8):(1)">, !cute.memref<f16, rmem, "(8):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>, %d: !cute.memref<f32, tmem, "(2048):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, tmem, "(2048):(1)">) {
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>, !cute.memref<f32, tmem, "(2048):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, tmem, "(2048):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %d: !cute.memref<f32, rmem, "(4):(1)">, %a0: !cute.memref<f16, rmem, "(8):(1)">, %b0: !cute.memref<f16, rmem, "(4):(1)">, %c: !cute.memref<f32, rmem, "(4):(1)">) {
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, !cute.memref<f32, rmem, "(4):(1)">, !cute.memref<f16, rmem, "(8):(1)">, !cute.memref<f16, rmem, "(4):(1)">, !cute.memref<f32, rmem, "(4):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %d: !cute.memref<f32, rmem, "(?):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  // expected-error@+1 {{expects static and no scaled basis layout for }}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, !cute.memref<f32, rmem, "(?):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>, %d: !cute.memref<f32, rmem, "(8):(1)">, %a0: !cute.memref<bf16, rmem, "(8):(1)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  // expected-error@+1 {{expects operand a with element type f16, but get bf16.}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>, !cute.memref<f32, rmem, "(8):(1)">, !cute.memref<bf16, rmem, "(8):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %d: !cute.memref<f32, rmem, "(8):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b0: !cute.memref<bf16, smem, "(8):(1)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  // expected-error@+1 {{expects operand b with element type f16, but get bf16.}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, !cute.memref<f32, rmem, "(8):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<bf16, smem, "(8):(1)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %d: !cute.memref<f32, rmem, "(8):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f16, rmem, "(8):(1)">) {
  // expected-error@+1 {{expects operand c with element type f32, but get f16.}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, !cute.memref<f32, rmem, "(8):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f16, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %d: !cute.memref<f32, rmem, "(8):(1)">, %a0: !cute.memref<f16, smem, "(8):(1)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  // expected-error@+1 {{expects memref/smem_desc_view for operand A, but gets A:!cute.memref<f16, smem, "(8):(1)">.}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, !cute.memref<f32, rmem, "(8):(1)">, !cute.memref<f16, smem, "(8):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %d: !cute.memref<f32, rmem, "(8):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b0: !cute.memref<f16, smem, "(8):(1)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  // expected-error@+1 {{expects smem_desc_view for operand B, but gets B: !cute.memref<f16, smem, "(8):(1)">.}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, !cute.memref<f32, rmem, "(8):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f16, smem, "(8):(1)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>, %d: !cute.memref<f32, rmem, "(8):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  // expected-error@+1 {{expects memref for operand D, but gets D: !cute.memref<f32, rmem, "(8):(1)">.}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>, !cute.memref<f32, rmem, "(8):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %d: !cute.memref<f32, rmem, "(4):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  // expected-error@+1 {{expects Mma atom layout of ((4,8,4),(2,2,2)):((128,1,16),(64,8,512))}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, !cute.memref<f32, rmem, "(4):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %d: !cute.memref<f32, rmem, "(8):(0)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  // expected-error@+1 {{invalid layout of A/B/D. A: (1):(0), B: (1):(0), D:(8):(0)}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, !cute.memref<f32, rmem, "(8):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %d: !cute.memref<f32, rmem, "(8):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(2):(0)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, rmem, "(8):(1)">) {
  // expected-error@+1 {{layoutA, layoutB and layoutD fail to form a gemm. A: (2):(0), B: (1):(0), D: (8):(1)}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm90.mma<64x16x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, !cute.memref<f32, rmem, "(8):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(2):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, "(8):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %d: !cute.memref<f32, rmem, "(4):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b0: !cute.memref<f16, rmem, "(4):(1)">, %c: !cute.memref<f32, rmem, "(4):(1)">) {
  // expected-error@+1 {{expects all mma operands to have element type}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, !cute.memref<f32, rmem, "(4):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f16, rmem, "(4):(1)">, !cute.memref<f32, rmem, "(4):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %d: !cute.memref<f32, rmem, "(4):(1)">, %a0: !cute.memref<f16, smem, "(8):(1)">, %b0: !cute.memref<f16, rmem, "(4):(1)">, %c: !cute.memref<f32, rmem, "(4):(1)">) {
  // expected-error@+1 {{expects rmem for input operands, but got A: !cute.memref<f16, smem, "(8):(1)">, B: }}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, !cute.memref<f32, rmem, "(4):(1)">, !cute.memref<f16, smem, "(8):(1)">, !cute.memref<f16, rmem, "(4):(1)">, !cute.memref<f32, rmem, "(4):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %d: !cute.memref<f32, rmem, "(4):(1)">, %a0: !cute.memref<bf16, rmem, "(8):(1)">, %b0: !cute.memref<f16, rmem, "(4):(1)">, %c: !cute.memref<f32, rmem, "(4):(1)">) {
  // expected-error@+1 {{expects operand a with element type f16, but got bf16}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, !cute.memref<f32, rmem, "(4):(1)">, !cute.memref<bf16, rmem, "(8):(1)">, !cute.memref<f16, rmem, "(4):(1)">, !cute.memref<f32, rmem, "(4):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32) >, %d: !cute.memref<f32, rmem, "(4):(1)">, %a0: !cute.memref<f16, rmem, "(8):(1)">, %b0: !cute.memref<f16, rmem, "(4):(1)">, %c: !cute.memref<f32, rmem, "(4):(1)">) {
  // expected-error@+1 {{expects A/B of the e5m2/e4m3 type}}
  "cute.mma_atom_call"(%atom, %d, %a0, %b0, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32) >, !cute.memref<f32, rmem, "(4):(1)">, !cute.memref<f16, rmem, "(8):(1)">, !cute.memref<f16, rmem, "(4):(1)">, !cute.memref<f32, rmem, "(4):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm100.mma_bs<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>, %d: !cute.memref<f32, tmem, "(2048):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %a1: !cute.memref<f8E4M3FN, tmem, "(4):(1)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b1: !cute.memref<f8E4M3FN, tmem, "(4):(1)">, %c: !cute.memref<f16, tmem, "(2048):(1)">) {
  // expected-error@+1 {{expects c type to be Float32}}
  "cute.mma_atom_call"(%atom, %d, %a0, %a1, %b0, %b1, %c) <{operandSegmentSizes = array<i32: 1, 1, 2, 2, 1>}> : (!cute_nvgpu.sm100.mma_bs<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>, !cute.memref<f32, tmem, "(2048):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f8E4M3FN, tmem, "(4):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f8E4M3FN, tmem, "(4):(1)">, !cute.memref<f16, tmem, "(2048):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm100.mma_bs<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>, %d: !cute.memref<f32, tmem, "(2048):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %a1: !cute.memref<f8E4M3FN, tmem, "(4):(1)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b1: !cute.memref<f8E8M0FNU, tmem, "(4):(1)">, %c: !cute.memref<f32, tmem, "(2048):(1)">) {
  // expected-error@+1 {{expects sfa/sfb element types to be the same}}
  "cute.mma_atom_call"(%atom, %d, %a0, %a1, %b0, %b1, %c) <{operandSegmentSizes = array<i32: 1, 1, 2, 2, 1>}> : (!cute_nvgpu.sm100.mma_bs<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>, !cute.memref<f32, tmem, "(2048):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f8E4M3FN, tmem, "(4):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f8E8M0FNU, tmem, "(4):(1)">, !cute.memref<f32, tmem, "(2048):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm100.mma_bs<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>, %d: !cute.memref<f32, tmem, "(2048):(1)">, %a0: !cute.memref<f8E4M3FN, tmem, "(8192):(1)">, %a1: !cute.memref<f8E4M3FN, tmem, "(4):(1)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b1: !cute.memref<f8E4M3FN, tmem, "(4):(1)">, %c: !cute.memref<f32, tmem, "(2048):(1)">) {
  // expected-error@+1 {{expects A and B element types are valid 4bit types, such asFloat4E2M1FNType or FloatNV4E0M3FType , when (atom_K=64 && vecSize=16)}}
  "cute.mma_atom_call"(%atom, %d, %a0, %a1, %b0, %b1, %c) <{operandSegmentSizes = array<i32: 1, 1, 2, 2, 1>}> : (!cute_nvgpu.sm100.mma_bs<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>, !cute.memref<f32, tmem, "(2048):(1)">, !cute.memref<f8E4M3FN, tmem, "(8192):(1)">, !cute.memref<f8E4M3FN, tmem, "(4):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f8E4M3FN, tmem, "(4):(1)">, !cute.memref<f32, tmem, "(2048):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm100.mma_bs<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>, %d: !cute.memref<f32, tmem, "(2048):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %a1: !cute.memref<f16, tmem, "(4):(1)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b1: !cute.memref<f16, tmem, "(4):(1)">, %c: !cute.memref<f32, tmem, "(2048):(1)">) {
  // expected-error@+1 {{expects sfa/sfb element types to be Float8E8M0FNUType or Float8E4M3FNType when (atom_K=64 && vecSize=16)}}
  "cute.mma_atom_call"(%atom, %d, %a0, %a1, %b0, %b1, %c) <{operandSegmentSizes = array<i32: 1, 1, 2, 2, 1>}> : (!cute_nvgpu.sm100.mma_bs<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>, !cute.memref<f32, tmem, "(2048):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f16, tmem, "(4):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f16, tmem, "(4):(1)">, !cute.memref<f32, tmem, "(2048):(1)">) -> ()
  func.return
}

// -----

func.func @call(%atom: !cute_nvgpu.sm100.mma_bs<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E8M0FNU, frag_kind = ss, vec_size = 32>, %d: !cute.memref<f32, tmem, "(2048):(1)">, %a0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %a1: !cute.memref<f8E4M3FN, tmem, "(4):(1)">, %b0: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b1: !cute.memref<f8E4M3FN, tmem, "(4):(1)">, %c: !cute.memref<f32, tmem, "(2048):(1)">) {
  // expected-error@+1 {{expects A/B element types to be Float4E2M1FNType and sfa/sfb element types to be Float8E8M0FNUType when (atom_K=64 && vecSize=32)}}
  "cute.mma_atom_call"(%atom, %d, %a0, %a1, %b0, %b1, %c) <{operandSegmentSizes = array<i32: 1, 1, 2, 2, 1>}> : (!cute_nvgpu.sm100.mma_bs<128x16x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E8M0FNU, frag_kind = ss, vec_size = 32>, !cute.memref<f32, tmem, "(2048):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f8E4M3FN, tmem, "(4):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f8E4M3FN, tmem, "(4):(1)">, !cute.memref<f32, tmem, "(2048):(1)">) -> ()
  func.return
}

// -----

// The target of a function is one that has the atom.

func.func @target(%atom: !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>, %d: !cute.memref<f32, tmem, "(2048):(1)">, %a: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %b: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, %c: !cute.memref<f32, tmem, "(2048):(1)">) attributes {cute.target = "sm_90a"} {
  // expected-error@+1 {{needs sm_100f or sm_110f, but the target is sm_90a}}
  "cute.mma_atom_call"(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}> : (!cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>, !cute.memref<f32, tmem, "(2048):(1)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, tmem, "(2048):(1)">) -> ()
  func.return
}

// -----

// cp.async copies to shared memory.

!atom = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @async(%atom: !atom, %s: !cute.memref<f16, gmem, align<16>, "(8):(1)">, %d: !cute.memref<f16, rmem, "(8):(1)">, %t: !cute.memref<f16, smem, align<16>, "(8):(1)">) {
  // expected-error@+1 {{dst expects shared based memref, but got rmem}}
  "cute.copy_atom_call"(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (!atom, !cute.memref<f16, gmem, align<16>, "(8):(1)">, !cute.memref<f16, rmem, "(8):(1)">) -> ()
  "cute.copy_atom_call"(%atom, %s, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (!atom, !cute.memref<f16, gmem, align<16>, "(8):(1)">, !cute.memref<f16, smem, align<16>, "(8):(1)">) -> ()
  func.return
}

// -----

// Atoms have values that change while a kernel runs.

!atom = !cute_nvgpu.sm100.mma<128x16x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>
func.func @values(%atom: !atom, %yes: i1, %n: i32) {
  %0 = cute_nvgpu.atom.set_value %atom["accum_c"] = %yes : !atom, i1 -> !atom
  %1 = cute_nvgpu.atom.get_value %0["neg_a"] : !atom -> i1
  // expected-error@+1 {{'cute_nvgpu.atom.set_value' op takes i1 as accum_c, but got i32}}
  %2 = cute_nvgpu.atom.set_value %atom["accum_c"] = %n : !atom, i32 -> !atom
  // expected-error@+1 {{which has accum_c, neg_a, neg_b, not sf_a}}
  %3 = cute_nvgpu.atom.get_value %atom["sf_a"] : !atom -> i32
  // expected-error@+1 {{'cute_nvgpu.atom.get_value' op gives i1 as accum_c, not i32}}
  %4 = cute_nvgpu.atom.get_value %atom["accum_c"] : !atom -> i32
  // expected-error@+1 {{'cute_nvgpu.atom.get_value' op is about an atom, not i32}}
  %5 = cute_nvgpu.atom.get_value %n["accum_c"] : i32 -> i1
  func.return
}
