// What an open boundary between agents does not allow.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// A closed boundary: nothing of another agent.

func.func @closed() {
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-error@+1 {{operand #0 does not dominate this use}}
    "test.op"(%x) : (index) -> ()
  }, agent 1 {
    // expected-note@+1 {{operand defined here (op is neither in a parent nor in a child region)}}
    %x = arith.constant 1 : index
  }
  func.return
}

// -----

// Inside one agent the order of its code counts.

func.func @own_order() {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
    // expected-error@+1 {{operand #0 does not dominate this use}}
    "test.op"(%x) : (index) -> ()
    // expected-note@+1 {{operand defined here (op in the same block)}}
    %x = arith.constant 1 : index
  }
  func.return
}

// -----

// A value of a loop is not seen behind it by its own agent.

func.func @own_loop(%i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
    // expected-error@+1 {{operand #0 does not dominate this use}}
    "test.op"(%x) : (index) -> ()
    scf.for %k = %i to %i step %i {
      // expected-note@+1 {{operand defined here (op in a child region)}}
      %x = arith.constant 1 : index
    }
  }
  func.return
}

// -----

// A name that several agents define is that of none of them.

func.func @several() {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0, 0>, isolated = false} agent 0 {
    %x = arith.constant 1 : index
  }, agent 1 {
    %x = arith.constant 2 : index
  }, agent 2 {
    // expected-error@+1 {{use of undeclared SSA value name %x}}
    "test.op"(%x) : (index) -> ()
  }
  func.return
}

// -----

// The code behind the switch sees nothing of the agents.

func.func @behind() {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
    %x = arith.constant 1 : index
  }
  // expected-error@+1 {{use of undeclared SSA value name %x}}
  "test.op"(%x) : (index) -> ()
  func.return
}

// -----

// A value has one type everywhere.

func.func @types() {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-error@+1 {{Result %x is defined with type index, but used with type i32}}
    %x = arith.constant 1 : index
  }, agent 1 {
    "test.op"(%x) : (i32) -> ()
  }
  func.return
}
