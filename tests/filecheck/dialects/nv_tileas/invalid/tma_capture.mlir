// What descriptors must not be built from, with the nearest thing that they may.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// A loop gives an argument its initial value or what the last iteration yields: two values.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d>

func.func @loop(%v: !view, %w: !view, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %v) -> (!view) {
    // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op values depended by MakeTiledTMADescOp are not supportedbecause <block argument> of type '!nv_tileas.tiled_view<1024x1024xf16, gmem>' at index: 1 matches more than 1 captured values.}}
    %d = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load} : !view -> !desc
    %ok = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #load} : !view -> !desc
    scf.yield %w : !view
  }
  func.return
}

func.func @after_loop(%v: !view, %w: !view, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %v) -> (!view) {
    scf.yield %w : !view
  }
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op values depended by MakeTiledTMADescOp are not supportedbecause result #0 of 'scf.for' matches more than 1 captured values.}}
  %e = nv_tileas.make_tiled_tma_desc %r box[%c64, %c64] {atom = #load} : !view -> !desc
  func.return
}

// -----

// Where a branch merges two values the host cannot know which; one value is no choice.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d>

func.func @branches(%v: !view, %a: index, %b: index, %p: i1) {
  %c64 = arith.constant 64 : index
  cf.cond_br %p, ^left, ^right
^left:
  cf.br ^merge(%a, %c64 : index, index)
^right:
  cf.br ^merge(%b, %c64 : index, index)
^merge(%x: index, %y: index):
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op values depended by MakeTiledTMADescOp are not supportedbecause <block argument> of type 'index' at index: 0 matches more than 1 captured values.}}
  %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %x] {atom = #load} : !view -> !desc
  %z = arith.addi %x, %c64 : index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op values depended by MakeTiledTMADescOp are not supportedbecause <block argument> of type 'index' at index: 0 matches more than 1 captured values.}}
  %e = nv_tileas.make_tiled_tma_desc %v box[%c64, %z] {atom = #load} : !view -> !desc
  %ok = nv_tileas.make_tiled_tma_desc %v box[%c64, %y] {atom = #load} : !view -> !desc
  func.return
}

func.func @conditional(%v: !view, %a: index, %b: index, %p: i1) {
  %c64 = arith.constant 64 : index
  cf.cond_br %p, ^merge(%a : index), ^merge(%b : index)
^merge(%x: index):
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op values depended by MakeTiledTMADescOp are not supportedbecause <block argument> of type 'index' at index: 0 matches more than 1 captured values.}}
  %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %x] {atom = #load} : !view -> !desc
  func.return
}

// -----

// What a region is handed anew each time it runs, as a stage of a pipeline, is many values.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d>

func.func @region(%v: !view) {
  %c64 = arith.constant 64 : index
  "test.op"() ({
  ^bb0(%x: index):
    // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op values depended by MakeTiledTMADescOp are not supportedbecause <block argument> of type 'index' at index: 0 matches more than 1 captured values.}}
    %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %x] {atom = #load} : !view -> !desc
    %ok = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #load} : !view -> !desc
    "test.termop"() : () -> ()
  }) : () -> ()
  func.return
}

// -----

// One value, but from structured control flow: the counter of a loop, the result of a branch.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d>

func.func @structured(%v: !view, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expected MakeTiledTMADescOp not depends on scf}}
    %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %i] {atom = #load} : !view -> !desc
    %w = nv_tileas.view %v[%i, %c0] : !view -> !view
    // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expected MakeTiledTMADescOp not depends on scf}}
    %e = nv_tileas.make_tiled_tma_desc %w box[%c64, %c64] {atom = #load} : !view -> !desc
    %u = nv_tileas.view %v[%n, %c0] : !view -> !view
    %ok = nv_tileas.make_tiled_tma_desc %u box[%c64, %c64] {atom = #load} : !view -> !desc
  }
  %x = scf.if %p -> (index) {
    scf.yield %n : index
  } else {
    scf.yield %n : index
  }
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expected MakeTiledTMADescOp not depends on scf}}
  %f = nv_tileas.make_tiled_tma_desc %v box[%c64, %x] {atom = #load} : !view -> !desc
  %y = scf.if %p -> (index) {
    scf.yield %n : index
  } else {
    scf.yield %c64 : index
  }
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op values depended by MakeTiledTMADescOp are not supportedbecause result #0 of 'scf.if' matches more than 1 captured values.}}
  %g = nv_tileas.make_tiled_tma_desc %v box[%c64, %y] {atom = #load} : !view -> !desc
  func.return
}

// -----

// On the host there is no math; the kernel may use it.

!view = !nv_tileas.tiled_view<1024x1024xf16, gmem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d>

func.func @host(%v: !view, %n: i64) attributes {"nv_tileas.host-code"} {
  %c64 = arith.constant 64 : index
  %a = math.absi %n : i64
  %x = arith.index_cast %a : i64 to index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op math dialect not suppourt in separateHostTMA pass in the moment.}}
  %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %x] {atom = #load} : !view -> !desc
  %ok = nv_tileas.make_tiled_tma_desc %v box[%c64, %c64] {atom = #load} : !view -> !desc
  func.return
}

func.func @floats_on_the_host(%v: !view, %f: f64) attributes {"nv_tileas.host-code"} {
  %c64 = arith.constant 64 : index
  %e = math.exp %f : f64
  %n = arith.fptosi %e : f64 to i64
  %x = arith.index_cast %n : i64 to index
  // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op math dialect not suppourt in separateHostTMA pass in the moment.}}
  %d = nv_tileas.make_tiled_tma_desc %v box[%c64, %x] {atom = #load} : !view -> !desc
  func.return
}

func.func @device(%v: !view, %n: i64) {
  %c64 = arith.constant 64 : index
  %a = math.absi %n : i64
  %x = arith.index_cast %a : i64 to index
  %ok = nv_tileas.make_tiled_tma_desc %v box[%c64, %x] {atom = #load} : !view -> !desc
  func.return
}

// -----

// Control flow that hands on too little hands on nothing, and is for its own verifier to refuse.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d>

func.func @short_branch(%v: !view) {
  "cf.br"()[^next] : () -> ()
^next(%x: index):
  %ok = nv_tileas.make_tiled_tma_desc %v box[%x, %x] {atom = #load} : !view -> !desc
  func.return
}

func.func @short_condition(%v: !view, %p: i1, %a: index) {
  "cf.cond_br"(%p, %a)[^left, ^right] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, index) -> ()
^left(%x: index, %y: index):
  %ok = nv_tileas.make_tiled_tma_desc %v box[%x, %y] {atom = #load} : !view -> !desc
  func.return
^right:
  func.return
}

// -----

// The same where the branch does not say what it hands to which block.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d>

func.func @no_segments(%v: !view, %p: i1, %a: index) {
  cf.br ^third
^first(%x: index):
  %ok = nv_tileas.make_tiled_tma_desc %v box[%x, %x] {atom = #load} : !view -> !desc
  func.return
^second:
  func.return
^third:
  // expected-error@+1 {{'cf.cond_br' op Expected operandSegmentSizes property in cf.cond_br operation.}}
  "cf.cond_br"(%p, %a)[^first, ^second] : (i1, index) -> ()
}

// -----

// A loop with more arguments and results than initial values: they are still those of a loop.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
!desc = !nv_tileas.tma_desc
#load = #nv_tileas<atom tma_load_2d>

func.func @long_loop(%v: !view, %a: index) {
  %r:2 = "scf.for"(%a, %a, %a, %a) ({
  ^body(%i: index, %x: index, %y: index):
    // expected-error@+1 {{'nv_tileas.make_tiled_tma_desc' op expected MakeTiledTMADescOp not depends on scf}}
    %d = nv_tileas.make_tiled_tma_desc %v box[%y, %y] {atom = #load} : !view -> !desc
    %ok = nv_tileas.make_tiled_tma_desc %v box[%a, %a] {atom = #load} : !view -> !desc
    "scf.yield"(%a) : (index) -> ()
  }) : (index, index, index, index) -> (index, index)
  func.return
}
