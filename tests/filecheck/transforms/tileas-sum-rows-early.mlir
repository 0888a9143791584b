// `tileas-sum-rows-early`: a loop carries the sums of rows of a tile that is added up behind it.

// RUN: tileas-opt %s -p tileas-sum-rows-early --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-sum-rows-early,tileas-sum-rows-early --split-input-file | filecheck %s

func.func @rows(%p: tensor<64x32xf32>, %f: tensor<64x1xf32>, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %t = scf.for %j = %c0 to %n step %c1 iter_args(%l = %none) -> (tensor<64x32xf32>) : i32 {
    %g = nv_tileas.generate : tensor<64x32xf32> {
    ^bb0(%row: index, %column: index):
      %zero = arith.constant 0 : index
      %y = tensor.extract %f[%row, %zero] : tensor<64x1xf32>
      nv_tileas.yield %y : f32
    }
    %k = arith.mulf %l, %g : tensor<64x32xf32>
    %m = arith.addf %p, %k : tensor<64x32xf32>
    scf.yield %m : tensor<64x32xf32>
  }
  %s = nv_tileas.reduce %t {axis = 1 : i32} : tensor<64x32xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  func.return %s : tensor<64xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x1xf32>
// CHECK:         %[[T:.*]] = scf.for %{{.*}} iter_args(%[[L:.*]] = %[[ZERO]]) -> (tensor<64x1xf32>)
// CHECK:           %[[R:.*]] = nv_tileas.reduce %p {axis = 1 : i32}
// CHECK:           %[[E:.*]] = nv_tileas.expand_dims %[[R]] {axis = 1 : i32}
// CHECK-NEXT:      %[[M:.*]] = math.fma %[[L]], %f, %[[E]] : tensor<64x1xf32>
// CHECK-NEXT:      scf.yield %[[M]] : tensor<64x1xf32>
// CHECK:         %[[S:.*]] = nv_tileas.view %[[T]] : tensor<64x1xf32> -> tensor<64xf32>
// CHECK-NEXT:    func.return %[[S]]

// -----

// Something else reads the tile, and one that begins with other numbers.

func.func @read(%p: tensor<64x32xf32>, %f: tensor<64xf32>, %o: tensor<64x32xf32>, %n: i32) -> (tensor<64xf32>, tensor<64x32xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %t, %u = scf.for %j = %c0 to %n step %c1 iter_args(%l = %none, %k = %o) -> (tensor<64x32xf32>, tensor<64x32xf32>) : i32 {
    %g = nv_tileas.generate : tensor<64x32xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %f[%row] : tensor<64xf32>
      nv_tileas.yield %y : f32
    }
    %m = math.fma %l, %g, %p : tensor<64x32xf32>
    %h = math.fma %k, %g, %p : tensor<64x32xf32>
    scf.yield %m, %h : tensor<64x32xf32>, tensor<64x32xf32>
  }
  %s = nv_tileas.reduce %t {axis = 1 : i32} : tensor<64x32xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %r = nv_tileas.reduce %u {axis = 1 : i32} : tensor<64x32xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  func.return %s, %t, %r : tensor<64xf32>, tensor<64x32xf32>, tensor<64xf32>
}

// CHECK-LABEL: func.func @read
// CHECK:         scf.for {{.*}} -> (tensor<64x32xf32>, tensor<64x32xf32>)
