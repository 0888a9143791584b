// What `cute.copy.make_fragment` refuses.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// A copy has two sides.

func.func @f(%atom: !cute_nvgpu.atom.universal_copy<f16, 128 b>, %a: !cute.memref<f16, gmem, "(8):(1)">) {
  // expected-error@+2 {{a copy has the sides S and D, not A}}
  // expected-error@+1 {{'cute.copy.make_fragment' op failed to infer returned types}}
  %r = cute.copy.make_fragment(%atom, %a) <{operand_id = "A"}> : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, gmem, "(8):(1)">) -> i32
  func.return
}

// -----

// Products have their own operation.

func.func @f(%atom: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %a: !cute.memref<f16, gmem, "(8):(1)">) {
  // expected-error@+1 {{'cute.copy.make_fragment' op expects a copy atom}}
  %r = cute.copy.make_fragment(%atom, %a) <{operand_id = "S"}> : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, !cute.memref<f16, gmem, "(8):(1)">) -> i32
  func.return
}

// -----

// Some copies have no registers on a side: matrices are loaded from shared memory.

!ldsm = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
func.func @f(%atom: !ldsm, %a: !cute.memref<f16, smem, align<16>, "(8):(1)">) {
  // expected-error@+2 {{is in smem, not in registers}}
  // expected-error@+1 {{'cute.copy.make_fragment' op failed to infer returned types}}
  %r = cute.copy.make_fragment(%atom, %a) <{operand_id = "S"}> : (!ldsm, !cute.memref<f16, smem, align<16>, "(8):(1)">) -> i32
  func.return
}

// -----

// Elements are those of a view of memory,

func.func @f(%atom: !cute_nvgpu.atom.universal_copy<f16, 128 b>, %a: !cute.shape<"(8,2)">) {
  // expected-error@+2 {{expected a view of memory, not}}
  // expected-error@+1 {{'cute.copy.make_fragment' op failed to infer returned types}}
  %r = cute.copy.make_fragment(%atom, %a) <{operand_id = "S"}> : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.shape<"(8,2)">) -> i32
  func.return
}

// -----

// and registers are counted before run time.

func.func @f(%atom: !cute_nvgpu.atom.universal_copy<f16, 128 b>, %a: !cute.memref<f16, gmem, "(8,?):(1,8)">) {
  // expected-error@+2 {{registers have a layout with integers that are known}}
  // expected-error@+1 {{'cute.copy.make_fragment' op failed to infer returned types}}
  %r = cute.copy.make_fragment(%atom, %a) <{operand_id = "S"}> : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, gmem, "(8,?):(1,8)">) -> i32
  func.return
}
