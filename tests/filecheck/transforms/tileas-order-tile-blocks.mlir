// `tileas-order-tile-blocks` numbers tile blocks along those axes first along which they share what they load.

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

// -----

// Products of a batch along x: tile blocks of one product run side by side, those first along y, which
// read the same tiles of B; along z they read the same, smaller tiles of A.

func.func @batch(%p: !nv_tileaa.ptr<f16, 1>, %q: !nv_tileaa.ptr<f16, 1>, %b: i32, %n: i32, %k: i32) {
  %left = nv_tileaa.make_memref %p, sizes[%b : i32, %n : i32, %k : i32], strides[%n : i32, %k : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?x?xf16, strided<[?, ?, 1]>>
  %right = nv_tileaa.make_memref %q, sizes[%b : i32, %k : i32, %n : i32], strides[%k : i32, %n : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?x?xf16, strided<[?, ?, 1]>>
  %batch = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %column = "gpu.block_id"() <{dimension = #gpu<dim z>}> : () -> index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 16 : index
  %none = arith.constant dense<0.0> : tensor<1x64x128xf32>
  %av = nv_tileas.view %left : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x64xf16, gmem>
  %bv = nv_tileas.view %right : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x128xf16, gmem>
  %sum = scf.for %i = %zero to %end step %one iter_args(%acc = %none) -> (tensor<1x64x128xf32>) {
    %x = nv_tileas.tiled_load %av[%batch, %row, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x64xf16, gmem> -> tensor<1x64x64xf16>
    %y = nv_tileas.tiled_load %bv[%batch, %i, %column] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x128xf16, gmem> -> tensor<1x64x128xf16>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom fma_f16_f16_f32>} : tensor<1x64x64xf16>, tensor<1x64x128xf16>, tensor<1x64x128xf32> -> tensor<1x64x128xf32>
    scf.yield %next : tensor<1x64x128xf32>
  }
  %to = nv_tileas.view %left : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x128xf16, gmem>
  %half = arith.truncf %sum : tensor<1x64x128xf32> to tensor<1x64x128xf16>
  nv_tileas.tiled_store %half, %to[%batch, %row, %column] {atom = #nv_tileas<atom stg>} : tensor<1x64x128xf16>, !nv_tileas.tiled_view<1x64x128xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @batch
// CHECK:         %[[PRODUCTS:.*]] = arith.divui %[[NUMBER:.*]], %[[ROWS:.*]] : i32
// CHECK-NEXT:    %[[WHOLE:.*]] = arith.muli %[[PRODUCTS]], %[[ROWS]] : i32
// CHECK-NEXT:    %[[ROW:.*]] = arith.subi %[[NUMBER]], %[[WHOLE]] : i32
// CHECK-NEXT:    %[[BATCH:.*]] = arith.divui %[[PRODUCTS]], %[[COLUMNS:.*]] : i32
// CHECK-NEXT:    %[[WHOLE:.*]] = arith.muli %[[BATCH]], %[[COLUMNS]] : i32
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.subi %[[PRODUCTS]], %[[WHOLE]] : i32
// CHECK:         %[[B:.*]] = arith.select %{{.*}}, %[[BATCH]], %{{.*}} : i32
// CHECK-NEXT:    %[[I:.*]] = arith.index_cast %[[B]] : i32 to index
// CHECK:         %[[R:.*]] = arith.select %{{.*}}, %[[ROW]], %{{.*}} : i32
// CHECK-NEXT:    %[[J:.*]] = arith.index_cast %[[R]] : i32 to index
// CHECK:         nv_tileas.tiled_load %{{.*}}[%[[I]], %[[J]], %{{.*}}]

// -----

// Along x the same tiles of B are read: the order stays.

func.func @product(%p: !nv_tileaa.ptr<f16, 1>, %b: i32, %n: i32, %k: i32) {
  %array = nv_tileaa.make_memref %p, sizes[%b : i32, %n : i32, %k : i32], strides[%n : i32, %k : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?x?xf16, strided<[?, ?, 1]>>
  %row = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %column = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %batch = "gpu.block_id"() <{dimension = #gpu<dim z>}> : () -> index
  %zero = arith.constant 0 : index
  %none = arith.constant dense<0.0> : tensor<1x64x64xf32>
  %view = nv_tileas.view %array : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x64xf16, gmem>
  %x = nv_tileas.tiled_load %view[%batch, %row, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x64xf16, gmem> -> tensor<1x64x64xf16>
  %y = nv_tileas.tiled_load %view[%batch, %zero, %column] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x64xf16, gmem> -> tensor<1x64x64xf16>
  %sum = nv_tileas.dot %x, %y, %none {atom = #nv_tileas<atom fma_f16_f16_f32>} : tensor<1x64x64xf16>, tensor<1x64x64xf16>, tensor<1x64x64xf32> -> tensor<1x64x64xf32>
  "test.op"(%sum) : (tensor<1x64x64xf32>) -> ()
  func.return
}

// CHECK-LABEL: func.func @product
// CHECK-NOT:     arith.divui
// CHECK:         func.return

// -----

// A tile block may wait there for one that hardware has started before it: the order stays.

func.func @turns(%p: !nv_tileaa.ptr<f16, 1>, %q: !nv_tileaa.ptr<f16, 1>, %b: i32, %n: i32, %k: i32, %turn: !nv_tileas.tiled_view<1xi32, gmem>) {
  %left = nv_tileaa.make_memref %p, sizes[%b : i32, %n : i32, %k : i32], strides[%n : i32, %k : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?x?xf16, strided<[?, ?, 1]>>
  %right = nv_tileaa.make_memref %q, sizes[%b : i32, %k : i32, %n : i32], strides[%k : i32, %n : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?x?xf16, strided<[?, ?, 1]>>
  %batch = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %column = "gpu.block_id"() <{dimension = #gpu<dim z>}> : () -> index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 16 : index
  %none = arith.constant dense<0.0> : tensor<1x64x128xf32>
  %av = nv_tileas.view %left : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x64xf16, gmem>
  %bv = nv_tileas.view %right : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x128xf16, gmem>
  %sum = scf.for %i = %zero to %end step %one iter_args(%acc = %none) -> (tensor<1x64x128xf32>) {
    %x = nv_tileas.tiled_load %av[%batch, %row, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x64xf16, gmem> -> tensor<1x64x64xf16>
    %y = nv_tileas.tiled_load %bv[%batch, %i, %column] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x128xf16, gmem> -> tensor<1x64x128xf16>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom fma_f16_f16_f32>} : tensor<1x64x64xf16>, tensor<1x64x128xf16>, tensor<1x64x128xf32> -> tensor<1x64x128xf32>
    scf.yield %next : tensor<1x64x128xf32>
  }
  %nothing = arith.constant dense<0> : tensor<1xi32>
  scf.while () : () -> () {
    %now = nv_tileas.tiled_atomic_rmw add %nothing, %turn[%zero] {atom = #nv_tileas<atom unknown_copy>} : tensor<1xi32>, !nv_tileas.tiled_view<1xi32, gmem> -> tensor<1xi32>
    %number = tensor.extract %now[%zero] : tensor<1xi32>
    %mine = arith.index_cast %row : index to i32
    %early = arith.cmpi ne, %number, %mine : i32
    scf.condition(%early)
  } do {
    scf.yield
  }
  %to = nv_tileas.view %left : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x128xf16, gmem>
  %half = arith.truncf %sum : tensor<1x64x128xf32> to tensor<1x64x128xf16>
  nv_tileas.tiled_store %half, %to[%batch, %row, %column] {atom = #nv_tileas<atom stg>} : tensor<1x64x128xf16>, !nv_tileas.tiled_view<1x64x128xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @turns
// CHECK-NOT:     arith.divui
// CHECK:         func.return

// -----

// Numbers of tile blocks may be the first operations.

func.func @ids_first(%left: memref<?x?x?xf16, strided<[?, ?, 1]>>, %right: memref<?x?x?xf16, strided<[?, ?, 1]>>, %to: !nv_tileas.tiled_view<1x64x128xf32, gmem>) {
  %batch = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %row = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %zero = arith.constant 0 : index
  %none = arith.constant dense<0.0> : tensor<1x64x128xf32>
  %av = nv_tileas.view %left : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x64xf16, gmem>
  %bv = nv_tileas.view %right : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x128xf16, gmem>
  %x = nv_tileas.tiled_load %av[%batch, %row, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x64xf16, gmem> -> tensor<1x64x64xf16>
  %y = nv_tileas.tiled_load %bv[%batch, %zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x128xf16, gmem> -> tensor<1x64x128xf16>
  %sum = nv_tileas.dot %x, %y, %none {atom = #nv_tileas<atom fma_f16_f16_f32>} : tensor<1x64x64xf16>, tensor<1x64x128xf16>, tensor<1x64x128xf32> -> tensor<1x64x128xf32>
  nv_tileas.tiled_store %sum, %to[%batch, %row, %zero] {atom = #nv_tileas<atom stg>} : tensor<1x64x128xf32>, !nv_tileas.tiled_view<1x64x128xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @ids_first
// CHECK:         %[[CHOSEN:.*]] = arith.select
// CHECK-NEXT:    %[[BATCH:.*]] = arith.index_cast %[[CHOSEN]]
// CHECK-NEXT:    %[[OTHER:.*]] = arith.select
// CHECK-NEXT:    %[[ROW:.*]] = arith.index_cast %[[OTHER]]
// CHECK:         nv_tileas.tiled_load %{{.*}}[%[[BATCH]], %[[ROW]], %zero]
