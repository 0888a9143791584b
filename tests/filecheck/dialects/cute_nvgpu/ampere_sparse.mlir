// Sparse products of a warp: syntax.

// RUN: tileas-opt %s | tileas-opt | filecheck %s

func.func @sparse(%a: vector<8xf16>, %b: vector<8xf16>, %c: vector<4xf32>, %e: i32) -> vector<4xf32> {
  %0 = cute_nvgpu.arch.mma.SM80.sparse %a, %b, %c metadata %e of 1 shape [16, 8, 32] elements "f16", "f16" : vector<8xf16>, vector<8xf16>, vector<4xf32> -> vector<4xf32>
  %1 = cute_nvgpu.arch.mma.SM80.sparse %a, %b, %0 metadata %e of 0 ordered shape [16, 8, 32] elements "f16", "f16" : vector<8xf16>, vector<8xf16>, vector<4xf32> -> vector<4xf32>
  func.return %1 : vector<4xf32>
}

// CHECK:       %0 = cute_nvgpu.arch.mma.SM80.sparse %a, %b, %c metadata %e of 1 shape [16, 8, 32] elements "f16", "f16" : vector<8xf16>, vector<8xf16>, vector<4xf32> -> vector<4xf32>
// CHECK-NEXT:  %1 = cute_nvgpu.arch.mma.SM80.sparse %a, %b, %0 metadata %e of 0 ordered shape [16, 8, 32] elements "f16", "f16" : vector<8xf16>, vector<8xf16>, vector<4xf32> -> vector<4xf32>
