// Block-striped accesses: one base address per thread, and accesses at constant offsets.

// RUN: tileas-opt %s -p convert-pipeline-to-nvgpu | filecheck %s

!array = !cute.ptr<f32, gmem, align<8>>
!held = !cute.memref<f32, rmem, "4:1">
func.func @load_add(%array: !array, %held: !held, %thread: i32) {
  cutlass.block_striped.load_add %held, %array thread %thread of 128 width 2 : !held, !array
  func.return
}

// CHECK-LABEL: func.func @load_add
// CHECK:         [[AT:%[^ ]*]] = arith.muli %thread, {{.*}} : i32
// CHECK-NEXT:    [[FIRST:%[^ ]*]] = cute.add_offset %array, [[AT]] : !array, i32 -> !array
// CHECK-NEXT:    [[HELD:%[^ ]*]] = cute.memref.load_vec(%held)
// CHECK-NEXT:    [[A:%[^ ]*]] = cute.ptr.load [[FIRST]] : !array -> vector<2xf32>
// CHECK-NEXT:    [[B:%[^ ]*]] = cute.ptr.load [[FIRST]] offset 256
// CHECK-NEXT:    [[READ:%[^ ]*]] = cute.fragment.make [[A]], [[B]]
// CHECK-NEXT:    [[SUM:%[^ ]*]] = arith.addf [[HELD]], [[READ]] : vector<4xf32>
// CHECK-NEXT:    cute.memref.store_vec([[SUM]], %held)

func.func @reduce(%array: !array, %held: !held, %thread: i32) {
  cutlass.block_striped.reduce "add" %held, %array thread %thread of 32 width 2 : !held, !array
  func.return
}

// CHECK-LABEL: func.func @reduce
// CHECK:         cute.memref.load_vec(%held)
// CHECK-COUNT-4: cute_nvgpu.arch.atomic_rmw "add" {{.*}} order "relaxed" scope "gpu"
// CHECK-NOT:     cutlass
