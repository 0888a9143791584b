// `tileas-multicast-loads`: CTAs that load the same tile each load a part for all of them.

// RUN: tileas-opt %s --split-input-file -p tileas-multicast-loads | filecheck %s

// Both CTAs of a tile block need all of B: each loads 32 of 64 rows. A is of each CTA alone.

// CHECK-LABEL: @share
// CHECK-SAME:  num_ctas = 2, tile_block_ctas = 2
// CHECK:       %[[PART:.*]] = arith.remui
// CHECK:       nv_tileas.make_tiled_tma_desc %{{.*}} box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>
// CHECK:       nv_tileas.make_tiled_tma_desc %{{.*}} box[%c64, %[[ROWS:.*]]] {atom = #nv_tileas<atom tma_load_2d<multicast>>, {{.*}}num_multicast = 2 : i32
// CHECK:       nv_tileas.async.tiled_tma_load {{.*}} {nv_tileas.not_multicast = "CTAs load other tiles each", atom = #nv_tileas<atom tma_load_2d>
// CHECK:       %[[FIRST:.*]] = arith.muli %[[PART]]
// CHECK-NEXT:  %[[SLICE:.*]] = nv_tileas.extract_slice %{{.*}}[%[[FIRST]], 0][32, 128][1, 1]
// CHECK-SAME:    -> tensor<32x128xf16, #nv_tileas.shared<(32,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
// CHECK:       %[[ROW:.*]] = arith.addi %{{.*}}, %[[PART]]
// CHECK-NEXT:  nv_tileas.async.tiled_tma_load %{{.*}}, %[[SLICE]][%[[ROW]], %{{.*}}] {{.*}}tx_count = 8192 : i32, num_multicast = 2 : i32
!a = tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>
!b = tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, !b>, 3, smem>
!prod = !nv_tileas.async.pipeline.producer_token
func.func @share(%ma: memref<256x256xf16>, %mb: memref<256x256xf16>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, tile_block_ctas = 2>} {
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %cta = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %j = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %of_a = nv_tileas.make_tiled_tma_desc %ma box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>} : memref<256x256xf16> -> !nv_tileas.tma_desc
  %of_b = nv_tileas.make_tiled_tma_desc %mb box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>} : memref<256x256xf16> -> !nv_tileas.tma_desc
  %stages = nv_tileas.alloc_tensor : tensor<3x12288xf16, #nv_tileas<space smem>>
  %slots = nv_tileas.view %stages : tensor<3x12288xf16, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<3x12288xf16, smem>
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 3 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<3x12288xf16, smem> -> !prod, !nv_tileas.async.pipeline.consumer_token
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %pn, %in = scf.for %k = %zero to %four step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
    %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!a, !b]} : (!prod, !iter) -> !prod {
    ^bb0(%sa: !a, %sb: !b):
      %barrier = nv_tileas.create_none : !nv_tileas.mem_token
      %la = nv_tileas.async.tiled_tma_load %of_a, %sa[%cta, %k] barrier %barrier {atom = #nv_tileas<atom tma_load_2d>, tx_count = 8192 : i32} : !nv_tileas.tma_desc, !a, index, index, !nv_tileas.mem_token -> !nv_tileas.token
      %lb = nv_tileas.async.tiled_tma_load %of_b, %sb[%k, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d>, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !b, index, index, !nv_tileas.mem_token -> !nv_tileas.token
      nv_tileas.async.pipeline.yield %sa, %sb : !a, !b
    }
    %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
    scf.yield %p1, %i1 : !prod, !iter
  }
  func.return
}

// -----

// A product of two CTAs reads half of the columns of B from each: they load one panel of two each.

// CHECK-LABEL: @pair
// CHECK:       %[[PART:.*]] = arith.remui
// CHECK:       nv_tileas.make_tiled_tma_desc %{{.*}} box[%c64, %{{.*}}] {atom = #nv_tileas<atom tma_load_2d<multicast>>
// CHECK:       %[[FIRST:.*]] = arith.muli %[[PART]]
// CHECK-NEXT:  %[[SLICE:.*]] = nv_tileas.extract_slice %{{.*}}[0, %[[FIRST]]][64, 64][1, 1]
// CHECK-SAME:    -> tensor<64x64xf16, #nv_tileas.shared<(64,(64,1)),(64,(1,4096)),swizzle<3,4,3>>>
// CHECK:       %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[PART]]
// CHECK-NEXT:  nv_tileas.async.tiled_tma_load %{{.*}}, %[[SLICE]][%{{.*}}, %[[COLUMN]]] {{.*}}tx_count = 8192 : i32, num_multicast = 2 : i32
// CHECK:       nv_tileas.dot {{.*}} {atom = #nv_tileas<atom tcgen05_f16_f16_f32<cta_group = 2>>}
!a = tensor<128x64xf16, #nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>>
!b = tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
!c = tensor<128x128xf32, #nv_tileas.linear<"(128,128):(1@lane,1@column)">>
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, !b>, 3, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
builtin.module attributes {nv_tileas.target = "sm_100a"} {
  func.func @pair(%ma: memref<256x256xf16>, %mb: memref<256x256xf16>) attributes {
      nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8, tile_block_ctas = 2>} {
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %cta = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    %j = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
    %of_a = nv_tileas.make_tiled_tma_desc %ma box[%c64, %c128] {atom = #nv_tileas<atom tma_load_2d>} : memref<256x256xf16> -> !nv_tileas.tma_desc
    %of_b = nv_tileas.make_tiled_tma_desc %mb box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>} : memref<256x256xf16> -> !nv_tileas.tma_desc
    %stages = nv_tileas.alloc_tensor : tensor<3x16384xf16, #nv_tileas<space smem>>
    %slots = nv_tileas.view %stages : tensor<3x16384xf16, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<3x16384xf16, smem>
    %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 3 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<3x16384xf16, smem> -> !prod, !cons
    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 72, 216>, isolated = false, num_warps = array<i32: 4, 4>, warp_id = array<i32: 0, 4>} agent 0 {
      %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
      %pn, %in = scf.for %k = %zero to %four step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
        %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!a, !b]} : (!prod, !iter) -> !prod {
        ^bb0(%sa: !a, %sb: !b):
          %barrier = nv_tileas.create_none : !nv_tileas.mem_token
          %la = nv_tileas.async.tiled_tma_load %of_a, %sa[%cta, %k] barrier %barrier {atom = #nv_tileas<atom tma_load_2d>, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !a, index, index, !nv_tileas.mem_token -> !nv_tileas.token
          %lb = nv_tileas.async.tiled_tma_load %of_b, %sb[%k, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d>, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !b, index, index, !nv_tileas.mem_token -> !nv_tileas.token
          nv_tileas.async.pipeline.yield %sa, %sb : !a, !b
        }
        %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
        scf.yield %p1, %i1 : !prod, !iter
      }
    }, agent 1 {
      %i0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
      %sums = arith.constant dense<0.0> : !c
      %cn, %in, %s = scf.for %k = %zero to %four step %one iter_args(%t = %c0, %i = %i0, %acc = %sums) -> (!cons, !iter, !c) {
        %t1, %d = nv_tileas.async.pipeline.consume_one %t, %i {consumer_idx = 0 : i32, consumer_types = [!a, !b]} : (!cons, !iter) -> (!cons, !c) {
        ^bb0(%sa: !a, %sb: !b):
          %r = nv_tileas.dot %sa, %sb, %acc {atom = #nv_tileas<atom tcgen05_f16_f16_f32<cta_group = 2>>} : !a, !b, !c -> !c
          nv_tileas.async.pipeline.yield %r : !c
        }
        %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
        scf.yield %t1, %i1, %d : !cons, !iter, !c
      }
    }
    func.return
  }
}

// -----

// CTAs that may go round differently often do not multiply together either.

// CHECK-LABEL: @unequal_pair
// CHECK-NOT:   num_multicast
// CHECK:       nv_tileas.dot {{.*}} {nv_tileas.not_paired = "a product of two blocks runs equally often in both, which these may not", atom = #nv_tileas<atom tcgen05_f16_f16_f32>}
!a = tensor<128x64xf16, #nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>>
!b = tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
!c = tensor<128x128xf32, #nv_tileas.linear<"(128,128):(1@lane,1@column)">>
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, !b>, 3, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
builtin.module attributes {nv_tileas.target = "sm_100a"} {
  func.func @unequal_pair(%ma: memref<256x256xf16>, %mb: memref<256x256xf16>) attributes {
      nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8, tile_block_ctas = 2>} {
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %cta = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    %j = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
    %of_a = nv_tileas.make_tiled_tma_desc %ma box[%c64, %c128] {atom = #nv_tileas<atom tma_load_2d>} : memref<256x256xf16> -> !nv_tileas.tma_desc
    %of_b = nv_tileas.make_tiled_tma_desc %mb box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>} : memref<256x256xf16> -> !nv_tileas.tma_desc
    %stages = nv_tileas.alloc_tensor : tensor<3x16384xf16, #nv_tileas<space smem>>
    %slots = nv_tileas.view %stages : tensor<3x16384xf16, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<3x16384xf16, smem>
    %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 3 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<3x16384xf16, smem> -> !prod, !cons
    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 72, 216>, isolated = false, num_warps = array<i32: 4, 4>, warp_id = array<i32: 0, 4>} agent 0 {
      %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
      %pn, %in = scf.for %k = %zero to %cta step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
        %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!a, !b]} : (!prod, !iter) -> !prod {
        ^bb0(%sa: !a, %sb: !b):
          %barrier = nv_tileas.create_none : !nv_tileas.mem_token
          %la = nv_tileas.async.tiled_tma_load %of_a, %sa[%cta, %k] barrier %barrier {atom = #nv_tileas<atom tma_load_2d>, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !a, index, index, !nv_tileas.mem_token -> !nv_tileas.token
          %lb = nv_tileas.async.tiled_tma_load %of_b, %sb[%k, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d>, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !b, index, index, !nv_tileas.mem_token -> !nv_tileas.token
          nv_tileas.async.pipeline.yield %sa, %sb : !a, !b
        }
        %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
        scf.yield %p1, %i1 : !prod, !iter
      }
    }, agent 1 {
      %i0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
      %sums = arith.constant dense<0.0> : !c
      %cn, %in, %s = scf.for %k = %zero to %cta step %one iter_args(%t = %c0, %i = %i0, %acc = %sums) -> (!cons, !iter, !c) {
        %t1, %d = nv_tileas.async.pipeline.consume_one %t, %i {consumer_idx = 0 : i32, consumer_types = [!a, !b]} : (!cons, !iter) -> (!cons, !c) {
        ^bb0(%sa: !a, %sb: !b):
          %r = nv_tileas.dot %sa, %sb, %acc {atom = #nv_tileas<atom tcgen05_f16_f16_f32<cta_group = 2>>} : !a, !b, !c -> !c
          nv_tileas.async.pipeline.yield %r : !c
        }
        %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
        scf.yield %t1, %i1, %d : !cons, !iter, !c
      }
    }
    func.return
  }
}

// -----

// CTAs that may go round differently often do not load together: the bound is a CTA's own.

// CHECK-LABEL: @unequal
// CHECK-NOT:   num_multicast
// CHECK:       nv_tileas.not_multicast = "CTAs may not load equally often"
!a = tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>
!b = tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, !b>, 3, smem>
!prod = !nv_tileas.async.pipeline.producer_token
func.func @unequal(%ma: memref<256x256xf16>, %mb: memref<256x256xf16>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, tile_block_ctas = 2>} {
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %cta = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %j = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %of_a = nv_tileas.make_tiled_tma_desc %ma box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>} : memref<256x256xf16> -> !nv_tileas.tma_desc
  %of_b = nv_tileas.make_tiled_tma_desc %mb box[%c64, %c64] {atom = #nv_tileas<atom tma_load_2d>} : memref<256x256xf16> -> !nv_tileas.tma_desc
  %stages = nv_tileas.alloc_tensor : tensor<3x12288xf16, #nv_tileas<space smem>>
  %slots = nv_tileas.view %stages : tensor<3x12288xf16, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<3x12288xf16, smem>
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 3 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<3x12288xf16, smem> -> !prod, !nv_tileas.async.pipeline.consumer_token
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %pn, %in = scf.for %k = %zero to %cta step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
    %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!a, !b]} : (!prod, !iter) -> !prod {
    ^bb0(%sa: !a, %sb: !b):
      %barrier = nv_tileas.create_none : !nv_tileas.mem_token
      %la = nv_tileas.async.tiled_tma_load %of_a, %sa[%cta, %k] barrier %barrier {atom = #nv_tileas<atom tma_load_2d>, tx_count = 8192 : i32} : !nv_tileas.tma_desc, !a, index, index, !nv_tileas.mem_token -> !nv_tileas.token
      %lb = nv_tileas.async.tiled_tma_load %of_b, %sb[%zero, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d>, tx_count = 16384 : i32} : !nv_tileas.tma_desc, !b, index, index, !nv_tileas.mem_token -> !nv_tileas.token
      nv_tileas.async.pipeline.yield %sa, %sb : !a, !b
    }
    %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
    scf.yield %p1, %i1 : !prod, !iter
  }
  func.return
}
