// Products of matrices that do not fit.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Shapes and elements.

%t4_f16 = "test.op"() : () -> !cuda_tile.tile<4xf16>
%t4_f32 = "test.op"() : () -> !cuda_tile.tile<4xf32>
%t4x8_f16 = "test.op"() : () -> !cuda_tile.tile<4x8xf16>
%t4x8_f32 = "test.op"() : () -> !cuda_tile.tile<4x8xf32>
%t2x4x8_i8 = "test.op"() : () -> !cuda_tile.tile<2x4x8xi8>
%t4x8x2_i8 = "test.op"() : () -> !cuda_tile.tile<4x8x2xi8>
%t2x4x2_i32 = "test.op"() : () -> !cuda_tile.tile<2x4x2xi32>
%t4x8_bf16 = "test.op"() : () -> !cuda_tile.tile<4x8xbf16>
%t8x2_bf16 = "test.op"() : () -> !cuda_tile.tile<8x2xbf16>
%t4x2_f16 = "test.op"() : () -> !cuda_tile.tile<4x2xf16>
%t4x8_i8 = "test.op"() : () -> !cuda_tile.tile<4x8xi8>
%t8x2_i8 = "test.op"() : () -> !cuda_tile.tile<8x2xi8>
%t4x2_f32 = "test.op"() : () -> !cuda_tile.tile<4x2xf32>
// expected-error@+1 {{'cuda_tile.mmaf' op operands must be 2D or 3D tiles}}
cuda_tile.mmaf %t4_f16, %t4_f16, %t4_f32 : tile<4xf16>, tile<4xf16>, tile<4xf32>
// expected-error@+1 {{'cuda_tile.mmaf' op  shape error: dim 1 of lhs (8) and dim 0 of rhs (4) must match, but got lhs shape (4, 8) and rhs shape (4, 8)}}
cuda_tile.mmaf %t4x8_f16, %t4x8_f16, %t4x8_f32 : tile<4x8xf16>, tile<4x8xf16>, tile<4x8xf32>
// expected-error@+1 {{'cuda_tile.mmai' op shape error: dim 0 of lhs (2) and dim 0 of rhs (4) must match, but got lhs shape (2, 4, 8) and rhs shape (4, 8, 2)}}
cuda_tile.mmai %t2x4x8_i8, %t4x8x2_i8, %t2x4x2_i32 signed signed : tile<2x4x8xi8>, tile<4x8x2xi8>, tile<2x4x2xi32>
// expected-error@+1 {{'cuda_tile.mmaf' op unsupported combination of element types. Input type 'bf16' expects accumulator/result type to be one of {'f32'}, but got 'f16'}}
cuda_tile.mmaf %t4x8_bf16, %t8x2_bf16, %t4x2_f16 : tile<4x8xbf16>, tile<8x2xbf16>, tile<4x2xf16>
// expected-error@+1 {{'cuda_tile.mmaf' op operand #0 must be mmaf operand tile type of f16 or bf16 or f32 or f64 or tf32 or f8E4M3FN or f8E5M2 values, but got '!cuda_tile.tile<4x8xi8>'}}
cuda_tile.mmaf %t4x8_i8, %t8x2_i8, %t4x2_f32 : tile<4x8xi8>, tile<8x2xi8>, tile<4x2xf32>

// -----

// Scales.

%t4x32_f8E5M2 = "test.op"() : () -> !cuda_tile.tile<4x32xf8E5M2>
%t32x2_f8E5M2 = "test.op"() : () -> !cuda_tile.tile<32x2xf8E5M2>
%t4x2_f32 = "test.op"() : () -> !cuda_tile.tile<4x2xf32>
%t4x1_f8E4M3FN = "test.op"() : () -> !cuda_tile.tile<4x1xf8E4M3FN>
%t1x2_f8E4M3FN = "test.op"() : () -> !cuda_tile.tile<1x2xf8E4M3FN>
%t4x64_f8E8M0FNU = "test.op"() : () -> !cuda_tile.tile<4x64xf8E8M0FNU>
%t64x2_f8E8M0FNU = "test.op"() : () -> !cuda_tile.tile<64x2xf8E8M0FNU>
%t4x2_f8E8M0FNU = "test.op"() : () -> !cuda_tile.tile<4x2xf8E8M0FNU>
%t2x2_f8E8M0FNU = "test.op"() : () -> !cuda_tile.tile<2x2xf8E8M0FNU>
%t4x32_f4E2M1FN = "test.op"() : () -> !cuda_tile.tile<4x32xf4E2M1FN>
%t32x2_f4E2M1FN = "test.op"() : () -> !cuda_tile.tile<32x2xf4E2M1FN>
%t4x64_f4E2M1FN = "test.op"() : () -> !cuda_tile.tile<4x64xf4E2M1FN>
%t64x2_f4E2M1FN = "test.op"() : () -> !cuda_tile.tile<64x2xf4E2M1FN>
%t4x1_f8E8M0FNU = "test.op"() : () -> !cuda_tile.tile<4x1xf8E8M0FNU>
%t1x2_f8E8M0FNU = "test.op"() : () -> !cuda_tile.tile<1x2xf8E8M0FNU>
%t4x1_f8E5M3FNU = "test.op"() : () -> !cuda_tile.tile<4x1xf8E5M3FNU>
%t1x2_f8E5M3FNU = "test.op"() : () -> !cuda_tile.tile<1x2xf8E5M3FNU>
%t8x1_f8E8M0FNU = "test.op"() : () -> !cuda_tile.tile<8x1xf8E8M0FNU>
// expected-error@+1 {{'cuda_tile.mmaf_scaled' op unsupported combination of element types. Scale type 'f8E4M3FN' expects lhs and rhs element types to be 'f4E2M1FN', but got 'f8E5M2'}}
cuda_tile.mmaf_scaled %t4x32_f8E5M2, %t32x2_f8E5M2, %t4x2_f32, %t4x1_f8E4M3FN, %t1x2_f8E4M3FN : tile<4x32xf8E5M2>, tile<32x2xf8E5M2>, tile<4x2xf32>, tile<4x1xf8E4M3FN>, tile<1x2xf8E4M3FN>
// expected-error@+1 {{'cuda_tile.mmaf_scaled' op shape error: dim 1 of lhs_scale (64) must be a divisor of dim 1 of lhs (32), but got lhs_scale shape (4, 64) and lhs shape (4, 32)}}
cuda_tile.mmaf_scaled %t4x32_f8E5M2, %t32x2_f8E5M2, %t4x2_f32, %t4x64_f8E8M0FNU, %t64x2_f8E8M0FNU : tile<4x32xf8E5M2>, tile<32x2xf8E5M2>, tile<4x2xf32>, tile<4x64xf8E8M0FNU>, tile<64x2xf8E8M0FNU>
// expected-error@+1 {{'cuda_tile.mmaf_scaled' op shape error: f8 element type requires block scale factor of lhs_scale and rhs_scale to be 32, but got 16}}
cuda_tile.mmaf_scaled %t4x32_f8E5M2, %t32x2_f8E5M2, %t4x2_f32, %t4x2_f8E8M0FNU, %t2x2_f8E8M0FNU : tile<4x32xf8E5M2>, tile<32x2xf8E5M2>, tile<4x2xf32>, tile<4x2xf8E8M0FNU>, tile<2x2xf8E8M0FNU>
// expected-error@+1 {{'cuda_tile.mmaf_scaled' op shape error: f4E2M1FN element type with f8E4M3FN scales requires block scale factor of lhs_scale and rhs_scale to be 16, but got 32}}
cuda_tile.mmaf_scaled %t4x32_f4E2M1FN, %t32x2_f4E2M1FN, %t4x2_f32, %t4x1_f8E4M3FN, %t1x2_f8E4M3FN : tile<4x32xf4E2M1FN>, tile<32x2xf4E2M1FN>, tile<4x2xf32>, tile<4x1xf8E4M3FN>, tile<1x2xf8E4M3FN>
// expected-error@+1 {{'cuda_tile.mmaf_scaled' op shape error: f4E2M1FN element type with f8E8M0FNU scales requires block scale factor of lhs_scale and rhs_scale to be 16 or 32, but got 64}}
cuda_tile.mmaf_scaled %t4x64_f4E2M1FN, %t64x2_f4E2M1FN, %t4x2_f32, %t4x1_f8E8M0FNU, %t1x2_f8E8M0FNU : tile<4x64xf4E2M1FN>, tile<64x2xf4E2M1FN>, tile<4x2xf32>, tile<4x1xf8E8M0FNU>, tile<1x2xf8E8M0FNU>
// expected-error@+1 {{'cuda_tile.mmaf_scaled' op shape error: f4E2M1FN element type with f8E5M3FNU scales requires block scale factor of lhs_scale and rhs_scale to be 16 or 32, but got 64}}
cuda_tile.mmaf_scaled %t4x64_f4E2M1FN, %t64x2_f4E2M1FN, %t4x2_f32, %t4x1_f8E5M3FNU, %t1x2_f8E5M3FNU : tile<4x64xf4E2M1FN>, tile<64x2xf4E2M1FN>, tile<4x2xf32>, tile<4x1xf8E5M3FNU>, tile<1x2xf8E5M3FNU>
// expected-error@+1 {{'cuda_tile.mmaf_scaled' op shape error: dim 0 of lhs (4) and dim 0 of lhs_scale (8) must match, but got lhs shape (4, 32) and lhs_scale shape (8, 1)}}
cuda_tile.mmaf_scaled %t4x32_f8E5M2, %t32x2_f8E5M2, %t4x2_f32, %t8x1_f8E8M0FNU, %t1x2_f8E8M0FNU : tile<4x32xf8E5M2>, tile<32x2xf8E5M2>, tile<4x2xf32>, tile<8x1xf8E8M0FNU>, tile<1x2xf8E8M0FNU>
