// Prints by vprintf, assertions by __assertfail; and globals.

// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s
// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

// Strings, functions and globals are declared in front of the kernels; i1 is a byte.

// CHECK:      ptx.global @table {data = array<i8: 0, 0, -128, 63, 0, 0, 0, -64>, align = 16 : i64, visible}
// CHECK-NEXT: ptx.global @flags {data = array<i8: 1, 1>, align = 128 : i64, visible}
// CHECK-NEXT: ptx.global @k$text0 {data = array<i8: 37, 100, 32, 37, 102, 10, 0>, align = 1 : i64}
// CHECK-NEXT: ptx.function @vprintf {parameters = ["b64", "b64"], result = "b32"}
// CHECK-NEXT: ptx.global @k$text1 {data = array<i8: 104, 105, 0>, align = 1 : i64}
// CHECK-NEXT: ptx.global @k$text2
// CHECK:      ptx.function @__assertfail {parameters = ["b64", "b64", "b32", "b64", "b64"]}

nv_tileaa.global "table" {value = dense<[1.0, -2.0]> : tensor<2xf32>}
nv_tileaa.global "flags" {value = dense<true> : tensor<2xi1>, alignment = 128 : i64}

func.func @k(%i: i32, %x: f64) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  cute.print_text "%d %f\0A", %i, %x : i32, f64
  cute.print_text "hi"
  cute.print_text "hi"
  %p = cute.address_of @table : !cute.ptr<f32, gmem>
  %c0 = arith.constant 0 : i32
  %0 = arith.cmpi eq, %i, %c0 : i32
  cf.assert %0, "n is zero" loc("kernel.py":7:5)
  %v = arith.constant 1.0 : f32
  cute.ptr.store %v, %p : f32, !cute.ptr<f32, gmem>
  func.return
}

// Values lie in memory of the thread's own, each aligned to its size.

// CHECK-LABEL: ptx.entry @k
// CHECK:         %[[ROOM:.*]] = ptx.local {size = 16 : i64, align = 8 : i64}
// CHECK:         ptx.st %[[ROOM]], %{{.*}} {type = "b32", space = "local"}
// CHECK-NEXT:    ptx.st %[[ROOM]], %{{.*}} {offset = 8 : i64, type = "f64", space = "local"}
// CHECK-NEXT:    %[[VALUES:.*]] = ptx.cvta %[[ROOM]] {space = "local", type = "u64"}
// CHECK-NEXT:    ptx.call arguments(%{{.*}}, %[[VALUES]]) {callee = @vprintf}
// CHECK:         %[[TABLE:.*]] = ptx.address {variable = @table}
// CHECK:       ^bb1:
// CHECK:         ptx.call arguments({{.*}}) {callee = @__assertfail}
// CHECK-NEXT:    ptx.trap
// CHECK-NEXT:    ptx.exit
// CHECK:       ^bb2:
// CHECK:         ptx.st %[[TABLE]]

// PTX:     st.param.b32 [call_W{{.*}}_2], %r{{.*}};
// PTX:     call.uni __assertfail
