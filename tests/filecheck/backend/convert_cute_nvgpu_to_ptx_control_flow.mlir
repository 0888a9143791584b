// Loops carry registers as arguments of blocks; branches that cost more than they save are selections.

// RUN: tileas-opt %s -p cse,licm,convert-cute-nvgpu-to-ptx | filecheck %s

// A loop of unknown length is tested at its top.

func.func @loop(%n: i32, %p: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
    %1 = arith.addi %s, %i : i32
    scf.yield %1 : i32
  }
  cute.ptr.store %0, %p : i32, !cute.ptr<i32, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @loop(%n: !ptx.param<u32>, %p: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.ld_param %n {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.cvta %3 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.bra ^bb1(%0, %0 : !ptx.reg<b32>, !ptx.reg<b32>)
// CHECK-NEXT:  ^bb1(%5: !ptx.reg<b32>, %6: !ptx.reg<b32>):
// CHECK-NEXT:    %7 = ptx.setp %5, %2 {comparison = "lt", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    ptx.cond_bra %7, ^bb2, ^bb3
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    %8 = ptx.add %6, %5 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %9 = ptx.add %5, %1 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^bb1(%9, %8 : !ptx.reg<b32>, !ptx.reg<b32>)
// CHECK-NEXT:  ^bb3:
// CHECK-NEXT:    ptx.st %4, %6 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// One that is known to run is tested at its bottom.

func.func @counted(%p: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0 : i32
  %0 = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %z) -> (i32) {
    %1 = arith.index_cast %i : index to i32
    %2 = arith.addi %s, %1 : i32
    scf.yield %2 : i32
  }
  cute.ptr.store %0, %p : i32, !cute.ptr<i32, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @counted(%p: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const {value = 8 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.cvta %3 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.bra ^bb1(%0, %0 : !ptx.reg<b32>, !ptx.reg<b32>)
// CHECK-NEXT:  ^bb1(%5: !ptx.reg<b32>, %6: !ptx.reg<b32>):
// CHECK-NEXT:    %7 = ptx.add %6, %5 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.add %5, %1 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %9 = ptx.setp %8, %2 {comparison = "lt", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    ptx.cond_bra %9, ^bb1(%8, %7 : !ptx.reg<b32>, !ptx.reg<b32>), ^bb2
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    ptx.st %4, %7 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Loops that run once or never are none.

func.func @short(%p: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = scf.for %i = %c3 to %c5 step %c5 iter_args(%s = %c5) -> (i32) : i32 {
    %1 = arith.addi %s, %i : i32
    scf.yield %1 : i32
  }
  %2 = scf.for %i = %c5 to %c3 step %c5 iter_args(%s = %0) -> (i32) : i32 {
    %3 = arith.muli %s, %i : i32
    scf.yield %3 : i32
  }
  cute.ptr.store %2, %p : i32, !cute.ptr<i32, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @short(%p: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 3 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 5 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.cvta %2 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.add %1, %0 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.st %3, %4 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// A branch with effects is one.

func.func @branch(%n: i32, %p: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %0 = arith.cmpi eq, %n, %c0 : i32
  scf.if %0 {
    cute_nvgpu.arch.barrier id 0
    scf.yield
  }
  %1 = scf.if %0 -> (i32) {
    %2 = cute.ptr.load %p : !cute.ptr<i32, gmem> -> i32
    scf.yield %2 : i32
  } else {
    scf.yield %n : i32
  }
  cute.ptr.store %1, %p : i32, !cute.ptr<i32, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @branch(%n: !ptx.param<u32>, %p: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.ld_param %n {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.cvta %2 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.setp %1, %0 {comparison = "eq", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    ptx.cond_bra %4, ^bb1, ^bb2
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    ptx.bar.sync %0 : !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^bb2
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    ptx.cond_bra %4, ^bb3, ^bb4
// CHECK-NEXT:  ^bb3:
// CHECK-NEXT:    %5 = ptx.ld %3 {type = "b32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^bb5(%5 : !ptx.reg<b32>)
// CHECK-NEXT:  ^bb4:
// CHECK-NEXT:    ptx.bra ^bb5(%1 : !ptx.reg<b32>)
// CHECK-NEXT:  ^bb5(%6: !ptx.reg<b32>):
// CHECK-NEXT:    ptx.st %3, %6 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// One that costs less than branching is a selection.

func.func @selection(%n: i32, %p: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %0 = arith.cmpi eq, %n, %c0 : i32
  %1, %2 = scf.if %0 -> (i32, i1) {
    %3 = arith.addi %n, %n : i32
    scf.yield %3, %0 : i32, i1
  } else {
    %4 = arith.constant true
    scf.yield %n, %4 : i32, i1
  }
  cute.ptr.store %1, %p if %2 : i32, !cute.ptr<i32, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @selection(%n: !ptx.param<u32>, %p: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 1 : i64} -> !ptx.reg<pred>
// CHECK-NEXT:    %2 = ptx.ld_param %n {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.cvta %3 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.setp %2, %0 {comparison = "eq", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    %6 = ptx.add %2, %2 {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %7 = ptx.selp %6, %2, %5 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.and %5, %5 {type = "pred"} : !ptx.reg<pred>, !ptx.reg<pred> -> !ptx.reg<pred>
// CHECK-NEXT:    %9 = ptx.not %5 {type = "pred"} : !ptx.reg<pred> -> !ptx.reg<pred>
// CHECK-NEXT:    %10 = ptx.and %9, %1 {type = "pred"} : !ptx.reg<pred>, !ptx.reg<pred> -> !ptx.reg<pred>
// CHECK-NEXT:    %11 = ptx.or %8, %10 {type = "pred"} : !ptx.reg<pred>, !ptx.reg<pred> -> !ptx.reg<pred>
// CHECK-NEXT:    ptx.st %4, %7 guard(%11) {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<pred>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// What the first region of a `while` passes goes to both ways on.

func.func @iterate(%n: i32, %p: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c1 = arith.constant 1 : i32
  %0 = scf.while (%i = %n) : (i32) -> (i32) {
    %1 = arith.cmpi sgt, %i, %c1 : i32
    scf.condition(%1) %i : i32
  } do {
  ^bb0(%j: i32):
    %2 = arith.shrui %j, %c1 : i32
    scf.yield %2 : i32
  }
  cute.ptr.store %0, %p : i32, !cute.ptr<i32, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @iterate(%n: !ptx.param<u32>, %p: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.ld_param %n {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.cvta %2 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.bra ^bb1(%1 : !ptx.reg<b32>)
// CHECK-NEXT:  ^bb1(%4: !ptx.reg<b32>):
// CHECK-NEXT:    %5 = ptx.setp %4, %0 {comparison = "gt", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    ptx.cond_bra %5, ^bb2, ^bb3
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    %6 = ptx.shr %4, %0 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^bb1(%6 : !ptx.reg<b32>)
// CHECK-NEXT:  ^bb3:
// CHECK-NEXT:    ptx.st %3, %4 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// A switch compares with one case after the other.

func.func @switch(%n: index, %p: !cute.ptr<i32, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %0 = scf.index_switch %n -> i32
  case 2 {
    %1 = cute.ptr.load %p : !cute.ptr<i32, gmem> -> i32
    scf.yield %1 : i32
  }
  default {
    %2 = arith.constant 7 : i32
    scf.yield %2 : i32
  }
  cute.ptr.store %0, %p : i32, !cute.ptr<i32, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @switch(%n: !ptx.param<u32>, %p: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 2 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 7 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.ld_param %n {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.cvta %3 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.setp %2, %0 {comparison = "eq", type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
// CHECK-NEXT:    ptx.cond_bra %5, ^bb1, ^bb2
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    %6 = ptx.ld %4 {type = "b32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.bra ^bb3(%6 : !ptx.reg<b32>)
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    ptx.bra ^bb3(%1 : !ptx.reg<b32>)
// CHECK-NEXT:  ^bb3(%7: !ptx.reg<b32>):
// CHECK-NEXT:    ptx.st %4, %7 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }
