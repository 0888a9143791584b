// Pipelines: create one, step through it, bracket the steps, divide the work.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s --check-prefix=XDSL

!view = !nv_tileas.tiled_view<2x64x64xf16, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tile<64x64xf16>, 2>

// A pipeline is made of a buffer; the two attributes at the end may be left out.

func.func @create(%buffer: !view) {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %p2, %c2 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 127 : i8, sharedMem = true, dynamic = false} : !view -> !prod, !cons
  func.return
}

// XDSL: %p, %c = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8}

// CHECK-LABEL: func.func @create(%buffer: !view) {
// CHECK-NEXT:    %p, %c = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// CHECK-NEXT:    %p2, %c2 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 127 : i8, sharedMem = true, dynamic = false} : !view -> !prod, !cons
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// An iterator designates the current stage; either token yields one.

func.func @iterate(%buffer: !view) {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
  %j = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
  %k = nv_tileas.async.pipeline.create_iterator %c : !cons -> !nv_tileas.async.pipeline.iterator<tile<64x64xf16>>
  func.return
}

// CHECK-LABEL: func.func @iterate(%buffer: !view) {
// CHECK-NEXT:    %p, %c = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// CHECK-NEXT:    %i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
// CHECK-NEXT:    %j = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
// CHECK-NEXT:    %k = nv_tileas.async.pipeline.create_iterator %c : !cons -> !nv_tileas.async.pipeline.iterator<tensor<64x64xf16>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// The life of a stage: acquire, write, commit; wait, read, release.

func.func @steps(%buffer: !view) {
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %p1 = nv_tileas.async.pipeline.producer_acquire %p0, %i : !prod, !iter -> !prod
  %p2 = nv_tileas.async.pipeline.producer_write %p1, %i : !prod, !iter -> !prod
  %p3 = nv_tileas.async.pipeline.producer_commit %p2 : !prod -> !prod
  %c1 = nv_tileas.async.pipeline.consumer_wait %c0, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons
  %c2 = nv_tileas.async.pipeline.consumer_read %c1, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons
  %c3 = nv_tileas.async.pipeline.consumer_release %c2 : !cons -> !cons
  func.return
}

// CHECK-LABEL: func.func @steps(%buffer: !view) {
// CHECK-NEXT:    %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// CHECK-NEXT:    %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
// CHECK-NEXT:    %p1 = nv_tileas.async.pipeline.producer_acquire %p0, %i : !prod, !iter -> !prod
// CHECK-NEXT:    %p2 = nv_tileas.async.pipeline.producer_write %p1, %i : !prod, !iter -> !prod
// CHECK-NEXT:    %p3 = nv_tileas.async.pipeline.producer_commit %p2 : !prod -> !prod
// CHECK-NEXT:    %c1 = nv_tileas.async.pipeline.consumer_wait %c0, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons
// CHECK-NEXT:    %c2 = nv_tileas.async.pipeline.consumer_read %c1, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons
// CHECK-NEXT:    %c3 = nv_tileas.async.pipeline.consumer_release %c2 : !cons -> !cons
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Write and read may have a body that gets the values of the stage.

func.func @step_bodies(%buffer: !view) {
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %p1 = nv_tileas.async.pipeline.producer_write %p0, %i : !prod, !iter -> !prod {
  ^bb0(%stage: tile<64x64xf16>):
    nv_tileas.async.pipeline.yield %stage : tile<64x64xf16>
  }
  %c1, %tile = nv_tileas.async.pipeline.consumer_read %c0, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons, tile<64x64xf16> {
  ^bb0(%stage: tile<64x64xf16>):
    nv_tileas.async.pipeline.yield %stage : tile<64x64xf16>
  }
  func.return
}

// CHECK-LABEL: func.func @step_bodies(%buffer: !view) {
// CHECK-NEXT:    %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// CHECK-NEXT:    %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
// CHECK-NEXT:    %p1 = nv_tileas.async.pipeline.producer_write %p0, %i : !prod, !iter -> !prod {
// CHECK-NEXT:    ^bb0(%stage: tensor<64x64xf16>):
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %stage : tensor<64x64xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    %c1, %tile = nv_tileas.async.pipeline.consumer_read %c0, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons, tensor<64x64xf16> {
// CHECK-NEXT:    ^bb0(%stage_1: tensor<64x64xf16>):
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %stage_1 : tensor<64x64xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Bracketed: the body works on the stage, and yields it.

func.func @brackets(%buffer: !view) {
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %p1 = nv_tileas.async.pipeline.produce_one %p0, %i {producer_types = [tile<64x64xf16>]} : (!prod, !iter) -> !prod {
  ^bb0(%stage: tile<64x64xf16>):
    nv_tileas.async.pipeline.yield %stage : tile<64x64xf16>
  }
  %c1 = nv_tileas.async.pipeline.consume_one %c0, %i {consumer_idx = 0 : i32, consumer_types = [tile<64x64xf16>]} : (!cons, !iter) -> !cons {
  ^bb0(%stage: tile<64x64xf16>):
    nv_tileas.async.pipeline.yield %stage : tile<64x64xf16>
  }
  func.return
}

// CHECK-LABEL: func.func @brackets(%buffer: !view) {
// CHECK-NEXT:    %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// CHECK-NEXT:    %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
// CHECK-NEXT:    %p1 = nv_tileas.async.pipeline.produce_one %p0, %i {producer_types = [tensor<64x64xf16>]} : (!prod, !iter) -> !prod {
// CHECK-NEXT:    ^bb0(%stage: tensor<64x64xf16>):
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %stage : tensor<64x64xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    %c1 = nv_tileas.async.pipeline.consume_one %c0, %i {consumer_idx = 0 : i32, consumer_types = [tensor<64x64xf16>]} : (!cons, !iter) -> !cons {
// CHECK-NEXT:    ^bb0(%stage_1: tensor<64x64xf16>):
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %stage_1 : tensor<64x64xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Results behind the token take what the body yields; a consumer may say producer_types too.

func.func @payload(%buffer: !view) {
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %c1, %x, %n = nv_tileas.async.pipeline.consume_one %c0, %i {consumer_idx = 0 : i32, producer_types = [tile<64x64xf16>]} : (!cons, !iter) -> (!cons, tile<64x64xf16>, index) {
  ^bb0(%stage: tile<64x64xf16>):
    %n0 = "test.op"() : () -> index
    nv_tileas.async.pipeline.yield %stage, %n0 : tile<64x64xf16>, index
  }
  func.return
}

// CHECK-LABEL: func.func @payload(%buffer: !view) {
// CHECK-NEXT:    %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// CHECK-NEXT:    %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
// CHECK-NEXT:    %c1, %x, %n = nv_tileas.async.pipeline.consume_one %c0, %i {consumer_idx = 0 : i32, producer_types = [tensor<64x64xf16>]} : (!cons, !iter) -> (!cons, tensor<64x64xf16>, index) {
// CHECK-NEXT:    ^bb0(%stage: tensor<64x64xf16>):
// CHECK-NEXT:      %n0 = "test.op"() : () -> index
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %stage, %n0 : tensor<64x64xf16>, index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// The async forms return before the stage is done: a token tells, commit and release follow.

func.func @async(%buffer: !view) {
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %p1, %full = nv_tileas.async.pipeline.produce_one_async %p0, %i {producer_types = [tile<64x64xf16>], pipeline_stage = 0 : i32} : (!prod, !iter) -> (!prod, !nv_tileas.token) {
  ^bb0(%stage: tile<64x64xf16>):
    nv_tileas.async.pipeline.yield %stage : tile<64x64xf16>
  }
  %p2 = nv_tileas.async.pipeline.producer_commit %p1 : !prod -> !prod
  %c1, %done, %x = nv_tileas.async.pipeline.consume_one_async %c0, %i {consumer_idx = 0 : i32, consumer_types = [tile<64x64xf16>], pipeline_stage = 1 : i32} : (!cons, !iter) -> (!cons, !nv_tileas.token, tile<64x64xf16>) {
  ^bb0(%stage: tile<64x64xf16>):
    nv_tileas.async.pipeline.yield %stage : tile<64x64xf16>
  }
  %c2 = nv_tileas.async.pipeline.consumer_release %c1 : !cons -> !cons
  func.return
}

// CHECK-LABEL: func.func @async(%buffer: !view) {
// CHECK-NEXT:    %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// CHECK-NEXT:    %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
// CHECK-NEXT:    %p1, %full = nv_tileas.async.pipeline.produce_one_async %p0, %i {pipeline_stage = 0 : i32, producer_types = [tensor<64x64xf16>]} : (!prod, !iter) -> (!prod, !nv_tileas.token) {
// CHECK-NEXT:    ^bb0(%stage: tensor<64x64xf16>):
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %stage : tensor<64x64xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    %p2 = nv_tileas.async.pipeline.producer_commit %p1 : !prod -> !prod
// CHECK-NEXT:    %c1, %done, %x = nv_tileas.async.pipeline.consume_one_async %c0, %i {pipeline_stage = 1 : i32, consumer_idx = 0 : i32, consumer_types = [tensor<64x64xf16>]} : (!cons, !iter) -> (!cons, !nv_tileas.token, tensor<64x64xf16>) {
// CHECK-NEXT:    ^bb0(%stage_1: tensor<64x64xf16>):
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %stage_1 : tensor<64x64xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    %c2 = nv_tileas.async.pipeline.consumer_release %c1 : !cons -> !cons
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A stage of two tiles: the payload of the iterator is their tuple; a body may take iterators.

func.func @two_tiles(%buffer: !view) {
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>, tensor<64x32xf16>>, 2, smem>
  %p1 = nv_tileas.async.pipeline.produce_one %p0, %i {producer_types = [tile<64x64xf16>, tile<64x32xf16>]} : (!prod, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>, tensor<64x32xf16>>, 2, smem>) -> !prod {
  ^bb0(%a: tile<64x64xf16>, %b: !nv_tileas.async.pipeline.iterator<tile<64x32xf16>>):
    %filled = "test.op"(%b) : (!nv_tileas.async.pipeline.iterator<tile<64x32xf16>>) -> tile<64x32xf16>
    nv_tileas.async.pipeline.yield %a, %filled : tile<64x64xf16>, tile<64x32xf16>
  }
  func.return
}

// CHECK-LABEL: func.func @two_tiles(%buffer: !view) {
// CHECK-NEXT:    %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// CHECK-NEXT:    %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>, tensor<64x32xf16>>, 2, smem>
// CHECK-NEXT:    %p1 = nv_tileas.async.pipeline.produce_one %p0, %i {producer_types = [tensor<64x64xf16>, tensor<64x32xf16>]} : (!prod, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>, tensor<64x32xf16>>, 2, smem>) -> !prod {
// CHECK-NEXT:    ^bb0(%a: tensor<64x64xf16>, %b: !nv_tileas.async.pipeline.iterator<tensor<64x32xf16>>):
// CHECK-NEXT:      %filled = "test.op"(%b) : (!nv_tileas.async.pipeline.iterator<tensor<64x32xf16>>) -> tensor<64x32xf16>
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %a, %filled : tensor<64x64xf16>, tensor<64x32xf16>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Loops, conditions and the regions of agents carry tokens and iterators.

func.func @control_flow(%buffer: !view, %n: index, %cond: i1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false} agent 0 {
    %pn, %in = scf.for %k = %zero to %n step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
      %p1 = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
      %p2 = scf.if %cond -> (!prod) {
        %written = nv_tileas.async.pipeline.producer_write %p1, %i : !prod, !iter -> !prod
        scf.yield %written : !prod
      } else {
        scf.yield %p1 : !prod
      }
      %p3 = nv_tileas.async.pipeline.producer_commit %p2 : !prod -> !prod
      %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
      scf.yield %p3, %i1 : !prod, !iter
    }
  }, agent 1 {
    %cn, %in = scf.while (%c = %c0, %i = %i0) : (!cons, !iter) -> (!cons, !iter) {
      %more = "test.op"() : () -> i1
      scf.condition(%more) %c, %i : !cons, !iter
    } do {
    ^bb0(%c: !cons, %i: !iter):
      %c1 = nv_tileas.async.pipeline.consumer_wait %c, %i {consumer_idx = 0 : i32} : !cons, !iter -> !cons
      %c2 = nv_tileas.async.pipeline.consumer_release %c1 : !cons -> !cons
      %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
      scf.yield %c2, %i1 : !cons, !iter
    }
    %c3 = nv_tileas.async.pipeline.consumer_wait %cn, %in {consumer_idx = 0 : i32} : !cons, !iter -> !cons
  }
  func.return
}

// CHECK-LABEL: func.func @control_flow(%buffer: !view, %n: index, %cond: i1) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %one = arith.constant 1 : index
// CHECK-NEXT:    %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %buffer {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
// CHECK-NEXT:    %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false} agent 0 {
// CHECK-NEXT:      %pn, %in = scf.for %k = %zero to %n step %one iter_args(%p = %p0, %i = %i0) -> (!prod, !iter) {
// CHECK-NEXT:        %p1 = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
// CHECK-NEXT:        %p2 = scf.if %cond -> (!prod) {
// CHECK-NEXT:          %written = nv_tileas.async.pipeline.producer_write %p1, %i : !prod, !iter -> !prod
// CHECK-NEXT:          scf.yield %written : !prod
// CHECK-NEXT:        } else {
// CHECK-NEXT:          scf.yield %p1 : !prod
// CHECK-NEXT:        }
// CHECK-NEXT:        %p3 = nv_tileas.async.pipeline.producer_commit %p2 : !prod -> !prod
// CHECK-NEXT:        %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
// CHECK-NEXT:        scf.yield %p3, %i1 : !prod, !iter
// CHECK-NEXT:      }
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %cn, %in_1 = scf.while (%c = %c0, %i_1 = %i0) : (!cons, !iter) -> (!cons, !iter) {
// CHECK-NEXT:        %more = "test.op"() : () -> i1
// CHECK-NEXT:        scf.condition(%more) %c, %i_1 : !cons, !iter
// CHECK-NEXT:      } do {
// CHECK-NEXT:      ^bb0(%c_1: !cons, %i_2: !iter):
// CHECK-NEXT:        %c1 = nv_tileas.async.pipeline.consumer_wait %c_1, %i_2 {consumer_idx = 0 : i32} : !cons, !iter -> !cons
// CHECK-NEXT:        %c2 = nv_tileas.async.pipeline.consumer_release %c1 : !cons -> !cons
// CHECK-NEXT:        %i1_1 = nv_tileas.async.pipeline.inc_iter %i_2 : !iter -> !iter
// CHECK-NEXT:        scf.yield %c2, %i1_1 : !cons, !iter
// CHECK-NEXT:      }
// CHECK-NEXT:      %c3 = nv_tileas.async.pipeline.consumer_wait %cn, %in_1 {consumer_idx = 0 : i32} : !cons, !iter -> !cons
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Agents may be written without labels; a mapped switch says which warps they have.

func.func @agents() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 2 : i32, max_regs = array<i32: 0, 240, 240>, isolated = true, num_warps = array<i32: 1, 4, 4>, warp_id = array<i32: 0, 4, 8>} {
    "test.op"() {producer} : () -> ()
  }, {
    "test.op"() {consumer = 0 : i32} : () -> ()
  }, {
  }
  func.return
}

// CHECK-LABEL: func.func @agents() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 2 : i32, max_regs = array<i32: 0, 240, 240>, isolated = true, num_warps = array<i32: 1, 4, 4>, warp_id = array<i32: 0, 4, 8>} agent 0 {
// CHECK-NEXT:      "test.op"() {producer} : () -> ()
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      "test.op"() {consumer = 0 : i32} : () -> ()
// CHECK-NEXT:    }, agent 2 {
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
