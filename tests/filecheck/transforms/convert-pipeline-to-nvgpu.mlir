// Operations of cutlass become barriers of cute_nvgpu and arithmetic.

// RUN: tileas-opt %s -p convert-pipeline-to-nvgpu,canonicalize | filecheck %s

// Named barriers.

func.func @named() {
  cutlass.named_barrier.arrive 1 threads 64
  cutlass.named_barrier.arrive_and_wait 2 threads 96
  func.return
}

// CHECK-LABEL: func.func @named
// CHECK-NEXT:    cute_nvgpu.arch.barrier_arrive id 1 threads 64
// CHECK-NEXT:    cute_nvgpu.arch.barrier id 2 threads 96

// A pipeline has full[0], full[1], empty[0], empty[1].  TMA arrives once, each consumer's warp once.
//
// The producer waits at empty and announces bytes at full; TMA itself commits.  Who consumes waits
// at full, and one thread of a warp arrives at empty for all of them.  Loops carry index and parity.

!p = !cutlass.pipeline<tma_async, 2>
!s = !cutlass.pipeline_state<2>
!one = !cutlass.participants<[0]>
!two = !cutlass.participants<[1, 2]>
func.func @handshake(%m: !cute.ptr<i64, smem>, %elected: i1, %n: index) {
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !p
  %a = cutlass.pipeline.make_participants : !one
  %b = cutlass.pipeline.make_participants : !two
  cutlass.pipeline.init %pipe, %a, %b {numStages = 2 : i32, numProducers = 1 : i32, numConsumers = 2 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !p, !one, !two
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s0 = cutlass.pipeline.state.create "producer" : !s
  %sn = scf.for %i = %c0 to %n step %c1 iter_args(%s = %s0) -> (!s) {
    cutlass.pipeline.producer_acquire %pipe, %s bytes 4096 if %elected : !p, !s
    cutlass.pipeline.producer_commit %pipe, %s : !p, !s
    %t = cutlass.pipeline.state.increment %s : !s -> !s
    scf.yield %t : !s
  }
  cutlass.pipeline.consumer_wait %pipe, %sn : !p, !s
  cutlass.pipeline.consumer_release %pipe, %sn if %elected : !p, !s
  func.return
}

// CHECK-LABEL: func.func @handshake
// CHECK-NEXT:    %0 = arith.constant 2 : i32
// CHECK-NEXT:    %1 = cute.add_offset %m, %0
// CHECK-NEXT:    %2 = cute_nvgpu.arch.thread_idx "x"
// CHECK-NEXT:    %3 = arith.constant 0 : i32
// CHECK-NEXT:    %4 = arith.cmpi eq, %2, %3 : i32
// CHECK-NEXT:    scf.if %4 {
// CHECK-NEXT:      cute_nvgpu.arch.mbarrier_init %m, 1
// CHECK:           cute_nvgpu.arch.mbarrier_init {{%[^ ]*}}, 1
// CHECK-NEXT:      cute_nvgpu.arch.mbarrier_init %1, 2
// CHECK:           cute_nvgpu.arch.mbarrier_init {{%[^ ]*}}, 2
// CHECK-NEXT:      cute_nvgpu.arch.fence_mbarrier_init
// CHECK-NEXT:    }
// CHECK-NEXT:    cute_nvgpu.arch.barrier id 0
// CHECK:         {{%[^ ]*}}, {{%[^ ]*}} = scf.for %i = %c0 to %n step %c1 iter_args(%16 = %10, %17 = %9) -> (i32, i32) {
// CHECK-NEXT:      %18 = cute.add_offset %1, %16
// CHECK-NEXT:      cute_nvgpu.arch.mbarrier_wait %18, %17
// CHECK-NEXT:      %19 = cute.add_offset %m, %16
// CHECK-NEXT:      cute_nvgpu.arch.mbarrier_arrive_expect_tx %19, 4096 if %elected
// CHECK-NEXT:      %20 = arith.addi %16, %11 : i32
// CHECK-NEXT:      %21 = arith.cmpi eq, %20, %12 : i32
// CHECK-NEXT:      %22 = arith.select %21, %13, %20 : i32
// CHECK-NEXT:      %23 = arith.extui %21 : i1 to i32
// CHECK-NEXT:      %24 = arith.xori %17, %23 : i32
// CHECK-NEXT:      scf.yield %22, %24 : i32, i32
// CHECK-NEXT:    }
// CHECK-NEXT:    %25 = cute.add_offset %m, %14
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_wait %25, %15
// CHECK-NEXT:    %26 = cute.add_offset %1, %14
// CHECK-NEXT:    cute_nvgpu.arch.sync_warp
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_arrive %26 if %elected

// Where products read a stage, `tcgen05.commit` releases it, in both blocks that share it; what they
// leave in tensor memory is committed likewise, and fenced where threads read it.

!u = !cutlass.pipeline<tma_umma, 1, multicast 2>
!v = !cutlass.pipeline<umma_async, 1>
!t = !cutlass.pipeline_state<1>
func.func @products(%m: !cute.ptr<i64, smem>, %n: !cute.ptr<i64, smem>, %elected: i1) attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !u
  %sums = cutlass.pipeline.create %n : !cute.ptr<i64, smem> -> !v
  %a = cutlass.pipeline.make_participants : !one
  %b = cutlass.pipeline.make_participants : !two
  cutlass.pipeline.init %pipe, %a, %a {numStages = 1 : i32, numProducers = 1 : i32, numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !u, !one, !one
  cutlass.pipeline.init %sums, %a, %b {numStages = 1 : i32, numProducers = 1 : i32, numConsumers = 2 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !v, !one, !two
  %s = cutlass.pipeline.state.create "consumer" : !t
  cutlass.pipeline.consumer_release %pipe, %s if %elected : !u, !t
  cutlass.pipeline.producer_commit %sums, %s if %elected : !v, !t
  cutlass.pipeline.consumer_wait %sums, %s : !v, !t
  cutlass.pipeline.consumer_release %sums, %s if %elected : !v, !t
  func.return
}

// CHECK-LABEL: func.func @products
// CHECK:         cute_nvgpu.arch.cluster_arrive relaxed
// CHECK-NEXT:    cute_nvgpu.arch.cluster_wait
// CHECK:         cute_nvgpu.arch.barrier id 0
// CHECK:         [[MASK:%[^ ]*]] = arith.constant 3 : i16
// CHECK-NEXT:    cute_nvgpu.arch.sm100.umma_commit {{%[^ ]*}} mask [[MASK]] if %elected blocks 1
// CHECK:         cute_nvgpu.arch.sm100.umma_commit {{%[^ ]*}} if %elected blocks 1
// CHECK:         cute_nvgpu.arch.mbarrier_wait
// CHECK-NEXT:    cute_nvgpu.arch.sm100.fence_tmem "after"
// CHECK:         cute_nvgpu.arch.sm100.fence_tmem "before"
// CHECK-NEXT:    cute_nvgpu.arch.sync_warp
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_arrive {{%[^ ]*}} if %elected

// By cp.async each thread of two warps arrives when its own copies do; a warp releases once.

!c = !cutlass.pipeline<cp_async, 1>
func.func @copies(%m: !cute.ptr<i64, smem>, %elected: i1) {
  %pipe = cutlass.pipeline.create %m : !cute.ptr<i64, smem> -> !c
  %a = cutlass.pipeline.make_participants : !one
  %b = cutlass.pipeline.make_participants : !two
  cutlass.pipeline.init %pipe, %b, %a {numStages = 1 : i32, numProducers = 2 : i32, numConsumers = 1 : i32, producer_group_id = 0 : i32, consumer_group_id = 1 : i32} : !c, !two, !one
  %s = cutlass.pipeline.state.create "producer" : !t
  cutlass.pipeline.producer_acquire %pipe, %s : !c, !t
  cutlass.pipeline.producer_commit %pipe, %s : !c, !t
  cutlass.pipeline.consumer_release %pipe, %s if %elected : !c, !t
  func.return
}

// CHECK-LABEL: func.func @copies
// CHECK:           cute_nvgpu.arch.mbarrier_init %m, 64
// CHECK:           cute_nvgpu.arch.mbarrier_init {{%[^ ]*}}, 1
// CHECK:         cute_nvgpu.arch.mbarrier_wait
// CHECK:         cute_nvgpu.arch.copy.SM80.cp_async_mbarrier_arrive
// CHECK:         cute_nvgpu.arch.sync_warp
// CHECK-NEXT:    cute_nvgpu.arch.mbarrier_arrive {{%[^ ]*}} if %elected

// A state has its count with it where somebody asks for one; roles are conditions on the warp.

func.func @count(%warp: i32, %p: !cute.ptr<i32, gmem>) {
  cutlass.pipeline.switch_by_executor %warp of 4 masks [1, 14] {
  } {
    %s = cutlass.pipeline.state.create "consumer" : !s
    %n = cutlass.pipeline.state.increment %s : !s -> !s
    %c = cutlass.pipeline.state.get_count %n : !s
    cute.ptr.store %c, %p : i32, !cute.ptr<i32, gmem>
  }
  func.return
}

// CHECK-LABEL: func.func @count
// CHECK:         [[BELOW:%[^ ]*]] = arith.cmpi slt, %warp
// CHECK:         [[ABOVE:%[^ ]*]] = arith.cmpi sge, %warp
// CHECK:         [[ROLE:%[^ ]*]] = arith.andi [[BELOW]], [[ABOVE]] : i1
// CHECK-NEXT:    scf.if [[ROLE]] {
// CHECK:           cute.ptr.store {{%[^ ]*}}, %p : i32, !cute.ptr<i32, gmem>

// No operation of cutlass is left.

// CHECK-NOT: cutlass
