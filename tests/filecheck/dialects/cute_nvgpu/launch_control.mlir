// Clusters that have not started are asked for, and the answer is read.

// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// CHECK-LABEL: func.func @asks
func.func @asks(%to: !cute.ptr<i32, smem, align<16>>, %bar: !cute.ptr<i64, smem>, %yes: i1) {
  // CHECK-NEXT: cute_nvgpu.arch.issue_clc_query %to, %bar : !cute.ptr<i32, smem, align<16>>, !cute.ptr<i64, smem>
  cute_nvgpu.arch.issue_clc_query %to, %bar : !cute.ptr<i32, smem, align<16>>, !cute.ptr<i64, smem>
  // CHECK-NEXT: cute_nvgpu.arch.issue_clc_query %to, %bar if %yes multicast : !cute.ptr<i32, smem, align<16>>, !cute.ptr<i64, smem>
  cute_nvgpu.arch.issue_clc_query %to, %bar if %yes multicast : !cute.ptr<i32, smem, align<16>>, !cute.ptr<i64, smem>
  // CHECK-NEXT: %granted, %x, %y, %z = cute_nvgpu.arch.clc_response %to : !cute.ptr<i32, smem, align<16>>
  %granted, %x, %y, %z = cute_nvgpu.arch.clc_response %to : !cute.ptr<i32, smem, align<16>>
  func.return
}
