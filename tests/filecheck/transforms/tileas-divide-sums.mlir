// `tileas-divide-sums`: CTAs divide the iterations of a tile block, and add up their sums.

// RUN: tileas-opt %s --split-input-file -p 'tileas-divide-sums{mode=on}' | filecheck %s

// A part begins where the one before ends; all CTAs but the last one hand their sums over.

// CHECK-LABEL: @product
// CHECK-SAME:  tileas.divided_sums = {
// CHECK-SAME:  divided = 1
// CHECK:       %[[COUNT:.*]] = arith.muli
// CHECK:       %[[PART:.*]] = arith.divui %[[CTA:.*]], %[[TILES:.*]] : i32
// CHECK:       %[[PARTS:.*]] = arith.divui %{{.*}}, %[[TILES]] : i32
// CHECK:       %[[IS_LAST:.*]] = arith.cmpi eq, %[[PART]], %{{.*}}
// CHECK:       %[[SHARE:.*]] = arith.divui %{{.*}}, %[[PARTS]] : i32
// CHECK:       arith.muli %[[PART]], %[[SHARE]]
// CHECK:       %sum = scf.for %k = %{{.*}} to %{{.*}} step %one iter_args(%acc = %nothing)
// CHECK:         nv_tileas.dot
// CHECK:       %[[ALL:.*]] = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[MINE:.*]] = %sum)
// CHECK:         %[[THEIRS:.*]] = nv_tileas.transfer_in %{{.*}} : tensor<128x128xf32>
// CHECK-NEXT:    %[[ADDED:.*]] = arith.addf %[[MINE]], %[[THEIRS]]
// CHECK-NEXT:    scf.yield %[[ADDED]]
// CHECK:       scf.if %[[IS_LAST]] {
// CHECK-NEXT:    %stored = nv_tileas.tiled_store %[[ALL]], %c
// CHECK:       } else {
// CHECK-NEXT:    nv_tileas.transfer_out %[[ALL]] in %{{.*}} : tensor<128x128xf32>
// CHECK-NEXT:  }
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

// What a loop begins with is of one part alone; the sums of a product may be added to, too.

// CHECK-LABEL: @begins_with_a_tile
// CHECK:       %[[BEGUN:.*]] = scf.if %{{.*}} -> (tensor<128x128xf32>) {
// CHECK-NEXT:    scf.yield %begin
// CHECK-NEXT:  } else {
// CHECK-NEXT:    scf.yield %{{.*}}
// CHECK:       scf.for %k = {{.*}} iter_args(%acc = %[[BEGUN]])
// CHECK:       nv_tileas.transfer_out
func.func @begins_with_a_tile(%a: !nv_tileas.tiled_view<128x64xf16, gmem>, %b: !nv_tileas.tiled_view<64x128xf16, gmem>, %c: !nv_tileas.tiled_view<128x128xf32, gmem>, %n: index, %begin: tensor<128x128xf32>) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %begin) -> (tensor<128x128xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x128xf16, gmem> -> tensor<64x128xf16, #nv_tileas<space smem>>
    %one_product = nv_tileas.dot %x, %y, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    %next = arith.addf %one_product, %acc : tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Sums that are scaled in between depend on the order of iterations.

// CHECK-LABEL: @scales
// CHECK-SAME:  nv_tileas.sums_not_divided = "it carries more than sums of integers, or of floats of 32 bits rounded to nearest"
// CHECK-NOT:   nv_tileas.transfer_out
func.func @scales(%a: !nv_tileas.tiled_view<128x64xf16, gmem>, %b: !nv_tileas.tiled_view<64x128xf16, gmem>, %c: !nv_tileas.tiled_view<128x128xf32, gmem>, %n: index) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %half = arith.constant dense<0.5> : tensor<128x128xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<128x128xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x128xf16, gmem> -> tensor<64x128xf16, #nv_tileas<space smem>>
    %scaled = arith.mulf %acc, %half : tensor<128x128xf32>
    %next = nv_tileas.dot %x, %y, %scaled {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Sums that are rounded up stay so: parts would be added to nearest.

// CHECK-LABEL: @rounds_up
// CHECK-SAME:  nv_tileas.sums_not_divided = "it carries more than sums of integers, or of floats of 32 bits rounded to nearest"
// CHECK-NOT:   nv_tileas.transfer_out
func.func @rounds_up(%a: !nv_tileas.tiled_view<128x64xf16, gmem>, %b: !nv_tileas.tiled_view<64x128xf16, gmem>, %c: !nv_tileas.tiled_view<128x128xf32, gmem>, %n: index) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<128x128xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x128xf16, gmem> -> tensor<64x128xf16, #nv_tileas<space smem>>
    %product = nv_tileas.dot %x, %y, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    %next = arith.addf %acc, %product {nv_tileas.rounding = "rp"} : tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// A kernel that says how many CTAs compute a tile block has them, and its sums are of one loop.

// CHECK-LABEL: @says_how_many
// CHECK-SAME:  nv_tileas.sums_not_divided = "the kernel says how many CTAs compute a tile block"
// CHECK-NOT:   nv_tileas.transfer_out
func.func @says_how_many(%a: !nv_tileas.tiled_view<128x64xf16, gmem>, %b: !nv_tileas.tiled_view<64x128xf16, gmem>, %c: !nv_tileas.tiled_view<128x128xf32, gmem>, %n: index) attributes {nv_tileaa.num_cta_in_cga = 1 : i32} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<128x128xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x128xf16, gmem> -> tensor<64x128xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Products of few rows are transposed, and sums before and behind them: they stay sums. With one
// transpose every other iteration would add to rows what others add to columns.

// CHECK-LABEL: @transposed_twice
// CHECK:       nv_tileas.transfer_out
// CHECK-LABEL: @transposed_once
// CHECK-SAME:  nv_tileas.sums_not_divided = "it carries more than sums of integers, or of floats of 32 bits rounded to nearest"
func.func @transposed_twice(%x: tensor<128x64xf16, #nv_tileas<space smem>>, %y: tensor<64x128xf16, #nv_tileas<space smem>>, %c: !nv_tileas.tiled_view<128x128xf32, gmem>, %n: index) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<128x128xf32>) {
    %across = nv_tileas.generate : tensor<128x128xf32> {
    ^bb0(%i: index, %j: index):
      %e = tensor.extract %acc[%j, %i] : tensor<128x128xf32>
      nv_tileas.yield %e : f32
    }
    %more = nv_tileas.dot %x, %y, %across {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    %next = nv_tileas.generate : tensor<128x128xf32> {
    ^bb0(%i: index, %j: index):
      %e = tensor.extract %more[%j, %i] : tensor<128x128xf32>
      nv_tileas.yield %e : f32
    }
    scf.yield %next : tensor<128x128xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}
func.func @transposed_once(%x: tensor<128x64xf16, #nv_tileas<space smem>>, %y: tensor<64x128xf16, #nv_tileas<space smem>>, %c: !nv_tileas.tiled_view<128x128xf32, gmem>, %n: index) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<128x128xf32>) {
    %across = nv_tileas.generate : tensor<128x128xf32> {
    ^bb0(%i: index, %j: index):
      %e = tensor.extract %acc[%j, %i] : tensor<128x128xf32>
      nv_tileas.yield %e : f32
    }
    %next = nv_tileas.dot %x, %y, %across {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %next : tensor<128x128xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Numbers of tile blocks may be the first operations.

// CHECK-LABEL: @id_first
// CHECK:       nv_tileas.transfer_out
func.func @id_first(%a: !nv_tileas.tiled_view<128x64xf16, gmem>, %b: !nv_tileas.tiled_view<64x128xf16, gmem>, %c: !nv_tileas.tiled_view<128x128xf32, gmem>, %n: index) {
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
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
