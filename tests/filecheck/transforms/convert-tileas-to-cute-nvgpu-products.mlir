// Products in the registers of all threads: by mma.sync, and element by element.

// RUN: tileas-opt %s -p convert-tileas-to-cute-nvgpu,canonicalize,cse | filecheck %s

#smem = #nv_tileas<space smem>
!view = !nv_tileas.tiled_view<16x8xf32, gmem>

// A and B are read from shared memory as fragments of the instruction, one of 16 of K after another.

func.func @warps(%c: memref<16x8xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
  %zero = arith.constant 0 : index
  %a = nv_tileas.alloc_tensor : tensor<16x32xf16, #smem>
  %b = nv_tileas.alloc_tensor : tensor<32x8xf16, #smem>
  %nothing = arith.constant dense<0.0> : tensor<16x8xf32>
  %d = nv_tileas.dot %a, %b, %nothing {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<16x32xf16, #smem>, tensor<32x8xf16, #smem>, tensor<16x8xf32> -> tensor<16x8xf32>
  %v = nv_tileas.view %c : memref<16x8xf32> -> !view
  nv_tileas.tiled_store %d, %v[%zero, %zero] {atom = #nv_tileas<atom stg>, in_bounds = array<i1: true, true>} : tensor<16x8xf32>, !view
  func.return
}

// CHECK-LABEL: func.func @warps
// CHECK:         %[[C:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK:         %[[A0:.*]] = cute_nvgpu.arch.copy.ldsm %{{.*}} matrices 4 : !cute.ptr<i8, smem, align<16>> -> vector<8xf16>
// CHECK:         %[[B0:.*]] = cute_nvgpu.arch.copy.ldsm %{{.*}} matrices 2 transpose : !cute.ptr<i8, smem, align<16>> -> vector<4xf16>
// CHECK:         %[[D0:.*]] = cute_nvgpu.arch.mma.SM80 %[[A0]], %[[B0]], %[[C]] shape [16, 8, 16] elements "f16", "f16"
// CHECK:         %[[A1:.*]] = cute_nvgpu.arch.copy.ldsm
// CHECK:         %[[B1:.*]] = cute_nvgpu.arch.copy.ldsm
// CHECK:         %[[D1:.*]] = cute_nvgpu.arch.mma.SM80 %[[A1]], %[[B1]], %[[D0]] shape [16, 8, 16] elements "f16", "f16"

// Each thread multiplies one of its rows of A with its columns of B, for each element of K.

func.func @threads(%c: memref<16x8xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
  %zero = arith.constant 0 : index
  %a = nv_tileas.alloc_tensor : tensor<16x2xf32, #smem>
  %b = nv_tileas.alloc_tensor : tensor<2x8xf32, #smem>
  %nothing = arith.constant dense<0.0> : tensor<16x8xf32>
  %d = nv_tileas.dot %a, %b, %nothing {atom = #nv_tileas<atom fma_f32_f32_f32>} : tensor<16x2xf32, #smem>, tensor<2x8xf32, #smem>, tensor<16x8xf32> -> tensor<16x8xf32>
  %v = nv_tileas.view %c : memref<16x8xf32> -> !view
  nv_tileas.tiled_store %d, %v[%zero, %zero] {atom = #nv_tileas<atom stg>, in_bounds = array<i1: true, true>} : tensor<16x8xf32>, !view
  func.return
}

// CHECK-LABEL: func.func @threads
// CHECK:         %[[S0:.*]] = vector.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK:         %[[S1:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[S0]] : vector<4xf32>
// CHECK-NOT:     vector.fma
