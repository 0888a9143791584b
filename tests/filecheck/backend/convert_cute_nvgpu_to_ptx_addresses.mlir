// Addresses: constants go into instructions, the rest is added once.

// RUN: tileas-opt %s -p cse,licm,convert-cute-nvgpu-to-ptx | filecheck %s

// CHECK:       ptx.shared @dynamic_shared {size = 0 : i64, align = 1024 : i64, extern}

// Constant distances, of elements of any size, end in the address of the access.

func.func @constants(%p: !cute.ptr<f32, gmem, align<16>>, %f: f32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i64
  %0 = cute.add_offset %p, %c1 : !cute.ptr<f32, gmem, align<16>>, i32 -> !cute.ptr<f32, gmem>
  %1 = cute.add_offset %0, %c6 : !cute.ptr<f32, gmem>, i64 -> !cute.ptr<f32, gmem>
  cute.ptr.store %f, %0 : f32, !cute.ptr<f32, gmem>
  cute.ptr.store %f, %1 : f32, !cute.ptr<f32, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @constants(%p: !ptx.param<u64>, %f: !ptx.param<f32>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %1 = ptx.cvta %0 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.ld_param %f {type = "f32"} : !ptx.param<f32> -> !ptx.reg<f32>
// CHECK-NEXT:    ptx.st %1, %2 {offset = 4 : i64, type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.st %1, %2 {offset = 28 : i64, type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// In shared memory sums and products wrap as addresses do: `8 * i + 3` elements of 2 bytes.

func.func @shared(%i: i32, %f: f16) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 1024 -> !cute.ptr<f16, smem, align<16>>
  %c8 = arith.constant 8 : i32
  %c3 = arith.constant 3 : i32
  %0 = arith.muli %i, %c8 : i32
  %1 = arith.addi %0, %c3 : i32
  %2 = cute.add_offset %s, %1 : !cute.ptr<f16, smem, align<16>>, i32 -> !cute.ptr<f16, smem>
  cute.ptr.store %f, %2 : f16, !cute.ptr<f16, smem>
  func.return
}

// CHECK-LABEL: ptx.entry @shared(%i: !ptx.param<u32>, %f: !ptx.param<u16>) attributes {reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
// CHECK-NEXT:    %0 = ptx.address {variable = @dynamic_shared} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 4 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.ld_param %i {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.shl %2, %1 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.ld_param %f {type = "u16"} : !ptx.param<u16> -> !ptx.reg<b16>
// CHECK-NEXT:    %5 = ptx.add %0, %3 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.st %5, %4 {offset = 1030 : i64, type = "b16", space = "shared"} : !ptx.reg<b32>, !ptx.reg<b16>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// A constant inside a sum leaves it: rows of 16 elements are one register and distances of 128 bytes.

func.func @rows(%i: i32, %j: i32, %f: f16) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 65536 : i32} {
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f16, smem, align<16>>
  %c16 = arith.constant 16 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %1 = arith.addi %i, %c4 : i32
  %2 = arith.muli %1, %c16 : i32
  %3 = arith.addi %2, %j : i32
  %4 = cute.add_offset %s, %3 : !cute.ptr<f16, smem, align<16>>, i32 -> !cute.ptr<f16, smem>
  cute.ptr.store %f, %4 : f16, !cute.ptr<f16, smem>
  %5 = arith.addi %i, %c8 : i32
  %6 = arith.muli %5, %c16 : i32
  %7 = arith.addi %6, %j : i32
  %8 = cute.add_offset %s, %7 : !cute.ptr<f16, smem, align<16>>, i32 -> !cute.ptr<f16, smem>
  cute.ptr.store %f, %8 : f16, !cute.ptr<f16, smem>
  func.return
}

// CHECK-LABEL: ptx.entry @rows
// CHECK:         [[A:%[0-9]+]] = ptx.add %
// CHECK-NEXT:    [[B:%[0-9]+]] = ptx.add [[A]],
// CHECK-NEXT:    ptx.st [[B]], {{%[0-9]+}} {offset = 128 : i64, type = "b16", space = "shared"}
// CHECK-NEXT:    ptx.st [[B]], {{%[0-9]+}} {offset = 256 : i64, type = "b16", space = "shared"}

// In global memory a sum of 32 bits is taken apart only if it cannot overflow.

func.func @overflow(%p: !cute.ptr<f32, gmem>, %i: i32, %j: index, %f: f32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c1 = arith.constant 1 : i32
  %x1 = arith.constant 1 : index
  %0 = arith.addi %i, %c1 : i32
  %1 = cute.add_offset %p, %0 : !cute.ptr<f32, gmem>, i32 -> !cute.ptr<f32, gmem>
  cute.ptr.store %f, %1 : f32, !cute.ptr<f32, gmem>
  %2 = arith.addi %i, %c1 overflow<nsw> : i32
  %3 = cute.add_offset %p, %2 : !cute.ptr<f32, gmem>, i32 -> !cute.ptr<f32, gmem>
  cute.ptr.store %f, %3 : f32, !cute.ptr<f32, gmem>
  %4 = arith.addi %j, %x1 : index
  %5 = cute.add_offset %p, %4 : !cute.ptr<f32, gmem>, index -> !cute.ptr<f32, gmem>
  cute.ptr.store %f, %5 : f32, !cute.ptr<f32, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @overflow(%p: !ptx.param<u64>, %i: !ptx.param<u32>, %j: !ptx.param<u32>, %f: !ptx.param<f32>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 4 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.cvta %2 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.ld_param %i {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.mul %4, %1 {type = "s32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    %6 = ptx.ld_param %j {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.mul %6, %1 {type = "s32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    %8 = ptx.ld_param %f {type = "f32"} : !ptx.param<f32> -> !ptx.reg<f32>
// CHECK-NEXT:    %9 = ptx.add %4, %0 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.mul %9, %1 {type = "s32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    %11 = ptx.add %3, %10 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.st %11, %8 {type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %12 = ptx.add %3, %5 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.st %12, %8 {offset = 4 : i64, type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %13 = ptx.add %3, %7 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.st %13, %8 {offset = 4 : i64, type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// What is known before a loop is computed there, though the pointer is made inside.

func.func @hoisted(%p: !cute.ptr<f32, gmem>, %n: i32, %i: i32, %f: f32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %k = %c0 to %n step %c1 : i32 {
    %0 = cute.add_offset %p, %i : !cute.ptr<f32, gmem>, i32 -> !cute.ptr<f32, gmem>
    %1 = cute.add_offset %0, %k : !cute.ptr<f32, gmem>, i32 -> !cute.ptr<f32, gmem>
    cute.ptr.store %f, %1 : f32, !cute.ptr<f32, gmem>
  }
  func.return
}

// CHECK-LABEL: ptx.entry @hoisted(%p: !ptx.param<u64>, %n: !ptx.param<u32>, %i: !ptx.param<u32>, %f: !ptx.param<f32>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const {value = 4 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.cvta %3 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.ld_param %n {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.ld_param %i {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.mul %6, %2 {type = "s32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    %8 = ptx.ld_param %f {type = "f32"} : !ptx.param<f32> -> !ptx.reg<f32>
// CHECK-NEXT:    %9 = ptx.add %4, %7 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.bra ^bb1(%0 : !ptx.reg<b32>)
// CHECK-NEXT:  ^bb1(%10: !ptx.reg<b32>):
// CHECK-NEXT:    %11 = ptx.mul %10, %2 {type = "s32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    %12 = ptx.setp %10, %5 {comparison = "lt", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    ptx.cond_bra %12, ^bb2, ^bb3
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    %13 = ptx.add %9, %11 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.st %13, %8 {type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32>
// CHECK-NEXT:    %14 = ptx.add %10, %1 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^bb1(%14 : !ptx.reg<b32>)
// CHECK-NEXT:  ^bb3:
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Accesses are as wide as alignment allows: 16 bytes, two of 16, one by one.

func.func @widths(%p: !cute.ptr<bf16, gmem, align<16>>, %q: !cute.ptr<bf16, gmem>, %i: i32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %z = arith.constant 0 : i32
  %c = arith.cmpi slt, %i, %z : i32
  %0 = cute.ptr.load %p if %c : !cute.ptr<bf16, gmem, align<16>> -> vector<8xbf16>
  %1 = cute.ptr.load %p cache "streaming" : !cute.ptr<bf16, gmem, align<16>> -> vector<16xbf16>
  %2 = cute.ptr.load %q : !cute.ptr<bf16, gmem> -> vector<4xbf16>
  cute.ptr.store %0, %p if %c : vector<8xbf16>, !cute.ptr<bf16, gmem, align<16>>
  cute.ptr.store %1, %p : vector<16xbf16>, !cute.ptr<bf16, gmem, align<16>>
  cute.ptr.store %2, %q : vector<4xbf16>, !cute.ptr<bf16, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @widths(%p: !ptx.param<u64>, %q: !ptx.param<u64>, %i: !ptx.param<u32>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.cvta %1 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.ld_param %q {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.cvta %3 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.ld_param %i {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %6 = ptx.setp %5, %0 {comparison = "lt", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    %7 = ptx.ld %2 otherwise(%0) guard(%6) {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    %8 = ptx.ld %2 {cache = "cs", type = "b32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32, 8>
// CHECK-NEXT:    %9 = ptx.ld %4 {width = 1 : i64, type = "b16", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b16, 4>
// CHECK-NEXT:    %10 = ptx.join %9 : !ptx.reg<b16, 4> -> !ptx.reg<b32, 2>
// CHECK-NEXT:    ptx.st %2, %7 guard(%6) {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32, 4>, !ptx.reg<pred>
// CHECK-NEXT:    ptx.st %2, %8 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32, 8>
// CHECK-NEXT:    %11 = ptx.split %10 : !ptx.reg<b32, 2> -> !ptx.reg<b16, 4>
// CHECK-NEXT:    ptx.st %4, %11 {width = 1 : i64, type = "b16", space = "global"} : !ptx.reg<b64>, !ptx.reg<b16, 4>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// An offset goes into the instruction; it may lower the alignment, and be too far for it.

func.func @offsets(%p: !cute.ptr<bf16, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = cute.ptr.load %p offset 8 : !cute.ptr<bf16, gmem, align<16>> -> vector<8xbf16>
  %1 = cute.ptr.load %p offset 18 : !cute.ptr<bf16, gmem, align<16>> -> vector<8xbf16>
  cute.ptr.store %0, %p offset -16 : vector<8xbf16>, !cute.ptr<bf16, gmem, align<16>>
  cute.ptr.store %1, %p offset 16777216 : vector<8xbf16>, !cute.ptr<bf16, gmem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @offsets(%p: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 33554432 : i64} -> !ptx.reg<b64>
// CHECK-NEXT:    %1 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.cvta %1 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.ld %2 {offset = 16 : i64, type = "b32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    %4 = ptx.ld %2 {offset = 36 : i64, width = 1 : i64, type = "b32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    ptx.st %2, %3 {offset = -32 : i64, type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32, 4>
// CHECK-NEXT:    %5 = ptx.add %2, %0 {type = "s64"} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.st %5, %4 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32, 4>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }
