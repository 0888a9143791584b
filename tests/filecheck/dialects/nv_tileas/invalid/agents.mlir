// What an agent_switch refuses, with the nearest thing that it accepts.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Bodies take and give nothing.

%x = "test.op"() : () -> f32
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op gives its agents no arguments, but agent 1 takes some}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} {
}, {
^bb0(%y: f32):
  nv_tileas.async.pipeline.yield
}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op has no results, but agent 0 yields some}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} {
  nv_tileas.async.pipeline.yield %x : f32
}

nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
}, agent 1 {
  nv_tileas.async.pipeline.yield
}

// -----

// Labels count.

// expected-error@+3 {{this is agent 1, not 2}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false}
  agent 0 {},
  agent 2 {}

// -----

// Lists have an entry for each agent; budgets are registers of a thread.

// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op num_agents_per_group is at least 1}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 0 : i32, max_regs = array<i32: 0>, isolated = false} {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op max_regs has one entry for each agent, 2, not 1}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} {}, {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op num_warps has one entry for each agent, 1, not 2}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false, num_warps = array<i32: 4, 4>} {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op warp_id has one entry for each agent, 1, not 0}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false, num_warps = array<i32: 4>, warp_id = array<i32>} {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op agent_strides has one entry for each agent, 1, not 3}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false, agent_strides = array<i32: 1, 1, 1>} {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op max_regs are 0 to 256, not 257}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 257>, isolated = false} {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op max_regs are 0 to 256, not -1}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: -1>, isolated = false} {}

nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 2 : i32, max_regs = array<i32: 40, 232, 232, 256>, isolated = false, agent_strides = array<i32: 1, 1>} {}, {}

// -----

// Agents have warps, all different or all the same.

// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op an agent has at least one warp, but num_warps is [4, 0]}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 4, 0>} {}, {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op has warp_id, but no num_warps}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false, warp_id = array<i32: 0>} {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op warps are numbered from 0, but warp_id is [-4]}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false, num_warps = array<i32: 4>, warp_id = array<i32: -4>} {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op has 2 num_warps, but 1 warp_id}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 2 : i32, max_regs = array<i32: 0>, isolated = false, num_warps = array<i32: 4, 4>, warp_id = array<i32: 0>} {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op agent regions disagree on warp count}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 4, 8>, warp_id = array<i32: 0, 0>} {}, {}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op gives agents 0 and 1 some of the same warps}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 4, 4>, warp_id = array<i32: 0, 2>} {}, {}

nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0, 0>, isolated = false, num_warps = array<i32: 4, 4, 8>, warp_id = array<i32: 0, 0, 4>} {}, {}, {}

// -----

// They fit the launch, holes included, or the warps of the agent around.

func.func @launch() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op agent warp count exceeds module budget}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 1, 8>} {}, {}
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op agent warp count exceeds module budget}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 1, 4>, warp_id = array<i32: 0, 8>} {}, {}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 1, 4>, warp_id = array<i32: 0, 4>} {
    // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op agent warp count exceeds module budget}}
    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 1, 1>} {}, {}
  }, {
    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 2, 2>} {}, {}
  }
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 2 : i32, max_regs = array<i32: 0>, isolated = false, num_warps = array<i32: 2, 2>} {
    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false, num_warps = array<i32: 4>} {}
  }
  func.return
}

// -----

module attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op agent warp count exceeds module budget}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false, num_warps = array<i32: 5>} {}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false, num_warps = array<i32: 4>} {}
}

// -----

// Isolated agents see nothing from outside; what they make themselves they see everywhere.

// expected-note@+1 {{defined here}}
%x = "test.op"() : () -> f32
// expected-note@+1 {{isolated here}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = true} {
}, {
  %cond = "test.op"() : () -> i1
  scf.if %cond {
    // expected-error@+1 {{'test.op' op uses %x from outside of the isolated agent 1}}
    "test.op"(%x, %cond) : (f32, i1) -> ()
  }
}

// -----

// expected-note@+1 {{defined here}}
func.func @argument(%arg: f32) {
  // expected-note@+1 {{isolated here}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = true} {
    // expected-error@+1 {{'test.op' op uses %arg from outside of the isolated agent 0}}
    "test.op"(%arg) : (f32) -> ()
  }
  // expected-note@+1 {{defined here}}
  %0 = "test.op"() : () -> f32
  // expected-note@+1 {{isolated here}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = true} {
    // expected-error@+1 {{'test.op' op uses a value from outside of the isolated agent 0}}
    "test.op"(%0) : (f32) -> ()
  }
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} {
    "test.op"(%arg) : (f32) -> ()
  }
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = true} {
    %own = "test.op"() : () -> f32
    %region = "test.op"() ({
    ^bb0(%inner: f32):
      "test.termop"(%own, %inner) : (f32, f32) -> ()
    }) : () -> f32
  }
  func.return
}

// -----

// Two mistakes: budgets before warps, warps before isolation.

%x = "test.op"() : () -> f32
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op max_regs has one entry for each agent, 1, not 0}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32>, isolated = true, num_warps = array<i32: 0>} {
  "test.op"(%x) : (f32) -> ()
}
// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op an agent has at least one warp, but num_warps is [0]}}
nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = true, num_warps = array<i32: 0>} {
  "test.op"(%x) : (f32) -> ()
}

// -----

// A name means one thing.

// expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op has 'num_agents_per_group' twice, as a property and as an attribute}}
"nv_tileas.async.pipeline.agent_switch"() <{num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false}> ({
  nv_tileas.async.pipeline.yield
}) {num_agents_per_group = 7 : i32} : () -> ()
