// What `tileas-slicing` refuses, stage by stage.  Nothing is changed then, in no loop.  (The stage
// that compares a loop with its plan cannot be reached from text; the unit tests reach it.)

// RUN: tileas-opt %s -p tileas-slicing --split-input-file --verify-diagnostics --allow-unregistered-dialect

// The attribute: a count, as an integer.

func.func @f(%n: index, %z: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op The `sliceCount` need to be a `IntegerAttr`}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (index) {
    scf.yield %i : index
  } {sliceCount = "4"}
  func.return %r : index
}

// -----

func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op The `sliceCount` need to be a `IntegerAttr`}}
  scf.for %i = %c0 to %n step %c1 {
  } {sliceCount = [2 : i32, 2 : i32]}
  // expected-error@+1 {{'scf.for' op The `sliceCount` need to be a `IntegerAttr`}}
  scf.for %i = %c0 to %n step %c1 {
  } {sliceCount = 2.0 : f32}
  // expected-error@+1 {{'scf.for' op The `sliceCount` need to be a `IntegerAttr`}}
  scf.for %i = %c0 to %n step %c1 {
  } {sliceCount}
  func.return
}

// -----

// The attribute: a number of slices that each can have an iteration.

func.func @f(%n: index, %m: i8) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  // expected-error@+1 {{'scf.for' op The `sliceCount` need to be a `IntegerAttr`}}
  scf.for %i = %c0 to %n step %c1 {
  } {sliceCount = 0 : i32}
  // expected-error@+1 {{'scf.for' op The `sliceCount` need to be a `IntegerAttr`}}
  scf.for %i = %c0 to %n step %c1 {
  } {sliceCount = -2 : i32}
  // expected-error@+1 {{'scf.for' op The `sliceCount` need to be a `IntegerAttr`}}
  scf.for %i = %c0 to %c9 step %c3 {
  } {sliceCount = 4 : i32}
  // expected-error@+1 {{'scf.for' op The `sliceCount` need to be a `IntegerAttr`}}
  scf.for %i = %c9 to %c0 step %c1 {
  } {sliceCount = 1 : i32}
  %i0 = arith.constant 0 : i8
  %i1 = arith.constant 1 : i8
  // expected-error@+1 {{'scf.for' op The `sliceCount` need to be a `IntegerAttr`}}
  scf.for %i = %i0 to %m step %i1 : i8 {
  } {sliceCount = 256 : i32}
  func.return
}

// -----

// The attribute: a limit to the copies of one body.

func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op would be copied 1000000000000 times; 1024 is the most}}
  scf.for %i = %c0 to %n step %c1 {
  } {sliceCount = 1000000000000 : i64}
  func.return
}

// -----

func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error@+1 {{'scf.for' op would be copied 1089 times; 1024 is the most}}
    scf.for %j = %c0 to %n step %c1 {
    } {sliceCount = 32 : i32}
  } {sliceCount = 32 : i32}
  func.return
}

// -----

// The attribute of a pipeline operation: it is about a loop, and does not contradict another one.

!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tuple<tensor<8xf32>>, 2, smem>

func.func @f(%slots: !nv_tileas.tiled_view<2x8xf32, smem>) {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x8xf32, smem> -> !nv_tileas.async.pipeline.producer_token, !cons
  %i = nv_tileas.async.pipeline.create_iterator %c : !cons -> !iter
  // expected-error@+1 {{'nv_tileas.async.pipeline.consume_one' op has a sliceCount, but is not in the body of a loop}}
  %c1 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<8xf32>], sliceCount = 2 : i32} : (!cons, !iter) -> !cons {
  ^bb0(%stage: tensor<8xf32>):
    nv_tileas.async.pipeline.yield %stage : tensor<8xf32>
  }
  func.return
}

// -----

func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op has a sliceCount, but no loop of its agents carries a pipeline's token}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40>, isolated = false, sliceCount = 2 : i32} agent 0 {
    scf.for %i = %c0 to %n step %c1 {
    }
  }
  func.return
}

// -----

!prod = !nv_tileas.async.pipeline.producer_token

func.func @f(%slots: !nv_tileas.tiled_view<2x8xf32, smem>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p0, %k0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x8xf32, smem> -> !prod, !nv_tileas.async.pipeline.consumer_token
  // expected-note@+1 {{sliceCount is 2 : i32 here}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40>, isolated = false, sliceCount = 2 : i32} agent 0 {
    // expected-error@+1 {{'scf.for' op has a sliceCount of 3 : i32 for a loop that is to be sliced otherwise}}
    %pn = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0) -> (!prod) {
      scf.yield %p : !prod
    } {sliceCount = 3 : i32}
  }
  func.return
}

// -----

// The step of `scf.for`.

func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'scf.for' op the step of a sliced loop is positive, not 0}}
  scf.for %i = %c0 to %n step %c0 {
  } {sliceCount = 2 : i32}
  func.return
}

// -----

// `scf.while` that does not count.

func.func @f(%n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m1 = arith.constant -1 : index
  // expected-error@+1 {{'scf.while' op to be sliced, an `scf.while` counts: its condition is an `arith.cmpi` of its first region}}
  scf.while () : () -> () {
    scf.condition(%p)
  } do {
    scf.yield
  } attributes {sliceCount = 2 : i32}
  // expected-error@+1 {{'scf.while' op to be sliced, an `scf.while` counts: its condition is a signed `slt` or `sgt`}}
  %a = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi ne, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%j: index):
    %next = arith.addi %j, %c1 : index
    scf.yield %next : index
  } attributes {sliceCount = 2 : i32}
  // expected-error@+1 {{'scf.while' op to be sliced, an `scf.while` counts: the lesser operand of its condition is a value it carries}}
  %b = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi sgt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%j: index):
    %next = arith.addi %j, %m1 : index
    scf.yield %next : index
  } attributes {sliceCount = 2 : i32}
  // expected-error@+1 {{'scf.while' op to be sliced, an `scf.while` counts: the end that its condition compares with does not change}}
  %c, %d = scf.while (%i = %c0, %e = %n) : (index, index) -> (index, index) {
    %more = arith.cmpi slt, %i, %e : index
    scf.condition(%more) %i, %e : index, index
  } do {
  ^bb0(%j: index, %e: index):
    %next = arith.addi %j, %c1 : index
    scf.yield %next, %e : index, index
  } attributes {sliceCount = 2 : i32}
  // expected-error@+1 {{'scf.while' op to be sliced, an `scf.while` counts: 'test.op' in its first region has effects}}
  %f = scf.while (%i = %c0) : (index) -> index {
    "test.op"() : () -> ()
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%j: index):
    %next = arith.addi %j, %c1 : index
    scf.yield %next : index
  } attributes {sliceCount = 2 : i32}
  // expected-error@+1 {{'scf.while' op to be sliced, an `scf.while` counts: its body yields the counter plus a constant}}
  %g = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%j: index):
    %next = arith.addi %j, %n : index
    scf.yield %next : index
  } attributes {sliceCount = 2 : i32}
  // expected-error@+1 {{'scf.while' op to be sliced, an `scf.while` counts: its regions take and give as many values as it carries}}
  "scf.while"(%c0) ({
  ^bb0(%i: index, %x: index):
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more)
  }, {
    scf.yield %c1 : index
  }) {sliceCount = 2 : i32} : (index) -> ()
  // expected-error@+1 {{'scf.while' op the step of a sliced loop is positive, not -1}}
  %h = scf.while (%i = %c0) : (index) -> index {
    %more = arith.cmpi slt, %i, %n : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%j: index):
    %next = arith.addi %j, %m1 : index
    scf.yield %next : index
  } attributes {sliceCount = 2 : i32}
  func.return
}

// -----

// The body: what has no copies.

func.func private @elsewhere(index)

func.func @f(%n: index, %slots: !nv_tileas.tiled_view<2x8xf32, smem>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op unsupported op in Slicing pass}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-note@+1 {{'custom.op' cannot be copied}}
    "custom.op"(%i) : (index) -> ()
  } {sliceCount = 2 : i32}
  // expected-error@+1 {{'scf.for' op unsupported op in Slicing pass}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-note@+1 {{'func.call' cannot be copied}}
    func.call @elsewhere(%i) : (index) -> ()
  } {sliceCount = 2 : i32}
  // expected-error@+1 {{'scf.for' op unsupported op in Slicing pass}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-note@+1 {{'nv_tileas.async.pipeline.create_pipeline' cannot be copied}}
    %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x8xf32, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
  } {sliceCount = 2 : i32}
  // expected-error@+1 {{'scf.for' op unsupported op in Slicing pass}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-note@+1 {{'nv_tileas.async.pipeline.agent_switch' cannot be copied}}
    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40>, isolated = false} agent 0 {
    }
  } {sliceCount = 2 : i32}
  func.return
}

// -----

// The body: also where it is deep inside.

func.func @f(%n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op unsupported op in Slicing pass}}
  scf.for %i = %c0 to %n step %c1 {
    scf.if %p {
      // expected-note@+1 {{'test.op' cannot be copied}}
      "test.op"() : () -> ()
    }
  } {sliceCount = 2 : i32}
  func.return
}

// -----

// The lower bound.  The text ends with a blank.

// expected-note@+1 {{it depends on this}}
func.func @argument(%n: index) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op unsupported op to be a lower bound in slicing pass }}
  scf.for %i = %n to %n step %c1 {
  } {sliceCount = 2 : i32}
  func.return
}

// -----

func.func @product(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    // expected-note@+1 {{it depends on this}}
    %square = arith.muli %i, %i : index
    %first = arith.addi %square, %c1 : index
    // expected-error@+1 {{'scf.for' op unsupported op to be a lower bound in slicing pass }}
    scf.for %j = %first to %n step %c1 {
    } {sliceCount = 2 : i32}
  }
  func.return
}

// -----

func.func @call(%n: index) -> index {
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{it depends on this}}
  %first = func.call @call(%n) : (index) -> index
  // expected-error@+1 {{'scf.for' op unsupported op to be a lower bound in slicing pass }}
  scf.for %i = %first to %n step %c1 {
  } {sliceCount = 2 : i32}
  func.return %n : index
}

// -----

func.func @carried(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{it depends on this}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (index) {
    // expected-error@+1 {{'scf.for' op unsupported op to be a lower bound in slicing pass }}
    scf.for %j = %s to %n step %c1 {
    } {sliceCount = 2 : i32}
    scf.yield %i : index
  }
  func.return
}

// -----

// What the loop begins with: a value that the function returns as it is.

func.func @returned(%n: index, %x: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{the value comes from here}}
  %y = arith.negf %x : f32
  // expected-error@+1 {{'scf.for' op fail to get an initial forOperand in slicing pass}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> (f32) {
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  } {sliceCount = 2 : i32}
  func.return %r, %y : f32, f32
}

// -----

// What the loop begins with: a value that branches carry round, or a loop of another dialect.

// expected-note@+1 {{the value comes from here}}
func.func @branches(%n: index, %p: i1, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^loop(%x : f32)
^loop(%y: f32):
  // expected-error@+1 {{'scf.for' op fail to get an initial forOperand in slicing pass}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> (f32) {
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  } {sliceCount = 2 : i32}
  cf.cond_br %p, ^loop(%r : f32), ^end
^end:
  func.return
}

// -----

func.func @custom(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{the value comes from here}}
  "custom.loop"(%x) ({
  ^bb0(%y: f32):
    // expected-error@+1 {{'scf.for' op fail to get an initial forOperand in slicing pass}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> (f32) {
      %t = arith.addf %s, %x : f32
      scf.yield %t : f32
    } {sliceCount = 2 : i32}
  }) : (f32) -> ()
  func.return
}

// -----

// The copies of a loop whose plan is legal.

func.func @f(%n: index, %x: tensor<64x64xf16>, %s: tensor<64x64xf16, #nv_tileas<space smem>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op unsupported atom of copyOp in slicing pass}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-note@+1 {{atom unknown_copy has no layout yet}}
    nv_tileas.copy %x, %s {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
  } {sliceCount = 2 : i32}
  func.return
}

// -----

func.func @f(%n: index, %x: tensor<64x64xf16>, %s: tensor<64x64xf16, #nv_tileas<space smem>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op unsupported atom of copyOp in slicing pass}}
  scf.for %i = %c0 to %n step %c1 {
    // expected-note@+1 {{atom unknown_copy has no layout yet}}
    %t = nv_tileas.async.copy %x, %s {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>> -> !nv_tileas.token
  } {sliceCount = 2 : i32}
  func.return
}
