// Atomic updates by one thread: of one element, or of neighbours.

// RUN: tileas-opt %s | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

func.func @updates(%p: !cute.ptr<f32, gmem>, %x: f32, %q: !cute.ptr<i64, smem>, %y: i64, %z: i64, %c: i1, %v: vector<4xf32>) {
  %0 = cute_nvgpu.arch.atomic_rmw "add" %x, %p : f32, !cute.ptr<f32, gmem> -> f32
  %1 = cute_nvgpu.arch.atomic_rmw "umax" %y, %q order "acq_rel" scope "gpu" if %c : i64, !cute.ptr<i64, smem> -> i64
  %2 = cute_nvgpu.arch.atomic_cas %y, %q compare %z : i64 if %c : i64, !cute.ptr<i64, smem> -> i64
  %3 = cute_nvgpu.arch.atomic_rmw "add" %v, %p order "relaxed" scope "gpu" : vector<4xf32>, !cute.ptr<f32, gmem> -> vector<4xf32>
  func.return
}

// CHECK:      %0 = cute_nvgpu.arch.atomic_rmw "add" %x, %p : f32, !cute.ptr<f32, gmem> -> f32
// CHECK-NEXT: %1 = cute_nvgpu.arch.atomic_rmw "umax" %y, %q order "acq_rel" scope "gpu" if %c : i64, !cute.ptr<i64, smem> -> i64
// CHECK-NEXT: %2 = cute_nvgpu.arch.atomic_cas %y, %q compare %z : i64 if %c : i64, !cute.ptr<i64, smem> -> i64
// CHECK-NEXT: %3 = cute_nvgpu.arch.atomic_rmw "add" %v, %p order "relaxed" scope "gpu" : vector<4xf32>, !cute.ptr<f32, gmem> -> vector<4xf32>
