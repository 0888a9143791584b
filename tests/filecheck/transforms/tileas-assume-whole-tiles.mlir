// `tileas-assume-whole-tiles`: a launch is asked whether tiles divide what loops mask, and code for such launches knows it.

// RUN: tileas-opt %s --split-input-file -p tileas-assume-whole-tiles | filecheck %s
// RUN: tileas-opt %s --split-input-file -p 'tileas-assume-whole-tiles{mode=on}' | filecheck %s --check-prefix=ON
// RUN: tileas-opt %s --split-input-file -p 'tileas-assume-whole-tiles{mode=on},tileas-peel-masks' | filecheck %s --check-prefix=WHOLE

// Argument 2 counts keys, in tiles of 64, and masks the last tile. Where 64 divides it there is no mask.

// CHECK-LABEL: @keys
// CHECK-SAME:    tileas.whole_tiles = {arguments = array<i64: 2>, tiles = array<i64: 64>}
// CHECK-NOT:   nv_tileaa.assume
// ON-LABEL:    @keys
// ON-SAME:       tileas.fills_tiles
// ON-NEXT:     %[[N:.*]] = nv_tileaa.assume %n, #nv_tileaa.div_by<64> : i32
// ON:          arith.ceildivsi %[[N]], %c64
// ON:          tensor.splat %[[N]]
// WHOLE-LABEL: @keys
// WHOLE:       scf.for
// WHOLE-NEXT:    nv_tileas.dot
// WHOLE-NEXT:    scf.yield
// WHOLE-NOT:   arith.cmpi
func.func @keys(%a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %end = arith.ceildivsi %n, %c64 : i32
  %limit = tensor.splat %n : tensor<64x64xi32>
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
  func.return %r : tensor<64x64xf32>
}

// -----

// What no mask compares with is not asked about: tiles of a product end with zeros anyway. Nor is what is known.

// CHECK-LABEL: @depth
// CHECK-NOT:     tileas.whole_tiles
// ON-LABEL:    @depth
// ON-NOT:        div_by<64>
func.func @depth(%a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %n: i32) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %end = arith.ceildivsi %n, %c64 : i32
  %r = scf.for %j = %c0 to %end step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  func.return %r : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: @known
// CHECK-NOT:     tileas.whole_tiles
func.func @known(%a: tensor<64x64xf16, #nv_tileas<space smem>>, %x: tensor<64x64xf32>, %keys: i32) -> tensor<64x64xf32> {
  %n = nv_tileaa.assume %keys, #nv_tileaa.div_by<128> : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %end = arith.ceildivsi %n, %c64 : i32
  %r = scf.for %j = %c0 to %end step %c1 iter_args(%c = %x) -> (tensor<64x64xf32>) : i32 {
    %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %first = arith.muli %j, %c64 : i32
    %t = nv_tileas.generate : tensor<64x64xf32> {
    ^bb0(%row: index, %column: index):
      %at = arith.index_cast %column : index to i32
      %key = arith.addi %first, %at : i32
      %p = arith.cmpi slt, %key, %n : i32
      %s = tensor.extract %d[%row, %column] : tensor<64x64xf32>
      %o = arith.constant 0.0 : f32
      %y = arith.select %p, %s, %o : f32
      nv_tileas.yield %y : f32
    }
    scf.yield %t : tensor<64x64xf32>
  }
  func.return %r : tensor<64x64xf32>
}
