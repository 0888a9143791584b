// Agents whose boundary is open may use values of one another, in either direction.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | filecheck %s

func.func @open(%i: index) {
  %n = arith.constant 4 : index
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0, 0>, isolated = false} agent 0 {
    %0 = arith.constant 1 : index
    %same = arith.constant 2 : index
    %later = arith.addi %from_loop, %0 : index
  }, agent 1 {
    scf.for %k = %i to %n step %0 {
      %from_loop = arith.addi %k, %k : index
    }
    %same = arith.constant 3 : index
    "test.op"(%same) : (index) -> ()
  }, agent 2 {
    "test.op"(%0, %later) : (index, index) -> ()
  }
  %same = arith.constant 4 : index
  func.return
}

// CHECK-LABEL: func.func @open(%i: index) {
// CHECK-NEXT:    %n = arith.constant 4 : index
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0, 0>, isolated = false} agent 0 {
// CHECK-NEXT:      %0 = arith.constant 1 : index
// CHECK-NEXT:      %same = arith.constant 2 : index
// CHECK-NEXT:      %later = arith.addi %from_loop, %0 : index
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      scf.for %k = %i to %n step %0 {
// CHECK-NEXT:        %from_loop = arith.addi %k, %k : index
// CHECK-NEXT:      }
// CHECK-NEXT:      %same_1 = arith.constant 3 : index
// CHECK-NEXT:      "test.op"(%same_1) : (index) -> ()
// CHECK-NEXT:    }, agent 2 {
// CHECK-NEXT:      "test.op"(%0, %later) : (index, index) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    %same_2 = arith.constant 4 : index
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Isolated agents may use values from outside as long as their boundary is open.

func.func @isolated(%i: index) {
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = true} agent 0 {
    "test.op"(%i) : (index) -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @isolated(%i: index) {
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = true} agent 0 {
// CHECK-NEXT:      "test.op"(%i) : (index) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
