// What the operations of a thread block refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Axes, register budgets, and what may be made uniform.

func.func @threads(%i: i64) {
  // expected-error@+1 {{'cute_nvgpu.arch.thread_idx' op has axis x, y or z, not w}}
  %0 = cute_nvgpu.arch.thread_idx "w"
  // expected-error@+1 {{'cute_nvgpu.arch.make_warp_uniform' op expects i32 or f32 as the value, but got i64}}
  %1 = cute_nvgpu.arch.make_warp_uniform %i : i64 -> i64
  // expected-error@+1 {{'cute_nvgpu.arch.setmaxregister' op takes 24 to 256 registers in steps of 8, not 100}}
  cute_nvgpu.arch.setmaxregister 100 increase = true
  // expected-error@+1 {{'cute_nvgpu.arch.setmaxregister' op takes 24 to 256 registers in steps of 8, not 16}}
  cute_nvgpu.arch.setmaxregister 16 increase = false
  cute_nvgpu.arch.setmaxregister 104 increase = true
  func.return
}

// -----

// Shared-memory addresses have their stated alignment.

func.func @shared() {
  // expected-error@+1 {{'cute_nvgpu.arch.get_dyn_smem' op gives a pointer to smem, not !cute.ptr<bf16, gmem>}}
  %0 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<bf16, gmem>
  // expected-error@+1 {{'cute_nvgpu.arch.get_dyn_smem' op starts at byte 512, which is not aligned to 1024}}
  %1 = cute_nvgpu.arch.get_dyn_smem 512 -> !cute.ptr<bf16, smem, align<1024>>
  // expected-error@+1 {{'cute_nvgpu.arch.get_dyn_smem' op aligns to 1024 bytes at most, as dynamic shared memory is, not to 2048}}
  %2 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<bf16, smem, align<2048>>
  // expected-error@+1 {{'cute_nvgpu.arch.get_dyn_smem' op starts at byte 0 or later, not at -8}}
  %3 = cute_nvgpu.arch.get_dyn_smem -8 -> !cute.ptr<i64, smem>
  %4 = cute_nvgpu.arch.get_dyn_smem 512 -> !cute.ptr<bf16, smem, align<512>>
  func.return
}

// -----

// An mbarrier is an i64 in shared memory, and counts up to 2^20 - 1.

func.func @mbarriers(%g: !cute.ptr<i64, gmem>, %w: !cute.ptr<i32, smem, align<8>>, %b: !cute.ptr<i64, smem>, %i: i32) {
  // expected-error@+1 {{'cute_nvgpu.arch.mbarrier_init' op expects a pointer to smem as the mbarrier, but got !cute.ptr<i64, gmem>}}
  cute_nvgpu.arch.mbarrier_init %g, 1 : !cute.ptr<i64, gmem>
  // expected-error@+1 {{'cute_nvgpu.arch.mbarrier_init' op expects a pointer to i64 as the mbarrier, but got !cute.ptr<i32, smem, align<8>>}}
  cute_nvgpu.arch.mbarrier_init %w, 1 : !cute.ptr<i32, smem, align<8>>
  // expected-error@+1 {{'cute_nvgpu.arch.mbarrier_init' op counts 1 to 1048575 arrivals, not 0}}
  cute_nvgpu.arch.mbarrier_init %b, 0 : !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.mbarrier_init' op counts 1 to 1048575 arrivals, not 1048576}}
  cute_nvgpu.arch.mbarrier_init %b, 1048576 : !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_init %b, 1048575 : !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.mbarrier_arrive_expect_tx' op counts 0 to 1048575 bytes, not 1048576}}
  cute_nvgpu.arch.mbarrier_arrive_expect_tx %b, 1048576 : !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.mbarrier_arrive' op expects a pointer as the mbarrier, but got i32}}
  cute_nvgpu.arch.mbarrier_arrive %i : i32
  // expected-error@+1 {{'cute_nvgpu.arch.mbarrier_wait' op expects a pointer to i64 as the mbarrier, but got !cute.ptr<i32, smem, align<8>>}}
  cute_nvgpu.arch.mbarrier_wait %w, %i : !cute.ptr<i32, smem, align<8>>
  func.return
}

// -----

// A block has sixteen barriers, at which whole warps arrive.

func.func @barriers(%i: i32) {
  // expected-error@+1 {{'cute_nvgpu.arch.barrier' op is barrier 0 to 15 of a block, not 16}}
  cute_nvgpu.arch.barrier id 16
  // expected-error@+1 {{'cute_nvgpu.arch.barrier' op names its barrier by a number or by a value}}
  cute_nvgpu.arch.barrier
  // expected-error@+1 {{'cute_nvgpu.arch.barrier' op names its barrier by a number or by a value}}
  cute_nvgpu.arch.barrier id 1 of %i
  // expected-error@+1 {{'cute_nvgpu.arch.barrier' op counts whole warps, 32 to 1024 threads, not 100}}
  cute_nvgpu.arch.barrier id 1 threads 100
  // expected-error@+1 {{'cute_nvgpu.arch.barrier' op counts whole warps, 32 to 1024 threads, not 2048}}
  cute_nvgpu.arch.barrier id 1 threads 2048
  // expected-error@+1 {{'cute_nvgpu.arch.barrier_arrive' op says how many threads take part}}
  cute_nvgpu.arch.barrier_arrive id 1
  // expected-error@+1 {{'cute_nvgpu.arch.fence_proxy_async' op fences shared::cta or generic, not global}}
  cute_nvgpu.arch.fence_proxy_async "global"
  func.return
}

// -----

// Boxes go to and from aligned shared memory; coordinates are as many as dimensions.

func.func @copies(%d: !cute_nvgpu.tma_descriptor_tiled, %s: !cute.ptr<bf16, smem, align<128>>, %u: !cute.ptr<bf16, smem, align<64>>, %g: !cute.ptr<bf16, gmem, align<128>>, %b: !cute.ptr<i64, smem>, %i: i32) {
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_load' op expects the tile aligned to 128 bytes, but !cute.ptr<bf16, smem, align<64>> promises 64}}
  cute_nvgpu.arch.copy.SM90.tma_load %d[%i] to %u, %b : !cute.ptr<bf16, smem, align<64>>, !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_load' op expects a pointer to smem as the tile, but got !cute.ptr<bf16, gmem, align<128>>}}
  cute_nvgpu.arch.copy.SM90.tma_load %d[%i] to %g, %b : !cute.ptr<bf16, gmem, align<128>>, !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_load' op expects a pointer to i64 as the mbarrier, but got !cute.ptr<bf16, smem, align<128>>}}
  cute_nvgpu.arch.copy.SM90.tma_load %d[%i] to %s, %s : !cute.ptr<bf16, smem, align<128>>, !cute.ptr<bf16, smem, align<128>>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_load' op takes 1 to 5 coordinates, not 6}}
  cute_nvgpu.arch.copy.SM90.tma_load %d[%i, %i, %i, %i, %i, %i] to %s, %b : !cute.ptr<bf16, smem, align<128>>, !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_store' op takes 1 to 5 coordinates, not 0}}
  cute_nvgpu.arch.copy.SM90.tma_store %d[] from %s : !cute.ptr<bf16, smem, align<128>>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.SM90.tma_reduce' op reduces by add, min, max, inc, dec, and, or, xor, not by mul}}
  cute_nvgpu.arch.copy.SM90.tma_reduce "mul", %d[%i] from %s : !cute.ptr<bf16, smem, align<128>>
  // expected-error@+1 {{'cute_nvgpu.arch.bulk_wait_group' op leaves 0 groups or more open, not -1}}
  cute_nvgpu.arch.bulk_wait_group -1
  func.return
}

// -----

// A swizzled operand starts where the pattern starts; distances are multiples of 16 bytes.

func.func @descriptors(%s: !cute.ptr<bf16, smem, align<1024>>, %u: !cute.ptr<bf16, smem, align<512>>, %d: !cute_nvgpu.smem_desc, %i: i32) {
  // expected-error@+1 {{'cute_nvgpu.make_gmma_smem_desc' op expects the start of a pattern 128B aligned to 1024 bytes, but !cute.ptr<bf16, smem, align<512>> promises 512}}
  %0 = cute_nvgpu.make_gmma_smem_desc %u swizzle "128B" leading 16 stride 1024 : !cute.ptr<bf16, smem, align<512>>
  %1 = cute_nvgpu.make_gmma_smem_desc %u swizzle "64B" leading 16 stride 512 : !cute.ptr<bf16, smem, align<512>>
  // expected-error@+1 {{'cute_nvgpu.make_gmma_smem_desc' op knows the swizzles 128B, 64B, 32B, none, not 128B_BASE32B}}
  %2 = cute_nvgpu.make_gmma_smem_desc %s swizzle "128B_BASE32B" leading 16 stride 1024 : !cute.ptr<bf16, smem, align<1024>>
  // expected-error@+1 {{'cute_nvgpu.make_gmma_smem_desc' op has a leading offset of 0 to 262128 bytes in steps of 16, not 8}}
  %3 = cute_nvgpu.make_gmma_smem_desc %s swizzle "128B" leading 8 stride 1024 : !cute.ptr<bf16, smem, align<1024>>
  // expected-error@+1 {{'cute_nvgpu.make_gmma_smem_desc' op has a stride offset of 0 to 262128 bytes in steps of 16, not 262144}}
  %4 = cute_nvgpu.make_gmma_smem_desc %s swizzle "128B" leading 16 stride 262144 : !cute.ptr<bf16, smem, align<1024>>
  // expected-error@+1 {{'cute_nvgpu.smem_desc_add' op adds up to 262128 bytes in steps of 16, not 8}}
  %5 = cute_nvgpu.smem_desc_add %d bytes 8
  // expected-error@+1 {{'cute_nvgpu.smem_desc_add' op adds a number of bytes or a value}}
  %6 = cute_nvgpu.smem_desc_add %d
  // expected-error@+1 {{'cute_nvgpu.smem_desc_add' op adds a number of bytes or a value}}
  %7 = cute_nvgpu.smem_desc_add %d bytes 16 by %i
  func.return
}

// -----

// Elements, shapes, accumulators and majors that wgmma has.

func.func @products(%a: !cute_nvgpu.smem_desc, %r: vector<8xf16>, %t: vector<4xf16>, %c: vector<32xf32>, %h: vector<32xf16>, %n: vector<32xi32>) {
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op multiplies f16, bf16, tf32, e4m3, e5m2, s8, u8, not f32}}
  %0 = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [64, 64, 16] elements "f32", "f32" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op has no product of f16 and bf16}}
  %1 = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [64, 64, 16] elements "f16", "bf16" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op has shape 64 x N x 16 for bf16, not 64 x 64 x 32}}
  %2 = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [64, 64, 32] elements "bf16", "bf16" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op has shape 64 x N x 16 for bf16, not 128 x 64 x 16}}
  %3 = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [128, 64, 16] elements "bf16", "bf16" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op has N 8 to 256 in steps of 8 for bf16, not 68}}
  %4 = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [64, 68, 16] elements "bf16", "bf16" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op has N 8 to 256 in steps of 16 from 32 on for s8, not 40}}
  %5 = cute_nvgpu.arch.mma.SM90 %a, %a, %n shape [64, 40, 32] elements "s8", "s8" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xi32> -> vector<32xi32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op accumulates bf16 in f32, not in f16}}
  %6 = cute_nvgpu.arch.mma.SM90 %a, %a, %h shape [64, 64, 16] elements "bf16", "bf16" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf16> -> vector<32xf16>
  %7 = cute_nvgpu.arch.mma.SM90 %a, %a, %h shape [64, 64, 16] elements "f16", "f16" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf16> -> vector<32xf16>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op has 64 accumulators for N = 128, but got vector<32xf32>}}
  %8 = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [64, 128, 16] elements "bf16", "bf16" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op gives an accumulator like vector<32xf32>, not vector<32xf16>}}
  %9 = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [64, 64, 16] elements "bf16", "bf16" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf16>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op multiplies bf16, but A is vector<8xf16>}}
  %10 = cute_nvgpu.arch.mma.SM90 %r, %a, %c shape [64, 64, 16] elements "bf16", "bf16" major "k", "k" : vector<8xf16>, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op expects a descriptor or four 32-bit registers as A, but got vector<4xf16>}}
  %11 = cute_nvgpu.arch.mma.SM90 %t, %a, %c shape [64, 64, 16] elements "f16", "f16" major "k", "k" : vector<4xf16>, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op reads A from registers k-major only}}
  %12 = cute_nvgpu.arch.mma.SM90 %r, %a, %c shape [64, 64, 16] elements "f16", "f16" major "mn", "k" : vector<8xf16>, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op reads e4m3 k-major only, but B is mn-major}}
  %13 = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [64, 64, 32] elements "e4m3", "e4m3" major "k", "mn" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM90' op has B k-major or mn-major, not n-major}}
  %14 = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [64, 64, 16] elements "f16", "f16" major "k", "n" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
  // expected-error@+1 {{'cute_nvgpu.arch.wgmma_wait_group' op leaves 0 groups or more under way, not -1}}
  cute_nvgpu.arch.wgmma_wait_group -1
  // expected-error@+1 {{'cute_nvgpu.arch.wgmma_wait_group' op gives back the values that it takes, with their types}}
  %15 = cute_nvgpu.arch.wgmma_wait_group 0, %c : vector<32xf32> -> vector<32xf16>
  func.return
}

// -----

// Matrices of 8x8, shuffles and reductions of a warp.

func.func @warps(%s: !cute.ptr<bf16, smem, align<16>>, %u: !cute.ptr<bf16, smem, align<8>>, %v: vector<8xbf16>, %i: i32, %l: i64) {
  // expected-error@+1 {{'cute_nvgpu.arch.copy.stsm' op expects the rows aligned to 16 bytes, but !cute.ptr<bf16, smem, align<8>> promises 8}}
  cute_nvgpu.arch.copy.stsm %v, %u matrices 4 : vector<8xbf16>, !cute.ptr<bf16, smem, align<8>>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.stsm' op holds 2 matrices in 2 32-bit registers, not in vector<8xbf16>}}
  cute_nvgpu.arch.copy.stsm %v, %s matrices 2 : vector<8xbf16>, !cute.ptr<bf16, smem, align<16>>
  // expected-error@+1 {{'cute_nvgpu.arch.copy.ldsm' op moves 1, 2 or 4 matrices, not 3}}
  %0 = cute_nvgpu.arch.copy.ldsm %s matrices 3 : !cute.ptr<bf16, smem, align<16>> -> vector<3xi32>
  // expected-error@+1 {{'cute_nvgpu.arch.shuffle' op expects i32 or f32 as the value, but got i64}}
  %1 = cute_nvgpu.arch.shuffle "bfly" %l by 16 : i64 -> i64
  // expected-error@+1 {{'cute_nvgpu.arch.shuffle' op names lane 0 to 31 of a warp, not 32}}
  %2 = cute_nvgpu.arch.shuffle "bfly" %i by 32 : i32 -> i32
  // expected-error@+1 {{'cute_nvgpu.arch.shuffle' op shuffles bfly, down, idx, up, not left}}
  %3 = cute_nvgpu.arch.shuffle "left" %i by 1 : i32 -> i32
  // expected-error@+1 {{'cute_nvgpu.arch.shuffle' op names the lane by a number or by a value}}
  %4 = cute_nvgpu.arch.shuffle "up" %i : i32 -> i32
  // expected-error@+1 {{'cute_nvgpu.arch.shuffle' op gives i32, not f32}}
  %5 = cute_nvgpu.arch.shuffle "up" %i by 1 : i32 -> f32
  // expected-error@+1 {{'cute_nvgpu.arch.redux' op reduces by add, min, max, umin, umax, and, or, xor, not by mul}}
  %6 = cute_nvgpu.arch.redux "mul" %i
  func.return
}

// -----

// Changed tensor maps: the fields that a device changes, their values and ordinals, and places.

func.func @changed_maps(%d: !cute_nvgpu.tma_descriptor_tiled, %s: !cute.ptr<i8, smem, align<128>>, %u: !cute.ptr<i8, smem, align<64>>, %g: !cute.ptr<i8, gmem, align<128>>, %h: !cute.ptr<i8, gmem, align<16>>, %i: i32, %l: i64) {
  // expected-error@+1 {{'cute_nvgpu.copy_tma_desc' op expects the map aligned to 128 bytes, but !cute.ptr<i8, smem, align<64>> promises 64}}
  cute_nvgpu.copy_tma_desc %d to %u : !cute_nvgpu.tma_descriptor_tiled, !cute.ptr<i8, smem, align<64>>
  // expected-error@+1 {{'cute_nvgpu.update_tma_desc' op TMA descriptor field is not device-mutable: 'box_dim'; the device changes global_address, global_dim, global_stride}}
  cute_nvgpu.update_tma_desc "box_dim", 0 of %s, %i : !cute.ptr<i8, smem, align<128>>, i32
  // expected-error@+1 {{'cute_nvgpu.update_tma_desc' op TMA descriptor field is not device-mutable: 'swizzle_mode'; the device changes global_address, global_dim, global_stride}}
  cute_nvgpu.update_tma_desc "swizzle_mode" of %s, %i : !cute.ptr<i8, smem, align<128>>, i32
  // expected-error@+1 {{'cute_nvgpu.update_tma_desc' op expects the map aligned to 128 bytes, but !cute.ptr<i8, smem, align<64>> promises 64}}
  cute_nvgpu.update_tma_desc "global_dim", 0 of %u, %i : !cute.ptr<i8, smem, align<64>>, i32
  // expected-error@+1 {{'cute_nvgpu.update_tma_desc' op expects a pointer to gmem as the address, but got !cute.ptr<i8, smem, align<128>>}}
  cute_nvgpu.update_tma_desc "global_address" of %s, %s : !cute.ptr<i8, smem, align<128>>, !cute.ptr<i8, smem, align<128>>
  // expected-error@+1 {{'cute_nvgpu.update_tma_desc' op takes i64 as global_stride, not i32}}
  cute_nvgpu.update_tma_desc "global_stride", 0 of %s, %i : !cute.ptr<i8, smem, align<128>>, i32
  // expected-error@+1 {{'cute_nvgpu.update_tma_desc' op global_dim has an ordinal}}
  cute_nvgpu.update_tma_desc "global_dim" of %s, %i : !cute.ptr<i8, smem, align<128>>, i32
  // expected-error@+1 {{'cute_nvgpu.update_tma_desc' op global_address has no ordinal}}
  cute_nvgpu.update_tma_desc "global_address", 0 of %s, %g : !cute.ptr<i8, smem, align<128>>, !cute.ptr<i8, gmem, align<128>>
  // expected-error@+1 {{'cute_nvgpu.update_tma_desc' op global_stride has ordinals 0 to 3, not 4}}
  cute_nvgpu.update_tma_desc "global_stride", 4 of %s, %l : !cute.ptr<i8, smem, align<128>>, i64
  // expected-error@+1 {{'cute_nvgpu.arch.publish_tma_desc' op expects the place aligned to 128 bytes, but !cute.ptr<i8, gmem, align<16>> promises 16}}
  cute_nvgpu.arch.publish_tma_desc %s to %h : !cute.ptr<i8, smem, align<128>>, !cute.ptr<i8, gmem, align<16>>
  // expected-error@+1 {{'cute_nvgpu.arch.acquire_tma_desc' op expects a pointer to gmem as the place, but got !cute.ptr<i8, smem, align<128>>}}
  %m = cute_nvgpu.arch.acquire_tma_desc %s : !cute.ptr<i8, smem, align<128>>
  func.return
}
