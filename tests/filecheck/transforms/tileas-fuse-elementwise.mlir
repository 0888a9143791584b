// `tileas-fuse-elementwise`: fuse producers of tiles into the `generate` that extracts from them.

// RUN: tileas-opt %s --split-input-file -p tileas-fuse-elementwise | filecheck %s

// Positions are recomputed at each use.
// CHECK-LABEL: func.func @positions
func.func @positions(%t: tensor<4x8xf32>, %n: i32, %z: f32) -> (tensor<4x8xf32>, tensor<4x8xi1>) {
  %p = nv_tileas.generate : tensor<8xi32> {
  ^bb0(%j: index):
    %k = arith.index_cast %j : index to i32
    nv_tileas.yield %k : i32
  }
  %row = nv_tileas.expand_dims %p {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %m = nv_tileas.generate : tensor<4x8xi1> {
  ^bb0(%a: index, %b: index):
    %c = arith.constant 0 : index
    %k = tensor.extract %row[%c, %b] : tensor<1x8xi32>
    %l = arith.cmpi slt, %k, %n : i32
    nv_tileas.yield %l : i1
  }
  // CHECK: %m = nv_tileas.generate : tensor<4x8xi1> {
  // CHECK-NEXT: ^bb0(%a: index, %b: index):
  // CHECK:        %[[K:.*]] = arith.index_cast %b : index to i32
  // CHECK-NEXT:   %l = arith.cmpi slt, %[[K]], %n : i32
  // CHECK:      %r = nv_tileas.generate : tensor<4x8xf32> {
  // CHECK-NEXT: ^bb0(%e: index, %f: index):
  // CHECK:        %[[K:.*]] = arith.index_cast %f : index to i32
  // CHECK-NEXT:   %[[C:.*]] = arith.cmpi slt, %[[K]], %n : i32
  // CHECK-NEXT:   %v = tensor.extract %t[%e, %f] : tensor<4x8xf32>
  // CHECK-NEXT:   %s = arith.select %[[C]], %v, %z : f32
  %zero = tensor.splat %z : tensor<4x8xf32>
  %r = nv_tileas.generate : tensor<4x8xf32> {
  ^bb0(%e: index, %f: index):
    %c = tensor.extract %m[%e, %f] : tensor<4x8xi1>
    %v = tensor.extract %t[%e, %f] : tensor<4x8xf32>
    %w = tensor.extract %zero[%e, %f] : tensor<4x8xf32>
    %s = arith.select %c, %v, %w : f32
    nv_tileas.yield %s : f32
  }
  func.return %r, %m : tensor<4x8xf32>, tensor<4x8xi1>
}

// -----

// Sums of positions are positions; a dimension of extent one is none.
// CHECK-LABEL: func.func @sums
func.func @sums(%first: i32) -> tensor<8x1xi32> {
  %p = nv_tileas.generate : tensor<8xi32> {
  ^bb0(%j: index):
    %k = arith.index_cast %j : index to i32
    nv_tileas.yield %k : i32
  }
  %f = tensor.splat %first : tensor<8xi32>
  %s = arith.addi %f, %p : tensor<8xi32>
  %v = nv_tileas.view %s : tensor<8xi32> -> tensor<8x1xi32>
  // CHECK-NEXT: %r = nv_tileas.generate
  // CHECK-NEXT: ^bb0(%[[I:.*]]: index, %{{.*}}: index):
  // CHECK-NEXT:   %[[K:.*]] = arith.index_cast %[[I]] : index to i32
  // CHECK-NEXT:   %[[E:.*]] = arith.addi %first, %[[K]] : i32
  // CHECK-NEXT:   nv_tileas.yield %[[E]] : i32
  %r = nv_tileas.generate : tensor<8x1xi32> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %v[%i, %j] : tensor<8x1xi32>
    nv_tileas.yield %e : i32
  }
  func.return %r : tensor<8x1xi32>
}

// -----

// What is computed of elements stays where it would be computed twice.
// CHECK-LABEL: func.func @twice
func.func @twice(%t: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %square = nv_tileas.generate : tensor<4xf32>
  %square = nv_tileas.generate : tensor<4xf32> {
  ^bb0(%i: index):
    %e = tensor.extract %t[%i] : tensor<4xf32>
    %s = arith.mulf %e, %e : f32
    nv_tileas.yield %s : f32
  }
  // CHECK: tensor.extract %square[%{{.*}}]
  %rows = nv_tileas.generate : tensor<4x8xf32> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %square[%i] : tensor<4xf32>
    nv_tileas.yield %e : f32
  }
  // CHECK-NOT: %once
  %once = nv_tileas.generate : tensor<4xf32> {
  ^bb0(%i: index):
    %e = tensor.extract %t[%i] : tensor<4xf32>
    %s = arith.negf %e : f32
    nv_tileas.yield %s : f32
  }
  // CHECK: %last = nv_tileas.generate : tensor<4xf32> {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: index):
  // CHECK-NEXT:   %[[E:.*]] = tensor.extract %t[%[[I]]]
  // CHECK-NEXT:   %[[N:.*]] = arith.negf %[[E]] : f32
  // CHECK-NEXT:   %{{.*}} = math.sqrt %[[N]] : f32
  %last = nv_tileas.generate : tensor<4xf32> {
  ^bb0(%i: index):
    %e = tensor.extract %once[%i] : tensor<4xf32>
    %s = math.sqrt %e : f32
    nv_tileas.yield %s : f32
  }
  func.return %rows, %square, %last : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Elements that go to other places do so once.
// CHECK-LABEL: func.func @turned
func.func @turned(%t: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK: %turned = nv_tileas.generate
  %turned = nv_tileas.generate : tensor<8x4xf32> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %t[%j, %i] : tensor<4x8xf32>
    nv_tileas.yield %e : f32
  }
  // CHECK: tensor.extract %turned[%{{.*}}, %{{.*}}]
  %a = nv_tileas.generate : tensor<8x4xf32> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %turned[%i, %j] : tensor<8x4xf32>
    %s = arith.negf %e : f32
    nv_tileas.yield %s : f32
  }
  func.return %a, %turned : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Integers are extended where they are read: what goes between threads is narrow.
// CHECK-LABEL: func.func @extended
func.func @extended(%t: tensor<4xi32>) -> tensor<4x8xi64> {
  // CHECK-NOT: tensor<4xi64>
  %wide = nv_tileas.generate : tensor<4xi64> {
  ^bb0(%i: index):
    %e = tensor.extract %t[%i] : tensor<4xi32>
    %s = arith.extsi %e : i32 to i64
    nv_tileas.yield %s : i64
  }
  // CHECK: %rows = nv_tileas.generate : tensor<4x8xi64>
  // CHECK:   tensor.extract %t[%{{.*}}] : tensor<4xi32>
  // CHECK-NEXT: arith.extsi
  %rows = nv_tileas.generate : tensor<4x8xi64> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %wide[%i] : tensor<4xi64>
    nv_tileas.yield %e : i64
  }
  func.return %rows : tensor<4x8xi64>
}

// -----

// Positions of a reshaped tile are those of the tile with the same row-major number.
// CHECK-LABEL: func.func @reshaped_positions
func.func @reshaped_positions() -> tensor<2x4xi32> {
  %numbers = nv_tileas.generate : tensor<8xi32> {
  ^bb0(%i: index):
    %n = arith.index_cast %i : index to i32
    nv_tileas.yield %n : i32
  }
  %rows = nv_tileas.view %numbers : tensor<8xi32> -> tensor<2x4xi32>
  // CHECK-NOT:  nv_tileas.view
  // CHECK:      %y = nv_tileas.generate : tensor<2x4xi32> {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
  // CHECK-NEXT:   %[[FOUR:.*]] = arith.constant 4 : index
  // CHECK-NEXT:   %[[ROW:.*]] = arith.muli %[[I]], %[[FOUR]] : index
  // CHECK-NEXT:   %[[N:.*]] = arith.addi %[[ROW]], %[[J]] : index
  // CHECK-NEXT:   %[[EIGHT:.*]] = arith.constant 8 : index
  // CHECK-NEXT:   %[[AT:.*]] = arith.remui %[[N]], %[[EIGHT]] : index
  // CHECK:        %{{.*}} = arith.index_cast %[[AT]] : index to i32
  %y = nv_tileas.generate : tensor<2x4xi32> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %rows[%i, %j] : tensor<2x4xi32>
    %s = arith.addi %e, %e : i32
    nv_tileas.yield %s : i32
  }
  func.return %y : tensor<2x4xi32>
}

// -----

// What programs write to count the bits of a word is one operation, on tiles and in bodies alike.
// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<4x8xi32>, %y: i32) -> (tensor<4x8xi32>, i32, i32) {
  %one = arith.constant dense<1> : tensor<4x8xi32>
  %two = arith.constant dense<2> : tensor<4x8xi32>
  %four = arith.constant dense<4> : tensor<4x8xi32>
  %last = arith.constant dense<24> : tensor<4x8xi32>
  %m1 = arith.constant dense<1431655765> : tensor<4x8xi32>
  %m2 = arith.constant dense<858993459> : tensor<4x8xi32>
  %m4 = arith.constant dense<252645135> : tensor<4x8xi32>
  %m8 = arith.constant dense<16843009> : tensor<4x8xi32>
  %a0 = arith.shrui %x, %one : tensor<4x8xi32>
  %a1 = arith.andi %a0, %m1 : tensor<4x8xi32>
  %a = arith.subi %x, %a1 : tensor<4x8xi32>
  %b0 = arith.andi %a, %m2 : tensor<4x8xi32>
  %b1 = arith.shrui %a, %two : tensor<4x8xi32>
  %b2 = arith.andi %b1, %m2 : tensor<4x8xi32>
  %b = arith.addi %b0, %b2 : tensor<4x8xi32>
  %c0 = arith.shrui %b, %four : tensor<4x8xi32>
  %c1 = arith.addi %b, %c0 : tensor<4x8xi32>
  %c = arith.andi %c1, %m4 : tensor<4x8xi32>
  %n0 = arith.muli %c, %m8 : tensor<4x8xi32>
  // CHECK: %[[N:.*]] = math.ctpop %x : tensor<4x8xi32>
  %n = arith.shrui %n0, %last : tensor<4x8xi32>
  // With signed shifts, and operands the other way around.
  %s1 = arith.constant 1 : i32
  %s2 = arith.constant 2 : i32
  %s4 = arith.constant 4 : i32
  %s24 = arith.constant 24 : i32
  %k1 = arith.constant 1431655765 : i32
  %k2 = arith.constant 858993459 : i32
  %k4 = arith.constant 252645135 : i32
  %k8 = arith.constant 16843009 : i32
  %d0 = arith.shrsi %y, %s1 : i32
  %d1 = arith.andi %k1, %d0 : i32
  %d = arith.subi %y, %d1 : i32
  %e0 = arith.shrsi %d, %s2 : i32
  %e1 = arith.andi %k2, %e0 : i32
  %e2 = arith.andi %k2, %d : i32
  %e = arith.addi %e1, %e2 : i32
  %f0 = arith.shrsi %e, %s4 : i32
  %f1 = arith.addi %f0, %e : i32
  %f = arith.andi %k4, %f1 : i32
  %g = arith.muli %k8, %f : i32
  // CHECK: %[[S:.*]] = math.ctpop %y : i32
  %p = arith.shrsi %g, %s24 : i32
  // Not the highest byte: something else.
  // CHECK: %[[Q:.*]] = arith.shrui
  %q = arith.shrui %g, %s4 : i32
  // CHECK: func.return %[[N]], %[[S]], %[[Q]]
  func.return %n, %p, %q : tensor<4x8xi32>, i32, i32
}

// -----

// Eight shifts that coordinates alone decide are computed where they are read, though each takes
// more operations than are repeated otherwise: for a thread they are constants.
// CHECK-LABEL: func.func @shifts
func.func @shifts(%words: tensor<16x8xi32>) -> tensor<16x8xi32> {
  %two = arith.constant dense<2> : tensor<8xi32>
  %four = arith.constant dense<4> : tensor<8xi32>
  %p = nv_tileas.generate : tensor<8xi32> {
  ^bb0(%j: index):
    %k = arith.index_cast %j : index to i32
    nv_tileas.yield %k : i32
  }
  %half = arith.divsi %p, %two : tensor<8xi32>
  %odd = arith.remsi %p, %two : tensor<8xi32>
  %a = arith.muli %odd, %four : tensor<8xi32>
  %b = arith.addi %half, %a : tensor<8xi32>
  %c = arith.muli %b, %two : tensor<8xi32>
  %d = arith.addi %c, %two : tensor<8xi32>
  %e = arith.subi %d, %two : tensor<8xi32>
  %f = arith.xori %e, %two : tensor<8xi32>
  %g = arith.xori %f, %two : tensor<8xi32>
  %s = arith.muli %g, %two : tensor<8xi32>
  // CHECK-NOT: tensor<8xi32>
  // CHECK:     nv_tileas.generate : tensor<16x8xi32>
  // CHECK:       arith.divsi %{{.*}}, %{{.*}} : i32
  %r = nv_tileas.generate : tensor<16x8xi32> {
  ^bb0(%x: index, %y: index):
    %w = tensor.extract %words[%x, %y] : tensor<16x8xi32>
    %n = tensor.extract %s[%y] : tensor<8xi32>
    %v = arith.shrui %w, %n : i32
    nv_tileas.yield %v : i32
  }
  func.return %r : tensor<16x8xi32>
}

// -----

// Parts of words are taken where they are read: threads exchange four words, not eight halves.
// CHECK-LABEL: func.func @parts
func.func @parts(%words: tensor<1x4xi32>) -> tensor<16x8xi32> {
  %mask = arith.constant dense<65535> : tensor<1x4x2xi32>
  %each = nv_tileas.generate : tensor<1x4x2xi32> {
  ^bb0(%i: index, %j: index, %k: index):
    %w = tensor.extract %words[%i, %j] : tensor<1x4xi32>
    nv_tileas.yield %w : i32
  }
  %half = arith.andi %each, %mask : tensor<1x4x2xi32>
  %row = nv_tileas.view %half : tensor<1x4x2xi32> -> tensor<1x8xi32>
  // CHECK:     %r = nv_tileas.generate : tensor<16x8xi32>
  // CHECK:       tensor.extract %words[%{{.*}}, %{{.*}}] : tensor<1x4xi32>
  // CHECK:       arith.andi %{{.*}}, %{{.*}} : i32
  %r = nv_tileas.generate : tensor<16x8xi32> {
  ^bb0(%x: index, %y: index):
    %zero = arith.constant 0 : index
    %h = tensor.extract %row[%zero, %y] : tensor<1x8xi32>
    nv_tileas.yield %h : i32
  }
  func.return %r : tensor<16x8xi32>
}

// -----

// Of a row of a table nothing but two words is taken: each is loaded by itself, by all threads.
// CHECK-LABEL: func.func @words
// CHECK:     %[[V:.*]] = nv_tileas.view %a : memref<?x5xi64> -> !nv_tileas.tiled_view<1x1xi64, gmem>
// CHECK-DAG: nv_tileas.tiled_load %[[V]][%i, %{{.*}}] {{.*}} -> tensor<1x1xi64>
// CHECK-DAG: nv_tileas.tiled_load %[[V]][%i, %{{.*}}] {{.*}} -> tensor<1x1xi64>
// CHECK-NOT: nv_tileas.generate
func.func @words(%a: memref<?x5xi64>, %i: index) -> (i64, i64) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %v = nv_tileas.view %a : memref<?x5xi64> -> !nv_tileas.tiled_view<1x8xi64, gmem>
  %w = nv_tileas.tiled_load %v[%i, %zero] {atom = #nv_tileas<atom ldg>}
      : !nv_tileas.tiled_view<1x8xi64, gmem> -> tensor<1x8xi64>
  %x = nv_tileas.generate : tensor<1x1xi64> {
  ^bb0(%r: index, %c: index):
    %e = tensor.extract %w[%r, %c] : tensor<1x8xi64>
    nv_tileas.yield %e : i64
  }
  %y = nv_tileas.generate : tensor<1x1xi64> {
  ^bb0(%r: index, %c: index):
    %k = arith.addi %c, %three : index
    %e = tensor.extract %w[%r, %k] : tensor<1x8xi64>
    nv_tileas.yield %e : i64
  }
  %p = tensor.extract %x[%zero, %zero] : tensor<1x1xi64>
  %q = tensor.extract %y[%zero, %zero] : tensor<1x1xi64>
  func.return %p, %q : i64, i64
}

// -----

// Of which a whole row is read, too, stays one load.
// CHECK-LABEL: func.func @row
// CHECK-COUNT-1: nv_tileas.tiled_load
// CHECK-NOT: nv_tileas.tiled_load
func.func @row(%a: memref<?x8xi64>, %i: index) -> (tensor<1x8xi64>, tensor<1x1xi64>) {
  %zero = arith.constant 0 : index
  %v = nv_tileas.view %a : memref<?x8xi64> -> !nv_tileas.tiled_view<1x8xi64, gmem>
  %w = nv_tileas.tiled_load %v[%i, %zero] {atom = #nv_tileas<atom ldg>}
      : !nv_tileas.tiled_view<1x8xi64, gmem> -> tensor<1x8xi64>
  %x = nv_tileas.generate : tensor<1x1xi64> {
  ^bb0(%r: index, %c: index):
    %e = tensor.extract %w[%r, %c] : tensor<1x8xi64>
    nv_tileas.yield %e : i64
  }
  func.return %w, %x : tensor<1x8xi64>, tensor<1x1xi64>
}

// -----

// Of a row that a mask takes one column of, that column is loaded; and the one in which a row
// differs is stored behind it.
// CHECK-LABEL: func.func @chosen
// CHECK:       %[[K:.*]] = arith.index_cast %k : i32 to index
// CHECK:       %[[SINGLE:.*]] = nv_tileas.tiled_load %{{.*}}[%i, %{{.*}}] after %none {{.*}} -> tensor<1x1xf32>
// CHECK:       arith.cmpi ult, %[[K]], %{{.*}} : index
// CHECK-NOT:   nv_tileas.reduce
// CHECK:       arith.subf %{{.*}}, %{{.*}} : tensor<1x1xf32>
// CHECK:       %[[ROW:.*]] = nv_tileas.tiled_store %x, %to[%i, %zero] after %none
// CHECK:       nv_tileas.tiled_store %{{.*}}, %{{.*}}[%i, %{{.*}}] after %[[ROW]] {{.*}} : tensor<1x1xf32>
func.func @chosen(%a: memref<?x256xf32>, %b: memref<?x256xf32>, %i: index, %k: i32) -> tensor<1xf32> {
  %zero = arith.constant 0 : index
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %from = nv_tileas.view %a : memref<?x256xf32> -> !nv_tileas.tiled_view<1x256xf32, gmem>
  %to = nv_tileas.view %b : memref<?x256xf32> -> !nv_tileas.tiled_view<1x256xf32, gmem>
  %x, %loaded = nv_tileas.tiled_load %from[%i, %zero] after %none : !nv_tileaa.mem_token
      {atom = #nv_tileas<atom ldg>}
      : !nv_tileas.tiled_view<1x256xf32, gmem> -> tensor<1x256xf32>, !nv_tileaa.mem_token
  %here = nv_tileas.generate : tensor<1x256xf32> {
  ^bb0(%r: index, %c: index):
    %n = arith.index_cast %c : index to i32
    %is = arith.cmpi eq, %n, %k : i32
    %e = tensor.extract %x[%r, %c] : tensor<1x256xf32>
    %f = arith.constant 0.0 : f32
    %s = arith.select %is, %e, %f : f32
    nv_tileas.yield %s : f32
  }
  %sum = nv_tileas.reduce %here {axis = 1 : i32} : tensor<1x256xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %m: f32):
    %y = arith.addf %l, %m : f32
    nv_tileas.yield %y : f32
  }
  %one = nv_tileas.generate : tensor<1x256xf32> {
  ^bb0(%r: index, %c: index):
    %n = arith.index_cast %c : index to i32
    %is = arith.cmpi eq, %n, %k : i32
    %e = arith.constant 1.0 : f32
    %f = arith.constant 0.0 : f32
    %s = arith.select %is, %e, %f : f32
    nv_tileas.yield %s : f32
  }
  %less = arith.subf %x, %one : tensor<1x256xf32>
  %stored = nv_tileas.tiled_store %less, %to[%i, %zero] after %none : !nv_tileaa.mem_token
      {atom = #nv_tileas<atom stg>} : tensor<1x256xf32>, !nv_tileas.tiled_view<1x256xf32, gmem> -> !nv_tileaa.mem_token
  func.return %sum : tensor<1xf32>
}
