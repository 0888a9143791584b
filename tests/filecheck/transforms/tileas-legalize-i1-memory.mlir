// `tileas-legalize-i1-memory`: `i1` arrays in memory become byte arrays.

// RUN: tileas-opt %s -p tileas-legalize-i1-memory | filecheck %s
// RUN: tileas-opt %s -p tileas-legalize-i1-memory,tileas-legalize-i1-memory | filecheck %s

func.func @copy(%from: !nv_tileaa.ptr<i1, 1>, %to: !nv_tileaa.ptr<i1, 1>) {
  %t = nv_tileas.load %from[] {atom = #nv_tileas<atom ldg>} : !nv_tileaa.ptr<i1, 1> -> i1
  nv_tileas.store %t, %to[] {atom = #nv_tileas<atom stg>} : i1, !nv_tileaa.ptr<i1, 1>
  func.return
}

// CHECK-LABEL: func.func @copy(%from: !nv_tileaa.ptr<i8, 1>, %to: !nv_tileaa.ptr<i8, 1>) {
// CHECK-NEXT:    %t = nv_tileas.load %from
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK-NEXT:    %[[TRUE:.*]] = arith.cmpi ne, %t, %[[ZERO]] : i8
// CHECK-NEXT:    %[[BYTE:.*]] = arith.extui %[[TRUE]] : i1 to i8
// CHECK-NEXT:    nv_tileas.store %[[BYTE]], %to
