// What tile storage and slices refuse, each with the nearest thing that is accepted.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// A new tile has known extents.

// expected-error@+1 {{'nv_tileas.alloc_tensor' op the extents of a new tile are known, unlike those of tensor<?x32xf32>}}
%0 = nv_tileas.alloc_tensor : tensor<?x32xf32>

// -----

// As many numbers as the tile has dimensions.

%t = nv_tileas.alloc_tensor : tensor<32x32xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op has 1 offsets, 2 sizes and 2 strides for a tile of rank 2}}
%0 = nv_tileas.extract_slice %t[0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op has 2 offsets, 1 sizes and 2 strides for a tile of rank 2}}
%1 = nv_tileas.extract_slice %t[0, 0][16][1, 1] : tensor<32x32xf32> -> tensor<16xf32>
// expected-error@+1 {{'nv_tileas.insert_slice' op has 2 offsets, 2 sizes and 3 strides for a tile of rank 2}}
%2 = nv_tileas.insert_slice %t into %t[0, 0][32, 32][1, 1, 1] : tensor<32x32xf32> into tensor<32x32xf32>

%3 = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>

// -----

// The numbers make sense.

%t = nv_tileas.alloc_tensor : tensor<32x32xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op the offset of dimension 1 is at least 0, not -1}}
%0 = nv_tileas.extract_slice %t[0, -1][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op the size of dimension 0 is at least 1, not 0}}
%1 = nv_tileas.extract_slice %t[0, 0][0, 32][1, 1] : tensor<32x32xf32> -> tensor<0x32xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op the stride of dimension 0 is at least 1, not 0}}
%2 = nv_tileas.extract_slice %t[0, 0][16, 32][0, 1] : tensor<32x32xf32> -> tensor<16x32xf32>

%3 = nv_tileas.extract_slice %t[31, 0][1, 1][1, 1] : tensor<32x32xf32> -> tensor<1x1xf32>

// -----

// The slice lies in the tile.  What is not known is taken to fit.

%i = arith.constant 40 : index
%t = nv_tileas.alloc_tensor : tensor<32x32xf32>
%x = nv_tileas.alloc_tensor : tensor<16x32xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op reaches element 32 of dimension 0, whose extent is 32}}
%0 = nv_tileas.extract_slice %t[17, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op reaches element 45 of dimension 1, whose extent is 32}}
%1 = nv_tileas.extract_slice %t[%i, 0][16, 16][1, 3] : tensor<32x32xf32> -> tensor<16x16xf32>
// expected-error@+1 {{'nv_tileas.insert_slice' op reaches element 35 of dimension 0, whose extent is 32}}
%2 = nv_tileas.insert_slice %x into %t[20, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32>

%3 = nv_tileas.extract_slice %t[1, 0][16, 32][2, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
%4 = nv_tileas.extract_slice %t[%i, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>

// -----

// The type of the slice is that of the part.

%n = arith.constant 16 : index
%t = nv_tileas.alloc_tensor : tensor<32x32xf32>
%x = nv_tileas.alloc_tensor : tensor<16x32xf16>
// expected-error@+1 {{'nv_tileas.extract_slice' op a slice of f32 elements has no elements f16}}
%0 = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf16>
// expected-error@+1 {{'nv_tileas.extract_slice' op the slice is 16x32, but its type is 32x16}}
%1 = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<32x16xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op the slice is ?x32, but its type is 16x32}}
%2 = nv_tileas.extract_slice %t[0, 0][%n, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
// expected-error@+1 {{'nv_tileas.insert_slice' op a slice of f32 elements has no elements f16}}
%3 = nv_tileas.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf16> into tensor<32x32xf32>

%4 = nv_tileas.extract_slice %t[0, 0][%n, 32][1, 1] : tensor<32x32xf32> -> tensor<?x32xf32>

// -----

// A slice of a scalar tile is a scalar.

%t = nv_tileas.alloc_tensor : tensor<f32>
// expected-error@+1 {{'nv_tileas.extract_slice' op the slice is a scalar, but its type is 1}}
%0 = nv_tileas.extract_slice %t[][][] : tensor<f32> -> tensor<1xf32>

%1 = nv_tileas.extract_slice %t[][][] : tensor<f32> -> tensor<f32>

// -----

// Slicing moves nothing.

%t = nv_tileas.alloc_tensor : tensor<32x32xf32, #nv_tileas<space smem>>
// expected-error@+1 {{'nv_tileas.extract_slice' op a slice does not move data: the tile is in smem, the slice in rmem}}
%0 = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32, #nv_tileas<space smem>> -> tensor<16x32xf32, #nv_tileas<space rmem>>

%1 = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32, #nv_tileas<space smem>> -> tensor<16x32xf32, #nv_tileas.shared<(16,32),(32,1)>>

// -----

// Each open place has an operand.  A slice that is wrong twice hears of this first.

%i = arith.constant 0 : index
%t = nv_tileas.alloc_tensor : tensor<32x32xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op leaves 0 offsets to operands, but has 1 of them}}
%0 = "nv_tileas.extract_slice"(%t, %i) <{static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 16, 32>, static_strides = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<32x32xf32>, index) -> tensor<16x32xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op leaves 1 sizes to operands, but has 0 of them}}
%1 = "nv_tileas.extract_slice"(%t) <{static_offsets = array<i64: 0, 0>, static_sizes = array<i64: -9223372036854775808, 32>, static_strides = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<32x32xf32>) -> tensor<16x32xf32>
// expected-error@+1 {{'nv_tileas.insert_slice' op leaves 0 strides to operands, but has 1 of them}}
%2 = "nv_tileas.insert_slice"(%t, %t, %i) <{static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 32, 32>, static_strides = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>}> : (tensor<32x32xf32>, tensor<32x32xf32>, index) -> tensor<32x32xf32>

%3 = "nv_tileas.extract_slice"(%t, %i) <{static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 16, 32>, static_strides = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<32x32xf32>, index) -> tensor<16x32xf32>

// -----

// Tokens carry tiles.

%bare, %t, %s = "test.op"() : () -> (!nv_tileas.token, !nv_tileas.token<tensor<32x32xf32>>, !nv_tileas.token<f32>)
// expected-error@+1 {{'nv_tileas.async.extract_slice' op takes and gives tokens that carry tiles, not bare ones}}
%0 = nv_tileas.async.extract_slice %bare[0, 0][16, 32][1, 1] : !nv_tileas.token -> !nv_tileas.token<tensor<16x32xf32>>
// expected-error@+1 {{'nv_tileas.async.extract_slice' op takes and gives tokens that carry tiles, not bare ones}}
%1 = nv_tileas.async.extract_slice %t[0, 0][16, 32][1, 1] : !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token
// expected-error@+1 {{'nv_tileas.async.extract_slice' op reaches element 47 of dimension 0, whose extent is 32}}
%2 = nv_tileas.async.extract_slice %t[32, 0][16, 32][1, 1] : !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<16x32xf32>>
// expected-error@+1 {{'nv_tileas.async.insert_slice' op takes and gives tokens that carry tiles, not bare ones}}
%3 = nv_tileas.async.insert_slice %s into %t[0, 0][16, 32][1, 1] : !nv_tileas.token<f32> into !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<32x32xf32>>

%4 = nv_tileas.async.extract_slice %t[16, 0][16, 32][1, 1] : !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<16x32xf32>>

// -----

// The asynchronous insertion has a token to wait for, and gives the whole tile.

%x, %t = "test.op"() : () -> (tensor<16x32xf32>, !nv_tileas.token<tensor<32x32xf32>>)
%b = nv_tileas.alloc_tensor : tensor<32x32xf32>
// expected-error@+1 {{'nv_tileas.async.insert_slice' op nothing comes with a token; insert_slice does this without one}}
%0 = nv_tileas.async.insert_slice %x into %b[0, 0][16, 32][1, 1] : tensor<16x32xf32> into tensor<32x32xf32> -> !nv_tileas.token<tensor<32x32xf32>>
// expected-error@+1 {{'nv_tileas.async.insert_slice' op the result carries tensor<32x32xf32>, not tensor<16x32xf32>}}
%1 = nv_tileas.async.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<16x32xf32>>
// expected-error@+1 {{'nv_tileas.async.insert_slice' op the result carries tensor<32x32xf32>, not nothing}}
%2 = nv_tileas.async.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token

%3 = nv_tileas.async.insert_slice %x into %t[0, 0][16, 32][1, 1] : tensor<16x32xf32> into !nv_tileas.token<tensor<32x32xf32>> -> !nv_tileas.token<tensor<32x32xf32>>

// -----

// Slices are taken of tiles.

%m = "test.op"() : () -> memref<32x32xf32>
// expected-error@+1 {{'nv_tileas.extract_slice' op operand 'source' at position 0 does not verify: memref<32x32xf32> should be of base attribute tensor}}
%0 = "nv_tileas.extract_slice"(%m) <{static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 16, 32>, static_strides = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (memref<32x32xf32>) -> tensor<16x32xf32>
