// The operation roster, "PipelineOp Enum": the active entries 0 to 14, in the order of their
// numbers as far as values allow, in generic form with the state that the table gives each.

// RUN: tileas-opt %s --print-op-generic | filecheck %s
// RUN: tileas-opt %s | tileas-opt --print-op-generic | filecheck %s

!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>>

func.func @enum(%bufferView: !nv_tileas.tiled_view<2x64xf32, smem>) {
  // CHECK: %p, %c = "nv_tileas.async.pipeline.create_pipeline"(%bufferView) <{numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = true, dynamic = false}> : (!nv_tileas.tiled_view<2x64xf32, smem>) -> (!prod, !cons)
  %p, %c = "nv_tileas.async.pipeline.create_pipeline"(%bufferView) <{numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = true, dynamic = false}> : (!nv_tileas.tiled_view<2x64xf32, smem>) -> (!prod, !cons)
  // CHECK: %i0 = "nv_tileas.async.pipeline.create_iterator"(%p) : (!prod) -> !iter
  %i0 = "nv_tileas.async.pipeline.create_iterator"(%p) : (!prod) -> !iter
  // CHECK: %p1 = "nv_tileas.async.pipeline.produce_one"(%p, %i0) <{producer_types = [tensor<64xf32>]}> ({
  %p1 = "nv_tileas.async.pipeline.produce_one"(%p, %i0) <{producer_types = [tensor<64xf32>]}> ({
  ^bb0(%stage: tensor<64xf32>):
    // CHECK: "nv_tileas.async.pipeline.yield"(%stage) : (tensor<64xf32>) -> ()
    "nv_tileas.async.pipeline.yield"(%stage) : (tensor<64xf32>) -> ()
  }) : (!prod, !iter) -> !prod
  // CHECK: %p2, %t2 = "nv_tileas.async.pipeline.produce_one_async"(%p1, %i0) <{producer_types = [tensor<64xf32>]}> ({
  %p2, %t2 = "nv_tileas.async.pipeline.produce_one_async"(%p1, %i0) <{producer_types = [tensor<64xf32>]}> ({
  ^bb0(%stage: tensor<64xf32>):
    "nv_tileas.async.pipeline.yield"(%stage) : (tensor<64xf32>) -> ()
  }) : (!prod, !iter) -> (!prod, !nv_tileas.token)
  // CHECK: %c3 = "nv_tileas.async.pipeline.consume_one"(%c, %i0) <{consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>]}> ({
  %c3 = "nv_tileas.async.pipeline.consume_one"(%c, %i0) <{consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>]}> ({
  ^bb0(%stage: tensor<64xf32>):
    "nv_tileas.async.pipeline.yield"(%stage) : (tensor<64xf32>) -> ()
  }) : (!cons, !iter) -> !cons
  // CHECK: %c4, %t4 = "nv_tileas.async.pipeline.consume_one_async"(%c3, %i0) <{consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>]}> ({
  %c4, %t4 = "nv_tileas.async.pipeline.consume_one_async"(%c3, %i0) <{consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>]}> ({
  ^bb0(%stage: tensor<64xf32>):
    "nv_tileas.async.pipeline.yield"(%stage) : (tensor<64xf32>) -> ()
  }) : (!cons, !iter) -> (!cons, !nv_tileas.token)
  // CHECK: %c5 = "nv_tileas.async.pipeline.consumer_read"(%c4, %i0) <{consumer_idx = 0 : i32}> : (!cons, !iter) -> !cons
  %c5 = "nv_tileas.async.pipeline.consumer_read"(%c4, %i0) <{consumer_idx = 0 : i32}> : (!cons, !iter) -> !cons
  // CHECK: %p6 = "nv_tileas.async.pipeline.producer_write"(%p2, %i0) : (!prod, !iter) -> !prod
  %p6 = "nv_tileas.async.pipeline.producer_write"(%p2, %i0) : (!prod, !iter) -> !prod
  // CHECK: %p7 = "nv_tileas.async.pipeline.producer_acquire"(%p6, %i0) : (!prod, !iter) -> !prod
  %p7 = "nv_tileas.async.pipeline.producer_acquire"(%p6, %i0) : (!prod, !iter) -> !prod
  // CHECK: %p8 = "nv_tileas.async.pipeline.producer_commit"(%p7) : (!prod) -> !prod
  %p8 = "nv_tileas.async.pipeline.producer_commit"(%p7) : (!prod) -> !prod
  // CHECK: %c9 = "nv_tileas.async.pipeline.consumer_wait"(%c5, %i0) <{consumer_idx = 0 : i32}> : (!cons, !iter) -> !cons
  %c9 = "nv_tileas.async.pipeline.consumer_wait"(%c5, %i0) <{consumer_idx = 0 : i32}> : (!cons, !iter) -> !cons
  // CHECK: %c10 = "nv_tileas.async.pipeline.consumer_release"(%c9) : (!cons) -> !cons
  %c10 = "nv_tileas.async.pipeline.consumer_release"(%c9) : (!cons) -> !cons
  // CHECK: %i12 = "nv_tileas.async.pipeline.inc_iter"(%i0) : (!iter) -> !iter
  %i12 = "nv_tileas.async.pipeline.inc_iter"(%i0) : (!iter) -> !iter
  // CHECK: "nv_tileas.async.pipeline.agent_switch"() <{num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false}> ({
  "nv_tileas.async.pipeline.agent_switch"() <{num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false}> ({
    "nv_tileas.async.pipeline.yield"() : () -> ()
  }, {
    "nv_tileas.async.pipeline.yield"() : () -> ()
  }) : () -> ()
  func.return
}
