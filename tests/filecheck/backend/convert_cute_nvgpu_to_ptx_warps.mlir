// Threads and warps.

// RUN: tileas-opt %s -p cse,licm,convert-cute-nvgpu-to-ptx | filecheck %s

// CHECK:       ptx.shared @dynamic_shared {size = 0 : i64, align = 1024 : i64, extern}

// Indices are read once; that of a warp is in a form whose branches are seen to be uniform.

func.func @indices(%p: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute_nvgpu.arch.thread_idx "x"
  %1 = cute_nvgpu.arch.warp_idx
  %2 = cute_nvgpu.arch.lane_idx
  %3 = cute_nvgpu.arch.block_idx "y"
  %4 = cute_nvgpu.arch.grid_dim "z"
  %5 = cute_nvgpu.arch.cluster_ctarank
  %6 = cute_nvgpu.arch.make_warp_uniform %3 : i32 -> i32
  %7 = cute.fragment.make %0, %1, %2, %3, %4, %5, %6 : i32, i32, i32, i32, i32, i32, i32 -> vector<7xi32>
  cute.ptr.store %7, %p : vector<7xi32>, !cute.ptr<i32, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @indices(%p: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.sreg {register = "tid.x"} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 5 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.const {value = 31 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.const {value = -1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.shr %0, %1 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.shfl %5, %2, %3, %4 {mode = "idx"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.sreg {register = "laneid"} -> !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.sreg {register = "ctaid.y"} -> !ptx.reg<b32>
// CHECK-NEXT:    %9 = ptx.sreg {register = "nctaid.z"} -> !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.sreg {register = "cluster_ctarank"} -> !ptx.reg<b32>
// CHECK-NEXT:    %11 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %12 = ptx.cvta %11 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %13 = ptx.shfl %8, %2, %3, %4 {mode = "idx"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %14 = ptx.pack values(%0, %6, %7, %8, %9, %10, %13) : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32, 7>
// CHECK-NEXT:    ptx.st %12, %14 {width = 1 : i64, type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32, 7>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Shuffles, reductions and matrices.

func.func @together(%p: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<bf16, smem, align<16>>
  %0 = cute_nvgpu.arch.lane_idx
  %1 = cute_nvgpu.arch.shuffle "bfly" %0 by 16 : i32 -> i32
  %2 = cute_nvgpu.arch.shuffle "up" %1 lane %0 : i32 -> i32
  %3 = cute_nvgpu.arch.redux "umax" %2
  %bytes = cute_nvgpu.arch.prmt %1, %2 by %3
  cute.ptr.store %bytes, %p : i32, !cute.ptr<i32, gmem>
  %c64 = arith.constant 64 : i32
  %r = arith.muli %0, %c64 : i32
  %q = cute.add_offset %s, %r : !cute.ptr<bf16, smem, align<16>>, i32 -> !cute.ptr<bf16, smem, align<16>>
  %m = cute_nvgpu.arch.copy.ldsm %q matrices 4 transpose : !cute.ptr<bf16, smem, align<16>> -> vector<8xbf16>
  cute_nvgpu.arch.copy.stsm %m, %q matrices 4 : vector<8xbf16>, !cute.ptr<bf16, smem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @together(%p: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
// CHECK-NEXT:    %0 = ptx.address {variable = @dynamic_shared} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.sreg {register = "laneid"} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const {value = 16 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.const {value = 31 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.const {value = -1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.const {value = 7 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.shl %1, %6 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %9 = ptx.cvta %8 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %10 = ptx.shfl %1, %2, %3, %4 {mode = "bfly"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %11 = ptx.shfl %10, %1, %5, %4 {mode = "up"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %12 = ptx.redux %11, %4 {operation = "max", type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %13 = ptx.prmt %10, %11, %12 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.st %9, %13 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    %14 = ptx.add %0, %7 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %15 = ptx.ldmatrix %14 {shape = "m8n8", type = "b16", matrices = 4 : i64, trans} : !ptx.reg<b32> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    ptx.stmatrix %14, %15 {shape = "m8n8", type = "b16"} : !ptx.reg<b32>, !ptx.reg<b32, 4>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }
