// `tileas-deal-iterations`: CTAs share the tile blocks that do not fill a last wave.

// RUN: tileas-opt %s --split-input-file -p 'tileas-make-persistent{mode=on},tileas-deal-iterations{mode=on}' | filecheck %s

// 64 KiB are transferred in as much time as twelve iterations take: that is what shares have to save.
// A head ends early, and is transferred; a tail goes on from `%done`.

// CHECK-LABEL: @product
// CHECK:       arith.ceildivui
// CHECK-NEXT:  %[[DEPTH:.*]] = arith.index_cast
// CHECK:       "gpu.grid_dim"
// CHECK-NEXT:  %[[CTAS:.*]] = arith.index_cast
// CHECK:       %[[WAVES:.*]] = arith.divui %{{.*}}, %[[CTAS]] : i32
// CHECK:       %[[REST:.*]] = arith.subi
// CHECK:       %[[IDLE:.*]] = arith.subi %[[CTAS]], %[[REST]]
// CHECK-NEXT:  %[[SAVED:.*]] = arith.muli %[[IDLE]], %[[DEPTH]]
// CHECK:       arith.constant 12 : i32
// CHECK-NEXT:  %[[COST:.*]] = arith.muli %[[CTAS]]
// CHECK-NEXT:  arith.cmpi ugt, %[[SAVED]], %[[COST]]
// CHECK:       %[[COUNT:.*]], %[[IN_WAVES:.*]], %[[HEAD_ITEM:.*]], %[[FIRST_TAIL:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %[[HEAD:.*]], %[[DONE:.*]] = scf.if
// CHECK:       scf.for %[[ITEM:.*]] = %{{.*}} to %[[COUNT]] step %{{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}, %[[Z:.*]] = %{{.*}}) -> (i32, i32, i32)
// CHECK-NEXT:    %[[IS_HEAD:.*]] = arith.cmpi eq, %[[ITEM]], %[[HEAD_ITEM]]
// CHECK-NEXT:    %[[IS_TAIL:.*]] = arith.cmpi uge, %[[ITEM]], %[[FIRST_TAIL]]
// CHECK-NEXT:    %[[IS_IN_WAVES:.*]] = arith.cmpi ult, %[[ITEM]], %[[IN_WAVES]]
// CHECK-NEXT:    %[[I:.*]], %{{.*}}, %{{.*}} = scf.if %[[IS_IN_WAVES]] -> (i32, i32, i32) {
// CHECK-NEXT:      scf.yield %[[X]], %[[Y]], %[[Z]]
// CHECK-NEXT:    } else {
// CHECK:           arith.divui
// CHECK:         %[[AT:.*]] = arith.index_cast %[[I]] : i32 to index
// CHECK:         %[[FROM:.*]] = arith.select %[[IS_TAIL]], %{{.*}}, %zero : index
// CHECK-NEXT:    %[[TO:.*]] = arith.select %[[IS_HEAD]], %{{.*}}, %n : index
// CHECK-NEXT:    %[[BEGUN:.*]] = scf.if %[[IS_TAIL]] -> (tensor<128x128xf32>) {
// CHECK-NEXT:      "gpu.block_id"
// CHECK:           %[[BEFORE:.*]] = arith.subi
// CHECK-NEXT:      %[[TAKEN:.*]] = nv_tileas.transfer_in %[[BEFORE]] : tensor<128x128xf32>
// CHECK-NEXT:      scf.yield %[[TAKEN]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %nothing
// CHECK-NEXT:    }
// CHECK-NEXT:    %sum = scf.for %k = %[[FROM]] to %[[TO]] step %one iter_args(%acc = %[[BEGUN]])
// CHECK:         scf.if %[[IS_HEAD]] {
// CHECK:           nv_tileas.transfer_out %sum in %{{.*}} : tensor<128x128xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %stored = nv_tileas.tiled_store %sum, %c[%[[AT]], %zero]
// CHECK-NEXT:    }
func.func @product(%a: !nv_tileas.tiled_view<128x64xf16, gmem>, %b: !nv_tileas.tiled_view<64x128xf16, gmem>, %c: !nv_tileas.tiled_view<128x128xf32, gmem>, %n: index) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<128x128xf32>) {
    %x = nv_tileas.tiled_load %a[%i, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x128xf16, gmem> -> tensor<64x128xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// A number that the loop carries would have to be transferred, too.

// CHECK-LABEL: @carries_a_number
// CHECK-SAME:  nv_tileas.not_dealt = "the loop carries more than tiles"
// CHECK-NOT:   nv_tileas.transfer_out
func.func @carries_a_number(%a: !nv_tileas.tiled_view<128x64xf16, gmem>, %b: !nv_tileas.tiled_view<64x128xf16, gmem>, %c: !nv_tileas.tiled_view<128x128xf32, gmem>, %n: index) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum, %end = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing, %at = %zero) -> (tensor<128x128xf32>, index) {
    %x = nv_tileas.tiled_load %a[%i, %at] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%at, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x128xf16, gmem> -> tensor<64x128xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    %behind = arith.addi %at, %one : index
    scf.yield %next, %behind : tensor<128x128xf32>, index
  }
  %stored = nv_tileas.tiled_store %sum, %c[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Two iterations are in less time than tiles are transferred.

// CHECK-LABEL: @short
// CHECK-SAME:  nv_tileas.not_dealt = "2 iterations take as long as handing over, which takes 12, or less"
// CHECK-NOT:   nv_tileas.transfer_out
func.func @short(%a: !nv_tileas.tiled_view<128x64xf16, gmem>, %b: !nv_tileas.tiled_view<64x128xf16, gmem>, %c: !nv_tileas.tiled_view<128x128xf32, gmem>) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %zero to %two step %one iter_args(%acc = %nothing) -> (tensor<128x128xf32>) {
    %x = nv_tileas.tiled_load %a[%i, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x128xf16, gmem> -> tensor<64x128xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Where tile blocks do not follow one another in CTAs, nothing is shared.

// CHECK-LABEL: @one_each
// CHECK-NOT:   not_dealt
// CHECK-NOT:   nv_tileas.transfer_out
func.func @one_each(%a: !nv_tileas.tiled_view<64x32xf16, gmem>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  func.return
}
