// What the operations on layout and shape refuse, each with the nearest thing that is accepted.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Another layout, but the same tile.

%t = nv_tileas.alloc_tensor : tensor<16x16xf16>
// expected-error@+1 {{'nv_tileas.convert_layout' op keeps the element type, f16, but gives f32}}
%0 = nv_tileas.convert_layout %t : tensor<16x16xf16> -> tensor<16x16xf32>
// expected-error@+1 {{'nv_tileas.convert_layout' op keeps the shape of tensor<16x16xf16>, but gives tensor<32x8xf16>}}
%1 = nv_tileas.convert_layout %t : tensor<16x16xf16> -> tensor<32x8xf16>
// Wrong twice: elements come first.
// expected-error@+1 {{'nv_tileas.convert_layout' op keeps the element type, f16, but gives f32}}
%2 = nv_tileas.convert_layout %t : tensor<16x16xf16> -> tensor<32x8xf32>

%3 = nv_tileas.convert_layout %t : tensor<16x16xf16> -> tensor<16x16xf16, #nv_tileas<space smem>>

// -----

// Where a view begins.

%i, %s, %m = "test.op"() : () -> (index, i32, memref<8x64xf16>)
// expected-error@+1 {{'nv_tileas.view' op begins at an offset or at indices, not both}}
%0 = nv_tileas.view %m[%i, %i] {offset = 8} : memref<8x64xf16>
// expected-error@+1 {{'nv_tileas.view' op the offset is at least 0, not -8}}
%1 = nv_tileas.view %m {offset = -8} : memref<8x64xf16>
// expected-error@+1 {{'nv_tileas.view' op has 3 indices; a source of rank 2 takes 2, or one}}
%2 = nv_tileas.view %m[%i, %i, %i] : memref<8x64xf16>
// expected-error@+1 {{'nv_tileas.view' op begins at indices of type index, not i32}}
%3 = nv_tileas.view %m[%i, %s : i32] : memref<8x64xf16>

%4 = nv_tileas.view %m[%i, %i] : memref<8x64xf16>
%5 = nv_tileas.view %m {offset = 0} : memref<8x64xf16>

// -----

// What a view shows.

%t, %x = "test.op"() : () -> (tensor<16x16xf16, #nv_tileas<space smem>>, f32)
// expected-error@+1 {{'nv_tileas.view' op a view of f16 elements shows no f32}}
%0 = nv_tileas.view %t : tensor<16x16xf16, #nv_tileas<space smem>> -> tensor<16x16xf32, #nv_tileas<space smem>>
// expected-error@+1 {{'nv_tileas.view' op a view does not move data: the source is in smem, the result in gmem}}
%1 = nv_tileas.view %t : tensor<16x16xf16, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<16x16xf16, gmem>
// expected-error@+1 {{'nv_tileas.view' op shows 512 elements of a buffer of 256}}
%2 = nv_tileas.view %t : tensor<16x16xf16, #nv_tileas<space smem>> -> tensor<32x16xf16, #nv_tileas<space smem>>

%g = "test.op"() : () -> memref<16x16xf16>
// expected-error@+1 {{'nv_tileas.view' op global memory is shown by a view, not by a tile: load it}}
%n = nv_tileas.view %g : memref<16x16xf16> -> tensor<16x16xf16>

%3 = nv_tileas.view %t : tensor<16x16xf16, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<32x8xf16, smem>
// expected-error@+1 {{'nv_tileas.view' op shows 512 elements of a buffer of 256}}
%4 = nv_tileas.view %t : tensor<16x16xf16, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<32x16xf16, smem>

// -----

// A new dimension of extent one.

%t = nv_tileas.alloc_tensor : tensor<16x8xf16, #nv_tileas<space rmem>>
// expected-error@+1 {{'nv_tileas.expand_dims' op the new axis of a rank 2 tile is not 3}}
%0 = nv_tileas.expand_dims %t {axis = 3 : i32} : tensor<16x8xf16, #nv_tileas<space rmem>> -> tensor<16x8x1xf16>
// expected-error@+1 {{'nv_tileas.expand_dims' op the new axis of a rank 2 tile is not -1}}
%1 = nv_tileas.expand_dims %t {axis = -1 : i32} : tensor<16x8xf16, #nv_tileas<space rmem>> -> tensor<16x8x1xf16>
// expected-error@+1 {{'nv_tileas.expand_dims' op gives tensor<16x1x8xf16>, not tensor<16x8x1xf16>}}
%2 = nv_tileas.expand_dims %t {axis = 1 : i32} : tensor<16x8xf16, #nv_tileas<space rmem>> -> tensor<16x8x1xf16>
// expected-error@+1 {{'nv_tileas.expand_dims' op a new dimension does not move data: the source is in rmem, the result in smem}}
%3 = nv_tileas.expand_dims %t {axis = 2 : i32} : tensor<16x8xf16, #nv_tileas<space rmem>> -> tensor<16x8x1xf16, #nv_tileas<space smem>>

%4 = nv_tileas.expand_dims %t {axis = 2 : i32} : tensor<16x8xf16, #nv_tileas<space rmem>> -> tensor<16x8x1xf16>

// -----

// The same bits.

%t = nv_tileas.alloc_tensor : tensor<16x8xf16, #nv_tileas<space smem>>
// expected-error@+1 {{'nv_tileas.reinterpret' op tensor<16x8xf16, #nv_tileas<space smem>> has 2048 bits, tensor<16x8xi8, #nv_tileas<space smem>> has 1024}}
%0 = nv_tileas.reinterpret %t : tensor<16x8xf16, #nv_tileas<space smem>> -> tensor<16x8xi8, #nv_tileas<space smem>>
// expected-error@+1 {{'nv_tileas.reinterpret' op reading bits anew does not move them: the source is in smem, the result in rmem}}
%1 = nv_tileas.reinterpret %t : tensor<16x8xf16, #nv_tileas<space smem>> -> tensor<16x16xi8, #nv_tileas<space rmem>>

%2 = nv_tileas.reinterpret %t : tensor<16x8xf16, #nv_tileas<space smem>> -> tensor<16x16xi8, #nv_tileas<space smem>>

// -----

// Only registers are exchanged.

%t = nv_tileas.alloc_tensor : tensor<16x8xf16, #nv_tileas<space smem>>
%r = nv_tileas.alloc_tensor : tensor<16x8xf16, #nv_tileas<space rmem>>
// expected-error@+1 {{'nv_tileas.shuffle' op exchanges registers between threads, not tiles in smem}}
%0 = nv_tileas.shuffle %t : tensor<16x8xf16, #nv_tileas<space smem>> -> tensor<16x8xf16>
// expected-error@+1 {{'nv_tileas.shuffle' op exchanges registers between threads, not tiles in smem}}
%1 = nv_tileas.shuffle %r : tensor<16x8xf16, #nv_tileas<space rmem>> -> tensor<16x8xf16, #nv_tileas<space smem>>
// expected-error@+1 {{'nv_tileas.shuffle' op keeps the shape of tensor<16x8xf16, #nv_tileas<space rmem>>, but gives tensor<8x16xf16>}}
%2 = nv_tileas.shuffle %r : tensor<16x8xf16, #nv_tileas<space rmem>> -> tensor<8x16xf16>

%3 = nv_tileas.shuffle %r : tensor<16x8xf16, #nv_tileas<space rmem>> -> tensor<16x8xf16>

// -----

// The body of a generated tile: coordinates in, an element out.

%c = arith.constant 1.0 : f32
// expected-error@+1 {{'nv_tileas.generate' op the body takes one index for each of 2 dimensions, not (index)}}
%0 = nv_tileas.generate : tensor<4x4xf32> {
^bb0(%i: index):
  nv_tileas.yield %c : f32
}
// expected-error@+1 {{'nv_tileas.generate' op the body takes one index for each of 1 dimensions, not (i32)}}
%1 = nv_tileas.generate : tensor<4xf32> {
^bb0(%i: i32):
  nv_tileas.yield %c : f32
}
// expected-error@+1 {{'nv_tileas.generate' op the body yields (f16), not (f32)}}
%2 = nv_tileas.generate : tensor<4xf16> {
^bb0(%i: index):
  nv_tileas.yield %c : f32
}
// expected-error@+1 {{'nv_tileas.generate' op the body yields (f32), not ()}}
%3 = nv_tileas.generate : tensor<4xf32> {
^bb0(%i: index):
  nv_tileas.yield
}
// expected-error@+1 {{'nv_tileas.generate' op the body ends with 'nv_tileas.yield', not 'test.termop'}}
%4 = nv_tileas.generate : tensor<4xf32> {
^bb0(%i: index):
  "test.termop"() : () -> ()
}

%5 = nv_tileas.generate : tensor<4xf32> {
^bb0(%i: index):
  nv_tileas.yield %c : f32
}

// -----

// A body that is not there.

// expected-error@+1 {{'nv_tileas.generate' op Region 'body' at position 0 expected a single block, but got 0 blocks}}
%0 = "nv_tileas.generate"() ({}) : () -> tensor<4xf32>
