// `tileas-slicing`: a loop with a `sliceCount` becomes so many loops, each over a part of its range
// and each starting from what the one before it carried.

// RUN: tileas-opt %s -p tileas-slicing | filecheck %s
// RUN: tileas-opt %s -p tileas-slicing,tileas-slicing | filecheck %s
// RUN: xdsl-opt %s -p tileas-slicing,verify-dominance | filecheck %s

// Layout and Buffer Family, "Input / Output Shape" of Slicing.  Completed: the function, the bounds,
// atoms, the second coordinate, the operands of the product, and the accumulator, which the second
// loop takes from the first one.

func.func @shape(%src: !nv_tileas.tiled_view<64x64xf16, gmem>, %b: tensor<64x64xf16>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %a = nv_tileas.tiled_load %src[%i, %c0] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
    %x = nv_tileas.wgmma %a, %b, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %x : tensor<64x64xf32>
  } {sliceCount = 2 : i32}
  func.return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @shape(%src: !nv_tileas.tiled_view<64x64xf16, gmem>, %b: tensor<64x64xf16>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c64 = arith.constant 64 : index
// CHECK-NEXT:    %c32 = arith.constant 32 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %c32 step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
// CHECK-NEXT:      %a = nv_tileas.tiled_load %src[%i, %c0] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// CHECK-NEXT:      %x = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      scf.yield %x : tensor<64x64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1 = scf.for %i_1 = %c32 to %c64 step %c1 iter_args(%acc_1 = %r) -> (tensor<64x64xf32>) {
// CHECK-NEXT:      %a_1 = nv_tileas.tiled_load %src[%i_1, %c0] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// CHECK-NEXT:      %x_1 = nv_tileas.dot %a_1, %b, %acc_1 {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK-NEXT:      scf.yield %x_1 : tensor<64x64xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r_1 : tensor<64x64xf32>
// CHECK-NEXT:  }

// A loop without the attribute stays, and so does the attribute where there is no loop to slice.

func.func @others(%n: index, %z: index, %p: i1) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (index) {
    %x = arith.addi %s, %i : index
    scf.yield %x : index
  } {slices = 2 : i32}
  scf.if %p {
    "test.op"() : () -> ()
  } {sliceCount = 2 : i32}
  "test.op"() {sliceCount = "none"} : () -> ()
  func.return %r : index
}

// CHECK-LABEL: func.func @others(%n: index, %z: index, %p: i1) -> index {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (index) {
// CHECK-NEXT:      %x = arith.addi %s, %i : index
// CHECK-NEXT:      scf.yield %x : index
// CHECK-NEXT:    } {slices = 2 : i32}
// CHECK-NEXT:    scf.if %p {
// CHECK-NEXT:      "test.op"() : () -> ()
// CHECK-NEXT:    }{sliceCount = 2 : i32}
// CHECK-NEXT:    "test.op"() {sliceCount = "none"} : () -> ()
// CHECK-NEXT:    func.return %r : index
// CHECK-NEXT:  }

// Ten iterations in steps of three: four equal shares, then a loop for the two that are left.  Other
// attributes stay.

func.func @remainder(%z: i32) -> i32 {
  %c-4 = arith.constant -4 : i32
  %c3 = arith.constant 3 : i32
  %c25 = arith.constant 25 : i32
  %r = scf.for %i = %c-4 to %c25 step %c3 iter_args(%s = %z) -> (i32) : i32 {
    %x = arith.muli %s, %i : i32
    scf.yield %x : i32
  } {sliceCount = 4 : i64, tag}
  func.return %r : i32
}

// CHECK-LABEL: func.func @remainder(%z: i32) -> i32 {
// CHECK-NEXT:    %c-4 = arith.constant -4 : i32
// CHECK-NEXT:    %c3 = arith.constant 3 : i32
// CHECK-NEXT:    %c25 = arith.constant 25 : i32
// CHECK-NEXT:    %c2 = arith.constant 2 : i32
// CHECK-NEXT:    %c8 = arith.constant 8 : i32
// CHECK-NEXT:    %c14 = arith.constant 14 : i32
// CHECK-NEXT:    %c20 = arith.constant 20 : i32
// CHECK-NEXT:    %r = scf.for %i = %c-4 to %c2 step %c3 iter_args(%s = %z) -> (i32) : i32 {
// CHECK-NEXT:      %x = arith.muli %s, %i : i32
// CHECK-NEXT:      scf.yield %x : i32
// CHECK-NEXT:    } {tag}
// CHECK-NEXT:    %r_1 = scf.for %i_1 = %c2 to %c8 step %c3 iter_args(%s_1 = %r) -> (i32) : i32 {
// CHECK-NEXT:      %x_1 = arith.muli %s_1, %i_1 : i32
// CHECK-NEXT:      scf.yield %x_1 : i32
// CHECK-NEXT:    } {tag}
// CHECK-NEXT:    %r_2 = scf.for %i_2 = %c8 to %c14 step %c3 iter_args(%s_2 = %r_1) -> (i32) : i32 {
// CHECK-NEXT:      %x_2 = arith.muli %s_2, %i_2 : i32
// CHECK-NEXT:      scf.yield %x_2 : i32
// CHECK-NEXT:    } {tag}
// CHECK-NEXT:    %r_3 = scf.for %i_3 = %c14 to %c20 step %c3 iter_args(%s_3 = %r_2) -> (i32) : i32 {
// CHECK-NEXT:      %x_3 = arith.muli %s_3, %i_3 : i32
// CHECK-NEXT:      scf.yield %x_3 : i32
// CHECK-NEXT:    } {tag}
// CHECK-NEXT:    %r_4 = scf.for %i_4 = %c20 to %c25 step %c3 iter_args(%s_4 = %r_3) -> (i32) : i32 {
// CHECK-NEXT:      %x_4 = arith.muli %s_4, %i_4 : i32
// CHECK-NEXT:      scf.yield %x_4 : i32
// CHECK-NEXT:    } {tag}
// CHECK-NEXT:    func.return %r_4 : i32
// CHECK-NEXT:  }

// One slice is the loop itself.

func.func @one(%n: index, %z: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (index) {
    %x = arith.addi %s, %i : index
    scf.yield %x : index
  } {sliceCount = 1 : i32}
  func.return %r : index
}

// CHECK-LABEL: func.func @one(%n: index, %z: index) -> index {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (index) {
// CHECK-NEXT:      %x = arith.addi %s, %i : index
// CHECK-NEXT:      scf.yield %x : index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : index
// CHECK-NEXT:  }

// An end that is not known: the shares are computed, and there is always a loop for the rest.

func.func @dynamic(%n: index, %z: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (index) {
    %x = arith.muli %s, %i : index
    scf.yield %x : index
  } {sliceCount = 2 : i32}
  func.return %r : index
}

// CHECK-LABEL: func.func @dynamic(%n: index, %z: index) -> index {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %0 = arith.maxsi %n, %c0 : index
// CHECK-NEXT:    %1 = arith.subi %0, %c0 : index
// CHECK-NEXT:    %2 = arith.constant 2 : index
// CHECK-NEXT:    %3 = arith.divui %1, %2 : index
// CHECK-NEXT:    %4 = arith.addi %c0, %3 : index
// CHECK-NEXT:    %5 = arith.addi %4, %3 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %4 step %c1 iter_args(%s = %z) -> (index) {
// CHECK-NEXT:      %x = arith.muli %s, %i : index
// CHECK-NEXT:      scf.yield %x : index
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1 = scf.for %i_1 = %4 to %5 step %c1 iter_args(%s_1 = %r) -> (index) {
// CHECK-NEXT:      %x_1 = arith.muli %s_1, %i_1 : index
// CHECK-NEXT:      scf.yield %x_1 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_2 = scf.for %i_2 = %5 to %n step %c1 iter_args(%s_2 = %r_1) -> (index) {
// CHECK-NEXT:      %x_2 = arith.muli %s_2, %i_2 : index
// CHECK-NEXT:      scf.yield %x_2 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r_2 : index
// CHECK-NEXT:  }

// A step that is not known either: the last share may reach past the end, then it ends there.

func.func @dynamic_step(%n: index, %k: index, %z: index) -> index {
  %c0 = arith.constant 0 : index
  %r = scf.for %i = %c0 to %n step %k iter_args(%s = %z) -> (index) {
    %x = arith.muli %s, %i : index
    scf.yield %x : index
  } {sliceCount = 2 : i32}
  func.return %r : index
}

// CHECK-LABEL: func.func @dynamic_step(%n: index, %k: index, %z: index) -> index {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = arith.maxsi %n, %c0 : index
// CHECK-NEXT:    %1 = arith.subi %0, %c0 : index
// CHECK-NEXT:    %2 = arith.constant 2 : index
// CHECK-NEXT:    %3 = arith.ceildivui %1, %k : index
// CHECK-NEXT:    %4 = arith.divui %3, %2 : index
// CHECK-NEXT:    %5 = arith.muli %4, %k : index
// CHECK-NEXT:    %6 = arith.addi %c0, %5 : index
// CHECK-NEXT:    %7 = arith.addi %6, %5 : index
// CHECK-NEXT:    %8 = arith.muli %4, %2 : index
// CHECK-NEXT:    %9 = arith.cmpi eq, %8, %3 : index
// CHECK-NEXT:    %10 = arith.select %9, %n, %7 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %6 step %k iter_args(%s = %z) -> (index) {
// CHECK-NEXT:      %x = arith.muli %s, %i : index
// CHECK-NEXT:      scf.yield %x : index
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1 = scf.for %i_1 = %6 to %10 step %k iter_args(%s_1 = %r) -> (index) {
// CHECK-NEXT:      %x_1 = arith.muli %s_1, %i_1 : index
// CHECK-NEXT:      scf.yield %x_1 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_2 = scf.for %i_2 = %10 to %n step %k iter_args(%s_2 = %r_1) -> (index) {
// CHECK-NEXT:      %x_2 = arith.muli %s_2, %i_2 : index
// CHECK-NEXT:      scf.yield %x_2 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r_2 : index
// CHECK-NEXT:  }

// A lower bound that is an affine function of the induction variables around it.

func.func @affine(%n: index, %z: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %z) -> (index) {
    %first = affine.apply affine_map<(d0) -> (d0 * 8 + 1)> (%i)
    %t = scf.for %j = %first to %n step %c1 iter_args(%u = %s) -> (index) {
      %x = arith.muli %u, %j : index
      scf.yield %x : index
    } {sliceCount = 2 : i32}
    scf.yield %t : index
  }
  func.return %r : index
}

// CHECK-LABEL: func.func @affine(%n: index, %z: index) -> index {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %z) -> (index) {
// CHECK-NEXT:      %first = affine.apply affine_map<(d0) -> (((d0 * 8) + 1))> (%i)
// CHECK-NEXT:      %0 = arith.maxsi %n, %first : index
// CHECK-NEXT:      %1 = arith.subi %0, %first : index
// CHECK-NEXT:      %2 = arith.constant 2 : index
// CHECK-NEXT:      %3 = arith.divui %1, %2 : index
// CHECK-NEXT:      %4 = arith.addi %first, %3 : index
// CHECK-NEXT:      %5 = arith.addi %4, %3 : index
// CHECK-NEXT:      %t = scf.for %j = %first to %4 step %c1 iter_args(%u = %s) -> (index) {
// CHECK-NEXT:        %x = arith.muli %u, %j : index
// CHECK-NEXT:        scf.yield %x : index
// CHECK-NEXT:      }
// CHECK-NEXT:      %t_1 = scf.for %j_1 = %4 to %5 step %c1 iter_args(%u_1 = %t) -> (index) {
// CHECK-NEXT:        %x_1 = arith.muli %u_1, %j_1 : index
// CHECK-NEXT:        scf.yield %x_1 : index
// CHECK-NEXT:      }
// CHECK-NEXT:      %t_2 = scf.for %j_2 = %5 to %n step %c1 iter_args(%u_2 = %t_1) -> (index) {
// CHECK-NEXT:        %x_2 = arith.muli %u_2, %j_2 : index
// CHECK-NEXT:        scf.yield %x_2 : index
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %t_2 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : index
// CHECK-NEXT:  }

// A sliced loop in a sliced loop: four copies of the inner body.

func.func @nested(%z: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %z) -> (index) {
    %t = scf.for %j = %c0 to %c6 step %c1 iter_args(%u = %s) -> (index) {
      %x = arith.muli %u, %j : index
      scf.yield %x : index
    } {sliceCount = 2 : i32}
    scf.yield %t : index
  } {sliceCount = 2 : i32}
  func.return %r : index
}

// CHECK-LABEL: func.func @nested(%z: index) -> index {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c6 = arith.constant 6 : index
// CHECK-NEXT:    %c2 = arith.constant 2 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %z) -> (index) {
// CHECK-NEXT:      %c3 = arith.constant 3 : index
// CHECK-NEXT:      %t = scf.for %j = %c0 to %c3 step %c1 iter_args(%u = %s) -> (index) {
// CHECK-NEXT:        %x = arith.muli %u, %j : index
// CHECK-NEXT:        scf.yield %x : index
// CHECK-NEXT:      }
// CHECK-NEXT:      %t_1 = scf.for %j_1 = %c3 to %c6 step %c1 iter_args(%u_1 = %t) -> (index) {
// CHECK-NEXT:        %x_1 = arith.muli %u_1, %j_1 : index
// CHECK-NEXT:        scf.yield %x_1 : index
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %t_1 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1 = scf.for %i_1 = %c2 to %c4 step %c1 iter_args(%s_1 = %r) -> (index) {
// CHECK-NEXT:      %c3_1 = arith.constant 3 : index
// CHECK-NEXT:      %t_2 = scf.for %j_2 = %c0 to %c3_1 step %c1 iter_args(%u_2 = %s_1) -> (index) {
// CHECK-NEXT:        %x_2 = arith.muli %u_2, %j_2 : index
// CHECK-NEXT:        scf.yield %x_2 : index
// CHECK-NEXT:      }
// CHECK-NEXT:      %t_3 = scf.for %j_3 = %c3_1 to %c6 step %c1 iter_args(%u_3 = %t_2) -> (index) {
// CHECK-NEXT:        %x_3 = arith.muli %u_3, %j_3 : index
// CHECK-NEXT:        scf.yield %x_3 : index
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %t_3 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r_1 : index
// CHECK-NEXT:  }

// Insertions fill what the slice before them left.  In a slice of one iteration their place is known.

func.func @insert(%t: tensor<6x8xf32>, %x: tensor<1x8xf32>) -> tensor<6x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %t) -> (tensor<6x8xf32>) {
    %row = arith.muli %i, %c2 : index
    %next = arith.addi %row, %c1 : index
    %p = nv_tileas.extract_slice %s[%row, 0][1, 8][1, 1] : tensor<6x8xf32> -> tensor<1x8xf32>
    %q = arith.addf %p, %x : tensor<1x8xf32>
    %n = nv_tileas.insert_slice %q into %s[%next, 0][1, 8][1, 1] : tensor<1x8xf32> into tensor<6x8xf32>
    scf.yield %n : tensor<6x8xf32>
  } {sliceCount = 3 : i32}
  func.return %r : tensor<6x8xf32>
}

// CHECK-LABEL: func.func @insert(%t: tensor<6x8xf32>, %x: tensor<1x8xf32>) -> tensor<6x8xf32> {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c2 = arith.constant 2 : index
// CHECK-NEXT:    %c3 = arith.constant 3 : index
// CHECK-NEXT:    %c1_1 = arith.constant 1 : index
// CHECK-NEXT:    %c2_1 = arith.constant 2 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %c1_1 step %c1 iter_args(%s = %t) -> (tensor<6x8xf32>) {
// CHECK-NEXT:      %row = arith.muli %i, %c2 : index
// CHECK-NEXT:      %next = arith.addi %row, %c1 : index
// CHECK-NEXT:      %p = nv_tileas.extract_slice %s[0, 0][1, 8][1, 1] : tensor<6x8xf32> -> tensor<1x8xf32>
// CHECK-NEXT:      %q = arith.addf %p, %x : tensor<1x8xf32>
// CHECK-NEXT:      %n = nv_tileas.insert_slice %q into %s[1, 0][1, 8][1, 1] : tensor<1x8xf32> into tensor<6x8xf32>
// CHECK-NEXT:      scf.yield %n : tensor<6x8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1 = scf.for %i_1 = %c1_1 to %c2_1 step %c1 iter_args(%s_1 = %r) -> (tensor<6x8xf32>) {
// CHECK-NEXT:      %row_1 = arith.muli %i_1, %c2 : index
// CHECK-NEXT:      %next_1 = arith.addi %row_1, %c1 : index
// CHECK-NEXT:      %p_1 = nv_tileas.extract_slice %s_1[2, 0][1, 8][1, 1] : tensor<6x8xf32> -> tensor<1x8xf32>
// CHECK-NEXT:      %q_1 = arith.addf %p_1, %x : tensor<1x8xf32>
// CHECK-NEXT:      %n_1 = nv_tileas.insert_slice %q_1 into %s_1[3, 0][1, 8][1, 1] : tensor<1x8xf32> into tensor<6x8xf32>
// CHECK-NEXT:      scf.yield %n_1 : tensor<6x8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_2 = scf.for %i_2 = %c2_1 to %c3 step %c1 iter_args(%s_2 = %r_1) -> (tensor<6x8xf32>) {
// CHECK-NEXT:      %row_2 = arith.muli %i_2, %c2 : index
// CHECK-NEXT:      %next_2 = arith.addi %row_2, %c1 : index
// CHECK-NEXT:      %p_2 = nv_tileas.extract_slice %s_2[4, 0][1, 8][1, 1] : tensor<6x8xf32> -> tensor<1x8xf32>
// CHECK-NEXT:      %q_2 = arith.addf %p_2, %x : tensor<1x8xf32>
// CHECK-NEXT:      %n_2 = nv_tileas.insert_slice %q_2 into %s_2[5, 0][1, 8][1, 1] : tensor<1x8xf32> into tensor<6x8xf32>
// CHECK-NEXT:      scf.yield %n_2 : tensor<6x8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r_2 : tensor<6x8xf32>
// CHECK-NEXT:  }

// Not: a place that is outside of the tile, which is an error only if it is ever reached; one that
// depends on more than the induction variable; slices of two iterations.

func.func @insert_dynamic(%t: tensor<4x8xf32>, %x: tensor<1x8xf32>, %k: index) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %t) -> (tensor<4x8xf32>) {
    %far = arith.addi %i, %c3 : index
    %free = arith.addi %i, %k : index
    %p = nv_tileas.extract_slice %s[%far, 0][1, 8][1, 1] : tensor<4x8xf32> -> tensor<1x8xf32>
    %n = nv_tileas.insert_slice %p into %s[%free, 0][1, 8][1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
    scf.yield %n : tensor<4x8xf32>
  } {sliceCount = 2 : i32}
  %q = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %r) -> (tensor<4x8xf32>) {
    %n = nv_tileas.insert_slice %x into %s[%i, 0][1, 8][1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
    scf.yield %n : tensor<4x8xf32>
  } {sliceCount = 2 : i32}
  func.return %q : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @insert_dynamic(%t: tensor<4x8xf32>, %x: tensor<1x8xf32>, %k: index) -> tensor<4x8xf32> {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c2 = arith.constant 2 : index
// CHECK-NEXT:    %c3 = arith.constant 3 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c1_1 = arith.constant 1 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %c1_1 step %c1 iter_args(%s = %t) -> (tensor<4x8xf32>) {
// CHECK-NEXT:      %far = arith.addi %i, %c3 : index
// CHECK-NEXT:      %free = arith.addi %i, %k : index
// CHECK-NEXT:      %p = nv_tileas.extract_slice %s[3, 0][1, 8][1, 1] : tensor<4x8xf32> -> tensor<1x8xf32>
// CHECK-NEXT:      %n = nv_tileas.insert_slice %p into %s[%free, 0][1, 8][1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
// CHECK-NEXT:      scf.yield %n : tensor<4x8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1 = scf.for %i_1 = %c1_1 to %c2 step %c1 iter_args(%s_1 = %r) -> (tensor<4x8xf32>) {
// CHECK-NEXT:      %far_1 = arith.addi %i_1, %c3 : index
// CHECK-NEXT:      %free_1 = arith.addi %i_1, %k : index
// CHECK-NEXT:      %p_1 = nv_tileas.extract_slice %s_1[%far_1, 0][1, 8][1, 1] : tensor<4x8xf32> -> tensor<1x8xf32>
// CHECK-NEXT:      %n_1 = nv_tileas.insert_slice %p_1 into %s_1[%free_1, 0][1, 8][1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
// CHECK-NEXT:      scf.yield %n_1 : tensor<4x8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %c2_1 = arith.constant 2 : index
// CHECK-NEXT:    %q = scf.for %i_2 = %c0 to %c2_1 step %c1 iter_args(%s_2 = %r_1) -> (tensor<4x8xf32>) {
// CHECK-NEXT:      %n_2 = nv_tileas.insert_slice %x into %s_2[%i_2, 0][1, 8][1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
// CHECK-NEXT:      scf.yield %n_2 : tensor<4x8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %q_1 = scf.for %i_3 = %c2_1 to %c4 step %c1 iter_args(%s_3 = %q) -> (tensor<4x8xf32>) {
// CHECK-NEXT:      %n_3 = nv_tileas.insert_slice %x into %s_3[%i_3, 0][1, 8][1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
// CHECK-NEXT:      scf.yield %n_3 : tensor<4x8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %q_1 : tensor<4x8xf32>
// CHECK-NEXT:  }

// `scf.while` that counts.  A slice hands out all that the loop carries, for the next one to go on.

func.func @while(%z: index, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %r = scf.while (%s = %z, %i = %c0) : (index, index) -> index {
    %end = arith.constant 10 : index
    %more = arith.cmpi slt, %i, %end : index
    scf.condition(%more) %i : index
  } do {
  ^bb0(%j: index):
    %x = arith.muli %j, %n : index
    %next = arith.addi %c2, %j : index
    scf.yield %x, %next : index, index
  } attributes {sliceCount = 2 : i32}
  func.return %r : index
}

// CHECK-LABEL: func.func @while(%z: index, %n: index) -> index {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c2 = arith.constant 2 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %c8 = arith.constant 8 : index
// CHECK-NEXT:    %r, %0 = scf.while (%s = %z, %i = %c0) : (index, index) -> (index, index) {
// CHECK-NEXT:      %end = arith.constant 10 : index
// CHECK-NEXT:      %more = arith.cmpi slt, %i, %c4 : index
// CHECK-NEXT:      scf.condition(%more) %i, %s : index, index
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%j: index, %1: index):
// CHECK-NEXT:      %x = arith.muli %j, %n : index
// CHECK-NEXT:      %next = arith.addi %c2, %j : index
// CHECK-NEXT:      scf.yield %x, %next : index, index
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1, %2 = scf.while (%s_1 = %0, %i_1 = %r) : (index, index) -> (index, index) {
// CHECK-NEXT:      %end_1 = arith.constant 10 : index
// CHECK-NEXT:      %more_1 = arith.cmpi slt, %i_1, %c8 : index
// CHECK-NEXT:      scf.condition(%more_1) %i_1, %s_1 : index, index
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%j_1: index, %3: index):
// CHECK-NEXT:      %x_1 = arith.muli %j_1, %n : index
// CHECK-NEXT:      %next_1 = arith.addi %c2, %j_1 : index
// CHECK-NEXT:      scf.yield %x_1, %next_1 : index, index
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_2 = scf.while (%s_2 = %2, %i_2 = %r_1) : (index, index) -> index {
// CHECK-NEXT:      %end_2 = arith.constant 10 : index
// CHECK-NEXT:      %more_2 = arith.cmpi slt, %i_2, %end_2 : index
// CHECK-NEXT:      scf.condition(%more_2) %i_2 : index
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%j_2: index):
// CHECK-NEXT:      %x_2 = arith.muli %j_2, %n : index
// CHECK-NEXT:      %next_2 = arith.addi %c2, %j_2 : index
// CHECK-NEXT:      scf.yield %x_2, %next_2 : index, index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r_2 : index
// CHECK-NEXT:  }

func.func @while_dynamic(%z: i32, %n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %r, %e = scf.while (%s = %z, %i = %c0) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi sgt, %n, %i : i32
    scf.condition(%more) %s, %i : i32, i32
  } do {
  ^bb0(%t: i32, %j: i32):
    %x = arith.muli %t, %j : i32
    %next = arith.addi %j, %c2 : i32
    scf.yield %x, %next : i32, i32
  } attributes {sliceCount = 2 : i32}
  func.return %r : i32
}

// CHECK-LABEL: func.func @while_dynamic(%z: i32, %n: i32) -> i32 {
// CHECK-NEXT:    %c0 = arith.constant 0 : i32
// CHECK-NEXT:    %c2 = arith.constant 2 : i32
// CHECK-NEXT:    %0 = arith.maxsi %n, %c0 : i32
// CHECK-NEXT:    %1 = arith.subi %0, %c0 : i32
// CHECK-NEXT:    %2 = arith.constant 2 : i32
// CHECK-NEXT:    %3 = arith.constant 2 : i32
// CHECK-NEXT:    %4 = arith.ceildivui %1, %3 : i32
// CHECK-NEXT:    %5 = arith.divui %4, %2 : i32
// CHECK-NEXT:    %6 = arith.muli %5, %3 : i32
// CHECK-NEXT:    %7 = arith.addi %c0, %6 : i32
// CHECK-NEXT:    %8 = arith.addi %7, %6 : i32
// CHECK-NEXT:    %9 = arith.muli %5, %2 : i32
// CHECK-NEXT:    %10 = arith.cmpi eq, %9, %4 : i32
// CHECK-NEXT:    %11 = arith.select %10, %n, %8 : i32
// CHECK-NEXT:    %r, %e = scf.while (%s = %z, %i = %c0) : (i32, i32) -> (i32, i32) {
// CHECK-NEXT:      %more = arith.cmpi sgt, %7, %i : i32
// CHECK-NEXT:      scf.condition(%more) %s, %i : i32, i32
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%t: i32, %j: i32):
// CHECK-NEXT:      %x = arith.muli %t, %j : i32
// CHECK-NEXT:      %next = arith.addi %j, %c2 : i32
// CHECK-NEXT:      scf.yield %x, %next : i32, i32
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1, %e_1 = scf.while (%s_1 = %r, %i_1 = %e) : (i32, i32) -> (i32, i32) {
// CHECK-NEXT:      %more_1 = arith.cmpi sgt, %11, %i_1 : i32
// CHECK-NEXT:      scf.condition(%more_1) %s_1, %i_1 : i32, i32
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%t_1: i32, %j_1: i32):
// CHECK-NEXT:      %x_1 = arith.muli %t_1, %j_1 : i32
// CHECK-NEXT:      %next_1 = arith.addi %j_1, %c2 : i32
// CHECK-NEXT:      scf.yield %x_1, %next_1 : i32, i32
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_2, %e_2 = scf.while (%s_2 = %r_1, %i_2 = %e_1) : (i32, i32) -> (i32, i32) {
// CHECK-NEXT:      %more_2 = arith.cmpi sgt, %n, %i_2 : i32
// CHECK-NEXT:      scf.condition(%more_2) %s_2, %i_2 : i32, i32
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%t_2: i32, %j_2: i32):
// CHECK-NEXT:      %x_2 = arith.muli %t_2, %j_2 : i32
// CHECK-NEXT:      %next_2 = arith.addi %j_2, %c2 : i32
// CHECK-NEXT:      scf.yield %x_2, %next_2 : i32, i32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r_2 : i32
// CHECK-NEXT:  }

// Agents: tokens, iterators and accumulators go on from slice to slice.  The attribute may be on the
// loop, on an operation with the body of a stage in it, or on `agent_switch`, which speaks for all loops
// of its agents that carry a pipeline's token.

func.func @agents(%slots: !nv_tileas.tiled_view<2x4096xf16, smem>, %n: index, %src: !nv_tileas.tiled_view<64x64xf16, gmem>, %init: tensor<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %p0, %k0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x4096xf16, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false} agent 0 {
    %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !nv_tileas.async.pipeline.producer_token -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
    %pn, %in = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %p0, %it = %i0) -> (!nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>) {
      %p1 = nv_tileas.async.pipeline.produce_one %p, %it {producer_types = [tensor<64x64xf16>]} : (!nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>) -> !nv_tileas.async.pipeline.producer_token {
      ^bb0(%stage: tensor<64x64xf16>):
        %tile = nv_tileas.tiled_load %src[%i, %c0] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
        nv_tileas.async.pipeline.yield %tile : tensor<64x64xf16>
      }
      %i1 = nv_tileas.async.pipeline.inc_iter %it : !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem> -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
      scf.yield %p1, %i1 : !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
    } {sliceCount = 2 : i32}
  }, agent 1 {
    %j0 = nv_tileas.async.pipeline.create_iterator %k0 : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
    %kn, %jn, %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%k = %k0, %j = %j0, %acc = %init) -> (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>, tensor<64x64xf16>) {
      %k1, %after = nv_tileas.async.pipeline.consume_one %k, %j {consumer_idx = 0 : i32, consumer_types = [tensor<64x64xf16>], sliceCount = 2 : i32} : (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>) -> (!nv_tileas.async.pipeline.consumer_token, tensor<64x64xf16>) {
      ^bb0(%stage: tensor<64x64xf16>):
        %x = arith.addf %stage, %acc : tensor<64x64xf16>
        nv_tileas.async.pipeline.yield %x : tensor<64x64xf16>
      }
      %j1 = nv_tileas.async.pipeline.inc_iter %j : !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem> -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
      scf.yield %k1, %j1, %after : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>, tensor<64x64xf16>
    }
  }
  func.return
}

// CHECK-LABEL: func.func @agents(%slots: !nv_tileas.tiled_view<2x4096xf16, smem>, %n: index, %src: !nv_tileas.tiled_view<64x64xf16, gmem>, %init: tensor<64x64xf16>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %p0, %k0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x4096xf16, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false} agent 0 {
// CHECK-NEXT:      %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !nv_tileas.async.pipeline.producer_token -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
// CHECK-NEXT:      %c2 = arith.constant 2 : index
// CHECK-NEXT:      %pn, %in = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %p0, %it = %i0) -> (!nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>) {
// CHECK-NEXT:        %p1 = nv_tileas.async.pipeline.produce_one %p, %it {producer_types = [tensor<64x64xf16>]} : (!nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>) -> !nv_tileas.async.pipeline.producer_token {
// CHECK-NEXT:        ^bb0(%stage: tensor<64x64xf16>):
// CHECK-NEXT:          %tile = nv_tileas.tiled_load %src[%i, %c0] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// CHECK-NEXT:          nv_tileas.async.pipeline.yield %tile : tensor<64x64xf16>
// CHECK-NEXT:        }
// CHECK-NEXT:        %i1 = nv_tileas.async.pipeline.inc_iter %it : !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem> -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
// CHECK-NEXT:        scf.yield %p1, %i1 : !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
// CHECK-NEXT:      }
// CHECK-NEXT:      %pn_1, %in_1 = scf.for %i_1 = %c2 to %c4 step %c1 iter_args(%p_1 = %pn, %it_1 = %in) -> (!nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>) {
// CHECK-NEXT:        %p1_1 = nv_tileas.async.pipeline.produce_one %p_1, %it_1 {producer_types = [tensor<64x64xf16>]} : (!nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>) -> !nv_tileas.async.pipeline.producer_token {
// CHECK-NEXT:        ^bb0(%stage_1: tensor<64x64xf16>):
// CHECK-NEXT:          %tile_1 = nv_tileas.tiled_load %src[%i_1, %c0] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
// CHECK-NEXT:          nv_tileas.async.pipeline.yield %tile_1 : tensor<64x64xf16>
// CHECK-NEXT:        }
// CHECK-NEXT:        %i1_1 = nv_tileas.async.pipeline.inc_iter %it_1 : !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem> -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
// CHECK-NEXT:        scf.yield %p1_1, %i1_1 : !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
// CHECK-NEXT:      }
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %j0 = nv_tileas.async.pipeline.create_iterator %k0 : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
// CHECK-NEXT:      %c2_1 = arith.constant 2 : index
// CHECK-NEXT:      %kn, %jn, %sum = scf.for %i_2 = %c0 to %c2_1 step %c1 iter_args(%k = %k0, %j = %j0, %acc = %init) -> (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>, tensor<64x64xf16>) {
// CHECK-NEXT:        %k1, %after = nv_tileas.async.pipeline.consume_one %k, %j {consumer_idx = 0 : i32, consumer_types = [tensor<64x64xf16>]} : (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>) -> (!nv_tileas.async.pipeline.consumer_token, tensor<64x64xf16>) {
// CHECK-NEXT:        ^bb0(%stage_2: tensor<64x64xf16>):
// CHECK-NEXT:          %x = arith.addf %stage_2, %acc : tensor<64x64xf16>
// CHECK-NEXT:          nv_tileas.async.pipeline.yield %x : tensor<64x64xf16>
// CHECK-NEXT:        }
// CHECK-NEXT:        %j1 = nv_tileas.async.pipeline.inc_iter %j : !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem> -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
// CHECK-NEXT:        scf.yield %k1, %j1, %after : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>, tensor<64x64xf16>
// CHECK-NEXT:      }
// CHECK-NEXT:      %kn_1, %jn_1, %sum_1 = scf.for %i_3 = %c2_1 to %c4 step %c1 iter_args(%k_1 = %kn, %j_1 = %jn, %acc_1 = %sum) -> (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>, tensor<64x64xf16>) {
// CHECK-NEXT:        %k1_1, %after_1 = nv_tileas.async.pipeline.consume_one %k_1, %j_1 {consumer_idx = 0 : i32, consumer_types = [tensor<64x64xf16>]} : (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>) -> (!nv_tileas.async.pipeline.consumer_token, tensor<64x64xf16>) {
// CHECK-NEXT:        ^bb0(%stage_3: tensor<64x64xf16>):
// CHECK-NEXT:          %x_1 = arith.addf %stage_3, %acc_1 : tensor<64x64xf16>
// CHECK-NEXT:          nv_tileas.async.pipeline.yield %x_1 : tensor<64x64xf16>
// CHECK-NEXT:        }
// CHECK-NEXT:        %j1_1 = nv_tileas.async.pipeline.inc_iter %j_1 : !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem> -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>
// CHECK-NEXT:        scf.yield %k1_1, %j1_1, %after_1 : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>>, 2, smem>, tensor<64x64xf16>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

func.func @switch(%slots: !nv_tileas.tiled_view<2x4096xf16, smem>, %init: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %p0, %k0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x4096xf16, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false, sliceCount = 2 : i32} agent 0 {
    %pn = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %p0) -> (!nv_tileas.async.pipeline.producer_token) {
      scf.yield %p : !nv_tileas.async.pipeline.producer_token
    }
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %init) -> (index) {
      scf.yield %i : index
    }
  }, agent 1 {
    %kn = scf.for %i = %c0 to %c4 step %c1 iter_args(%k = %k0) -> (!nv_tileas.async.pipeline.consumer_token) {
      scf.yield %k : !nv_tileas.async.pipeline.consumer_token
    } {sliceCount = 2 : i32}
  }
  func.return
}

// CHECK-LABEL: func.func @switch(%slots: !nv_tileas.tiled_view<2x4096xf16, smem>, %init: index) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c4 = arith.constant 4 : index
// CHECK-NEXT:    %p0, %k0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x4096xf16, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false} agent 0 {
// CHECK-NEXT:      %c2 = arith.constant 2 : index
// CHECK-NEXT:      %pn = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %p0) -> (!nv_tileas.async.pipeline.producer_token) {
// CHECK-NEXT:        scf.yield %p : !nv_tileas.async.pipeline.producer_token
// CHECK-NEXT:      }
// CHECK-NEXT:      %pn_1 = scf.for %i_1 = %c2 to %c4 step %c1 iter_args(%p_1 = %pn) -> (!nv_tileas.async.pipeline.producer_token) {
// CHECK-NEXT:        scf.yield %p_1 : !nv_tileas.async.pipeline.producer_token
// CHECK-NEXT:      }
// CHECK-NEXT:      %r = scf.for %i_2 = %c0 to %c4 step %c1 iter_args(%s = %init) -> (index) {
// CHECK-NEXT:        scf.yield %i_2 : index
// CHECK-NEXT:      }
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %c2_1 = arith.constant 2 : index
// CHECK-NEXT:      %kn = scf.for %i_3 = %c0 to %c2_1 step %c1 iter_args(%k = %k0) -> (!nv_tileas.async.pipeline.consumer_token) {
// CHECK-NEXT:        scf.yield %k : !nv_tileas.async.pipeline.consumer_token
// CHECK-NEXT:      }
// CHECK-NEXT:      %kn_1 = scf.for %i_4 = %c2_1 to %c4 step %c1 iter_args(%k_1 = %kn) -> (!nv_tileas.async.pipeline.consumer_token) {
// CHECK-NEXT:        scf.yield %k_1 : !nv_tileas.async.pipeline.consumer_token
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Copies with an atom, or with the layout that an atom follows from, may be in a sliced loop; so may
// calls of functions that are here.

func.func @copies(%x: tensor<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %s = nv_tileas.alloc_tensor : tensor<64x64xf16, #nv_tileas<space smem>>
    nv_tileas.copy %x, %s {atom = #nv_tileas<atom sts>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
    nv_tileas.copy %x, %s {atom = #nv_tileas<atom unknown_copy>, nv_tileas.layout = <(64,64),(64,1)>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
    func.call @copies(%x) : (tensor<64x64xf16>) -> ()
  } {sliceCount = 2 : i32}
  func.return
}

// CHECK-LABEL: func.func @copies(%x: tensor<64x64xf16>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %c2 = arith.constant 2 : index
// CHECK-NEXT:    %c1_1 = arith.constant 1 : index
// CHECK-NEXT:    scf.for %i = %c0 to %c1_1 step %c1 {
// CHECK-NEXT:      %s = nv_tileas.alloc_tensor : tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:      nv_tileas.copy %x, %s {atom = #nv_tileas<atom sts>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:      nv_tileas.copy %x, %s {nv_tileas.layout = #nv_tileas.layout<(64,64),(64,1)>, atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:      func.call @copies(%x) : (tensor<64x64xf16>) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for %i_1 = %c1_1 to %c2 step %c1 {
// CHECK-NEXT:      %s_1 = nv_tileas.alloc_tensor : tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:      nv_tileas.copy %x, %s_1 {atom = #nv_tileas<atom sts>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:      nv_tileas.copy %x, %s_1 {nv_tileas.layout = #nv_tileas.layout<(64,64),(64,1)>, atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf16>, tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:      func.call @copies(%x) : (tensor<64x64xf16>) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A value that a loop of ours carries is where a slice may begin, in branches too.

func.func @branches(%n: index, %z: index, %p: i1) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.cond_br %p, ^one, ^two
^one:
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (index) {
    %t = scf.for %j = %c0 to %i step %c1 iter_args(%u = %s) -> (index) {
      %x = arith.muli %u, %j : index
      scf.yield %x : index
    } {sliceCount = 2 : i32}
    scf.yield %t : index
  }
  cf.br ^end(%r : index)
^two:
  cf.br ^end(%n : index)
^end(%e: index):
  func.return %e : index
}

// CHECK-LABEL: func.func @branches(%n: index, %z: index, %p: i1) -> index {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    cf.cond_br %p, ^one, ^two
// CHECK-NEXT:  ^one:
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (index) {
// CHECK-NEXT:      %0 = arith.maxsi %i, %c0 : index
// CHECK-NEXT:      %1 = arith.subi %0, %c0 : index
// CHECK-NEXT:      %2 = arith.constant 2 : index
// CHECK-NEXT:      %3 = arith.divui %1, %2 : index
// CHECK-NEXT:      %4 = arith.addi %c0, %3 : index
// CHECK-NEXT:      %5 = arith.addi %4, %3 : index
// CHECK-NEXT:      %t = scf.for %j = %c0 to %4 step %c1 iter_args(%u = %s) -> (index) {
// CHECK-NEXT:        %x = arith.muli %u, %j : index
// CHECK-NEXT:        scf.yield %x : index
// CHECK-NEXT:      }
// CHECK-NEXT:      %t_1 = scf.for %j_1 = %4 to %5 step %c1 iter_args(%u_1 = %t) -> (index) {
// CHECK-NEXT:        %x_1 = arith.muli %u_1, %j_1 : index
// CHECK-NEXT:        scf.yield %x_1 : index
// CHECK-NEXT:      }
// CHECK-NEXT:      %t_2 = scf.for %j_2 = %5 to %i step %c1 iter_args(%u_2 = %t_1) -> (index) {
// CHECK-NEXT:        %x_2 = arith.muli %u_2, %j_2 : index
// CHECK-NEXT:        scf.yield %x_2 : index
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %t_2 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    cf.br ^end(%r : index)
// CHECK-NEXT:  ^two:
// CHECK-NEXT:    cf.br ^end(%n : index)
// CHECK-NEXT:  ^end(%e: index):
// CHECK-NEXT:    func.return %e : index
// CHECK-NEXT:  }
