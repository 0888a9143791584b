// Accesses through pointers that there are not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Types.

%p4_f32 = "test.op"() : () -> !cuda_tile.tile<4xptr<f32>>
%t2_i1 = "test.op"() : () -> !cuda_tile.tile<2xi1>
%t4_i1 = "test.op"() : () -> !cuda_tile.tile<4xi1>
%t4_f16 = "test.op"() : () -> !cuda_tile.tile<4xf16>
%t4_f32 = "test.op"() : () -> !cuda_tile.tile<4xf32>
%t2_i32 = "test.op"() : () -> !cuda_tile.tile<2xi32>
%t4_i32 = "test.op"() : () -> !cuda_tile.tile<4xi32>
%tok = "test.op"() : () -> !cuda_tile.token
// expected-error@+1 {{'cuda_tile.load_ptr_tko' op failed to verify that 'source' type is expected a pointer type of 'result' type}}
cuda_tile.load_ptr_tko weak %p4_f32 : tile<4xptr<f32>> -> tile<4xf16>, token
// expected-error@+1 {{'cuda_tile.load_ptr_tko' op failed to verify that shape of 'mask' must match the shape of 'source'}}
cuda_tile.load_ptr_tko weak %p4_f32, %t2_i1 : tile<4xptr<f32>>, tile<2xi1> -> tile<4xf32>, token
// expected-error@+1 {{'cuda_tile.load_ptr_tko' op failed to verify that type of 'paddingValue' must match the type of 'result'}}
cuda_tile.load_ptr_tko weak %p4_f32, %t4_i1, %t4_f16 : tile<4xptr<f32>>, tile<4xi1>, tile<4xf16> -> tile<4xf32>, token
// expected-error@+1 {{'cuda_tile.store_ptr_tko' op failed to verify that 'destination' type is expected a pointer type of 'value' type}}
cuda_tile.store_ptr_tko weak %p4_f32, %t4_f16 : tile<4xptr<f32>>, tile<4xf16> -> token
// expected-error@+1 {{'cuda_tile.store_ptr_tko' op failed to verify that shape of 'destination' must match the shape of 'mask'}}
cuda_tile.store_ptr_tko weak %p4_f32, %t4_f32, %t2_i1 : tile<4xptr<f32>>, tile<4xf32>, tile<2xi1> -> token
// expected-error@+1 {{'cuda_tile.offset' op requires the same shape for all operands and results}}
cuda_tile.offset %p4_f32, %t2_i32 : tile<4xptr<f32>>, tile<2xi32> -> tile<4xptr<f32>>
// expected-error@+1 {{'cuda_tile.offset' op operand #0 must be tile of Pointer type values, but got '!cuda_tile.tile<4xf32>'}}
cuda_tile.offset %t4_f32, %t4_i32 : tile<4xf32>, tile<4xi32> -> tile<4xf32>
// expected-error@+1 {{'cuda_tile.join_tokens' op expect two or more tokens}}
cuda_tile.join_tokens %tok : token

// -----

// Order and scope.

%p4_f32 = "test.op"() : () -> !cuda_tile.tile<4xptr<f32>>
%t4_f32 = "test.op"() : () -> !cuda_tile.tile<4xf32>
// expected-error@+1 {{'cuda_tile.load_ptr_tko' op expect one of: weak, relaxed, or acquire, but got: release}}
cuda_tile.load_ptr_tko release device %p4_f32 : tile<4xptr<f32>> -> tile<4xf32>, token
// expected-error@+1 {{'cuda_tile.store_ptr_tko' op expect one of: weak, relaxed, or release, but got: acquire}}
cuda_tile.store_ptr_tko acquire device %p4_f32, %t4_f32 : tile<4xptr<f32>>, tile<4xf32> -> token
// expected-error@+1 {{'cuda_tile.load_ptr_tko' op weak load must not have memory scope}}
cuda_tile.load_ptr_tko weak device %p4_f32 : tile<4xptr<f32>> -> tile<4xf32>, token
// expected-error@+1 {{'cuda_tile.store_ptr_tko' op memory scope is required for relaxed store}}
cuda_tile.store_ptr_tko relaxed %p4_f32, %t4_f32 : tile<4xptr<f32>>, tile<4xf32> -> token

// -----

// An unknown memory order keyword.

%p4_f32 = "test.op"() : () -> !cuda_tile.tile<4xptr<f32>>
// expected-error@+1 {{invalid memory_ordering_semantics attribute specification. Got "strong" but expect one of: weak, relaxed, acquire, release, acq_rel}}
cuda_tile.load_ptr_tko strong %p4_f32 : tile<4xptr<f32>> -> tile<4xf32>, token

// -----

// An unknown scope keyword.

%p4_f32 = "test.op"() : () -> !cuda_tile.tile<4xptr<f32>>
// expected-error@+1 {{invalid memory_scope attribute specification. Got "cluster" but expect one of: tl_blk, device, sys}}
cuda_tile.load_ptr_tko relaxed cluster %p4_f32 : tile<4xptr<f32>> -> tile<4xf32>, token

// -----

// Alignments.

// expected-error@+1 {{attribute 'num_elem' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0}}
cuda_tile.alloca num_elem = -4, alignment = 4 : tile<ptr<f32>>
// expected-error@+1 {{'cuda_tile.alloca' op 'alignment' must be power of two}}
cuda_tile.alloca num_elem = 4, alignment = 12 : tile<ptr<f32>>
// expected-error@+1 {{'cuda_tile.alloca' op 'alignment' (2) must be at least the natural size (4 bytes) for element type 'f32'}}
cuda_tile.alloca num_elem = 4, alignment = 2 : tile<ptr<f32>>
