// The operation roster, "Worked Example: Producer/Consumer Pipeline Region".
//
// Completed: the values that the listing takes from around it (the buffer, the descriptor, the
// coordinate, the barrier, the other operands of the dot) and the wrapping function.
// Adapted: the load writes to a view of the stage (the stage is a tile, and a tile is no view); it
// takes as many coordinates as its atom, two, and the barrier that its table requires.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

func.func @pipeline(%buf_view: !nv_tileaa.tiled_view<2x128x128xf16>, %tma_desc: !nv_tileas.tma_desc, %stage_view: !nv_tileaa.tiled_view<128x128xf16>, %k_outer: index, %barrier: !nv_tileaa.mem_token, %b_tile: tensor<128x128xf16>, %acc: tensor<128x128xf32>) {
  // Build the pipeline. numStages=2, one producer, one consumer.
  %prod_tok, %cons_tok = nv_tileas.async.pipeline.create_pipeline %buf_view
    { numStages = 2 : i32,
      producerGroupId = 0 : i8,
      consumerGroupId = 1 : i8,
      sharedMem = true,
      dynamic = false }
    : !nv_tileaa.tiled_view<2x128x128xf16>
    -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token

  // Stage iterator
  %iter = nv_tileas.async.pipeline.create_iterator %prod_tok
    : !nv_tileas.async.pipeline.producer_token -> !nv_tileas.async.pipeline.iterator<tile<128x128xf16>>

  // Producer region - TMA loads, one per stage
  %prod_tok2 = nv_tileas.async.pipeline.produce_one %prod_tok, %iter
    { producer_types = [tile<128x128xf16>] } : (
      !nv_tileas.async.pipeline.producer_token,
      !nv_tileas.async.pipeline.iterator<tile<128x128xf16>>
    ) -> !nv_tileas.async.pipeline.producer_token {
  ^bb0(%stage_buf : tile<128x128xf16>):
    %async_tok = nv_tileas.async.tiled_tma_load
      %tma_desc, %stage_view[%k_outer, %k_outer] barrier %barrier
      { atom = #nv_tileas<atom tma_load_2d>,
        operandSegmentSizes = array<i32: 1, 1, 2, 1> }
      : !cute_nvgpu.tma_descriptor_tiled, !nv_tileaa.tiled_view<128x128xf16>,
        index, index, !nv_tileaa.mem_token
      -> !async.value<tile<128x128xf16>>
    nv_tileas.async.pipeline.yield %stage_buf : tile<128x128xf16>
  }

  // Consumer region - wait for stage, dot, release
  %cons_tok2 = nv_tileas.async.pipeline.consume_one %cons_tok, %iter
    { consumer_idx = 0 : i32,
      consumer_types = [tile<128x128xf16>] } : (
      !nv_tileas.async.pipeline.consumer_token,
      !nv_tileas.async.pipeline.iterator<tile<128x128xf16>>
    ) -> !nv_tileas.async.pipeline.consumer_token {
  ^bb0(%a_tile : tile<128x128xf16>):
    %waited = nv_tileas.async.pipeline.consumer_wait %cons_tok, %iter
      { consumer_idx = 0 : i32 }
      : !nv_tileas.async.pipeline.consumer_token,
        !nv_tileas.async.pipeline.iterator<tile<128x128xf16>>
      -> !nv_tileas.async.pipeline.consumer_token
    %d = nv_tileas.dot %a_tile, %b_tile, %acc
      { atom = #nv_tileas<atom mma_f16_f16_f32> }
      : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
      -> tile<128x128xf32>
    %released = nv_tileas.async.pipeline.consumer_release %waited
      : !nv_tileas.async.pipeline.consumer_token
      -> !nv_tileas.async.pipeline.consumer_token
    nv_tileas.async.pipeline.yield %a_tile : tile<128x128xf16>
  }
  func.return
}

// CHECK-LABEL: func.func @pipeline
// CHECK-NEXT:    %prod_tok, %cons_tok = nv_tileas.async.pipeline.create_pipeline %buf_view {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = true, dynamic = false} : !nv_tileaa.tiled_view<2x128x128xf16> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
// CHECK-NEXT:    %iter = nv_tileas.async.pipeline.create_iterator %prod_tok : !nv_tileas.async.pipeline.producer_token -> !nv_tileas.async.pipeline.iterator<tensor<128x128xf16>>
// CHECK-NEXT:    %prod_tok2 = nv_tileas.async.pipeline.produce_one %prod_tok, %iter {producer_types = [tensor<128x128xf16>]} : (!nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.iterator<tensor<128x128xf16>>) -> !nv_tileas.async.pipeline.producer_token {
// CHECK-NEXT:    ^bb0(%stage_buf: tensor<128x128xf16>):
// CHECK-NEXT:      %async_tok = nv_tileas.async.tiled_tma_load %tma_desc, %stage_view
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %stage_buf : tensor<128x128xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    %cons_tok2 = nv_tileas.async.pipeline.consume_one %cons_tok, %iter {consumer_idx = 0 : i32, consumer_types = [tensor<128x128xf16>]} : (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<128x128xf16>>) -> !nv_tileas.async.pipeline.consumer_token {
// CHECK-NEXT:    ^bb0(%a_tile: tensor<128x128xf16>):
// CHECK-NEXT:      %waited = nv_tileas.async.pipeline.consumer_wait %cons_tok, %iter {consumer_idx = 0 : i32} : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<128x128xf16>> -> !nv_tileas.async.pipeline.consumer_token
// CHECK-NEXT:      %d = nv_tileas.dot %a_tile, %b_tile, %acc
// CHECK-NEXT:      %released = nv_tileas.async.pipeline.consumer_release %waited : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.consumer_token
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %a_tile : tensor<128x128xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
