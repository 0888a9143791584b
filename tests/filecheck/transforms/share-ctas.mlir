// `share-ctas`: tile blocks of one warp each are taken by the warps of larger CTAs.

// RUN: tileas-opt %s -p share-ctas --split-input-file | filecheck %s

// Each warp has tile blocks, shared memory and barriers of its own; the first tile blocks go to
// different CTAs.

func.func @doubled(%ptr: !cute.ptr<f32, gmem>, %tiles: i32)
    attributes {tileas.parameters = ["ptr 0", "tile blocks 0"], tileas.persistent,
                nvvm.reqntid = array<i32: 32, 1, 1>, nvvm.minctasm = 32 : i32,
                tileas.smem_bytes = 128 : i32} {
  %id = cute_nvgpu.arch.block_idx "x"
  %ctas = cute_nvgpu.arch.grid_dim "x"
  %thread = cute_nvgpu.arch.thread_idx "x"
  scf.for %t = %id to %tiles step %ctas : i32 {
    %room = cute_nvgpu.arch.get_dyn_smem 64 -> !cute.ptr<f32, smem, align<16>>
    %at = cute.add_offset %ptr, %t : !cute.ptr<f32, gmem>, i32 -> !cute.ptr<f32, gmem>
    %x = cute.ptr.load %at : !cute.ptr<f32, gmem> -> f32
    cute.ptr.store %x, %room : f32, !cute.ptr<f32, smem, align<16>>
    cute_nvgpu.arch.barrier id 0
    %own = cute.add_offset %room, %thread : !cute.ptr<f32, smem, align<16>>, i32 -> !cute.ptr<f32, smem>
    %y = cute.ptr.load %own : !cute.ptr<f32, smem> -> f32
  }
  func.return
}

// CHECK-LABEL: func.func @doubled
// CHECK-SAME:    nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.minctasm = 8 : i32
// CHECK-SAME:    tileas.smem_bytes = 512 : i32
// CHECK-NEXT:    %[[WARP:.*]] = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:    %[[CTAS:.*]] = cute_nvgpu.arch.grid_dim "x"
// CHECK:         %[[APART:.*]] = arith.muli %[[WARP]], %[[CTAS]] : i32
// CHECK-NEXT:    %[[FIRST:.*]] = arith.addi %{{.*}}, %[[APART]] : i32
// CHECK:         %[[FOUR:.*]] = arith.constant 4 : i32
// CHECK-NEXT:    %[[STEP:.*]] = arith.muli %[[CTAS]], %[[FOUR]] : i32
// CHECK-NEXT:    %[[LANE:.*]] = cute_nvgpu.arch.lane_idx
// CHECK:         %[[BYTES:.*]] = arith.constant 128 : i32
// CHECK-NEXT:    %[[OFFSET:.*]] = arith.muli %[[WARP]], %[[BYTES]] : i32
// CHECK-NEXT:    scf.for %{{.*}} = %[[FIRST]] to %tiles step %[[STEP]]
// CHECK-NEXT:      %[[START:.*]] = cute_nvgpu.arch.get_dyn_smem 64 -> !cute.ptr<i8, smem, align<16>>
// CHECK-NEXT:      cute.add_offset %[[START]], %[[OFFSET]]
// CHECK:           cute_nvgpu.arch.sync_warp
// CHECK-NEXT:      cute.add_offset %{{.*}}, %[[LANE]]

// -----

// A launch of a kernel that is not persistent has a CTA for each tile block.

func.func @once(%ptr: !cute.ptr<f32, gmem>)
    attributes {tileas.parameters = ["ptr 0"], nvvm.reqntid = array<i32: 32, 1, 1>,
                tileas.smem_bytes = 0 : i32} {
  %id = cute_nvgpu.arch.block_idx "x"
  func.return
}

// CHECK-LABEL: func.func @once
// CHECK-SAME:    nvvm.reqntid = array<i32: 32, 1, 1>
// CHECK-NEXT:    block_idx "x"

// -----

// An mbarrier counts arrivals of the CTA, so that its warps are not independent.

func.func @waits(%ptr: !cute.ptr<f32, gmem>)
    attributes {tileas.parameters = ["ptr 0"], tileas.persistent,
                nvvm.reqntid = array<i32: 32, 1, 1>, tileas.smem_bytes = 8 : i32} {
  %full = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_init %full, 1 : !cute.ptr<i64, smem>
  func.return
}

// CHECK-LABEL: func.func @waits
// CHECK-SAME:    nvvm.reqntid = array<i32: 32, 1, 1>
// CHECK:         mbarrier_init
