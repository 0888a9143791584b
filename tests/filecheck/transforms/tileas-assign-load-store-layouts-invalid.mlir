// What cannot be laid out, at the operation that the group of tiles begins with.

// RUN: tileas-opt %s -p tileas-assign-load-store-layouts --split-input-file --verify-diagnostics

// A tile of a stage, in shared memory, is no accumulator of wgmma, which is in registers.

!a = tensor<64x64xf16>
!acc = tensor<64x64xf32>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, !acc>, 2, smem>

func.func @accumulator_of_a_stage(%slots: !nv_tileas.tiled_view<2x12288xf16, smem>) {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x12288xf16, smem> -> !prod, !cons
  %j = nv_tileas.async.pipeline.create_iterator %c : !cons -> !iter
  // expected-error@+2 {{'nv_tileas.async.pipeline.consume_one' op  can not find common memKind among pipeline alias group}}
  // expected-note@+1 {{'nv_tileas.async.pipeline.consume_one' has %sc in smem}}
  %c1, %sums = nv_tileas.async.pipeline.consume_one %c, %j {consumer_idx = 0 : i32, consumer_types = [!a, !acc]} : (!cons, !iter) -> (!cons, !acc) {
  ^bb0(%sa: !a, %sc: !acc):
    // expected-note@+2 {{'nv_tileas.dot' has %sc in rmem}}
    // expected-note@+1 {{'nv_tileas.dot' has %dot in rmem}}
    %dot = nv_tileas.dot %sa, %sa, %sc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : !a, !a, !acc -> !acc
    nv_tileas.async.pipeline.yield %dot : !acc
  }
  func.return
}

// -----

// Its neighbour: the tile is read into registers first, and is an accumulator there.

!a = tensor<64x64xf16>
!acc = tensor<64x64xf32>

func.func @accumulator_in_registers(%a: memref<64x64xf16, #nv_tileas<space smem>>, %c: memref<64x64xf32, #nv_tileas<space smem>>, %out: !nv_tileas.tiled_view<64x64xf32, gmem>) {
  %zero = arith.constant 0 : index
  %sa = nv_tileas.view %a : memref<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16, #nv_tileas<space smem>>
  %sc = nv_tileas.tiled_load %c[%zero, %zero] {atom = #nv_tileas<atom unknown_copy>} : memref<64x64xf32, #nv_tileas<space smem>> -> !acc
  %dot = nv_tileas.dot %sa, %sa, %sc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, !acc -> !acc
  nv_tileas.tiled_store %dot, %out[%zero, %zero] {atom = #nv_tileas<atom unknown_copy>} : !acc, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// -----

// Its other neighbour: threads load the operands of wgmma, and store them to shared memory.

func.func @operand_from_registers(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %c: tensor<64x64xf32>) {
  %zero = arith.constant 0 : index
  %x = nv_tileas.tiled_load %a[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
  %dot = nv_tileas.dot %x, %x, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return
}
