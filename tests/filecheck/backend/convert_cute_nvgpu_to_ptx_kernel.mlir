// Kernel parameters and launch directives.

// RUN: tileas-opt %s -p cse,licm,convert-cute-nvgpu-to-ptx | filecheck %s

// CHECK:       ptx.shared @dynamic_shared {size = 0 : i64, align = 1024 : i64, extern}

// Pointers are 64-bit parameters, tensor maps 128 bytes; an index has 32 bits.

func.func @parameters(%p: !cute.ptr<f32, gmem, align<16>>, %m: !cute_nvgpu.tma_descriptor_tiled, %i: i32, %j: i64, %k: index, %f: f32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = arith.index_cast %k : index to i64
  %1 = arith.addi %0, %j : i64
  %2 = cute.add_offset %p, %1 : !cute.ptr<f32, gmem, align<16>>, i64 -> !cute.ptr<f32, gmem>
  cute.ptr.store %f, %2 : f32, !cute.ptr<f32, gmem>
  cute_nvgpu.arch.prefetch_tma_desc %m
  func.return
}

// CHECK-LABEL: ptx.entry @parameters(%p: !ptx.param<u64>, %m: !ptx.param<b8, 128, align 64>, %i: !ptx.param<u32>, %j: !ptx.param<u64>, %k: !ptx.param<u32>, %f: !ptx.param<f32>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 2 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.cvta %1 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.param_address %m : !ptx.param<b8, 128, align 64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.ld_param %j {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.ld_param %k {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.ld_param %f {type = "f32"} : !ptx.param<f32> -> !ptx.reg<f32>
// CHECK-NEXT:    %7 = ptx.cvt %5 {to = "s64", source = "s32"} : !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    %8 = ptx.add %7, %4 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %9 = ptx.shl %8, %0 {type = "b64"} : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    %10 = ptx.add %2, %9 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.st %10, %6 {type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.prefetch_tensormap %3 : !ptx.reg<b64>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Launch bounds, clusters and shared memory are kept.

func.func @bounds() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>, nvvm.minctasm = 1 : i32, nvvm.maxnreg = 128 : i32, tileas.smem_bytes = 1024 : i32} {
  %0 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i64, smem>
  cute_nvgpu.arch.mbarrier_init %0, 1 : !cute.ptr<i64, smem>
  func.return
}

// CHECK-LABEL: ptx.entry @bounds() attributes {reqntid = array<i32: 128, 1, 1>, minnctapersm = 1 : i64, maxnreg = 128 : i64, explicitcluster, reqnctapercluster = array<i32: 2, 1, 1>, tileas.smem_bytes = 1024 : i32} {
// CHECK-NEXT:    %0 = ptx.address {variable = @dynamic_shared} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.mbarrier.init %0, %1 : !ptx.reg<b32>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// A kernel that changes its registers has one block in an SM, so that ptxas knows what it starts with.

func.func @budgets() attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  cute_nvgpu.arch.setmaxregister 232 increase = true
  func.return
}

// CHECK-LABEL: ptx.entry @budgets() attributes {reqntid = array<i32: 128, 1, 1>, minnctapersm = 1 : i64} {
// CHECK-NEXT:    ptx.setmaxnreg {count = 232 : i64, direction = "inc"}
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }
