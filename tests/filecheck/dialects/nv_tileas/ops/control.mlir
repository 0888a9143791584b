// Control and metadata: directives, and the next piece of work.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s --check-prefix=XDSL


// A pragma without a body holds from here on, one with a body for its operations.

func.func @pragma(%x: f32) {
  nv_tileas.pragma {ocgEnterDirectives = "one"}
  nv_tileas.pragma {ocgLeaveDirectives = ["one"]}
  nv_tileas.pragma {ocgEnterDirectives = ["one", "two"], ocgLeaveDirectives = []} {
    "test.op"() : () -> ()
    nv_tileas.yield
  }
  %y, %n = nv_tileas.pragma {ocgEnterDirectives = "one"} -> f32, i32 {
    %m = "test.op"() : () -> i32
    nv_tileas.yield %x, %m : f32, i32
  }
  func.return
}

// XDSL: nv_tileas.pragma {ocgEnterDirectives = "one"}

// CHECK-LABEL: func.func @pragma(%x: f32) {
// CHECK-NEXT:    nv_tileas.pragma {ocgEnterDirectives = "one"}
// CHECK-NEXT:    nv_tileas.pragma {ocgLeaveDirectives = ["one"]}
// CHECK-NEXT:    nv_tileas.pragma {ocgEnterDirectives = ["one", "two"], ocgLeaveDirectives = []} {
// CHECK-NEXT:      "test.op"() : () -> ()
// CHECK-NEXT:      nv_tileas.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %y, %n = nv_tileas.pragma {ocgEnterDirectives = "one"} -> f32, i32 {
// CHECK-NEXT:      %m = "test.op"() : () -> i32
// CHECK-NEXT:      nv_tileas.yield %x, %m : f32, i32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A persistent kernel takes the place of blocks that have not begun: ids, then whether there is one.

func.func @cancel() {
  %id = nv_tileas.cancel_next_program_id : i32
  %x, %valid = nv_tileas.cancel_next_program_id : i32, i1
  %a, %b, %c, %found = nv_tileas.cancel_next_program_id : i32, i32, i32, i1
  func.return
}

// CHECK-LABEL: func.func @cancel() {
// CHECK-NEXT:    %id = nv_tileas.cancel_next_program_id : i32
// CHECK-NEXT:    %x, %valid = nv_tileas.cancel_next_program_id : i32, i1
// CHECK-NEXT:    %a, %b, %c, %found = nv_tileas.cancel_next_program_id : i32, i32, i32, i1
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// The answer may come later.

func.func @async_cancel() {
  %bare = nv_tileas.async.cancel_next_program_id : !nv_tileas.token
  %one = nv_tileas.async.cancel_next_program_id : !nv_tileas.token<i32>
  %answer = nv_tileas.async.cancel_next_program_id : !nv_tileas.token<tuple<i32, i1>>
  %id, %valid = nv_tileas.async.future_wait %answer : !nv_tileas.token<tuple<i32, i1>> -> i32, i1
  func.return
}

// CHECK-LABEL: func.func @async_cancel() {
// CHECK-NEXT:    %bare = nv_tileas.async.cancel_next_program_id : !nv_tileas.token
// CHECK-NEXT:    %one = nv_tileas.async.cancel_next_program_id : !nv_tileas.token<i32>
// CHECK-NEXT:    %answer = nv_tileas.async.cancel_next_program_id : !nv_tileas.token<tuple<i32, i1>>
// CHECK-NEXT:    %id, %valid = nv_tileas.async.future_wait %answer : !nv_tileas.token<tuple<i32, i1>> -> i32, i1
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Grids of a stream whose launch lets the next one start early.

func.func @grids(%before: !nv_tileas.mem_token) {
  nv_tileas.grid_dependency "launch_dependents"
  %after = nv_tileas.grid_dependency "wait" after %before : !nv_tileas.mem_token -> !nv_tileas.mem_token
  func.return
}

// CHECK-LABEL: func.func @grids(%before: !nv_tileas.mem_token) {
// CHECK-NEXT:    nv_tileas.grid_dependency "launch_dependents"
// CHECK-NEXT:    %after = nv_tileas.grid_dependency "wait" after %before : !nv_tileas.mem_token -> !nv_tileas.mem_token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Memory that is mapped at several addresses.

func.func @aliases(%before: !nv_tileas.mem_token) {
  nv_tileas.fence_alias
  %after = nv_tileas.fence_alias after %before : !nv_tileas.mem_token -> !nv_tileas.mem_token
  func.return
}

// CHECK-LABEL: func.func @aliases(%before: !nv_tileas.mem_token) {
// CHECK-NEXT:    nv_tileas.fence_alias
// CHECK-NEXT:    %after = nv_tileas.fence_alias after %before : !nv_tileas.mem_token -> !nv_tileas.mem_token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Relaxed accesses of tiles are ordered by fences.

func.func @fences(%before: !nv_tileas.mem_token) {
  nv_tileas.fence release gpu
  %after = nv_tileas.fence acquire sys after %before : !nv_tileas.mem_token -> !nv_tileas.mem_token
  func.return
}

// CHECK-LABEL: func.func @fences(%before: !nv_tileas.mem_token) {
// CHECK-NEXT:    nv_tileas.fence release gpu
// CHECK-NEXT:    %after = nv_tileas.fence acquire sys after %before : !nv_tileas.mem_token -> !nv_tileas.mem_token
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// -----

// Warpgroups of an agent take turns, by a named barrier each.

func.func @turns() {
  nv_tileas.async.turn "open" {barriers = array<i32: 14, 15>}
  nv_tileas.async.turn "take" {barriers = array<i32: 14, 15>}
  nv_tileas.async.turn "pass" {barriers = array<i32: 14, 15>}
  nv_tileas.async.turn "close" {barriers = array<i32: 14, 15>}
  func.return
}

// CHECK-LABEL: func.func @turns() {
// CHECK-NEXT:    nv_tileas.async.turn "open" {barriers = array<i32: 14, 15>}
// CHECK-NEXT:    nv_tileas.async.turn "take" {barriers = array<i32: 14, 15>}
// CHECK-NEXT:    nv_tileas.async.turn "pass" {barriers = array<i32: 14, 15>}
// CHECK-NEXT:    nv_tileas.async.turn "close" {barriers = array<i32: 14, 15>}
// CHECK-NEXT:    func.return

// -----

// A counter gives each tile block of a launch to one CTA.

func.func @tile_blocks() {
  %asked = nv_tileas.async.next_tile_block {rounds = 2 : i32} : !nv_tileas.token<tuple<i32, i32>>
  %x, %y = nv_tileas.async.wait %asked : !nv_tileas.token<tuple<i32, i32>> -> i32, i32
  func.return
}

// CHECK-LABEL: func.func @tile_blocks() {
// CHECK-NEXT:    %asked = nv_tileas.async.next_tile_block {rounds = 2 : i32} : !nv_tileas.token<tuple<i32, i32>>
// CHECK-NEXT:    %x, %y = nv_tileas.async.wait %asked : !nv_tileas.token<tuple<i32, i32>> -> i32, i32
// CHECK-NEXT:    func.return
