// `tileas-order-tile-blocks` numbers tile blocks along the axis first along which they share lines.

// RUN: tileas-opt %s -p tileas-order-tile-blocks --split-input-file | filecheck %s

// Groups of 8 channels, 16 bytes of each pixel: those of an image are beside one another, in a grid
// whose tile blocks 32 bits number.

func.func @groups(%p: !nv_tileaa.ptr<f16, 1>, %n: i32, %hw: i32, %c: i32) {
  %array = nv_tileaa.make_memref %p, sizes[%n : i32, %hw : i32, %c : i32], strides[%hw : i32, %c : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?x?xf16, strided<[?, ?, 1]>>
  %image = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %group = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %zero = arith.constant 0 : index
  %view = nv_tileas.view %array : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x8xf16, gmem>
  %x = nv_tileas.tiled_load %view[%image, %zero, %group] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x8xf16, gmem> -> tensor<1x64x8xf16>
  nv_tileas.tiled_store %x, %view[%image, %zero, %group] {atom = #nv_tileas<atom stg>} : tensor<1x64x8xf16>, !nv_tileas.tiled_view<1x64x8xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @groups
// CHECK:         arith.addi
// CHECK:         %[[IMAGES:.*]] = arith.divui %[[NUMBER:.*]], %[[GROUPS:.*]] : i32
// CHECK-NEXT:    %[[WHOLE:.*]] = arith.muli %[[IMAGES]], %[[GROUPS]] : i32
// CHECK-NEXT:    %[[GROUP:.*]] = arith.subi %[[NUMBER]], %[[WHOLE]] : i32
// CHECK:         %[[MOST:.*]] = arith.constant 4294967296 : i64
// CHECK-NEXT:    %[[FEW:.*]] = arith.cmpi ule, %{{.*}}, %[[MOST]] : i64
// CHECK:         %[[CHOSEN:.*]] = arith.select %[[FEW]], %[[GROUP]], %{{.*}} : i32
// CHECK-NEXT:    %[[G:.*]] = arith.index_cast %[[CHOSEN]] : i32 to index
// CHECK:         nv_tileas.tiled_load %view[%[[I:.*]], %zero, %[[G]]]
// CHECK:         nv_tileas.tiled_store %x, %view[%[[I]], %zero, %[[G]]]

// -----

// Whole lines, and groups along x, run as they are.

func.func @lines(%p: !nv_tileaa.ptr<f16, 1>, %n: i32, %c: i32) {
  %array = nv_tileaa.make_memref %p, sizes[%n : i32, %c : i32], strides[%c : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %row = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %column = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %view = nv_tileas.view %array : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<16x64xf16, gmem>
  %x = nv_tileas.tiled_load %view[%row, %column] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<16x64xf16, gmem> -> tensor<16x64xf16>
  nv_tileas.tiled_store %x, %view[%row, %column] {atom = #nv_tileas<atom stg>} : tensor<16x64xf16>, !nv_tileas.tiled_view<16x64xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @lines
// CHECK-NOT:     arith.divui
// CHECK:         func.return

// -----

func.func @along_x(%p: !nv_tileaa.ptr<f16, 1>, %n: i32, %c: i32) {
  %array = nv_tileaa.make_memref %p, sizes[%n : i32, %c : i32], strides[%c : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %column = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %view = nv_tileas.view %array : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<64x8xf16, gmem>
  %x = nv_tileas.tiled_load %view[%row, %column] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x8xf16, gmem> -> tensor<64x8xf16>
  nv_tileas.tiled_store %x, %view[%row, %column] {atom = #nv_tileas<atom stg>} : tensor<64x8xf16>, !nv_tileas.tiled_view<64x8xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @along_x
// CHECK-NOT:     arith.divui
// CHECK:         func.return
