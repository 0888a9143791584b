// `tileas-choose-tma`: lines and numbers beside the products of a loop have room in its stages.

// RUN: tileas-opt %s -p tileas-choose-tma --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-choose-tma,tileas-choose-tma --split-input-file | filecheck %s

// A row of 64 floats is a box of TMA, a number a tile of one element that threads copy.

func.func @scales(%a: !nv_tileaa.ptr<f16, 1>, %s: !nv_tileaa.ptr<f32, 1>, %t: !nv_tileaa.ptr<f32, 1>, %n: index, %y: tensor<32x64xf16, #nv_tileas<space smem>>, %none: !nv_tileaa.mem_token) -> tensor<64x64xf32> attributes {nv_tileas.target = "sm_90a"} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %ps = nv_tileaa.assume %s, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<64x320xf16, strided<[320, 1]>>
  %ms = nv_tileaa.make_memref %ps, sizes[], strides[] : !nv_tileaa.ptr<f32, 1> -> memref<10x64xf32, strided<[64, 1]>>
  %va = nv_tileas.view %ma : memref<64x320xf16, strided<[320, 1]>> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %vs = nv_tileas.view %ms : memref<10x64xf32, strided<[64, 1]>> -> !nv_tileas.tiled_view<1x64xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %va[%zero, %k] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
    %sx = nv_tileas.convert_layout %x : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %d = nv_tileas.dot %sx, %y, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %row = nv_tileas.tiled_load %vs[%k, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64xf32, gmem> -> tensor<1x64xf32>
    %at = arith.index_cast %k : index to i64
    %p = nv_tileaa.addptr %t, %at : !nv_tileaa.ptr<f32, 1>, i64
    %number, %done = nv_tileas.load %p after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileaa.ptr<f32, 1> -> f32, !nv_tileaa.mem_token
    %numbers = tensor.splat %number : tensor<1x64xf32>
    %scale = arith.mulf %row, %numbers : tensor<1x64xf32>
    %all = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%i: index, %j: index):
      %one_scale = tensor.extract %scale[%zero, %i] : tensor<1x64xf32>
      nv_tileas.yield %one_scale : f32
    }
    %next = math.fma %d, %all, %acc : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @scales
// CHECK:         %d = nv_tileas.dot
// CHECK-NEXT:    %row = nv_tileas.tiled_load %vs[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<1x64xf32, gmem> -> tensor<1x64xf32, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[ROW:.*]] = nv_tileas.convert_layout %row : tensor<1x64xf32, #nv_tileas<space smem>> -> tensor<1x64xf32>
// CHECK:         %[[POINTERS:.*]] = tensor.splat %p : tensor<1x!nv_tileaa.ptr<f32, 1>>
// CHECK:         %[[LOADED:.*]], %{{.*}} = nv_tileas.load %[[POINTERS]] after %none
// CHECK-NEXT:    %[[STAGED:.*]] = nv_tileas.convert_layout %[[LOADED]] : tensor<1xf32> -> tensor<1xf32, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[READ:.*]] = nv_tileas.convert_layout %[[STAGED]] : tensor<1xf32, #nv_tileas<space smem>> -> tensor<1xf32>
// CHECK:         %[[NUMBER:.*]] = tensor.extract %[[READ]]
// CHECK-NEXT:    %numbers = tensor.splat %[[NUMBER]]
// CHECK-NEXT:    arith.mulf %[[ROW]], %numbers

// -----

// A loop that multiplies what is there already has no stage, and what other loads may be at is known to
// all threads.

// CHECK-LABEL: func.func @no_stage
// CHECK:         nv_tileas.tiled_load %vs[%k, %zero] {nv_tileas.not_by_tma = "it is read in registers", atom = #nv_tileas<atom ldg>}
// CHECK-LABEL: func.func @indices
// CHECK:         nv_tileas.load %p {atom = #nv_tileas<atom ldg>} : !nv_tileaa.ptr<i32, 1> -> i32
func.func @no_stage(%s: !nv_tileaa.ptr<f32, 1>, %n: index, %x: tensor<64x32xf16, #nv_tileas<space smem>>, %y: tensor<32x64xf16, #nv_tileas<space smem>>) -> tensor<64x64xf32> attributes {nv_tileas.target = "sm_90a"} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ps = nv_tileaa.assume %s, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %ms = nv_tileaa.make_memref %ps, sizes[], strides[] : !nv_tileaa.ptr<f32, 1> -> memref<10x64xf32, strided<[64, 1]>>
  %vs = nv_tileas.view %ms : memref<10x64xf32, strided<[64, 1]>> -> !nv_tileas.tiled_view<1x64xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %d = nv_tileas.dot %x, %y, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %row = nv_tileas.tiled_load %vs[%k, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64xf32, gmem> -> tensor<1x64xf32>
    %all = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%i: index, %j: index):
      %one_scale = tensor.extract %row[%zero, %i] : tensor<1x64xf32>
      nv_tileas.yield %one_scale : f32
    }
    %next = math.fma %d, %all, %acc : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

func.func @indices(%a: !nv_tileaa.ptr<f16, 1>, %t: !nv_tileaa.ptr<i32, 1>, %n: index, %y: tensor<32x64xf16, #nv_tileas<space smem>>) -> tensor<64x64xf32> attributes {nv_tileas.target = "sm_90a"} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<64x320xf16, strided<[320, 1]>>
  %va = nv_tileas.view %ma : memref<64x320xf16, strided<[320, 1]>> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %at = arith.index_cast %k : index to i64
    %p = nv_tileaa.addptr %t, %at : !nv_tileaa.ptr<i32, 1>, i64
    %number = nv_tileas.load %p {atom = #nv_tileas<atom ldg>} : !nv_tileaa.ptr<i32, 1> -> i32
    %page = arith.index_cast %number : i32 to index
    %x = nv_tileas.tiled_load %va[%zero, %page] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
    %sx = nv_tileas.convert_layout %x : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %sx, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}
