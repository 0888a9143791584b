// A clean-up that does not settle fails at the operation that it was at; what the verifier refuses
// is made to happen in tests/transforms/layout_conversions/test_tileas_remove_layout_conversions.py.

// RUN: tileas-opt %s -p 'tileas-remove-layout-conversions{max_rewrites=1}' --split-input-file --verify-diagnostics

!t = tensor<4xf32, #nv_tileas<space smem>>

func.func @more_rewrites_than_allowed(%x: !t) -> !t {
  %0 = nv_tileas.convert_layout %x : !t -> !t
  %1 = nv_tileas.convert_layout %0 : !t -> !t
  %2 = nv_tileas.convert_layout %1 : !t -> !t
  %3 = nv_tileas.convert_layout %2 : !t -> !t
  %4 = nv_tileas.convert_layout %3 : !t -> !t
  %5 = nv_tileas.convert_layout %4 : !t -> !t
  %6 = nv_tileas.convert_layout %5 : !t -> !t
  %7 = nv_tileas.convert_layout %6 : !t -> !t
  %8 = nv_tileas.convert_layout %7 : !t -> !t
  %9 = nv_tileas.convert_layout %8 : !t -> !t
  %10 = nv_tileas.convert_layout %9 : !t -> !t
  %11 = nv_tileas.convert_layout %10 : !t -> !t
  %12 = nv_tileas.convert_layout %11 : !t -> !t
  %13 = nv_tileas.convert_layout %12 : !t -> !t
  %14 = nv_tileas.convert_layout %13 : !t -> !t
  %15 = nv_tileas.convert_layout %14 : !t -> !t
  // expected-note@+2 {{rewriting does not settle: after 1 rewrites FoldIdentity still change 'nv_tileas.convert_layout'}}
  // expected-error@+1 {{failed to apply patterns greedily}}
  %16 = nv_tileas.convert_layout %15 : !t -> !t
  %17 = nv_tileas.convert_layout %16 : !t -> !t
  %18 = nv_tileas.convert_layout %17 : !t -> !t
  %19 = nv_tileas.convert_layout %18 : !t -> !t
  %20 = nv_tileas.convert_layout %19 : !t -> !t
  %21 = nv_tileas.convert_layout %20 : !t -> !t
  %22 = nv_tileas.convert_layout %21 : !t -> !t
  %23 = nv_tileas.convert_layout %22 : !t -> !t
  func.return %23 : !t
}
