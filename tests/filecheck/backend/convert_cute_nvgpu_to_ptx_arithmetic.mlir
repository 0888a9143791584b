// Arithmetic on elements and fragments; fragments of 16 bits are pairs in 32-bit registers.

// RUN: tileas-opt %s -p cse,licm,convert-cute-nvgpu-to-ptx | filecheck %s

// Powers of two are shifts, other constants multiplications.

func.func @integers(%p: !cute.ptr<i32, gmem, align<16>>, %q: !cute.ptr<i32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %x = cute.ptr.load %p : !cute.ptr<i32, gmem, align<16>> -> i32
  %c8 = arith.constant 8 : i32
  %c7 = arith.constant 7 : i32
  %0 = arith.muli %x, %c8 : i32
  %1 = arith.divui %0, %c8 : i32
  %2 = arith.remui %1, %c8 : i32
  %r = arith.divui %2, %c7 : i32
  cute.ptr.store %r, %q : i32, !cute.ptr<i32, gmem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @integers(%p: !ptx.param<u64>, %q: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 7 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %1 = ptx.const {value = 3 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %2 = ptx.const {value = 613566757 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %3 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %4 = ptx.const {value = 2 : i64} -> !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %6 = ptx.cvta %5 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %7 = ptx.ld_param %q {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %8 = ptx.cvta %7 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %9 = ptx.ld %6 {type = "b32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT:    %10 = ptx.shl %9, %1 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %11 = ptx.shr %10, %1 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %12 = ptx.and %11, %0 {type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %13 = ptx.mul %12, %2 {type = "u32", mode = "hi"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %14 = ptx.sub %12, %13 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %15 = ptx.shr %14, %3 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %16 = ptx.add %15, %13 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    %17 = ptx.shr %16, %4 {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.st %8, %17 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Floats keep their rounding unless they may be contracted; both elements of a pair at once.

func.func @floats(%p: !cute.ptr<bf16, gmem, align<16>>, %q: !cute.ptr<bf16, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %x = cute.ptr.load %p : !cute.ptr<bf16, gmem, align<16>> -> vector<8xbf16>
  %0 = arith.addf %x, %x : vector<8xbf16>
  %1 = arith.mulf %0, %x fastmath<contract> : vector<8xbf16>
  %r = arith.maximumf %1, %x : vector<8xbf16>
  cute.ptr.store %r, %q : vector<8xbf16>, !cute.ptr<bf16, gmem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @floats(%p: !ptx.param<u64>, %q: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %1 = ptx.cvta %0 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.ld_param %q {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.cvta %2 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.ld %1 {type = "b32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    %5 = ptx.add %4, %4 {type = "bf16x2", rounding = "rn"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 4> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    %6 = ptx.mul %5, %4 {type = "bf16x2"} : !ptx.reg<b32, 4>, !ptx.reg<b32, 4> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    %7 = ptx.max %6, %4 {type = "bf16x2", nan} : !ptx.reg<b32, 4>, !ptx.reg<b32, 4> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    ptx.st %3, %7 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32, 4>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Pairs of integers have no literals.

func.func @pair_of_constants(%p: !cute.ptr<i16, gmem, align<4>>, %q: !cute.ptr<i16, gmem, align<4>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %c = arith.constant dense<[4, 5]> : vector<2xi16>
  %x = cute.ptr.load %p : !cute.ptr<i16, gmem, align<4>> -> vector<2xi16>
  %r = arith.addi %x, %c : vector<2xi16>
  cute.ptr.store %r, %q : vector<2xi16>, !cute.ptr<i16, gmem, align<4>>
  func.return
}

// CHECK-LABEL: ptx.entry @pair_of_constants(
// CHECK:         %[[LITERAL:.*]] = ptx.const {value = 327684 : i64} -> !ptx.reg<b32>
// CHECK:         %[[PAIR:.*]] = ptx.mov %[[LITERAL]] {type = "b32"} : !ptx.reg<b32> -> !ptx.reg<b32>
// CHECK:         ptx.add %{{.*}}, %[[PAIR]] {type = "s16x2"}

// Division is that of f32.

func.func @quotients(%p: !cute.ptr<f16, gmem, align<16>>, %q: !cute.ptr<f16, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %x = cute.ptr.load %p : !cute.ptr<f16, gmem, align<16>> -> vector<2xf16>
  %r = arith.divf %x, %x : vector<2xf16>
  cute.ptr.store %r, %q : vector<2xf16>, !cute.ptr<f16, gmem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @quotients(%p: !ptx.param<u64>, %q: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %1 = ptx.cvta %0 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.ld_param %q {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.cvta %2 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.ld %1 {type = "b32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT:    %5 = ptx.split %4 : !ptx.reg<b32> -> !ptx.reg<b16, 2>
// CHECK-NEXT:    %6 = ptx.cvt %5 {to = "f32", source = "f16"} : !ptx.reg<b16, 2> -> !ptx.reg<f32, 2>
// CHECK-NEXT:    %7 = ptx.split %4 : !ptx.reg<b32> -> !ptx.reg<b16, 2>
// CHECK-NEXT:    %8 = ptx.cvt %7 {to = "f32", source = "f16"} : !ptx.reg<b16, 2> -> !ptx.reg<f32, 2>
// CHECK-NEXT:    %9 = ptx.div %6, %8 {type = "f32", rounding = "rn"} : !ptx.reg<f32, 2>, !ptx.reg<f32, 2> -> !ptx.reg<f32, 2>
// CHECK-NEXT:    %10 = ptx.cvt_pack %9 {to = "f16x2", rounding = "rn"} : !ptx.reg<f32, 2> -> !ptx.reg<b32>
// CHECK-NEXT:    ptx.st %3, %10 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// A quotient that is seldom reached is computed by f64: ptxas would make a subroutine of it.

func.func @quotient(%a: f32, %b: f32, %q: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %r = arith.divf %a, %b {nv_tileas.by_f64} : f32
  cute.ptr.store %r, %q : f32, !cute.ptr<f32, gmem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @quotient
// CHECK:         %[[A:.*]] = ptx.cvt %{{.*}} {to = "f64", source = "f32"} : !ptx.reg<f32> -> !ptx.reg<f64>
// CHECK-NEXT:    %[[B:.*]] = ptx.cvt %{{.*}} {to = "f64", source = "f32"} : !ptx.reg<f32> -> !ptx.reg<f64>
// CHECK-NEXT:    %[[ABOUT:.*]] = ptx.rcp %[[B]] {type = "f64", rounding = "approx", ftz}
// CHECK-NEXT:    %[[FIRST:.*]] = ptx.mul %[[A]], %[[ABOUT]] {type = "f64", rounding = "rn"}
// CHECK-NEXT:    %[[MINUS:.*]] = ptx.neg %[[B]] {type = "f64"}
// CHECK-NEXT:    %[[E:.*]] = ptx.fma %[[MINUS]], %[[ABOUT]], %{{.*}} {type = "f64", rounding = "rn"}
// CHECK-NEXT:    %[[INVERSE:.*]] = ptx.fma %[[E]], %[[ABOUT]], %[[ABOUT]] {type = "f64", rounding = "rn"}
// CHECK-NEXT:    %[[REST:.*]] = ptx.fma %[[MINUS]], %[[FIRST]], %[[A]] {type = "f64", rounding = "rn"}
// CHECK-NEXT:    %[[Q:.*]] = ptx.fma %[[REST]], %[[INVERSE]], %[[FIRST]] {type = "f64", rounding = "rn"}
// CHECK-NEXT:    %[[NORMAL:.*]] = ptx.setp %[[Q]], %{{.*}} {comparison = "ne", type = "f64"}
// CHECK-NEXT:    %[[CHOSEN:.*]] = ptx.selp %[[Q]], %[[FIRST]], %[[NORMAL]] {type = "f64"}
// CHECK-NEXT:    %[[R:.*]] = ptx.cvt %[[CHOSEN]] {to = "f32", source = "f64", rounding = "rn"}
// CHECK-NEXT:    ptx.st %{{.*}}, %[[R]]

// Quotients of 1 are inverses.

func.func @inverses(%p: !cute.ptr<f32, gmem, align<16>>, %q: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %one = arith.constant dense<1.0> : vector<2xf32>
  %x = cute.ptr.load %p : !cute.ptr<f32, gmem, align<16>> -> vector<2xf32>
  %r = arith.divf %one, %x : vector<2xf32>
  %s = arith.divf %one, %r {nv_tileas.rounding = "approx", nv_tileas.ftz} : vector<2xf32>
  cute.ptr.store %s, %q : vector<2xf32>, !cute.ptr<f32, gmem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @inverses
// CHECK:         %5 = ptx.rcp %4 {type = "f32", rounding = "rn"} : !ptx.reg<f32, 2> -> !ptx.reg<f32, 2>
// CHECK-NEXT:    %6 = ptx.rcp %5 {type = "f32", rounding = "approx", ftz} : !ptx.reg<f32, 2> -> !ptx.reg<f32, 2>

// In loops, integers that are extended from 32 bits are multiplied and compared as such.

func.func @extended(%i: i32, %n: i32, %q: !cute.ptr<i64, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.extsi %n : i32 to i64
  scf.for %j = %zero to %n step %one : i32 {
    %wide = arith.extsi %j : i32 to i64
    %product = arith.muli %wide, %end : i64
    %inside = arith.cmpi ult, %wide, %end : i64
    %s = arith.select %inside, %product, %end : i64
    cute.ptr.store %s, %q : i64, !cute.ptr<i64, gmem, align<16>>
  }
  func.return
}

// CHECK-LABEL: ptx.entry @extended
// CHECK:         ptx.mul %{{.*}}, %{{.*}} {type = "s32", mode = "wide"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
// CHECK-NEXT:    ptx.setp %{{.*}}, %{{.*}} {comparison = "lt", type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32>

// Functions of the special unit; an exponential is one of base two.

func.func @functions(%p: !cute.ptr<f32, gmem, align<16>>, %q: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %x = cute.ptr.load %p : !cute.ptr<f32, gmem, align<16>> -> vector<2xf32>
  %0 = math.exp %x fastmath<afn> : vector<2xf32>
  %1 = math.exp2 %0 fastmath<afn> : vector<2xf32>
  %r = math.rsqrt %1 : vector<2xf32>
  cute.ptr.store %r, %q : vector<2xf32>, !cute.ptr<f32, gmem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @functions(%p: !ptx.param<u64>, %q: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.const {value = 1.44269502 : f32} -> !ptx.reg<f32>
// CHECK-NEXT:    %1 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.cvta %1 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.ld_param %q {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.cvta %3 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %5 = ptx.ld %2 {type = "f32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<f32, 2>
// CHECK-NEXT:    %6 = ptx.mul %5, %0 {type = "f32", rounding = "rn"} : !ptx.reg<f32, 2>, !ptx.reg<f32> -> !ptx.reg<f32, 2>
// CHECK-NEXT:    %7 = ptx.ex2 %6 {type = "f32", rounding = "approx", ftz} : !ptx.reg<f32, 2> -> !ptx.reg<f32, 2>
// CHECK-NEXT:    %8 = ptx.ex2 %7 {type = "f32", rounding = "approx", ftz} : !ptx.reg<f32, 2> -> !ptx.reg<f32, 2>
// CHECK-NEXT:    %9 = ptx.rsqrt %8 {type = "f32", rounding = "approx"} : !ptx.reg<f32, 2> -> !ptx.reg<f32, 2>
// CHECK-NEXT:    ptx.st %4, %9 {type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32, 2>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Accumulators become packed pairs, and bytes of four.

func.func @pairs(%p: !cute.ptr<f32, gmem, align<16>>, %q: !cute.ptr<bf16, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %x = cute.ptr.load %p : !cute.ptr<f32, gmem, align<16>> -> vector<8xf32>
  %r = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  cute.ptr.store %r, %q : vector<8xbf16>, !cute.ptr<bf16, gmem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @pairs(%p: !ptx.param<u64>, %q: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %1 = ptx.cvta %0 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.ld_param %q {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.cvta %2 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.ld %1 {type = "f32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<f32, 8>
// CHECK-NEXT:    %5 = ptx.cvt_pack %4 {to = "bf16x2", rounding = "rn"} : !ptx.reg<f32, 8> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    ptx.st %3, %5 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32, 4>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Bytes saturate.

func.func @bytes(%p: !cute.ptr<f32, gmem, align<16>>, %q: !cute.ptr<f8E4M3FN, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %x = cute.ptr.load %p : !cute.ptr<f32, gmem, align<16>> -> vector<8xf32>
  %r = arith.truncf %x : vector<8xf32> to vector<8xf8E4M3FN>
  cute.ptr.store %r, %q : vector<8xf8E4M3FN>, !cute.ptr<f8E4M3FN, gmem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @bytes(%p: !ptx.param<u64>, %q: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %1 = ptx.cvta %0 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.ld_param %q {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.cvta %2 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.ld %1 {type = "f32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<f32, 8>
// CHECK-NEXT:    %5 = ptx.cvt_pack %4 {to = "e4m3x2", rounding = "rn", saturation = "satfinite"} : !ptx.reg<f32, 8> -> !ptx.reg<b16, 4>
// CHECK-NEXT:    %6 = ptx.join %5 : !ptx.reg<b16, 4> -> !ptx.reg<b32, 2>
// CHECK-NEXT:    ptx.st %3, %6 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32, 2>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Fragments are cut and joined for free where registers are not.

func.func @fragments(%p: !cute.ptr<f16, gmem, align<16>>, %q: !cute.ptr<f16, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %x = cute.ptr.load %p : !cute.ptr<f16, gmem, align<16>> -> vector<8xf16>
  %0 = cute.fragment.slice %x[2] : vector<8xf16> -> vector<4xf16>
  %1 = cute.fragment.make %0, %0 : vector<4xf16>, vector<4xf16> -> vector<8xf16>
  %2 = vector.extract %x[3] : f16 from vector<8xf16>
  %r = vector.insert %2, %1[0] : f16 into vector<8xf16>
  cute.ptr.store %r, %q : vector<8xf16>, !cute.ptr<f16, gmem, align<16>>
  func.return
}

// CHECK-LABEL: ptx.entry @fragments(%p: !ptx.param<u64>, %q: !ptx.param<u64>) attributes {reqntid = array<i32: 128, 1, 1>} {
// CHECK-NEXT:    %0 = ptx.ld_param %p {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %1 = ptx.cvta %0 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %2 = ptx.ld_param %q {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
// CHECK-NEXT:    %3 = ptx.cvta %2 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
// CHECK-NEXT:    %4 = ptx.ld %1 {type = "b32", space = "global"} : !ptx.reg<b64> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    %5 = ptx.extract %4 {start = 1 : i64} : !ptx.reg<b32, 4> -> !ptx.reg<b32, 2>
// CHECK-NEXT:    %6 = ptx.pack values(%5, %5) : !ptx.reg<b32, 2>, !ptx.reg<b32, 2> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    %7 = ptx.extract %4 {start = 1 : i64} : !ptx.reg<b32, 4> -> !ptx.reg<b32>
// CHECK-NEXT:    %8 = ptx.split %7 : !ptx.reg<b32> -> !ptx.reg<b16, 2>
// CHECK-NEXT:    %9 = ptx.extract %8 {start = 1 : i64} : !ptx.reg<b16, 2> -> !ptx.reg<b16>
// CHECK-NEXT:    %10 = ptx.extract %6 {start = 0 : i64} : !ptx.reg<b32, 4> -> !ptx.reg<b32>
// CHECK-NEXT:    %11 = ptx.split %10 : !ptx.reg<b32> -> !ptx.reg<b16, 2>
// CHECK-NEXT:    %12 = ptx.extract %11 {start = 1 : i64} : !ptx.reg<b16, 2> -> !ptx.reg<b16>
// CHECK-NEXT:    %13 = ptx.pack values(%9, %12) : !ptx.reg<b16>, !ptx.reg<b16> -> !ptx.reg<b16, 2>
// CHECK-NEXT:    %14 = ptx.join %13 : !ptx.reg<b16, 2> -> !ptx.reg<b32>
// CHECK-NEXT:    %15 = ptx.extract %6 {start = 1 : i64} : !ptx.reg<b32, 4> -> !ptx.reg<b32, 3>
// CHECK-NEXT:    %16 = ptx.pack values(%14, %15) : !ptx.reg<b32>, !ptx.reg<b32, 3> -> !ptx.reg<b32, 4>
// CHECK-NEXT:    ptx.st %3, %16 {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32, 4>
// CHECK-NEXT:    ptx.ret
// CHECK-NEXT:  }

// Low bits of sums and products depend on those of bytes alone; a shift to the right reads all.

func.func @wrapping_bytes(%a: !cute.ptr<i8, gmem>, %b: !cute.ptr<i8, gmem>) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %x = cute.ptr.load %a : !cute.ptr<i8, gmem> -> i8
  %y = cute.ptr.load %b : !cute.ptr<i8, gmem> -> i8
  %s = arith.addi %x, %y : i8
  %p = arith.muli %s, %y : i8
  %q = arith.shrsi %p, %s : i8
  cute.ptr.store %q, %a : i8, !cute.ptr<i8, gmem>
  func.return
}

// CHECK-LABEL: ptx.entry @wrapping_bytes
// CHECK:         %[[X:.*]] = ptx.ld %
// CHECK-NEXT:    %[[Y:.*]] = ptx.ld %
// CHECK-NEXT:    %[[S:.*]] = ptx.add %[[X]], %[[Y]] {type = "s16"}
// CHECK-NEXT:    %[[P:.*]] = ptx.mul %[[S]], %[[Y]] {
// CHECK-NEXT:    %{{.*}} = ptx.cvt %[[P]] {to = "s16", source = "s8"}
