// What copies and products by atoms refuse of the shapes of their views.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Copies of whole views.

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(4):(1)">, %d: !cute.memref<f32, rmem, "(4):(1)">) {
  // expected-error@+1 {{'cute.copy' op '!cute_nvgpu.atom.universal_copy<f16, 16 b>' src and dst need to have the same element size}}
  cute.copy(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1,?):(0,1)">, %d: !cute.memref<f16, rmem, "(1,4):(0,1)">) {
  // expected-error@+1 {{'cute.copy' op expects src and dst to have static shape}}
  cute.copy(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1,4):(0,1)">, %d: !cute.memref<f16, rmem, "(1,2,2):(0,1,2)">) {
  // expected-error@+1 {{'cute.copy' op `src.rank() = 2` != `dst.rank() = 3`}}
  cute.copy(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(8,4):(1,8)">, %d: !cute.memref<f16, rmem, "(8,2):(1,8)">) {
  // expected-error@+1 {{'cute.copy' op expects same size in rank 1 but got srcShape: (8,4) and dstShape: (8,2)}}
  cute.copy(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1,4,3):(0,1,4)">, %d: !cute.memref<f16, rmem, "(1,4,5):(0,1,4)">) {
  // expected-error@+1 {{'cute.copy' op expects same size in rank 2 but got srcShape: (1,4,3) and dstShape: (1,4,5)}}
  cute.copy(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "((8,3),4):((1,8),24)">, %d: !cute.memref<f16, rmem, "((8,2),4):((1,8),16)">) {
  // expected-error@+1 {{'cute.copy' op expects same size in restAtomVRank, but got srcShape: ((8,3),4) and dstShape: ((8,2),4)}}
  cute.copy(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

// With a predicate for each element.

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1,4):(0,1)">, %d: !cute.memref<f16, rmem, "(1,4):(0,1)">, %p: i32) {
  // expected-error@+1 {{'cute.copy' op expects pred to be CuteMemRefType}}
  cute.copy(%atom, %s, %d, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1,4):(0,1)">, %d: !cute.memref<f16, rmem, "(1,4):(0,1)">, %p: !cute.memref<i8, rmem, "(1,2,2):(0,1,2)">) {
  // expected-error@+1 {{'cute.copy' op `pred rank = 3` != `src rank = 2`}}
  cute.copy(%atom, %s, %d, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1,4):(0,1)">, %d: !cute.memref<f16, rmem, "(1,4):(0,1)">, %p: !cute.memref<i8, tmem, "(1,4):(0,1)">) {
  // expected-error@+1 {{'cute.copy' op expects pred's address space to be rmem/smem/gmem/generic}}
  cute.copy(%atom, %s, %d, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1,4):(0,1)">, %d: !cute.memref<f16, rmem, "(1,4):(0,1)">, %p: !cute.memref<i8, smem, align<128>, S<2,4,3>, "(1,4):(0,1)">) {
  // expected-error@+1 {{'cute.copy' op expects identity swizzle on pred tensor, but got: S<2,4,3>.}}
  cute.copy(%atom, %s, %d, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1,4):(0,1)">, %d: !cute.memref<f16, rmem, "(1,4):(0,1)">, %p: !cute.memref<i8, rmem, "(1,?):(0,1)">) {
  // expected-error@+1 {{'cute.copy' op expects pred to have static shape}}
  cute.copy(%atom, %s, %d, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1,4):(0,1)">, %d: !cute.memref<f16, rmem, "(1,4):(0,1)">, %p: !cute.memref<i8, rmem, "(1,8):(0,1)">) {
  // expected-error@+1 {{'cute.copy' op expects pred to have compatible shape with: (1,4) but got actual predShape: (1,8)}}
  cute.copy(%atom, %s, %d, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 128 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(8,4):(1,8)">, %d: !cute.memref<f16, rmem, "(8,4):(1,8)">, %p: !cute.memref<i8, rmem, "(8,4):(0,1)">) {
  // expected-error@+1 {{'cute.copy' op expects copy_bits to be : 16 but got : 128}}
  cute.copy(%atom, %s, %d, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}>
  func.return
}

// -----

// One call of an atom.

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1,4):(0,1)">, %d: !cute.memref<f16, rmem, "(1,4):(0,1)">) {
  // expected-error@+1 {{'cute.copy_atom_call' op expects rank-1 layout for src[0], but got '(1,4):(0,1)'}}
  cute.copy_atom_call(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(1):(1)">, %d: !cute.memref<f16, rmem, "(1,4):(0,1)">) {
  // expected-error@+1 {{'cute.copy_atom_call' op expects rank-1 layout for dst[0], but got '(1,4):(0,1)'}}
  cute.copy_atom_call(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(?):(1)">, %d: !cute.memref<f16, rmem, "(1):(1)">) {
  // expected-error@+1 {{'cute.copy_atom_call' op expects src and dst to have static shape}}
  cute.copy_atom_call(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 16 b>
func.func @call(%atom: !copy, %s: !cute.memref<f16, gmem, "(4):(1)">, %d: !cute.memref<f16, rmem, "(4):(1)">) {
  // expected-error@+1 {{'cute.copy_atom_call' op copies 16 bits at once, but !cute.memref<f16, gmem, "(4):(1)"> has 64}}
  cute.copy_atom_call(%atom, %s, %d) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// -----

// Products of whole views.

!mma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @product(%atom: !mma, %d: !cute.memref<f32, rmem, "(1,4,4):(0,1,4)">, %a: !cute.memref<f32, rmem, "(1,4,2):(0,1,4)">, %b: !cute.memref<f32, rmem, "(1,4):(0,1)">, %c: !cute.memref<f32, rmem, "(1,4,4):(0,1,4)">) {
  // expected-error@+1 {{'cute.gemm' op expects A, B to have the same rank, but got A: 3, B: 2}}
  cute.gemm(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!mma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @product(%atom: !mma, %d: !cute.memref<f32, rmem, "(1,4,4):(0,1,4)">, %a: !cute.memref<f32, rmem, "(1,4):(0,1)">, %b: !cute.memref<f32, rmem, "(1,4):(0,1)">, %c: !cute.memref<f32, rmem, "(4,4):(1,4)">) {
  // expected-error@+1 {{'cute.gemm' op expects C, D to have the same rank, but got C: 2, D: 3}}
  cute.gemm(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!mma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @product(%atom: !mma, %d: !cute.memref<f32, rmem, "(1,4,4):(0,1,4)">, %a: !cute.memref<f32, rmem, "(1):(1)">, %b: !cute.memref<f32, rmem, "(1):(1)">, %c: !cute.memref<f32, rmem, "(1,4,4):(0,1,4)">) {
  // expected-error@+1 {{'cute.gemm' op expects C to have rank 1 or 2, but got C: 3}}
  cute.gemm(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!mma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @product(%atom: !mma, %d: !cute.memref<f32, rmem, "(1):(1)">, %a: !cute.memref<f32, rmem, "(1,4):(0,1)">, %b: !cute.memref<f32, rmem, "(1,4):(0,1)">, %c: !cute.memref<f32, rmem, "(1):(1)">) {
  // expected-error@+1 {{'cute.gemm' op expects C to have rank 2 or 3, but got C: 1}}
  cute.gemm(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!mma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @product(%atom: !mma, %d: !cute.memref<f32, rmem, "(4,4):(1,4)">, %a: !cute.memref<f32, rmem, "(1,4,2):(0,1,4)">, %b: !cute.memref<f32, rmem, "(1,4,2):(0,1,4)">, %c: !cute.memref<f32, rmem, "(4,4):(1,4)">) {
  // expected-error@+1 {{'cute.gemm' op expects C to have rank 3, but got C: 2}}
  cute.gemm(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!mma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @product(%atom: !mma, %d: !cute.memref<f32, rmem, "(1,4,8):(0,1,4)">, %a: !cute.memref<f32, rmem, "(1,4):(0,1)">, %b: !cute.memref<f32, rmem, "(1,4):(0,1)">, %c: !cute.memref<f32, rmem, "(1,4,8):(0,1,4)">) {
  // expected-error@+1 {{'cute.gemm' op expects A's M == D'M and B's N == D'N}}
  cute.gemm(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!mma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @product(%atom: !mma, %d: !cute.memref<f32, rmem, "(1,4,4):(0,1,4)">, %a: !cute.memref<f32, rmem, "(1,4,2):(0,1,4)">, %b: !cute.memref<f32, rmem, "(1,4,3):(0,1,4)">, %c: !cute.memref<f32, rmem, "(1,4,4):(0,1,4)">) {
  // expected-error@+1 {{'cute.gemm' op multiplies A and B with the same number of steps along K}}
  cute.gemm(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!mma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @product(%atom: !mma, %d: !cute.memref<f32, rmem, "(1,4,4):(0,1,4)">, %a: !cute.memref<f32, rmem, "S<1,2,1> o 0 o (1,4):(0,1)">, %b: !cute.memref<f32, rmem, "(1,4):(0,1)">, %c: !cute.memref<f32, rmem, "(1,4,4):(0,1,4)">) {
  // expected-error@+1 {{'cute.gemm' op doesn't support composed layout for A/B/D, but got: A: !cute.memref<f32, rmem, "S<1,2,1> o 0 o (1,4):(0,1)">, B: !cute.memref<f32, rmem, "(1,4):(0,1)">, D:}}
  cute.gemm(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

// One call of an atom.

!mma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @product(%atom: !mma, %d: !cute.memref<f32, rmem, "(1):(1)">, %a: !cute.memref<f32, rmem, "(1,4):(0,1)">, %b: !cute.memref<f32, rmem, "(1):(1)">, %c: !cute.memref<f32, rmem, "(1):(1)">) {
  // expected-error@+1 {{'cute.mma_atom_call' op expects rank-1 layout for a[0], but got '(1,4):(0,1)'}}
  cute.mma_atom_call(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}

// -----

!mma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @product(%atom: !mma, %d: !cute.memref<f32, rmem, "(1):(1)">, %a: !cute.memref<f32, rmem, "(1):(1)">, %b: !cute.memref<f32, rmem, "(1,4):(0,1)">, %c: !cute.memref<f32, rmem, "(1):(1)">) {
  // expected-error@+1 {{'cute.mma_atom_call' op expects rank-1 layout for b[0], but got '(1,4):(0,1)'}}
  cute.mma_atom_call(%atom, %d, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  func.return
}
