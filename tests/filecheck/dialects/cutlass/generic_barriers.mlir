// Counters in global memory that synchronise groups of threads of any blocks.

// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// CHECK-LABEL: func.func @counters
func.func @counters(%counter: !cute.ptr<i32, gmem>, %value: i32, %thread: i32) {
  // CHECK-NEXT: cutlass.generic_barrier_sync 1 threads 128
  cutlass.generic_barrier_sync 1 threads 128
  // CHECK-NEXT: cutlass.generic_barrier.arrive_increment %counter, %value thread %thread at 1 threads 128 : !cute.ptr<i32, gmem>
  cutlass.generic_barrier.arrive_increment %counter, %value thread %thread at 1 threads 128 : !cute.ptr<i32, gmem>
  // CHECK-NEXT: cutlass.generic_barrier.wait_eq %counter, %value thread %thread at 0 threads 32 : !cute.ptr<i32, gmem>
  cutlass.generic_barrier.wait_eq %counter, %value thread %thread at 0 threads 32 : !cute.ptr<i32, gmem>
  // CHECK-NEXT: cutlass.generic_barrier.wait_less_than %counter, %value thread %thread at 15 threads 1024 : !cute.ptr<i32, gmem>
  cutlass.generic_barrier.wait_less_than %counter, %value thread %thread at 15 threads 1024 : !cute.ptr<i32, gmem>
  func.return
}
