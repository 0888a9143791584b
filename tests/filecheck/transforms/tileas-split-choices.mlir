// `tileas-split-choices` finds the extreme element, then its place.

// RUN: tileas-opt %s -p tileas-split-choices --split-input-file | filecheck %s

// The first of the largest numbers; what is none is chosen only if nothing else is there.

func.func @argmax(%x: tensor<4x64xf32>, %columns: tensor<4x64xi32>) -> tensor<4xi32> {
  %v, %i = nv_tileas.reduce %x, %columns {axis = 1 : i32} : tensor<4x64xf32>, tensor<4x64xi32> -> tensor<4xf32>, tensor<4xi32> {
  ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
    %more = arith.cmpf ogt, %a, %b : f32
    %same = arith.cmpf oeq, %a, %b : f32
    %none = arith.cmpf une, %a, %a : f32
    %other = arith.cmpf une, %b, %b : f32
    %some = arith.cmpf oeq, %a, %a : f32
    %alone = arith.andi %some, %other : i1
    %better = arith.ori %more, %alone : i1
    %neither = arith.andi %none, %other : i1
    %equal = arith.ori %same, %neither : i1
    %before = arith.cmpi slt, %j, %k : i32
    %tie = arith.andi %equal, %before : i1
    %first = arith.ori %better, %tie : i1
    %value = arith.select %first, %a, %b : f32
    %place = arith.select %first, %j, %k : i32
    nv_tileas.yield %value, %place : f32, i32
  }
  func.return %i : tensor<4xi32>
}

// CHECK-LABEL: func.func @argmax
// CHECK:         %[[MOST:.*]] = nv_tileas.reduce %x {axis = 1 : i32} : tensor<4x64xf32> -> tensor<4xf32>
// CHECK:           arith.maxnumf
// CHECK:         %[[AT:.*]] = nv_tileas.generate : tensor<4x64xi32>
// CHECK-NEXT:    ^bb0(%[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK-NEXT:      %[[X:.*]] = tensor.extract %x[%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:      %[[M:.*]] = tensor.extract %[[MOST]][%[[ROW]]]
// CHECK-NEXT:      %[[NONE:.*]] = arith.cmpf une, %[[M]], %[[M]] : f32
// CHECK-NEXT:      %[[EQUAL:.*]] = arith.cmpf oeq, %[[X]], %[[M]] : f32
// CHECK-NEXT:      %[[IS:.*]] = arith.ori %[[NONE]], %[[EQUAL]] : i1
// CHECK-NEXT:      %[[OWN:.*]] = tensor.extract %columns[%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:      %[[NEVER:.*]] = arith.constant 2147483647 : i32
// CHECK-NEXT:      arith.select %[[IS]], %[[OWN]], %[[NEVER]] : i32
// CHECK:         %[[PLACE:.*]] = nv_tileas.reduce %[[AT]] {axis = 1 : i32} : tensor<4x64xi32> -> tensor<4xi32>
// CHECK:           arith.minsi
// CHECK:         func.return %[[PLACE]]

// -----

// The last of the smallest integers, of unsigned ones.

func.func @last(%x: tensor<64xi32>, %columns: tensor<64xi16>) -> tensor<i16> {
  %v, %i = nv_tileas.reduce %x, %columns {axis = 0 : i32} : tensor<64xi32>, tensor<64xi16> -> tensor<i32>, tensor<i16> {
  ^bb0(%a: i32, %j: i16, %b: i32, %k: i16):
    %less = arith.cmpi ult, %a, %b : i32
    %equal = arith.cmpi eq, %a, %b : i32
    %behind = arith.cmpi sgt, %j, %k : i16
    %tie = arith.andi %equal, %behind : i1
    %first = arith.ori %less, %tie : i1
    %value = arith.select %first, %a, %b : i32
    %place = arith.select %first, %j, %k : i16
    nv_tileas.yield %value, %place : i32, i16
  }
  func.return %i : tensor<i16>
}

// CHECK-LABEL: func.func @last
// CHECK:           arith.minui
// CHECK:           arith.cmpi eq
// CHECK:           arith.constant -32768 : i16
// CHECK:           arith.maxsi

// -----

// Where the value is used, it is that of the chosen row, whose zero may have another sign; and a
// body that keeps the first operand depends on the order.

func.func @others(%x: tensor<64xf32>, %columns: tensor<64xi32>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %v, %i = nv_tileas.reduce %x, %columns {axis = 0 : i32} : tensor<64xf32>, tensor<64xi32> -> tensor<f32>, tensor<i32> {
  ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
    %more = arith.cmpf ogt, %a, %b : f32
    %equal = arith.cmpf oeq, %a, %b : f32
    %before = arith.cmpi slt, %j, %k : i32
    %tie = arith.andi %equal, %before : i1
    %first = arith.ori %more, %tie : i1
    %value = arith.select %first, %a, %b : f32
    %place = arith.select %first, %j, %k : i32
    nv_tileas.yield %value, %place : f32, i32
  }
  %w, %l = nv_tileas.reduce %x, %columns {axis = 0 : i32} : tensor<64xf32>, tensor<64xi32> -> tensor<f32>, tensor<i32> {
  ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
    %more = arith.cmpf oge, %a, %b : f32
    %value = arith.select %more, %a, %b : f32
    %place = arith.select %more, %j, %k : i32
    nv_tileas.yield %value, %place : f32, i32
  }
  func.return %v, %i, %l : tensor<f32>, tensor<i32>, tensor<i32>
}

// CHECK-LABEL: func.func @others
// CHECK-NOT:     arith.maxnumf
// CHECK:         func.return
