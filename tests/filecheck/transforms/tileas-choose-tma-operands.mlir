// `tileas-choose-tma`: what threads compute of tiles that TMA loads is operand A in registers.

// RUN: tileas-opt %s -p tileas-choose-tma --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-choose-tma,tileas-choose-tma --split-input-file | filecheck %s

// A is computed: it needs no way through shared memory.

func.func @computed_a(%a: !nv_tileaa.ptr<f16, 1>, %b: !nv_tileaa.ptr<f16, 1>, %k: index) -> tensor<64x64xf32> attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %pb = nv_tileaa.assume %b, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<64x320xf16, strided<[320, 1]>>
  %mb = nv_tileaa.make_memref %pb, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<320x64xf16, strided<[64, 1]>>
  %va = nv_tileas.view %ma : memref<64x320xf16, strided<[320, 1]>> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %vb = nv_tileas.view %mb : memref<320x64xf16, strided<[64, 1]>> -> !nv_tileas.tiled_view<32x64xf16, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %zero to %k step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %va[%zero, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
    %y = nv_tileas.tiled_load %vb[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16>
    %square = arith.mulf %x, %x : tensor<64x32xf16>
    %sx = nv_tileas.convert_layout %square : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %sy = nv_tileas.convert_layout %y : tensor<32x64xf16> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %d = nv_tileas.dot %sx, %sy, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @computed_a
// CHECK:         %x = nv_tileas.tiled_load {{.*}}tma_load_2d
// CHECK-NEXT:    %[[READ:.*]] = nv_tileas.convert_layout %x
// CHECK-NEXT:    %y = nv_tileas.tiled_load {{.*}}tma_load_2d
// CHECK-NEXT:    %square = arith.mulf %[[READ]], %[[READ]]
// CHECK-NEXT:    nv_tileas.dot %square, %y, %acc

// -----

// B is computed of rows of 32 elements: the transposes are multiplied, the loop carries the transposed sum, and
// what is computed of it behind the loop is of the same registers.

func.func @computed_b(%a: !nv_tileaa.ptr<f16, 1>, %b: !nv_tileaa.ptr<f16, 1>, %c: !nv_tileaa.ptr<f16, 1>, %k: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %pb = nv_tileaa.assume %b, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %pc = nv_tileaa.assume %c, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<32x320xf16, strided<[320, 1]>>
  %mb = nv_tileaa.make_memref %pb, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<64x320xf16, strided<[320, 1]>>
  %mc = nv_tileaa.make_memref %pc, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<32x64xf16, strided<[64, 1]>>
  %va = nv_tileas.view %ma : memref<32x320xf16, strided<[320, 1]>> -> !nv_tileas.tiled_view<32x32xf16, gmem>
  %vb = nv_tileas.view %mb : memref<64x320xf16, strided<[320, 1]>> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %vc = nv_tileas.view %mc : memref<32x64xf16, strided<[64, 1]>> -> !nv_tileas.tiled_view<32x64xf16, gmem>
  %nothing = arith.constant dense<0.0> : tensor<32x64xf32>
  %sum = scf.for %i = %zero to %k step %one iter_args(%acc = %nothing) -> (tensor<32x64xf32>) {
    %x = nv_tileas.tiled_load %va[%zero, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<32x32xf16, gmem> -> tensor<32x32xf16>
    %y = nv_tileas.tiled_load %vb[%zero, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
    %square = arith.mulf %y, %y : tensor<64x32xf16>
    %sx = nv_tileas.convert_layout %x : tensor<32x32xf16> -> tensor<32x32xf16, #nv_tileas<space smem>>
    %sy = nv_tileas.convert_layout %square : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %columns = nv_tileas.view %sy : tensor<64x32xf16, #nv_tileas<space smem>> -> tensor<32x64xf16, #nv_tileas.shared<(32,64),(1,32)>>
    %d = nv_tileas.dot %sx, %columns, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<32x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas.shared<(32,64),(1,32)>>, tensor<32x64xf32> -> tensor<32x64xf32>
    scf.yield %d : tensor<32x64xf32>
  }
  %half = arith.truncf %sum : tensor<32x64xf32> to tensor<32x64xf16>
  nv_tileas.tiled_store %half, %vc[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<32x64xf16>, !nv_tileas.tiled_view<32x64xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @computed_b
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<64x32xf32>)
// CHECK:           %x = nv_tileas.tiled_load {{.*}}tma_load_2d
// CHECK:           %square = arith.mulf
// CHECK:           %[[B:.*]] = nv_tileas.view %x : {{.*}} -> tensor<32x32xf16, #nv_tileas.shared<(32,32),(1,32)>>
// CHECK-NEXT:      %[[D:.*]] = nv_tileas.dot %square, %[[B]], %[[ACC]]
// CHECK-NEXT:      scf.yield %[[D]]
// CHECK:         %[[BACK:.*]] = nv_tileas.generate : tensor<32x64xf32>
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:      tensor.extract %[[SUM]][%[[J]], %[[I]]]
// CHECK:         %half = arith.truncf %[[BACK]]

// -----

// Rows that are looked up, and made into A: they go into shared memory as they are, by
// runs of 16 bytes (`cp.async`), and threads read them there.

func.func @gathered(%a: !nv_tileaa.ptr<f16, 1>, %rows: tensor<64xi32>, %b: tensor<32x64xf16, #nv_tileas<space smem>>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %base = tensor.splat %pa : tensor<64x32x!nv_tileaa.ptr<f16, 1>>
  %pitch = arith.constant 4096 : i32
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %at = nv_tileas.generate : tensor<64x32xi32> {
    ^bb0(%r: index, %c: index):
      %row = tensor.extract %rows[%r] : tensor<64xi32>
      %begin = arith.muli %row, %pitch : i32
      %column = arith.index_cast %c : index to i32
      %offset = arith.addi %begin, %column : i32
      nv_tileas.yield %offset : i32
    }
    %p = nv_tileaa.addptr %base, %at : tensor<64x32x!nv_tileaa.ptr<f16, 1>>, tensor<64x32xi32>
    %x, %t = nv_tileas.load %p after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : tensor<64x32x!nv_tileaa.ptr<f16, 1>> -> tensor<64x32xf16>, !nv_tileaa.mem_token
    %y = arith.mulf %x, %x : tensor<64x32xf16>
    %sy = nv_tileas.convert_layout %y : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %d = nv_tileas.dot %sy, %b, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  "test.op"(%sum) : (tensor<64x64xf32>) -> ()
  func.return
}

// CHECK-LABEL: func.func @gathered
// CHECK:           %x, %t = nv_tileas.load %p
// CHECK-NEXT:      %[[STAGED:.*]] = nv_tileas.convert_layout %x : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
// CHECK-NEXT:      %[[READ:.*]] = nv_tileas.convert_layout %[[STAGED]] : {{.*}} -> tensor<64x32xf16>
// CHECK-NEXT:      %y = arith.mulf %[[READ]], %[[READ]]

// -----

// A is computed of columns of bytes: lanes have two of them side by side, which are rows of A.

func.func @byte_columns_of_a(%a: !nv_tileaa.ptr<f16, 1>, %b: !nv_tileaa.ptr<i8, 1>, %c: !nv_tileaa.ptr<f16, 1>, %k: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %pb = nv_tileaa.assume %b, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<i8, 1>
  %pc = nv_tileaa.assume %c, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<32x320xf16, strided<[320, 1]>>
  %mb = nv_tileaa.make_memref %pb, sizes[], strides[] : !nv_tileaa.ptr<i8, 1> -> memref<320x64xi8, strided<[64, 1]>>
  %mc = nv_tileaa.make_memref %pc, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<64x32xf16, strided<[32, 1]>>
  %va = nv_tileas.view %ma : memref<32x320xf16, strided<[320, 1]>> -> !nv_tileas.tiled_view<32x32xf16, gmem>
  %vb = nv_tileas.view %mb : memref<320x64xi8, strided<[64, 1]>> -> !nv_tileas.tiled_view<32x64xi8, gmem>
  %vc = nv_tileas.view %mc : memref<64x32xf16, strided<[32, 1]>> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = scf.for %i = %zero to %k step %one iter_args(%acc = %nothing) -> (tensor<64x32xf32>) {
    %x = nv_tileas.tiled_load %va[%zero, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<32x32xf16, gmem> -> tensor<32x32xf16>
    %y = nv_tileas.tiled_load %vb[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<32x64xi8, gmem> -> tensor<32x64xi8>
    %w = nv_tileas.generate : tensor<32x64xf16> {
    ^bb0(%r: index, %s: index):
      %e = tensor.extract %y[%r, %s] : tensor<32x64xi8>
      %f = arith.sitofp %e : i8 to f16
      nv_tileas.yield %f : f16
    }
    %sx = nv_tileas.convert_layout %x : tensor<32x32xf16> -> tensor<32x32xf16, #nv_tileas<space smem>>
    %sy = nv_tileas.convert_layout %w : tensor<32x64xf16> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %rows = nv_tileas.view %sy : tensor<32x64xf16, #nv_tileas<space smem>> -> tensor<64x32xf16, #nv_tileas.shared<(64,32),(1,64)>>
    %columns = nv_tileas.view %sx : tensor<32x32xf16, #nv_tileas<space smem>> -> tensor<32x32xf16, #nv_tileas.shared<(32,32),(1,32)>>
    %d = nv_tileas.dot %rows, %columns, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas.shared<(64,32),(1,64)>>, tensor<32x32xf16, #nv_tileas.shared<(32,32),(1,32)>>, tensor<64x32xf32> -> tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  }
  %half = arith.truncf %sum : tensor<64x32xf32> to tensor<64x32xf16>
  nv_tileas.tiled_store %half, %vc[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x32xf16>, !nv_tileas.tiled_view<64x32xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @byte_columns_of_a
// CHECK:         %y = nv_tileas.tiled_load {{.*}}tma_load_2d
// CHECK-NEXT:    %[[READ:.*]] = nv_tileas.convert_layout %y
// CHECK:         %w = nv_tileas.generate
// CHECK:           tensor.extract %[[READ]]
// CHECK:         %[[A:.*]] = nv_tileas.generate : tensor<64x32xf16>
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:      tensor.extract %w[%[[J]], %[[I]]]
// CHECK:         nv_tileas.dot %[[A]], %{{.*}}, %{{.*}} {nv_tileas.rows_in_pairs, atom

// -----

// The same of B, as which they are stored: the transposes are multiplied.

func.func @byte_columns_of_b(%a: !nv_tileaa.ptr<f16, 1>, %b: !nv_tileaa.ptr<i8, 1>, %c: !nv_tileaa.ptr<f16, 1>, %k: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %pb = nv_tileaa.assume %b, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<i8, 1>
  %pc = nv_tileaa.assume %c, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<64x320xf16, strided<[320, 1]>>
  %mb = nv_tileaa.make_memref %pb, sizes[], strides[] : !nv_tileaa.ptr<i8, 1> -> memref<320x64xi8, strided<[64, 1]>>
  %mc = nv_tileaa.make_memref %pc, sizes[], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<64x64xf16, strided<[64, 1]>>
  %va = nv_tileas.view %ma : memref<64x320xf16, strided<[320, 1]>> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %vb = nv_tileas.view %mb : memref<320x64xi8, strided<[64, 1]>> -> !nv_tileas.tiled_view<32x64xi8, gmem>
  %vc = nv_tileas.view %mc : memref<64x64xf16, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x64xf16, gmem>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %zero to %k step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %va[%zero, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
    %y = nv_tileas.tiled_load %vb[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<32x64xi8, gmem> -> tensor<32x64xi8>
    %w = nv_tileas.generate : tensor<32x64xf16> {
    ^bb0(%r: index, %s: index):
      %e = tensor.extract %y[%r, %s] : tensor<32x64xi8>
      %f = arith.sitofp %e : i8 to f16
      nv_tileas.yield %f : f16
    }
    %sx = nv_tileas.convert_layout %x : tensor<64x32xf16> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %sy = nv_tileas.convert_layout %w : tensor<32x64xf16> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %d = nv_tileas.dot %sx, %sy, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %half = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  nv_tileas.tiled_store %half, %vc[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf16>, !nv_tileas.tiled_view<64x64xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @byte_columns_of_b
// CHECK:         %y = nv_tileas.tiled_load {{.*}}tma_load_2d
// CHECK-NEXT:    %[[READ:.*]] = nv_tileas.convert_layout %y
// CHECK:         %w = nv_tileas.generate
// CHECK:           tensor.extract %[[READ]]
// CHECK:         %[[A:.*]] = nv_tileas.generate : tensor<64x32xf16>
// CHECK-NEXT:    ^bb0(%[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NEXT:      tensor.extract %w[%[[J]], %[[I]]]
// CHECK:         nv_tileas.dot %[[A]], %{{.*}}, %{{.*}} {nv_tileas.rows_in_pairs, atom

// -----

// The matrix of a tile of more dimensions is a view of shared memory: threads read its fragments from there.

func.func @matrix_of_batch(%a: tensor<16x32xf16>, %b: !nv_tileaa.ptr<f8E4M3FN, 1>, %i: index) -> tensor<16x32xf32> attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %none = arith.constant dense<0.0> : tensor<16x32xf32>
  %pb = nv_tileaa.assume %b, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f8E4M3FN, 1>
  %mb = nv_tileaa.make_memref %pb, sizes[], strides[] : !nv_tileaa.ptr<f8E4M3FN, 1> -> memref<8x32x32xf8E4M3FN, strided<[1024, 32, 1]>>
  %vb = nv_tileas.view %mb : memref<8x32x32xf8E4M3FN, strided<[1024, 32, 1]>> -> !nv_tileas.tiled_view<1x32x32xf8E4M3FN, gmem>
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %i step %one iter_args(%c = %none) -> (tensor<16x32xf32>) {
    %x = nv_tileas.tiled_load %vb[%k, %zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x32x32xf8E4M3FN, gmem> -> tensor<1x32x32xf8E4M3FN>
    %matrix = nv_tileas.view %x : tensor<1x32x32xf8E4M3FN> -> tensor<32x32xf8E4M3FN>
    %wide = arith.extf %matrix : tensor<32x32xf8E4M3FN> to tensor<32x32xf16>
    %d = nv_tileas.dot %a, %wide, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<16x32xf16>, tensor<32x32xf16>, tensor<16x32xf32> -> tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  func.return %sum : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @matrix_of_batch
// CHECK:         %x = nv_tileas.tiled_load {{.*}}atom tma_load_3d{{.*}} -> tensor<1x32x32xf8E4M3FN, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[MATRIX:.*]] = nv_tileas.view %x : {{.*}} -> tensor<32x32xf8E4M3FN, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[READ:.*]] = nv_tileas.convert_layout %[[MATRIX]] : {{.*}} -> tensor<32x32xf8E4M3FN>
// CHECK-NEXT:    %wide = arith.extf %[[READ]]

// -----

// Products of batches are not those of transposes.

func.func @batch(%a: !nv_tileaa.ptr<i8, 1>, %b: !nv_tileaa.ptr<i8, 1>, %c: !nv_tileaa.ptr<i32, 1>, %k: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pa = nv_tileaa.assume %a, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<i8, 1>
  %pb = nv_tileaa.assume %b, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<i8, 1>
  %ma = nv_tileaa.make_memref %pa, sizes[], strides[] : !nv_tileaa.ptr<i8, 1> -> memref<4x128x320xi8, strided<[40960, 320, 1]>>
  %mb = nv_tileaa.make_memref %pb, sizes[], strides[] : !nv_tileaa.ptr<i8, 1> -> memref<4x320x32xi8, strided<[10240, 32, 1]>>
  %va = nv_tileas.view %ma : memref<4x128x320xi8, strided<[40960, 320, 1]>> -> !nv_tileas.tiled_view<1x128x16xi8, gmem>
  %vb = nv_tileas.view %mb : memref<4x320x32xi8, strided<[10240, 32, 1]>> -> !nv_tileas.tiled_view<1x16x32xi8, gmem>
  %pc = nv_tileaa.assume %c, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<i32, 1>
  %mc = nv_tileaa.make_memref %pc, sizes[], strides[] : !nv_tileaa.ptr<i32, 1> -> memref<4x128x32xi32, strided<[4096, 32, 1]>>
  %to = nv_tileas.view %mc : memref<4x128x32xi32, strided<[4096, 32, 1]>> -> !nv_tileas.tiled_view<1x128x32xi32, gmem>
  %nothing = arith.constant dense<0> : tensor<1x128x32xi32>
  %sum = scf.for %i = %zero to %k step %one iter_args(%acc = %nothing) -> (tensor<1x128x32xi32>) {
    %x = nv_tileas.tiled_load %va[%zero, %zero, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x128x16xi8, gmem> -> tensor<1x128x16xi8>
    %y = nv_tileas.tiled_load %vb[%zero, %i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x16x32xi8, gmem> -> tensor<1x16x32xi8>
    %d = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom mma_i8_i8_i32>, signedness_a = #nv_tileas<signedness signed>, signedness_b = #nv_tileas<signedness signed>} : tensor<1x128x16xi8>, tensor<1x16x32xi8>, tensor<1x128x32xi32> -> tensor<1x128x32xi32>
    scf.yield %d : tensor<1x128x32xi32>
  }
  nv_tileas.tiled_store %sum, %to[%zero, %zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<1x128x32xi32>, !nv_tileas.tiled_view<1x128x32xi32, gmem>
  func.return
}

// CHECK-LABEL: func.func @batch
// CHECK:         %d = nv_tileas.dot %x, %y, %acc
// CHECK-SAME:    tensor<1x128x16xi8, #nv_tileas<space smem>>
