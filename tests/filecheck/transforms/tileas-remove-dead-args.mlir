// What `tileas-remove-dead-args` drops, each case followed by what it must leave alone.

// RUN: tileas-opt %s -p tileas-remove-dead-args | filecheck %s
// RUN: tileas-opt %s -p tileas-remove-dead-args,tileas-remove-dead-args | filecheck %s
// RUN: xdsl-opt %s -p tileas-remove-dead-args,verify-dominance | filecheck %s

// Remove Dead Region Arguments, Input / Output Shape: a value that the loop only hands on, and whose
// result nobody uses.

func.func @handed_on(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>, %init_acc: tensor<128x128xf32>, %init_pre: tensor<128x128xf32>, %n: index) -> tensor<128x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init_acc, %pre_acc = %init_pre) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
    %x = nv_tileas.wgmma %a, %b, %acc : tensor<128x128xf32>
    scf.yield %x, %pre_acc : tensor<128x128xf32>, tensor<128x128xf32>
  }
  func.return %r#0 : tensor<128x128xf32>
}

// CHECK-LABEL: func.func @handed_on
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init_acc) -> (tensor<128x128xf32>) {
// CHECK-NEXT:      %x = nv_tileas.dot %a, %b, %acc
// CHECK-NEXT:      scf.yield %x : tensor<128x128xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : tensor<128x128xf32>

// Not: a value whose result is used, or that the body uses, though it is never changed.

func.func @handed_on_and_used(%x: f32, %y: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %y) -> (f32, f32) {
    "test.op"(%v) : (f32) -> ()
    scf.yield %u, %v : f32, f32
  }
  func.return %r : f32
}

// CHECK-LABEL: func.func @handed_on_and_used
// CHECK:         %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %y) -> (f32, f32) {
// CHECK-NEXT:      "test.op"(%v) : (f32) -> ()
// CHECK-NEXT:      scf.yield %u, %v : f32, f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : f32

// An argument without any use, first of two: the indices behind it move up.

func.func @unused(%k: f32, %x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%u = %k, %acc = %x) -> (f32, f32) {
    %0 = arith.addf %acc, %k : f32
    scf.yield %k, %0 : f32, f32
  }
  func.return %s : f32
}

// CHECK-LABEL: func.func @unused
// CHECK:         %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (f32) {
// CHECK-NEXT:      %0 = arith.addf %acc, %k : f32
// CHECK-NEXT:      scf.yield %0 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %s : f32

// Three values that go round and only feed one another, one through a computation.

func.func @ring(%x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %x, %w = %x, %acc = %x) -> (f32, f32, f32, f32) {
    %0 = arith.addf %u, %v : f32
    %1 = arith.addf %acc, %x : f32
    scf.yield %v, %w, %0, %1 : f32, f32, f32, f32
  }
  func.return %r#3 : f32
}

// CHECK-LABEL: func.func @ring
// CHECK:         %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (f32) {
// CHECK-NEXT:      %0 = arith.addf %acc, %x : f32
// CHECK-NEXT:      scf.yield %0 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : f32

// Not: a ring of which one result is used keeps all of them.

func.func @ring_of_use(%x: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %x) -> (f32, f32) {
    scf.yield %v, %u : f32, f32
  }
  func.return %r#1 : f32
}

// CHECK-LABEL: func.func @ring_of_use
// CHECK:         %r, %r_1 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %x) -> (f32, f32) {
// CHECK-NEXT:      scf.yield %v, %u : f32, f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r_1 : f32

// Not: what an operation with an effect, or an unknown one, uses; and what the trip count needs.

func.func @effects(%x: f32, %m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %e = %c1) -> (f32, index) {
    %0 = arith.addf %u, %u : f32
    memref.store %0, %m[%i] : memref<?xf32>
    %1 = "test.op"(%e) : (index) -> index
    scf.yield %0, %1 : f32, index
  }
  func.return
}

// CHECK-LABEL: func.func @effects
// CHECK:         %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %e = %c1) -> (f32, index) {
// CHECK-NEXT:      %0 = arith.addf %u, %u : f32
// CHECK-NEXT:      memref.store %0, %m[%i] : memref<?xf32>
// CHECK-NEXT:      %1 = "test.op"(%e) : (index) -> index
// CHECK-NEXT:      scf.yield %0, %1 : f32, index
// CHECK-NEXT:    }

// Values that feed one another across two nested loops and a branch.

func.func @nest(%c: i1, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x) -> (f32) {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%v = %u) -> (f32) {
      %t = scf.if %c -> (f32) {
        "test.op"() : () -> ()
        scf.yield %v : f32
      } else {
        %0 = arith.addf %v, %u : f32
        scf.yield %0 : f32
      }
      scf.yield %t : f32
    }
    scf.yield %s : f32
  }
  func.return
}

// CHECK-LABEL: func.func @nest
// CHECK:         scf.for %i = %c0 to %n step %c1 {
// CHECK-NEXT:      scf.for %j = %c0 to %n step %c1 {
// CHECK-NEXT:        scf.if %c {
// CHECK-NEXT:          "test.op"() : () -> ()
// CHECK-NEXT:        } else {
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:    }

// scf.while: what the first region takes and what it hands on are dropped on their own sides.

func.func @while(%x: f32, %y: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.while (%i = %c0, %u = %x, %v = %y) : (index, f32, f32) -> (f32, index, f32, f32) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %x, %i, %u, %v : f32, index, f32, f32
  } do {
  ^bb0(%t: f32, %j: index, %a: f32, %b: f32):
    %k = arith.addi %j, %c1 : index
    %0 = arith.addf %b, %b : f32
    scf.yield %k, %a, %0 : index, f32, f32
  }
  func.return %r#3 : f32
}

// CHECK-LABEL: func.func @while
// CHECK:         %r, %r_1 = scf.while (%i = %c0, %v = %y) : (index, f32) -> (index, f32) {
// CHECK-NEXT:      %c = arith.cmpi slt, %i, %n : index
// CHECK-NEXT:      scf.condition(%c) %i, %v : index, f32
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^{{[a-z0-9]+}}(%j: index, %b: f32):
// CHECK-NEXT:      %k = arith.addi %j, %c1 : index
// CHECK-NEXT:      %0 = arith.addf %b, %b : f32
// CHECK-NEXT:      scf.yield %k, %0 : index, f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r_1 : f32

// Not: what the condition of a while needs.

func.func @decides(%x: i1) {
  %r = scf.while (%u = %x) : (i1) -> (i1) {
    scf.condition(%u) %u : i1
  } do {
  ^bb0(%v: i1):
    %0 = arith.xori %v, %v : i1
    scf.yield %0 : i1
  }
  func.return
}

// CHECK-LABEL: func.func @decides
// CHECK-NEXT:    %r = scf.while (%u = %x) : (i1) -> i1 {
// CHECK-NEXT:      scf.condition(%u) %u : i1
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^{{[a-z0-9]+}}(%v: i1):
// CHECK-NEXT:      %0 = arith.xori %v, %v : i1
// CHECK-NEXT:      scf.yield %0 : i1
// CHECK-NEXT:    }

// scf.if and scf.index_switch: results nobody uses, with what is yielded for them.

func.func @branches(%c: i1, %k: index, %x: f32, %y: f32) -> (f32, f32) {
  %p, %q = scf.if %c -> (f32, f32) {
    scf.yield %x, %y : f32, f32
  } else {
    scf.yield %y, %x : f32, f32
  } {mark}
  %r, %s = scf.index_switch %k -> f32, f32
  case 2 {
    scf.yield %x, %y : f32, f32
  }
  default {
    scf.yield %y, %x : f32, f32
  }
  func.return %q, %r : f32, f32
}

// CHECK-LABEL: func.func @branches
// CHECK-NEXT:    %q = scf.if %c -> (f32) {
// CHECK-NEXT:      scf.yield %y : f32
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %x : f32
// CHECK-NEXT:    }{mark}
// CHECK-NEXT:    %r = scf.index_switch %k -> f32
// CHECK-NEXT:    case 2 {
// CHECK-NEXT:      scf.yield %x : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    default {
// CHECK-NEXT:      scf.yield %y : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %q, %r : f32, f32

// A region with branches, and a pragma: every yield of the region itself loses its operand.

func.func @regions(%c: i1, %x: f32) -> f32 {
  %p, %q = scf.execute_region -> (f32, f32) {
    cf.cond_br %c, ^one, ^other
  ^one:
    scf.yield %x, %x : f32, f32
  ^other:
    %0 = arith.addf %x, %x : f32
    scf.yield %0, %0 : f32, f32
  }
  %s, %t = nv_tileas.pragma {ocgEnterDirectives = "a"} -> f32, f32 {
    %1 = arith.addf %p, %p : f32
    nv_tileas.yield %1, %q : f32, f32
  }
  func.return %s : f32
}

// CHECK-LABEL: func.func @regions
// CHECK-NEXT:    %p = scf.execute_region -> (f32) {
// CHECK-NEXT:      cf.cond_br %c, {{.*}}, {{.*}}
// CHECK-NEXT:    ^{{[a-z0-9]+}}:
// CHECK-NEXT:      scf.yield %x : f32
// CHECK-NEXT:    ^{{[a-z0-9]+}}:
// CHECK-NEXT:      %0 = arith.addf %x, %x : f32
// CHECK-NEXT:      scf.yield %0 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %s = nv_tileas.pragma {ocgEnterDirectives = "a"} -> f32 {
// CHECK-NEXT:      %1 = arith.addf %p, %p : f32
// CHECK-NEXT:      nv_tileas.yield %1 : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %s : f32

// The payload of a stage: one of two values goes; where none is left the body yields the stage.
// The arguments are what the stage holds, and stay.  So do tokens and iterators that are used.

!t = tensor<16x16xf32>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tuple<!t, !t>, 2, smem>
!view = !nv_tileas.tiled_view<2x512xf32, smem>

func.func @payload(%view: !view) -> !t {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %view {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %c : !cons -> !iter
  %t1, %u, %v = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [!t, !t]} : (!cons, !iter) -> (!cons, !t, !t) {
  ^bb0(%a: !t, %b: !t):
    %0 = arith.addf %a, %b : !t
    nv_tileas.async.pipeline.yield %0, %a : !t, !t
  }
  %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
  %t2, %w = nv_tileas.async.pipeline.consume_one %t1, %i1 {consumer_idx = 0 : i32, consumer_types = [!t, !t]} : (!cons, !iter) -> (!cons, !t) {
  ^bb0(%a: !t, %b: !t):
    "test.op"(%a) : (!t) -> ()
    %0 = arith.addf %a, %b : !t
    nv_tileas.async.pipeline.yield %0 : !t
  }
  func.return %u : !t
}

// CHECK-LABEL: func.func @payload
// CHECK:         %t1, %u = nv_tileas.async.pipeline.consume_one %c, %i {{.*}} -> ({{.*}}, {{.*}}) {
// CHECK-NEXT:    ^{{[a-z0-9]+}}(%a: {{.*}}, %b: {{.*}}):
// CHECK-NEXT:      %0 = arith.addf %a, %b
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %0
// CHECK-NEXT:    }
// CHECK-NEXT:    %i1 = nv_tileas.async.pipeline.inc_iter %i
// CHECK-NEXT:    %t2 = nv_tileas.async.pipeline.consume_one %t1, %i1 {{.*}} -> {{[^ ,]+}} {
// CHECK-NEXT:    ^{{[a-z0-9]+}}(%a_1: {{.*}}, %b_1: {{.*}}):
// CHECK-NEXT:      "test.op"(%a_1)
// CHECK-NEXT:      %1 = arith.addf %a_1, %b_1
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %a_1, %b_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %u

// So it is where a producer hands on what it makes.

func.func @produced(%view: !view, %x: !t) -> !t {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %view {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
  %p1, %u, %v = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!t, !t]} : (!prod, !iter) -> (!prod, !t, !t) {
  ^bb0(%a: !t, %b: !t):
    %0 = arith.negf %x : !t
    nv_tileas.async.pipeline.yield %x, %0 : !t, !t
  }
  func.return %u : !t
}

// CHECK-LABEL: func.func @produced
// CHECK:         %p1, %u = nv_tileas.async.pipeline.produce_one %p, %i {{.*}} -> ({{.*}}, {{.*}}) {
// CHECK-NEXT:    ^{{[a-z0-9]+}}(%a: {{.*}}, %b: {{.*}}):
// CHECK-NEXT:      %0 = arith.negf %x
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %x :
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %u

// Not: where an argument is an iterator that stands for the value, the body cannot yield the stage.

!alone = !nv_tileas.async.pipeline.iterator<!t, 2, smem>

func.func @stands_for(%view: !nv_tileas.tiled_view<2x256xf32, smem>) {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %view {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x256xf32, smem> -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %c : !cons -> !alone
  %t1, %u = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [!t]} : (!cons, !alone) -> (!cons, !t) {
  ^bb0(%a: !alone):
    %0 = "test.op"(%a) : (!alone) -> !t
    nv_tileas.async.pipeline.yield %0 : !t
  }
  func.return
}

// CHECK-LABEL: func.func @stands_for
// CHECK:         %t1, %u = nv_tileas.async.pipeline.consume_one
// CHECK:           nv_tileas.async.pipeline.yield %0

// A counter and an iterator that nothing reads; the token stays, since each step needs it.

func.func @agents(%view: !view, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p, %c = nv_tileas.async.pipeline.create_pipeline %view {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !view -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40>, isolated = false} agent 0 {
    %r:4 = scf.for %k = %c0 to %n step %c1 iter_args(%t = %p, %j = %i, %unread = %i, %count = %c0) -> (!prod, !iter, !iter, index) {
      %t1 = nv_tileas.async.pipeline.producer_acquire %t, %j : !prod, !iter -> !prod
      %t2 = nv_tileas.async.pipeline.producer_commit %t1 : !prod -> !prod
      %next = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
      %more = nv_tileas.async.pipeline.inc_iter %unread : !iter -> !iter
      %counted = arith.addi %count, %c1 : index
      scf.yield %t2, %next, %more, %counted : !prod, !iter, !iter, index
    }
  }
  func.return
}

// CHECK-LABEL: func.func @agents
// CHECK:           %r, %r_1 = scf.for %k = %c0 to %n step %c1 iter_args(%t = %p, %j = %i) -> ({{.*}}) {
// CHECK-NEXT:        %t1 = nv_tileas.async.pipeline.producer_acquire %t, %j
// CHECK-NEXT:        %t2 = nv_tileas.async.pipeline.producer_commit %t1
// CHECK-NEXT:        %next = nv_tileas.async.pipeline.inc_iter %j
// CHECK-NEXT:        scf.yield %t2, %next
// CHECK-NEXT:      }

// Not: a loop whose values are counted by position.

func.func @counted(%x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %x) -> (f32, f32) {
    scf.yield %u, %v : f32, f32
  } {token_iter_idx = 1 : i32}
  func.return
}

// CHECK-LABEL: func.func @counted
// CHECK:         %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x, %v = %x) -> (f32, f32) {
// CHECK-NEXT:      scf.yield %u, %v : f32, f32
// CHECK-NEXT:    } {token_iter_idx = 1 : i32}

// Not: operations that are not control flow, unstructured control flow, operations nobody knows.

func.func @others(%x: f32, %n: index) {
  %g = nv_tileas.generate : tensor<4xf32> {
  ^bb0(%i: index):
    nv_tileas.yield %x : f32
  }
  "test.op"(%x) ({
  ^bb0(%u: f32):
    "test.termop"(%u) : (f32) -> ()
  }) : (f32) -> ()
  cf.br ^bb1(%x : f32)
^bb1(%v: f32):
  func.return
}

// CHECK-LABEL: func.func @others
// CHECK-NEXT:    %g = nv_tileas.generate : tensor<4xf32> {
// CHECK-NEXT:    ^{{[a-z0-9]+}}(%i: index):
// CHECK-NEXT:      nv_tileas.yield %x : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    "test.op"(%x) ({
// CHECK-NEXT:    ^{{[a-z0-9]+}}(%u: f32):
// CHECK-NEXT:      "test.termop"(%u) : (f32) -> ()
// CHECK-NEXT:    }) : (f32) -> ()
// CHECK-NEXT:    cf.br ^{{[a-z0-9]+}}(%x : f32)
// CHECK-NEXT:  ^{{[a-z0-9]+}}(%v: f32):
// CHECK-NEXT:    func.return
