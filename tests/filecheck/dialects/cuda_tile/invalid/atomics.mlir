// Atomic updates that there are not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Through pointers.

%p4_i32 = "test.op"() : () -> !cuda_tile.tile<4xptr<i32>>
%t4_i32 = "test.op"() : () -> !cuda_tile.tile<4xi32>
%p4_f32 = "test.op"() : () -> !cuda_tile.tile<4xptr<f32>>
%t4_f32 = "test.op"() : () -> !cuda_tile.tile<4xf32>
%p4_i16 = "test.op"() : () -> !cuda_tile.tile<4xptr<i16>>
%t4_i16 = "test.op"() : () -> !cuda_tile.tile<4xi16>
%p4_f16 = "test.op"() : () -> !cuda_tile.tile<4xptr<f16>>
%t4_f16 = "test.op"() : () -> !cuda_tile.tile<4xf16>
%t2_i1 = "test.op"() : () -> !cuda_tile.tile<2xi1>
// expected-error@+1 {{'cuda_tile.atomic_rmw_tko' op memory ordering semantics must be one of: relaxed, acquire, release, acq_rel}}
cuda_tile.atomic_rmw_tko weak device %p4_i32, add, %t4_i32 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
// expected-error@+1 {{'cuda_tile.atomic_rmw_tko' op 'add' works only with integers i32 and i64}}
cuda_tile.atomic_rmw_tko relaxed device %p4_f32, add, %t4_f32 : tile<4xptr<f32>>, tile<4xf32> -> tile<4xf32>, token
// expected-error@+1 {{'cuda_tile.atomic_rmw_tko' op 'addf' works only with floats f16, bf16, f32, and f64}}
cuda_tile.atomic_rmw_tko relaxed device %p4_i32, addf, %t4_i32 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
// expected-error@+1 {{'cuda_tile.atomic_rmw_tko' op 'xchg' works only with integers or float of 32 or 64 bitwidth}}
cuda_tile.atomic_rmw_tko relaxed device %p4_i16, xchg, %t4_i16 : tile<4xptr<i16>>, tile<4xi16> -> tile<4xi16>, token
// expected-error@+1 {{'cuda_tile.atomic_cas_tko' op expect only float or integer types with 32 or 64 bit}}
cuda_tile.atomic_cas_tko relaxed device %p4_f16, %t4_f16, %t4_f16 : tile<4xptr<f16>>, tile<4xf16> -> tile<4xf16>, token
// expected-error@+1 {{'cuda_tile.atomic_cas_tko' op expected pointee type ('f32') to match element type of 'val' ('i32')}}
cuda_tile.atomic_cas_tko relaxed device %p4_f32, %t4_i32, %t4_i32 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xi32>, token
// expected-error@+1 {{'cuda_tile.atomic_rmw_tko' op expected pointee type ('f32') to match element type of 'arg' ('i32')}}
cuda_tile.atomic_rmw_tko relaxed device %p4_f32, add, %t4_i32 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xi32>, token
// expected-error@+1 {{'cuda_tile.atomic_cas_tko' op failed to verify that all of {pointers, val, cmp and mask} have same shape}}
cuda_tile.atomic_cas_tko relaxed device %p4_i32, %t4_i32, %t4_i32, %t2_i1 : tile<4xptr<i32>>, tile<4xi32>, tile<2xi1> -> tile<4xi32>, token
// expected-error@+1 {{'cuda_tile.atomic_rmw_tko' op failed to verify that all of {pointers, arg, mask} have same shape}}
cuda_tile.atomic_rmw_tko relaxed device %p4_i32, add, %t4_i32, %t2_i1 : tile<4xptr<i32>>, tile<4xi32>, tile<2xi1> -> tile<4xi32>, token

// -----

// An unknown mode keyword.

%p4_i32 = "test.op"() : () -> !cuda_tile.tile<4xptr<i32>>
%t4_i32 = "test.op"() : () -> !cuda_tile.tile<4xi32>
// expected-error@+1 {{unknown atomic RMW mode: 'sub'; expected one of: and, or, xor, add, addf, max, min, umax, umin}}
cuda_tile.atomic_rmw_tko relaxed device %p4_i32, sub, %t4_i32 : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token

// -----

// Through views.

%gv = "test.op"() : () -> !cuda_tile.gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
%t8_i32 = "test.op"() : () -> !cuda_tile.tile<8xi32>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
%t8x4_f32 = "test.op"() : () -> !cuda_tile.tile<8x4xf32>
%pvz = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), padding_value = zero, tensor_view<64x64xf32, strides=[64,1]>>
%t8x8_f32 = "test.op"() : () -> !cuda_tile.tile<8x8xf32>
%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t8x8_f16 = "test.op"() : () -> !cuda_tile.tile<8x8xf16>
%t2_i32 = "test.op"() : () -> !cuda_tile.tile<2xi32>
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op gather_scatter_view is not supported; use partition_view instead}}
cuda_tile.atomic_red_view_tko relaxed device %gv[%t8_i32, %t_i32], addf, %t8x4_f32 : tile<8x4xf32>, gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<8xi32>, tile<i32> -> token
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op views with padding_value are not supported for atomic reductions}}
cuda_tile.atomic_red_view_tko relaxed device %pvz[%t_i32, %t_i32], addf, %t8x8_f32 : tile<8x8xf32>, partition_view<tile=(8x8), padding_value = zero, tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op view element type ('f32') must match value element type ('f16')}}
cuda_tile.atomic_red_view_tko relaxed device %pv[%t_i32, %t_i32], addf, %t8x8_f16 : tile<8x8xf16>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op view tile shape 8, 8 must match value shape 8, 4 for element-wise atomic operations}}
cuda_tile.atomic_red_view_tko relaxed device %pv[%t_i32, %t_i32], addf, %t8x4_f32 : tile<8x4xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op atomic_red_view_tko op cannot use xchg operation}}
cuda_tile.atomic_red_view_tko relaxed device %pv[%t_i32, %t_i32], xchg, %t8x8_f32 : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op 'add' works only with integers i32 and i64}}
cuda_tile.atomic_red_view_tko relaxed device %pv[%t_i32, %t_i32], add, %t8x8_f32 : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op only 'relaxed' memory ordering is supported for view-based atomic reductions}}
cuda_tile.atomic_red_view_tko acquire device %pv[%t_i32, %t_i32], addf, %t8x8_f32 : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op memory scope 'sys' is not supported for view-based atomic reductions; use 'tl_blk' or 'device' for TMA compatibility}}
cuda_tile.atomic_red_view_tko relaxed sys %pv[%t_i32, %t_i32], addf, %t8x8_f32 : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op expected 2 index operand(s) for view with tile rank 2, got 1}}
cuda_tile.atomic_red_view_tko relaxed device %pv[%t_i32], addf, %t8x8_f32 : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op index operand 0 must be a scalar tile (rank 0), got shape 2}}
cuda_tile.atomic_red_view_tko relaxed device %pv[%t2_i32, %t2_i32], addf, %t8x8_f32 : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<2xi32> -> token
// expected-error@+1 {{'cuda_tile.atomic_red_view_tko' op requires attribute 'memory_scope'}}
cuda_tile.atomic_red_view_tko relaxed %pv[%t_i32, %t_i32], addf, %t8x8_f32 : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token

// -----

// An attribute that has a place of its own.

%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
%t8x8_f32 = "test.op"() : () -> !cuda_tile.tile<8x8xf32>
// expected-error@+1 {{attribute 'mode' is reserved and may not appear in the trailing `attributes { ... }` dict; it is printed explicitly and must be set via the canonical syntax instead}}
cuda_tile.atomic_red_view_tko relaxed device %pv[%t_i32, %t_i32], addf, %t8x8_f32 attributes {mode = 1} : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
