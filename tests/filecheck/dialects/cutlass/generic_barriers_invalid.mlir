// What generic barriers refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @counters(%counter: !cute.ptr<i32, gmem>, %shared: !cute.ptr<i32, smem>, %wide: !cute.ptr<i64, gmem>, %n: i32) {
  // expected-error@+1 {{'cutlass.generic_barrier_sync' op meets at barrier 0 to 15 of a block, not 16}}
  cutlass.generic_barrier_sync 16 threads 128
  // expected-error@+1 {{'cutlass.generic_barrier_sync' op is of whole warps, 32 to 1024 threads, not 33}}
  cutlass.generic_barrier_sync 15 threads 33
  // expected-error@+1 {{'cutlass.generic_barrier_sync' op is of whole warps, 32 to 1024 threads, not 0}}
  cutlass.generic_barrier_sync 0 threads 0
  // expected-error@+1 {{'cutlass.generic_barrier.wait_eq' op is of whole warps, 32 to 1024 threads, not 1056}}
  cutlass.generic_barrier.wait_eq %counter, %n thread %n at 1 threads 1056 : !cute.ptr<i32, gmem>
  // expected-error@+1 {{'cutlass.generic_barrier.arrive_increment' op meets at barrier 0 to 15 of a block, not -1}}
  cutlass.generic_barrier.arrive_increment %counter, %n thread %n at -1 threads 32 : !cute.ptr<i32, gmem>
  // expected-error@+1 {{'cutlass.generic_barrier.wait_less_than' op expects a pointer to gmem as the counter, but got !cute.ptr<i32, smem>}}
  cutlass.generic_barrier.wait_less_than %shared, %n thread %n at 1 threads 32 : !cute.ptr<i32, smem>
  // expected-error@+1 {{'cutlass.generic_barrier.wait_eq' op counts in i32, not in i64}}
  cutlass.generic_barrier.wait_eq %wide, %n thread %n at 1 threads 32 : !cute.ptr<i64, gmem>
  func.return
}
