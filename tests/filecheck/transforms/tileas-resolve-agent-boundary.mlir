// `tileas-resolve-agent-boundary`: transfer values that cross agents; what must be left alone.

// RUN: tileas-opt %s -p tileas-resolve-agent-boundary | filecheck %s
// RUN: tileas-opt %s -p tileas-resolve-agent-boundary,tileas-resolve-agent-boundary | filecheck %s
// RUN: xdsl-opt %s -p tileas-resolve-agent-boundary,verify-dominance | tileas-opt | filecheck %s --check-prefix=PLAIN

#load = #nv_tileas<atom ldg>
#store = #nv_tileas<atom stg>
#any = #nv_tileas<atom unknown_copy>
#smem = #nv_tileas<space smem>
#rA = #nv_tileas.blocked<"64:1@thread">
#rB = #nv_tileas.blocked<"(32,2):(1@thread,1@value)">
!plain = tensor<64xf32>
!shared = tensor<64xf32, #smem>
!slots = tensor<2x64xf32, #smem>
!tileA = tensor<64xf32, #rA>
!tileB = tensor<64xf32, #rB>
!window = !nv_tileas.tiled_view<64xf32, gmem>
!one = !nv_tileas.tiled_view<64xf32, smem>
!two = !nv_tileas.tiled_view<2x64xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter1 = !nv_tileas.async.pipeline.iterator<!shared, 1, smem>
!iter2 = !nv_tileas.async.pipeline.iterator<!shared, 2, smem>
!token = !nv_tileas.token<!plain>

// 1. Resolve Agent Boundaries: a tile in registers of one agent goes through shared memory, and comes
// in the layout that the other agent wants.  A pipeline of one stage orders the two.

func.func @handoff(%v: !window, %w: !window, %i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tileA
  }, agent 1 {
    %y = nv_tileas.convert_layout %x : !tileA -> !tileB
    nv_tileas.tiled_store %y, %w[%i] {atom = #store} : !tileB, !window
  }
  func.return
}

// CHECK-LABEL: func.func @handoff(%v: !window, %w: !window, %i: index) {
// CHECK-NEXT:    %x_shared = nv_tileas.alloc_tensor {nv_tileas.handoff = {id = 0 : i32, from = 0 : i32, to = array<i32: 1>, barrier = "pipe"}} : !shared
// CHECK-NEXT:    %0 = nv_tileas.view %x_shared : !shared -> !one
// CHECK-NEXT:    %x_give, %x_take = nv_tileas.async.pipeline.create_pipeline %0 {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = true} : !one -> !prod, !cons
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
// CHECK-NEXT:      %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tileA
// CHECK-NEXT:      %1 = nv_tileas.async.pipeline.create_iterator %x_give : !prod -> !iter1
// CHECK-NEXT:      %2 = nv_tileas.async.pipeline.produce_one %x_give, %1 {producer_types = [!shared]} : (!prod, !iter1) -> !prod {
// CHECK-NEXT:      ^bb0(%3: !shared):
// CHECK-NEXT:        nv_tileas.copy %x, %3 {atom = #any} : !tileA, !shared
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %3 : !shared
// CHECK-NEXT:      }
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %4 = nv_tileas.async.pipeline.create_iterator %x_take : !cons -> !iter1
// CHECK-NEXT:      %5, %x_1 = nv_tileas.async.pipeline.consume_one %x_take, %4 {consumer_idx = 0 : i32, consumer_types = [!shared]} : (!cons, !iter1) -> (!cons, !tileB) {
// CHECK-NEXT:      ^bb0(%6: !shared):
// CHECK-NEXT:        %7 = nv_tileas.convert_layout %6 : !shared -> !tileB
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %7 : !tileB
// CHECK-NEXT:      }
// CHECK-NEXT:      nv_tileas.tiled_store %x_1, %w[%i] {atom = #store} : !tileB, !window
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 1, not: constants, scalars, views, memory and the tokens of pipelines cross as they are.

func.func @direct(%v: !window, %w: !window, %i: index, %p: i1) {
  %c = arith.constant dense<1.0> : !plain
  %j = arith.addi %i, %i : index
  %s = nv_tileas.alloc_tensor : !shared
  %view = nv_tileas.view %s : !shared -> !one
  %give, %take = nv_tileas.async.pipeline.create_pipeline %view {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !one -> !prod, !cons
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    %at = nv_tileas.async.pipeline.create_iterator %give : !prod -> !iter1
    %given = nv_tileas.async.pipeline.produce_one %give, %at {producer_types = [!shared]} : (!prod, !iter1) -> !prod {
    ^bb0(%slot: !shared):
      nv_tileas.copy %c, %slot {atom = #any} : !plain, !shared
      nv_tileas.async.pipeline.yield %slot : !shared
    }
  }, agent 1 {
    nv_tileas.tiled_store %c, %w[%j] {atom = #store} : !plain, !window
    %x = nv_tileas.tiled_load %v[%j] {atom = #load} : !window -> !plain
    "test.op"(%s, %take, %p) : (!shared, !cons, i1) -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @direct(%v: !window, %w: !window, %i: index, %p: i1) {
// CHECK-NEXT:    %c = arith.constant dense<1.000000e+00> : !plain
// CHECK-NEXT:    %j = arith.addi %i, %i : index
// CHECK-NEXT:    %s = nv_tileas.alloc_tensor : !shared
// CHECK-NEXT:    %view = nv_tileas.view %s : !shared -> !one
// CHECK-NEXT:    %give, %take = nv_tileas.async.pipeline.create_pipeline %view {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !one -> !prod, !cons
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
// CHECK-NEXT:      %at = nv_tileas.async.pipeline.create_iterator %give : !prod -> !iter1
// CHECK-NEXT:      %given = nv_tileas.async.pipeline.produce_one %give, %at {producer_types = [!shared]} : (!prod, !iter1) -> !prod {
// CHECK-NEXT:      ^bb0(%slot: !shared):
// CHECK-NEXT:        nv_tileas.copy %c, %slot {atom = #any} : !plain, !shared
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %slot : !shared
// CHECK-NEXT:      }
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      nv_tileas.tiled_store %c, %w[%j] {atom = #store} : !plain, !window
// CHECK-NEXT:      %x = nv_tileas.tiled_load %v[%j] {atom = #load} : !window -> !plain
// CHECK-NEXT:      "test.op"(%s, %take, %p) : (!shared, !cons, i1) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 2. What the code around the switch defines is put down by all threads, who meet before they split.

func.func @around(%v: !window, %w: !window, %i: index) {
  %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !plain
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    nv_tileas.tiled_store %x, %w[%i] {atom = #store} : !plain, !window
  }, agent 1 {
    %y = arith.addf %x, %x : !plain
    "test.op"(%y) : (!plain) -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @around(%v: !window, %w: !window, %i: index) {
// CHECK-NEXT:    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !plain
// CHECK-NEXT:    %x_shared = nv_tileas.alloc_tensor {nv_tileas.handoff = {id = 1 : i32, from = -1 : i32, to = array<i32: 0, 1>, barrier = "block"}} : !shared
// CHECK-NEXT:    nv_tileas.copy %x, %x_shared {atom = #any} : !plain, !shared
// CHECK-NEXT:    "gpu.barrier"() : () -> ()
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
// CHECK-NEXT:      %x_1 = nv_tileas.convert_layout %x_shared : !shared -> !plain
// CHECK-NEXT:      nv_tileas.tiled_store %x_1, %w[%i] {atom = #store} : !plain, !window
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %x_2 = nv_tileas.convert_layout %x_shared : !shared -> !plain
// CHECK-NEXT:      %y = arith.addf %x_2, %x_2 : !plain
// CHECK-NEXT:      "test.op"(%y) : (!plain) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 2, not: registers of the first 64 threads, which are those of the agent that uses them; new storage
// moves to the only agent that uses it; a tile of one scalar is made again.

func.func @in_place(%v: !window, %w: !window, %i: index, %f: f32) {
  %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tileA
  %s = nv_tileas.alloc_tensor : !plain
  %t = tensor.splat %f : !plain
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 2, 4>, warp_id = array<i32: 0, 4>} agent 0 {
    nv_tileas.tiled_store %x, %w[%i] {atom = #store} : !tileA, !window
  }, agent 1 {
    %y = nv_tileas.insert_slice %t into %s[0][64][1] : !plain into !plain
    "test.op"(%y) : (!plain) -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @in_place(%v: !window, %w: !window, %i: index, %f: f32) {
// CHECK-NEXT:    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tileA
// CHECK-NEXT:    %t = tensor.splat %f : !plain
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 2, 4>, warp_id = array<i32: 0, 4>} agent 0 {
// CHECK-NEXT:      nv_tileas.tiled_store %x, %w[%i] {atom = #store} : !tileA, !window
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %s = nv_tileas.alloc_tensor : !plain
// CHECK-NEXT:      %t_1 = tensor.splat %f : !plain
// CHECK-NEXT:      %y = nv_tileas.insert_slice %t_1 into %s[0][64][1] : !plain into !plain
// CHECK-NEXT:      "test.op"(%y) : (!plain) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 3. In a loop the tile goes through the stages of a pipeline, whose tokens both loops carry; the
// counter of one loop is that of the other.

func.func @in_a_loop(%v: !window, %w: !window, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    scf.for %k = %zero to %n step %one {
      %x = nv_tileas.tiled_load %v[%k] {atom = #load} : !window -> !plain
      %next = arith.addi %k, %one : index
    }
  }, agent 1 {
    scf.for %j = %zero to %n step %one {
      nv_tileas.tiled_store %x, %w[%next] {atom = #store} : !plain, !window
    }
  }
  func.return
}

// CHECK-LABEL: func.func @in_a_loop(%v: !window, %w: !window, %n: index) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %one = arith.constant 1 : index
// CHECK-NEXT:    %x_shared = nv_tileas.alloc_tensor {nv_tileas.handoff = {id = 2 : i32, from = 0 : i32, to = array<i32: 1>, barrier = "pipe"}} : !slots
// CHECK-NEXT:    %0 = nv_tileas.view %x_shared : !slots -> !two
// CHECK-NEXT:    %x_give, %x_take = nv_tileas.async.pipeline.create_pipeline %0 {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = true} : !two -> !prod, !cons
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
// CHECK-NEXT:      %1 = nv_tileas.async.pipeline.create_iterator %x_give : !prod -> !iter2
// CHECK-NEXT:      %2, %3 = scf.for %k = %zero to %n step %one iter_args(%4 = %x_give, %5 = %1) -> (!prod, !iter2) {
// CHECK-NEXT:        %x = nv_tileas.tiled_load %v[%k] {atom = #load} : !window -> !plain
// CHECK-NEXT:        %6 = nv_tileas.async.pipeline.produce_one %4, %5 {producer_types = [!shared]} : (!prod, !iter2) -> !prod {
// CHECK-NEXT:        ^bb0(%7: !shared):
// CHECK-NEXT:          nv_tileas.copy %x, %7 {atom = #any} : !plain, !shared
// CHECK-NEXT:          nv_tileas.async.pipeline.yield %7 : !shared
// CHECK-NEXT:        }
// CHECK-NEXT:        %8 = nv_tileas.async.pipeline.inc_iter %5 : !iter2 -> !iter2
// CHECK-NEXT:        %next = arith.addi %k, %one : index
// CHECK-NEXT:        scf.yield %6, %8 : !prod, !iter2
// CHECK-NEXT:      }
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %9 = nv_tileas.async.pipeline.create_iterator %x_take : !cons -> !iter2
// CHECK-NEXT:      %10, %11 = scf.for %j = %zero to %n step %one iter_args(%12 = %x_take, %13 = %9) -> (!cons, !iter2) {
// CHECK-NEXT:        %next_1 = arith.addi %j, %one : index
// CHECK-NEXT:        %14, %x_1 = nv_tileas.async.pipeline.consume_one %12, %13 {consumer_idx = 0 : i32, consumer_types = [!shared]} : (!cons, !iter2) -> (!cons, !plain) {
// CHECK-NEXT:        ^bb0(%15: !shared):
// CHECK-NEXT:          %16 = nv_tileas.convert_layout %15 : !shared -> !plain
// CHECK-NEXT:          nv_tileas.async.pipeline.yield %16 : !plain
// CHECK-NEXT:        }
// CHECK-NEXT:        %17 = nv_tileas.async.pipeline.inc_iter %13 : !iter2 -> !iter2
// CHECK-NEXT:        nv_tileas.tiled_store %x_1, %w[%next_1] {atom = #store} : !plain, !window
// CHECK-NEXT:        scf.yield %14, %17 : !cons, !iter2
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 4. As many agents as a group has take from one pipeline.

func.func @two_consumers(%v: !window, %i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 2 : i32, max_regs = array<i32: 0, 0, 0>, isolated = false} agent 0 {
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !plain
  }, agent 1 {
    "test.op"(%x) : (!plain) -> ()
  }, agent 2 {
    "test.op"(%x) : (!plain) -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @two_consumers(%v: !window, %i: index) {
// CHECK-NEXT:    %x_shared = nv_tileas.alloc_tensor {nv_tileas.handoff = {id = 3 : i32, from = 0 : i32, to = array<i32: 1, 2>, barrier = "pipe"}} : !shared
// CHECK-NEXT:    %0 = nv_tileas.view %x_shared : !shared -> !one
// CHECK-NEXT:    %x_give, %x_take = nv_tileas.async.pipeline.create_pipeline %0 {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = true} : !one -> !prod, !cons
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 2 : i32, max_regs = array<i32: 0, 0, 0>, isolated = false} agent 0 {
// CHECK-NEXT:      %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !plain
// CHECK-NEXT:      %1 = nv_tileas.async.pipeline.create_iterator %x_give : !prod -> !iter1
// CHECK-NEXT:      %2 = nv_tileas.async.pipeline.produce_one %x_give, %1 {producer_types = [!shared]} : (!prod, !iter1) -> !prod {
// CHECK-NEXT:      ^bb0(%3: !shared):
// CHECK-NEXT:        nv_tileas.copy %x, %3 {atom = #any} : !plain, !shared
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %3 : !shared
// CHECK-NEXT:      }
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %4 = nv_tileas.async.pipeline.create_iterator %x_take : !cons -> !iter1
// CHECK-NEXT:      %5, %x_1 = nv_tileas.async.pipeline.consume_one %x_take, %4 {consumer_idx = 0 : i32, consumer_types = [!shared]} : (!cons, !iter1) -> (!cons, !plain) {
// CHECK-NEXT:      ^bb0(%6: !shared):
// CHECK-NEXT:        %7 = nv_tileas.convert_layout %6 : !shared -> !plain
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %7 : !plain
// CHECK-NEXT:      }
// CHECK-NEXT:      "test.op"(%x_1) : (!plain) -> ()
// CHECK-NEXT:    }, agent 2 {
// CHECK-NEXT:      %8 = nv_tileas.async.pipeline.create_iterator %x_take : !cons -> !iter1
// CHECK-NEXT:      %9, %x_2 = nv_tileas.async.pipeline.consume_one %x_take, %8 {consumer_idx = 1 : i32, consumer_types = [!shared]} : (!cons, !iter1) -> (!cons, !plain) {
// CHECK-NEXT:      ^bb0(%10: !shared):
// CHECK-NEXT:        %11 = nv_tileas.convert_layout %10 : !shared -> !plain
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %11 : !plain
// CHECK-NEXT:      }
// CHECK-NEXT:      "test.op"(%x_2) : (!plain) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 5. Scalars and views of another agent are computed again; what exists once is made before the switch.

func.func @made_in_front(%a: memref<64xf32>, %i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    %j = arith.addi %i, %i : index
    %view = nv_tileas.view %a[%j] : memref<64xf32> -> !window
    %s = nv_tileas.alloc_tensor : !shared
    %slots = nv_tileas.view %s : !shared -> !one
    %give, %take = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !one -> !prod, !cons
  }, agent 1 {
    %at = nv_tileas.async.pipeline.create_iterator %take : !cons -> !iter1
    "test.op"(%view, %s) : (!window, !shared) -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @made_in_front(%a: memref<64xf32>, %i: index) {
// CHECK-NEXT:    %s = nv_tileas.alloc_tensor : !shared
// CHECK-NEXT:    %slots = nv_tileas.view %s : !shared -> !one
// CHECK-NEXT:    %give, %take = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !one -> !prod, !cons
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
// CHECK-NEXT:      %j = arith.addi %i, %i : index
// CHECK-NEXT:      %view = nv_tileas.view %a[%j] : memref<64xf32> -> !window
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %at = nv_tileas.async.pipeline.create_iterator %take : !cons -> !iter1
// CHECK-NEXT:      %j_1 = arith.addi %i, %i : index
// CHECK-NEXT:      %view_1 = nv_tileas.view %a[%j_1] : memref<64xf32> -> !window
// CHECK-NEXT:      "test.op"(%view_1, %s) : (!window, !shared) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 6. Isolated agents see nothing from outside: they compute it themselves.

func.func @isolated() {
  %c = arith.constant 7 : index
  %b = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %i = arith.muli %b, %c : index
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = true} agent 0 {
    "test.op"(%i) : (index) -> ()
  }, agent 1 {
    "test.op"(%c, %i) : (index, index) -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @isolated() {
// CHECK-NEXT:    %c = arith.constant 7 : index
// CHECK-NEXT:    %b = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
// CHECK-NEXT:    %i = arith.muli %b, %c : index
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = true} agent 0 {
// CHECK-NEXT:      %b_1 = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
// CHECK-NEXT:      %c_1 = arith.constant 7 : index
// CHECK-NEXT:      %i_1 = arith.muli %b_1, %c_1 : index
// CHECK-NEXT:      "test.op"(%i_1) : (index) -> ()
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %b_2 = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
// CHECK-NEXT:      %c_2 = arith.constant 7 : index
// CHECK-NEXT:      %i_2 = arith.muli %b_2, %c_2 : index
// CHECK-NEXT:      "test.op"(%c_2, %i_2) : (index, index) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 7. Work in flight is waited for by those who began it; what it delivers is transferred.

func.func @in_flight(%v: !window, %w: !window, %i: index) {
  %t = nv_tileas.async.tiled_load %v[%i] {atom = #load} : !window -> !token
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    %x = nv_tileas.async.wait %t : !token -> !plain
    nv_tileas.tiled_store %x, %w[%i] {atom = #store} : !plain, !window
  }, agent 1 {
  }
  func.return
}

// CHECK-LABEL: func.func @in_flight(%v: !window, %w: !window, %i: index) {
// CHECK-NEXT:    %t = nv_tileas.async.tiled_load %v[%i] {atom = #load} : !window -> !token
// CHECK-NEXT:    %x = nv_tileas.async.wait %t : !token -> !plain
// CHECK-NEXT:    %x_shared = nv_tileas.alloc_tensor {nv_tileas.handoff = {id = 4 : i32, from = -1 : i32, to = array<i32: 0>, barrier = "block"}} : !shared
// CHECK-NEXT:    nv_tileas.copy %x, %x_shared {atom = #any} : !plain, !shared
// CHECK-NEXT:    "gpu.barrier"() : () -> ()
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
// CHECK-NEXT:      %x_1 = nv_tileas.convert_layout %x_shared : !shared -> !plain
// CHECK-NEXT:      nv_tileas.tiled_store %x_1, %w[%i] {atom = #store} : !plain, !window
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 8. Inside an agent not all threads of the block are there to meet: a pipeline orders the agents.

func.func @nested(%v: !window, %w: !window, %i: index) {
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !plain
    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
      nv_tileas.tiled_store %x, %w[%i] {atom = #store} : !plain, !window
    }
  }
  func.return
}

// CHECK-LABEL: func.func @nested(%v: !window, %w: !window, %i: index) {
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
// CHECK-NEXT:      %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !plain
// CHECK-NEXT:      %x_shared = nv_tileas.alloc_tensor {nv_tileas.handoff = {id = 5 : i32, from = -1 : i32, to = array<i32: 0>, barrier = "pipe"}} : !shared
// CHECK-NEXT:      %0 = nv_tileas.view %x_shared : !shared -> !one
// CHECK-NEXT:      %x_give, %x_take = nv_tileas.async.pipeline.create_pipeline %0 {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8, sharedMem = true} : !one -> !prod, !cons
// CHECK-NEXT:      %1 = nv_tileas.async.pipeline.create_iterator %x_give : !prod -> !iter1
// CHECK-NEXT:      %2 = nv_tileas.async.pipeline.produce_one %x_give, %1 {producer_types = [!shared]} : (!prod, !iter1) -> !prod {
// CHECK-NEXT:      ^bb0(%3: !shared):
// CHECK-NEXT:        nv_tileas.copy %x, %3 {atom = #any} : !plain, !shared
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %3 : !shared
// CHECK-NEXT:      }
// CHECK-NEXT:      nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
// CHECK-NEXT:        %4 = nv_tileas.async.pipeline.create_iterator %x_take : !cons -> !iter1
// CHECK-NEXT:        %5, %x_1 = nv_tileas.async.pipeline.consume_one %x_take, %4 {consumer_idx = 0 : i32, consumer_types = [!shared]} : (!cons, !iter1) -> (!cons, !plain) {
// CHECK-NEXT:        ^bb0(%6: !shared):
// CHECK-NEXT:          %7 = nv_tileas.convert_layout %6 : !shared -> !plain
// CHECK-NEXT:          nv_tileas.async.pipeline.yield %7 : !plain
// CHECK-NEXT:        }
// CHECK-NEXT:        nv_tileas.tiled_store %x_1, %w[%i] {atom = #store} : !plain, !window
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 9. A switch that may run again: nobody overwrites what is still read.

func.func @again(%v: !window, %w: !window, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !plain
    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
      nv_tileas.tiled_store %x, %w[%i] {atom = #store} : !plain, !window
    }
  }
  func.return
}

// CHECK-LABEL: func.func @again(%v: !window, %w: !window, %n: index) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %one = arith.constant 1 : index
// CHECK-NEXT:    scf.for %i = %zero to %n step %one {
// CHECK-NEXT:      %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !plain
// CHECK-NEXT:      "gpu.barrier"() : () -> ()
// CHECK-NEXT:      %x_shared = nv_tileas.alloc_tensor {nv_tileas.handoff = {id = 6 : i32, from = -1 : i32, to = array<i32: 0>, barrier = "block"}} : !shared
// CHECK-NEXT:      nv_tileas.copy %x, %x_shared {atom = #any} : !plain, !shared
// CHECK-NEXT:      "gpu.barrier"() : () -> ()
// CHECK-NEXT:      nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
// CHECK-NEXT:        %x_1 = nv_tileas.convert_layout %x_shared : !shared -> !plain
// CHECK-NEXT:        nv_tileas.tiled_store %x_1, %w[%i] {atom = #store} : !plain, !window
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Plain xDSL reads it too.

// PLAIN: nv_tileas.handoff = {id = 0 : i32
// PLAIN: nv_tileas.handoff = {id = 6 : i32
