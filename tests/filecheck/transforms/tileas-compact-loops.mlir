// `tileas-compact-loops`: a branch that skips rounds is left out of the loop, which does the others alone.

// RUN: tileas-opt %s -p tileas-compact-loops | filecheck %s
// RUN: tileas-opt %s -p tileas-compact-loops,tileas-compact-loops | filecheck %s

// A list names the tiles that are multiplied; a negative number is none.

func.func @listed(%list: !nv_tileas.tiled_view<1xi32, gmem>, %view: !nv_tileas.tiled_view<64x64xf16, gmem>, %a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %n: i32) -> tensor<64x64xf32> {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %z = %c0 to %n step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %zero = arith.constant 0 : index
    %k = arith.index_cast %z : i32 to index
    %t, %done = nv_tileas.tiled_load %list[%k] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1xi32, gmem> -> tensor<1xi32>, !nv_tileaa.mem_token
    %j = tensor.extract %t[%zero] : tensor<1xi32>
    %p = arith.cmpi sge, %j, %c0 : i32
    %y = scf.if %p -> (tensor<64x64xf32>) {
      %column = arith.index_cast %j : i32 to index
      %l, %read = nv_tileas.tiled_load %view[%column, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>, !nv_tileaa.mem_token
      %b = nv_tileas.convert_layout %l : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
      %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } else {
      scf.yield %c : tensor<64x64xf32>
    }
    scf.yield %y : tensor<64x64xf32>
  }
  func.return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @listed
// CHECK:          %zero = arith.constant 0 : index
// CHECK-NEXT:     %0 = arith.constant 0 : i32
// CHECK-NEXT:     %1 = arith.constant 1 : i32
// CHECK-NEXT:     %2 = scf.for %3 = %c0 to %n step %c1 iter_args(%4 = %0) -> (i32) : i32 {
// CHECK-NEXT:       %k = arith.index_cast %3 : i32 to index
// CHECK-NEXT:       %t, %done = nv_tileas.tiled_load %list[%k] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1xi32, gmem> -> tensor<1xi32>, !nv_tileaa.mem_token
// CHECK-NEXT:       %j = tensor.extract %t[%zero] : tensor<1xi32>
// CHECK-NEXT:       %p = arith.cmpi sge, %j, %c0 : i32
// CHECK-NEXT:       %5 = arith.select %p, %1, %0 : i32
// CHECK-NEXT:       %6 = arith.addi %4, %5 : i32
// CHECK-NEXT:       scf.yield %6 : i32
// CHECK-NEXT:     }
// CHECK-NEXT:     %r, %7 = scf.for %8 = %0 to %2 step %1 iter_args(%c = %x, %9 = %c0) -> (tensor<64x64xf32>, i32) : i32 {
// CHECK-NEXT:       %10, %11 = scf.while (%12 = %9) : (i32) -> (i32, i32) {
// CHECK-NEXT:         %k_1 = arith.index_cast %12 : i32 to index
// CHECK-NEXT:         %t_1, %done_1 = nv_tileas.tiled_load %list[%k_1] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1xi32, gmem> -> tensor<1xi32>, !nv_tileaa.mem_token
// CHECK-NEXT:         %j_1 = tensor.extract %t_1[%zero] : tensor<1xi32>
// CHECK-NEXT:         %p_1 = arith.cmpi sge, %j_1, %c0 : i32
// CHECK-NEXT:         %13 = arith.addi %12, %c1 : i32
// CHECK-NEXT:         %14 = arith.cmpi slt, %13, %n : i32
// CHECK-NEXT:         %15 = arith.constant true
// CHECK-NEXT:         %16 = arith.xori %p_1, %15 : i1
// CHECK-NEXT:         %17 = arith.andi %16, %14 : i1
// CHECK-NEXT:         scf.condition(%17) %12, %j_1 : i32, i32
// CHECK-NEXT:       } do {
// CHECK-NEXT:       ^bb0(%18: i32, %19: i32):
// CHECK-NEXT:         %20 = arith.addi %18, %c1 : i32
// CHECK-NEXT:         scf.yield %20 : i32
// CHECK-NEXT:       }
// CHECK-NEXT:       %column = arith.index_cast %11 : i32 to index
// CHECK-NEXT:       %l, %read = nv_tileas.tiled_load %view[%column, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>, !nv_tileaa.mem_token
// CHECK-NEXT:       %b = nv_tileas.convert_layout %l : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:       %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:       %21 = arith.addi %10, %c1 : i32
// CHECK-NEXT:       scf.yield %d, %21 : tensor<64x64xf32>, i32
// CHECK-NEXT:     }
// CHECK-NEXT:     func.return %r : tensor<64x64xf32>

// Not: the other side of the branch computes something.

func.func @other_side(%list: !nv_tileas.tiled_view<1xi32, gmem>, %view: !nv_tileas.tiled_view<64x64xf16, gmem>, %a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %n: i32) -> tensor<64x64xf32> {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %z = %c0 to %n step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %zero = arith.constant 0 : index
    %k = arith.index_cast %z : i32 to index
    %t, %done = nv_tileas.tiled_load %list[%k] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1xi32, gmem> -> tensor<1xi32>, !nv_tileaa.mem_token
    %j = tensor.extract %t[%zero] : tensor<1xi32>
    %p = arith.cmpi sge, %j, %c0 : i32
    %y = scf.if %p -> (tensor<64x64xf32>) {
      %column = arith.index_cast %j : i32 to index
      %l, %read = nv_tileas.tiled_load %view[%column, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>, !nv_tileaa.mem_token
      %b = nv_tileas.convert_layout %l : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
      %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } else {
      %e = arith.addf %c, %c : tensor<64x64xf32>
      scf.yield %e : tensor<64x64xf32>
    }
    scf.yield %y : tensor<64x64xf32>
  }
  func.return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @other_side
// CHECK-NOT:     scf.while

// Not: the round before decides.

func.func @decided_by_sums(%list: !nv_tileas.tiled_view<1xi32, gmem>, %view: !nv_tileas.tiled_view<64x64xf16, gmem>, %a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %n: i32) -> tensor<64x64xf32> {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %z = %c0 to %n step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %zero = arith.constant 0 : index
    %k = arith.index_cast %z : i32 to index
    %t, %done = nv_tileas.tiled_load %list[%k] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1xi32, gmem> -> tensor<1xi32>, !nv_tileaa.mem_token
    %j = tensor.extract %t[%zero] : tensor<1xi32>
    %s = tensor.extract %c[%zero, %zero] : tensor<64x64xf32>
    %p = arith.cmpf oge, %s, %s : f32
    %y = scf.if %p -> (tensor<64x64xf32>) {
      %column = arith.index_cast %j : i32 to index
      %l, %read = nv_tileas.tiled_load %view[%column, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>, !nv_tileaa.mem_token
      %b = nv_tileas.convert_layout %l : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
      %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } else {
      scf.yield %c : tensor<64x64xf32>
    }
    scf.yield %y : tensor<64x64xf32>
  }
  func.return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @decided_by_sums
// CHECK-NOT:     scf.while

// Not: a round writes memory, which the next one may read.

func.func @written(%list: !nv_tileas.tiled_view<1xi32, gmem>, %view: !nv_tileas.tiled_view<64x64xf16, gmem>, %a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %n: i32) -> tensor<64x64xf32> {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %z = %c0 to %n step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %zero = arith.constant 0 : index
    %k = arith.index_cast %z : i32 to index
    %t, %done = nv_tileas.tiled_load %list[%k] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1xi32, gmem> -> tensor<1xi32>, !nv_tileaa.mem_token
    %j = tensor.extract %t[%zero] : tensor<1xi32>
    %p = arith.cmpi sge, %j, %c0 : i32
    %y = scf.if %p -> (tensor<64x64xf32>) {
      %column = arith.index_cast %j : i32 to index
      %l, %read = nv_tileas.tiled_load %view[%column, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>, !nv_tileaa.mem_token
      %b = nv_tileas.convert_layout %l : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
      nv_tileas.tiled_store %l, %view[%column, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem>
      %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } else {
      scf.yield %c : tensor<64x64xf32>
    }
    scf.yield %y : tensor<64x64xf32>
  }
  func.return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @written
// CHECK-NOT:     scf.while
