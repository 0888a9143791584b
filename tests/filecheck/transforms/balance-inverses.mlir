// `balance-inverses`: a quarter of the inverses between products comes from fused multiply-adds.

// RUN: tileas-opt %s --split-input-file -p balance-inverses | filecheck %s

// 64 functions of a thread take as long as 512 other instructions: more than the block has.

// CHECK-LABEL: @between_products
// CHECK:         %[[A:.*]] = cute.fragment.slice %x[0] : vector<64xf32> -> vector<48xf32>
// CHECK-NEXT:    %[[B:.*]] = cute.fragment.slice %d[0] : vector<64xf32> -> vector<48xf32>
// CHECK-NEXT:    %[[L:.*]] = arith.divf %[[A]], %[[B]] {nv_tileas.rounding = "approx", nv_tileas.ftz} : vector<48xf32>
// CHECK-NEXT:    cute.fragment.slice %x[48] : vector<64xf32> -> vector<16xf32>
// CHECK-NEXT:    cute.fragment.slice %d[48] : vector<64xf32> -> vector<16xf32>
// CHECK:           arith.constant 2129859015 : i32
// CHECK:           arith.subi
// CHECK-COUNT-6:   math.fma
// CHECK:           arith.cmpf ogt
// CHECK:           arith.select
// CHECK:         %{{.*}} = cute.fragment.make %[[L]], %{{.*}} : vector<48xf32>, vector<16xf32> -> vector<64xf32>
func.func @between_products(%x: vector<64xf32>, %a: !cute_nvgpu.smem_desc, %c: vector<64xf32>) -> vector<64xf32> {
  %one = arith.constant dense<1.0> : vector<64xf32>
  %e = math.exp2 %x {nv_tileas.ftz} : vector<64xf32>
  %d = arith.addf %e, %one : vector<64xf32>
  %q = arith.divf %x, %d {nv_tileas.rounding = "approx", nv_tileas.ftz} : vector<64xf32>
  %m = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [64, 128, 16] elements "f16", "f16" major "k", "k" : !cute_nvgpu.smem_desc, vector<64xf32> -> vector<64xf32>
  func.return %q : vector<64xf32>
}

// -----

// As they are: without products, and of numbers whose sign is not known.

// CHECK-LABEL: @alone
// CHECK-NOT:     fragment.slice
// CHECK-LABEL: @of_any_sign
// CHECK-NOT:     fragment.slice
func.func @alone(%x: vector<64xf32>) -> vector<64xf32> {
  %one = arith.constant dense<1.0> : vector<64xf32>
  %e = math.exp2 %x {nv_tileas.ftz} : vector<64xf32>
  %d = arith.addf %e, %one : vector<64xf32>
  %q = arith.divf %x, %d {nv_tileas.rounding = "approx", nv_tileas.ftz} : vector<64xf32>
  func.return %q : vector<64xf32>
}

func.func @of_any_sign(%x: vector<64xf32>, %a: !cute_nvgpu.smem_desc, %c: vector<64xf32>) -> vector<64xf32> {
  %q = arith.divf %c, %x {nv_tileas.rounding = "approx", nv_tileas.ftz} : vector<64xf32>
  %m = cute_nvgpu.arch.mma.SM90 %a, %a, %c shape [64, 128, 16] elements "f16", "f16" major "k", "k" : !cute_nvgpu.smem_desc, vector<64xf32> -> vector<64xf32>
  func.return %q : vector<64xf32>
}
