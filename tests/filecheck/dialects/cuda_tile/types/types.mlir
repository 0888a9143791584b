// Types; inside of one another they need no prefix.

// RUN: tileas-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s

// Scalars, tiles, pointers, tokens.

"test.op"() : () -> (!cuda_tile.tile<f32>, !cuda_tile.tile<2x4xi8>, !cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<4x!cuda_tile.ptr<i1>>, !cuda_tile.ptr<f16, #cuda_tile.ptr_attr<none>>, !cuda_tile.token)
"test.op"() : () -> (!cuda_tile.tile<i1>, !cuda_tile.tile<i4>, !cuda_tile.tile<i16>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>)
"test.op"() : () -> (!cuda_tile.tile<f16>, !cuda_tile.tile<bf16>, !cuda_tile.tile<tf32>, !cuda_tile.tile<f64>)
"test.op"() : () -> (!cuda_tile.tile<f8E4M3FN>, !cuda_tile.tile<f8E5M2>, !cuda_tile.tile<f8E8M0FNU>, !cuda_tile.tile<2xf4E2M1FN>, !cuda_tile.tile<f8E5M3FNU>)

// CHECK:       "test.op"() : () -> (!cuda_tile.tile<f32>, !cuda_tile.tile<2x4xi8>, !cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<4xptr<i1>>, !cuda_tile.ptr<f16, #cuda_tile.ptr_attr<none>>, !cuda_tile.token)
// CHECK:       "test.op"() : () -> (!cuda_tile.tile<i1>, !cuda_tile.tile<i4>, !cuda_tile.tile<i16>, !cuda_tile.tile<i32>, !cuda_tile.tile<i64>)
// CHECK:       "test.op"() : () -> (!cuda_tile.tile<f16>, !cuda_tile.tile<bf16>, !cuda_tile.tile<tf32>, !cuda_tile.tile<f64>)
// CHECK:       "test.op"() : () -> (!cuda_tile.tile<f8E4M3FN>, !cuda_tile.tile<f8E5M2>, !cuda_tile.tile<f8E8M0FNU>, !cuda_tile.tile<2xf4E2M1FN>, !cuda_tile.tile<f8E5M3FNU>)

// Views.

"test.op"() : () -> (!cuda_tile.tensor_view<f32>, !cuda_tile.tensor_view<f32, #cuda_tile.ptr_attr<none>>, !cuda_tile.tensor_view<?x64xf32, strides=[64,1]>, !cuda_tile.tensor_view<8xi32, strides=[?], #cuda_tile.ptr_attr<none>>)
"test.op"() : () -> (!cuda_tile.partition_view<tile=(4x2), !cuda_tile.tensor_view<?x64xf32, strides=[64,1]>>, !cuda_tile.partition_view<tile=(4x2), padding_value = neg_zero, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>)
"test.op"() : () -> (!cuda_tile.strided_view<tile=(4x2), traversal_strides=[3,1], !cuda_tile.tensor_view<?x64xf32, strides=[64,1]>>, !cuda_tile.gather_scatter_view<tile=(4x2), padding_value = nan, !cuda_tile.tensor_view<?x64xf32, strides=[64,1]>, sparse_dim=1>)

// CHECK:       "test.op"() : () -> (!cuda_tile.tensor_view<f32>, !cuda_tile.tensor_view<f32, #cuda_tile.ptr_attr<none>>, !cuda_tile.tensor_view<?x64xf32, strides=[64,1]>, !cuda_tile.tensor_view<8xi32, strides=[?], #cuda_tile.ptr_attr<none>>)
// CHECK:       "test.op"() : () -> (!cuda_tile.partition_view<tile=(4x2), tensor_view<?x64xf32, strides=[64,1]>>, !cuda_tile.partition_view<tile=(4x2), padding_value = neg_zero, tensor_view<?x64xf32, strides=[64,1]>, dim_map=[1, 0]>)
// CHECK:       "test.op"() : () -> (!cuda_tile.strided_view<tile=(4x2), traversal_strides=[3,1], tensor_view<?x64xf32, strides=[64,1]>>, !cuda_tile.gather_scatter_view<tile=(4x2), padding_value = nan, tensor_view<?x64xf32, strides=[64,1]>, sparse_dim=1>)
