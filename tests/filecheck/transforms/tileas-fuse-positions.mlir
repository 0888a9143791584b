// `tileas-fuse-positions`: in a `generate`, elements that follow from their coordinates are computed
// where they are used; tiles of ranges, comparisons and broadcasts are gone then.

// RUN: tileas-opt %s --split-input-file -p tileas-fuse-positions | filecheck %s
// RUN: tileas-opt %s --split-input-file -p tileas-fuse-positions,tileas-fuse-positions | filecheck %s

// A range, compared with a number that is known when the kernel runs.
// CHECK-LABEL: @range
// CHECK-NEXT:    %r = nv_tileas.generate : tensor<8xi1> {
// CHECK-NEXT:    ^{{.*}}(%[[I:.*]]: index):
// CHECK-NEXT:      %[[K:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK-NEXT:      %[[B:.*]] = arith.cmpi slt, %[[K]], %n : i32
// CHECK-NEXT:      nv_tileas.yield %[[B]] : i1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : tensor<8xi1>
func.func @range(%n: i32) -> tensor<8xi1> {
  %numbers = nv_tileas.generate : tensor<8xi32> {
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i32
    nv_tileas.yield %k : i32
  }
  %limits = tensor.splat %n : tensor<8xi32>
  %r = nv_tileas.generate : tensor<8xi1> {
  ^bb0(%i: index):
    %a = tensor.extract %numbers[%i] : tensor<8xi32>
    %b = tensor.extract %limits[%i] : tensor<8xi32>
    %c = arith.cmpi slt, %a, %b : i32
    nv_tileas.yield %c : i1
  }
  func.return %r : tensor<8xi1>
}

// -----

// A mask of columns: a constant is added, dimensions are put in front and behind, rows repeat it.
// The tile that is masked is still taken from.
// CHECK-LABEL: @mask
// CHECK-NOT:     expand_dims
// CHECK-NOT:     view
// CHECK:         %r = nv_tileas.generate : tensor<4x8xf32> {
// CHECK-NEXT:    ^{{.*}}(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK:           %[[K:.*]] = arith.index_cast %[[J]] : index to i32
// CHECK:           %[[C:.*]] = arith.constant 3 : i32
// CHECK:           %[[S:.*]] = arith.addi %[[K]], %[[C]] : i32
// CHECK:           %[[B:.*]] = arith.cmpi slt, %[[S]], %n : i32
// CHECK:           %[[X:.*]] = tensor.extract %x[%[[I]], %[[J]]] : tensor<4x8xf32>
// CHECK:           arith.select %[[B]], %[[X]], %{{.*}} : f32
func.func @mask(%x: tensor<4x8xf32>, %low: f32, %n: i32) -> tensor<4x8xf32> {
  %numbers = nv_tileas.generate : tensor<8xi32> {
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i32
    nv_tileas.yield %k : i32
  }
  %three = arith.constant dense<3> : tensor<8xi32>
  %sum = arith.addi %numbers, %three : tensor<8xi32>
  %row = nv_tileas.expand_dims %sum {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
  %long = nv_tileas.view %row : tensor<1x8xi32> -> tensor<8x1xi32>
  %lows = tensor.splat %low : tensor<4x8xf32>
  %r = nv_tileas.generate : tensor<4x8xf32> {
  ^bb0(%i: index, %j: index):
    %zero = arith.constant 0 : index
    %a = tensor.extract %long[%j, %zero] : tensor<8x1xi32>
    %c = arith.cmpi slt, %a, %n : i32
    %b = tensor.extract %x[%i, %j] : tensor<4x8xf32>
    %d = tensor.extract %lows[%i, %j] : tensor<4x8xf32>
    %e = arith.select %c, %b, %d : f32
    nv_tileas.yield %e : f32
  }
  func.return %r : tensor<4x8xf32>
}

// -----

// Not: numbers that are loaded, numbers that differ from constant to constant, tiles that are put
// into memory, and an element of a tile outside of a `generate`.
// CHECK-LABEL: @taken
// CHECK:         %[[S:.*]] = arith.addi %t, %t : tensor<4xi32>
// CHECK:         tensor.extract %[[S]]
// CHECK:         tensor.extract %list
// CHECK:         tensor.extract %here
// CHECK:         tensor.extract %some[%c]
func.func @taken(%t: tensor<4xi32>, %n: i32, %c: index) -> (tensor<4xi32>, i32) {
  %sum = arith.addi %t, %t : tensor<4xi32>
  %list = arith.constant dense<[1, 2, 3, 5]> : tensor<4xi32>
  %some = tensor.splat %n : tensor<4xi32>
  %here = nv_tileas.convert_layout %some : tensor<4xi32> -> tensor<4xi32, #nv_tileas<space smem>>
  %r = nv_tileas.generate : tensor<4xi32> {
  ^bb0(%i: index):
    %a = tensor.extract %sum[%i] : tensor<4xi32>
    %b = tensor.extract %list[%i] : tensor<4xi32>
    %d = tensor.extract %here[%i] : tensor<4xi32, #nv_tileas<space smem>>
    %e = arith.addi %a, %b : i32
    %f = arith.addi %e, %d : i32
    nv_tileas.yield %f : i32
  }
  %one = tensor.extract %some[%c] : tensor<4xi32>
  func.return %r, %one : tensor<4xi32>, i32
}
