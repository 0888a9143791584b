// What cannot cross from agent to agent is an error at the operation that uses it.

// RUN: tileas-opt %s -p tileas-resolve-agent-boundary --split-input-file --verify-diagnostics

// A tile of one arm of a branch.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%v: !window, %i: index, %p: i1) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    scf.if %p {
    // expected-note@+1 {{defined here}}
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tile
    }
  }, agent 1 {
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: it is defined inside 'scf.if', which is no counted loop}}
    "test.op"(%x) : (!tile) -> ()
  }
  func.return
}

// -----

// A loop that the other agent runs another number of times.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%v: !window, %i: index, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    scf.for %k = %zero to %n step %one {
    // expected-note@+1 {{defined here}}
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tile
    }
  }, agent 1 {
    scf.for %j = %one to %n step %one {
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: agent 1 does not run the loops around its definition in step}}
    "test.op"(%x) : (!tile) -> ()
    }
  }
  func.return
}

// -----

// A loop that the other agent does not run at all.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%v: !window, %i: index, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    scf.for %k = %zero to %n step %one {
    // expected-note@+1 {{defined here}}
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tile
    }
  }, agent 1 {
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: agent 1 does not run the loops around its definition in step}}
    "test.op"(%x) : (!tile) -> ()
  }
  func.return
}

// -----

// Two loops that each are in step with that of the definition.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%v: !window, %i: index, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    scf.for %k = %zero to %n step %one {
    // expected-note@+1 {{defined here}}
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tile
    }
  }, agent 1 {
    scf.for %j = %zero to %n step %one {
    "test.op"(%x) : (!tile) -> ()
    }
    scf.for %j = %zero to %n step %one {
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: agent 1 uses it in several loops, and it is transferred once an iteration}}
    "test.op"(%x) : (!tile) -> ()
    }
  }
  func.return
}

// -----

// A tile from outside, where agents see no memory.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%v: !window, %i: index) {
    // expected-note@+1 {{defined here}}
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tile
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = true} agent 0 {

  }, agent 1 {
    // expected-error@+1 {{'test.op' op %x of the code around cannot reach agent 1: an isolated agent sees no memory to take it from}}
    "test.op"(%x) : (!tile) -> ()
  }
  func.return
}

// -----

// An argument, where agents see none.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
// expected-note@+1 {{defined here}}
func.func @k(%v: !window, %i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = true} agent 0 {

  }, agent 1 {
    // expected-error@+1 {{'test.op' op %i of the code around cannot reach agent 1: %i is an argument, and isolated agents see none}}
    "test.op"(%i) : (index) -> ()
  }
  func.return
}

// -----

// Storage in registers that two agents share.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k() {
  // expected-note@+1 {{defined here}}
  %x = nv_tileas.alloc_tensor : !tile
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-error@+1 {{'test.op' op %x of the code around cannot reach agent 0: it is storage in registers, which is not transferred}}
    "test.op"(%x) : (!tile) -> ()
  }, agent 1 {
    "test.op"(%x) : (!tile) -> ()
  }
  func.return
}

// -----

// A layout for more threads than the agent has.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
!placed = tensor<64xf32, #nv_tileas.blocked<"64:1@thread">>
func.func @k(%v: !window, %i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 2, 1>} agent 0 {
    // expected-note@+1 {{defined here}}
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !placed
  }, agent 1 {
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: its layout takes 64 threads, and agent 1 has 32}}
    "test.op"(%x) : (!placed) -> ()
  }
  func.return
}

// -----

// A tile whose extents are not known.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k() {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-note@+1 {{defined here}}
    %x = "test.op"() : () -> tensor<?xf32>
  }, agent 1 {
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: its extents are not known}}
    "test.op"(%x) : (tensor<?xf32>) -> ()
  }
  func.return
}

// -----

// Elements that memory does not hold.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k() {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-note@+1 {{defined here}}
    %x = "test.op"() : () -> tensor<4x!nv_tileas.token>
  }, agent 1 {
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: !nv_tileas.token has no size in memory}}
    "test.op"(%x) : (tensor<4x!nv_tileas.token>) -> ()
  }
  func.return
}

// -----

// Two agents that each wait for the other to go first.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%v: !window, %i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-error@+1 {{'test.op' op %y of agent 1 cannot reach agent 0: each of the two agents waits for the other to go first}}
    "test.op"(%y) : (!tile) -> ()
    %x = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tile
  }, agent 1 {
    "test.op"(%x) : (!tile) -> ()
    // expected-note@+1 {{defined here}}
    %y = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tile
  }
  func.return
}

// -----

// A loop that ends only when the other agent has come to its own.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%v: !window, %i: index, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    scf.for %k = %zero to %n step %one {
      %x = nv_tileas.tiled_load %v[%k] {atom = #load} : !window -> !tile
    }
    // expected-note@+1 {{defined here}}
    %z = nv_tileas.tiled_load %v[%i] {atom = #load} : !window -> !tile
  }, agent 1 {
    // expected-error@+1 {{'test.op' op %z of agent 0 cannot reach agent 1: each of the two agents waits for the other to go first}}
    "test.op"(%z) : (!tile) -> ()
    scf.for %j = %zero to %n step %one {
      "test.op"(%x) : (!tile) -> ()
    }
  }
  func.return
}

// -----

// A scalar that another agent reads from memory.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%m: memref<4xf32>, %i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-note@+1 {{defined here}}
    %x = memref.load %m[%i] : memref<4xf32>
  }, agent 1 {
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: 'memref.load' makes it, which no other agent can do again}}
    "test.op"(%x) : (f32) -> ()
  }
  func.return
}

// -----

// The counter of a loop that the other agent does not run.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-note@+1 {{defined here}}
    scf.for %k = %zero to %n step %one {
    }
  }, agent 1 {
    // expected-error@+1 {{'test.op' op %k of agent 0 cannot reach agent 1: %k is an argument that control flow gives}}
    "test.op"(%k) : (index) -> ()
  }
  func.return
}

// -----

// A buffer that an agent makes in a loop.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
!shared = tensor<64xf32, #nv_tileas<space smem>>
func.func @k(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    scf.for %k = %zero to %n step %one {
    // expected-note@+1 {{defined here}}
      %x = nv_tileas.alloc_tensor : !shared
    }
  }, agent 1 {
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: 'nv_tileas.alloc_tensor' makes it under control flow}}
    "test.op"(%x) : (!shared) -> ()
  }
  func.return
}

// -----

// A scalar that depends on one of the agent that uses it.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-note@+1 {{defined here}}
    %x = arith.addi %y, %i : index
  }, agent 1 {
    %y = arith.addi %i, %i : index
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: it depends on %y of agent 1 itself}}
    "test.op"(%x) : (index) -> ()
  }
  func.return
}

// -----

// A token that another agent gives to anything but a wait.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%v: !window, %i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-note@+1 {{defined here}}
    %x = nv_tileas.async.tiled_load %v[%i] {atom = #load} : !window -> !nv_tileas.token<!tile>
  }, agent 1 {
    // expected-error@+1 {{'test.op' op %x of agent 0 cannot reach agent 1: only its own agent waits for a token}}
    "test.op"(%x) : (!nv_tileas.token<!tile>) -> ()
  }
  func.return
}

// -----

// A token that delivers nothing.

#load = #nv_tileas<atom ldg>
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
func.func @k(%s: tensor<64xf32, #nv_tileas<space smem>>, %t: !tile) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-note@+1 {{defined here}}
    %x = nv_tileas.async.copy %t, %s {atom = #nv_tileas<atom unknown_copy>} : !tile, tensor<64xf32, #nv_tileas<space smem>> -> !nv_tileas.token
  }, agent 1 {
    // expected-error@+1 {{'nv_tileas.async.wait' op %x of agent 0 cannot reach agent 1: it delivers nothing that could be transferred; a pipeline orders agents}}
    nv_tileas.async.wait %x : !nv_tileas.token
  }
  func.return
}
