// What `clusterlaunchcontrol` needs of the response in shared memory.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @alignment(%to: !cute.ptr<i32, smem>, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{'cute_nvgpu.arch.issue_clc_query' op expects the response aligned to 16 bytes}}
  cute_nvgpu.arch.issue_clc_query %to, %bar : !cute.ptr<i32, smem>, !cute.ptr<i64, smem>
  // expected-error@+1 {{'cute_nvgpu.arch.clc_response' op expects the response aligned to 16 bytes}}
  %granted, %x, %y, %z = cute_nvgpu.arch.clc_response %to : !cute.ptr<i32, smem>
  func.return
}

// -----

func.func @space(%to: !cute.ptr<i32, gmem, align<16>>, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a pointer to smem as the response}}
  cute_nvgpu.arch.issue_clc_query %to, %bar : !cute.ptr<i32, gmem, align<16>>, !cute.ptr<i64, smem>
  func.return
}

// -----

func.func @barrier(%to: !cute.ptr<i32, smem, align<16>>) {
  // expected-error@+1 {{expects a pointer to i64 as the mbarrier}}
  cute_nvgpu.arch.issue_clc_query %to, %to : !cute.ptr<i32, smem, align<16>>, !cute.ptr<i32, smem, align<16>>
  func.return
}
