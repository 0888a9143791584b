// `tileas-make-persistent`: CTAs take one tile block after another, where tile blocks are short.

// RUN: tileas-opt %s --split-input-file -p tileas-make-persistent | filecheck %s

// Two iterations along K: what is outside of them takes as long. All that depends on the tile block,
// and all tiles, is in a loop over tile blocks; the grid is that of the program.

// CHECK-LABEL: @short
// CHECK-SAME:  persistent = 1
// CHECK-NEXT:  %[[NX:.*]] = nv_tileaa.get_num_programs {axis = 0 : i32}
// CHECK-NEXT:  %[[NY:.*]] = nv_tileaa.get_num_programs {axis = 1 : i32}
// CHECK-NEXT:  %[[NZ:.*]] = nv_tileaa.get_num_programs {axis = 2 : i32}
// CHECK-NEXT:  %[[XY:.*]] = arith.muli %[[NX]], %[[NY]] : i32
// CHECK-NEXT:  %[[ALL:.*]] = arith.muli %[[XY]], %[[NZ]] : i32
// CHECK:       %[[FIRST:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:       %[[CTAS:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK-NEXT:  %[[ROW:.*]] = arith.divui %[[FIRST]], %[[NX]] : i32
// CHECK-NEXT:  %[[ABOVE:.*]] = arith.muli %[[ROW]], %[[NX]] : i32
// CHECK-NEXT:  %[[X:.*]] = arith.subi %[[FIRST]], %[[ABOVE]] : i32
// CHECK-NEXT:  %[[Z:.*]] = arith.divui %[[ROW]], %[[NY]] : i32
// CHECK-NEXT:  %[[BELOW:.*]] = arith.muli %[[Z]], %[[NY]] : i32
// CHECK-NEXT:  %[[Y:.*]] = arith.subi %[[ROW]], %[[BELOW]] : i32
// CHECK-NEXT:  %[[ROWS:.*]] = arith.divui %[[CTAS]], %[[NX]] : i32
// CHECK-NEXT:  %{{.*}} = arith.muli %[[ROWS]], %[[NX]] : i32
// CHECK-NEXT:  %[[RIGHT:.*]] = arith.subi %[[CTAS]], %{{.*}} : i32
// CHECK:       %[[DOWN:.*]] = arith.subi %[[ROWS]], %{{.*}} : i32
// CHECK:       %last = arith.constant 2 : index
// CHECK-NEXT:  scf.for %{{.*}} = %[[FIRST]] to %[[ALL]] step %[[CTAS]] iter_args(%[[I:[0-9]+]] = %[[X]], %[[J:[0-9]+]] = %[[Y]], %{{.*}} = %[[Z]])
// CHECK-NEXT:    %[[AT:.*]] = arith.index_cast %[[I]] : i32 to index
// CHECK-NEXT:    %nothing = arith.constant dense
// CHECK-NEXT:    %sum = scf.for
// CHECK:           nv_tileas.tiled_load %a[%[[AT]], %k]
// CHECK:         nv_tileas.tiled_store %sum, %c[%[[AT]], %zero] after %none
// CHECK-NEXT:    %[[MOVED:.*]] = arith.addi %[[I]], %[[RIGHT]] : i32
// CHECK-NEXT:    %[[BEYOND:.*]] = arith.cmpi uge, %[[MOVED]], %[[NX]] : i32
// CHECK-NEXT:    %[[LEFT:.*]] = arith.subi %[[MOVED]], %[[NX]] : i32
// CHECK-NEXT:    %[[NEXT:.*]] = arith.select %[[BEYOND]], %[[LEFT]], %[[MOVED]] : i32
// CHECK-NEXT:    %[[CARRY:.*]] = arith.extui %[[BEYOND]] : i1 to i32
// CHECK-NEXT:    %[[LOWER:.*]] = arith.addi %[[J]], %[[DOWN]] : i32
// CHECK-NEXT:    arith.addi %[[LOWER]], %[[CARRY]] : i32
// CHECK:         scf.yield %[[NEXT]],
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return
func.func @short(%a: !nv_tileas.tiled_view<64x32xf16, gmem>, %b: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = arith.constant 2 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %last step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%i, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// An argument says how many columns K has: launches whose iterations, of 64 cycles, take up to 16,384 ask for another kernel.

// CHECK-LABEL: @launches_know
// CHECK-NOT:   persistent = 1
// CHECK-SAME:  tileas.persistent_launches = {steps = ["0", "scalar 3", "32", "ceildivui 1 2", "1"], loops = [{amount = 64 : i64, bounds = [array<i64: 0, 3, 4>]}], most = 16384 : i64, differ = false, together = 2 : i64, ctas = 1 : i64}
// CHECK-SAME:  nv_tileas.not_persistent = "launches know how much each tile block has to do"
func.func @launches_know(%a: !nv_tileas.tiled_view<64x32xf16, gmem>, %b: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: i32) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %columns = arith.constant 32 : index
  %extent = arith.index_cast %n : i32 to index
  %last = arith.ceildivui %extent, %columns : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %last step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%i, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// A tile block has as many iterations as its number says, of 64 cycles: launches know it.

// CHECK-LABEL: @uneven
// CHECK-NOT:   persistent = 1
// CHECK-SAME:  tileas.persistent_launches = {steps = ["0", "block x", "1"], loops = [{amount = 64 : i64, bounds = [array<i64: 0, 1, 2>]}], most = 16384 : i64, differ = true, together = 2 : i64, ctas = 1 : i64}
// CHECK-SAME:  nv_tileas.not_persistent = "launches know how much each tile block has to do"
func.func @uneven(%a: !nv_tileas.tiled_view<64x32xf16, gmem>, %b: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %i step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%i, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// A store that nothing orders may write what the next tile block loads.

// CHECK-LABEL: @unordered
// CHECK-SAME:  nv_tileas.not_persistent = "a store without a token may write what the loop loads"
func.func @unordered(%a: !nv_tileas.tiled_view<64x32xf16, gmem>, %b: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = arith.constant 2 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %last step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  nv_tileas.tiled_store %sum, %c[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// -----

// Without a loop along K, that over tile blocks is the one that loads and multiplies.

// CHECK-LABEL: @straight
// CHECK-SAME:  persistent = 1
// CHECK:       scf.for
// CHECK:         %x = nv_tileas.tiled_load
// CHECK:         %sum = nv_tileas.dot
// CHECK:         nv_tileas.tiled_store %sum
// CHECK:         scf.yield
// CHECK-NEXT:  }
func.func @straight(%a: !nv_tileas.tiled_view<64x32xf16, gmem>, %b: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = nv_tileas.tiled_load %a[%i, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
  %y = nv_tileas.tiled_load %b[%zero, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
  %sum = nv_tileas.dot %x, %y, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  %stored = nv_tileas.tiled_store %sum, %c[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Two CTAs divide the rows of a tile block (`tileas-plan-cta`): they take the next one together.

// CHECK-LABEL: @together
// CHECK-SAME:  tile_block_ctas = 2, persistent = 1
// CHECK:       %[[NX:.*]] = nv_tileaa.get_num_programs {axis = 0 : i32}
// CHECK:       %[[CTA:.*]] = "gpu.block_id"
// CHECK:       %[[TWO:.*]] = arith.constant 2 : index
// CHECK-NEXT:  %[[BLOCK:.*]] = arith.divui %[[CTA]], %[[TWO]] : index
// CHECK-NEXT:  %[[FIRST:.*]] = arith.index_cast %[[BLOCK]] : index to i32
// CHECK:       "gpu.grid_dim"
// CHECK:       arith.divui
// CHECK:       scf.for %{{.*}} = %[[FIRST]] to {{.*}} iter_args(%[[X:[0-9]+]] = %
// CHECK:         %block = arith.index_cast %[[X]] : i32 to index
// CHECK:         %part = arith.remui %cta, %two : index
// CHECK:         arith.muli %block, %two : index
func.func @together(%a: !nv_tileas.tiled_view<64x32xf16, gmem>, %b: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, tile_block_ctas = 2>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %cta = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block = arith.divui %cta, %two : index
  %part = arith.remui %cta, %two : index
  %whole = arith.muli %block, %two : index
  %i = arith.addi %whole, %part : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = nv_tileas.tiled_load %a[%i, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
  %y = nv_tileas.tiled_load %b[%zero, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
  %sum = nv_tileas.dot %x, %y, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  %stored = nv_tileas.tiled_store %sum, %c[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Rows that should be loaded a round ahead need a loop over tile blocks: each CTA takes one row after another, of the third
// on what a counter gives it, so that those that are faster take more. A round knows the number of the next one.

// CHECK-LABEL: @rows
// CHECK-SAME:  persistent = 1
// CHECK:       %[[XY:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:  %[[COUNT:.*]] = arith.muli %[[XY]], %{{.*}} : i32
// CHECK:       %[[FIRST:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:       %[[CTAS:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:       %[[SECOND:.*]] = arith.addi %[[FIRST]], %[[CTAS]] : i32
// CHECK-NEXT:  %[[BEGUN:.*]] = nv_tileas.async.next_tile_block {rounds = 2 : i32} : !nv_tileas.token<tuple<i32>>
// CHECK-NEXT:  arith.cmpi slt, %[[FIRST]], %[[COUNT]] : i32
// CHECK:       %[[X:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK:       arith.cmpi slt, %[[SECOND]], %[[COUNT]] : i32
// CHECK:       %[[Y:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK:       scf.while (%[[I:.*]] = %[[X]], %[[J:.*]] = %[[Y]], %[[K:.*]] = %[[BEGUN]])
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    %[[IS:.*]] = arith.cmpi sge, %[[I]], %[[ZERO]] : i32
// CHECK-NEXT:    scf.condition(%[[IS]]) %[[I]], %[[J]], %[[K]] : i32, i32, !nv_tileas.token<tuple<i32>>
// CHECK-NEXT:  } do {
// CHECK-NEXT:  ^bb0(%[[NOW:.*]]: i32, %[[NEXT:.*]]: i32, %[[ASKED:.*]]: !nv_tileas.token<tuple<i32>>):
// CHECK-NEXT:    %[[AT:.*]] = arith.index_cast %[[NOW]] : i32 to index
// CHECK-NEXT:    nv_tileas.tiled_load %a[%[[AT]]
// CHECK:         nv_tileas.reduce
// CHECK:           nv_tileas.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[LAST:.*]] = nv_tileas.async.wait %[[ASKED]] : !nv_tileas.token<tuple<i32>> -> i32
// CHECK-NEXT:    %[[MORE:.*]] = nv_tileas.async.next_tile_block {rounds = 2 : i32} : !nv_tileas.token<tuple<i32>>
// CHECK:         nv_tileas.tiled_store
// CHECK-NEXT:    scf.yield %[[NEXT]], %[[LAST]], %[[MORE]] : i32, i32, !nv_tileas.token<tuple<i32>>
func.func @rows(%a: !nv_tileas.tiled_view<1x1024xf32, gmem>, %b: !nv_tileas.tiled_view<1xf32, gmem>) attributes {nv_tileas.rows_ahead, nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %x = nv_tileas.tiled_load %a[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf32, gmem> -> tensor<1x1024xf32>
  %s = nv_tileas.reduce %x {axis = 1 : i32} : tensor<1x1024xf32> -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nv_tileas.yield %r : f32
  }
  %stored = nv_tileas.tiled_store %s, %b[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1xf32>, !nv_tileas.tiled_view<1xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Rows that begin between vectors are rotated (`tileas-rotate-rows`), and weights and biases that they
// meet with them: a loop over rows keeps these.  A multiple of eight rows on one begins as far behind
// a vector, so that the loop rotates all of its rows alike; a loop around it is for fewer CTAs.

// CHECK-LABEL: @weighted
// CHECK-SAME:  persistent = 1
// CHECK:       %[[NX:.*]] = nv_tileaa.get_num_programs {axis = 0 : i32}
// CHECK:       %[[CTA:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:       %[[CTAS:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:       %[[DOWN:.*]] = arith.andi %[[CTAS]], %{{.*}} : i32
// CHECK:       %[[STEP:.*]] = arith.maxui %[[DOWN]], %{{.*}} : i32
// CHECK:       scf.for %[[FIRST:.*]] = %[[CTA]] to %[[STEP]] step %[[CTAS]] : i32 {
// CHECK:         scf.for %{{.*}} = %[[FIRST]] to %[[NX]] step %[[STEP]] : i32 {
// CHECK:           nv_tileas.tiled_load
// CHECK:           nv_tileas.tiled_load
// CHECK:         } {nv_tileas.rounds_loaded_together = 1 : i32}
func.func @weighted(%p: !nv_tileaa.ptr<f16, 1>, %w: !nv_tileaa.ptr<f16, 1>, %m: i32, %stride: i32) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %x = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %y = nv_tileaa.assume %w, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %a = nv_tileaa.make_memref %x, sizes[%m : i32, %m : i32], strides[%stride : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %b = nv_tileaa.make_memref %y, sizes[%m : i32], strides : !nv_tileaa.ptr<f16, 1> -> memref<?xf16, strided<[1]>>
  %zero = arith.constant 0 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %va = nv_tileas.view %a : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x1024xf16, gmem>
  %vb = nv_tileas.view %b : memref<?xf16, strided<[1]>> -> !nv_tileas.tiled_view<1024xf16, gmem>
  %t = nv_tileas.tiled_load %va[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf16, gmem> -> tensor<1x1024xf16>
  %u = nv_tileas.tiled_load %vb[%zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1024xf16, gmem> -> tensor<1024xf16>
  %wide = nv_tileas.expand_dims %u {axis = 0 : i32} : tensor<1024xf16> -> tensor<1x1024xf16>
  %bias = nv_tileas.tiled_load %vb[%zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1024xf16, gmem> -> tensor<1024xf16>
  %beside = nv_tileas.expand_dims %bias {axis = 0 : i32} : tensor<1024xf16> -> tensor<1x1024xf16>
  %scaled = arith.mulf %t, %wide : tensor<1x1024xf16>
  %product = arith.addf %scaled, %beside : tensor<1x1024xf16>
  %stored = nv_tileas.tiled_store %product, %va[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x1024xf16>, !nv_tileas.tiled_view<1x1024xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Of a grid of more axes CTAs take one tile block after another.

// CHECK-LABEL: @weighted_planes
// CHECK:       scf.for {{.*}} iter_args(
// CHECK-NOT:   scf.for
// CHECK:       nv_tileas.rounds_loaded_together = 1 : i32
func.func @weighted_planes(%p: !nv_tileaa.ptr<f16, 1>, %w: !nv_tileaa.ptr<f16, 1>, %m: i32, %stride: i32) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %base = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %y = nv_tileaa.assume %w, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %a = nv_tileaa.make_memref %base, sizes[%m : i32, %m : i32], strides[%stride : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %b = nv_tileaa.make_memref %y, sizes[%m : i32], strides : !nv_tileaa.ptr<f16, 1> -> memref<?xf16, strided<[1]>>
  %zero = arith.constant 0 : index
  %x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %plane = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %i = arith.addi %x, %plane : index
  %va = nv_tileas.view %a : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x1024xf16, gmem>
  %vb = nv_tileas.view %b : memref<?xf16, strided<[1]>> -> !nv_tileas.tiled_view<1024xf16, gmem>
  %t = nv_tileas.tiled_load %va[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf16, gmem> -> tensor<1x1024xf16>
  %u = nv_tileas.tiled_load %vb[%zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1024xf16, gmem> -> tensor<1024xf16>
  %wide = nv_tileas.expand_dims %u {axis = 0 : i32} : tensor<1024xf16> -> tensor<1x1024xf16>
  %bias = nv_tileas.tiled_load %vb[%zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1024xf16, gmem> -> tensor<1024xf16>
  %beside = nv_tileas.expand_dims %bias {axis = 0 : i32} : tensor<1024xf16> -> tensor<1x1024xf16>
  %scaled = arith.mulf %t, %wide : tensor<1x1024xf16>
  %product = arith.addf %scaled, %beside : tensor<1x1024xf16>
  %stored = nv_tileas.tiled_store %product, %va[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x1024xf16>, !nv_tileas.tiled_view<1x1024xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// CTAs of one warp are started one after another: launches of more than run at once ask for a loop,
// whose tile blocks warps of larger CTAs take (`share-ctas`).

// CHECK-LABEL: @of_a_warp
// CHECK-NOT:   persistent = 1
// CHECK-SAME:  tileas.persistent_launches = {{.*}}together = 32 : i64
// CHECK-SAME:  nv_tileas.not_persistent = "launches know how many tile blocks there are"
func.func @of_a_warp(%x: !nv_tileas.tiled_view<256xf16, gmem>, %y: !nv_tileas.tiled_view<256xf16, gmem>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %tile, %read = nv_tileas.tiled_load %x[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<256xf16, gmem> -> tensor<256xf16>, !nv_tileaa.mem_token
  %stored = nv_tileas.tiled_store %tile, %y[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<256xf16>, !nv_tileas.tiled_view<256xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}
