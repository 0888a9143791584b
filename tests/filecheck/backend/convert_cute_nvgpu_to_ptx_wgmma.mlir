// Products of a warpgroup.

// RUN: tileas-opt %s -p cse,licm,convert-cute-nvgpu-to-ptx | filecheck %s

// CHECK:       ptx.shared @dynamic_shared {size = 0 : i64, align = 1024 : i64, extern}

// A descriptor is made once, before the loop; stages and steps along K are additions to it.

func.func @stages(%n: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
  %a0 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<bf16, smem, align<1024>>
  %b0 = cute_nvgpu.arch.get_dyn_smem 32768 -> !cute.ptr<bf16, smem, align<1024>>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4096 = arith.constant 4096 : i32
  %u = cute.fragment.undef : vector<32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %u) -> (vector<32xf32>) : i32 {
    %o = arith.muli %i, %c4096 : i32
    %a = cute.add_offset %a0, %o : !cute.ptr<bf16, smem, align<1024>>, i32 -> !cute.ptr<bf16, smem, align<1024>>
    %b = cute.add_offset %b0, %o : !cute.ptr<bf16, smem, align<1024>>, i32 -> !cute.ptr<bf16, smem, align<1024>>
    %da = cute_nvgpu.make_gmma_smem_desc %a swizzle "128B" leading 16 stride 1024 : !cute.ptr<bf16, smem, align<1024>>
    %db = cute_nvgpu.make_gmma_smem_desc %b swizzle "128B" leading 16 stride 1024 : !cute.ptr<bf16, smem, align<1024>>
    %da1 = cute_nvgpu.smem_desc_add %da bytes 32
    %db1 = cute_nvgpu.smem_desc_add %db bytes 32
    %later = arith.cmpi ne, %i, %c0 : i32
    cute_nvgpu.arch.wgmma_fence
    %c2 = cute_nvgpu.arch.mma.SM90 %da, %db, %c scale_d %later shape [64, 64, 16] elements "bf16", "bf16" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
    %c3 = cute_nvgpu.arch.mma.SM90 %da1, %db1, %c2 shape [64, 64, 16] elements "bf16", "bf16" major "k", "k" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
    cute_nvgpu.arch.wgmma_commit_group
    cute_nvgpu.arch.wgmma_wait_group 1
    scf.yield %c3 : vector<32xf32>
  }
  %d = cute_nvgpu.arch.wgmma_wait_group 0, %r : vector<32xf32> -> vector<32xf32>
  func.return
}

// CHECK-LABEL: ptx.entry @stages(%n: !ptx.param<u32>) attributes {reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
// CHECK-NEXT:    %0 = ptx.address {variable = @dynamic_shared} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.const {value = 262143 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.const {value = 4 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.const {value = 4611686293305360384 : i64} -> !ptx.reg<b64>
// CHECK-NEXT:    %6 = ptx.const {value = 512 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.const {value = 1 : i64} -> !ptx.reg<pred>
// CHECK-NEXT:    %8 = ptx.const {value = 2048 : i64} -> !ptx.reg<b64>
// CHECK-NEXT:    %9 = ptx.const {value = 2 : i64} -> !ptx.reg<b64>
// CHECK-NEXT:    %10 = ptx.mov %7 {type = "pred"} : !ptx.reg<pred> -> !ptx.reg<pred>
// CHECK-NEXT:    %11 = ptx.const {value = 2050 : i64} -> !ptx.reg<b64>
// CHECK-NEXT:    %12 = ptx.and %0, %3 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %13 = ptx.shr %12, %4 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %14 = ptx.cvt %13 {to = "u64", source = "u32"} : !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    %15 = ptx.or %14, %5 {type = "b64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %16 = ptx.ld_param %n {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %17 = ptx.undef -> !ptx.reg<f32, 32>
// CHECK-NEXT:    ptx.bra ^bb1(%1, %17 : !ptx.reg<b32>, !ptx.reg<f32, 32>)
// CHECK-NEXT:  ^bb1(%18: !ptx.reg<b32>, %19: !ptx.reg<f32, 32>):
// CHECK-NEXT:    %20 = ptx.setp %18, %16 {comparison = "lt", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    ptx.cond_bra %20, ^bb2, ^bb3
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    %21 = ptx.mad %18, %6, %15 {type = "s32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %22 = ptx.setp %18, %1 {comparison = "ne", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    ptx.wgmma.fence
// CHECK-NEXT:    %23 = ptx.add %21, %8 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %24 = ptx.wgmma %19, %21, %23, %22 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 32>
// CHECK-NEXT:    %25 = ptx.add %21, %9 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %26 = ptx.add %21, %11 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %27 = ptx.wgmma %24, %25, %26, %10 {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 32>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 32>
// CHECK-NEXT:    ptx.wgmma.commit_group
// CHECK-NEXT:    ptx.wgmma.wait_group {pending = 1 : i64}
// CHECK-NEXT:    %28 = ptx.add %18, %2 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^bb1(%28, %27 : !ptx.reg<b32>, !ptx.reg<f32, 32>)
// CHECK-NEXT:  ^bb3:
// CHECK-NEXT:    %29 = ptx.wgmma.wait_group values(%19) {pending = 0 : i64} : !ptx.reg<f32, 32> -> !ptx.reg<f32, 32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// A from registers, operands along M or N, accumulators of 16 bits and of integers.

func.func @forms(%n: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f16, smem, align<1024>>
  %d = cute_nvgpu.make_gmma_smem_desc %s swizzle "128B" leading 8192 stride 1024 : !cute.ptr<f16, smem, align<1024>>
  %p = cute_nvgpu.smem_desc_add %d by %n
  %a = cute.ptr.load %s : !cute.ptr<f16, smem, align<1024>> -> vector<8xf16>
  %h = cute.fragment.undef : vector<32xf16>
  %i = cute.fragment.undef : vector<16xi32>
  %0 = cute_nvgpu.arch.mma.SM90 %a, %d, %h shape [64, 64, 16] elements "f16", "f16" major "k", "mn" : vector<8xf16>, vector<32xf16> -> vector<32xf16>
  %1 = cute_nvgpu.arch.mma.SM90 %d, %p, %0 shape [64, 64, 16] elements "f16", "f16" major "mn", "k" : !cute_nvgpu.smem_desc, vector<32xf16> -> vector<32xf16>
  %2 = cute_nvgpu.arch.mma.SM90 %d, %d, %i shape [64, 32, 32] elements "u8", "s8" major "k", "k" : !cute_nvgpu.smem_desc, vector<16xi32> -> vector<16xi32>
  cute_nvgpu.arch.wgmma_commit_group
  %3, %4 = cute_nvgpu.arch.wgmma_wait_group 0, %1, %2 : vector<32xf16>, vector<16xi32> -> vector<32xf16>, vector<16xi32>
  func.return
}

// CHECK-LABEL: ptx.entry @forms(%n: !ptx.param<u32>) attributes {reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
// CHECK-NEXT:    %0 = ptx.address {variable = @dynamic_shared} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 262143 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const {value = 4 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.const {value = 4611686293338849280 : i64} -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.const {value = 1 : i64} -> !ptx.reg<pred>
// CHECK-NEXT:    %5 = ptx.mov %4 {type = "pred"} : !ptx.reg<pred> -> !ptx.reg<pred>
// CHECK-NEXT:    %6 = ptx.and %0, %1 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.shr %6, %2 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.cvt %7 {to = "u64", source = "u32"} : !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    %9 = ptx.or %8, %3 {type = "b64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %10 = ptx.ld_param %n {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %11 = ptx.shr %10, %2 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %12 = ptx.cvt %11 {to = "s64", source = "s32"} : !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    %13 = ptx.add %9, %12 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %14 = ptx.ld %0 {type = "b32", space = "shared"} : !ptx.reg<b32> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    %15 = ptx.undef -> !ptx.reg<b32, 16>
// CHECK-NEXT:    %16 = ptx.undef -> !ptx.reg<b32, 16>
// CHECK-NEXT:    %17 = ptx.wgmma %15, %14, %9, %5 {type = "f16", a_type = "f16", b_type = "f16", trans_b} : !ptx.reg<b32, 16>, !ptx.reg<b32, 4>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<b32, 16>
// CHECK-NEXT:    %18 = ptx.wgmma %17, %9, %13, %5 {type = "f16", a_type = "f16", b_type = "f16", trans_a} : !ptx.reg<b32, 16>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<b32, 16>
// CHECK-NEXT:    %19 = ptx.wgmma %16, %9, %9, %5 {type = "s32", a_type = "u8", b_type = "s8"} : !ptx.reg<b32, 16>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<b32, 16>
// CHECK-NEXT:    ptx.wgmma.commit_group
// CHECK-NEXT:    %20, %21 = ptx.wgmma.wait_group values(%18, %19) {pending = 0 : i64} : !ptx.reg<b32, 16>, !ptx.reg<b32, 16> -> !ptx.reg<b32, 16>, !ptx.reg<b32, 16>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// A descriptor that a branch reads first is added up again behind the branch, which may not run.

func.func @branches(%flag: i1, %n: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f16, smem, align<1024>>
  %d = cute_nvgpu.make_gmma_smem_desc %s swizzle "128B" leading 16 stride 1024 : !cute.ptr<f16, smem, align<1024>>
  %p = cute_nvgpu.smem_desc_add %d bytes 32
  %i = cute.fragment.undef : vector<16xi32>
  scf.if %flag {
    %0 = cute_nvgpu.arch.mma.SM90 %p, %d, %i shape [64, 32, 32] elements "u8", "s8" major "k", "k" : !cute_nvgpu.smem_desc, vector<16xi32> -> vector<16xi32>
  }
  %1 = cute_nvgpu.arch.mma.SM90 %p, %d, %i shape [64, 32, 32] elements "u8", "s8" major "k", "k" : !cute_nvgpu.smem_desc, vector<16xi32> -> vector<16xi32>
  cute_nvgpu.arch.wgmma_commit_group
  %3 = cute_nvgpu.arch.wgmma_wait_group 0, %1 : vector<16xi32> -> vector<16xi32>
  func.return
}

// CHECK-LABEL: ptx.entry @branches
// CHECK:         [[TWO:%[0-9]+]] = ptx.const {value = 2 : i64} -> !ptx.reg<b64>
// CHECK:         [[D:%[0-9]+]] = ptx.or
// CHECK:         ptx.cond_bra
// CHECK:         [[TAKEN:%[0-9]+]] = ptx.add [[D]], [[TWO]]
// CHECK-NEXT:    ptx.wgmma {{.*}}, [[TAKEN]], [[D]],
// CHECK:         [[BEHIND:%[0-9]+]] = ptx.add [[D]], [[TWO]]
// CHECK-NEXT:    ptx.wgmma {{.*}}, [[BEHIND]], [[D]],
