// Prints and assertions: one thread prints, all threads evaluate the assertion.

// RUN: tileas-opt %s -p convert-tileas-to-cute-nvgpu | filecheck %s

// Integers are passed with as many bits as their format reads.

func.func @scalars(%i: i32, %j: i64, %x: f16, %b: i1) {
  nv_tileaa.print "%d %u %f %d\n", %i, %j, %x, %b : i32, i64, f16, i1
  func.return
}

// CHECK-LABEL: func.func @scalars
// CHECK:       scf.if
// CHECK:         %[[X:.*]] = arith.extf {{.*}} : f16 to f64
// CHECK-NEXT:    %[[B:.*]] = arith.extui {{.*}} : i1 to i32
// CHECK-NEXT:    cute.print_text "%d %llu %f %d\0A", {{.*}}, {{.*}}, %[[X]], %[[B]] : i32, i64, f64, i32

// A tile goes through shared memory; few elements are one call.

func.func @tile(%x: i32) {
  %t = tensor.splat %x : tensor<2x2xi32>
  nv_tileaa.print "100%% %x", %t : tensor<2x2xi32>
  func.return
}

// CHECK-LABEL: func.func @tile
// CHECK:       cute.ptr.store
// CHECK:       cute_nvgpu.arch.barrier
// CHECK:       scf.if
// CHECK-COUNT-4: cute.ptr.load
// CHECK-NEXT:    cute.print_text "100%% [[%x, %x], [%x, %x]]"

// More are loops, each of whose rounds prints a row.

func.func @long(%x: f32) {
  %t = tensor.splat %x : tensor<4x32xf32>
  nv_tileaa.print "%g.", %t : tensor<4x32xf32>
  func.return
}

// CHECK-LABEL: func.func @long
// CHECK:       cute.print_text "["
// CHECK:       scf.for
// CHECK:         cute.print_text "[%g, %g{{.*}}%g], "
// CHECK:       cute.print_text "[%g, %g{{.*}}%g]]."

// An assertion stays one, for every thread; where it does not hold one thread prints it before.

func.func @assertion(%b: i1) {
  cf.assert %b, "must hold"
  func.return
}

// CHECK-LABEL: func.func @assertion
// CHECK:       scf.if
// CHECK:         scf.if
// CHECK-NEXT:      cute.print_text "assertion failed: must hold
// CHECK:         cute_nvgpu.arch.barrier
// CHECK:       cf.assert %{{.*}}, "must hold"

// Globals stay in the module.

nv_tileaa.global "table" {value = dense<[1, 2]> : tensor<2xi32>}

func.func @global(%p: !nv_tileaa.ptr<i32, 1>) {
  %g = nv_tileaa.get_global "table" : !nv_tileaa.ptr<i32, 1>
  %v = nv_tileas.load %g {atom = #nv_tileas<atom ldg>} : !nv_tileaa.ptr<i32, 1> -> i32
  nv_tileas.store %v, %p {atom = #nv_tileas<atom stg>} : i32, !nv_tileaa.ptr<i32, 1>
  func.return
}

// CHECK:       nv_tileaa.global "table" {value = dense<[1, 2]> : tensor<2xi32>}
// CHECK-LABEL: func.func @global
// CHECK:       cute.address_of @table : !cute.ptr<i32, gmem>
