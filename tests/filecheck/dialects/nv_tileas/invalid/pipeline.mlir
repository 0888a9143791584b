// What a pipeline refuses, with the nearest thing that it accepts.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Operands: the token of the right side, then an iterator.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op takes a producer token and an iterator, but got (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>)}}
%1 = "nv_tileas.async.pipeline.producer_acquire"(%c, %i) : (!cons, !iter) -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.consumer_wait' op takes a consumer token and an iterator, but got (!nv_tileas.async.pipeline.consumer_token)}}
%2 = "nv_tileas.async.pipeline.consumer_wait"(%c) <{consumer_idx = 0 : i32}> : (!cons) -> !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.consumer_release' op takes a consumer token, but got (!nv_tileas.async.pipeline.producer_token)}}
%3 = "nv_tileas.async.pipeline.consumer_release"(%p) : (!prod) -> !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.create_iterator' op takes a pipeline token, but got (!nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>)}}
%4 = "nv_tileas.async.pipeline.create_iterator"(%i) : (!iter) -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.inc_iter' op takes an iterator, but got (!nv_tileas.async.pipeline.producer_token)}}
%5 = "nv_tileas.async.pipeline.inc_iter"(%p) : (!prod) -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op takes a view, but got (!nv_tileas.async.pipeline.producer_token)}}
%6, %7 = "nv_tileas.async.pipeline.create_pipeline"(%p) <{numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}> : (!prod) -> (!prod, !cons)
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op takes nothing, but got (!nv_tileas.async.pipeline.producer_token)}}
"nv_tileas.async.pipeline.agent_switch"(%p) <{num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false}> ({
  nv_tileas.async.pipeline.yield
}) : (!prod) -> ()

%ok1 = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
%ok2 = nv_tileas.async.pipeline.consumer_wait %c, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons

// -----

// Written in short, a value of the wrong kind is found while reading.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.consumer_release' op !nv_tileas.async.pipeline.producer_token should be of base attribute nv_tileas.async.pipeline.consumer_token}}
%1 = nv_tileas.async.pipeline.consumer_release %p : !prod -> !cons

// -----

// Results: the token that came in, for async forms an async token; a payload where there is a body.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!open = !nv_tileas.async.pipeline.iterator<tensor<64xf32>>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op gives a producer token, but got (!nv_tileas.async.pipeline.consumer_token)}}
%1 = "nv_tileas.async.pipeline.producer_acquire"(%p, %i) : (!prod, !iter) -> !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op gives a producer token and a consumer token, but got (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.producer_token)}}
%2, %3 = "nv_tileas.async.pipeline.create_pipeline"(%b) <{numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}> : (!view) -> (!cons, !prod)
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op gives a producer token, then the payload, but got (tensor<64xf32>, !nv_tileas.async.pipeline.producer_token)}}
%4, %5 = "nv_tileas.async.pipeline.produce_one"(%p, %i) <{producer_types = [tensor<64xf32>]}> ({
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}) : (!prod, !iter) -> (!tile, !prod)
// expected-error@+1 {{'nv_tileas.async.pipeline.consume_one_async' op gives a consumer token and an async token, then the payload, but got (!nv_tileas.async.pipeline.consumer_token)}}
%6 = "nv_tileas.async.pipeline.consume_one_async"(%c, %i) <{consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>]}> ({
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}) : (!cons, !iter) -> !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.inc_iter' op gives an iterator, but got (i32)}}
%7 = "nv_tileas.async.pipeline.inc_iter"(%i) : (!iter) -> i32
// expected-error@+1 {{'nv_tileas.async.pipeline.inc_iter' op makes !nv_tileas.async.pipeline.iterator<tensor<64xf32>> of !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>}}
%8 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !open
// expected-error@+1 {{'nv_tileas.async.pipeline.consumer_read' op has payload results, but no body that yields them}}
%9, %10 = nv_tileas.async.pipeline.consumer_read %c, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons, !tile
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_write' op has payload results, but no body that yields them}}
%11, %12 = nv_tileas.async.pipeline.producer_write %p, %i : !prod, !iter -> !prod, !tile

%ok1, %ok2 = nv_tileas.async.pipeline.consumer_read %c, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons, !tile {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}
%ok3 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter

// -----

// Regions: a body of one block where the family has one.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op requires zero regions}}
%1 = "nv_tileas.async.pipeline.producer_acquire"(%p, %i) ({
  "test.termop"() : () -> ()
}) : (!prod, !iter) -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op has one body, but got 0}}
%2 = "nv_tileas.async.pipeline.produce_one"(%p, %i) <{producer_types = [tensor<64xf32>]}> : (!prod, !iter) -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_write' op has at most one body, but got 2}}
%3 = "nv_tileas.async.pipeline.producer_write"(%p, %i) ({
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}, {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}) : (!prod, !iter) -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op has bodies of one block, but got one of 0}}
%4 = "nv_tileas.async.pipeline.produce_one"(%p, %i) <{producer_types = [tensor<64xf32>]}> ({}) : (!prod, !iter) -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op has bodies of one block, but got one of 2}}
%5 = "nv_tileas.async.pipeline.produce_one"(%p, %i) <{producer_types = [tensor<64xf32>]}> ({
^bb0(%x: !tile):
  cf.br ^bb1
^bb1:
  nv_tileas.async.pipeline.yield %x : !tile
}) : (!prod, !iter) -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op has a body for each agent, but got none}}
"nv_tileas.async.pipeline.agent_switch"() <{num_agents_per_group = 1 : i32, max_regs = array<i32>, isolated = false}> : () -> ()

%ok = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [tensor<64xf32>]} : (!prod, !iter) -> !prod {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}

// -----

// Attributes that the family requires.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op requires attribute 'numStages'}}
%1, %2 = nv_tileas.async.pipeline.create_pipeline %b {producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op requires attribute 'producerGroupId'}}
%3, %4 = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op requires attribute 'consumerGroupId'}}
%5, %6 = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8} : !view -> !prod, !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op requires attribute 'producer_types'}}
%7 = nv_tileas.async.pipeline.produce_one %p, %i : (!prod, !iter) -> !prod {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}
// expected-error@+1 {{'nv_tileas.async.pipeline.consume_one' op requires attribute 'consumer_types'}}
%8 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32} : (!cons, !iter) -> !cons {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}
// expected-error@+1 {{'nv_tileas.async.pipeline.consume_one' op requires attribute 'consumer_idx'}}
%9 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_types = [tensor<64xf32>]} : (!cons, !iter) -> !cons {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}
// expected-error@+1 {{'nv_tileas.async.pipeline.consumer_wait' op requires attribute 'consumer_idx'}}
%10 = nv_tileas.async.pipeline.consumer_wait %c, %i : !cons, !iter -> !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.consumer_read' op requires attribute 'consumer_idx'}}
%11 = nv_tileas.async.pipeline.consumer_read %c, %i : !cons, !iter -> !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op requires attribute 'num_agents_per_group'}}
nv_tileas.async.pipeline.agent_switch {max_regs = array<i32: 0>, isolated = false} {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op requires attribute 'max_regs'}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, isolated = false} {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op requires attribute 'isolated'}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>} {}

// -----

// Attributes of another type, or of another operation of the family.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op attribute 'numStages' is an i32, but got 2 : i64}}
%1, %2 = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i64, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op has no attribute 'consumer_idx'}}
%3 = "nv_tileas.async.pipeline.producer_acquire"(%p, %i) <{consumer_idx = 0 : i32}> : (!prod, !iter) -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.consume_one' op lists other types in consumer_types than in producer_types}}
%4 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>], producer_types = [f32]} : (!cons, !iter) -> !cons {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}

// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op attribute 'producerGroupId' is an i8, but got 0 : i32}}
%5, %6 = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i32, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op attribute 'sharedMem' is a bool, but got 1 : i32}}
%7, %8 = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = 1 : i32} : !view -> !prod, !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op attribute 'producer_types' is a list of types, but got [1 : i32]}}
%9 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [1 : i32]} : (!prod, !iter) -> !prod {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op attribute 'max_regs' is an array of i32, but got array<i64: 0>}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i64: 0>, isolated = false} {}

%ok = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>], producer_types = [tensor<64xf32>]} : (!cons, !iter) -> !cons {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}

// -----

// A pipeline has stages, and matches its memory space.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!gview = !nv_tileas.tiled_view<2x64xf32, gmem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token

%b = "test.op"() : () -> !view
%global, %shared = "test.op"() : () -> (!gview, memref<2x64xf32, #nv_tileas<space smem>>)
// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op numStages is at least 1, not 0}}
%1, %2 = nv_tileas.async.pipeline.create_pipeline %b {numStages = 0 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op sharedMem = true needs a view in smem, not in gmem}}
%3, %4 = nv_tileas.async.pipeline.create_pipeline %global {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = true} : !gview -> !prod, !cons

// expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op has 3 stages in a buffer of 2 slots}}
%9, %10 = nv_tileas.async.pipeline.create_pipeline %b {numStages = 3 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons

%5, %6 = nv_tileas.async.pipeline.create_pipeline %global {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = false} : !gview -> !prod, !cons
%7, %8 = nv_tileas.async.pipeline.create_pipeline %shared {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = true} : memref<2x64xf32, #nv_tileas<space smem>> -> !prod, !cons

// -----

// The body takes what the list says: as many values, of these types.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op expects region arguement types to match with producer types [tensor<64xf32>], but got: []}}
%1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [tensor<64xf32>]} : (!prod, !iter) -> !prod {
  %x = "test.op"() : () -> !tile
  nv_tileas.async.pipeline.yield %x : !tile
}
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one_async' op expects region arguement types to match with producer types [tensor<64xf32>], but got: [tensor<64xf16>, i32]}}
%2, %t = nv_tileas.async.pipeline.produce_one_async %p, %i {producer_types = [tensor<64xf32>]} : (!prod, !iter) -> (!prod, !nv_tileas.token) {
^bb0(%x: tensor<64xf16>, %y: i32):
  nv_tileas.async.pipeline.yield %x : tensor<64xf16>
}
// expected-error@+1 {{'nv_tileas.async.pipeline.consume_one' op expects region arguement types to match with producer types [tensor<64xf32>, i32], but got: [tensor<64xf32>, i64]}}
%3 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>, i32]} : (!cons, !iter) -> !cons {
^bb0(%x: !tile, %y: i64):
  nv_tileas.async.pipeline.yield %x : !tile
}
// expected-error@+1 {{'nv_tileas.async.pipeline.consume_one_async' op expects region arguement types to match with producer types [tensor<64xf32>], but got: [f32]}}
%4, %u = nv_tileas.async.pipeline.consume_one_async %c, %i {consumer_idx = 0 : i32, producer_types = [tensor<64xf32>]} : (!cons, !iter) -> (!cons, !nv_tileas.token) {
^bb0(%x: f32):
  nv_tileas.async.pipeline.yield %x : f32
}
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_write' op expects region arguement types to match with producer types [tensor<64xf32>], but got: [f32]}}
%5 = nv_tileas.async.pipeline.producer_write %p, %i : !prod, !iter -> !prod {
^bb0(%x: f32):
  nv_tileas.async.pipeline.yield %x : f32
}
// expected-error@+1 {{'nv_tileas.async.pipeline.consumer_read' op expects region arguement types to match with producer types [tensor<64xf32>], but got: [f32]}}
%6 = nv_tileas.async.pipeline.consumer_read %c, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons {
^bb0(%x: f32):
  nv_tileas.async.pipeline.yield %x : f32
}

// -----

// An iterator among the block arguments stands for its payload; in the list it does not.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!open = !nv_tileas.async.pipeline.iterator<tensor<64xf32>>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op expects region arguement types to match with producer types [!nv_tileas.async.pipeline.iterator<tensor<64xf32>>], but got: [!nv_tileas.async.pipeline.iterator<tensor<64xf32>>]}}
%1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!open]} : (!prod, !iter) -> !prod {
^bb0(%x: !open):
  nv_tileas.async.pipeline.yield %x : !open
}

%ok = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [tensor<64xf32>]} : (!prod, !iter) -> !prod {
^bb0(%x: !open):
  %y = "test.op"(%x) : (!open) -> !tile
  nv_tileas.async.pipeline.yield %y : !tile
}

// -----

// The body ends with the yield of the family, which belongs there only.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op pipeline regions must end with 'nv_tileas.async.pipeline.yield'}}
%1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [tensor<64xf32>]} : (!prod, !iter) -> !prod {
^bb0(%x: !tile):
  "test.termop"() : () -> ()
}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op pipeline regions must end with 'nv_tileas.async.pipeline.yield'}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} {
  "test.termop"() : () -> ()
}
func.func @f() {
  // expected-error@+1 {{'nv_tileas.async.pipeline.yield' op ends the body of a pipeline operation, not of 'func.func'}}
  nv_tileas.async.pipeline.yield
}

// -----

// The yield gives what the results say, else the stage.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op expects region result types to be match with operation result types [tensor<64xf32>], but got: [f32]}}
%1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [tensor<64xf32>]} : (!prod, !iter) -> !prod {
^bb0(%x: !tile):
  %y = "test.op"() : () -> f32
  nv_tileas.async.pipeline.yield %y : f32
}
// expected-error@+1 {{'nv_tileas.async.pipeline.consume_one' op expects region result types to be match with operation result types [f32, i32], but got: [tensor<64xf32>]}}
%2, %3, %4 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>]} : (!cons, !iter) -> (!cons, f32, i32) {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}
// expected-error@+1 {{'nv_tileas.async.pipeline.consumer_read' op expects region result types to be match with operation result types [tensor<64xf32>], but got: []}}
%5 = nv_tileas.async.pipeline.consumer_read %c, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield
}

%ok1, %ok2 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>]} : (!cons, !iter) -> (!cons, f32) {
^bb0(%x: !tile):
  %y = "test.op"() : () -> f32
  nv_tileas.async.pipeline.yield %y : f32
}

// -----

// The iterator has the payload that the operation lists, a tuple for several values.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op rotates over [tensor<64xf32>], but producer_types is [f32]}}
%1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [f32]} : (!prod, !iter) -> !prod {
^bb0(%x: f32):
  nv_tileas.async.pipeline.yield %x : f32
}
// expected-error@+1 {{'nv_tileas.async.pipeline.consume_one' op rotates over [tensor<64xf32>], but consumer_types is [tensor<64xf32>, f32]}}
%2 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>, f32]} : (!cons, !iter) -> !cons {
^bb0(%x: !tile, %y: f32):
  nv_tileas.async.pipeline.yield %x, %y : !tile, f32
}
%two = nv_tileas.async.pipeline.create_iterator %p : !prod -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64xf32>, f32>>
%ok = nv_tileas.async.pipeline.consume_one %c, %two {consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>, f32]} : (!cons, !nv_tileas.async.pipeline.iterator<tuple<tensor<64xf32>, f32>>) -> !cons {
^bb0(%x: !tile, %y: f32):
  nv_tileas.async.pipeline.yield %x, %y : !tile, f32
}

// -----

// Every path yields the same iterator.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!open = !nv_tileas.async.pipeline.iterator<tensor<64xf32>>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
%cond, %j = "test.op"() : () -> (i1, !open)
// expected-note@+1 {{the arms yield [!nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>, !nv_tileas.async.pipeline.iterator<tensor<64xf32>>]}}
%k = scf.if %cond -> (!iter) {
  scf.yield %i : !iter
} else {
  scf.yield %j : !open
}
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op branch arms must yield matching pipeline iterator types}}
%1 = nv_tileas.async.pipeline.producer_acquire %p, %k : !prod, !iter -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.inc_iter' op branch arms must yield matching pipeline iterator types}}
%2 = nv_tileas.async.pipeline.inc_iter %k : !iter -> !iter

// -----

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
%cond = "test.op"() : () -> i1
%k = scf.if %cond -> (!iter) {
  scf.yield %i : !iter
} else {
  %next = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
  scf.yield %next : !iter
}
%1 = nv_tileas.async.pipeline.producer_acquire %p, %k : !prod, !iter -> !prod

// -----

// The iterator has as many stages as the pipeline, where its type says how many.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!iter3 = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 3>
!open = !nv_tileas.async.pipeline.iterator<tensor<64xf32>>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.create_iterator' op rotates through 3 stages, but the pipeline has 2}}
%1 = nv_tileas.async.pipeline.create_iterator %c : !cons -> !iter3
%other = "test.op"() : () -> !iter3
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op rotates through 3 stages, but the pipeline has 2}}
%2 = nv_tileas.async.pipeline.producer_acquire %p, %other : !prod, !iter3 -> !prod
%3 = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
%4 = nv_tileas.async.pipeline.producer_commit %3 : !prod -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op rotates through 3 stages, but the pipeline has 2}}
%5 = nv_tileas.async.pipeline.producer_acquire %4, %other : !prod, !iter3 -> !prod

%open = nv_tileas.async.pipeline.create_iterator %c : !cons -> !open
%ok = nv_tileas.async.pipeline.consumer_wait %c, %open {consumer_idx = 0 : i32} : !cons, !open -> !cons

// -----

// A token leads to its pipeline, along operations of the family and scf.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-note@+1 {{the token is made here}}
%foreign = "test.op"() : () -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op cannot follow its token to a pipeline: it comes from 'test.op'}}
%1 = nv_tileas.async.pipeline.producer_acquire %foreign, %i : !prod, !iter -> !prod
// expected-note@+1 {{the token is made here}}
func.func @argument(%q: !prod) {
  // expected-error@+1 {{'nv_tileas.async.pipeline.create_iterator' op cannot follow its token to a pipeline: it is an argument of 'func.func'}}
  %j = nv_tileas.async.pipeline.create_iterator %q : !prod -> !iter
  func.return
}
// expected-note@+1 {{the token is made here}}
%2, %payload = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [tensor<64xf32>]} : (!prod, !iter) -> (!prod, !prod) {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %p : !prod
}
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op cannot follow its token to a pipeline: it is payload of 'nv_tileas.async.pipeline.produce_one'}}
%3 = nv_tileas.async.pipeline.producer_acquire %payload, %i : !prod, !iter -> !prod

%ok = nv_tileas.async.pipeline.producer_acquire %2, %i : !prod, !iter -> !prod

// -----

// It is the token of one pipeline.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-note@-2 {{one of its pipelines}}
// expected-note@+1 {{one of its pipelines}}
%p2, %c2 = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%cond = "test.op"() : () -> i1
%either = scf.if %cond -> (!prod) {
  scf.yield %p : !prod
} else {
  scf.yield %p2 : !prod
}
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op has a token of 2 pipelines}}
%1 = nv_tileas.async.pipeline.producer_acquire %either, %i : !prod, !iter -> !prod

// -----

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
%cond = "test.op"() : () -> i1
%same = scf.if %cond -> (!prod) {
  %acquired = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
  scf.yield %acquired : !prod
} else {
  scf.yield %p : !prod
}
%1 = nv_tileas.async.pipeline.producer_acquire %same, %i : !prod, !iter -> !prod

// -----

// A commit follows an acquire or a write, a release a wait or a read; on every path.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-note@-2 {{the token is made here}}
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_commit' op needs a token from producer_acquire, producer_write or produce_one_async, but it comes from 'nv_tileas.async.pipeline.create_pipeline'}}
%1 = nv_tileas.async.pipeline.producer_commit %p : !prod -> !prod
// expected-note@+1 {{the token is made here}}
%c1 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<64xf32>]} : (!cons, !iter) -> !cons {
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}
// expected-error@+1 {{'nv_tileas.async.pipeline.consumer_release' op needs a token from consumer_wait, consumer_read or consume_one_async, but it comes from 'nv_tileas.async.pipeline.consume_one'}}
%2 = nv_tileas.async.pipeline.consumer_release %c1 : !cons -> !cons

%p1 = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
// expected-note@+1 {{the token is made here}}
%p2 = nv_tileas.async.pipeline.producer_commit %p1 : !prod -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_commit' op needs a token from producer_acquire, producer_write or produce_one_async, but it comes from 'nv_tileas.async.pipeline.producer_commit'}}
%3 = nv_tileas.async.pipeline.producer_commit %p2 : !prod -> !prod
%cond = "test.op"() : () -> i1
%p3 = scf.if %cond -> (!prod) {
  scf.yield %p1 : !prod
} else {
  scf.yield %p2 : !prod
}
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_commit' op needs a token from producer_acquire, producer_write or produce_one_async, but it comes from 'nv_tileas.async.pipeline.producer_commit'}}
%4 = nv_tileas.async.pipeline.producer_commit %p3 : !prod -> !prod

// -----

// A loop may carry a token around without a step; a path without any token is a break.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
%zero, %one = "test.op"() : () -> (index, index)
%end = scf.for %k = %zero to %one step %one iter_args(%t = %p) -> (!prod) {
  scf.yield %t : !prod
}
%1 = nv_tileas.async.pipeline.producer_acquire %end, %i : !prod, !iter -> !prod
%2 = nv_tileas.async.pipeline.producer_commit %1 : !prod -> !prod
%cond = "test.op"() : () -> i1
// expected-note@+1 {{the token is made here}}
%none = "scf.if"(%cond) ({
  "scf.yield"() : () -> ()
}, {}) : (i1) -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.producer_acquire' op cannot follow its token to a pipeline: it has no beginning}}
%3 = nv_tileas.async.pipeline.producer_acquire %none, %i : !prod, !iter -> !prod

// -----

// The consumer is one of its group: not negative, below the agents of a group where that is known.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.pipeline.consumer_wait' op consumer_idx out of range for consumer group}}
%1 = nv_tileas.async.pipeline.consumer_wait %c, %i {consumer_idx = -1 : i32} : !cons, !iter -> !cons
%2 = nv_tileas.async.pipeline.consumer_wait %c, %i {consumer_idx = 7 : i32} : !cons, !iter -> !cons
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 2 : i32, max_regs = array<i32: 0>, isolated = false} {
  // expected-error@+1 {{'nv_tileas.async.pipeline.consumer_read' op consumer_idx out of range for consumer group}}
  %3 = nv_tileas.async.pipeline.consumer_read %c, %i {consumer_idx = 2 : i32} : !cons, !iter -> !cons
  // expected-error@+1 {{'nv_tileas.async.pipeline.consume_one' op consumer_idx out of range for consumer group}}
  %4 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 2 : i32, consumer_types = [tensor<64xf32>]} : (!cons, !iter) -> !cons {
  ^bb0(%x: !tile):
    nv_tileas.async.pipeline.yield %x : !tile
  }
  %5 = nv_tileas.async.pipeline.consumer_wait %c, %i {consumer_idx = 1 : i32} : !cons, !iter -> !cons
}

// -----

// Two mistakes: operands before attributes, attributes before the body, its arguments before its
// end, its end before what it yields, the body before the iterator, that before the token.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
%foreign = "test.op"() : () -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op takes a producer token and an iterator, but got (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>)}}
%1 = "nv_tileas.async.pipeline.produce_one"(%c, %i) ({
^bb0(%x: !tile):
  nv_tileas.async.pipeline.yield %x : !tile
}) : (!cons, !iter) -> !prod
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op requires attribute 'producer_types'}}
%2 = nv_tileas.async.pipeline.produce_one %p, %i : (!prod, !iter) -> !prod {
  "test.termop"() : () -> ()
}
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op expects region arguement types to match with producer types [tensor<64xf32>], but got: []}}
%3 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [tensor<64xf32>]} : (!prod, !iter) -> !prod {
  "test.termop"() : () -> ()
}
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op pipeline regions must end with 'nv_tileas.async.pipeline.yield'}}
%4 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [f32]} : (!prod, !iter) -> !prod {
^bb0(%x: f32):
  "test.termop"() : () -> ()
}
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op expects region result types to be match with operation result types [f32], but got: []}}
%5 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [f32]} : (!prod, !iter) -> !prod {
^bb0(%x: f32):
  nv_tileas.async.pipeline.yield
}
// expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op rotates over [tensor<64xf32>], but producer_types is [f32]}}
%6 = nv_tileas.async.pipeline.produce_one %foreign, %i {producer_types = [f32]} : (!prod, !iter) -> !prod {
^bb0(%x: f32):
  nv_tileas.async.pipeline.yield %x : f32
}

// -----

// A stage ends once on every path.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>

func.func @ends(%b: !view, %q: i1) {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
  %a = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
  // expected-note@+1 {{it ended here}}
  %1 = nv_tileas.async.pipeline.producer_commit %a : !prod -> !prod
  // expected-error@+1 {{'nv_tileas.async.pipeline.producer_commit' op ends a stage that has ended}}
  %2 = nv_tileas.async.pipeline.producer_commit %a : !prod -> !prod
  %w = nv_tileas.async.pipeline.consumer_wait %c, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons
  // expected-note@+1 {{it ended here}}
  %3 = nv_tileas.async.pipeline.consumer_release %w : !cons -> !cons
  // expected-error@+1 {{'nv_tileas.async.pipeline.consumer_release' op ends a stage that has ended}}
  %4 = nv_tileas.async.pipeline.consumer_release %w : !cons -> !cons

  %d = nv_tileas.async.pipeline.producer_acquire %1, %i : !prod, !iter -> !prod
  %r = scf.if %q -> (!prod) {
    %5 = nv_tileas.async.pipeline.producer_commit %d : !prod -> !prod
    scf.yield %5 : !prod
  } else {
    %6 = nv_tileas.async.pipeline.producer_commit %d : !prod -> !prod
    scf.yield %6 : !prod
  }
  func.return
}

// -----

// A token is followed through operations that have not been verified yet.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>

func.func @incomplete(%b: !view, %q: i1) {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
  // expected-error@+1 {{'scf.while' op Expected 2 regions, but got 1}}
  %r = "scf.while"(%p) ({
  ^bb0(%x: !prod):
    %a = nv_tileas.async.pipeline.producer_acquire %x, %i : !prod, !iter -> !prod
    "scf.condition"(%q, %a) : (i1, !prod) -> ()
  }) : (!prod) -> !prod
  func.return
}
