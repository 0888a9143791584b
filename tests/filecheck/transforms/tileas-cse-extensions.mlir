// `tileas-cse` with `extensions`: at the level of tiles, loads of equal pointers behind one token are
// one.

// RUN: tileas-opt %s -p 'tileas-cse{extensions=true}' --split-input-file | filecheck %s

// 1. Offsets are extended twice. The tile of offsets is computed by element, so that no store changes
// it.

func.func @gathers(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %q: tensor<8x!nv_tileaa.ptr<f32, 1>>, %n: i32) -> (tensor<8xf32>, tensor<8xf32>) {
  %start = nv_tileas.create_none : !nv_tileaa.mem_token
  %i = nv_tileas.generate : tensor<8xi64> {
  ^bb0(%k: index):
    %e = arith.index_cast %k : index to i64
    nv_tileas.yield %e : i64
  }
  %a = arith.extsi %n : i32 to i64
  %b = tensor.splat %a : tensor<8xi64>
  %c = arith.addi %i, %b : tensor<8xi64>
  %d = nv_tileaa.addptr %p, %c : tensor<8x!nv_tileaa.ptr<f32, 1>>, tensor<8xi64>
  %x, %t = nv_tileas.load %d after %start : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>, !nv_tileaa.mem_token
  %f = arith.extsi %n : i32 to i64
  %g = tensor.splat %f : tensor<8xi64>
  %h = arith.addi %i, %g : tensor<8xi64>
  %l = nv_tileaa.addptr %p, %h : tensor<8x!nv_tileaa.ptr<f32, 1>>, tensor<8xi64>
  %y, %u = nv_tileas.load %l after %start : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>, !nv_tileaa.mem_token
  %s = nv_tileas.store %x, %q after %start : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>> -> !nv_tileaa.mem_token
  func.return %x, %y : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @gathers
// CHECK:         arith.extsi
// CHECK-NOT:     arith.extsi
// CHECK:         %x, %t = nv_tileas.load
// CHECK-NOT:     nv_tileas.load
// CHECK:         nv_tileas.store
// CHECK:         func.return %x, %x

// -----

// 2. A load behind the store's token may read what was stored.

func.func @ordered(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>) -> (tensor<8xf32>, tensor<8xf32>) {
  %start = nv_tileas.create_none : !nv_tileaa.mem_token
  %x, %t = nv_tileas.load %p after %start : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>, !nv_tileaa.mem_token
  %z = arith.addf %x, %x : tensor<8xf32>
  %s = nv_tileas.store %z, %p after %t : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>> -> !nv_tileaa.mem_token
  %y, %u = nv_tileas.load %p after %s : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>, !nv_tileaa.mem_token
  func.return %x, %y : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @ordered
// CHECK:         %x, %t = nv_tileas.load
// CHECK:         %y, %u = nv_tileas.load
// CHECK:         func.return %x, %y

// -----

// 3. Loads without a token are ordered by the program.

func.func @untold(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %v: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %x = nv_tileas.load %p {atom = #nv_tileas<atom ldg>} : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  nv_tileas.store %v, %p {atom = #nv_tileas<atom stg>} : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>>
  %y = nv_tileas.load %p {atom = #nv_tileas<atom ldg>} : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>
  func.return %x, %y : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @untold
// CHECK:         %x = nv_tileas.load
// CHECK:         %y = nv_tileas.load
// CHECK:         func.return %x, %y

// -----

// 4. A store that no token orders with the second load may be of the same array, passed twice.

func.func @twice(%p: tensor<8x!nv_tileaa.ptr<f32, 1>>, %q: tensor<8x!nv_tileaa.ptr<f32, 1>>) -> (tensor<8xf32>, tensor<8xf32>) {
  %start = nv_tileas.create_none : !nv_tileaa.mem_token
  %x, %t = nv_tileas.load %p after %start : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>, !nv_tileaa.mem_token
  %s = nv_tileas.store %x, %q after %start : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<8xf32>, tensor<8x!nv_tileaa.ptr<f32, 1>> -> !nv_tileaa.mem_token
  %y, %u = nv_tileas.load %p after %start : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : tensor<8x!nv_tileaa.ptr<f32, 1>> -> tensor<8xf32>, !nv_tileaa.mem_token
  func.return %x, %y : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @twice
// CHECK:         %x, %t = nv_tileas.load
// CHECK:         %y, %u = nv_tileas.load
// CHECK:         func.return %x, %y
