// Allocations and tensor maps that are refused.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @spaces(%n: i32) {
  // expected-error@+1 {{'cute_nvgpu.arch.alloc_smem' op gives a pointer to smem, not !cute.ptr<f16, gmem>}}
  %0 = cute_nvgpu.arch.alloc_smem 64 -> !cute.ptr<f16, gmem>
  // expected-error@+1 {{'cute_nvgpu.arch.alloc_smem' op takes 1 element or more, not 0}}
  %1 = cute_nvgpu.arch.alloc_smem 0 -> !cute.ptr<f16, smem>
  %four = cute.static : !cute.int_tuple<"4">
  // expected-error@+1 {{'cute_nvgpu.arch.alloc_rmem' op gives a pointer to rmem, not !cute.ptr<f16, smem>}}
  %2 = cute_nvgpu.arch.alloc_rmem %four : !cute.int_tuple<"4"> -> !cute.ptr<f16, smem>
  %open = cute.make_int_tuple(%n) : (i32) -> !cute.int_tuple<"?">
  // expected-error@+1 {{'cute_nvgpu.arch.alloc_rmem' op takes a known number of registers, at least 1, not !cute.int_tuple<"?">}}
  %3 = cute_nvgpu.arch.alloc_rmem %open : !cute.int_tuple<"?"> -> !cute.ptr<f16, rmem>
  // expected-error@+1 {{'cute_nvgpu.get_grid_constant_pointer' op expects a tensor map, but got i32}}
  %4 = cute_nvgpu.get_grid_constant_pointer %n : i32
  // expected-error@+1 {{'cute_nvgpu.prefetch_tma_desc' op is about an atom of TMA, not i32}}
  cute_nvgpu.prefetch_tma_desc %n : i32
  func.return
}

// -----

!lies = !cute.layout<"(8,64):(64,1)">
!box = !cute.layout<"(8,32):(1@0,1@1)">
func.func @box(%a: !cute.memref<f16, gmem, "(?,?):(?,1)">, %lies: !lies, %box: !box) {
  // expected-error@+1 {{'cute_nvgpu.make_tma_desc_tiled' op expected top-level shape equivalence between the SMEM layout and the CTA V-map, but got '!cute.layout<"(8,64):(64,1)">' and '!cute.layout<"(8,32):(1@0,1@1)">'}}
  %map = cute_nvgpu.make_tma_desc_tiled %a, %lies, %box : !cute.memref<f16, gmem, "(?,?):(?,1)">, !lies, !box
  func.return
}

// -----

!lies = !cute.layout<"(8,64):(64,1)">
!box = !cute.layout<"(8,64):(1@0,1@1)">
func.func @share(%a: !cute.memref<f16, gmem, "(?,?):(?,1)">, %lies: !lies, %box: !box) {
  // expected-error@+1 {{'cute_nvgpu.make_tma_desc_tiled' op shares 512 elements evenly by multicast}}
  %map = cute_nvgpu.make_tma_desc_tiled %a, %lies, %box multicast 3 : !cute.memref<f16, gmem, "(?,?):(?,1)">, !lies, !box
  func.return
}

// -----

func.func @atom(%atom: !cute_nvgpu.atom.universal_copy<f32, 32 b>, %d: !cute.memref<f32, tmem, "(128,16):(65536,1)">) {
  // expected-error@+1 {{tiles a move of tensor memory, not !cute_nvgpu.atom.universal_copy<f32, 32 b>}}
  %0 = cute_nvgpu.atom.make_tmem_copy(%atom, %d)
  func.return
}

// -----

func.func @rows(%atom: !cute_nvgpu.atom.tmem_load<f32, 16 DP, 256 bit, x1>, %d: !cute.memref<f32, tmem, "(128,16):(65536,1)">) {
  // expected-error@+1 {{moves 16 lanes of each 32, not those of !cute.memref<f32, tmem, "(128,16):(65536,1)">}}
  %0 = cute_nvgpu.atom.make_tmem_copy(%atom, %d)
  func.return
}

// -----

func.func @memory(%atom: !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x1>, %d: !cute.memref<f32, smem, "(128,16):(16,1)">) {
  // expected-error@+1 {{moves rows by columns of tensor memory, not !cute.memref<f32, smem, "(128,16):(16,1)">}}
  %0 = cute_nvgpu.atom.make_tmem_copy(%atom, %d)
  func.return
}
