// `tl-layout-inference`: which thread holds each element, and which runs each iteration.

// RUN: tileas-opt %s -p tl-layout-inference | filecheck %s
// RUN: tileas-opt %s -p tl-layout-inference,tl-layout-inference | filecheck %s

// A copy is spread over the threads, four neighbours at once; the fragment lies as it is written.

func.func @copy(%A: memref<32x64xf32>, %B: memref<32x64xf32>) {
  tl.kernel threads(128) {
    %f = tl.alloc_fragment : memref<32x64xf32, #tl<space fragment>>
    tl.copy %A to %f : memref<32x64xf32> to memref<32x64xf32, #tl<space fragment>>
    tl.copy %f to %B : memref<32x64xf32, #tl<space fragment>> to memref<32x64xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @copy
// CHECK:         tl.alloc_fragment {layout = #tl.fragment<[[ROWS:affine_map<.*>]]>} :
// CHECK-NEXT:    tl.copy %A to %f {layout = #tl.fragment<[[ROWS]]>, vector = 4 : i64}
// CHECK-NEXT:    tl.copy %f to %B {layout = #tl.fragment<[[ROWS]]>, vector = 4 : i64}

// The example of the article: the second loop runs where the first column is, on threads 0, 16, 32
// and 48.

func.func @article(%A: memref<4x16xf32>, %B: memref<4xf32>) {
  tl.kernel threads(64) {
    %zero = arith.constant 0 : index
    %f = tl.alloc_fragment : memref<4x16xf32, #tl<space fragment>>
    tl.parallel (%row, %col) in (4, 16) {
      %a = memref.load %A[%row, %col] : memref<4x16xf32>
      memref.store %a, %f[%row, %col] : memref<4x16xf32, #tl<space fragment>>
    }
    tl.parallel (%g, %r) in (2, 2) {
      %row = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%g, %r)
      %x = memref.load %f[%row, %zero] : memref<4x16xf32, #tl<space fragment>>
      memref.store %x, %B[%row] : memref<4xf32>
    }
  }
  func.return
}

// CHECK-LABEL: func.func @article
// CHECK:         tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (((d0 * 16) + d1), 0)>>}
// CHECK-NEXT:    tl.parallel (%row, %col) in (4, 16) attributes {layout = #tl.fragment<affine_map<(d0, d1) -> (((d0 * 16) + d1), 0)>>}
// CHECK:         tl.parallel (%g, %r) in (2, 2) attributes {layout = #tl.fragment<affine_map<(d0, d1) -> (((d0 * 32) + (d1 * 16)), 0)>>}

// A layout that the program prescribes stays, and what touches the buffer follows it.

func.func @annotated(%A: memref<4x16xf32>) {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d1, d0)>>} : memref<4x16xf32, #tl<space fragment>>
    tl.copy %A to %f : memref<4x16xf32> to memref<4x16xf32, #tl<space fragment>>
  }
  func.return
}

// CHECK-LABEL: func.func @annotated
// CHECK:         tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d1, d0)>>}
// CHECK-NEXT:    tl.copy %A to %f {layout = #tl.fragment<affine_map<(d0, d1) -> (d1, d0)>>}

// Columns that were rows are stored along rows again: the registers go to other threads between.

func.func @transposed(%A: memref<64x64xf32>, %B: memref<64x64xf32>) {
  tl.kernel threads(128) {
    %f = tl.alloc_fragment : memref<64x64xf32, #tl<space fragment>>
    %g = tl.alloc_fragment : memref<64x64xf32, #tl<space fragment>>
    tl.copy %A to %f : memref<64x64xf32> to memref<64x64xf32, #tl<space fragment>>
    tl.parallel (%i, %j) in (64, 64) {
      %x = memref.load %f[%j, %i] : memref<64x64xf32, #tl<space fragment>>
      memref.store %x, %g[%i, %j] : memref<64x64xf32, #tl<space fragment>>
    }
    tl.copy %g to %B : memref<64x64xf32, #tl<space fragment>> to memref<64x64xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @transposed
// CHECK:         tl.copy %A to %f {{.*}}vector = 4 : i64
// CHECK:         %[[ROWS:.*]] = tl.alloc_fragment {layout =
// CHECK-NEXT:    tl.convert_layout %g to %[[ROWS]] {cost = {{[0-9]+}} : i64}
// CHECK-NEXT:    tl.copy %[[ROWS]] to %B {{.*}}vector = 4 : i64

// An element that data choose may be in any thread: the loop reads a copy in shared memory.

func.func @chosen(%A: memref<512xf32>, %P: memref<512xi32>, %B: memref<512xf32>) {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment : memref<512xf32, #tl<space fragment>>
    tl.copy %A to %f : memref<512xf32> to memref<512xf32, #tl<space fragment>>
    tl.parallel (%i) in (512) {
      %p = memref.load %P[%i] : memref<512xi32>
      %k = arith.index_cast %p : i32 to index
      %x = memref.load %f[%k] : memref<512xf32, #tl<space fragment>>
      memref.store %x, %B[%i] : memref<512xf32>
    }
  }
  func.return
}

// CHECK-LABEL: func.func @chosen
// CHECK:         %[[SHARED:.*]] = tl.alloc_shared {layout = #tl.shared<"(512):(4)">} : memref<512xf32, #tl<space shared>>
// CHECK:         tl.copy %A to %f
// CHECK-NEXT:    tl.copy %f to %[[SHARED]] {layout = #tl.fragment<
// CHECK-NEXT:    tl.parallel
// CHECK:         memref.load %[[SHARED]][%k] : memref<512xf32, #tl<space shared>>

// Registers are a constraint: an accumulator of 128 registers is copied where it lies, since its
// conversion to rows that memory likes would need as many again.

!ra = memref<128x32xf16, #tl<space shared>>
!rb = memref<32x128xf16, #tl<space shared>>
!rc = memref<128x128xf32, #tl<space fragment>>
!rd = memref<128x128xf16, #tl<space shared>>

// CHECK-LABEL: func.func @copied_accumulator
func.func @copied_accumulator(%C: memref<128x128xf16>) {
  tl.kernel threads(128) {
    %none = arith.constant 0.0 : f32
    %a = tl.alloc_shared : !ra
    %b = tl.alloc_shared : !rb
    %c = tl.alloc_fragment : !rc
    %d = tl.alloc_shared : !rd
    tl.gemm %a, %b, %c {clear} : !ra, !rb, !rc
    // CHECK-NOT: tl.convert_layout
    // CHECK: tl.copy %c to %d
    tl.copy %c to %d : !rc to !rd
    tl.copy %d to %C : !rd to memref<128x128xf16>
  }
  func.return
}
