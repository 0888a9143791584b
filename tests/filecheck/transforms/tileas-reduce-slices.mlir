// `tileas-reduce-slices`: a loop that adds up a tile slice by slice reduces the whole tile.

// RUN: tileas-opt %s -p tileas-reduce-slices --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-reduce-slices,tileas-reduce-slices --split-input-file | filecheck %s

func.func @squares(%l: tensor<32x256xf16>, %begin: tensor<32x4xf32>) -> tensor<32x4xf32> {
  %x = arith.negf %l : tensor<32x256xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %two = arith.constant dense<2.0> : tensor<32x4xf32>
  %r = scf.for %k = %c0 to %c64 step %c1 iter_args(%s = %begin) -> (tensor<32x4xf32>) : i32 {
    %n = arith.index_cast %k : i32 to index
    %c4 = arith.constant 4 : index
    %o = arith.muli %n, %c4 : index
    %p = nv_tileas.generate : tensor<32x4xf16> {
    ^bb0(%i: index, %j: index):
      %a = arith.addi %j, %o : index
      %y = tensor.extract %x[%i, %a] : tensor<32x256xf16>
      nv_tileas.yield %y : f16
    }
    %q = arith.mulf %p, %p : tensor<32x4xf16>
    %w = arith.extf %q : tensor<32x4xf16> to tensor<32x4xf32>
    %d = arith.mulf %w, %two : tensor<32x4xf32>
    %t = arith.addf %s, %d : tensor<32x4xf32>
    scf.yield %t : tensor<32x4xf32>
  }
  func.return %r : tensor<32x4xf32>
}

// CHECK-LABEL: func.func @squares
// CHECK-NOT:     scf.for
// CHECK:         %[[V:.*]] = nv_tileas.view %x : tensor<32x256xf16> -> tensor<32x64x4xf16>
// CHECK-NEXT:    %[[Q:.*]] = arith.mulf %[[V]], %[[V]] : tensor<32x64x4xf16>
// CHECK-NEXT:    %[[W:.*]] = arith.extf %[[Q]]
// CHECK-NEXT:    %[[TWO:.*]] = arith.constant dense<2.000000e+00> : tensor<32x64x4xf32>
// CHECK-NEXT:    %[[D:.*]] = arith.mulf %[[W]], %[[TWO]]
// CHECK-NEXT:    %[[R:.*]] = nv_tileas.reduce %[[D]] {axis = 1 : i32}
// CHECK:         %[[T:.*]] = arith.addf %begin, %[[R]] : tensor<32x4xf32>
// CHECK-NEXT:    func.return %[[T]]

// -----

// Rows, two tiles, a maximum and a sum.

func.func @rows(%l0: tensor<64x16xf32>, %l1: tensor<64x16xf32>, %m0: tensor<8x16xf32>, %s0: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %x = arith.negf %l0 : tensor<64x16xf32>
  %y = arith.negf %l1 : tensor<64x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %m, %s = scf.for %k = %c0 to %c8 step %c1 iter_args(%l = %m0, %t = %s0) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
    %o = arith.muli %k, %c8 : index
    %p = nv_tileas.generate : tensor<8x16xf32> {
    ^bb0(%i: index, %j: index):
      %a = arith.addi %o, %i : index
      %e = tensor.extract %x[%a, %j] : tensor<64x16xf32>
      nv_tileas.yield %e : f32
    }
    %q = nv_tileas.generate : tensor<8x16xf32> {
    ^bb0(%i: index, %j: index):
      %a = arith.addi %o, %i : index
      %e = tensor.extract %y[%a, %j] : tensor<64x16xf32>
      nv_tileas.yield %e : f32
    }
    %f = arith.mulf %p, %q : tensor<8x16xf32>
    %n = arith.maxnumf %p, %l : tensor<8x16xf32>
    %u = arith.addf %f, %t : tensor<8x16xf32>
    scf.yield %n, %u : tensor<8x16xf32>, tensor<8x16xf32>
  }
  func.return %m, %s : tensor<8x16xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK-NOT:     scf.for
// CHECK-DAG:     %[[X:.*]] = nv_tileas.view %x : tensor<64x16xf32> -> tensor<8x8x16xf32>
// CHECK:         %[[R:.*]] = nv_tileas.reduce %[[X]] {axis = 0 : i32}
// CHECK:           arith.maxnumf
// CHECK:         %[[M:.*]] = arith.maxnumf %{{.*}}, %{{.*}} : tensor<8x16xf32>
// CHECK:         %[[Y:.*]] = nv_tileas.view %y
// CHECK:         arith.mulf %[[X]], %[[Y]] : tensor<8x8x16xf32>
// CHECK:         func.return %[[M]]

// -----

// Slices that leave a part out, that overlap, and a value that a round takes from the one before.

func.func @others(%l0: tensor<64x16xf32>, %b: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %x = arith.negf %l0 : tensor<64x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %part = scf.for %k = %c0 to %c7 step %c1 iter_args(%l = %b) -> (tensor<8x16xf32>) {
    %o = arith.muli %k, %c8 : index
    %p = nv_tileas.generate : tensor<8x16xf32> {
    ^bb0(%i: index, %j: index):
      %a = arith.addi %o, %i : index
      %e = tensor.extract %x[%a, %j] : tensor<64x16xf32>
      nv_tileas.yield %e : f32
    }
    %n = arith.addf %l, %p : tensor<8x16xf32>
    scf.yield %n : tensor<8x16xf32>
  }
  %close = scf.for %k = %c0 to %c8 step %c1 iter_args(%l = %b) -> (tensor<8x16xf32>) {
    %o = arith.muli %k, %c4 : index
    %p = nv_tileas.generate : tensor<8x16xf32> {
    ^bb0(%i: index, %j: index):
      %a = arith.addi %o, %i : index
      %e = tensor.extract %x[%a, %j] : tensor<64x16xf32>
      nv_tileas.yield %e : f32
    }
    %n = arith.addf %l, %p : tensor<8x16xf32>
    scf.yield %n : tensor<8x16xf32>
  }
  %chain = scf.for %k = %c0 to %c8 step %c1 iter_args(%l = %b) -> (tensor<8x16xf32>) {
    %o = arith.muli %k, %c8 : index
    %p = nv_tileas.generate : tensor<8x16xf32> {
    ^bb0(%i: index, %j: index):
      %a = arith.addi %o, %i : index
      %e = tensor.extract %x[%a, %j] : tensor<64x16xf32>
      nv_tileas.yield %e : f32
    }
    %q = arith.mulf %l, %p : tensor<8x16xf32>
    %n = arith.addf %l, %q : tensor<8x16xf32>
    scf.yield %n : tensor<8x16xf32>
  }
  func.return %part, %close, %chain : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: scf.for
// CHECK-NOT:     nv_tileas.view
