// `tileas-form-clusters`: neighbouring tile blocks that load the same tiles can be a cluster.

// RUN: tileas-opt %s --split-input-file -p tileas-form-clusters | filecheck %s
// RUN: tileas-opt %s --split-input-file -p 'tileas-form-clusters{mode=on axis=0}' | filecheck %s --check-prefix ON

// Tile blocks along x load other rows of A, and the same columns of B, which are 4104 f16 apart: each
// row of a box of B takes two lines of the L2 cache. A launch makes sure that the y of two are equal.

// CHECK-LABEL: @columns
// CHECK-SAME:  tileas.shared_loads = [{axis = 0 : i64, count = 2 : i64,
// CHECK-SAME:  steps = ["4104", "2", "muli 0 1", "0", "64", "1", "block x", "block y"],
// CHECK-SAME:  equal = array<i64: 3, 4, 5, 7>,
// CHECK-SAME:  loads = [{bytes = 16384 : i64, pitch = -1 : i64, is_shared = false}, {bytes = 32768 : i64, pitch = 2 : i64, is_shared = true}], rate = 46 : i64, cycles = 1312 : i64, rounds_up = false}
// CHECK-NOT:   same_in_cluster

// Where the launch gains, the load is marked: `tileas-multicast-loads` divides it.

// ON-LABEL:    @columns
// ON-SAME:     nv_tileas.cluster_of_tile_blocks = array<i64: 2, 1, 1>
// ON-NOT:      same_in_cluster
// ON:          tiled_load %va
// ON:          tiled_load %vb{{.*}} {nv_tileas.same_in_cluster = 2 : i32
func.func @columns(%a: memref<4096x4096xf16>, %b: memref<4096x4104xf16>, %c: memref<4096x4104xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = arith.constant 64 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %j = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %va = nv_tileas.view %a : memref<4096x4096xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vb = nv_tileas.view %b : memref<4096x4104xf16> -> !nv_tileas.tiled_view<64x256xf16, gmem>
  %vc = nv_tileas.view %c : memref<4096x4104xf32> -> !nv_tileas.tiled_view<128x256xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %zero to %last step %one iter_args(%acc = %nothing) -> (tensor<128x256xf32>) {
    %x = nv_tileas.tiled_load %va[%i, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %vb[%k, %j] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x256xf16, gmem> -> tensor<64x256xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %vc[%i, %j] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x256xf32>, !nv_tileas.tiled_view<128x256xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Stores by TMA: a launch of an odd number of tile blocks along x may have one more, whose box is behind
// any array. The grid of the program is a number that the launch passes, also where it is asked for first.

// CHECK-LABEL: @stored_by_tma
// CHECK-SAME:  rounds_up = true
// CHECK-NOT:   get_num_programs

// ON-LABEL:    @stored_by_tma
// ON-SAME:     nv_tileas.rounds_up_grid
// ON:          %[[COUNT:.*]] = nv_tileaa.get_num_programs {axis = 0 : i32}
// ON-NEXT:     %wide = arith.index_cast %[[COUNT]]
// ON:          %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[COUNT]] : i32
// ON:          %[[BEHIND:.*]] = arith.constant 16777215 : index
// ON:          %[[ROW:.*]] = arith.select %[[INSIDE]], %i, %[[BEHIND]] : index
// ON-NEXT:     tiled_store %staging, %vc[%[[ROW]], %j]
func.func @stored_by_tma(%a: memref<4096x4096xf16>, %b: memref<4096x4104xf16>, %c: memref<4096x4104xf16>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %wide = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = arith.constant 64 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %j = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %va = nv_tileas.view %a : memref<4096x4096xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vb = nv_tileas.view %b : memref<4096x4104xf16> -> !nv_tileas.tiled_view<64x256xf16, gmem>
  %vc = nv_tileas.view %c : memref<4096x4104xf16> -> !nv_tileas.tiled_view<128x256xf16, gmem>
  %nothing = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %zero to %last step %one iter_args(%acc = %nothing) -> (tensor<128x256xf32>) {
    %x = nv_tileas.tiled_load %va[%i, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %vb[%k, %j] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x256xf16, gmem> -> tensor<64x256xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %rounded = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xf16>
  %staging = nv_tileas.alloc_tensor : tensor<128x256xf16, #nv_tileas<space smem>>
  nv_tileas.copy %rounded, %staging {atom = #nv_tileas<atom unknown_copy>} : tensor<128x256xf16>, tensor<128x256xf16, #nv_tileas<space smem>>
  %stored = nv_tileas.tiled_store %staging, %vc[%i, %j] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom tma_store_2d>, allow_tma = true} : tensor<128x256xf16, #nv_tileas<space smem>>, !nv_tileas.tiled_view<128x256xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Rows of whole 32 bytes take it a third longer, and the products longer than that.

// CHECK-LABEL: @aligned
// CHECK-SAME:  nv_tileas.not_clustered = "the path from the L2 cache is not what its products wait for"
// ON-LABEL:    @aligned
// ON-NOT:      cluster_of_tile_blocks
func.func @aligned(%a: memref<4096x4096xf16>, %b: memref<4096x4112xf16>, %c: memref<4096x4112xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = arith.constant 64 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %j = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %va = nv_tileas.view %a : memref<4096x4096xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vb = nv_tileas.view %b : memref<4096x4112xf16> -> !nv_tileas.tiled_view<64x256xf16, gmem>
  %vc = nv_tileas.view %c : memref<4096x4112xf32> -> !nv_tileas.tiled_view<128x256xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %zero to %last step %one iter_args(%acc = %nothing) -> (tensor<128x256xf32>) {
    %x = nv_tileas.tiled_load %va[%i, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %vb[%k, %j] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x256xf16, gmem> -> tensor<64x256xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %vc[%i, %j] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x256xf32>, !nv_tileas.tiled_view<128x256xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Tile blocks in diagonals: no two beside each other load the same.

// CHECK-LABEL: @diagonals
// CHECK-SAME:  nv_tileas.not_clustered = "tile blocks beside each other load other tiles each"
func.func @diagonals(%a: memref<4096x4104xf16>, %b: memref<4104x4104xf16>, %c: memref<4096x4104xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = arith.constant 64 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %y0 = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %sixteen = arith.constant 16 : index
  %along = arith.addi %i, %y0 : index
  %j = arith.remui %along, %sixteen : index
  %va = nv_tileas.view %a : memref<4096x4104xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vb = nv_tileas.view %b : memref<4104x4104xf16> -> !nv_tileas.tiled_view<64x256xf16, gmem>
  %nothing = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %zero to %last step %one iter_args(%acc = %nothing) -> (tensor<128x256xf32>) {
    %x = nv_tileas.tiled_load %va[%along, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %vb[%k, %j] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x256xf16, gmem> -> tensor<64x256xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %vc = nv_tileas.view %c : memref<4096x4104xf32> -> !nv_tileas.tiled_view<128x256xf32, gmem>
  %stored = nv_tileas.tiled_store %sum, %vc[%i, %j] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x256xf32>, !nv_tileas.tiled_view<128x256xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}
