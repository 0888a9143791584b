// Generic barriers: one thread of a group counts or waits, between barriers of the group.

// RUN: tileas-opt %s -p convert-pipeline-to-nvgpu | filecheck %s

!counter = !cute.ptr<i32, gmem>
func.func @counters(%counter: !counter, %value: i32, %thread: i32) {
  cutlass.generic_barrier_sync 2 threads 64
  cutlass.generic_barrier.arrive_increment %counter, %value thread %thread at 1 threads 128 : !counter
  cutlass.generic_barrier.wait_less_than %counter, %value thread %thread at 1 threads 128 : !counter
  func.return
}

// CHECK-LABEL: func.func @counters
// CHECK-NEXT:    cute_nvgpu.arch.barrier id 2 threads 64
// All have written before one of them tells it.
// CHECK-NEXT:    cute_nvgpu.arch.barrier id 1 threads 128
// CHECK-NEXT:    arith.constant 0 : i32
// CHECK-NEXT:    [[FIRST:%[^ ]*]] = arith.cmpi eq, %thread
// CHECK-NEXT:    scf.if [[FIRST]] {
// CHECK-NEXT:      cute_nvgpu.arch.atomic_rmw "add" %value, %counter order "release" scope "gpu"
// CHECK-NEXT:    }
// One has seen it before all go on; a read with an order is never taken for one that can be left out.
// CHECK:         scf.if
// CHECK-NEXT:      scf.while () : () -> () {
// CHECK-NEXT:        [[SEEN:%[^ ]*]] = cute.ptr.load %counter order "acquire" scope "gpu"
// CHECK-NEXT:        [[LESS:%[^ ]*]] = arith.cmpi slt, [[SEEN]], %value
// CHECK-NEXT:        scf.condition([[LESS]])
// CHECK-NEXT:      } do {
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    cute_nvgpu.arch.barrier id 1 threads 128
