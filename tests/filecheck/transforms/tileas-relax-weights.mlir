// `tileas-relax-weights`: weights of rows come from the instruction, where sums of 1 and roundings read them.

// RUN: tileas-opt %s -p tileas-relax-weights --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-relax-weights,tileas-relax-weights --split-input-file | filecheck %s

// The softmax of whole rows, of which the sum has a term exp(0).

func.func @rows(%s: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64x64xf16>) {
  %m = nv_tileas.reduce %s {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.maxnumf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %w = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %y = tensor.extract %m[%row] : tensor<64xf32>
    nv_tileas.yield %y : f32
  }
  %x = arith.subf %s, %w : tensor<64x64xf32>
  %p = math.exp %x : tensor<64x64xf32>
  %l = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %q = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
  func.return %l, %q : tensor<64xf32>, tensor<64x64xf16>
}

// CHECK-LABEL: func.func @rows
// CHECK:         %[[X:.*]] = arith.subf %s
// CHECK-NEXT:    %[[C:.*]] = arith.constant dense<1.44269502> : tensor<64x64xf32>
// CHECK-NEXT:    %[[Y:.*]] = arith.mulf %[[X]], %[[C]] : tensor<64x64xf32>
// CHECK-NEXT:    math.exp2 %[[Y]] {nv_tileas.ftz} : tensor<64x64xf32>

// -----

// Their shares of the sum, too, where these are rounded: the sum of a row is inverted once.

func.func @shares(%s: tensor<1x64xf32>) -> tensor<1x64xf16> {
  %m = nv_tileas.reduce %s {axis = 1 : i32} : tensor<1x64xf32> -> tensor<1xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.maxnumf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %w = nv_tileas.generate : tensor<1x64xf32> {
  ^bb0(%row: index, %column: index):
    %zero = arith.constant 0 : index
    %y = tensor.extract %m[%zero] : tensor<1xf32>
    nv_tileas.yield %y : f32
  }
  %x = arith.subf %s, %w : tensor<1x64xf32>
  %p = math.exp %x : tensor<1x64xf32>
  %l = nv_tileas.reduce %p {axis = 1 : i32} : tensor<1x64xf32> -> tensor<1xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %sums = nv_tileas.expand_dims %l {axis = 1 : i32} : tensor<1xf32> -> tensor<1x1xf32>
  %of_rows = nv_tileas.generate : tensor<1x64xf32> {
  ^bb0(%row: index, %column: index):
    %zero = arith.constant 0 : index
    %y = tensor.extract %sums[%row, %zero] : tensor<1x1xf32>
    nv_tileas.yield %y : f32
  }
  %d = arith.divf %p, %of_rows : tensor<1x64xf32>
  %q = arith.truncf %d : tensor<1x64xf32> to tensor<1x64xf16>
  func.return %q : tensor<1x64xf16>
}

// CHECK-LABEL: func.func @shares
// CHECK:         %[[P:.*]] = math.exp2 %{{.*}} {nv_tileas.ftz} : tensor<1x64xf32>
// CHECK:         %[[SUMS:.*]] = nv_tileas.expand_dims
// CHECK:         %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.divf %[[ONE]], %[[SUMS]] : tensor<1x1xf32>
// CHECK-NEXT:    %[[REPEATED:.*]] = nv_tileas.generate : tensor<1x64xf32>
// CHECK:           tensor.extract %[[INVERSE]]
// CHECK:         %[[SHARES:.*]] = arith.mulf %[[P]], %[[REPEATED]] : tensor<1x64xf32>
// CHECK-NEXT:    arith.truncf %[[SHARES]]

// -----

// Less one at a label, as the gradient of cross entropy is: where it is close to zero, so is %x. The
// share of a weight of 1 is the rounded inverse, as it is as a quotient; others are a half at most.

func.func @gradient(%s: tensor<64x64xf32>, %label: tensor<64x64xi1>) -> tensor<64x64xf16> {
  %m = nv_tileas.reduce %s {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.maxnumf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %w = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %y = tensor.extract %m[%row] : tensor<64xf32>
    nv_tileas.yield %y : f32
  }
  %x = arith.subf %s, %w : tensor<64x64xf32>
  %p = math.exp %x : tensor<64x64xf32>
  %l = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %of_rows = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %y = tensor.extract %l[%row] : tensor<64xf32>
    nv_tileas.yield %y : f32
  }
  %d = arith.divf %p, %of_rows : tensor<64x64xf32>
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %here = tensor.extract %label[%row, %column] : tensor<64x64xi1>
    %y = tensor.extract %one[%row, %column] : tensor<64x64xf32>
    %z = tensor.extract %zero[%row, %column] : tensor<64x64xf32>
    %t = arith.select %here, %y, %z : f32
    nv_tileas.yield %t : f32
  }
  %g = arith.subf %d, %c : tensor<64x64xf32>
  %q = arith.truncf %g : tensor<64x64xf32> to tensor<64x64xf16>
  func.return %q : tensor<64x64xf16>
}

// CHECK-LABEL: func.func @gradient
// CHECK:         %[[P:.*]] = math.exp2 %{{.*}} {nv_tileas.ftz} : tensor<64x64xf32>
// CHECK:         arith.divf %{{.*}}, %{{.*}} : tensor<64xf32>
// CHECK:         arith.mulf %[[P]], %{{.*}} : tensor<64x64xf32>

// -----

// Less a half, close to which shares may be whose weights are not close to one.

func.func @smoothed(%s: tensor<64x64xf32>, %label: tensor<64x64xi1>) -> tensor<64x64xf16> {
  %m = nv_tileas.reduce %s {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.maxnumf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %w = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %y = tensor.extract %m[%row] : tensor<64xf32>
    nv_tileas.yield %y : f32
  }
  %x = arith.subf %s, %w : tensor<64x64xf32>
  %p = math.exp %x : tensor<64x64xf32>
  %l = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %of_rows = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %y = tensor.extract %l[%row] : tensor<64xf32>
    nv_tileas.yield %y : f32
  }
  %d = arith.divf %p, %of_rows : tensor<64x64xf32>
  %one = arith.constant dense<0.5> : tensor<64x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %here = tensor.extract %label[%row, %column] : tensor<64x64xi1>
    %y = tensor.extract %one[%row, %column] : tensor<64x64xf32>
    %z = tensor.extract %zero[%row, %column] : tensor<64x64xf32>
    %t = arith.select %here, %y, %z : f32
    nv_tileas.yield %t : f32
  }
  %g = arith.subf %d, %c : tensor<64x64xf32>
  %q = arith.truncf %g : tensor<64x64xf32> to tensor<64x64xf16>
  func.return %q : tensor<64x64xf16>
}

// CHECK-LABEL: func.func @smoothed
// CHECK:         math.exp %{{.*}} : tensor<64x64xf32>

// -----

// Shares of another sum are read as they are, and so are those that nothing rounds.

func.func @others(%s: tensor<64x64xf32>, %other: tensor<64xf32>) -> (tensor<64xf32>, tensor<64x64xf16>) {
  %m = nv_tileas.reduce %s {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.maxnumf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %w = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %y = tensor.extract %m[%row] : tensor<64xf32>
    nv_tileas.yield %y : f32
  }
  %x = arith.subf %s, %w : tensor<64x64xf32>
  %p = math.exp %x : tensor<64x64xf32>
  %l = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %of_rows = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %y = tensor.extract %other[%row] : tensor<64xf32>
    nv_tileas.yield %y : f32
  }
  %d = arith.divf %p, %of_rows : tensor<64x64xf32>
  %q = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
  func.return %l, %q : tensor<64xf32>, tensor<64x64xf16>
}

// CHECK-LABEL: func.func @others
// CHECK:         math.exp %
// CHECK:         arith.divf %

// -----

// Something else reads them.

func.func @read(%s: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64x64xf32>) {
  %m = nv_tileas.reduce %s {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.maxnumf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  %w = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%row: index, %column: index):
    %y = tensor.extract %m[%row] : tensor<64xf32>
    nv_tileas.yield %y : f32
  }
  %x = arith.subf %s, %w : tensor<64x64xf32>
  %p = math.exp %x : tensor<64x64xf32>
  %l = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
  ^bb0(%a: f32, %b: f32):
    %y = arith.addf %a, %b : f32
    nv_tileas.yield %y : f32
  }
  func.return %l, %p : tensor<64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @read
// CHECK:         math.exp %

// -----

// The maximum so far and the sum so far are carried. Scales of 1/8 are exact, so that they are for
// the maximum, too, and where it is subtracted. What begins at 0 with a sum of 0, as %l2 does, may
// have a small sum; one that begins with 1 has none.

func.func @carried(%s: tensor<64x64xf32>, %n: i32) -> (tensor<64x1xf32>, tensor<64x64xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0xFF800000> : tensor<64x1xf32>
  %zero = arith.constant dense<0.0> : tensor<64x1xf32>
  %empty = arith.constant dense<0.0> : tensor<64x64xf16>
  %scale = arith.constant dense<0.125> : tensor<64x64xf32>
  %l, %m, %o = scf.for %j = %c0 to %n step %c1 iter_args(%l0 = %zero, %m0 = %none, %o0 = %empty) -> (tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x64xf16>) : i32 {
    %t = arith.mulf %s, %scale : tensor<64x64xf32>
    %r = nv_tileas.reduce %t {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maxnumf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %e = nv_tileas.expand_dims %r {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %m1 = arith.maxnumf %m0, %e : tensor<64x1xf32>
    %w = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %zero_ = arith.constant 0 : index
      %y = tensor.extract %m1[%row, %zero_] : tensor<64x1xf32>
      nv_tileas.yield %y : f32
    }
    %x = arith.subf %t, %w : tensor<64x64xf32>
    %p = math.exp %x : tensor<64x64xf32>
    %d = arith.subf %m0, %m1 : tensor<64x1xf32>
    %f = math.exp %d : tensor<64x1xf32>
    %u = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %v = nv_tileas.expand_dims %u {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %l1 = math.fma %l0, %f, %v : tensor<64x1xf32>
    %q = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    scf.yield %l1, %m1, %q : tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x64xf16>
  }
  func.return %l, %o : tensor<64x1xf32>, tensor<64x64xf16>
}

// CHECK-LABEL: func.func @carried
// CHECK:         nv_tileas.reduce %s
// CHECK:         %[[E:.*]] = arith.constant dense<1.250000e-01> : tensor<64xf32>
// CHECK-NEXT:    %[[R:.*]] = arith.mulf %{{.*}}, %[[E]] : tensor<64xf32>
// CHECK-NEXT:    nv_tileas.expand_dims %[[R]]
// CHECK:         %[[N:.*]] = arith.negf
// CHECK-NEXT:    %[[X:.*]] = math.fma %s, %scale, %[[N]]
// CHECK-NEXT:    %[[C:.*]] = arith.constant dense<1.44269502>
// CHECK-NEXT:    %[[Y:.*]] = arith.mulf %[[X]], %[[C]]
// CHECK-NEXT:    math.exp2 %[[Y]] {nv_tileas.ftz}
// CHECK:         %[[D:.*]] = arith.subf %m0
// CHECK:         %[[E:.*]] = arith.mulf %[[D]]
// CHECK-NEXT:    math.exp2 %[[E]] {nv_tileas.ftz} : tensor<64x1xf32>

// -----

// A row that begins with the maximum 0 and the sum 0 may have small weights alone.

func.func @begun(%s: tensor<64x64xf32>, %n: i32) -> tensor<64x1xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x1xf32>
  %l, %m = scf.for %j = %c0 to %n step %c1 iter_args(%l0 = %zero, %m0 = %zero) -> (tensor<64x1xf32>, tensor<64x1xf32>) : i32 {
    %r = nv_tileas.reduce %s {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maxnumf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %e = nv_tileas.expand_dims %r {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %m1 = arith.maxnumf %m0, %e : tensor<64x1xf32>
    %w = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %zero_ = arith.constant 0 : index
      %y = tensor.extract %m1[%row, %zero_] : tensor<64x1xf32>
      nv_tileas.yield %y : f32
    }
    %x = arith.subf %s, %w : tensor<64x64xf32>
    %p = math.exp %x : tensor<64x64xf32>
    %d = arith.subf %m0, %m1 : tensor<64x1xf32>
    %f = math.exp %d : tensor<64x1xf32>
    %u = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %v = nv_tileas.expand_dims %u {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %l1 = math.fma %l0, %f, %v : tensor<64x1xf32>
    scf.yield %l1, %m1 : tensor<64x1xf32>, tensor<64x1xf32>
  }
  func.return %l : tensor<64x1xf32>
}

// CHECK-LABEL: func.func @begun
// CHECK:         math.exp %{{.*}} : tensor<64x64xf32>

// -----

// A factor of the difference goes into the one constant.

func.func @later(%s: tensor<64x64xf32>, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<-1.0e30> : tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %scale = arith.constant dense<0.25> : tensor<64x64xf32>
  %scale_of_rows = arith.constant dense<0.25> : tensor<64xf32>
  %l, %m = scf.for %j = %c0 to %n step %c1 iter_args(%l0 = %zero, %m0 = %none) -> (tensor<64xf32>, tensor<64xf32>) : i32 {
    %r = nv_tileas.reduce %s {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maximumf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %m1 = arith.maximumf %r, %m0 : tensor<64xf32>
    %w = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %m1[%row] : tensor<64xf32>
      nv_tileas.yield %y : f32
    }
    %x0 = arith.subf %s, %w : tensor<64x64xf32>
    %x = arith.mulf %x0, %scale : tensor<64x64xf32>
    %p = math.exp %x : tensor<64x64xf32>
    %d0 = arith.subf %m0, %m1 : tensor<64xf32>
    %d = arith.mulf %d0, %scale_of_rows : tensor<64xf32>
    %f = math.exp %d : tensor<64xf32>
    %t = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %k = arith.mulf %l0, %f : tensor<64xf32>
    %l1 = arith.addf %t, %k : tensor<64xf32>
    scf.yield %l1, %m1 : tensor<64xf32>, tensor<64xf32>
  }
  func.return %l : tensor<64xf32>
}

// CHECK-LABEL: func.func @later
// CHECK:         %[[X:.*]] = arith.subf %s
// CHECK:         %[[C:.*]] = arith.constant dense<0.360673755> : tensor<64x64xf32>
// CHECK-NEXT:    %[[Y:.*]] = arith.mulf %[[X]], %[[C]]
// CHECK-NEXT:    math.exp2 %[[Y]] {nv_tileas.ftz} : tensor<64x64xf32>

// -----

// Zeros that are added to scores, as a mask is where it leaves nothing out, and another number in the
// place of a maximum of -inf: the rounds are those without.

func.func @guarded(%s: tensor<64x64xf32>, %n: i32) -> tensor<64x1xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0xFF800000> : tensor<64x1xf32>
  %zero = arith.constant dense<0.0> : tensor<64x1xf32>
  %mask = arith.constant dense<0.0> : tensor<64x64xf32>
  %scale = arith.constant dense<0.3> : tensor<64x64xf32>
  %l, %m = scf.for %j = %c0 to %n step %c1 iter_args(%l0 = %zero, %m0 = %none) -> (tensor<64x1xf32>, tensor<64x1xf32>) : i32 {
    %t = math.fma %scale, %s, %mask : tensor<64x64xf32>
    %r = nv_tileas.reduce %t {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maxnumf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %e = nv_tileas.expand_dims %r {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %m1 = arith.maxnumf %m0, %e : tensor<64x1xf32>
    %q = nv_tileas.generate : tensor<64x1xi1> {
    ^bb0(%row: index, %column: index):
      %x = tensor.extract %m1[%row, %column] : tensor<64x1xf32>
      %y = tensor.extract %none[%row, %column] : tensor<64x1xf32>
      %z = arith.cmpf oeq, %x, %y : f32
      nv_tileas.yield %z : i1
    }
    %g = nv_tileas.generate : tensor<64x1xf32> {
    ^bb0(%row: index, %column: index):
      %x = tensor.extract %q[%row, %column] : tensor<64x1xi1>
      %y = tensor.extract %zero[%row, %column] : tensor<64x1xf32>
      %z = tensor.extract %m1[%row, %column] : tensor<64x1xf32>
      %o = arith.select %x, %y, %z : f32
      nv_tileas.yield %o : f32
    }
    %w = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %zero_ = arith.constant 0 : index
      %y = tensor.extract %g[%row, %zero_] : tensor<64x1xf32>
      nv_tileas.yield %y : f32
    }
    %x = arith.subf %t, %w : tensor<64x64xf32>
    %p = math.exp %x : tensor<64x64xf32>
    %d = arith.subf %m0, %g : tensor<64x1xf32>
    %f = math.exp %d : tensor<64x1xf32>
    %u = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %v = nv_tileas.expand_dims %u {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %l1 = math.fma %f, %l0, %v : tensor<64x1xf32>
    scf.yield %l1, %m1 : tensor<64x1xf32>, tensor<64x1xf32>
  }
  func.return %l : tensor<64x1xf32>
}

// CHECK-LABEL: func.func @guarded
// CHECK:         nv_tileas.reduce %s
// CHECK:         %[[P:.*]] = arith.mulf %s, %scale : tensor<64x64xf32>
// CHECK-NEXT:    %[[X:.*]] = arith.subf %[[P]]
// CHECK-NEXT:    arith.constant dense<1.44269502>
// CHECK-NEXT:    arith.mulf %[[X]]
// CHECK-NEXT:    math.exp2 %{{.*}} {nv_tileas.ftz}

// -----

// Scores that a tangent bounds: what is off near zero counts as little as what is off near 1.

func.func @bounded(%s: tensor<64x64xf32>, %v: tensor<64x64xf16>, %mask: tensor<64x64xi1>, %n: i32) -> (tensor<64xf32>, tensor<64x64xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0xFF800000> : tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %fifty = arith.constant dense<50.0> : tensor<64x64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %l, %m, %o = scf.for %j = %c0 to %n step %c1 iter_args(%l0 = %zero, %m0 = %none, %o0 = %zeros) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) : i32 {
    %c = arith.divf %s, %fifty : tensor<64x64xf32>
    %t = math.tanh %c : tensor<64x64xf32>
    %bounded = arith.mulf %t, %fifty : tensor<64x64xf32>
    %k = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %mask[%row, %column] : tensor<64x64xi1>
      %z = tensor.extract %bounded[%row, %column] : tensor<64x64xf32>
      %e = arith.constant 0xFF800000 : f32
      %o = arith.select %y, %z, %e : f32
      nv_tileas.yield %o : f32
    }
    %r = nv_tileas.reduce %k {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maxnumf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %m1 = arith.maxnumf %m0, %r : tensor<64xf32>
    %w = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %m1[%row] : tensor<64xf32>
      nv_tileas.yield %y : f32
    }
    %x = arith.subf %k, %w : tensor<64x64xf32>
    %p = math.exp %x : tensor<64x64xf32>
    %d = arith.subf %m0, %m1 : tensor<64xf32>
    %f = math.exp %d : tensor<64xf32>
    %u = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %l1 = math.fma %l0, %f, %u : tensor<64xf32>
    %q = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %product = nv_tileas.dot %q, %v, %zeros : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    %g = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %f[%row] : tensor<64xf32>
      nv_tileas.yield %y : f32
    }
    %o1 = math.fma %o0, %g, %product : tensor<64x64xf32>
    scf.yield %l1, %m1, %o1 : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }
  func.return %l, %o : tensor<64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @bounded
// CHECK-NOT:     math.tanh
// CHECK-DAG:     %[[H:.*]] = arith.constant dense<5.000000e-01>
// CHECK-DAG:     %[[M:.*]] = arith.constant dense<-5.000000e+01>
// CHECK-DAG:     %[[C:.*]] = arith.constant dense<5.770780e-02>
// CHECK:         %[[X:.*]] = arith.mulf %s, %[[C]]
// CHECK-NEXT:    %[[E:.*]] = math.exp2 %[[X]] {nv_tileas.ftz}
// CHECK-NEXT:    %[[S:.*]] = math.fma %[[E]], %[[H]], %[[H]]
// CHECK-NEXT:    %[[I:.*]] = arith.divf %{{.*}}, %[[S]] {nv_tileas.rounding = "approx", nv_tileas.ftz}
// CHECK-NEXT:    %[[B:.*]] = math.fma %[[I]], %[[M]], %{{.*}} :
// CHECK-NEXT:    nv_tileas.generate
// CHECK:           tensor.extract %[[B]]

// -----

// Products of the weights are added to what their sum is scaled by, too: they begin with that, and
// the factor is as exact as the weights. One that scales other products stays accurate (below).

func.func @products(%s: tensor<64x64xf32>, %v: tensor<64x64xf16>, %n: i32) -> (tensor<64xf32>, tensor<64x64xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0xFF800000> : tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %l, %m, %o = scf.for %j = %c0 to %n step %c1 iter_args(%l0 = %zero, %m0 = %none, %o0 = %zeros) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) : i32 {
    %r = nv_tileas.reduce %s {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maxnumf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %m1 = arith.maxnumf %m0, %r : tensor<64xf32>
    %w = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %m1[%row] : tensor<64xf32>
      nv_tileas.yield %y : f32
    }
    %x = arith.subf %s, %w : tensor<64x64xf32>
    %p = math.exp %x : tensor<64x64xf32>
    %d = arith.subf %m0, %m1 : tensor<64xf32>
    %f = math.exp %d : tensor<64xf32>
    %u = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %l1 = math.fma %l0, %f, %u : tensor<64xf32>
    %q = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %product = nv_tileas.dot %q, %v, %zeros : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    %g = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %f[%row] : tensor<64xf32>
      nv_tileas.yield %y : f32
    }
    %o1 = math.fma %o0, %g, %product : tensor<64x64xf32>
    scf.yield %l1, %m1, %o1 : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }
  func.return %l, %o : tensor<64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @products
// CHECK:         math.exp2 %{{.*}} {nv_tileas.ftz, nv_tileas.weight} : tensor<64x64xf32>
// CHECK:         math.exp2 %{{.*}} {nv_tileas.ftz} : tensor<64xf32>
// CHECK-NOT:     nv_tileas.dot
// CHECK:         %[[S:.*]] = arith.mulf %o0, %g
// CHECK-NEXT:    %[[O:.*]] = nv_tileas.dot %q, %v, %[[S]]
// CHECK-NEXT:    scf.yield %{{.*}}, %m1, %[[O]]

// -----

func.func @others(%s: tensor<64x64xf32>, %v: tensor<64x64xf16>, %n: i32) -> (tensor<64xf32>, tensor<64x64xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0xFF800000> : tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %other = arith.constant dense<1.0> : tensor<64x64xf16>
  %l, %m, %o = scf.for %j = %c0 to %n step %c1 iter_args(%l0 = %zero, %m0 = %none, %o0 = %zeros) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) : i32 {
    %r = nv_tileas.reduce %s {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maxnumf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %m1 = arith.maxnumf %m0, %r : tensor<64xf32>
    %w = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %m1[%row] : tensor<64xf32>
      nv_tileas.yield %y : f32
    }
    %x = arith.subf %s, %w : tensor<64x64xf32>
    %p = math.exp %x : tensor<64x64xf32>
    %d = arith.subf %m0, %m1 : tensor<64xf32>
    %f = math.exp %d : tensor<64xf32>
    %u = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %l1 = math.fma %l0, %f, %u : tensor<64xf32>
    %product = nv_tileas.dot %other, %v, %zeros : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    %g = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %f[%row] : tensor<64xf32>
      nv_tileas.yield %y : f32
    }
    %o1 = math.fma %o0, %g, %product : tensor<64x64xf32>
    scf.yield %l1, %m1, %o1 : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }
  func.return %l, %o : tensor<64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @others
// CHECK:         math.exp2 %{{.*}} {nv_tileas.ftz} : tensor<64x64xf32>
// CHECK:         math.exp %{{.*}} : tensor<64xf32>
// CHECK:         nv_tileas.dot %other, %v, %zeros

// -----

// Scores of a product: the loop carries maxima of those that are not scaled, differences are scaled
// by one constant, and what reads the maxima behind the loop has them scaled.

func.func @scores(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %n: i32) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0xFF800000> : tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = arith.constant dense<0.0> : tensor<64x64xf16>
  %scale = arith.constant dense<0.3> : tensor<64x64xf32>
  %l, %m, %o = scf.for %j = %c0 to %n step %c1 iter_args(%l0 = %zero, %m0 = %none, %o0 = %empty) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf16>) : i32 {
    %s = nv_tileas.dot %q, %k, %zeros : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    %t = arith.mulf %s, %scale : tensor<64x64xf32>
    %r = nv_tileas.reduce %t {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maxnumf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %m1 = arith.maxnumf %m0, %r : tensor<64xf32>
    %w = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %m1[%row] : tensor<64xf32>
      nv_tileas.yield %y : f32
    }
    %x = arith.subf %t, %w : tensor<64x64xf32>
    %p = math.exp %x : tensor<64x64xf32>
    %d = arith.subf %m0, %m1 : tensor<64xf32>
    %f = math.exp %d : tensor<64xf32>
    %u = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %l1 = math.fma %l0, %f, %u : tensor<64xf32>
    %h = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    scf.yield %l1, %m1, %h : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf16>
  }
  func.return %l, %m, %o : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf16>
}

// CHECK-LABEL: func.func @scores
// CHECK:         %[[M:[a-z0-9]+]], %{{.*}} = scf.for
// CHECK:           nv_tileas.reduce %s
// CHECK:           %[[X:.*]] = arith.subf %s, %w
// CHECK:           %[[C:.*]] = arith.constant dense<0.432808518> : tensor<64x64xf32>
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[X]], %[[C]]
// CHECK-NEXT:      math.exp2 %[[Y]] {nv_tileas.ftz}
// CHECK:           %[[D:.*]] = arith.subf %m0, %m1
// CHECK-NEXT:      %[[E:.*]] = arith.constant dense<0.432808518> : tensor<64xf32>
// CHECK-NEXT:      arith.mulf %[[D]], %[[E]]
// CHECK:         %[[S:.*]] = arith.constant dense<3.000000e-01> : tensor<64xf32>
// CHECK-NEXT:    %[[R:.*]] = arith.mulf %{{.*}}, %[[S]]
// CHECK-NEXT:    func.return %{{.*}}, %[[R]]

// -----

// A scale that is known at run time: queries get its sign, once, and scores are scaled by a positive
// number.

func.func @signed(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %c: f32, %n: i32) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0xFF800000> : tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %empty = arith.constant dense<0.0> : tensor<64x64xf16>
  %scale = tensor.splat %c : tensor<64x64xf32>
  %l, %m, %o = scf.for %j = %c0 to %n step %c1 iter_args(%l0 = %zero, %m0 = %none, %o0 = %empty) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf16>) : i32 {
    %a0 = nv_tileas.convert_layout %q : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %s = nv_tileas.dot %a0, %k, %zeros : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    %t = arith.mulf %s, %scale : tensor<64x64xf32>
    %r = nv_tileas.reduce %t {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maxnumf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %m1 = arith.maxnumf %m0, %r : tensor<64xf32>
    %w = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %y = tensor.extract %m1[%row] : tensor<64xf32>
      nv_tileas.yield %y : f32
    }
    %x = arith.subf %t, %w : tensor<64x64xf32>
    %p = math.exp %x : tensor<64x64xf32>
    %d = arith.subf %m0, %m1 : tensor<64xf32>
    %f = math.exp %d : tensor<64xf32>
    %u = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %l1 = math.fma %l0, %f, %u : tensor<64xf32>
    %h = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    scf.yield %l1, %m1, %h : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf16>
  }
  func.return %l, %m, %o : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf16>
}

// CHECK-LABEL: func.func @signed
// CHECK:         %[[N:.*]] = arith.cmpf olt, %c
// CHECK:         %[[G:.*]] = arith.select %[[N]], %{{.*}}, %{{.*}} : f16
// CHECK-NEXT:    %[[T:.*]] = tensor.splat %[[G]] : tensor<64x64xf16>
// CHECK-NEXT:    %[[Q:.*]] = arith.mulf %q, %[[T]] : tensor<64x64xf16>
// CHECK:         %[[A:.*]] = math.absf %c : f32
// CHECK:         %[[P:.*]] = arith.maximumf %[[A]]
// CHECK:         scf.for
// CHECK:           nv_tileas.convert_layout %[[Q]]
// CHECK:           nv_tileas.reduce %s
// CHECK:           %[[X:.*]] = arith.subf %s, %w
// CHECK:           %[[C:.*]] = arith.mulf %[[P]]
// CHECK-NEXT:      %[[R:.*]] = tensor.splat %[[C]] : tensor<64x64xf32>
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[X]], %[[R]]
// CHECK-NEXT:      math.exp2 %[[Y]] {nv_tileas.ftz}

// -----

// Masked scores are scaled behind their mask, so that a loop carries unscaled maxima, too: it begins
// with the score of a sink over the scale.

func.func @masked(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %seen: tensor<64x64xi1>, %sink: tensor<64x1xf32>, %n: i32) -> (tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x64xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<64x1xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %hidden = arith.constant 0xFF800000 : f32
  %scale = arith.constant dense<0.25> : tensor<64x64xf32>
  %l, %m, %o = scf.for %j = %c0 to %n step %c1 iter_args(%l0 = %one, %m0 = %sink, %o0 = %none) -> (tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x64xf32>) : i32 {
    %s = nv_tileas.dot %q, %k, %none : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    %t0 = arith.mulf %s, %scale : tensor<64x64xf32>
    %t = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %is_seen = tensor.extract %seen[%row, %column] : tensor<64x64xi1>
      %x = tensor.extract %t0[%row, %column] : tensor<64x64xf32>
      %y = arith.select %is_seen, %x, %hidden : f32
      nv_tileas.yield %y : f32
    }
    %r = nv_tileas.reduce %t {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.maxnumf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %e = nv_tileas.expand_dims %r {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %m1 = arith.maxnumf %m0, %e : tensor<64x1xf32>
    %w = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %zero_ = arith.constant 0 : index
      %y = tensor.extract %m1[%row, %zero_] : tensor<64x1xf32>
      nv_tileas.yield %y : f32
    }
    %x = arith.subf %t, %w : tensor<64x64xf32>
    %p = math.exp %x : tensor<64x64xf32>
    %d = arith.subf %m0, %m1 : tensor<64x1xf32>
    %f = math.exp %d : tensor<64x1xf32>
    %u = nv_tileas.reduce %p {axis = 1 : i32} : tensor<64x64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %y = arith.addf %a, %b : f32
      nv_tileas.yield %y : f32
    }
    %v = nv_tileas.expand_dims %u {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %l1 = math.fma %l0, %f, %v : tensor<64x1xf32>
    %h = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %g = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %zero_ = arith.constant 0 : index
      %y = tensor.extract %f[%row, %zero_] : tensor<64x1xf32>
      nv_tileas.yield %y : f32
    }
    %o1 = arith.mulf %o0, %g : tensor<64x64xf32>
    %o2 = nv_tileas.dot %h, %k, %o1 : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %l1, %m1, %o2 : tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x64xf32>
  }
  func.return %l, %m, %o : tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @masked
// CHECK:         %[[C:.*]] = arith.constant dense<2.500000e-01> : tensor<64x1xf32>
// CHECK-NEXT:    %[[M:.*]] = arith.divf %sink, %[[C]] : tensor<64x1xf32>
// CHECK-NEXT:    %l, %m, %o = scf.for {{.*}} %m0 = %[[M]],
// CHECK:           %s = nv_tileas.dot
// CHECK:           %t = nv_tileas.generate
// CHECK:             tensor.extract %s[
// CHECK:             %[[H:.*]] = arith.constant 0xFF800000 : f32
// CHECK-NEXT:        arith.select %{{.*}}, %{{.*}}, %[[H]] : f32
// CHECK:           nv_tileas.reduce %t
// CHECK:           %[[X:.*]] = arith.subf %t, %w
// CHECK-NEXT:      %[[F:.*]] = arith.constant dense<0.360673755>
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[X]], %[[F]]
// CHECK-NEXT:      math.exp2 %[[Y]] {nv_tileas.ftz, nv_tileas.weight}
// CHECK:         %[[B:.*]] = arith.constant dense<2.500000e-01> : tensor<64x1xf32>
// CHECK-NEXT:    arith.mulf %m, %[[B]] : tensor<64x1xf32>
