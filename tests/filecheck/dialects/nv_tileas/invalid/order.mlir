// Of several things that are wrong the first in the order of the checks is reported, here one less
// each time.  For memory operations see memory.mlir, for products compute.mlir and block_scaled.mlir.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// A body: its arguments, its end, what it yields, the iterator, the token, the number of stages.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!three = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 3>
!other = !nv_tileas.async.pipeline.iterator<tensor<32xf32>, 3>
!tile = tensor<64xf32>

// expected-note@+1 {{the token is made here}}
func.func @produce(%b: !view, %foreign: !prod, %small: !other, %three: !three) {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  // expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op takes a producer token and an iterator, but got (!nv_tileas.async.pipeline.producer_token)}}
  %0 = "nv_tileas.async.pipeline.produce_one"(%foreign) ({
  ^bb0(%x: f32):
    "test.termop"() : () -> ()
  }) : (!prod) -> !prod
  // expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op requires attribute 'producer_types'}}
  %1 = "nv_tileas.async.pipeline.produce_one"(%foreign, %small) ({
  ^bb0(%x: f32):
    "test.termop"() : () -> ()
  }) : (!prod, !other) -> !prod
  // expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op expects region arguement types to match with producer types [tensor<64xf32>], but got: [f32]}}
  %2 = "nv_tileas.async.pipeline.produce_one"(%foreign, %small) <{producer_types = [!tile]}> ({
  ^bb0(%x: f32):
    "test.termop"() : () -> ()
  }) : (!prod, !other) -> !prod
  // expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op pipeline regions must end with 'nv_tileas.async.pipeline.yield'}}
  %3 = "nv_tileas.async.pipeline.produce_one"(%foreign, %small) <{producer_types = [!tile]}> ({
  ^bb0(%x: !tile):
    "test.termop"() : () -> ()
  }) : (!prod, !other) -> !prod
  // expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op expects region result types to be match with operation result types [tensor<64xf32>], but got: []}}
  %4 = "nv_tileas.async.pipeline.produce_one"(%foreign, %small) <{producer_types = [!tile]}> ({
  ^bb0(%x: !tile):
    nv_tileas.async.pipeline.yield
  }) : (!prod, !other) -> !prod
  // expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op rotates over [tensor<32xf32>], but producer_types is [tensor<64xf32>]}}
  %5 = "nv_tileas.async.pipeline.produce_one"(%foreign, %small) <{producer_types = [!tile]}> ({
  ^bb0(%x: !tile):
    nv_tileas.async.pipeline.yield %x : !tile
  }) : (!prod, !other) -> !prod
  // expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op cannot follow its token to a pipeline: it is an argument of 'func.func'}}
  %6 = "nv_tileas.async.pipeline.produce_one"(%foreign, %three) <{producer_types = [!tile]}> ({
  ^bb0(%x: !tile):
    nv_tileas.async.pipeline.yield %x : !tile
  }) : (!prod, !three) -> !prod
  // expected-error@+1 {{'nv_tileas.async.pipeline.produce_one' op rotates through 3 stages, but the pipeline has 2}}
  %7 = "nv_tileas.async.pipeline.produce_one"(%p, %three) <{producer_types = [!tile]}> ({
  ^bb0(%x: !tile):
    nv_tileas.async.pipeline.yield %x : !tile
  }) : (!prod, !three) -> !prod
  %i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
  %8 = "nv_tileas.async.pipeline.produce_one"(%p, %i) <{producer_types = [!tile]}> ({
  ^bb0(%x: !tile):
    nv_tileas.async.pipeline.yield %x : !tile
  }) : (!prod, !iter) -> !prod
  func.return
}

// -----

// A step: the step before, the number of stages, the consumer's index.

!view = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 2>
!three = !nv_tileas.async.pipeline.iterator<tensor<64xf32>, 3>

// expected-note@+1 {{the token is made here}}
func.func @consume(%b: !view, %foreign: !cons, %three: !three) {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %b {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %c : !cons -> !iter
  // expected-error@+1 {{'nv_tileas.async.pipeline.consumer_wait' op cannot follow its token to a pipeline: it is an argument of 'func.func'}}
  %0 = nv_tileas.async.pipeline.consumer_wait %foreign, %three {consumer_idx = -1 : i32} : !cons, !three -> !cons
  // expected-error@+1 {{'nv_tileas.async.pipeline.consumer_wait' op rotates through 3 stages, but the pipeline has 2}}
  %1 = nv_tileas.async.pipeline.consumer_wait %c, %three {consumer_idx = -1 : i32} : !cons, !three -> !cons
  // expected-error@+1 {{'nv_tileas.async.pipeline.consumer_wait' op consumer_idx out of range for consumer group}}
  %2 = nv_tileas.async.pipeline.consumer_wait %c, %i {consumer_idx = -1 : i32} : !cons, !iter -> !cons
  %3 = nv_tileas.async.pipeline.consumer_wait %c, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons
  func.return
}

// -----

// Agents: bodies, budgets, warps, the launch, isolation.

// expected-note@+1 {{defined here}}
func.func @agents(%x: f32) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, num_ctas = 1>} {
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op has no results, but agent 0 yields some}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 300, 0>, isolated = true, num_warps = array<i32: 4, 8>, warp_id = array<i32: 0, 0>} {
    nv_tileas.async.pipeline.yield %x : f32
  }, {
    "test.op"(%x) : (f32) -> ()
  }
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op max_regs are 0 to 256, not 300}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 300, 0>, isolated = true, num_warps = array<i32: 4, 8>, warp_id = array<i32: 0, 0>} {
  }, {
    "test.op"(%x) : (f32) -> ()
  }
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op agent regions disagree on warp count}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = true, num_warps = array<i32: 4, 8>, warp_id = array<i32: 0, 0>} {
  }, {
    "test.op"(%x) : (f32) -> ()
  }
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op agent warp count exceeds module budget}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = true, num_warps = array<i32: 4, 8>, warp_id = array<i32: 0, 4>} {
  }, {
    "test.op"(%x) : (f32) -> ()
  }
  // expected-note@+1 {{isolated here}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = true, num_warps = array<i32: 2, 2>, warp_id = array<i32: 0, 2>} {
  }, {
    // expected-error@+1 {{uses %x from outside of the isolated agent 1}}
    "test.op"(%x) : (f32) -> ()
  }
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 2, 2>, warp_id = array<i32: 0, 2>} {
  }, {
    "test.op"(%x) : (f32) -> ()
  }
  func.return
}

// -----

// A descriptor: its atom, its view, the box, the type of its extents, the mode, the alignment.

!flat = !nv_tileas.tiled_view<64xf16, gmem>
!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>

func.func @descriptors(%flat: !flat, %v: !view, %j: i32, %k: index) {
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op requires attribute 'atom'}}
  %0 = nv_tileas.make_tiled_tma_desc %flat box[%j : i32] {mode = "scatter4", alignment = 64 : i32} : !flat -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op invalid TMA atom type}}
  %1 = nv_tileas.make_tiled_tma_desc %flat box[%j : i32] {atom = #nv_tileas<atom ldg>, mode = "scatter4", alignment = 64 : i32} : !flat -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op atom tma_load_2d moves 2 dimensions, not those of !nv_tileas.tiled_view<64xf16, gmem>}}
  %2 = nv_tileas.make_tiled_tma_desc %flat box[%j : i32] {atom = #nv_tileas<atom tma_load_2d>, mode = "scatter4", alignment = 64 : i32} : !flat -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op tmaBoxDim and atomBoxDim length mismatch}}
  %3 = nv_tileas.make_tiled_tma_desc %v box[%j : i32] {atom = #nv_tileas<atom tma_load_2d>, mode = "scatter4", alignment = 64 : i32} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expects CoordType is same as memref index type, but got i32}}
  %4 = nv_tileas.make_tiled_tma_desc %v box[%j : i32, %k] {atom = #nv_tileas<atom tma_load_2d>, mode = "scatter4", alignment = 64 : i32} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op unsupported tma load mode 'scatter4'}}
  %5 = nv_tileas.make_tiled_tma_desc %v box[%k, %k] {atom = #nv_tileas<atom tma_load_2d>, mode = "scatter4", alignment = 64 : i32} : !view -> !nv_tileas.tma_desc
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expected tma descriptor pointer to have alignment at least 128}}
  %6 = nv_tileas.make_tiled_tma_desc %v box[%k, %k] {atom = #nv_tileas<atom tma_load_2d>, mode = "tiled", alignment = 64 : i32} : !view -> !nv_tileas.tma_desc
  %7 = nv_tileas.make_tiled_tma_desc %v box[%k, %k] {atom = #nv_tileas<atom tma_load_2d>, mode = "tiled", alignment = 128 : i32} : !view -> !nv_tileas.tma_desc
  func.return
}
