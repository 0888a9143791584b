// `tileas-make-persistent`: tile blocks that differ in length are taken in a serpentine, every other round backwards, or
// from a counter.

// RUN: tileas-opt %s -p 'tileas-make-persistent{mode=on}' | filecheck %s
// RUN: tileas-opt %s -p 'tileas-make-persistent{mode=on},tileas-pipeline-loads' | filecheck %s --check-prefix=HANDED

// CTA c of n takes c, 2n - 1 - c, 2n + c, ...; where the last round would go backwards, all go the other way, so that the
// loop ends where the tile blocks do. The distance to the next tile block is one of two, which a carried number chooses.

// CHECK-LABEL: @falling
// CHECK-SAME:  persistent = 1
// CHECK-SAME:  tileas.persistent_launches
// CHECK:       %[[ROWS:.*]] = arith.muli
// CHECK-NEXT:  %[[ALL:.*]] = arith.muli %[[ROWS]], %{{.*}} : i32
// CHECK-NEXT:  %{{.*}} = "gpu.block_id"
// CHECK-NEXT:  %[[FIRST:.*]] = arith.index_cast
// CHECK-NEXT:  %{{.*}} = "gpu.grid_dim"
// CHECK-NEXT:  %[[CTAS:.*]] = arith.index_cast
// CHECK-NEXT:  %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT:  %[[BEFORE:.*]] = arith.subi %[[ALL]], %[[ONE]]
// CHECK-NEXT:  %[[ROUND:.*]] = arith.divui %[[BEFORE]], %[[CTAS]]
// CHECK-NEXT:  %[[ODD:.*]] = arith.andi %[[ROUND]], %[[ONE]]
// CHECK:       scf.for %{{.*}} = %[[FIRST]] to %[[ALL]] step %[[CTAS]] iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[TURN:.*]] = %[[ODD]])
// CHECK:         nv_tileas.tiled_store %sum
// CHECK-NEXT:    %[[UNIT:.*]] = arith.constant 1 : i32
// CHECK-NEXT:    %[[IS:.*]] = arith.cmpi eq, %[[TURN]], %[[UNIT]]
// CHECK-NEXT:    %{{.*}} = arith.select %[[IS]]
// CHECK-NEXT:    %{{.*}} = arith.select %[[IS]]
// CHECK-NEXT:    %{{.*}} = arith.select %[[IS]]
// CHECK-NEXT:    %[[OTHER:.*]] = arith.xori %[[TURN]], %[[UNIT]]
// CHECK:         scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %[[OTHER]]
func.func @falling(%a: !nv_tileas.tiled_view<64x32xf16, gmem>, %b: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %n = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %left = arith.subi %n, %i : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %left step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%i, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// What data say about the depth of a product no launch knows. CTAs that are alone take the next tile block from a counter:
// a producer asks for it where it begins to load for one, and has its id when it has loaded all.

// CHECK-LABEL: @of_loaded_depth
// CHECK-SAME:  persistent = 1
// CHECK:       %[[FIRST:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK:       scf.while (%[[I:.*]] = %[[FIRST]]) : (i32) -> i32 {
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    %[[IS:.*]] = arith.cmpi sge, %[[I]], %[[ZERO]] : i32
// CHECK-NEXT:    scf.condition(%[[IS]]) %[[I]] : i32
// CHECK-NEXT:  } do {
// CHECK-NEXT:  ^bb0(%[[NOW:.*]]: i32):
// CHECK-NEXT:    %[[ASKED:.*]] = nv_tileas.async.next_tile_block {rounds = 1 : i32} : !nv_tileas.token<tuple<i32>>
// CHECK:         %[[AT:.*]] = arith.index_cast %[[NOW]] : i32 to index
// CHECK:         %depth = nv_tileas.tiled_load %depths[%[[AT]]]
// CHECK:         scf.for
// CHECK:           nv_tileas.tiled_load %a[%[[AT]], %k]
// CHECK:         nv_tileas.tiled_store %sum, %c[%[[AT]], %zero]
// CHECK-NEXT:    %[[NEXT:.*]] = nv_tileas.async.wait %[[ASKED]] : !nv_tileas.token<tuple<i32>> -> i32
// CHECK-NEXT:    scf.yield %[[NEXT]] : i32

// HANDED-LABEL: @of_loaded_depth
// HANDED:       agent 0 {
// HANDED:         %[[ASKED:.*]] = nv_tileas.async.next_tile_block
// HANDED:         %[[NEXT:.*]] = nv_tileas.async.wait %[[ASKED]] : !nv_tileas.token<tuple<i32>> -> i32
// HANDED-NEXT:    produce_one
// HANDED:           tensor.splat %[[NEXT]]
// HANDED:       agent 1 {
// HANDED-NOT:     next_tile_block
// HANDED:         nv_tileas.tiled_store
// HANDED:         consume_one {{.*}} consumer_types = [tensor<1x1xi32>]
func.func @of_loaded_depth(%depths: !nv_tileas.tiled_view<1xindex, gmem>, %a: !nv_tileas.tiled_view<128x64xf16, gmem>, %b: !nv_tileas.tiled_view<64x256xf16, gmem>, %c: !nv_tileas.tiled_view<128x256xf32, gmem>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %depth = nv_tileas.tiled_load %depths[%i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1xindex, gmem> -> tensor<1xindex>
  %n = tensor.extract %depth[%zero] : tensor<1xindex>
  %nothing = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<128x256xf32>) {
    %x = nv_tileas.tiled_load %a[%i, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x256xf16, gmem> -> tensor<64x256xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
    scf.yield %next : tensor<128x256xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x256xf32>, !nv_tileas.tiled_view<128x256xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}
