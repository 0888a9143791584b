// What a block-scaled product refuses.  The first five phases have a fixed order, which decides what
// a doubly wrong product is told.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Phase 1: 4-bit operands come with both scales.

%a, %b, %c, %s, %w = "test.op"() : () -> (tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op fp4 mma should expect scaling factors}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op fp4 mma should expect scaling factors}}
%1 = "nv_tileas.block_scaled_mma"(%a, %b, %c, %s) <{atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> : (tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>) -> tensor<128x64xf32>

%2 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>

// -----

// Phase 1 comes before phase 3: the accumulator is wrong too.

%a, %b, %c = "test.op"() : () -> (tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf16>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op fp4 mma should expect scaling factors}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f16>} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf16> -> tensor<128x64xf16>

// -----

// Phase 2: the scales have one type.  8-bit operands with only one scale end here too.  Phases 3 and 4
// would have something to say as well.

%a, %b, %c, %h = "test.op"() : () -> (tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x64xf16>)
%s, %w, %v = "test.op"() : () -> (tensor<128x2xf8E8M0FNU>, tensor<4x64xf8E4M3FN>, tensor<2x64xf8E8M0FNU>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op sfa and sfb element type mismatch}}
%0 = nv_tileas.block_scaled_mma %a, %b, %h scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<4x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f16>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf16> -> tensor<128x64xf16>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op sfa and sfb element type mismatch}}
%1 = "nv_tileas.block_scaled_mma"(%a, %b, %c, %v) <{atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>}> : (tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<2x64xf8E8M0FNU>) -> tensor<128x64xf32>

%2 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %v : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>

// -----

// Phase 3: the accumulator is f32; phase 4 would complain too.

%a, %b, %c = "test.op"() : () -> (tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf16>)
%s, %w = "test.op"() : () -> (tensor<128x2xf8E8M0FNU>, tensor<4x64xf8E8M0FNU>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op expects c type to be Float32}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<4x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f16>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf16> -> tensor<128x64xf16>

// -----

// Phase 4: the scales have one extent along K; phase 5 would complain too.

%a, %b, %c = "test.op"() : () -> (tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>)
%s, %w = "test.op"() : () -> (tensor<128x2xf8E8M0FNU>, tensor<4x64xf8E8M0FNU>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op Scale factor vector size mismatch: 2, 4}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<4x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32> -> tensor<128x64xf32>

// -----

// Phase 5: the configuration exists: elements, elements of K for a scale, type of the scales.

%a, %b, %c = "test.op"() : () -> (tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>)
%d, %e = "test.op"() : () -> (tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>)
%s, %w, %u, %v, %x, %y = "test.op"() : () -> (tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>, tensor<128x4xf8E8M0FNU>, tensor<4x64xf8E8M0FNU>, tensor<128x2xf8E4M3FN>, tensor<2x64xf8E4M3FN>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op unsupported block-scaled mma configuration}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op unsupported block-scaled mma configuration}}
%1 = nv_tileas.block_scaled_mma %d, %e, %c scales(%u : tensor<128x4xf8E8M0FNU>, %v : tensor<4x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op unsupported block-scaled mma configuration}}
%2 = nv_tileas.block_scaled_mma %d, %e, %c scales(%x : tensor<128x2xf8E4M3FN>, %y : tensor<2x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// Without scales at all.
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op unsupported block-scaled mma configuration}}
%3 = nv_tileas.block_scaled_mma %d, %e, %c {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>

%4 = nv_tileas.block_scaled_mma %d, %e, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>

// -----

// Phase 5: K = 64 with a scale for 32 has no form for two CTAs, that with a scale for 16 has.

%a, %b, %c = "test.op"() : () -> (tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32>)
%s, %w, %u, %v = "test.op"() : () -> (tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>, tensor<128x4xf8E4M3FN>, tensor<4x64xf8E4M3FN>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op unsupported block-scaled mma configuration}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>, cta_group = 2 : i32} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op unsupported block-scaled mma configuration}}
%1 = nv_tileas.block_scaled_mma %a, %b, %c scales(%u : tensor<128x4xf8E4M3FN>, %v : tensor<4x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>, cta_group = 3 : i32} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>

%2 = nv_tileas.block_scaled_mma %a, %b, %c scales(%u : tensor<128x4xf8E4M3FN>, %v : tensor<4x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>, cta_group = 2 : i32} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>

// -----

// After the phases: shapes, scales, atom.

%a, %b, %c, %d = "test.op"() : () -> (tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<64x64xf32>)
%s, %w, %u, %v = "test.op"() : () -> (tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>, tensor<64x2xf8E8M0FNU>, tensor<2x32xf8E8M0FNU>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op C is 128x64, not 64x64}}
%0 = nv_tileas.block_scaled_mma %a, %b, %d scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32> -> tensor<64x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op sfa is 128x2 for scales of 32, not tensor<64x2xf8E8M0FNU>}}
%1 = nv_tileas.block_scaled_mma %a, %b, %c scales(%u : tensor<64x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op sfb is 2x64 for scales of 32, not tensor<2x32xf8E8M0FNU>}}
%2 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %v : tensor<2x32xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op the atom of a product multiplies matrices; 'ldg' does not}}
%3 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom ldg>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op atom input precision incompatible with operand type: B has elements f8e4m3, but 'tcgen05_e4m3_e5m2_f32' takes f8e5m2}}
%4 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e5m2_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op the atom scales 16 elements, the operands 32}}
%5 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32<scale_vector = 16>>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op a product of 128x64x64 is no multiple of the atom's 128x128x32}}
%6 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32<shape = [128, 128, 32]>>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>

%7 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32<shape = [128, 64, 32], scale_vector = 32>>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>

// -----

// How many CTAs work together may stand in the atom; two places agree.

%a, %b, %c, %s, %w = "test.op"() : () -> (tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op unsupported block-scaled mma configuration}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<cta_group = 2>>} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op cta_group is 1, but 2 in the atom}}
%1 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<cta_group = 2>>, cta_group = 1 : i32} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>

%2 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<cta_group = 1>>} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>

// -----

// Two CTAs where the configuration has a form for them.

%a, %b, %c, %s, %w = "test.op"() : () -> (tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32>, tensor<128x4xf8E4M3FN>, tensor<4x64xf8E4M3FN>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op cta_group is 2, but 1 in the atom}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x4xf8E4M3FN>, %w : tensor<4x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<cta_group = 1>>, cta_group = 2 : i32} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>

%1 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x4xf8E4M3FN>, %w : tensor<4x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<cta_group = 2>>} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>
%2 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x4xf8E4M3FN>, %w : tensor<4x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<cta_group = 2>>, cta_group = 2 : i32} : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>

// -----

// Only tcgen05 scales blocks.

%a, %b, %c, %s, %w = "test.op"() : () -> (tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op block scaling is of tcgen05; 'wgmma_e4m3_e4m3_f32' is of another family}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom wgmma_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op block scaling is of tcgen05; 'mma_e4m3_e4m3_f32' is of another family}}
%1 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom mma_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>

%2 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E8M0FNU>, %w : tensor<2x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32> -> tensor<128x64xf32>

// -----

// K is a multiple of that of the instruction, whether or not the atom has a shape.

%a, %b, %c, %s, %w = "test.op"() : () -> (tensor<128x32xf4E2M1FN>, tensor<32x64xf4E2M1FN>, tensor<128x64xf32>, tensor<128x2xf8E4M3FN>, tensor<2x64xf8E4M3FN>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op K is 32, no multiple of the 64 of mxf4nvf4}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x2xf8E4M3FN>, %w : tensor<2x64xf8E4M3FN>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>} : tensor<128x32xf4E2M1FN>, tensor<32x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>

// -----

// With scales for 32; instructions of 32 divide 96.

%a, %b, %c, %s, %w = "test.op"() : () -> (tensor<128x96xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<128x64xf32>, tensor<128x3xf8E8M0FNU>, tensor<3x64xf8E8M0FNU>)
// expected-error@+1 {{'nv_tileas.block_scaled_mma' op K is 96, no multiple of the 64 of mxf4}}
%0 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x3xf8E8M0FNU>, %w : tensor<3x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>} : tensor<128x96xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>

%1 = nv_tileas.block_scaled_mma %a, %b, %c scales(%s : tensor<128x3xf8E8M0FNU>, %w : tensor<3x64xf8E8M0FNU>) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<shape = [128, 64, 32]>>} : tensor<128x96xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<128x64xf32> -> tensor<128x64xf32>
