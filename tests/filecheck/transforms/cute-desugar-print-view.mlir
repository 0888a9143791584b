// The elements of a view are printed in a loop over its coordinates.

// RUN: tileas-opt %s -p cute-desugar | filecheck %s

// With `verbose` each element has its coordinate before it.

!view = !cute.memref<f32, gmem, "(?,4):(4,1)">
func.func @with_places(%v: !view) {
  cute.print_view(%v) <{verbose = true}> : (!view) -> ()
  func.return
}

// CHECK-LABEL: func.func @with_places
// CHECK:         [[SIZE:%[^ ]*]] = cute.size
// CHECK:         [[N:%[^ ]*]] = cute.get_scalars([[SIZE]])
// CHECK:         scf.for [[I:%[^ ]*]] = %{{[^ ]*}} to [[N]]
// CHECK:           [[CRD:%[^ ]*]] = cute.idx2crd
// CHECK-NEXT:      [[E:%[^ ]*]] = cute.memref.load(%v, [[CRD]])
// CHECK-NEXT:      [[R:%[^ ]*]], [[C:%[^ ]*]] = cute.get_scalars([[CRD]])
// CHECK-NEXT:      cute.print([[R]], [[C]], [[E]]) : (i32, i32, f32) -> ()

// Without it the elements are alone.

func.func @alone(%v: !view) {
  cute.print_view(%v) : (!view) -> ()
  func.return
}

// CHECK-LABEL: func.func @alone
// CHECK:           [[CRD:%[^ ]*]] = cute.idx2crd
// CHECK-NEXT:      [[E:%[^ ]*]] = cute.memref.load(%v, [[CRD]])
// CHECK-NEXT:      cute.print([[E]]) : (f32) -> ()
