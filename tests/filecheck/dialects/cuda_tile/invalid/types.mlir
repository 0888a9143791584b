// Types that there are not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// An extent of 0.

// expected-error@+1 {{all dimensions must be positive constants, got 0}}
"test.op"() : () -> !cuda_tile.tile<0xf32>

// -----

// An extent that is no power of two.

// expected-error@+1 {{all dimensions must be powers of two, got 3}}
"test.op"() : () -> !cuda_tile.tile<3xf32>

// -----

// Too many elements.

// expected-error@+1 {{tile would exceed the maximum of 16777216 elements}}
"test.op"() : () -> !cuda_tile.tile<33554432xf32>

// -----

// Half a byte.

// expected-error@+1 {{F4E2M1FN tiles must have an even number of elements}}
"test.op"() : () -> !cuda_tile.tile<f4E2M1FN>

// -----

// A classification that is none.

// expected-error@+1 {{expected ptr_attr attribute}}
"test.op"() : () -> !cuda_tile.tile<ptr<f32, 3>>

// -----

// No strides.

// expected-error@+1 {{expected 'strides'}}
"test.op"() : () -> !cuda_tile.tensor_view<8xf32>

// -----

// Strides of a scalar.

// expected-error@+1 {{strides must not be provided for 0-d tiles}}
"test.op"() : () -> !cuda_tile.tensor_view<f32, strides=[]>

// -----

// Something else behind a scalar.

// expected-error@+1 {{unexpected token after element type in 0-d tensor_view}}
"test.op"() : () -> !cuda_tile.tensor_view<f32, 3>

// -----

// A stride that is no number.

// expected-error@+1 {{expected either 64-bit integer or question mark}}
"test.op"() : () -> !cuda_tile.tensor_view<8xf32, strides=[x]>

// -----

// A stride of 0.

// expected-error@+1 {{expected strictly positive integer, got 0}}
"test.op"() : () -> !cuda_tile.tensor_view<8xf32, strides=[0]>

// -----

// A stride too many.

// expected-error@+1 {{expected shape and stride to be of same rank but got shape of rank 1 and stride of rank 2}}
"test.op"() : () -> !cuda_tile.tensor_view<8xf32, strides=[8,1]>

// -----

// An extent of 0 in a tensor.

// expected-error@+1 {{dimensions must have strictly positive constant sizes but got [0]}}
"test.op"() : () -> !cuda_tile.tensor_view<0xf32, strides=[1]>

// -----

// A view of a tile.

// expected-error@+1 {{expected 'tensor_view' type, but got '!cuda_tile.tile<8xf32>'}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(8), tile<8xf32>>

// -----

// A view with scalars as tiles.

// expected-error@+1 {{0-dimension tile shape is not supported}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(), tensor_view<f32>>

// -----

// Tiles of another rank.

// expected-error@+1 {{expected tensor_view rank and tile rank to match, got tensor_view of rank 2 and tiles of rank 1}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(8), tensor_view<8x8xf32, strides=[8,1]>>

// -----

// A map of another length.

// expected-error@+1 {{expected dim_map to map exactly all 2 dimensions of the tile, got 1 mappings}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>, dim_map=[0]>

// -----

// Tiles of another extent.

// expected-error@+1 {{tile shape dimensions must have power of two length but got [3, 8]}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(3x8), tensor_view<8x8xf32, strides=[8,1]>>

// -----

// Tiles without elements.

// expected-error@+1 {{tile dimension 0 exceeds i32 limitations (got 0, expected strictly positive and less than or equal to 2147483647)}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(0x8), tensor_view<8x8xf32, strides=[8,1]>>

// -----

// A negative target.

// expected-error@+1 {{target dimension must not be negative, got -1}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>, dim_map=[-1, 0]>

// -----

// A target beyond the rank.

// expected-error@+1 {{target dimension is outside of tensor view dimensions, expected strictly less than 2, got 2}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>, dim_map=[0, 2]>

// -----

// The same target twice.

// expected-error@+1 {{target dimension 1 mapped at least twice (for tile dimensions 0 and 1)}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>, dim_map=[1, 1]>

// -----

// Padding of integers.

// expected-error@+1 {{padding_value nan can only be used with floating point element types, got 'i32'}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(8), padding_value = nan, tensor_view<8xi32, strides=[1]>>

// -----

// An unknown padding keyword.

// expected-error@+1 {{invalid padding_value attribute specification. Got "one" but expect one of: zero, neg_zero, nan, pos_inf, neg_inf}}
"test.op"() : () -> !cuda_tile.partition_view<tile=(8x8), padding_value = one, tensor_view<8x8xf32, strides=[8,1]>>

// -----

// A distance too few.

// expected-error@+1 {{expected 2 traversal strides, got 1}}
"test.op"() : () -> !cuda_tile.strided_view<tile=(8x8), traversal_strides=[1], tensor_view<8x8xf32, strides=[8,1]>>

// -----

// A distance of 0.

// expected-error@+1 {{traversal strides must be strictly positive but got [1, 0]}}
"test.op"() : () -> !cuda_tile.strided_view<tile=(8x8), traversal_strides=[1,0], tensor_view<8x8xf32, strides=[8,1]>>

// -----

// A dimension beyond the rank.

// expected-error@+1 {{gather dimension is outside of tensor view dimensions, expected strictly less than 2, got 2}}
"test.op"() : () -> !cuda_tile.gather_scatter_view<tile=(8x8), tensor_view<8x8xf32, strides=[8,1]>, sparse_dim=2>
