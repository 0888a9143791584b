// The types of nv_tileas, and those of nv_tileaa that its operations accept.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | filecheck %s

// Tokens carry no data; an async token may deliver a tile when it is waited for.

// CHECK: func.func private @tokens(!nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token, !nv_tileas.mem_token, !nv_tileaa.mem_token, !nv_tileas.token, !nv_tileas.token<tensor<128x64xf16>>)
func.func private @tokens(
  !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token,
  !nv_tileas.mem_token, !nv_tileaa.mem_token,
  !nv_tileas.token, !nv_tileas.token<tile<128x64xf16>>)

// An iterator knows what a stage holds; the number of stages and the space may be left open.

// CHECK: func.func private @iterators(!nv_tileas.async.pipeline.iterator<tensor<128x128xf16>>, !nv_tileas.async.pipeline.iterator<tensor<128x128xf16>, 3>, !nv_tileas.async.pipeline.iterator<tensor<128x128xf16>, 3, smem>, !nv_tileas.async.pipeline.iterator<tuple<tensor<8xf16>, tensor<8xf32>>, 2>)
func.func private @iterators(
  !nv_tileas.async.pipeline.iterator<tile<128x128xf16>>,
  !nv_tileas.async.pipeline.iterator<tensor<128x128xf16>, 3>,
  !nv_tileas.async.pipeline.iterator<tensor<128x128xf16>, 3, smem>,
  !nv_tileas.async.pipeline.iterator<tuple<tensor<8xf16>, tensor<8xf32>>, 2>)

// A view has the memory space of its tile, and optionally its layout.

// CHECK: func.func private @views(!nv_tileas.tiled_view<128x64xf16, gmem>, !nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1),swizzle<3,4,3>>>, !nv_tileas.tiled_view<128x256xf32, tmem>, !nv_tileas.tiled_view<8xf16, rmem>, !nv_tileas.tiled_view<?x64xbf16, gmem>, !nv_tileaa.tiled_view<2x128x128xf16>)
func.func private @views(
  !nv_tileas.tiled_view<128x64xf16, gmem>,
  !nv_tileas.tiled_view<128x64xf16, smem, <(128, 64), (64, 1), swizzle<3, 4, 3>>>,
  !nv_tileas.tiled_view<128x256xf32, tmem>,
  !nv_tileas.tiled_view<8xf16, rmem>,
  !nv_tileas.tiled_view<?x64xbf16, gmem>,
  !nv_tileaa.tiled_view<2x128x128xf16>)

// CHECK: func.func private @descriptors(!nv_tileas.tma_desc, !nv_tileaa.ptr<f16, 1>)
func.func private @descriptors(!nv_tileas.tma_desc, !nv_tileaa.ptr<f16, 1>)

// The four encodings of a tile, and a tile that is resident but not laid out.

// CHECK: func.func private @tiles(tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<16x8xf32, #nv_tileas.dot_operand<"((8,2),(2,4)):((4@thread,2@value),(1@value,1@thread))">>, tensor<32x4xf16, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>, tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>, tensor<64x64xf16, #nv_tileas<space smem>>)
func.func private @tiles(
  tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>,
  tensor<16x8xf32, #nv_tileas.dot_operand<"((8,2),(2,4)):((4@thread,2@value),(1@value,1@thread))">>,
  tensor<32x4xf16, #nv_tileas.blocked<"(32,4):(1@thread,1@value)">>,
  tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>,
  tensor<64x64xf16, #nv_tileas<space smem>>)
