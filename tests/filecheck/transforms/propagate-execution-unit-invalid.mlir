// A function has the warps of the agent that calls it.

// RUN: tileas-opt %s --verify-diagnostics -p propagate-execution-unit

func.func private @helper()

func.func @callers() {
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 1, 4>} agent 0 {
    func.call @helper() : () -> ()
  }, agent 1 {
    // expected-error @+1 {{inconsistent numWarps in the agent switch, maybe it is called in different agents with different numWarps}}
    func.call @helper() : () -> ()
  }
  func.return
}
