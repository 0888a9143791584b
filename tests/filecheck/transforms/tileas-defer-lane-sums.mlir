// `tileas-defer-lane-sums`: lanes exchange the sums that a loop carries once, behind it.

// RUN: tileas-opt -p tileas-defer-lane-sums --split-input-file %s | filecheck %s

// Sums of rows of accumulators that a loop scales and adds up: each lane carries the sum of its own
// elements, and the lanes of a row add their sums behind the loop.

#acc = #nv_tileas.dot_operand<"((8,2,4),(2,4,2)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">
#row = #nv_tileas.linear<"((8,2,4),4):((4@thread,1@value,32@thread),1@thread)">
#column = #nv_tileas.linear<"((8,2,4),1,4):((4@thread,1@value,32@thread),0,1@thread)">

// CHECK-LABEL: func.func @carried
// CHECK: %[[total:.*]] = scf.for
// CHECK: nv_tileas.reduce {{.*}}nv_tileas.lanes_apart
// CHECK: math.fma
// CHECK: scf.yield
// CHECK: %[[whole:.*]] = nv_tileas.reduce %[[total]] {{.*}}nv_tileas.of_lanes
// CHECK: %[[column:.*]] = nv_tileas.expand_dims %[[whole]]
// CHECK: math.log2 %[[column]]
func.func @carried(%n: index, %p: tensor<64x16xf32, #acc>, %s: tensor<64x1xf32, #column>) -> tensor<64x1xf32, #column> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<64x1xf32, #column>
  %total = scf.for %i = %zero to %n step %one iter_args(%t = %none) -> (tensor<64x1xf32, #column>) {
    %f = math.exp2 %s : tensor<64x1xf32, #column>
    %r = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x16xf32, #acc> -> tensor<64xf32, #row> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nv_tileas.yield %c : f32
    }
    %e = nv_tileas.expand_dims %r {axis = 1 : i32} : tensor<64xf32, #row> -> tensor<64x1xf32, #column>
    %next = math.fma %t, %f, %e : tensor<64x1xf32, #column>
    scf.yield %next : tensor<64x1xf32, #column>
  }
  %log = math.log2 %total : tensor<64x1xf32, #column>
  func.return %log : tensor<64x1xf32, #column>
}

// -----

// What starts from something else than zero, or is needed whole in the loop, stays.

#acc = #nv_tileas.dot_operand<"((8,2,4),(2,4,2)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">
#row = #nv_tileas.linear<"((8,2,4),4):((4@thread,1@value,32@thread),1@thread)">
#column = #nv_tileas.linear<"((8,2,4),1,4):((4@thread,1@value,32@thread),0,1@thread)">

// CHECK-LABEL: func.func @whole
// CHECK-NOT: lanes_apart
// CHECK-NOT: of_lanes
func.func @whole(%n: index, %p: tensor<64x16xf32, #acc>, %s: tensor<64x1xf32, #column>) -> (tensor<64x1xf32, #column>, tensor<64x1xf32, #column>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<64x1xf32, #column>
  %total, %most = scf.for %i = %zero to %n step %one iter_args(%t = %s, %m = %none) -> (tensor<64x1xf32, #column>, tensor<64x1xf32, #column>) {
    %r = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x16xf32, #acc> -> tensor<64xf32, #row> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nv_tileas.yield %c : f32
    }
    %e = nv_tileas.expand_dims %r {axis = 1 : i32} : tensor<64xf32, #row> -> tensor<64x1xf32, #column>
    %next = arith.addf %t, %e : tensor<64x1xf32, #column>
    %r2 = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x16xf32, #acc> -> tensor<64xf32, #row> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nv_tileas.yield %c : f32
    }
    %e2 = nv_tileas.expand_dims %r2 {axis = 1 : i32} : tensor<64xf32, #row> -> tensor<64x1xf32, #column>
    %larger = arith.maximumf %m, %e2 : tensor<64x1xf32, #column>
    scf.yield %next, %larger : tensor<64x1xf32, #column>, tensor<64x1xf32, #column>
  }
  func.return %total, %most : tensor<64x1xf32, #column>, tensor<64x1xf32, #column>
}

// -----

// Sums that a loop carries as lines: those of blocks of TileLang's text.

#acc = #nv_tileas.dot_operand<"((8,2,4),(2,4,2)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">
#row = #nv_tileas.linear<"((8,2,4),4):((4@thread,1@value,32@thread),1@thread)">

// CHECK-LABEL: func.func @lines
// CHECK: %[[total:.*]] = scf.for
// CHECK: nv_tileas.reduce {{.*}}nv_tileas.lanes_apart
// CHECK: %[[column:.*]] = nv_tileas.expand_dims %[[total]] {axis = 1 : i32} : tensor<64xf32, {{.*}}> -> tensor<64x1xf32, #nv_tileas.linear<"((8,2,4),1,4):((4@thread,1@value,32@thread),0,1@thread)">>
// CHECK-NEXT: %[[whole:.*]] = nv_tileas.reduce %[[column]] {{.*}}nv_tileas.of_lanes
// CHECK: math.log2 %[[whole]]
func.func @lines(%n: index, %p: tensor<64x16xf32, #acc>, %s: tensor<64xf32, #row>) -> tensor<64xf32, #row> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<64xf32, #row>
  %total = scf.for %i = %zero to %n step %one iter_args(%t = %none) -> (tensor<64xf32, #row>) {
    %f = math.exp2 %s : tensor<64xf32, #row>
    %r = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x16xf32, #acc> -> tensor<64xf32, #row> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nv_tileas.yield %c : f32
    }
    %next = math.fma %t, %f, %r : tensor<64xf32, #row>
    scf.yield %next : tensor<64xf32, #row>
  }
  %log = math.log2 %total : tensor<64xf32, #row>
  func.return %log : tensor<64xf32, #row>
}

// -----

// A CTA that takes one tile block after another: the loop around carries no sum, and needs whole
// ones. The first round stands in front of the inner loop, which carries what it leaves.

#acc = #nv_tileas.dot_operand<"((8,2,4),(2,4,2)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">
#row = #nv_tileas.linear<"((8,2,4),4):((4@thread,1@value,32@thread),1@thread)">

// CHECK-LABEL: func.func @tile_blocks
// CHECK: scf.for
// CHECK: nv_tileas.reduce {{.*}}nv_tileas.lanes_apart
// CHECK: %[[total:.*]] = scf.for
// CHECK: nv_tileas.reduce {{.*}}nv_tileas.lanes_apart
// CHECK: %[[column:.*]] = nv_tileas.expand_dims %[[total]]
// CHECK-NEXT: %[[whole:.*]] = nv_tileas.reduce %[[column]] {{.*}}nv_tileas.of_lanes
// CHECK: math.log2 %[[whole]]
func.func @tile_blocks(%n: index, %p: tensor<64x16xf32, #acc>, %s: tensor<64xf32, #row>) -> tensor<64xf32, #row> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<64xf32, #row>
  %last = scf.for %block = %zero to %n step %one iter_args(%x = %s) -> (tensor<64xf32, #row>) {
    %f = math.exp2 %x : tensor<64xf32, #row>
    %r = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x16xf32, #acc> -> tensor<64xf32, #row> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nv_tileas.yield %c : f32
    }
    %first = math.fma %none, %f, %r : tensor<64xf32, #row>
    %total = scf.for %i = %one to %n step %one iter_args(%t = %first) -> (tensor<64xf32, #row>) {
      %r2 = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x16xf32, #acc> -> tensor<64xf32, #row> {
      ^bb0(%a2: f32, %b2: f32):
        %c2 = arith.addf %a2, %b2 : f32
        nv_tileas.yield %c2 : f32
      }
      %next = math.fma %t, %f, %r2 : tensor<64xf32, #row>
      scf.yield %next : tensor<64xf32, #row>
    }
    %log = math.log2 %total : tensor<64xf32, #row>
    scf.yield %log : tensor<64xf32, #row>
  }
  func.return %last : tensor<64xf32, #row>
}

// -----

// A row that all threads of a CTA share: sums are exchanged between lanes and warps behind the loop,
// whose type says who shares them.

#dealt = #nv_tileas.blocked<"(1,(4,128)):(0,(1@value,1@thread))">
#row = #nv_tileas.linear<"(1,128):(0,1@thread)">
#column = #nv_tileas.linear<"(1,1,128):(0,0,1@thread)">

// CHECK-LABEL: func.func @dealt
// CHECK: %[[total:.*]] = scf.for
// CHECK: nv_tileas.reduce {{.*}}nv_tileas.lanes_apart
// CHECK: %[[whole:.*]] = nv_tileas.reduce %[[total]] {nv_tileas.of_lanes = tensor<1x512xf32, {{.*}}>
// CHECK: %[[column:.*]] = nv_tileas.expand_dims %[[whole]]
// CHECK: math.log2 %[[column]]
func.func @dealt(%n: index, %p: tensor<1x512xf32, #dealt>, %s: tensor<1x1xf32, #column>) -> tensor<1x1xf32, #column> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<1x1xf32, #column>
  %total = scf.for %i = %zero to %n step %one iter_args(%t = %none) -> (tensor<1x1xf32, #column>) {
    %f = math.exp2 %s : tensor<1x1xf32, #column>
    %r = nv_tileas.reduce %p {axis = 1 : i32} : tensor<1x512xf32, #dealt> -> tensor<1xf32, #row> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nv_tileas.yield %c : f32
    }
    %e = nv_tileas.expand_dims %r {axis = 1 : i32} : tensor<1xf32, #row> -> tensor<1x1xf32, #column>
    %next = math.fma %t, %f, %e : tensor<1x1xf32, #column>
    scf.yield %next : tensor<1x1xf32, #column>
  }
  %log = math.log2 %total : tensor<1x1xf32, #column>
  func.return %log : tensor<1x1xf32, #column>
}

// -----

// The only row of a tile without rows: a loop carries its sum as a scalar.

#dealt = #nv_tileas.blocked<"((4,128)):((1@value,1@thread))">
#only = #nv_tileas.blocked<"(128):(1@thread)">

// CHECK-LABEL: func.func @scalar
// CHECK: %[[total:.*]] = scf.for
// CHECK: nv_tileas.reduce {{.*}}nv_tileas.lanes_apart
// CHECK: %[[parts:.*]] = tensor.splat %[[total]] : tensor<1xf32, #nv_tileas.linear<"(1,128):(0,1@thread)">>
// CHECK-NEXT: %[[whole:.*]] = nv_tileas.reduce %[[parts]] {nv_tileas.of_lanes = tensor<512xf32, {{.*}}>
// CHECK: %[[sum:.*]] = tensor.extract %[[whole]][]
// CHECK: math.log2 %[[sum]]
func.func @scalar(%n: index, %p: tensor<512xf32, #dealt>) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant 0.0 : f32
  %total = scf.for %i = %zero to %n step %one iter_args(%t = %none) -> (f32) {
    %r = nv_tileas.reduce %p {axis = 0 : i32} : tensor<512xf32, #dealt> -> tensor<f32, #only> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nv_tileas.yield %c : f32
    }
    %e = tensor.extract %r[] : tensor<f32, #only>
    %next = arith.addf %t, %e : f32
    scf.yield %next : f32
  }
  %log = math.log2 %total : f32
  func.return %log : f32
}
