// Products of a warp with block scales: syntax.

// RUN: tileas-opt %s | tileas-opt | filecheck %s

func.func @scaled(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) -> vector<4xf32> attributes {cute.target = "sm_120a"} {
  %0 = cute_nvgpu.arch.mma.SM120.block_scaled %a, %b, %c scales %s of 0, %s of 3 shape [16, 8, 64] elements f4E2M1FN, f4E2M1FN scaled f8E4M3FN by 16 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  %1 = cute_nvgpu.arch.mma.SM120.block_scaled %a, %b, %0 scales %s of 1, %s of 0 shape [16, 8, 32] elements f8E4M3FN, f6E2M3FN scaled f8E8M0FNU by 32 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
  func.return %1 : vector<4xf32>
}

// CHECK:       %0 = cute_nvgpu.arch.mma.SM120.block_scaled %a, %b, %c scales %s of 0, %s of 3 shape [16, 8, 64] elements f4E2M1FN, f4E2M1FN scaled f8E4M3FN by 16 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
// CHECK-NEXT:  %1 = cute_nvgpu.arch.mma.SM120.block_scaled %a, %b, %0 scales %s of 1, %s of 0 shape [16, 8, 32] elements f8E4M3FN, f6E2M3FN scaled f8E8M0FNU by 32 : vector<4xi32>, vector<2xi32>, vector<4xf32> -> vector<4xf32>
