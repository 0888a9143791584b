// What the token operations refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// A placeholder is no pipeline token, for it would belong to no pipeline.

!prod = !nv_tileas.async.pipeline.producer_token

// expected-error@+1 {{'nv_tileas.create_none' op makes an async or memory token, not !nv_tileas.async.pipeline.producer_token}}
%1 = "nv_tileas.create_none"() : () -> !prod
// expected-error@+1 {{'nv_tileas.create_none' op makes an async or memory token, not f32}}
%2 = "nv_tileas.create_none"() : () -> f32

%ok = nv_tileas.create_none : !nv_tileas.token

// -----

// Data becomes asynchronous, as what it is.

!tile = tensor<64xf32>

%x, %t = "test.op"() : () -> (!tile, !nv_tileas.token)
// expected-error@+1 {{'nv_tileas.async.to_async' op takes data, but got !nv_tileas.token}}
%1 = nv_tileas.async.to_async %t : !nv_tileas.token -> !nv_tileas.token
// expected-error@+1 {{'nv_tileas.async.to_async' op takes tensor<64xf32>, but its token delivers f32}}
%2 = nv_tileas.async.to_async %x : !tile -> !nv_tileas.token<f32>
// expected-error@+1 {{'nv_tileas.async.to_async' op makes an async token, not !nv_tileas.mem_token}}
%3 = "nv_tileas.async.to_async"(%x) : (!tile) -> !nv_tileas.mem_token

%ok = nv_tileas.async.to_async %x : !tile -> !nv_tileas.token<tensor<64xf32>>

// -----

// So does a pipeline token, with nothing to deliver.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
%t, %foreign = "test.op"() : () -> (!nv_tileas.token, !prod)
// expected-error@+1 {{'nv_tileas.async.token_to_async' op takes a pipeline token, but got !nv_tileas.token}}
%1 = "nv_tileas.async.token_to_async"(%t) : (!nv_tileas.token) -> !nv_tileas.token
// expected-error@+1 {{'nv_tileas.async.token_to_async' op makes a bare token, for a pipeline token has no f32}}
%2 = nv_tileas.async.token_to_async %p : !prod -> !nv_tileas.token<f32>
// expected-error@+1 {{'nv_tileas.async.token_to_async' op takes one operand, but got 2}}
%3 = "nv_tileas.async.token_to_async"(%p, %p) : (!prod, !prod) -> !nv_tileas.token
// expected-error@+1 {{'nv_tileas.async.token_to_async' op makes an async token, not !nv_tileas.async.pipeline.producer_token}}
%4 = "nv_tileas.async.token_to_async"(%p) : (!prod) -> !prod
// expected-note@-9 {{the token is made here}}
// expected-error@+1 {{'nv_tileas.async.token_to_async' op cannot follow its token to a pipeline: it comes from 'test.op'}}
%5 = nv_tileas.async.token_to_async %foreign : !prod -> !nv_tileas.token

%ok = nv_tileas.async.token_to_async %p : !prod -> !nv_tileas.token

// -----

// Async tokens can be waited for, and give what they deliver.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!tile = tensor<64xf32>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
%t, %v, %m = "test.op"() : () -> (!nv_tileas.token, !nv_tileas.token<tensor<64xf32>>, !nv_tileas.mem_token)
// expected-error@+1 {{'nv_tileas.async.wait' op takes an async token, but got !nv_tileas.async.pipeline.producer_token}}
"nv_tileas.async.wait"(%p) : (!prod) -> ()
// expected-error@+1 {{'nv_tileas.async.wait' op takes an async token, but got !nv_tileas.mem_token}}
"nv_tileas.async.wait"(%m) : (!nv_tileas.mem_token) -> ()
// expected-error@+1 {{'nv_tileas.async.future_wait' op takes an async token, but got !nv_tileas.mem_token}}
"nv_tileas.async.future_wait"(%m) : (!nv_tileas.mem_token) -> ()
// expected-error@+1 {{'nv_tileas.async.wait' op takes one operand, but got 2}}
"nv_tileas.async.wait"(%t, %t) : (!nv_tileas.token, !nv_tileas.token) -> ()
// expected-error@+1 {{'nv_tileas.async.wait' op gives [f32], but its token delivers []}}
%1 = nv_tileas.async.wait %t : !nv_tileas.token -> f32
// expected-error@+1 {{'nv_tileas.async.future_wait' op gives [f32], but its token delivers [tensor<64xf32>]}}
%2 = nv_tileas.async.future_wait %v : !nv_tileas.token<tensor<64xf32>> -> f32

%ok = nv_tileas.async.future_wait %v : !nv_tileas.token<tensor<64xf32>> -> !tile

// -----

// Written in short, a token of the wrong kind is found while reading.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>

%b = "test.op"() : () -> !view
%p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
%i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// expected-error@+1 {{'nv_tileas.async.wait' op !nv_tileas.async.pipeline.producer_token should be of base attribute nv_tileas.token}}
nv_tileas.async.wait %p : !prod
