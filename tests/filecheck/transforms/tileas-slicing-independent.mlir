// `tileas-slicing{independent=true}`: slices of a reduction need nothing of one another.  The first
// starts from what the loop does, the others from the identity; the results are combined in order.

// RUN: tileas-opt %s -p 'tileas-slicing{independent=true}' | filecheck %s
// RUN: xdsl-opt %s -p 'tileas-slicing{independent=true},verify-dominance' -o /dev/null

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
!f = tensor<64x64xf32>
func.func @independent(%src: !view, %b: tensor<64x64xf16>, %init: !f, %least: i32) -> (!f, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r, %m = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init, %low = %least) -> (!f, i32) {
    %a = nv_tileas.tiled_load %src[%i, %c0] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xf16>
    %x = nv_tileas.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, !f -> !f
    %n = arith.index_cast %i : index to i32
    %l = arith.minsi %n, %low : i32
    scf.yield %x, %l : !f, i32
  } {sliceCount = 2 : i32}
  func.return %r, %m : !f, i32
}

// CHECK-LABEL: func.func @independent(%src: !view, %b: tensor<64x64xf16>, %init: !f, %least: i32) -> (!f, i32) {
// CHECK-NEXT:     %c0 = arith.constant 0 : index
// CHECK-NEXT:     %c1 = arith.constant 1 : index
// CHECK-NEXT:     %c64 = arith.constant 64 : index
// CHECK-NEXT:     %c32 = arith.constant 32 : index
// CHECK-NEXT:     %0 = arith.constant dense<0.000000e+00> : !f
// CHECK-NEXT:     %1 = arith.constant 2147483647 : i32
// CHECK-NEXT:     %r, %m = scf.for %i = %c0 to %c32 step %c1 iter_args(%acc = %init, %low = %least) -> (!f, i32) {
// CHECK-NEXT:       %a = nv_tileas.tiled_load %src[%i, %c0] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xf16>
// CHECK-NEXT:       %x = nv_tileas.dot %a, %b, %acc : tensor<64x64xf16>, tensor<64x64xf16>, !f -> !f
// CHECK-NEXT:       %n = arith.index_cast %i : index to i32
// CHECK-NEXT:       %l = arith.minsi %n, %low : i32
// CHECK-NEXT:       scf.yield %x, %l : !f, i32
// CHECK-NEXT:     }
// CHECK-NEXT:     %r_1, %m_1 = scf.for %i_1 = %c32 to %c64 step %c1 iter_args(%acc_1 = %0, %low_1 = %1) -> (!f, i32) {
// CHECK-NEXT:       %a_1 = nv_tileas.tiled_load %src[%i_1, %c0] {atom = #nv_tileas<atom ldg>} : !view -> tensor<64x64xf16>
// CHECK-NEXT:       %x_1 = nv_tileas.dot %a_1, %b, %acc_1 : tensor<64x64xf16>, tensor<64x64xf16>, !f -> !f
// CHECK-NEXT:       %n_1 = arith.index_cast %i_1 : index to i32
// CHECK-NEXT:       %l_1 = arith.minsi %n_1, %low_1 : i32
// CHECK-NEXT:       scf.yield %x_1, %l_1 : !f, i32
// CHECK-NEXT:     }
// CHECK-NEXT:     %r_2 = arith.addf %r, %r_1 : !f
// CHECK-NEXT:     %m_2 = arith.minsi %m, %m_1 : i32
// CHECK-NEXT:     func.return %r_2, %m_2 : !f, i32
// CHECK-NEXT:   }

// A remainder; a chain of sums and differences.

func.func @chain(%init: f32, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %init) -> (f32) {
    %y = arith.addf %x, %s : f32
    %z = arith.subf %y, %x : f32
    scf.yield %z : f32
  } {sliceCount = 2 : i32}
  func.return %r : f32
}

// CHECK-LABEL: func.func @chain(%init: f32, %x: f32) -> f32 {
// CHECK-NEXT:     %c0 = arith.constant 0 : index
// CHECK-NEXT:     %c1 = arith.constant 1 : index
// CHECK-NEXT:     %c5 = arith.constant 5 : index
// CHECK-NEXT:     %c2 = arith.constant 2 : index
// CHECK-NEXT:     %c4 = arith.constant 4 : index
// CHECK-NEXT:     %0 = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:     %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %init) -> (f32) {
// CHECK-NEXT:       %y = arith.addf %x, %s : f32
// CHECK-NEXT:       %z = arith.subf %y, %x : f32
// CHECK-NEXT:       scf.yield %z : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     %r_1 = scf.for %i_1 = %c2 to %c4 step %c1 iter_args(%s_1 = %0) -> (f32) {
// CHECK-NEXT:       %y_1 = arith.addf %x, %s_1 : f32
// CHECK-NEXT:       %z_1 = arith.subf %y_1, %x : f32
// CHECK-NEXT:       scf.yield %z_1 : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     %r_2 = scf.for %i_2 = %c4 to %c5 step %c1 iter_args(%s_2 = %0) -> (f32) {
// CHECK-NEXT:       %y_2 = arith.addf %x, %s_2 : f32
// CHECK-NEXT:       %z_2 = arith.subf %y_2, %x : f32
// CHECK-NEXT:       scf.yield %z_2 : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     %1 = arith.addf %r, %r_1 : f32
// CHECK-NEXT:     %r_3 = arith.addf %1, %r_2 : f32
// CHECK-NEXT:     func.return %r_3 : f32
// CHECK-NEXT:   }
