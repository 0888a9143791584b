// The seven patterns of `tileas-canonicalize`, each followed by what it must leave alone.

// RUN: tileas-opt %s -p tileas-canonicalize | filecheck %s
// RUN: tileas-opt %s -p tileas-canonicalize,tileas-canonicalize | filecheck %s
// RUN: xdsl-opt %s -p tileas-canonicalize,verify-dominance | filecheck %s

// 1. A slice whose numbers are constants is static.

func.func @static(%t: tensor<32x32xf32>) -> tensor<16x32xf32> {
  %c8 = arith.constant 8 : index
  %0 = nv_tileas.extract_slice %t[%c8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  func.return %0 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @static(%t: tensor<32x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %0 = nv_tileas.extract_slice %t[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    func.return %0 : tensor<16x32xf32>
// CHECK-NEXT:  }

// 1, not: a number that is not known, one that is negative, a slice that would not fit.

func.func @not_static(%t: tensor<32x32xf32>, %i: index) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
  %m1 = arith.constant -1 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  %0 = nv_tileas.extract_slice %t[%c8, 0][16, 32][1, %i] : tensor<32x32xf32> -> tensor<16x32xf32>
  %1 = nv_tileas.extract_slice %t[%m1, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %2 = nv_tileas.extract_slice %t[%c24, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  func.return %0, %1, %2 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @not_static(%t: tensor<32x32xf32>, %i: index) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    %m1 = arith.constant -1 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %c24 = arith.constant 24 : index
// CHECK-NEXT:    %0 = nv_tileas.extract_slice %t[%c8, 0][16, 32][1, %i] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %1 = nv_tileas.extract_slice %t[%m1, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %2 = nv_tileas.extract_slice %t[%c24, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    func.return %0, %1, %2 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:  }

// 2. A carried tile that every iteration fills before it reads moves into the loop.

func.func @loop(%n: index, %x: tensor<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %t[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
    %1 = nv_tileas.convert_layout %0 : tensor<32x32xf32> -> tensor<32x32xf32, #nv_tileas<space smem>>
    "test.op"(%1) : (tensor<32x32xf32, #nv_tileas<space smem>>) -> ()
    scf.yield %0 : tensor<32x32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @loop(%n: index, %x: tensor<32x32xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    scf.for %i = %c0 to %n step %c1 {
// CHECK-NEXT:      %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %b[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      %1 = nv_tileas.convert_layout %0 : tensor<32x32xf32> -> tensor<32x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:      "test.op"(%1) : (tensor<32x32xf32, #nv_tileas<space smem>>) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 2. Two insertions cover what is read, and another carried value stays.

func.func @loop_in_parts(%n: index, %x: tensor<16x32xf32>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %r, %k = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b, %s = %c0) -> (tensor<32x32xf32>, index) {
    %0 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    %1 = nv_tileas.insert_slice %x into %0[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    %2 = nv_tileas.extract_slice %1[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
    "test.op"(%2) : (tensor<16x32xf32>) -> ()
    %3 = arith.addi %s, %i : index
    scf.yield %1, %3 : tensor<32x32xf32>, index
  }
  func.return %k : index
}

// CHECK-LABEL: func.func @loop_in_parts(%n: index, %x: tensor<16x32xf32>) -> index {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %k = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (index) {
// CHECK-NEXT:      %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      %1 = nv_tileas.insert_slice %x into %0[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      %2 = nv_tileas.extract_slice %1[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      "test.op"(%2) : (tensor<16x32xf32>) -> ()
// CHECK-NEXT:      %3 = arith.addi %s, %i : index
// CHECK-NEXT:      scf.yield %3 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %k : index
// CHECK-NEXT:  }

// 2. What the tile began with and no iteration writes goes along.

func.func @loop_begun(%n: index, %x: tensor<16x32xf32>, %y: tensor<16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %b0 = nv_tileas.insert_slice %y into %b[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b0) -> (tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    %1 = nv_tileas.extract_slice %0[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
    "test.op"(%1) : (tensor<16x32xf32>) -> ()
    scf.yield %0 : tensor<32x32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @loop_begun(%n: index, %x: tensor<16x32xf32>, %y: tensor<16x32xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    scf.for %i = %c0 to %n step %c1 {
// CHECK-NEXT:      %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:      %b0 = nv_tileas.insert_slice %y into %b[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %b0[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      %1 = nv_tileas.extract_slice %0[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      "test.op"(%1) : (tensor<16x32xf32>) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 2, not: the result is used.

func.func @loop_result(%n: index, %x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %t[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
    scf.yield %0 : tensor<32x32xf32>
  }
  func.return %r : tensor<32x32xf32>
}

// CHECK-LABEL: func.func @loop_result(%n: index, %x: tensor<32x32xf32>) -> tensor<32x32xf32> {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %t[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      scf.yield %0 : tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : tensor<32x32xf32>
// CHECK-NEXT:  }

// 2, not: an iteration reads rows that an earlier one left.

func.func @loop_reads_earlier(%n: index, %x: tensor<16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
    %0 = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
    "test.op"(%0) : (tensor<16x32xf32>) -> ()
    %1 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    scf.yield %1 : tensor<32x32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @loop_reads_earlier(%n: index, %x: tensor<16x32xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
// CHECK-NEXT:      %0 = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      "test.op"(%0) : (tensor<16x32xf32>) -> ()
// CHECK-NEXT:      %1 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      scf.yield %1 : tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 2, not: where the iteration writes is not known.

func.func @loop_unknown_slice(%n: index, %x: tensor<16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %t[%i, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    %1 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
    "test.op"(%1) : (tensor<16x32xf32>) -> ()
    scf.yield %0 : tensor<32x32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @loop_unknown_slice(%n: index, %x: tensor<16x32xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %t[%i, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      %1 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      "test.op"(%1) : (tensor<16x32xf32>) -> ()
// CHECK-NEXT:      scf.yield %0 : tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 2, not: every second row only.

func.func @loop_strided(%n: index, %x: tensor<16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][2, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    %1 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
    "test.op"(%1) : (tensor<16x32xf32>) -> ()
    scf.yield %0 : tensor<32x32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @loop_strided(%n: index, %x: tensor<16x32xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][2, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      %1 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      "test.op"(%1) : (tensor<16x32xf32>) -> ()
// CHECK-NEXT:      scf.yield %0 : tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 2, not: what it began with is overwritten by an iteration after it was read.

func.func @loop_overwrites(%n: index, %x: tensor<16x32xf32>, %y: tensor<16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %b0 = nv_tileas.insert_slice %y into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b0) -> (tensor<32x32xf32>) {
    %0 = nv_tileas.extract_slice %t[0, 0][8, 32][1, 1] : tensor<32x32xf32> -> tensor<8x32xf32>
    "test.op"(%0) : (tensor<8x32xf32>) -> ()
    %1 = nv_tileas.insert_slice %x into %t[4, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    scf.yield %1 : tensor<32x32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @loop_overwrites(%n: index, %x: tensor<16x32xf32>, %y: tensor<16x32xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %b0 = nv_tileas.insert_slice %y into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b0) -> (tensor<32x32xf32>) {
// CHECK-NEXT:      %0 = nv_tileas.extract_slice %t[0, 0][8, 32][1, 1] : tensor<32x32xf32> -> tensor<8x32xf32>
// CHECK-NEXT:      "test.op"(%0) : (tensor<8x32xf32>) -> ()
// CHECK-NEXT:      %1 = nv_tileas.insert_slice %x into %t[4, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      scf.yield %1 : tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 2, not: something that may write the tile itself uses it, or the storage is used elsewhere.

func.func @loop_storage(%n: index, %x: tensor<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %t[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
    "test.op"(%0) : (tensor<32x32xf32>) -> ()
    scf.yield %0 : tensor<32x32xf32>
  }
  %d = nv_tileas.alloc_tensor : tensor<32x32xf32>
  "test.op"(%d) : (tensor<32x32xf32>) -> ()
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %d) -> (tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %t[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
    "test.op"(%i) : (index) -> ()
    scf.yield %0 : tensor<32x32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @loop_storage(%n: index, %x: tensor<32x32xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %t[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      "test.op"(%0) : (tensor<32x32xf32>) -> ()
// CHECK-NEXT:      scf.yield %0 : tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %d = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    "test.op"(%d) : (tensor<32x32xf32>) -> ()
// CHECK-NEXT:    %s = scf.for %i_1 = %c0 to %n step %c1 iter_args(%t_1 = %d) -> (tensor<32x32xf32>) {
// CHECK-NEXT:      %1 = nv_tileas.insert_slice %x into %t_1[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      "test.op"(%i_1) : (index) -> ()
// CHECK-NEXT:      scf.yield %1 : tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 2, not: positions of iteration arguments are counted by an attribute.

func.func @loop_counted(%n: index, %x: tensor<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %t[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
    "test.op"(%i) : (index) -> ()
    scf.yield %0 : tensor<32x32xf32>
  } {token_iter_idx = 0 : i32}
  func.return
}

// CHECK-LABEL: func.func @loop_counted(%n: index, %x: tensor<32x32xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<32x32xf32>) {
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %t[0, 0][32, 32][1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      "test.op"(%i) : (index) -> ()
// CHECK-NEXT:      scf.yield %0 : tensor<32x32xf32>
// CHECK-NEXT:    } {token_iter_idx = 0 : i32}
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 3. Both arms fill one new tile: each gets its own.

func.func @arms(%p: i1, %x: tensor<16x32xf32>, %y: tensor<16x32xf32>) -> tensor<32x32xf32> {
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %r = scf.if %p -> (tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    scf.yield %0 : tensor<32x32xf32>
  } else {
    %1 = nv_tileas.insert_slice %y into %b[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    scf.yield %1 : tensor<32x32xf32>
  }
  func.return %r : tensor<32x32xf32>
}

// CHECK-LABEL: func.func @arms(%p: i1, %x: tensor<16x32xf32>, %y: tensor<16x32xf32>) -> tensor<32x32xf32> {
// CHECK-NEXT:    %r = scf.if %p -> (tensor<32x32xf32>) {
// CHECK-NEXT:      %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      scf.yield %0 : tensor<32x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %b_1 = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:      %1 = nv_tileas.insert_slice %y into %b_1[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      scf.yield %1 : tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : tensor<32x32xf32>
// CHECK-NEXT:  }

// 3, not: the tile is used elsewhere.

func.func @arms_shared(%p: i1, %x: tensor<16x32xf32>) -> tensor<32x32xf32> {
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  "test.op"(%b) : (tensor<32x32xf32>) -> ()
  %r = scf.if %p -> (tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    scf.yield %0 : tensor<32x32xf32>
  } else {
    %1 = nv_tileas.insert_slice %x into %b[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    scf.yield %1 : tensor<32x32xf32>
  }
  func.return %r : tensor<32x32xf32>
}

// CHECK-LABEL: func.func @arms_shared(%p: i1, %x: tensor<16x32xf32>) -> tensor<32x32xf32> {
// CHECK-NEXT:    %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    "test.op"(%b) : (tensor<32x32xf32>) -> ()
// CHECK-NEXT:    %r = scf.if %p -> (tensor<32x32xf32>) {
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      scf.yield %0 : tensor<32x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %1 = nv_tileas.insert_slice %x into %b[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      scf.yield %1 : tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : tensor<32x32xf32>
// CHECK-NEXT:  }

// 3, not: the arms fill different tiles, or one of them something else than a new tile.

func.func @arms_of_two(%p: i1, %x: tensor<16x32xf32>, %t: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %c = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %d = nv_tileas.alloc_tensor : tensor<32x32xf32>
  %r, %s = scf.if %p -> (tensor<32x32xf32>, tensor<32x32xf32>) {
    %0 = nv_tileas.insert_slice %x into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    %1 = nv_tileas.insert_slice %x into %d[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    scf.yield %0, %1 : tensor<32x32xf32>, tensor<32x32xf32>
  } else {
    %2 = nv_tileas.insert_slice %x into %c[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    %3 = nv_tileas.insert_slice %x into %t[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
    scf.yield %2, %3 : tensor<32x32xf32>, tensor<32x32xf32>
  }
  func.return %r, %s : tensor<32x32xf32>, tensor<32x32xf32>
}

// CHECK-LABEL: func.func @arms_of_two(%p: i1, %x: tensor<16x32xf32>, %t: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
// CHECK-NEXT:    %b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %c = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %d = nv_tileas.alloc_tensor : tensor<32x32xf32>
// CHECK-NEXT:    %r, %s = scf.if %p -> (tensor<32x32xf32>, tensor<32x32xf32>) {
// CHECK-NEXT:      %0 = nv_tileas.insert_slice %x into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      %1 = nv_tileas.insert_slice %x into %d[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      scf.yield %0, %1 : tensor<32x32xf32>, tensor<32x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %2 = nv_tileas.insert_slice %x into %c[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      %3 = nv_tileas.insert_slice %x into %t[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:      scf.yield %2, %3 : tensor<32x32xf32>, tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r, %s : tensor<32x32xf32>, tensor<32x32xf32>
// CHECK-NEXT:  }

// 4. Slices that both arms yield are taken inside.

func.func @sink(%p: i1, %t: tensor<32x32xf32>) -> tensor<16x32xf32> {
  %a = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %b = nv_tileas.extract_slice %t[16, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %r = scf.if %p -> (tensor<16x32xf32>) {
    scf.yield %a : tensor<16x32xf32>
  } else {
    scf.yield %b : tensor<16x32xf32>
  }
  func.return %r : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @sink(%p: i1, %t: tensor<32x32xf32>) -> tensor<16x32xf32> {
// CHECK-NEXT:    %r = scf.if %p -> (tensor<16x32xf32>) {
// CHECK-NEXT:      %a = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      scf.yield %a : tensor<16x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %b = nv_tileas.extract_slice %t[16, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      scf.yield %b : tensor<16x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : tensor<16x32xf32>
// CHECK-NEXT:  }

// 4. So are those that everyone takes of the result.

func.func @sink_uses(%p: i1, %t: tensor<32x32xf32>, %u: tensor<32x32xf32>) -> (i1, tensor<16x32xf32>, tensor<16x32xf32>) {
  %r, %q = scf.if %p -> (tensor<32x32xf32>, i1) {
    scf.yield %t, %p : tensor<32x32xf32>, i1
  } else {
    scf.yield %u, %p : tensor<32x32xf32>, i1
  }
  %a = nv_tileas.extract_slice %r[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %b = nv_tileas.extract_slice %r[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  func.return %q, %a, %b : i1, tensor<16x32xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @sink_uses(%p: i1, %t: tensor<32x32xf32>, %u: tensor<32x32xf32>) -> (i1, tensor<16x32xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    %b, %q = scf.if %p -> (tensor<16x32xf32>, i1) {
// CHECK-NEXT:      %0 = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      scf.yield %0, %p : tensor<16x32xf32>, i1
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %1 = nv_tileas.extract_slice %u[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:      scf.yield %1, %p : tensor<16x32xf32>, i1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %q, %b, %b : i1, tensor<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:  }

// 4, not: something between slice and branch orders memory; the slice is used elsewhere; only one arm
// yields a slice.

func.func @not_sunk(%p: i1, %t: tensor<32x32xf32>, %u: tensor<16x32xf32>, %k: !nv_tileas.token) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
  %a = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %b = nv_tileas.extract_slice %t[16, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  nv_tileas.async.wait %k : !nv_tileas.token
  %r = scf.if %p -> (tensor<16x32xf32>) {
    scf.yield %a : tensor<16x32xf32>
  } else {
    scf.yield %b : tensor<16x32xf32>
  }
  %c = nv_tileas.extract_slice %t[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %d = nv_tileas.extract_slice %t[9, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %s = scf.if %p -> (tensor<16x32xf32>) {
    scf.yield %c : tensor<16x32xf32>
  } else {
    scf.yield %d : tensor<16x32xf32>
  }
  %e = nv_tileas.extract_slice %t[10, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %v = scf.if %p -> (tensor<16x32xf32>) {
    scf.yield %e : tensor<16x32xf32>
  } else {
    scf.yield %u : tensor<16x32xf32>
  }
  func.return %r, %s, %c, %v : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @not_sunk(%p: i1, %t: tensor<32x32xf32>, %u: tensor<16x32xf32>, %k: !nv_tileas.token) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    %a = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %b = nv_tileas.extract_slice %t[16, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    nv_tileas.async.wait %k : !nv_tileas.token
// CHECK-NEXT:    %r = scf.if %p -> (tensor<16x32xf32>) {
// CHECK-NEXT:      scf.yield %a : tensor<16x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %b : tensor<16x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %c = nv_tileas.extract_slice %t[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %d = nv_tileas.extract_slice %t[9, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %s = scf.if %p -> (tensor<16x32xf32>) {
// CHECK-NEXT:      scf.yield %c : tensor<16x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %d : tensor<16x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %e = nv_tileas.extract_slice %t[10, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %v = scf.if %p -> (tensor<16x32xf32>) {
// CHECK-NEXT:      scf.yield %e : tensor<16x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %u : tensor<16x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r, %s, %c, %v : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:  }

// 4, not: different slices of the result; a slice behind something that orders memory.

func.func @uses_not_sunk(%p: i1, %t: tensor<32x32xf32>, %u: tensor<32x32xf32>, %k: !nv_tileas.token) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
  %r, %s = scf.if %p -> (tensor<32x32xf32>, tensor<32x32xf32>) {
    scf.yield %t, %u : tensor<32x32xf32>, tensor<32x32xf32>
  } else {
    scf.yield %u, %t : tensor<32x32xf32>, tensor<32x32xf32>
  }
  %a = nv_tileas.extract_slice %r[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %b = nv_tileas.extract_slice %r[1, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  nv_tileas.async.wait %k : !nv_tileas.token
  %c = nv_tileas.extract_slice %s[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  func.return %a, %b, %c : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @uses_not_sunk(%p: i1, %t: tensor<32x32xf32>, %u: tensor<32x32xf32>, %k: !nv_tileas.token) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    %r, %s = scf.if %p -> (tensor<32x32xf32>, tensor<32x32xf32>) {
// CHECK-NEXT:      scf.yield %t, %u : tensor<32x32xf32>, tensor<32x32xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %u, %t : tensor<32x32xf32>, tensor<32x32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %a = nv_tileas.extract_slice %r[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %b = nv_tileas.extract_slice %r[1, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    nv_tileas.async.wait %k : !nv_tileas.token
// CHECK-NEXT:    %c = nv_tileas.extract_slice %s[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    func.return %a, %b, %c : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:  }

// 5. A slice of a view is a view of a slice.

func.func @view(%t: tensor<32x32xf32>) -> tensor<16x32xf32, #nv_tileas<space smem>> {
  %v = nv_tileas.view %t : tensor<32x32xf32> -> tensor<32x32xf32, #nv_tileas<space smem>>
  %0 = nv_tileas.extract_slice %v[8, 0][16, 32][1, 1] : tensor<32x32xf32, #nv_tileas<space smem>> -> tensor<16x32xf32, #nv_tileas<space smem>>
  func.return %0 : tensor<16x32xf32, #nv_tileas<space smem>>
}

// CHECK-LABEL: func.func @view(%t: tensor<32x32xf32>) -> tensor<16x32xf32, #nv_tileas<space smem>> {
// CHECK-NEXT:    %0 = nv_tileas.extract_slice %t[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %1 = nv_tileas.view %0 : tensor<16x32xf32> -> tensor<16x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:    func.return %1 : tensor<16x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:  }

// 5, not: the view begins elsewhere, changes the shape, or gives a layout.

func.func @not_commuting(%t: tensor<32x32xf32>, %i: index) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
  %v = nv_tileas.view %t {offset = 32} : tensor<32x32xf32>
  %0 = nv_tileas.extract_slice %v[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %w = nv_tileas.view %t[%i, %i] : tensor<32x32xf32>
  %1 = nv_tileas.extract_slice %w[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %x = nv_tileas.view %t : tensor<32x32xf32> -> tensor<16x64xf32>
  %2 = nv_tileas.extract_slice %x[0, 0][16, 32][1, 1] : tensor<16x64xf32> -> tensor<16x32xf32>
  %y = nv_tileas.view %t : tensor<32x32xf32> -> tensor<32x32xf32, #nv_tileas.shared<(32,32),(1,32)>>
  %3 = nv_tileas.extract_slice %y[0, 0][16, 32][1, 1] : tensor<32x32xf32, #nv_tileas.shared<(32,32),(1,32)>> -> tensor<16x32xf32>
  func.return %0, %1, %2, %3 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @not_commuting(%t: tensor<32x32xf32>, %i: index) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    %v = nv_tileas.view %t {offset = 32 : i64} : tensor<32x32xf32>
// CHECK-NEXT:    %0 = nv_tileas.extract_slice %v[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %w = nv_tileas.view %t[%i, %i] : tensor<32x32xf32>
// CHECK-NEXT:    %1 = nv_tileas.extract_slice %w[8, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %x = nv_tileas.view %t : tensor<32x32xf32> -> tensor<16x64xf32>
// CHECK-NEXT:    %2 = nv_tileas.extract_slice %x[0, 0][16, 32][1, 1] : tensor<16x64xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %y = nv_tileas.view %t : tensor<32x32xf32> -> tensor<32x32xf32, #nv_tileas.shared<(32,32),(1,32)>>
// CHECK-NEXT:    %3 = nv_tileas.extract_slice %y[0, 0][16, 32][1, 1] : tensor<32x32xf32, #nv_tileas.shared<(32,32),(1,32)>> -> tensor<16x32xf32>
// CHECK-NEXT:    func.return %0, %1, %2, %3 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:  }

// 5, not: something between the two orders memory.

func.func @view_across_wait(%t: tensor<32x32xf32>, %k: !nv_tileas.token) -> tensor<16x32xf32, #nv_tileas<space smem>> {
  %v = nv_tileas.view %t : tensor<32x32xf32> -> tensor<32x32xf32, #nv_tileas<space smem>>
  nv_tileas.async.wait %k : !nv_tileas.token
  %0 = nv_tileas.extract_slice %v[8, 0][16, 32][1, 1] : tensor<32x32xf32, #nv_tileas<space smem>> -> tensor<16x32xf32, #nv_tileas<space smem>>
  func.return %0 : tensor<16x32xf32, #nv_tileas<space smem>>
}

// CHECK-LABEL: func.func @view_across_wait(%t: tensor<32x32xf32>, %k: !nv_tileas.token) -> tensor<16x32xf32, #nv_tileas<space smem>> {
// CHECK-NEXT:    %v = nv_tileas.view %t : tensor<32x32xf32> -> tensor<32x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:    nv_tileas.async.wait %k : !nv_tileas.token
// CHECK-NEXT:    %0 = nv_tileas.extract_slice %v[8, 0][16, 32][1, 1] : tensor<32x32xf32, #nv_tileas<space smem>> -> tensor<16x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:    func.return %0 : tensor<16x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:  }

// 6. Perfectly nested loops become one.

func.func @nest() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c3 to %c10 step %c2 {
    scf.for %j = %c0 to %c10 step %c3 {
      "test.op"(%i, %j) : (index, index) -> ()
    }
  }
  func.return
}

// CHECK-LABEL: func.func @nest() {
// CHECK-NEXT:    %0 = arith.constant 0 : index
// CHECK-NEXT:    %1 = arith.constant 16 : index
// CHECK-NEXT:    %2 = arith.constant 1 : index
// CHECK-NEXT:    scf.for %3 = %0 to %1 step %2 {
// CHECK-NEXT:      %4 = arith.constant 4 : index
// CHECK-NEXT:      %5 = arith.divsi %3, %4 : index
// CHECK-NEXT:      %6 = arith.constant 2 : index
// CHECK-NEXT:      %7 = arith.muli %5, %6 : index
// CHECK-NEXT:      %8 = arith.constant 3 : index
// CHECK-NEXT:      %i = arith.addi %7, %8 : index
// CHECK-NEXT:      %9 = arith.remsi %3, %4 : index
// CHECK-NEXT:      %10 = arith.constant 3 : index
// CHECK-NEXT:      %j = arith.muli %9, %10 : index
// CHECK-NEXT:      "test.op"(%i, %j) : (index, index) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 6. The end of the outer one need not be known.

func.func @nest_open(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      "test.op"(%i, %j) : (index, index) -> ()
    }
  }
  func.return
}

// CHECK-LABEL: func.func @nest_open(%n: index) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %0 = arith.constant 0 : index
// CHECK-NEXT:    %1 = arith.maxsi %n, %c0 : index
// CHECK-NEXT:    %2 = arith.subi %1, %c0 : index
// CHECK-NEXT:    %3 = arith.ceildivsi %2, %c1 : index
// CHECK-NEXT:    %4 = arith.constant 4 : index
// CHECK-NEXT:    %5 = arith.muli %3, %4 : index
// CHECK-NEXT:    %6 = arith.constant 1 : index
// CHECK-NEXT:    scf.for %7 = %0 to %5 step %6 {
// CHECK-NEXT:      %8 = arith.constant 4 : index
// CHECK-NEXT:      %i = arith.divsi %7, %8 : index
// CHECK-NEXT:      %j = arith.remsi %7, %8 : index
// CHECK-NEXT:      "test.op"(%i, %j) : (index, index) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 6. Three loops, from the inside.

func.func @nest_of_three() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %c4 step %c1 {
        "test.op"(%i, %j, %k) : (index, index, index) -> ()
      }
    }
  }
  func.return
}

// CHECK-LABEL: func.func @nest_of_three() {
// CHECK-NEXT:    %0 = arith.constant 0 : index
// CHECK-NEXT:    %1 = arith.constant 64 : index
// CHECK-NEXT:    %2 = arith.constant 1 : index
// CHECK-NEXT:    scf.for %3 = %0 to %1 step %2 {
// CHECK-NEXT:      %4 = arith.constant 16 : index
// CHECK-NEXT:      %i = arith.divsi %3, %4 : index
// CHECK-NEXT:      %5 = arith.remsi %3, %4 : index
// CHECK-NEXT:      %6 = arith.constant 4 : index
// CHECK-NEXT:      %j = arith.divsi %5, %6 : index
// CHECK-NEXT:      %k = arith.remsi %5, %6 : index
// CHECK-NEXT:      "test.op"(%i, %j, %k) : (index, index, index) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 6, not: bounds that are not known, more than a loop inside, a carried pipeline iterator, an
// attribute, no iteration at all.

func.func @no_nest(%n: index, %it: !nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      "test.op"(%i, %j) : (index, index) -> ()
    }
  }
  scf.for %i = %c0 to %c4 step %c1 {
    "test.op"(%i) : (index) -> ()
    scf.for %j = %c0 to %c4 step %c1 {
      "test.op"(%i, %j) : (index, index) -> ()
    }
  }
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %it) -> (!nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>) {
    %s = scf.for %j = %c0 to %c4 step %c1 iter_args(%b = %a) -> (!nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>) {
      %d = "test.op"(%b) : (!nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>) -> !nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>
      scf.yield %d : !nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>
    }
    scf.yield %s : !nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      "test.op"(%i, %j) : (index, index) -> ()
    }
  } {sliceCount = 2 : i32}
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c4 to %c0 step %c1 {
      "test.op"(%i, %j) : (index, index) -> ()
    }
  }
  scf.for %i = %n to %c4 step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      "test.op"(%i, %j) : (index, index) -> ()
    }
  }
  func.return
}

// CHECK-LABEL: func.func @no_nest(%n: index, %it: !nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c4 step %c1 {
// CHECK-NEXT:      scf.for %j = %c0 to %n step %c1 {
// CHECK-NEXT:        "test.op"(%i, %j) : (index, index) -> ()
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for %i_1 = %c0 to %c4 step %c1 {
// CHECK-NEXT:      "test.op"(%i_1) : (index) -> ()
// CHECK-NEXT:      scf.for %j_1 = %c0 to %c4 step %c1 {
// CHECK-NEXT:        "test.op"(%i_1, %j_1) : (index, index) -> ()
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    %r = scf.for %i_2 = %c0 to %c4 step %c1 iter_args(%a = %it) -> (!nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>) {
// CHECK-NEXT:      %s = scf.for %j_2 = %c0 to %c4 step %c1 iter_args(%b = %a) -> (!nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>) {
// CHECK-NEXT:        %d = "test.op"(%b) : (!nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>) -> !nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>
// CHECK-NEXT:        scf.yield %d : !nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %s : !nv_tileas.async.pipeline.iterator<tensor<8xf32>, 2>
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for %i_3 = %c0 to %c4 step %c1 {
// CHECK-NEXT:      scf.for %j_3 = %c0 to %c4 step %c1 {
// CHECK-NEXT:        "test.op"(%i_3, %j_3) : (index, index) -> ()
// CHECK-NEXT:      }
// CHECK-NEXT:    } {sliceCount = 2 : i32}
// CHECK-NEXT:    scf.for %i_4 = %c0 to %c4 step %c1 {
// CHECK-NEXT:      scf.for %j_4 = %c4 to %c0 step %c1 {
// CHECK-NEXT:        "test.op"(%i_4, %j_4) : (index, index) -> ()
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for %i_5 = %n to %c4 step %c1 {
// CHECK-NEXT:      scf.for %j_5 = %c0 to %n step %c1 {
// CHECK-NEXT:        "test.op"(%i_5, %j_5) : (index, index) -> ()
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 6, not: the product is more than the induction variable holds, or might be.

func.func @nest_overflows(%n: i8) {
  %c0 = arith.constant 0 : i8
  %c1 = arith.constant 1 : i8
  %c16 = arith.constant 16 : i8
  scf.for %i = %c0 to %c16 step %c1 : i8 {
    scf.for %j = %c0 to %c16 step %c1 : i8 {
      "test.op"(%i, %j) : (i8, i8) -> ()
    }
  }
  scf.for %i = %c0 to %n step %c1 : i8 {
    scf.for %j = %c0 to %c16 step %c1 : i8 {
      "test.op"(%i, %j) : (i8, i8) -> ()
    }
  }
  func.return
}

// CHECK-LABEL: func.func @nest_overflows(%n: i8) {
// CHECK-NEXT:    %c0 = arith.constant 0 : i8
// CHECK-NEXT:    %c1 = arith.constant 1 : i8
// CHECK-NEXT:    %c16 = arith.constant 16 : i8
// CHECK-NEXT:    scf.for %i = %c0 to %c16 step %c1 : i8 {
// CHECK-NEXT:      scf.for %j = %c0 to %c16 step %c1 : i8 {
// CHECK-NEXT:        "test.op"(%i, %j) : (i8, i8) -> ()
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for %i_1 = %c0 to %n step %c1 : i8 {
// CHECK-NEXT:      scf.for %j_1 = %c0 to %c16 step %c1 : i8 {
// CHECK-NEXT:        "test.op"(%i_1, %j_1) : (i8, i8) -> ()
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 7. What was just inserted is what is there, past insertions elsewhere, too.

func.func @inserted(%t: tensor<32x32xf32>, %x: tensor<16x32xf32>, %i: index) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
  %0 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %1 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %2 = nv_tileas.insert_slice %1 into %0[16, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %3 = nv_tileas.extract_slice %2[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %4 = nv_tileas.insert_slice %x into %t[%i, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %5 = nv_tileas.extract_slice %4[%i, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  func.return %1, %3, %5 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @inserted(%t: tensor<32x32xf32>, %x: tensor<16x32xf32>, %i: index) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    func.return %x, %x, %x : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:  }

// 7, not: another slice, a slice that may overlap, another insertion over it.

func.func @not_inserted(%t: tensor<32x32xf32>, %x: tensor<16x32xf32>, %i: index) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
  %0 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %1 = nv_tileas.extract_slice %0[1, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %2 = nv_tileas.insert_slice %x into %0[%i, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %3 = nv_tileas.extract_slice %2[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  %4 = nv_tileas.insert_slice %x into %0[15, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %5 = nv_tileas.extract_slice %4[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  func.return %1, %3, %5 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @not_inserted(%t: tensor<32x32xf32>, %x: tensor<16x32xf32>, %i: index) -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
// CHECK-NEXT:    %0 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:    %1 = nv_tileas.extract_slice %0[1, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %2 = nv_tileas.insert_slice %x into %0[%i, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:    %3 = nv_tileas.extract_slice %2[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    %4 = nv_tileas.insert_slice %x into %0[15, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>
// CHECK-NEXT:    %5 = nv_tileas.extract_slice %4[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    func.return %1, %3, %5 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
// CHECK-NEXT:  }

// 7, not: something between the two orders memory, or they are in different blocks, or the types
// differ.

func.func @inserted_across(%t: tensor<32x32xf32>, %x: tensor<16x32xf32, #nv_tileas<space smem>>, %p: i1, %k: !nv_tileas.token) -> (tensor<16x32xf32, #nv_tileas<space smem>>, tensor<16x32xf32>) {
  %0 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32, #nv_tileas<space smem>> into tensor<32x32xf32>
  %1 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
  nv_tileas.async.wait %k : !nv_tileas.token
  %2 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32, #nv_tileas<space smem>>
  scf.if %p {
    %3 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32, #nv_tileas<space smem>>
    "test.op"(%3) : (tensor<16x32xf32, #nv_tileas<space smem>>) -> ()
  }
  func.return %2, %1 : tensor<16x32xf32, #nv_tileas<space smem>>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @inserted_across(%t: tensor<32x32xf32>, %x: tensor<16x32xf32, #nv_tileas<space smem>>, %p: i1, %k: !nv_tileas.token) -> (tensor<16x32xf32, #nv_tileas<space smem>>, tensor<16x32xf32>) {
// CHECK-NEXT:    %0 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32, #nv_tileas<space smem>> into tensor<32x32xf32>
// CHECK-NEXT:    %1 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// CHECK-NEXT:    nv_tileas.async.wait %k : !nv_tileas.token
// CHECK-NEXT:    %2 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:    scf.if %p {
// CHECK-NEXT:      %3 = nv_tileas.extract_slice %0[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32, #nv_tileas<space smem>>
// CHECK-NEXT:      "test.op"(%3) : (tensor<16x32xf32, #nv_tileas<space smem>>) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %2, %1 : tensor<16x32xf32, #nv_tileas<space smem>>, tensor<16x32xf32>
// CHECK-NEXT:  }

// 2, not: another carried value gets the whole tile, with what older iterations wrote.

func.func @loop_hands_on(%x: tensor<1x4xi32>, %o: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = nv_tileas.alloc_tensor : tensor<4x4xi32>
  %r, %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %a, %u = %o) -> (tensor<4x4xi32>, tensor<4x4xi32>) {
    %t2 = nv_tileas.insert_slice %x into %t[%i, 0][1, 4][1, 1] : tensor<1x4xi32> into tensor<4x4xi32>
    scf.yield %t2, %t2 : tensor<4x4xi32>, tensor<4x4xi32>
  }
  func.return %s : tensor<4x4xi32>
}

// CHECK-LABEL: func.func @loop_hands_on
// CHECK:         %a = nv_tileas.alloc_tensor
// CHECK-NEXT:    %r, %s = scf.for {{.*}} iter_args(%t = %a, %u = %o)
// CHECK-NEXT:      %t2 = nv_tileas.insert_slice %x into %t[%i, 0]
// CHECK-NEXT:      scf.yield %t2, %t2

// 4. A slice that both arms yield, in different places, goes into both.

func.func @sunk_twice(%p: i1, %t: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %b = nv_tileas.extract_slice %t[0][2][1] : tensor<4xf32> -> tensor<2xf32>
  %r, %q = scf.if %p -> (tensor<2xf32>, tensor<2xf32>) {
    scf.yield %b, %b : tensor<2xf32>, tensor<2xf32>
  } else {
    %u = nv_tileas.extract_slice %t[2][2][1] : tensor<4xf32> -> tensor<2xf32>
    scf.yield %u, %b : tensor<2xf32>, tensor<2xf32>
  }
  func.return %r, %q : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @sunk_twice
// CHECK-NEXT:    %r, %q = scf.if %p
// CHECK-NEXT:      [[B:%.*]] = nv_tileas.extract_slice %t[0]
// CHECK-NEXT:      scf.yield [[B]], [[B]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      [[C:%.*]] = nv_tileas.extract_slice %t[0]
// CHECK-NEXT:      [[U:%.*]] = nv_tileas.extract_slice %t[2]
// CHECK-NEXT:      scf.yield [[U]], [[C]]
