// `fuse-differences`: arguments of weights are one instruction each, where the rows of a warp are near zero.

// RUN: tileas-opt %s --split-input-file -p fuse-differences | filecheck %s
// RUN: tileas-opt %s --split-input-file -p fuse-differences,fuse-differences | filecheck %s

// Two rows of a thread, each of two elements; the maxima decide.

// CHECK-LABEL: @weights
// CHECK:       %[[N:.*]] = arith.mulf %m, %{{.*}} : vector<2xf32>
// CHECK:       %[[S:.*]] = math.absf %[[N]]
// CHECK:       %[[L:.*]] = arith.maximumf
// CHECK:       %[[B:.*]] = arith.constant 6.400000e+01 : f32
// CHECK-NEXT:  %[[C:.*]] = arith.cmpf ole, %[[L]], %[[B]]
// CHECK-NEXT:  %[[V:.*]] = cute_nvgpu.arch.vote "all" %[[C]]
// CHECK-NEXT:  %[[T:.*]], %[[O:.*]] = scf.if %[[V]] -> (vector<4xf32>, vector<2xf32>) {
// CHECK-NEXT:    scf.yield %s, %[[N]]
// CHECK-NEXT:  } else {
// CHECK-NEXT:    %x = arith.subf %s, %w
// CHECK-NEXT:    scf.yield %x, %{{.*}}
// CHECK-NEXT:  }
// CHECK-NEXT:  %[[NEG:.*]] = arith.negf %[[O]]
// CHECK-NEXT:  %[[A:.*]] = cute.fragment.slice %[[NEG]][0]
// CHECK-NEXT:  %[[Z:.*]] = cute.fragment.slice %[[NEG]][1]
// CHECK-NEXT:  %[[R:.*]] = cute.fragment.make %[[A]], %[[NEG]], %[[Z]]
// CHECK-NEXT:  %[[Y:.*]] = math.fma %[[T]], %k, %[[R]]
// CHECK-NEXT:  math.exp2 %[[Y]] {nv_tileas.ftz, nv_tileas.weight}
func.func @weights(%s: vector<4xf32>, %m: vector<2xf32>, %acc: vector<64xf32>, %d: !cute_nvgpu.smem_desc) {
  %next = cute_nvgpu.arch.mma.SM90 %d, %d, %acc shape [64, 128, 16] elements "f16", "f16" major "k", "k" : !cute_nvgpu.smem_desc, vector<64xf32> -> vector<64xf32>
  %k = arith.constant dense<0.25> : vector<4xf32>
  %first = cute.fragment.slice %m[0] : vector<2xf32> -> vector<1xf32>
  %last = cute.fragment.slice %m[1] : vector<2xf32> -> vector<1xf32>
  %w = cute.fragment.make %first, %m, %last : vector<1xf32>, vector<2xf32>, vector<1xf32> -> vector<4xf32>
  %x = arith.subf %s, %w : vector<4xf32>
  %y = arith.mulf %x, %k : vector<4xf32>
  %p = math.exp2 %y {nv_tileas.ftz, nv_tileas.weight} : vector<4xf32>
  "test.op"(%p, %next) : (vector<4xf32>, vector<64xf32>) -> ()
  func.return
}

// -----

// Other powers stay, and weights where no product of warpgroups is.

// CHECK-LABEL: @others
// CHECK-NOT:   scf.if
func.func @others(%s: vector<4xf32>, %m: vector<2xf32>) {
  %k = arith.constant dense<0.25> : vector<4xf32>
  %w = cute.fragment.make %m, %m : vector<2xf32>, vector<2xf32> -> vector<4xf32>
  %x = arith.subf %s, %w : vector<4xf32>
  %y = arith.mulf %x, %k : vector<4xf32>
  %p = math.exp2 %y {nv_tileas.ftz, nv_tileas.weight} : vector<4xf32>
  "test.op"(%p) : (vector<4xf32>) -> ()
  func.return
}

// -----

// Elements that are multiplied for the difference alone.

// CHECK-LABEL: @scaled
// CHECK-NOT:   scf.if
func.func @scaled(%s: vector<4xf32>, %m: vector<2xf32>, %acc: vector<64xf32>, %d: !cute_nvgpu.smem_desc) {
  %next = cute_nvgpu.arch.mma.SM90 %d, %d, %acc shape [64, 128, 16] elements "f16", "f16" major "k", "k" : !cute_nvgpu.smem_desc, vector<64xf32> -> vector<64xf32>
  %k = arith.constant dense<0.25> : vector<4xf32>
  %w = cute.fragment.make %m, %m : vector<2xf32>, vector<2xf32> -> vector<4xf32>
  %t = arith.mulf %s, %k : vector<4xf32>
  %x = arith.subf %t, %w : vector<4xf32>
  %y = arith.mulf %x, %k : vector<4xf32>
  %p = math.exp2 %y {nv_tileas.ftz, nv_tileas.weight} : vector<4xf32>
  "test.op"(%p, %next) : (vector<4xf32>, vector<64xf32>) -> ()
  func.return
}
