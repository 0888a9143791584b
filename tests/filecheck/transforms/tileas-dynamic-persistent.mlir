// `tileas-dynamic-persistent`: a CTA takes over tile blocks that have not started.

// RUN: tileas-opt %s --split-input-file -p 'tileas-attach-target{target=sm_100a},tileas-dynamic-persistent' | filecheck %s
// RUN: tileas-opt %s --split-input-file -p 'tileas-attach-target{target=sm_90a},tileas-dynamic-persistent' | filecheck %s --check-prefix HOPPER
// RUN: tileas-opt %s --split-input-file -p 'tileas-attach-target{target=sm_100a},tileas-dynamic-persistent' -o /dev/null 2>&1 | filecheck %s --check-prefix WARNING
// RUN: tileas-opt %s --split-input-file -p 'tileas-attach-target{target=sm_90a},tileas-dynamic-persistent' -o /dev/null 2>&1 | filecheck %s --check-prefix REMARK

// A kernel that takes over CTAs itself stays.

// WARNING: :13:1: warning: Kernel is already dynamic persistent
// CHECK-LABEL: @already
// CHECK-NOT:   scf.while
func.func @already() {
  %next, %found = nv_tileas.cancel_next_program_id : i32, i1
  func.return
}

// -----

// All that depends on the tile block, and all tiles, is in a loop that ends where no CTA is left.

// CHECK-LABEL: @two_axes
// CHECK:       %[[X:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:       %[[Y:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:       scf.while (%[[I:.*]] = %[[X]], %[[J:.*]] = %[[Y]])
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    %[[VALID:.*]] = arith.cmpi sge, %[[I]], %[[ZERO]]
// CHECK-NEXT:    scf.condition(%[[VALID]]) %[[I]], %[[J]]
// CHECK:         %[[ROW:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK-NEXT:    %ones = arith.constant dense
// CHECK-NEXT:    nv_tileas.tiled_store %ones, %c[%[[ROW]], %[[COLUMN]]] after %none
// CHECK-NEXT:    %[[X2:.*]], %[[Y2:.*]] = nv_tileas.cancel_next_program_id : i32, i32
// CHECK-NEXT:    scf.yield %[[X2]], %[[Y2]]

// REMARK: remark: is not persistent: takes tile blocks by clusterlaunchcontrol, which
// HOPPER-LABEL: @two_axes
// HOPPER-SAME:  nv_tileas.not_persistent = "takes tile blocks by clusterlaunchcontrol, which
func.func @two_axes(%c: !nv_tileas.tiled_view<64x64xf32, gmem>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %j = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %ones = arith.constant dense<1.0> : tensor<64x64xf32>
  %t = nv_tileas.tiled_store %ones, %c[%i, %j] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}
