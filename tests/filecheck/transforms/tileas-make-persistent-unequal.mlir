// `tileas-make-persistent`: tile blocks that differ in length are taken in a serpentine, every other round backwards.

// RUN: tileas-opt %s -p 'tileas-make-persistent{mode=on}' | filecheck %s

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
