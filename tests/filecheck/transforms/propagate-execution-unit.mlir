// `propagate-execution-unit`: kernels are launched with the warps that their agents need.

// RUN: tileas-opt %s --split-input-file -p propagate-execution-unit | filecheck %s

// Agents of one warp and of a warpgroup need five.
// CHECK-LABEL: @five
// CHECK-SAME: kernel_spec<num_warps = 8>
func.func @five() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 5>} {
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 232, 0>, isolated = false, num_warps = array<i32: 4, 1>, warp_id = array<i32: 0, 4>} agent 0 {}, agent 1 {}
  func.return
}

// -----

// Agents that are not mapped yet say nothing.
// CHECK-LABEL: @unmapped
// CHECK-SAME: kernel_spec<num_warps = 6>
func.func @unmapped() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 6>} {
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0, 0>, isolated = false, num_warps = array<i32: 4, 1, 1>} agent 0 {}, agent 1 {}, agent 2 {}
  func.return
}

// -----

// More warps than agents need are kept, and a kernel without agents stays.
// CHECK-LABEL: @more
// CHECK-SAME: kernel_spec<num_warps = 12>
func.func @more() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 4, 4>, warp_id = array<i32: 0, 4>} agent 0 {}, agent 1 {}
  func.return
}
