// `overlap-launches` sets a kernel up before the one in front of it on the stream has completed.

// RUN: tileas-opt %s -p overlap-launches --split-input-file | filecheck %s

// Barriers are initialised first: they are in shared memory, and descriptors are parameters.

func.func @product(%map: !cute.ptr<i8, gmem>, %n: i32)
    attributes {tileas.parameters = ["tensor map 0", "scalar 1"]} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %zero = arith.constant 0 : i32
  %full = cute_nvgpu.arch.get_dyn_smem 8192 -> !cute.ptr<i64, smem>
  %stage = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i8, smem, align<1024>>
  %first = arith.cmpi eq, %t, %zero : i32
  scf.if %first {
    cute_nvgpu.arch.mbarrier_init %full, 1 : !cute.ptr<i64, smem>
    cute_nvgpu.arch.fence_mbarrier_init
  }
  cute_nvgpu.arch.barrier id 0
  scf.if %first {
    cute_nvgpu.arch.mbarrier_arrive_expect_tx %full, 8192 : !cute.ptr<i64, smem>
  }
  func.return
}

// CHECK-LABEL: func.func @product
// CHECK-SAME:    tileas.waits_first
// CHECK:         fence_mbarrier_init
// CHECK:         cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:    ptx.griddepcontrol {action = "wait"}
// CHECK:         %[[FEW:.*]] = arith.cmpi ult
// CHECK-NEXT:    scf.if %[[FEW]] {
// CHECK-NEXT:      ptx.griddepcontrol {action = "launch_dependents"}
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      mbarrier_arrive_expect_tx

// -----

// CTAs that take tile after tile, as far apart as there are CTAs, are few: their number is not asked for.

func.func @strided(%p: !cute.ptr<f32, gmem>, %n: i32)
    attributes {tileas.parameters = ["ptr 0", "scalar 1"]} {
  %first = cute_nvgpu.arch.block_idx "x"
  %ctas = cute_nvgpu.arch.grid_dim "x"
  %two = arith.constant 2 : i32
  %pairs = arith.divui %ctas, %two : i32
  scf.for %i = %first to %n step %pairs : i32 {
    %q = cute.add_offset %p, %i : !cute.ptr<f32, gmem>, i32 -> !cute.ptr<f32, gmem>
    %x = cute.ptr.load %q : !cute.ptr<f32, gmem> -> f32
    cute.ptr.store %x, %q : f32, !cute.ptr<f32, gmem>
  }
  func.return
}

// CHECK-LABEL: func.func @strided
// CHECK:         ptx.griddepcontrol {action = "wait"}
// CHECK-NEXT:    ptx.griddepcontrol {action = "launch_dependents"}
// CHECK-NEXT:    scf.for

// -----

// A branch that loads is waited in front of, by all threads.

func.func @branch(%p: !cute.ptr<f32, gmem>, %n: i32)
    attributes {tileas.parameters = ["ptr 0", "scalar 1"]} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %ok = arith.cmpi slt, %t, %n : i32
  scf.if %ok {
    %q = cute.add_offset %p, %t : !cute.ptr<f32, gmem>, i32 -> !cute.ptr<f32, gmem>
    %x = cute.ptr.load %q : !cute.ptr<f32, gmem> -> f32
    cute.ptr.store %x, %q : f32, !cute.ptr<f32, gmem>
  }
  func.return
}

// CHECK-LABEL: func.func @branch
// CHECK:         arith.cmpi
// CHECK-NEXT:    ptx.griddepcontrol {action = "wait"}
// CHECK:         %[[FEW:.*]] = arith.cmpi ult
// CHECK-NEXT:    scf.if %[[FEW]] {
// CHECK-NEXT:      ptx.griddepcontrol {action = "launch_dependents"}
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.if

// -----

// A program that controls this by itself stays as it is, as does what accesses no memory.

func.func @explicit(%p: !cute.ptr<f32, gmem>, %x: f32)
    attributes {tileas.parameters = ["ptr 0", "scalar 1"]} {
  cute.ptr.store %x, %p : f32, !cute.ptr<f32, gmem>
  ptx.griddepcontrol {action = "launch_dependents"}
  func.return
}

func.func @nothing(%n: i32) attributes {tileas.parameters = ["scalar 0"]} {
  func.return
}

func.func @helper(%p: !cute.ptr<f32, gmem>, %x: f32) {
  cute.ptr.store %x, %p : f32, !cute.ptr<f32, gmem>
  func.return
}

// CHECK-LABEL: func.func @explicit
// CHECK-NOT:     "wait"
// CHECK-LABEL: func.func @nothing
// CHECK-NOT:     griddepcontrol
// CHECK-LABEL: func.func @helper
// CHECK-NOT:     griddepcontrol
