// `tileas-materialize-async`: a product of a stage runs in the background; it is waited for where it
// is read first, and the stage is released behind that.

// RUN: tileas-opt -p tileas-materialize-async %s | filecheck %s

// CHECK-LABEL: func.func @background
// CHECK: %[[read:.*]], %[[token:.*]] = nv_tileas.async.pipeline.consumer_read {{.*}}!nv_tileas.token<tensor<64x16xf32>> {
// CHECK: %[[dot:.*]] = nv_tileas.async.dot
// CHECK: nv_tileas.async.pipeline.yield %[[dot]]
// CHECK-NOT: consumer_release
// CHECK: arith.addi
// CHECK-NEXT: %[[done:.*]] = nv_tileas.async.wait %[[token]]
// CHECK-NEXT: nv_tileas.async.pipeline.consumer_release %[[read]]
// CHECK-NEXT: arith.mulf %[[done]], %[[done]]

// What is promoted, or done by warps, stays as it is.
// CHECK: nv_tileas.dot {{.*}}promote
// CHECK-NEXT: yield
// CHECK: nv_tileas.dot {{.*}}mma_f16
func.func @background(%a: tensor<64x32xf16, #nv_tileas<space smem>>, %i: index) {
  %slots = nv_tileas.alloc_tensor : tensor<2x512xf16, #nv_tileas<space smem>>
  %view = nv_tileas.view %slots : tensor<2x512xf16, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<2x512xf16, smem>
  %producer, %consumer = nv_tileas.async.pipeline.create_pipeline %view {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x512xf16, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
  %it = nv_tileas.async.pipeline.create_iterator %consumer : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem>
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %full = nv_tileas.async.pipeline.consumer_wait %consumer, %it {consumer_idx = 0 : i32} : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem> -> !nv_tileas.async.pipeline.consumer_token
  %read, %d = nv_tileas.async.pipeline.consumer_read %full, %it {consumer_idx = 0 : i32} : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem> -> !nv_tileas.async.pipeline.consumer_token, tensor<64x16xf32> {
  ^bb0(%b: tensor<32x16xf16>):
    %p = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x16xf16>, tensor<64x16xf32> -> tensor<64x16xf32>
    nv_tileas.async.pipeline.yield %p : tensor<64x16xf32>
  }
  %empty = nv_tileas.async.pipeline.consumer_release %read : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.consumer_token
  %j = arith.addi %i, %i : index
  %square = arith.mulf %d, %d : tensor<64x16xf32>
  %next = nv_tileas.async.pipeline.inc_iter %it : !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem> -> !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem>
  %full2 = nv_tileas.async.pipeline.consumer_wait %empty, %next {consumer_idx = 0 : i32} : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem> -> !nv_tileas.async.pipeline.consumer_token
  %read2, %e = nv_tileas.async.pipeline.consumer_read %full2, %next {consumer_idx = 0 : i32} : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem> -> !nv_tileas.async.pipeline.consumer_token, tensor<64x16xf32> {
  ^bb0(%b: tensor<32x16xf16>):
    %p = nv_tileas.dot %a, %b, %square {atom = #nv_tileas<atom wgmma_f16_f16_f32>, promote} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x16xf16>, tensor<64x16xf32> -> tensor<64x16xf32>
    nv_tileas.async.pipeline.yield %p : tensor<64x16xf32>
  }
  %read3, %f = nv_tileas.async.pipeline.consumer_read %read2, %next {consumer_idx = 0 : i32} : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem> -> !nv_tileas.async.pipeline.consumer_token, tensor<64x16xf32> {
  ^bb0(%b: tensor<32x16xf16>):
    %p = nv_tileas.dot %a, %b, %e {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x16xf16>, tensor<64x16xf32> -> tensor<64x16xf32>
    nv_tileas.async.pipeline.yield %p : tensor<64x16xf32>
  }
  %empty2 = nv_tileas.async.pipeline.consumer_release %read3 : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.consumer_token
  func.return
}

// What makes the operand of the next round stands behind the wait for the product that reads this
// one in registers.

// CHECK-LABEL: func.func @operand
// CHECK: scf.for
// CHECK: nv_tileas.async.dot %[[operand:.*]], %
// CHECK: arith.mulf
// CHECK-NEXT: inc_iter
// CHECK-NEXT: nv_tileas.async.wait
// CHECK-NEXT: consumer_release
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: scf.yield
func.func @operand(%first: tensor<64x32xf16>, %wide: tensor<64x32xf32>, %n: index) {
  %slots = nv_tileas.alloc_tensor : tensor<2x512xf16, #nv_tileas<space smem>>
  %view = nv_tileas.view %slots : tensor<2x512xf16, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<2x512xf16, smem>
  %producer, %consumer = nv_tileas.async.pipeline.create_pipeline %view {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x512xf16, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
  %begin = nv_tileas.async.pipeline.create_iterator %consumer : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.constant dense<0.0> : tensor<64x16xf32>
  %t, %i, %o, %last = scf.for %j = %zero to %n step %one iter_args(%token = %consumer, %it = %begin, %acc = %start, %p = %first) -> (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem>, tensor<64x16xf32>, tensor<64x32xf16>) {
    %full = nv_tileas.async.pipeline.consumer_wait %token, %it {consumer_idx = 0 : i32} : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem> -> !nv_tileas.async.pipeline.consumer_token
    %read, %d = nv_tileas.async.pipeline.consumer_read %full, %it {consumer_idx = 0 : i32} : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem> -> !nv_tileas.async.pipeline.consumer_token, tensor<64x16xf32> {
    ^bb0(%b: tensor<32x16xf16>):
      %r = nv_tileas.dot %p, %b, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32> -> tensor<64x16xf32>
      nv_tileas.async.pipeline.yield %r : tensor<64x16xf32>
    }
    %empty = nv_tileas.async.pipeline.consumer_release %read : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.consumer_token
    %square = arith.mulf %wide, %wide : tensor<64x32xf32>
    %narrow = arith.truncf %square : tensor<64x32xf32> to tensor<64x32xf16>
    %next = nv_tileas.async.pipeline.inc_iter %it : !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem> -> !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem>
    scf.yield %empty, %next, %d, %narrow : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<32x16xf16>, 2, smem>, tensor<64x16xf32>, tensor<64x32xf16>
  }
  func.return
}

// A product of no stage, in a loop, is waited for where it is read, if others are issued before that.
// CHECK-LABEL: func.func @alone
// CHECK: scf.for
// CHECK-NEXT: %[[first:.*]] = nv_tileas.async.dot
// CHECK-NEXT: nv_tileas.dot
// CHECK-NEXT: %[[done:.*]] = nv_tileas.async.wait %[[first]]
// CHECK-NEXT: arith.mulf %[[done]], %[[done]]
func.func @alone(%a: tensor<64x32xf16, #nv_tileas<space smem>>, %b: tensor<32x16xf16, #nv_tileas<space smem>>, %n: index, %one: index) {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  scf.for %i = %one to %n step %one {
    %p = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x16xf16, #nv_tileas<space smem>>, tensor<64x16xf32> -> tensor<64x16xf32>
    %q = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x16xf16, #nv_tileas<space smem>>, tensor<64x16xf32> -> tensor<64x16xf32>
    %square = arith.mulf %p, %p : tensor<64x16xf32>
    %both = arith.addf %square, %q : tensor<64x16xf32>
    scf.yield
  }
  func.return
}
