// Async tokens: nothing to wait for, bridges, waiting.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s --check-prefix=XDSL

!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tile<64xf32>>

// A placeholder starts a chain of the kind of its type.

func.func @none() {
  %async = nv_tileas.create_none : !nv_tileas.token
  %value = nv_tileas.create_none : !async.value<tile<64xf32>>
  %memory = nv_tileas.create_none : !nv_tileas.mem_token
  %memory2 = nv_tileas.create_none : !nv_tileaa.mem_token
  func.return
}

// XDSL: %async = nv_tileas.create_none : !nv_tileas.token

// CHECK-LABEL: func.func @none() {
// CHECK-NEXT:    %async = nv_tileas.create_none : !nv_tileas.token
// CHECK-NEXT:    %value = nv_tileas.create_none : !nv_tileas.token<tensor<64xf32>>
// CHECK-NEXT:    %memory = nv_tileas.create_none : !nv_tileas.mem_token
// CHECK-NEXT:    %memory2 = nv_tileas.create_none : !nv_tileaa.mem_token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A value becomes asynchronous: as a token that delivers it, or as a bare one.

func.func @to_async(%x: tensor<64xf32>) {
  %delivering = nv_tileas.async.to_async %x : tile<64xf32> -> !async.value<tile<64xf32>>
  %bare = nv_tileas.async.to_async %x : tile<64xf32> -> !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @to_async(%x: tensor<64xf32>) {
// CHECK-NEXT:    %delivering = nv_tileas.async.to_async %x : tensor<64xf32> -> !nv_tileas.token<tensor<64xf32>>
// CHECK-NEXT:    %bare = nv_tileas.async.to_async %x : tensor<64xf32> -> !nv_tileas.token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// So does what a pipeline publishes.

func.func @token_to_async(%buffer: !nv_tileas.tiled_view<2x64xf32, smem>) {
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x64xf32, smem> -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %p1 = nv_tileas.async.pipeline.producer_acquire %p0, %i : !prod, !iter -> !prod
  %p2 = nv_tileas.async.pipeline.producer_commit %p1 : !prod -> !prod
  %published = nv_tileas.async.token_to_async %p2 : !prod -> !nv_tileas.token
  %consumer = nv_tileas.async.token_to_async %c0 : !cons -> !nv_tileas.token
  nv_tileas.async.wait %published : !nv_tileas.token
  func.return
}

// CHECK-LABEL: func.func @token_to_async(%buffer: !nv_tileas.tiled_view<2x64xf32, smem>) {
// CHECK-NEXT:    %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x64xf32, smem> -> !prod, !cons
// CHECK-NEXT:    %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
// CHECK-NEXT:    %p1 = nv_tileas.async.pipeline.producer_acquire %p0, %i : !prod, !iter -> !prod
// CHECK-NEXT:    %p2 = nv_tileas.async.pipeline.producer_commit %p1 : !prod -> !prod
// CHECK-NEXT:    %published = nv_tileas.async.token_to_async %p2 : !prod -> !nv_tileas.token
// CHECK-NEXT:    %consumer = nv_tileas.async.token_to_async %c0 : !cons -> !nv_tileas.token
// CHECK-NEXT:    nv_tileas.async.wait %published : !nv_tileas.token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Waiting gives what the token delivers, if it is asked for.

func.func @wait(%t: !nv_tileas.token, %v: !nv_tileas.token<tensor<64xf32>>, %two: !nv_tileas.token<tuple<i32, i1>>) {
  nv_tileas.async.future_wait %t : !nv_tileas.token
  nv_tileas.async.wait %t : !nv_tileas.token
  nv_tileas.async.wait %v : !nv_tileas.token<tile<64xf32>>
  %x = nv_tileas.async.wait %v : !async.value<tile<64xf32>> -> tile<64xf32>
  %id, %valid = nv_tileas.async.future_wait %two : !nv_tileas.token<tuple<i32, i1>> -> i32, i1
  func.return
}

// CHECK-LABEL: func.func @wait(%t: !nv_tileas.token, %v: !nv_tileas.token<tensor<64xf32>>, %two: !nv_tileas.token<tuple<i32, i1>>) {
// CHECK-NEXT:    nv_tileas.async.future_wait %t : !nv_tileas.token
// CHECK-NEXT:    nv_tileas.async.wait %t : !nv_tileas.token
// CHECK-NEXT:    nv_tileas.async.wait %v : !nv_tileas.token<tensor<64xf32>>
// CHECK-NEXT:    %x = nv_tileas.async.wait %v : !nv_tileas.token<tensor<64xf32>> -> tensor<64xf32>
// CHECK-NEXT:    %id, %valid = nv_tileas.async.future_wait %two : !nv_tileas.token<tuple<i32, i1>> -> i32, i1
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
