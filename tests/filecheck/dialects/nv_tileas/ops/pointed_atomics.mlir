// Atomic updates of what pointers point to.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

!p = !nv_tileaa.ptr<f32, 1>

func.func @updates(%p: !p, %x: f32, %ps: tensor<8x!nv_tileaa.ptr<i32, 1>>, %xs: tensor<8xi32>, %m: tensor<8xi1>, %t: !nv_tileas.mem_token) {
  %0 = nv_tileas.atomic_rmw add %x, %p : f32, !p -> f32
  %1, %t1 = nv_tileas.atomic_rmw umax %xs, %ps acq_rel gpu mask %m : tensor<8xi1> after %t : !nv_tileas.mem_token : tensor<8xi32>, tensor<8x!nv_tileaa.ptr<i32, 1>> -> tensor<8xi32>, !nv_tileas.mem_token
  %2 = nv_tileas.atomic_cas %xs, %1, %ps relaxed sys : tensor<8xi32>, tensor<8x!nv_tileaa.ptr<i32, 1>> -> tensor<8xi32>
  func.return
}

// CHECK-LABEL: func.func @updates(
// CHECK-NEXT:    %0 = nv_tileas.atomic_rmw add %x, %p : f32, !p -> f32
// CHECK-NEXT:    %1, %t1 = nv_tileas.atomic_rmw umax %xs, %ps acq_rel gpu mask %m : tensor<8xi1> after %t : !nv_tileas.mem_token : tensor<8xi32>, tensor<8x!nv_tileaa.ptr<i32, 1>> -> tensor<8xi32>, !nv_tileas.mem_token
// CHECK-NEXT:    %2 = nv_tileas.atomic_cas %xs, %1, %ps relaxed sys : tensor<8xi32>, tensor<8x!nv_tileaa.ptr<i32, 1>> -> tensor<8xi32>
// CHECK-NEXT:    func.return
