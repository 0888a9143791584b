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
