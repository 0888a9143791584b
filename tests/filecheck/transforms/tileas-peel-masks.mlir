// `tileas-peel-masks`: rounds of a loop that multiplies have no mask where it holds for all elements.

// RUN: tileas-opt %s -p tileas-peel-masks --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-peel-masks,tileas-peel-masks --split-input-file | filecheck %s

// Columns behind the last key: 64 * %j + column < %keys. The product is what the first loop yields.

func.func @ragged(%a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %keys: i32, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %limit = tensor.splat %keys : tensor<64x64xi32>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %first = arith.muli %j, %c64 : i32
    %t = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %at = arith.index_cast %column : index to i32
      %key = arith.addi %first, %at : i32
      %k = tensor.extract %limit[%row, %column] : tensor<64x64xi32>
      %p = arith.cmpi slt, %key, %k : i32
      %s = tensor.extract %d[%row, %column] : tensor<64x64xf32>
      %o = tensor.extract %none[%row, %column] : tensor<64x64xf32>
      %y = arith.select %p, %s, %o : f32
      nv_tileas.yield %y : f32
    }
    scf.yield %t : tensor<64x64xf32>
  }
  func.return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @ragged
// CHECK:         arith.floordivsi
// CHECK:         %[[END:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         %[[PLAIN:.*]] = scf.for %{{.*}} = %c0 to %[[END]] step %c1 iter_args(%{{.*}} = %x)
// CHECK-NEXT:      %[[D:.*]] = nv_tileas.dot
// CHECK-NEXT:      scf.yield %[[D]] : tensor<64x64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %{{.*}} = scf.for %{{.*}} = %[[END]] to %n step %c1 iter_args(%{{.*}} = %[[PLAIN]])
// CHECK:           arith.select
// CHECK-NOT:     scf.for

// -----

// A window, of which the first rounds see too little and the last too much: three loops.

func.func @window(%a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %row: i32, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c99 = arith.constant 99 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %first = arith.muli %j, %c64 : i32
    %m = nv_tileas.generate : tensor<64x64xi1> {
    ^bb0(%r0: index, %column: index):
      %at = arith.index_cast %column : index to i32
      %key = arith.addi %first, %at : i32
      %in = arith.index_cast %r0 : index to i32
      %query = arith.addi %row, %in : i32
      %oldest = arith.subi %query, %c99 : i32
      %p = arith.cmpi sle, %key, %query : i32
      %q = arith.cmpi sgt, %key, %oldest : i32
      %both = arith.andi %p, %q : i1
      nv_tileas.yield %both : i1
    }
    %t = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%r0: index, %column: index):
      %p = tensor.extract %m[%r0, %column] : tensor<64x64xi1>
      %s = tensor.extract %d[%r0, %column] : tensor<64x64xf32>
      %o = tensor.extract %none[%r0, %column] : tensor<64x64xf32>
      %y = arith.select %p, %s, %o : f32
      nv_tileas.yield %y : f32
    }
    scf.yield %t : tensor<64x64xf32>
  }
  func.return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @window
// CHECK:         scf.for
// CHECK:           arith.select
// CHECK:         scf.for
// CHECK-NEXT:      %[[D:.*]] = nv_tileas.dot
// CHECK-NEXT:      scf.yield %[[D]] : tensor<64x64xf32>
// CHECK:         scf.for
// CHECK:           arith.select
// CHECK-NOT:     scf.for

// -----

// A branch that masks scaled scores: rounds in which it does nothing, where 64 * %j < %row, have none.
// One that works on both sides, one of scores that no number scales, and one of a number alone stay.

func.func @branch(%a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %row: i32, %n: i32) -> (tensor<64x64xf32>, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %scale = arith.constant dense<0.3> : tensor<64x64xf32>
  %r, %w = scf.for %j = %c0 to %n step %c1 iter_args(%c = %x, %v = %c0) -> (tensor<64x64xf32>, i32) : i32 {
    %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %first = arith.muli %j, %c64 : i32
    %p = arith.cmpi sge, %first, %row : i32
    %s = arith.mulf %d, %scale : tensor<64x64xf32>
    %t = scf.if %p -> (tensor<64x64xf32>) {
      %m = arith.addf %s, %s : tensor<64x64xf32>
      scf.yield %m : tensor<64x64xf32>
    } else {
      scf.yield %s : tensor<64x64xf32>
    }
    %h = arith.cmpi slt, %first, %c64 : i32
    %b = scf.if %h -> (tensor<64x64xf32>) {
      %m = arith.addf %d, %d : tensor<64x64xf32>
      scf.yield %m : tensor<64x64xf32>
    } else {
      scf.yield %d : tensor<64x64xf32>
    }
    %q = arith.cmpi slt, %j, %row : i32
    %u = scf.if %q -> (tensor<64x64xf32>) {
      %m = arith.addf %t, %b : tensor<64x64xf32>
      scf.yield %m : tensor<64x64xf32>
    } else {
      %m = arith.mulf %t, %b : tensor<64x64xf32>
      scf.yield %m : tensor<64x64xf32>
    }
    %o = arith.cmpi slt, %j, %c64 : i32
    %k = scf.if %o -> (i32) {
      %m = arith.addi %v, %c1 : i32
      scf.yield %m : i32
    } else {
      scf.yield %v : i32
    }
    scf.yield %u, %k : tensor<64x64xf32>, i32
  }
  func.return %r, %w : tensor<64x64xf32>, i32
}

// CHECK-LABEL: func.func @branch
// CHECK:         scf.for
// CHECK:           %[[S:.*]] = arith.mulf
// CHECK-NOT:       scf.if
// CHECK:           %[[H:.*]] = arith.cmpi slt, %{{.*}}, %c64 : i32
// CHECK-NEXT:      %[[B:.*]] = scf.if %[[H]]
// CHECK:           %[[Q:.*]] = arith.cmpi slt, %{{.*}}, %row : i32
// CHECK-NEXT:      scf.if %[[Q]]
// CHECK-NEXT:        arith.addf %[[S]], %[[B]]
// CHECK:           scf.if %{{.*}} -> (i32)
// CHECK:         scf.for
// CHECK-COUNT-4:   scf.if
// CHECK-NOT:     scf.for

// -----

// What data decide stays, as does a mask that is the same in all rounds.

func.func @data(%a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %seen: tensor<64x64xi32>, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %t = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %at = arith.index_cast %column : index to i32
      %listed = tensor.extract %seen[%row, %column] : tensor<64x64xi32>
      %p = arith.cmpi slt, %j, %listed : i32
      %q = arith.cmpi slt, %at, %n : i32
      %both = arith.andi %p, %q : i1
      %s = tensor.extract %d[%row, %column] : tensor<64x64xf32>
      %o = tensor.extract %none[%row, %column] : tensor<64x64xf32>
      %y = arith.select %both, %s, %o : f32
      nv_tileas.yield %y : f32
    }
    scf.yield %t : tensor<64x64xf32>
  }
  func.return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @data
// CHECK:         scf.for
// CHECK:           arith.select
// CHECK-NOT:     scf.for

// -----

// The ragged part that a split left behind whole tiles of %n numbers, a multiple of 64: its bounds
// are n / 64 however that is rounded, so it has no rounds. Of %k numbers it may have one, as of %m,
// a multiple of 32.

func.func @split(%x: i32, %n0: i32, %m0: i32, %k: i32) -> (i32, i32, i32, i32) {
  %n = nv_tileaa.assume %n0, #nv_tileaa.div_by<64> : i32
  %m = nv_tileaa.assume %m0, #nv_tileaa.div_by<32> : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %low = arith.floordivsi %k, %c64 : i32
  %high = arith.ceildivsi %k, %c64 : i32
  %d = scf.for %j = %low to %high step %c1 iter_args(%c = %x) -> (i32) : i32 {
    %s = arith.addi %c, %j : i32
    scf.yield %s : i32
  }
  %low32 = arith.floordivsi %m, %c64 : i32
  %high32 = arith.ceildivsi %m, %c64 : i32
  %e = scf.for %j = %low32 to %high32 step %c1 iter_args(%c = %x) -> (i32) : i32 {
    %s = arith.addi %c, %j : i32
    scf.yield %s : i32
  }
  %whole = arith.floordivsi %n, %c64 : i32
  %first = arith.maxsi %c0, %whole : i32
  %all = arith.ceildivsi %n, %c64 : i32
  %a = scf.for %j = %first to %all step %c1 iter_args(%c = %x) -> (i32) : i32 {
    %s = arith.addi %c, %j : i32
    scf.yield %s : i32
  }
  %more = arith.addi %n, %c63 : i32
  %up = arith.floordivsi %more, %c64 : i32
  %b = scf.for %j = %all to %up step %c1 iter_args(%c = %a) -> (i32) : i32 {
    %s = arith.addi %c, %j : i32
    scf.yield %s : i32
  }
  func.return %a, %b, %d, %e : i32, i32, i32, i32
}

// CHECK-LABEL: func.func @split
// CHECK:         %[[D:.*]] = scf.for %{{.*}} = %low to %high
// CHECK:         %[[E:.*]] = scf.for %{{.*}} = %low32 to %high32
// CHECK-NOT:     scf.for
// CHECK:         func.return %x, %x, %[[D]], %[[E]]

// -----

// All keys are whole tiles, of as many rounds as there are: the mask holds in each, and one loop is
// left. In one round more it does not hold.

func.func @whole(%a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %n: i32) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %keys = nv_tileaa.assume %n, #nv_tileaa.div_by<128> : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %limit = tensor.splat %keys : tensor<64x64xi32>
  %end = arith.ceildivsi %keys, %c64 : i32
  %r = scf.for %j = %c0 to %end step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %first = arith.muli %j, %c64 : i32
    %t = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %at = arith.index_cast %column : index to i32
      %key = arith.addi %first, %at : i32
      %k = tensor.extract %limit[%row, %column] : tensor<64x64xi32>
      %p = arith.cmpi slt, %key, %k : i32
      %s = tensor.extract %d[%row, %column] : tensor<64x64xf32>
      %o = tensor.extract %none[%row, %column] : tensor<64x64xf32>
      %y = arith.select %p, %s, %o : f32
      nv_tileas.yield %y : f32
    }
    scf.yield %t : tensor<64x64xf32>
  }
  %later = arith.addi %end, %c1 : i32
  %q = scf.for %j = %c0 to %later step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %first = arith.muli %j, %c64 : i32
    %t = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %at = arith.index_cast %column : index to i32
      %key = arith.addi %first, %at : i32
      %k = tensor.extract %limit[%row, %column] : tensor<64x64xi32>
      %p = arith.cmpi slt, %key, %k : i32
      %s = tensor.extract %d[%row, %column] : tensor<64x64xf32>
      %o = tensor.extract %none[%row, %column] : tensor<64x64xf32>
      %y = arith.select %p, %s, %o : f32
      nv_tileas.yield %y : f32
    }
    scf.yield %t : tensor<64x64xf32>
  }
  func.return %r, %q : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @whole
// CHECK:         scf.for %{{.*}} = %c0 to %end step %c1 iter_args(%{{.*}} = %x)
// CHECK-NEXT:      nv_tileas.dot
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK:         scf.for
// CHECK-NEXT:      nv_tileas.dot
// CHECK-NEXT:      scf.yield
// CHECK:         scf.for
// CHECK:           arith.select

// -----

// Rounds that stand under a comparison: rows of a CTA that are below their count.

func.func @guarded(%v: !nv_tileas.tiled_view<256xf32, gmem>, %x: tensor<f32>, %first: i32, %rows: i32) -> tensor<f32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %r = scf.for %j = %c0 to %c8 step %c1 iter_args(%c = %x) -> (tensor<f32>) : i32 {
    %row = arith.addi %first, %j : i32
    %there = arith.cmpi slt, %row, %rows : i32
    %n = scf.if %there -> (tensor<f32>) {
      %at = arith.index_cast %row : i32 to index
      %t = nv_tileas.tiled_load %v[%at] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<256xf32, gmem> -> tensor<256xf32>
      %s = nv_tileas.reduce %t {axis = 0 : i32} : tensor<256xf32> -> tensor<f32> {
      ^bb0(%a: f32, %b: f32):
        %y = arith.addf %a, %b : f32
        nv_tileas.yield %y : f32
      }
      %z = arith.addf %c, %s : tensor<f32>
      scf.yield %z : tensor<f32>
    } else {
      scf.yield %c : tensor<f32>
    }
    scf.yield %n : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @guarded
// CHECK:         %[[PLAIN:.*]] = scf.for %{{.*}} = %c0 to %[[END:.*]] step %c1 iter_args(%{{.*}} = %x)
// CHECK-NOT:       scf.if
// CHECK:           nv_tileas.reduce
// CHECK:         scf.for %{{.*}} = %[[END]] to %c8 step %c1 iter_args(%{{.*}} = %[[PLAIN]])
// CHECK:           scf.if
// CHECK-NOT:     scf.for

// -----

// Not where the other rounds do something as well, and not where products wait for what they load.

func.func @other_branch(%v: !nv_tileas.tiled_view<256xf32, gmem>, %x: tensor<f32>, %first: i32, %rows: i32) -> tensor<f32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %r = scf.for %j = %c0 to %c8 step %c1 iter_args(%c = %x) -> (tensor<f32>) : i32 {
    %row = arith.addi %first, %j : i32
    %there = arith.cmpi slt, %row, %rows : i32
    %n = scf.if %there -> (tensor<f32>) {
      %at = arith.index_cast %row : i32 to index
      %t = nv_tileas.tiled_load %v[%at] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<256xf32, gmem> -> tensor<256xf32>
      %s = nv_tileas.reduce %t {axis = 0 : i32} : tensor<256xf32> -> tensor<f32> {
      ^bb0(%a: f32, %b: f32):
        %y = arith.addf %a, %b : f32
        nv_tileas.yield %y : f32
      }
      scf.yield %s : tensor<f32>
    } else {
      scf.yield %x : tensor<f32>
    }
    scf.yield %n : tensor<f32>
  }
  func.return %r : tensor<f32>
}

// CHECK-LABEL: func.func @other_branch
// CHECK:         scf.for
// CHECK-NOT:     scf.for

// -----

// Both loops are of one place in the program, so they are not split again; but keys are a multiple of 64, and no round reads behind them.

func.func @parts(%a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %keys: i32, %row: i32, %window: i32) -> tensor<64x64xf32> {
  %n = nv_tileaa.assume %keys, #nv_tileaa.div_by<64> : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant 0.0 : f32
  %first = arith.maxsi %c0, %window : i32
  %begin = arith.floordivsi %first, %c64 : i32
  %up = arith.addi %n, %c64 : i32
  %behind = arith.subi %up, %c1 : i32
  %end = arith.floordivsi %behind, %c64 : i32
  %p = scf.for %j = %c0 to %begin step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  } loc("program":1:1)
  %r = scf.for %j = %begin to %end step %c1 iter_args(%c = %p) -> (tensor<64x64xf32>) : i32 {
    %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %start = arith.muli %j, %c64 : i32
    %t = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%r0: index, %column: index):
      %at = arith.index_cast %column : index to i32
      %key = arith.addi %start, %at : i32
      %is_there = arith.cmpi slt, %key, %n : i32
      %is_seen = arith.cmpi sle, %key, %row : i32
      %both = arith.andi %is_there, %is_seen : i1
      %s = tensor.extract %d[%r0, %column] : tensor<64x64xf32>
      %y = arith.select %both, %s, %none : f32
      nv_tileas.yield %y : f32
    }
    scf.yield %t : tensor<64x64xf32>
  } loc("program":1:1)
  func.return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @parts
// CHECK-NOT:     arith.cmpi slt
// CHECK:         %[[SEEN:.*]] = arith.cmpi sle
// CHECK-NOT:     arith.andi
// CHECK:         arith.select %[[SEEN]]
