// `optimize-execution-unit-mapping`: agents get their warps, and warpgroups begin at multiples of four.

// RUN: tileas-opt %s -p optimize-execution-unit-mapping | filecheck %s

// One warp loads, and two warpgroups multiply: warps 1 to 3 stay idle.
// The kernel is launched with all of them.
// CHECK-LABEL: @three
// CHECK-SAME: kernel_spec<num_warps = 12>
func.func @three() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 9>} {
  // CHECK: num_warps = array<i32: 1, 4, 4>, warp_id = array<i32: 0, 4, 8>
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 232, 232>, isolated = false, num_warps = array<i32: 1, 4, 4>} agent 0 {}, agent 1 {}, agent 2 {}
  func.return
}

// Single warps follow one another.
// CHECK-LABEL: @single_warps
func.func @single_warps() {
  // CHECK: num_warps = array<i32: 4, 1, 1>, warp_id = array<i32: 0, 4, 5>
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0, 0>, isolated = false, num_warps = array<i32: 4, 1, 1>} agent 0 {}, agent 1 {}, agent 2 {}
  func.return
}

// What is mapped stays, and agents that share the warps of the block in equal parts have no numbers.
// CHECK-LABEL: @stays
func.func @stays() {
  // CHECK: num_warps = array<i32: 4, 4>, warp_id = array<i32: 4, 0>
  // CHECK: max_regs = array<i32: 0, 0>, isolated = false}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false, num_warps = array<i32: 4, 4>, warp_id = array<i32: 4, 0>} agent 0 {}, agent 1 {}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {}, agent 1 {}
  func.return
}
