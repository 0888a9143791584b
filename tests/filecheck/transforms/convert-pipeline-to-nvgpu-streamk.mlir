// Parts of tiles become where a unit begins along K and how much is left of it.

// RUN: tileas-opt %s -p convert-pipeline-to-nvgpu,canonicalize,cse | filecheck %s

!params = !cutlass.scheduler_params<streamk, m>
!work = !cutlass.work_tile_info<streamk>
!cell = !cute.ptr<i32, gmem>

// Of parameters 8 numbers, of a part 4: the last tile of what is left is the one that is done now.

func.func @count(%p: i32, %k0: i32, %left: i32, %yes: i1, %cell: !cell) {
  %s = cutlass.tile_scheduler.create_streamk_params %p, %p, %p, %p units %p least 1 : !params
  %w = cutlass.tile_scheduler.create_streamk_work_tile_info %s, %p, %p, %k0, %p count %left unit %p if %yes : !params
  %k = cutlass.tile_scheduler.get_work_k_tile_count %s, %w : !params
  cute.ptr.store %k, %cell : i32, !cell
  func.return
}

// CHECK-LABEL: func.func @count
// CHECK:         [[START:%[^ ]*]] = arith.addi {{%[^ ]*}}, %k0
// CHECK-NEXT:    [[END:%[^ ]*]] = arith.addi [[START]], %left
// CHECK:         [[LAST:%[^ ]*]] = arith.subi [[END]], {{.*}}
// CHECK-NEXT:    [[TILE:%[^ ]*]] = arith.divui [[LAST]], %p
// CHECK-NEXT:    [[BEGIN:%[^ ]*]] = arith.muli [[TILE]], %p
// CHECK-NEXT:    [[INSIDE:%[^ ]*]] = arith.cmpi ult, [[START]], [[BEGIN]]
// CHECK-NEXT:    [[FIRST:%[^ ]*]] = arith.select [[INSIDE]], [[BEGIN]], [[START]]
// CHECK:         [[COUNT:%[^ ]*]] = arith.subi [[END]], [[FIRST]]
// CHECK:         cute.ptr.store [[COUNT]], %cell

// A part that is not the first waits until the counter is where it begins, and adds what is there.
// One that is not the last leaves its sums and counts its tiles along K.  The last sets 0 again.

!sums = !cute.ptr<f32, gmem>
!held = !cute.memref<f32, rmem, "1:1">
func.func @fixup(%p: i32, %number: i32, %held: !held, %sums: !sums, %t: i32) {
  %s = cutlass.tile_scheduler.create_streamk_params %p, %p, %p, %p units %p least 1 : !params
  %w = cutlass.tile_scheduler.get_current_work %s, %number : !params
  cutlass.tile_scheduler.fixup %s, %w, %held, %sums thread %t at 2 threads 64 width 1 : !params, !held, !sums
  func.return
}

// CHECK-LABEL: func.func @fixup
// CHECK:         scf.if
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        scf.while
// CHECK-NEXT:          cute.ptr.load [[COUNTER:%[^ ]*]] order "acquire" scope "gpu"
// CHECK-NEXT:          arith.cmpi ne
// CHECK:           cute_nvgpu.arch.barrier id 2 threads 64
// CHECK-NEXT:      cute.memref.load_vec(%held)
// CHECK:           arith.addf
// CHECK-NEXT:      cute.memref.store_vec
// CHECK:           scf.if
// CHECK-NEXT:        cute.ptr.store {{%[^ ]*}}, [[COUNTER]]
// CHECK:         scf.if
// CHECK-NEXT:      cute.memref.load_vec(%held)
// CHECK:           cute.ptr.store
// CHECK-NEXT:      cute_nvgpu.arch.barrier id 2 threads 64
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        cute_nvgpu.arch.atomic_rmw "add" {{%[^ ]*}}, [[COUNTER]] order "release" scope "gpu"
// CHECK-NOT:     cutlass
