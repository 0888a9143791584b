// `tileas-choose-tma`: load dot operands in shared memory by TMA, and store accumulators by TMA,
// where a launch can encode a tensor map of the array.

// RUN: tileas-opt %s -p tileas-choose-tma --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-choose-tma,tileas-choose-tma --split-input-file | filecheck %s
// RUN: tileas-opt %s -p 'tileas-choose-tma{stores=false}' --split-input-file | filecheck %s --check-prefix THREADS

// The loads have an atom of TMA and a result in shared memory; the store goes by way of a tile in shared
// memory.

func.func @product(%a: !nv_tileaa.ptr<f16, 1>, %b: !nv_tileaa.ptr<f16, 1>, %c: !nv_tileaa.ptr<f32, 1>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %pb = nv_tileaa.assume %b, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %pc = nv_tileaa.assume %c, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<64x32xf16, strided<[32, 1]>>
  %mb = nv_tileaa.make_memref %pb, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<32x64xf16, strided<[64, 1]>>
  %mc = nv_tileaa.make_memref %pc, sizes[], strides[] : !nv_tileaa.ptr<f32, 1> -> memref<64x64xf32, strided<[64, 1]>>
  %va = nv_tileas.view %ma : memref<64x32xf16, strided<[32, 1]>> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %vb = nv_tileas.view %mb : memref<32x64xf16, strided<[64, 1]>> -> !nv_tileas.tiled_view<32x64xf16, gmem>
  %vc = nv_tileas.view %mc : memref<64x64xf32, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = nv_tileas.tiled_load %va[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
  %y = nv_tileas.tiled_load %vb[%zero, %zero] {atom = #nv_tileas<atom ldg>, allow_tma = false} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16>
  %sx = nv_tileas.convert_layout %x : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
  %sy = nv_tileas.convert_layout %y : tensor<32x64xf16> -> tensor<32x64xf16, #nv_tileas<space smem>>
  %sum = nv_tileas.dot %sx, %sy, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  nv_tileas.tiled_store %sum, %vc[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// THREADS-NOT: atom tma_store
// CHECK-LABEL: func.func @product
// CHECK:         %x = nv_tileas.tiled_load %va[%zero, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %y = nv_tileas.tiled_load %vb[%zero, %zero] {nv_tileas.not_by_tma = "allow_tma is false", atom = #nv_tileas<atom ldg>, allow_tma = false}
// CHECK-NEXT:    %sy = nv_tileas.convert_layout %y
// CHECK-NEXT:    %sum = nv_tileas.dot %x, %sy, %nothing
// CHECK-NEXT:    %staging = nv_tileas.alloc_tensor : tensor<64x64xf32, #nv_tileas<space smem>>
// CHECK-NEXT:    nv_tileas.copy %sum, %staging
// CHECK-NEXT:    nv_tileas.tiled_store %staging, %vc[%zero, %zero] {nv_tileas.until_read, atom = #nv_tileas<atom tma_store_2d>, allow_tma = true}

// -----

// Sums that are larger than 32 KiB are computed further and stored in pieces, by way of one tile.
// They come before other operands: threads wait for sums, and hold what they computed before.

func.func @pieces(%a: tensor<128x32xf16, #nv_tileas<space smem>>, %b: tensor<32x128xf16, #nv_tileas<space smem>>, %c: !nv_tileaa.ptr<f32, 1>, %m: i32, %n: i32, %row: index, %column: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %pc = nv_tileaa.assume %c, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %stride = nv_tileaa.assume %n, #nv_tileaa.div_by<4> : i32
  %mc = nv_tileaa.make_memref %pc, sizes[%m : i32, %stride : i32], strides[%stride : i32] : !nv_tileaa.ptr<f32, 1> -> memref<?x?xf32, strided<[?, 1]>>
  %vc = nv_tileas.view %mc : memref<?x?xf32, strided<[?, 1]>> -> !nv_tileas.tiled_view<128x128xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %half = arith.constant dense<0.5> : tensor<128x128xf32>
  %sum = nv_tileas.dot %a, %b, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x32xf16, #nv_tileas<space smem>>, tensor<32x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
  %less = arith.mulf %half, %sum : tensor<128x128xf32>
  nv_tileas.tiled_store %less, %vc[%row, %column] {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @pieces
// CHECK:         %sum = nv_tileas.dot
// CHECK-NEXT:    %staging = nv_tileas.alloc_tensor : tensor<128x64xf32, #nv_tileas<space smem>>
// CHECK:         %[[PIECES:.*]] = arith.constant 2 : index
// CHECK-NEXT:    %[[WIDTH:.*]] = arith.constant 64 : index
// CHECK-NEXT:    %[[VIEW:.*]] = nv_tileas.view %mc : memref<?x?xf32, strided<[?, 1]>> -> !nv_tileas.tiled_view<128x64xf32, gmem>
// CHECK-NEXT:    %[[FIRST:.*]] = arith.muli %column, %[[PIECES]] : index
// CHECK-NEXT:    scf.for %[[PIECE:.*]] = %{{.*}} to %[[PIECES]] step
// CHECK-NEXT:      %[[AT:.*]] = arith.muli %[[PIECE]], %[[WIDTH]] : index
// CHECK-NEXT:      %[[PART:.*]] = nv_tileas.extract_slice %sum[0, %[[AT]]][128, 64][1, 1] : tensor<128x128xf32> -> tensor<128x64xf32>
// CHECK-NEXT:      %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<128x64xf32>
// CHECK-NEXT:      %[[LESS:.*]] = arith.mulf %[[HALF]], %[[PART]] : tensor<128x64xf32>
// CHECK-NEXT:      nv_tileas.copy %[[LESS]], %staging
// CHECK-NEXT:      %[[PLACE:.*]] = arith.addi %[[FIRST]], %[[PIECE]] : index
// CHECK-NEXT:      nv_tileas.tiled_store %staging, %[[VIEW]][%row, %[[PLACE]]] {nv_tileas.until_read, atom = #nv_tileas<atom tma_store_2d>, allow_tma = true}

// -----

// A body that reads sums at the coordinates of each element is computed in pieces too, and the sums of
// a loop in a loop are sums.

func.func @generated(%c: !nv_tileaa.ptr<f32, 1>, %m: i32, %n: i32, %s: i32, %row: index, %column: index, %n0: index, %n1: index, %n2: index)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %pc = nv_tileaa.assume %c, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %sc = nv_tileaa.assume %s, #nv_tileaa.div_by<4> : i32
  %nc = nv_tileaa.assume %n, #nv_tileaa.div_by<4> : i32
  %mc = nv_tileaa.make_memref %pc, sizes[%m : i32, %nc : i32], strides[%sc : i32] : !nv_tileaa.ptr<f32, 1> -> memref<?x?xf32, strided<[?, 1]>>
  %vc = nv_tileas.view %mc : memref<?x?xf32, strided<[?, 1]>> -> !nv_tileas.tiled_view<128x128xf32, gmem>
  %a, %b, %scale = "test.op"() : () -> (tensor<128x32xi8>, tensor<32x128xi8>, tensor<128xf32>)
  %nothing = arith.constant dense<0> : tensor<128x128xi32>
  %sum = scf.for %i = %n0 to %n1 step %n2 iter_args(%x = %nothing) -> (tensor<128x128xi32>) {
    %inner = scf.for %j = %n0 to %n1 step %n2 iter_args(%y = %x) -> (tensor<128x128xi32>) {
      %z = nv_tileas.dot %a, %b, %y {atom = #nv_tileas<atom mma_i8_i8_i32>, signedness_a = #nv_tileas<signedness signed>, signedness_b = #nv_tileas<signedness signed>} : tensor<128x32xi8>, tensor<32x128xi8>, tensor<128x128xi32> -> tensor<128x128xi32>
      scf.yield %z : tensor<128x128xi32>
    }
    scf.yield %inner : tensor<128x128xi32>
  }
  %scaled = nv_tileas.generate : tensor<128x128xf32> {
  ^bb0(%i: index, %j: index):
    %whole = tensor.extract %sum[%i, %j] : tensor<128x128xi32>
    %float = arith.sitofp %whole : i32 to f32
    %factor = tensor.extract %scale[%j] : tensor<128xf32>
    %product = arith.mulf %float, %factor : f32
    nv_tileas.yield %product : f32
  }
  nv_tileas.tiled_store %scaled, %vc[%row, %column] {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @generated
// CHECK:         %staging = nv_tileas.alloc_tensor
// CHECK:         scf.for %[[PIECE:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT:      %[[AT:.*]] = arith.muli %[[PIECE]]
// CHECK-NEXT:      %[[SUMS:.*]] = nv_tileas.extract_slice %sum[0, %[[AT]]][128, 64][1, 1] : tensor<128x128xi32> -> tensor<128x64xi32>
// CHECK-NEXT:      %[[SCALED:.*]] = nv_tileas.generate : tensor<128x64xf32> {
// CHECK-NEXT:      ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:        %[[COLUMN:.*]] = arith.addi %[[J]], %[[AT]] : index
// CHECK-NEXT:        %whole = tensor.extract %[[SUMS]][%[[I]], %[[J]]] : tensor<128x64xi32>
// CHECK-NEXT:        %float = arith.sitofp %whole : i32 to f32
// CHECK-NEXT:        %factor = tensor.extract %scale[%[[COLUMN]]] : tensor<128xf32>
// CHECK:           nv_tileas.copy %[[SCALED]], %staging

// -----

// A view that drops unit dimensions, and so keeps the rows of a tile, shows it where TMA has put it.

func.func @batched(%a: !nv_tileaa.ptr<f16, 1>, %i: index, %b: tensor<64x64xf16, #nv_tileas<space smem>>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<8x64x64xf16, strided<[4096, 64, 1]>>
  %va = nv_tileas.view %ma : memref<8x64x64xf16, strided<[4096, 64, 1]>> -> !nv_tileas.tiled_view<1x64x64xf16, gmem>
  %x = nv_tileas.tiled_load %va[%i, %i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x64xf16, gmem> -> tensor<1x64x64xf16>
  %matrix = nv_tileas.view %x : tensor<1x64x64xf16> -> tensor<64x64xf16>
  %s = nv_tileas.convert_layout %matrix : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
  %sum = nv_tileas.dot %s, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @batched
// CHECK:         %x = nv_tileas.tiled_load %va[%i, %i, %i] {atom = #nv_tileas<atom tma_load_3d>, allow_tma = true} : !nv_tileas.tiled_view<1x64x64xf16, gmem> -> tensor<1x64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %matrix = nv_tileas.view %x : tensor<1x64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %sum = nv_tileas.dot %matrix, %b, %c

// -----

// Beside sums, what is stored may read broadcasts of smaller tiles and loaded tiles, and may be shown
// with unit dimensions: a matrix is staged, and shown so again.

func.func @epilogue(%sum: tensor<64x64xf32>, %a: tensor<64x32xf16, #nv_tileas<space smem>>, %b: tensor<32x64xf16, #nv_tileas<space smem>>, %bias: tensor<64xf32>, %c: !nv_tileaa.ptr<f16, 1>, %m: i32, %n: i32, %i: index, %j: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %pc = nv_tileaa.assume %c, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %row = nv_tileaa.assume %n, #nv_tileaa.div_by<8> : i32
  %mc = nv_tileaa.make_memref %pc, sizes[%m : i32, %m : i32, %row : i32], strides[%row : i32, %row : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?x?xf16, strided<[?, ?, 1]>>
  %vc = nv_tileas.view %mc : memref<?x?x?xf16, strided<[?, ?, 1]>> -> !nv_tileas.tiled_view<1x64x64xf16, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %product = nv_tileas.dot %a, %b, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  %wide = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%p: index, %q: index):
    %one = tensor.extract %bias[%q] : tensor<64xf32>
    nv_tileas.yield %one : f32
  }
  %biased = arith.addf %product, %wide : tensor<64x64xf32>
  %half = arith.truncf %biased : tensor<64x64xf32> to tensor<64x64xf16>
  %shown = nv_tileas.expand_dims %half {axis = 0 : i32} : tensor<64x64xf16> -> tensor<1x64x64xf16>
  nv_tileas.tiled_store %shown, %vc[%i, %i, %j] {atom = #nv_tileas<atom stg>} : tensor<1x64x64xf16>, !nv_tileas.tiled_view<1x64x64xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @epilogue
// CHECK:         %half = arith.truncf %biased
// CHECK-NEXT:    %staging = nv_tileas.alloc_tensor : tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[SHOWN:.*]] = nv_tileas.view %staging : tensor<64x64xf16, #nv_tileas<space smem>> -> tensor<1x64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    nv_tileas.copy %half, %staging
// CHECK-NEXT:    nv_tileas.tiled_store %[[SHOWN]], %vc[%i, %i, %j] {nv_tileas.until_read, atom = #nv_tileas<atom tma_store_3d>, allow_tma = true}

// -----

// A tile of the same size that is neither loaded nor computed from sums keeps threads storing.

func.func @other(%other: tensor<64x64xf32>, %a: tensor<64x32xf16, #nv_tileas<space smem>>, %b: tensor<32x64xf16, #nv_tileas<space smem>>, %c: !nv_tileaa.ptr<f32, 1>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %pc = nv_tileaa.assume %c, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %mc = nv_tileaa.make_memref %pc, sizes[], strides[] : !nv_tileaa.ptr<f32, 1> -> memref<64x64xf32, strided<[64, 1]>>
  %vc = nv_tileas.view %mc : memref<64x64xf32, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %product = nv_tileas.dot %a, %b, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  %both = arith.addf %product, %other : tensor<64x64xf32>
  nv_tileas.tiled_store %both, %vc[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @other
// CHECK:         nv_tileas.tiled_store %both, %vc[%i, %i] {atom = #nv_tileas<atom stg>}

// -----

// Stores that come after one another, and after nothing else, are TMA's too: each waits for those before
// it.  The round before is one of them.

// CHECK-LABEL: func.func @rounds
// CHECK:       scf.for
// CHECK:         nv_tileas.copy
// CHECK-NEXT:    nv_tileas.tiled_store %staging, %vc[%r, %zero] {nv_tileas.after_stores, nv_tileas.until_read, atom = #nv_tileas<atom tma_store_2d>
// CHECK-NOT:   nv_tileas.not_by_tma
func.func @rounds(%p: !nv_tileaa.ptr<f32, 1>, %x: tensor<64x64xf16>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %q = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %c = nv_tileaa.make_memref %q, sizes[], strides[] : !nv_tileaa.ptr<f32, 1> -> memref<256x64xf32, strided<[64, 1]>>
  %vc = nv_tileas.view %c : memref<256x64xf32, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %end = scf.for %r = %zero to %n step %one iter_args(%t = %none) -> (!nv_tileaa.mem_token) {
    %sum = nv_tileas.dot %x, %x, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    %u = nv_tileas.tiled_store %sum, %vc[%r, %zero] after %t : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
    scf.yield %u : !nv_tileaa.mem_token
  }
  func.return
}

// -----

// A load behind the store has to wait for it, which threads do in order.

// CHECK-LABEL: func.func @read_again
// CHECK:         nv_tileas.tiled_store {{.*}}nv_tileas.not_by_tma = "other accesses to memory come after it"
func.func @read_again(%p: !nv_tileaa.ptr<f32, 1>, %x: tensor<64x64xf16>, %n: index) {
  %zero = arith.constant 0 : index
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %q = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %c = nv_tileaa.make_memref %q, sizes[], strides[] : !nv_tileaa.ptr<f32, 1> -> memref<256x64xf32, strided<[64, 1]>>
  %vc = nv_tileas.view %c : memref<256x64xf32, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = nv_tileas.dot %x, %x, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  %u = nv_tileas.tiled_store %sum, %vc[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
  %again, %v = nv_tileas.tiled_load %vc[%n, %zero] after %u : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf32, gmem> -> tensor<64x64xf32>, !nv_tileaa.mem_token
  nv_tileas.tiled_store %again, %vc[%zero, %zero] after %v : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// What a loop makes into an operand comes by TMA too, and is read from shared memory for that.

// CHECK-LABEL: func.func @computed
// CHECK:         %x, %t = nv_tileas.tiled_load %va[%i, %i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true}
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x : tensor<64x32xf32, #nv_tileas<space smem>> -> tensor<64x32xf32>
// CHECK-NEXT:    %y = arith.truncf %0
func.func @computed(%a: !nv_tileaa.ptr<f32, 1>, %b: tensor<32x64xtf32, #nv_tileas<space smem>>, %c: tensor<64x64xf32>, %n: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f32, 1> -> memref<64x64xf32, strided<[64, 1]>>
  %va = nv_tileas.view %ma : memref<64x64xf32, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x32xf32, gmem>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %c) -> (tensor<64x64xf32>) {
    %x, %t = nv_tileas.tiled_load %va[%i, %i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf32, gmem> -> tensor<64x32xf32>, !nv_tileaa.mem_token
    %y = arith.truncf %x : tensor<64x32xf32> to tensor<64x32xtf32>
    %z = nv_tileas.convert_layout %y : tensor<64x32xtf32> -> tensor<64x32xtf32, #nv_tileas<space smem>>
    %d = nv_tileas.dot %z, %b, %acc {atom = #nv_tileas<atom wgmma_tf32_tf32_f32>} : tensor<64x32xtf32, #nv_tileas<space smem>>, tensor<32x64xtf32, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// -----

// Threads that multiply read their fragments of what TMA loads where it is; others read it in registers.

// CHECK-LABEL: func.func @fragments
// CHECK:         %x, %t = nv_tileas.tiled_load %va[%i, %i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true}
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x : tensor<32x16xf64, #nv_tileas<space smem>> -> tensor<32x16xf64>
// CHECK-NEXT:    "test.op"(%0)
// CHECK-NEXT:    %d = nv_tileas.dot %x, %b, %acc {{.*}} : tensor<32x16xf64, #nv_tileas<space smem>>, tensor<16x32xf64>
func.func @fragments(%a: !nv_tileaa.ptr<f64, 1>, %b: tensor<16x32xf64>, %c: tensor<32x32xf64>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f64, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f64, 1> -> memref<64x64xf64, strided<[64, 1]>>
  %va = nv_tileas.view %ma : memref<64x64xf64, strided<[64, 1]>> -> !nv_tileas.tiled_view<32x16xf64, gmem>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %c) -> (tensor<32x32xf64>) {
    %x, %t = nv_tileas.tiled_load %va[%i, %i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<32x16xf64, gmem> -> tensor<32x16xf64>, !nv_tileaa.mem_token
    "test.op"(%x) : (tensor<32x16xf64>) -> ()
    %d = nv_tileas.dot %x, %b, %acc {atom = #nv_tileas<atom mma_f64_f64_f64>} : tensor<32x16xf64>, tensor<16x32xf64>, tensor<32x32xf64> -> tensor<32x32xf64>
    scf.yield %d : tensor<32x32xf64>
  }
  func.return
}

// -----

// Rows that are 8 bytes apart are not for TMA, but threads can copy them (`cp.async`): they go into
// shared memory as they are, and are viewed there.

func.func @copied(%a: !nv_tileaa.ptr<f16, 1>, %b: tensor<32x64xf16, #nv_tileas<space smem>>) {
  %zero = arith.constant 0 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<8x64x28xf16, strided<[1792, 28, 1]>>
  %va = nv_tileas.view %ma : memref<8x64x28xf16, strided<[1792, 28, 1]>> -> !nv_tileas.tiled_view<1x64x32xf16, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = nv_tileas.tiled_load %va[%zero, %zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x32xf16, gmem> -> tensor<1x64x32xf16>
  %rows = nv_tileas.view %x : tensor<1x64x32xf16> -> tensor<64x32xf16>
  %sx = nv_tileas.convert_layout %rows : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
  %sum = nv_tileas.dot %sx, %b, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  "test.op"(%sum) : (tensor<64x64xf32>) -> ()
  func.return
}

// CHECK-LABEL: func.func @copied
// CHECK:         %x = nv_tileas.tiled_load %va[%zero, %zero, %zero] {nv_tileas.not_by_tma = "its rows are apart by multiples of 8 bytes as far as is known, not of 16", atom = #nv_tileas<atom ldg>}
// CHECK-NEXT:    %[[WHOLE:.*]] = nv_tileas.convert_layout %x : tensor<1x64x32xf16> -> tensor<1x64x32xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[ROWS:.*]] = nv_tileas.view %[[WHOLE]]
// CHECK-NEXT:    nv_tileas.dot %[[ROWS]], %b

// -----

// A tile that no product reads stays in registers, and says so.

// CHECK-LABEL: func.func @alone
// CHECK:         nv_tileas.tiled_load {{.*}}nv_tileas.not_by_tma = "it is read in registers"
func.func @alone(%a: !nv_tileaa.ptr<f32, 1>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f32, 1> -> memref<64x64xf32, strided<[64, 1]>>
  %va = nv_tileas.view %ma : memref<64x64xf32, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x32xf32, gmem>
  scf.for %i = %zero to %n step %one {
    %x = nv_tileas.tiled_load %va[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf32, gmem> -> tensor<64x32xf32>
    %y = arith.mulf %x, %x : tensor<64x32xf32>
    "test.op"(%y) : (tensor<64x32xf32>) -> ()
  }
  func.return
}

// -----

// An atomic update whose old values nobody asks for is a reduction of TMA; rounds need no order of their own.
// One that is not relaxed stays with threads.

func.func @updates(%a: !nv_tileaa.ptr<f16, 1>, %c: !nv_tileaa.ptr<f32, 1>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pc = nv_tileaa.assume %c, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %mc = nv_tileaa.make_memref %pc, sizes[], strides[] : !nv_tileaa.ptr<f32, 1> -> memref<64x64xf32, strided<[64, 1]>>
  %vc = nv_tileas.view %mc : memref<64x64xf32, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = nv_tileas.alloc_tensor : tensor<64x64xf16, #nv_tileas<space smem>>
  %begin = nv_tileas.create_none : !nv_tileaa.mem_token
  %end = scf.for %i = %zero to %n step %one iter_args(%t = %begin) -> (!nv_tileaa.mem_token) {
    %sum = nv_tileas.dot %x, %x, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %old, %u = nv_tileas.tiled_atomic_rmw add %sum, %vc[%zero, %zero] relaxed gpu after %t : !nv_tileaa.mem_token {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> tensor<64x64xf32>, !nv_tileaa.mem_token
    scf.yield %u : !nv_tileaa.mem_token
  }
  %sum = nv_tileas.dot %x, %x, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  %before = nv_tileas.tiled_atomic_rmw add %sum, %vc[%zero, %zero] acq_rel gpu {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> tensor<64x64xf32>
  func.return
}

// CHECK-LABEL: func.func @updates
// CHECK:         scf.for
// CHECK:           nv_tileas.copy %sum, %staging
// CHECK-NEXT:      %{{.*}} = nv_tileas.tiled_atomic_rmw add %staging, %vc[%zero, %zero] relaxed gpu {nv_tileas.until_read, atom = #nv_tileas<atom tma_redg_2d<op = add>>, allow_tma = true}
// CHECK-NEXT:      scf.yield %t
// CHECK:         nv_tileas.tiled_atomic_rmw add %{{.*}} acq_rel gpu {nv_tileas.not_by_tma = "it is acq_rel, and reductions of TMA are relaxed"

// -----

// A tile that a product reads in shared memory and threads in registers, for the norms of its rows, comes by
// TMA once: threads read it there.

func.func @normed(%a: !nv_tileaa.ptr<f16, 1>, %b: tensor<32x64xf16, #nv_tileas<space smem>>, %c: tensor<64x64xf32>, %i: index) -> (tensor<64x64xf32>, tensor<64x32xf16>) {
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<64x32xf16, strided<[32, 1]>>
  %va = nv_tileas.view %ma : memref<64x32xf16, strided<[32, 1]>> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %x = nv_tileas.tiled_load %va[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
  %square = arith.mulf %x, %x : tensor<64x32xf16>
  %sx = nv_tileas.convert_layout %x : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
  %d = nv_tileas.dot %sx, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return %d, %square : tensor<64x64xf32>, tensor<64x32xf16>
}

// CHECK-LABEL: func.func @normed
// CHECK:         %x = nv_tileas.tiled_load %va[%i, %i] {atom = #nv_tileas<atom tma_load_2d>
// CHECK-NEXT:    %[[READ:.*]] = nv_tileas.convert_layout %x
// CHECK-NEXT:    %square = arith.mulf %[[READ]], %[[READ]]
// CHECK-NEXT:    nv_tileas.dot %x, %b, %c

// -----

// Rows of a tile that one product reads in shared memory and threads of another multiply: both
// read them there.

// CHECK-LABEL: func.func @both
// CHECK:         %[[K:.*]] = nv_tileas.tiled_load %{{.*}} {atom = #nv_tileas<atom tma_load_3d>, allow_tma = true}
// CHECK-NEXT:    %[[ROWS:.*]] = nv_tileas.view %[[K]] : {{.*}} -> tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NOT:     nv_tileas.convert_layout
// CHECK:         nv_tileas.dot %[[ROWS]], %b, %{{.*}} {atom = #nv_tileas<atom wgmma_f16_f16_f32>}
// CHECK:         nv_tileas.dot %few, %[[ROWS]], %{{.*}} {atom = #nv_tileas<atom mma_f16_f16_f32>}
func.func @both(%a: memref<1x64x64xf16, strided<[4096, 64, 1]>>, %b: tensor<64x64xf16, #nv_tileas<space smem>>, %few: tensor<32x64xf16>) -> (tensor<64x64xf32>, tensor<32x64xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : memref<1x64x64xf16, strided<[4096, 64, 1]>>
  %va = nv_tileas.view %pa : memref<1x64x64xf16, strided<[4096, 64, 1]>> -> !nv_tileas.tiled_view<1x64x64xf16, gmem>
  %k = nv_tileas.tiled_load %va[%zero, %zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64x64xf16, gmem> -> tensor<1x64x64xf16>
  %rows = nv_tileas.view %k : tensor<1x64x64xf16> -> tensor<64x64xf16>
  %s = nv_tileas.convert_layout %rows : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
  %n64 = arith.constant dense<0.0> : tensor<64x64xf32>
  %n32 = arith.constant dense<0.0> : tensor<32x64xf32>
  %x = nv_tileas.dot %s, %b, %n64 {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  %y = nv_tileas.dot %few, %rows, %n32 {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<32x64xf16>, tensor<64x64xf16>, tensor<32x64xf32> -> tensor<32x64xf32>
  func.return %x, %y : tensor<64x64xf32>, tensor<32x64xf32>
}

// -----

// A store by TMA begins at no negative coordinate: an offset in elements that may be negative leaves a part
// of the tile in the array, which threads store.  The index of a tile block is no negative number.

// CHECK-LABEL: func.func @in_front
// CHECK:         nv_tileas.tiled_store %{{.*}} offset[%{{.*}}] {{{.*}}atom = #nv_tileas<atom tma_store_2d>
// CHECK:         nv_tileas.tiled_store {{.*}}nv_tileas.not_by_tma = "it may begin in front of its array, where TMA writes nothing"
func.func @in_front(%p: !nv_tileaa.ptr<f32, 1>, %x: tensor<64x64xf16>, %n: index) {
  %zero = arith.constant 0 : index
  %half = arith.constant 32 : index
  %q = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
  %c = nv_tileaa.make_memref %q, sizes[], strides[] : !nv_tileaa.ptr<f32, 1> -> memref<256x64xf32, strided<[64, 1]>>
  %vc = nv_tileas.view %c : memref<256x64xf32, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = nv_tileas.dot %x, %x, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  %block = nv_tileaa.get_program_id {axis = 0 : i32}
  %i = arith.index_cast %block : i32 to index
  %row = arith.muli %i, %half : index
  nv_tileas.tiled_store %sum, %vc[%zero, %zero] offset[%row, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  %any = arith.muli %n, %half : index
  %more = nv_tileas.dot %x, %x, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  nv_tileas.tiled_store %more, %vc[%zero, %zero] offset[%any, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}
