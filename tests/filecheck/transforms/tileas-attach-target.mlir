// The target is an attribute of the module; passes have no option for it.

// RUN: tileas-opt %s --split-input-file -p tileas-attach-target | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p tileas-attach-target,tileas-attach-target | filecheck %s

// A module that names no target is for sm_90a.

func.func @none() {
  func.return
}

// CHECK:      builtin.module attributes {nv_tileas.target = "sm_90a"} {
// CHECK-NEXT:   func.func @none

// -----

// Other ways to name it, on a kernel or on the module, are read too.

func.func @kernel() attributes {nv_tileaa.compute_capability = 100 : i32, nv_tileaa.target_spec = "sm_100a"} {
  func.return
}

// CHECK:      builtin.module attributes {nv_tileas.target = "sm_100a"} {
// CHECK-NEXT:   func.func @kernel

// -----

builtin.module attributes {cute.target = "sm_100"} {
}

// CHECK: builtin.module attributes {cute.target = "sm_100", nv_tileas.target = "sm_100a"} {
