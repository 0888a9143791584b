// `tileas-legalize-tmem-copy`: a copy that crosses tensor memory becomes the instructions that do it.

// RUN: tileas-opt %s -p tileas-legalize-tmem-copy | filecheck %s
// RUN: tileas-opt %s -p tileas-legalize-tmem-copy,tileas-legalize-tmem-copy | filecheck %s
// RUN: xdsl-opt %s -p tileas-legalize-tmem-copy,verify-dominance | filecheck %s --check-prefix=XDSL

!t = tensor<128x32xf32, #nv_tileas.linear<"(128,32):(1@lane,1@column)">>
!r = tensor<128x32xf32, #nv_tileas.linear<"(128,32):(1@thread,1@value)">>
!b = tensor<128x32xf32, #nv_tileas.blocked<"((4,32),32):((32@thread,1@value),1@thread)">>
!s = tensor<128x32xf32, #nv_tileas.shared<(128,32),(32,1),swizzle<3,4,3>>>
#any = #nv_tileas<atom unknown_copy>

// Tensor-Memory Copy Legalization, the table of (source, destination): from tensor memory to
// registers one tcgen05.ld, from registers to it one tcgen05.st.

func.func @one_instruction(%t: !t, %r: !r) {
  nv_tileas.copy %t, %r {atom = #any} : !t, !r
  nv_tileas.copy %r, %t {atom = #any} : !r, !t
  func.return
}

// CHECK-LABEL: func.func @one_instruction(%t: !t, %r: !r) {
// CHECK-NEXT:    nv_tileas.copy %t, %r {atom = #nv_tileas<atom tcgen05_ld>} : !t, !r
// CHECK-NEXT:    nv_tileas.copy %r, %t {atom = #nv_tileas<atom tcgen05_st>} : !r, !t
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// XDSL-LABEL: func.func @one_instruction(
// XDSL-NEXT:    nv_tileas.copy %t, %r {atom = #nv_tileas<atom tcgen05_ld>}
// XDSL-NEXT:    nv_tileas.copy %r, %t {atom = #nv_tileas<atom tcgen05_st>}

// Through registers of the layout that whole matrices move from and to: the lanes of a warp that
// hold a row have a piece of it each.

func.func @through_registers(%t: !t, %s: !s) {
  nv_tileas.copy %t, %s {atom = #any} : !t, !s
  nv_tileas.copy %s, %t {atom = #any} : !s, !t
  func.return
}

// CHECK-LABEL: func.func @through_registers(%t: !t, %s: !s) {
// CHECK-NEXT:    %0 = nv_tileas.alloc_tensor : tensor<128x32xf32, #nv_tileas.linear<"((8,2,2,4),(4,8)):((4@thread,1@value,16@value,32@thread),(1@thread,2@value))">>
// CHECK-NEXT:    nv_tileas.copy %t, %0 {atom = #nv_tileas<atom tcgen05_ld>} : !t, tensor<128x32xf32, #nv_tileas.linear<"((8,2,2,4),(4,8)):((4@thread,1@value,16@value,32@thread),(1@thread,2@value))">>
// CHECK-NEXT:    nv_tileas.copy %0, %s {atom = #nv_tileas<atom stsm_m88>} : tensor<128x32xf32, #nv_tileas.linear<"((8,2,2,4),(4,8)):((4@thread,1@value,16@value,32@thread),(1@thread,2@value))">>, !s
// CHECK-NEXT:    %1 = nv_tileas.alloc_tensor : tensor<128x32xf32, #nv_tileas.linear<"((8,2,2,4),(4,8)):((4@thread,1@value,16@value,32@thread),(1@thread,2@value))">>
// CHECK-NEXT:    nv_tileas.copy %s, %1 {atom = #nv_tileas<atom ldsm_m88>} : !s, tensor<128x32xf32, #nv_tileas.linear<"((8,2,2,4),(4,8)):((4@thread,1@value,16@value,32@thread),(1@thread,2@value))">>
// CHECK-NEXT:    nv_tileas.copy %1, %t {atom = #nv_tileas<atom tcgen05_st>} : tensor<128x32xf32, #nv_tileas.linear<"((8,2,2,4),(4,8)):((4@thread,1@value,16@value,32@thread),(1@thread,2@value))">>, !t
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Registers that tcgen05.st does not store from are converted first.

func.func @other_registers(%t: !t, %b: !b) {
  nv_tileas.copy %b, %t {atom = #any} : !b, !t
  func.return
}

// CHECK-LABEL: func.func @other_registers(%t: !t, %b: !b) {
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %b : !b -> !r
// CHECK-NEXT:    nv_tileas.copy %0, %t {atom = #nv_tileas<atom tcgen05_st>} : !r, !t
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 64 rows occupy 16 lanes of each quarter of tensor memory.

!t64 = tensor<64x32xf32, #nv_tileas.linear<"((16,4),32):((1@lane,32@lane),1@column)">>
!r64 = tensor<64x32xf32, #nv_tileas.linear<"((8,2,4),(2,4,4)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>

func.func @half_of_the_lanes(%t: !t64, %r: !r64) {
  nv_tileas.copy %t, %r {atom = #any} : !t64, !r64
  func.return
}

// CHECK-LABEL: func.func @half_of_the_lanes(%t: !t64, %r: !r64) {
// CHECK-NEXT:    nv_tileas.copy %t, %r {atom = #nv_tileas<atom tcgen05_ld>} : !t64, !r64
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// What does not cross tensor memory stays, and so does what the tensor core copies by itself.

func.func @others(%g: memref<128x32xf32>, %t: !t, %s: !s, %r: !r) {
  nv_tileas.copy %r, %s {atom = #any} : !r, !s
  nv_tileas.copy %g, %s {atom = #any} : memref<128x32xf32>, !s
  nv_tileas.copy %s, %t {atom = #nv_tileas<atom tcgen05_cp>} : !s, !t
  func.return
}

// CHECK-LABEL: func.func @others(%g: memref<128x32xf32>, %t: !t, %s: !s, %r: !r) {
// CHECK-NEXT:    nv_tileas.copy %r, %s {atom = #any} : !r, !s
// CHECK-NEXT:    nv_tileas.copy %g, %s {atom = #any} : memref<128x32xf32>, !s
// CHECK-NEXT:    nv_tileas.copy %s, %t {atom = #nv_tileas<atom tcgen05_cp>} : !s, !t
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
