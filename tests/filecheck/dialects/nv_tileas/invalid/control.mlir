// What control and metadata refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// The yield of tile bodies belongs to tile bodies.

func.func @f() {
  // expected-error@+1 {{'nv_tileas.yield' op ends the body of a reduce, scan, generate or pragma, not of 'func.func'}}
  nv_tileas.yield
}
nv_tileas.pragma {ocgEnterDirectives = "one"} {
  nv_tileas.yield
}

// -----

// A pragma says something, of strings.

// expected-error@+1 {{'nv_tileas.pragma' op needs ocgEnterDirectives or ocgLeaveDirectives}}
"nv_tileas.pragma"() : () -> ()
// expected-error@+1 {{'nv_tileas.pragma' op ocgEnterDirectives is a string or a list of strings, not 1 : i32}}
nv_tileas.pragma {ocgEnterDirectives = 1 : i32}
// expected-error@+1 {{'nv_tileas.pragma' op ocgLeaveDirectives is a string or a list of strings, not ["one", 2 : i64]}}
nv_tileas.pragma {ocgLeaveDirectives = ["one", 2]}

nv_tileas.pragma {ocgLeaveDirectives = ["one", "two"]}

// -----

// Its body takes nothing, and yields the results.

%x = "test.op"() : () -> f32
// expected-error@+1 {{'nv_tileas.pragma' op has results, but no body that yields them}}
%1 = nv_tileas.pragma {ocgEnterDirectives = "one"} -> f32
// expected-error@+1 {{'nv_tileas.pragma' op gives its body no arguments, but it takes 1}}
nv_tileas.pragma {ocgEnterDirectives = "one"} {
^bb0(%y: f32):
  nv_tileas.yield
}
// expected-error@+1 {{'nv_tileas.pragma' op has a body that ends with 'nv_tileas.yield'}}
nv_tileas.pragma {ocgEnterDirectives = "one"} {
  "test.termop"() : () -> ()
}
// expected-error@+1 {{'nv_tileas.pragma' op gives [f32], but its body yields []}}
%2 = nv_tileas.pragma {ocgEnterDirectives = "one"} -> f32 {
  nv_tileas.yield
}
// expected-error@+1 {{'nv_tileas.pragma' op has at most one body, but got 2}}
"nv_tileas.pragma"() <{ocgEnterDirectives = "one"}> ({
  nv_tileas.yield
}, {
  nv_tileas.yield
}) : () -> ()
// expected-error@+1 {{'nv_tileas.pragma' op has a body of one block, but got 0}}
"nv_tileas.pragma"() <{ocgEnterDirectives = "one"}> ({}) : () -> ()

%ok = nv_tileas.pragma {ocgEnterDirectives = "one"} -> f32 {
  nv_tileas.yield %x : f32
}

// -----

// Program ids are i32, one for each axis; then perhaps whether there was a block to take.

// expected-error@+1 {{'nv_tileas.cancel_next_program_id' op gives one to 3 program ids of type i32, then perhaps an i1, but got (i64)}}
%1 = nv_tileas.cancel_next_program_id : i64
// expected-error@+1 {{'nv_tileas.cancel_next_program_id' op gives one to 3 program ids of type i32, then perhaps an i1, but got (i1)}}
%2 = nv_tileas.cancel_next_program_id : i1
// expected-error@+1 {{'nv_tileas.cancel_next_program_id' op gives one to 3 program ids of type i32, then perhaps an i1, but got (i32, i32, i32, i32)}}
%3, %4, %5, %6 = nv_tileas.cancel_next_program_id : i32, i32, i32, i32
// expected-error@+1 {{'nv_tileas.cancel_next_program_id' op gives one to 3 program ids of type i32, then perhaps an i1, but got ()}}
"nv_tileas.cancel_next_program_id"() : () -> ()
// expected-error@+1 {{'nv_tileas.async.cancel_next_program_id' op gives one to 3 program ids of type i32, then perhaps an i1, but got (f32)}}
%7 = nv_tileas.async.cancel_next_program_id : !nv_tileas.token<f32>
// expected-error@+1 {{'nv_tileas.async.cancel_next_program_id' op makes an async token, not i32}}
%8 = "nv_tileas.async.cancel_next_program_id"() : () -> i32

%x, %y, %z, %valid = nv_tileas.cancel_next_program_id : i32, i32, i32, i1
%t = nv_tileas.async.cancel_next_program_id : !nv_tileas.token<tuple<i32, i1>>

// -----

// A grid waits for those before it, or lets those after it start.

func.func @grids(%t: !nv_tileas.mem_token) {
  // expected-error@+1 {{'nv_tileas.grid_dependency' op has no action 'launch'; there are wait, launch_dependents}}
  nv_tileas.grid_dependency "launch"
  // expected-error@+1 {{'nv_tileas.grid_dependency' op gives a token iff it takes one, but takes 1 and gives 0}}
  nv_tileas.grid_dependency "wait" after %t : !nv_tileas.mem_token
  func.return
}

// -----

// A fence acquires, releases, or both, for a scope.

func.func @fences(%t: !nv_tileas.mem_token) {
  // expected-error@+1 {{'nv_tileas.fence' op orders nothing as relaxed; there are acquire, release, acq_rel}}
  nv_tileas.fence relaxed gpu
  // expected-error@+1 {{'nv_tileas.fence' op mem_scope required when mem_semantic is not weak}}
  nv_tileas.fence release
  // expected-error@+1 {{'nv_tileas.fence' op gives a token iff it takes one, but takes 1 and gives 0}}
  nv_tileas.fence acquire gpu after %t : !nv_tileas.mem_token
  func.return
}

// -----

// A turn has an action, and a barrier for each of two groups or more.

func.func @turns() {
  // expected-error@+1 {{'nv_tileas.async.turn' op has no action 'skip'; there are open, take, pass, close}}
  nv_tileas.async.turn "skip" {barriers = array<i32: 14, 15>}
  // expected-error@+1 {{'nv_tileas.async.turn' op needs two or more successive barriers of 1 to 15, one for each group, but got [14]}}
  nv_tileas.async.turn "take" {barriers = array<i32: 14>}
  // expected-error@+1 {{'nv_tileas.async.turn' op needs two or more successive barriers of 1 to 15, one for each group, but got [15, 16]}}
  nv_tileas.async.turn "take" {barriers = array<i32: 15, 16>}
  // expected-error@+1 {{'nv_tileas.async.turn' op needs two or more successive barriers of 1 to 15, one for each group, but got [15, 14]}}
  nv_tileas.async.turn "pass" {barriers = array<i32: 15, 14>}
  func.return
}

// -----

// A counter delivers ids, of tile blocks that nobody has by its number.

func.func @tile_blocks() {
  // expected-error@+1 {{'nv_tileas.async.next_tile_block' op is behind 1 round or more, not 0}}
  %a = nv_tileas.async.next_tile_block {rounds = 0 : i32} : !nv_tileas.token<tuple<i32>>
  // expected-error@+1 {{'nv_tileas.async.next_tile_block' op delivers one to 3 ids of type i32, but got (i1)}}
  %b = nv_tileas.async.next_tile_block {rounds = 1 : i32} : !nv_tileas.token<i1>
  func.return
}
