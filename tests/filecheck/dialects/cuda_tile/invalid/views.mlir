// Accesses through views that there are not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Tiles and indices.

%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
%t2_i32 = "test.op"() : () -> !cuda_tile.tile<2xi32>
%t8x8_f32 = "test.op"() : () -> !cuda_tile.tile<8x8xf32>
%t_i64 = "test.op"() : () -> !cuda_tile.tile<i64>
%gv = "test.op"() : () -> !cuda_tile.gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
%t4_i32 = "test.op"() : () -> !cuda_tile.tile<4xi32>
%t8_i32 = "test.op"() : () -> !cuda_tile.tile<8xi32>
%gv3 = "test.op"() : () -> !cuda_tile.gather_scatter_view<tile=(8x4x4), tensor_view<8x8x8xf32, strides=[64,8,1]>, sparse_dim=0>
%t_f32 = "test.op"() : () -> !cuda_tile.tile<f32>
// expected-error@+1 {{'cuda_tile.load_view_tko' op expected 2 index operands (based on view type), got 1}}
cuda_tile.load_view_tko weak %pv[%t_i32] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
// expected-error@+1 {{'cuda_tile.load_view_tko' op expected tile type to be '!cuda_tile.tile<8x8xf32>' (based on view type), got '!cuda_tile.tile<8x4xf32>'}}
cuda_tile.load_view_tko weak %pv[%t_i32, %t_i32] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x4xf32>, token
// expected-error@+1 {{'cuda_tile.load_view_tko' op expected index type to be a scalar tile, got '!cuda_tile.tile<2xi32>'}}
cuda_tile.load_view_tko weak %pv[%t2_i32, %t2_i32] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<2xi32> -> tile<8x8xf32>, token
// expected-error@+1 {{'cuda_tile.store_view_tko' op expected index type 1 to be the same as other index types ('!cuda_tile.tile<i32>'), got '!cuda_tile.tile<i64>'}}
cuda_tile.store_view_tko weak %t8x8_f32, %pv[%t_i32, %t_i64] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i64> -> token
// expected-error@+1 {{'cuda_tile.load_view_tko' op expected index at sparse_dim position 0 to be a 1D tensor for GatherScatterView, got rank 0}}
cuda_tile.load_view_tko weak %gv[%t_i32, %t_i32] : gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<i32> -> tile<8x4xf32>, token
// expected-error@+1 {{'cuda_tile.load_view_tko' op expected gather/scatter index size (4) to match tile shape at gather/scatter dimension 0 (8)}}
cuda_tile.load_view_tko weak %gv[%t4_i32, %t_i32] : gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<4xi32>, tile<i32> -> tile<8x4xf32>, token
// expected-error@+1 {{'cuda_tile.load_view_tko' op expected index 1 to be a scalar tile for GatherScatterView}}
cuda_tile.load_view_tko weak %gv[%t8_i32, %t8_i32] : gather_scatter_view<tile=(8x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>, tile<8xi32> -> tile<8x4xf32>, token
// expected-error@+1 {{'cuda_tile.load_view_tko' op expected scalar index 2 to have the same type as other scalar indices ('!cuda_tile.tile<i32>'), got '!cuda_tile.tile<i64>'}}
cuda_tile.load_view_tko weak %gv3[%t8_i32, %t_i32, %t_i64] : gather_scatter_view<tile=(8x4x4), tensor_view<8x8x8xf32, strides=[64,8,1]>, sparse_dim=0>, tile<8xi32>, tile<i32>, tile<i64> -> tile<8x4x4xf32>, token
// expected-error@+1 {{'cuda_tile.load_view_tko' op operand #1 must be variadic of tile of i1 or i8 or i16 or i32 or i64 values, but got '!cuda_tile.tile<f32>'}}
cuda_tile.load_view_tko weak %pv[%t_f32, %t_f32] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<f32> -> tile<8x8xf32>, token

// -----

// Order.

%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
%t8x8_f32 = "test.op"() : () -> !cuda_tile.tile<8x8xf32>
// expected-error@+1 {{'cuda_tile.load_view_tko' op expect one of: weak, relaxed, or acquire, but got: release}}
cuda_tile.load_view_tko release device %pv[%t_i32, %t_i32] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token
// expected-error@+1 {{'cuda_tile.store_view_tko' op memory scope is required for release store}}
cuda_tile.store_view_tko release %t8x8_f32, %pv[%t_i32, %t_i32] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token

// -----

// A scope of a weak access.

%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{operation specifies weak memory ordering semantics, but then provides "device" scope, expected no memory scope.}}
cuda_tile.load_view_tko weak device %pv[%t_i32, %t_i32] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token

// -----

// No types of the indices.

%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{index types must be specified when indices are present}}
cuda_tile.load_view_tko weak %pv[%t_i32, %t_i32] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>> -> tile<8x8xf32>, token

// -----

// Too many types of the indices.

%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{expected 2 index types, got 3}}
cuda_tile.load_view_tko weak %pv[%t_i32, %t_i32] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32>, tile<i32>, tile<i32> -> tile<8x8xf32>, token

// -----

// An unknown flag keyword.

%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{expected 'true' or 'false' in inbounds list, got 'yes'}}
cuda_tile.load_view_tko weak %pv[%t_i32, %t_i32] inbounds = [yes, no] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token

// -----

// Too few flags.

%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{inbounds size (1) must match the number of index dimensions (2)}}
cuda_tile.load_view_tko weak %pv[%t_i32, %t_i32] inbounds = [true] : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token

// -----

// An attribute that has a place of its own.

%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{attribute 'inbounds' is reserved and may not appear in the trailing `attributes { ... }` dict; it is printed explicitly and must be set via the canonical syntax instead}}
cuda_tile.load_view_tko weak %pv[%t_i32, %t_i32] attributes {inbounds = 1} : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<8x8xf32>, token

// -----

// A view of another tensor.

%tvi = "test.op"() : () -> !cuda_tile.tensor_view<64x64xi32, strides=[64,1]>
// expected-error@+1 {{'cuda_tile.make_partition_view' op expected the type of the provided tensor_view value ('!cuda_tile.tensor_view<64x64xi32, strides=[64,1]>') to be the same as the view's tensor_view type ('!cuda_tile.tensor_view<64x64xf32, strides=[64,1]>')}}
"cuda_tile.make_partition_view"(%tvi) : (!cuda_tile.tensor_view<64x64xi32, strides=[64,1]>) -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>

// -----

// Another kind of view.

%tv = "test.op"() : () -> !cuda_tile.tensor_view<64x64xf32, strides=[64,1]>
// expected-error@+1 {{expected 'strided_view' type, but got '!cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>'}}
cuda_tile.make_strided_view %tv : partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>

// -----

// The shape of no tensor.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{expected tensor_view, got '!cuda_tile.tile<i32>'}}
cuda_tile.get_tensor_shape %t_i32 : tile<i32> -> tile<i32>

// -----

// The index space of no view.

%tv = "test.op"() : () -> !cuda_tile.tensor_view<64x64xf32, strides=[64,1]>
// expected-error@+1 {{expected tile view, got '!cuda_tile.tensor_view<64x64xf32, strides=[64,1]>'}}
cuda_tile.get_index_space_shape %tv : tensor_view<64x64xf32, strides=[64,1]> -> tile<i32>

// -----

// The number of extents.

%tv = "test.op"() : () -> !cuda_tile.tensor_view<64x64xf32, strides=[64,1]>
%pv = "test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>
// expected-error@+1 {{'cuda_tile.get_tensor_shape' op expected 2 results due to tensor rank, but got 1}}
"cuda_tile.get_tensor_shape"(%tv) : (!cuda_tile.tensor_view<64x64xf32, strides=[64,1]>) -> !cuda_tile.tile<i32>
// expected-error@+1 {{'cuda_tile.get_index_space_shape' op expected 2 results due to view index space rank, but got 1}}
"cuda_tile.get_index_space_shape"(%pv) : (!cuda_tile.partition_view<tile=(8x8), tensor_view<64x64xf32, strides=[64,1]>>) -> !cuda_tile.tile<i32>
