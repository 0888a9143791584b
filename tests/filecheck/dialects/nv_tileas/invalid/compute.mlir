// What products, reductions and scans refuse, each with the nearest thing that is accepted.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// The atom multiplies.

%a, %b, %c = "test.op"() : () -> (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>)
// expected-error@+1 {{'nv_tileas.dot' op the atom of a product multiplies matrices; 'ldg' does not}}
%0 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom ldg>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// expected-error@+1 {{'nv_tileas.async.dot' op the atom of a product multiplies matrices; 'reduce_add' does not}}
%1 = nv_tileas.async.dot %a, %b, %c {atom = #nv_tileas<atom reduce_add>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> !nv_tileas.token<tensor<64x64xf32>>
%2 = nv_tileas.dot %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>

%3 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>

// -----

// Without an atom, some instruction must multiply the elements as they are.

%a, %b, %c = "test.op"() : () -> (tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>)
%d, %e, %f = "test.op"() : () -> (tensor<64x32xi64>, tensor<32x64xi64>, tensor<64x64xi32>)
%g, %h = "test.op"() : () -> (tensor<64x32xi8>, tensor<32x64xi8>)
// expected-error@+1 {{'nv_tileas.dot' op needs an atom that says how elements of f32 are rounded to tf32}}
%0 = nv_tileas.dot %a, %b, %c : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
// expected-error@+1 {{'nv_tileas.async.dot' op no matrix instruction multiplies elements of type i64}}
%1 = nv_tileas.async.dot %d, %e, %f : tensor<64x32xi64>, tensor<32x64xi64>, tensor<64x64xi32> -> !nv_tileas.token<tensor<64x64xi32>>
// expected-error@+1 {{'nv_tileas.dot' op signedness_a must say how to read elements of type i8}}
%2 = nv_tileas.dot %g, %h, %f : tensor<64x32xi8>, tensor<32x64xi8>, tensor<64x64xi32> -> tensor<64x64xi32>
%3 = nv_tileas.dot %g, %h, %f {signedness_a = #nv_tileas<signedness signed>, signedness_b = #nv_tileas<signedness unsigned>} : tensor<64x32xi8>, tensor<32x64xi8>, tensor<64x64xi32> -> tensor<64x64xi32>

// -----

// A and B have one element type, or both narrow floats; the atom has them too.

%a, %b, %c = "test.op"() : () -> (tensor<64x32xf16>, tensor<32x64xbf16>, tensor<64x64xf32>)
%d, %e = "test.op"() : () -> (tensor<64x32xf8E4M3FN>, tensor<32x64xf8E5M2>)
// expected-error@+1 {{'nv_tileas.dot' op multiplies elements of one type, not f16 by bf16}}
%0 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_f16_bf16_f32>} : tensor<64x32xf16>, tensor<32x64xbf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// expected-error@+1 {{'nv_tileas.dot' op atom input precision incompatible with operand type: A has elements f8e4m3, but 'wgmma_f16_f16_f32' takes f16}}
%1 = nv_tileas.dot %d, %e, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf8E4M3FN>, tensor<32x64xf8E5M2>, tensor<64x64xf32> -> tensor<64x64xf32>
// expected-error@+1 {{'nv_tileas.dot' op atom input precision incompatible with operand type: B has elements f8e5m2, but 'wgmma_e4m3_e4m3_f32' takes f8e4m3}}
%2 = nv_tileas.dot %d, %e, %c {atom = #nv_tileas<atom wgmma_e4m3_e4m3_f32>} : tensor<64x32xf8E4M3FN>, tensor<32x64xf8E5M2>, tensor<64x64xf32> -> tensor<64x64xf32>

%3 = nv_tileas.dot %d, %e, %c {atom = #nv_tileas<atom wgmma_e4m3_e5m2_f32>} : tensor<64x32xf8E4M3FN>, tensor<32x64xf8E5M2>, tensor<64x64xf32> -> tensor<64x64xf32>

// -----

// The accumulator: f32 for floats, f16 for f16 and narrow floats if the atom says so.

%a, %b, %c = "test.op"() : () -> (tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf16>)
%d, %e = "test.op"() : () -> (tensor<64x32xf16>, tensor<32x64xf16>)
%g = "test.op"() : () -> tensor<8x8xf64>
%h = "test.op"() : () -> tensor<8x8xf32>
// expected-error@+1 {{'nv_tileas.dot' op expects #C element type to be f32, but got f16}}
%0 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_bf16_bf16_f16>} : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf16> -> tensor<64x64xf16>
// expected-error@+1 {{'nv_tileas.dot' op atom output type does not match accumulator: C has elements f16, but 'mma_f16_f16_f32' takes f32}}
%1 = nv_tileas.dot %d, %e, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
// expected-error@+1 {{'nv_tileas.dot' op accumulates f64 in f64, not in f32}}
%2 = nv_tileas.dot %g, %g, %h {atom = #nv_tileas<atom mma_f64_f64_f32>} : tensor<8x8xf64>, tensor<8x8xf64>, tensor<8x8xf32> -> tensor<8x8xf32>

%3 = nv_tileas.dot %d, %e, %c {atom = #nv_tileas<atom mma_f16_f16_f16>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>

// -----

// Integers: those that instructions have, in i32, signed or not.

%a, %c, %f, %w = "test.op"() : () -> (tensor<32x32xi8>, tensor<32x32xi32>, tensor<32x32xf32>, tensor<32x32xf16>)
// expected-error@+1 {{'nv_tileas.dot' op no matrix instruction multiplies elements of type i32}}
%0 = nv_tileas.dot %c, %c, %c {atom = #nv_tileas<atom mma_s32_s32_s32>} : tensor<32x32xi32>, tensor<32x32xi32>, tensor<32x32xi32> -> tensor<32x32xi32>
// expected-error@+1 {{'nv_tileas.dot' op accumulates i8 in i32, not in f32}}
%1 = nv_tileas.dot %a, %a, %f {atom = #nv_tileas<atom mma_s8_s8_f32>} : tensor<32x32xi8>, tensor<32x32xi8>, tensor<32x32xf32> -> tensor<32x32xf32>
// expected-error@+1 {{'nv_tileas.dot' op signedness_a must say how to read elements of type i8}}
%2 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_i8_i8_i32>} : tensor<32x32xi8>, tensor<32x32xi8>, tensor<32x32xi32> -> tensor<32x32xi32>
// expected-error@+1 {{'nv_tileas.dot' op signedness_b must say how to read elements of type i8}}
%3 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_s8_i8_i32>} : tensor<32x32xi8>, tensor<32x32xi8>, tensor<32x32xi32> -> tensor<32x32xi32>
// expected-error@+1 {{'nv_tileas.dot' op signedness_b is signed, but the atom multiplies u8}}
%4 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_s8_u8_s32>, signedness_b = #nv_tileas<signedness signed>} : tensor<32x32xi8>, tensor<32x32xi8>, tensor<32x32xi32> -> tensor<32x32xi32>
// expected-error@+1 {{'nv_tileas.dot' op signedness_a is for integers; the operand has f16}}
%5 = nv_tileas.dot %w, %w, %f {atom = #nv_tileas<atom mma_f16_f16_f32>, signedness_a = #nv_tileas<signedness signed>} : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32> -> tensor<32x32xf32>

%6 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_s8_u8_s32>, signedness_b = #nv_tileas<signedness unsigned>} : tensor<32x32xi8>, tensor<32x32xi8>, tensor<32x32xi32> -> tensor<32x32xi32>

// -----

// Shapes.

%a, %b, %c = "test.op"() : () -> (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>)
%l, %m, %n, %v = "test.op"() : () -> (tensor<2x64x32xf16>, tensor<3x32x64xf16>, tensor<2x64x64xf32>, tensor<32xf16>)
%w = "test.op"() : () -> tensor<64x32xf32>
// expected-error@+1 {{'nv_tileas.dot' op multiplies tiles that are all of rank 2 or all of rank 3, not 2, 1 and 2}}
%0 = nv_tileas.dot %a, %v, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// expected-error@+1 {{'nv_tileas.dot' op K is 32 in A, but 64 in B}}
%1 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// expected-error@+1 {{'nv_tileas.dot' op A has a batch of 2, but B one of 3}}
%2 = nv_tileas.dot %l, %m, %n {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<2x64x32xf16>, tensor<3x32x64xf16>, tensor<2x64x64xf32> -> tensor<2x64x64xf32>
// expected-error@+1 {{'nv_tileas.dot' op C is 64x64, not 64x32}}
%3 = nv_tileas.dot %a, %b, %w {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x32xf32> -> tensor<64x32xf32>
// expected-error@+1 {{'nv_tileas.dot' op the result is like the accumulator tensor<64x64xf32>, not tensor<64x64xf16>}}
%4 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf16>
// expected-error@+1 {{'nv_tileas.dot' op a product of 64x64x32 is no multiple of the atom's 64x64x64}}
%5 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32<shape = [64, 64, 64]>>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>

%6 = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32<shape = [64, 32, 16]>>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>

// -----

// Wrong in several ways: atom, elements, accumulator, signedness, shapes, in this order.

%a, %c = "test.op"() : () -> (tensor<64x32xf16>, tensor<64x32xf16>)
// expected-error@+1 {{'nv_tileas.dot' op the atom of a product multiplies matrices; 'stg' does not}}
%0 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom stg>, signedness_a = #nv_tileas<signedness signed>} : tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x32xf16> -> tensor<64x32xf16>
// expected-error@+1 {{'nv_tileas.dot' op atom input precision incompatible with operand type: A has elements f16, but 'mma_bf16_bf16_f32' takes bf16}}
%1 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_bf16_bf16_f32>, signedness_a = #nv_tileas<signedness signed>} : tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x32xf16> -> tensor<64x32xf16>
// expected-error@+1 {{'nv_tileas.dot' op atom output type does not match accumulator: C has elements f16, but 'mma_f16_f16_f32' takes f32}}
%2 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_f16_f16_f32>, signedness_a = #nv_tileas<signedness signed>} : tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x32xf16> -> tensor<64x32xf16>
// expected-error@+1 {{'nv_tileas.dot' op signedness_a is for integers; the operand has f16}}
%3 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_f16_f16_f16>, signedness_a = #nv_tileas<signedness signed>} : tensor<64x32xf16>, tensor<64x32xf16>, tensor<64x32xf16> -> tensor<64x32xf16>

// -----

// Where the tiles are.

%s, %r, %g = "test.op"() : () -> (tensor<32x32xf16, #nv_tileas<space smem>>, tensor<32x32xf16, #nv_tileas<space rmem>>, tensor<32x32xf16, #nv_tileas<space gmem>>)
%c, %t, %q = "test.op"() : () -> (tensor<32x32xf32>, tensor<32x32xf32, #nv_tileas<space tmem>>, tensor<32x32xf32, #nv_tileas<space rmem>>)
// expected-error@+1 {{'nv_tileas.dot' op A of 'wgmma_f16_f16_f32' is in smem or rmem, but the tile is in gmem}}
%0 = nv_tileas.dot %g, %s, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<32x32xf16, #nv_tileas<space gmem>>, tensor<32x32xf16, #nv_tileas<space smem>>, tensor<32x32xf32> -> tensor<32x32xf32>
// expected-error@+1 {{'nv_tileas.dot' op B of 'wgmma_f16_f16_f32' is in smem, but the tile is in rmem}}
%1 = nv_tileas.dot %r, %r, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<32x32xf16, #nv_tileas<space rmem>>, tensor<32x32xf16, #nv_tileas<space rmem>>, tensor<32x32xf32> -> tensor<32x32xf32>
// expected-error@+1 {{'nv_tileas.dot' op C of 'tcgen05_f16_f16_f32' is in tmem, but the tile is in rmem}}
%2 = nv_tileas.dot %s, %s, %q {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : tensor<32x32xf16, #nv_tileas<space smem>>, tensor<32x32xf16, #nv_tileas<space smem>>, tensor<32x32xf32, #nv_tileas<space rmem>> -> tensor<32x32xf32, #nv_tileas<space rmem>>

%3 = nv_tileas.dot %s, %s, %t {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : tensor<32x32xf16, #nv_tileas<space smem>>, tensor<32x32xf16, #nv_tileas<space smem>>, tensor<32x32xf32, #nv_tileas<space tmem>> -> tensor<32x32xf32, #nv_tileas<space tmem>>
%4 = nv_tileas.dot %r, %s, %q {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<32x32xf16, #nv_tileas<space rmem>>, tensor<32x32xf16, #nv_tileas<space smem>>, tensor<32x32xf32, #nv_tileas<space rmem>> -> tensor<32x32xf32, #nv_tileas<space rmem>>

// -----

// The tokens of asynchronous products.

%a, %b, %c, %t = "test.op"() : () -> (tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>, !nv_tileas.token)
// expected-error@+1 {{'nv_tileas.async.dot' op accumulates onto a tile or onto a token that carries one}}
%0 = nv_tileas.async.dot %a, %b, %t {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, !nv_tileas.token -> !nv_tileas.token<tensor<64x64xf32>>
// expected-error@+1 {{'nv_tileas.async.dot' op the token carries the product, a tile}}
%1 = nv_tileas.async.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> !nv_tileas.token
// expected-error@+1 {{'nv_tileas.async.dot' op the result is like the accumulator tensor<64x64xf32>, not tensor<64x32xf32>}}
%2 = nv_tileas.async.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> !nv_tileas.token<tensor<64x32xf32>>

%3 = nv_tileas.async.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> !nv_tileas.token<tensor<64x64xf32>>

// -----

// The axis and the result of a reduction.

%t = "test.op"() : () -> tensor<32x16xf32>
// expected-error@+1 {{'nv_tileas.reduce' op a tile of rank 2 has no axis 2}}
%0 = nv_tileas.reduce %t {axis = 2 : i32} : tensor<32x16xf32> -> tensor<32xf32> {
^bb0(%acc: f32, %val: f32):
  nv_tileas.yield %acc : f32
}
// expected-error@+1 {{'nv_tileas.reduce' op gives tensor<16xf32>, not tensor<32xf32>}}
%1 = nv_tileas.reduce %t {axis = 0 : i32} : tensor<32x16xf32> -> tensor<32xf32> {
^bb0(%acc: f32, %val: f32):
  nv_tileas.yield %acc : f32
}
// expected-error@+1 {{'nv_tileas.scan' op a tile of rank 2 has no axis -1}}
%2 = nv_tileas.scan %t {axis = -1 : i32} : tensor<32x16xf32> -> tensor<32x16xf32> {
^bb0(%acc: f32, %val: f32):
  nv_tileas.yield %acc : f32
}
// expected-error@+1 {{'nv_tileas.scan' op a scan keeps shape and elements of tensor<32x16xf32>, unlike tensor<16xf32>}}
%3 = nv_tileas.scan %t {axis = 0 : i32} : tensor<32x16xf32> -> tensor<16xf32> {
^bb0(%acc: f32, %val: f32):
  nv_tileas.yield %acc : f32
}

%4 = nv_tileas.reduce %t {axis = 0 : i32} : tensor<32x16xf32> -> tensor<16xf32> {
^bb0(%acc: f32, %val: f32):
  nv_tileas.yield %acc : f32
}

// -----

// The combining body.

%t = "test.op"() : () -> tensor<32xf32>
// expected-error@+1 {{'nv_tileas.reduce' op the body combines two f32, not (f32)}}
%0 = nv_tileas.reduce %t {axis = 0 : i32} : tensor<32xf32> -> tensor<f32> {
^bb0(%acc: f32):
  nv_tileas.yield %acc : f32
}
// expected-error@+1 {{'nv_tileas.scan' op the body combines two f32, not (f32, i32)}}
%1 = nv_tileas.scan %t {axis = 0 : i32} : tensor<32xf32> -> tensor<32xf32> {
^bb0(%acc: f32, %val: i32):
  nv_tileas.yield %acc : f32
}
// expected-error@+1 {{'nv_tileas.reduce' op the body yields (f32), not (f32, f32)}}
%2 = nv_tileas.reduce %t {axis = 0 : i32} : tensor<32xf32> -> tensor<f32> {
^bb0(%acc: f32, %val: f32):
  nv_tileas.yield %acc, %val : f32, f32
}
// expected-error@+1 {{'nv_tileas.scan' op the body ends with 'nv_tileas.yield', not 'test.termop'}}
%3 = nv_tileas.scan %t {axis = 0 : i32} : tensor<32xf32> -> tensor<32xf32> {
^bb0(%acc: f32, %val: f32):
  "test.termop"() : () -> ()
}
// expected-error@+1 {{'nv_tileas.reduce' op the atom of a reduction reduces; 'mma_f16_f16_f32' does not}}
%4 = nv_tileas.reduce %t {axis = 0 : i32, atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<32xf32> -> tensor<f32> {
^bb0(%acc: f32, %val: f32):
  nv_tileas.yield %acc : f32
}
// expected-error@+1 {{'nv_tileas.scan' op the atom is 'reduce_add', but the body combines with 'arith.mulf'}}
%5 = nv_tileas.scan %t {axis = 0 : i32, atom = #nv_tileas<atom reduce_add>} : tensor<32xf32> -> tensor<32xf32> {
^bb0(%acc: f32, %val: f32):
  %s = arith.mulf %acc, %val : f32
  nv_tileas.yield %s : f32
}

%6 = nv_tileas.scan %t {axis = 0 : i32, atom = #nv_tileas<atom reduce_mul>} : tensor<32xf32> -> tensor<32xf32> {
^bb0(%acc: f32, %val: f32):
  %s = arith.mulf %acc, %val : f32
  nv_tileas.yield %s : f32
}

// -----

// `wgmma` with one type needs operands that are known, and three of them.

%c = "test.op"() : () -> tensor<64x64xf32>
// expected-error@+1 {{the type of %a is not known here; write the types of A, B and C}}
%0 = nv_tileas.wgmma %a, %b, %c : tensor<64x64xf32>

// -----

%c = "test.op"() : () -> tensor<64x64xf32>
// expected-error@+1 {{a product has the operands A, B and C, not 2}}
%0 = nv_tileas.wgmma %c, %c : tensor<64x64xf32>

// -----

%c, %x = "test.op"() : () -> (tensor<64x64xf32>, f32)
// expected-error@+1 {{a product multiplies tiles}}
%0 = nv_tileas.wgmma %c, %x, %c : tensor<64x64xf32>

// -----

// Each instruction has elements of its own.

%a, %b, %c, %d, %e, %f, %i = "test.op"() : () -> (tensor<64x64xf32>, tensor<64x64xf8E8M0FNU>, tensor<64x64xf32>, tensor<64x64xf64>, tensor<64x64xi1>, tensor<64x64xf4E2M1FN>, tensor<64x64xi32>)
// expected-error@+1 {{'nv_tileas.dot' op no matrix instruction multiplies elements of type f32}}
%0 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_f32_f32_f32>} : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
// expected-error@+1 {{'nv_tileas.dot' op no matrix instruction multiplies elements of type f8e8m0}}
%1 = nv_tileas.dot %b, %b, %c {atom = #nv_tileas<atom mma_ue8m0_ue8m0_f32>} : tensor<64x64xf8E8M0FNU>, tensor<64x64xf8E8M0FNU>, tensor<64x64xf32> -> tensor<64x64xf32>
// expected-error@+1 {{'nv_tileas.dot' op wgmma multiplies f16, bf16, tf32, f8e4m3, f8e5m2, i8, i1, not f64}}
%2 = nv_tileas.dot %d, %d, %d {atom = #nv_tileas<atom wgmma_f64_f64_f64>} : tensor<64x64xf64>, tensor<64x64xf64>, tensor<64x64xf64> -> tensor<64x64xf64>
// expected-error@+1 {{'nv_tileas.dot' op tcgen05 multiplies f16, bf16, tf32, f8e4m3, f8e5m2, i8, f6e2m3, f6e3m2, f4e2m1, not i1}}
%3 = nv_tileas.dot %e, %e, %i {atom = #nv_tileas<atom tcgen05_b1_b1_s32>} : tensor<64x64xi1>, tensor<64x64xi1>, tensor<64x64xi32> -> tensor<64x64xi32>
// expected-error@+1 {{'nv_tileas.dot' op wgmma multiplies f16, bf16, tf32, f8e4m3, f8e5m2, i8, i1, not f4e2m1}}
%4 = nv_tileas.dot %f, %f, %c {atom = #nv_tileas<atom wgmma_e2m1_e2m1_f32>} : tensor<64x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<64x64xf32> -> tensor<64x64xf32>

%5 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_tf32_tf32_f32>} : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
%6 = nv_tileas.dot %d, %d, %d {atom = #nv_tileas<atom mma_f64_f64_f64>} : tensor<64x64xf64>, tensor<64x64xf64>, tensor<64x64xf64> -> tensor<64x64xf64>
%7 = nv_tileas.dot %e, %e, %i {atom = #nv_tileas<atom wgmma_b1_b1_s32>} : tensor<64x64xi1>, tensor<64x64xi1>, tensor<64x64xi32> -> tensor<64x64xi32>
%8 = nv_tileas.dot %f, %f, %c {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>} : tensor<64x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<64x64xf32> -> tensor<64x64xf32>

// -----

// A product without scales is of an atom without scales; integers of 4 bits have PTX names.

%a, %c, %i, %j = "test.op"() : () -> (tensor<64x64xf8E4M3FN>, tensor<64x64xf32>, tensor<64x64xi4>, tensor<64x64xi32>)
// expected-error@+1 {{'nv_tileas.dot' op has no scales, but atom 'tcgen05_e4m3_e4m3_f32<scale_vector = 32>' takes them}}
%0 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32<scale_vector = 32>>} : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32> -> tensor<64x64xf32>
// expected-error@+1 {{'nv_tileas.dot' op signedness_b is signed, but the atom multiplies u4}}
%1 = nv_tileas.dot %i, %i, %j {atom = #nv_tileas<atom mma_s4_u4_s32>, signedness_b = #nv_tileas<signedness signed>} : tensor<64x64xi4>, tensor<64x64xi4>, tensor<64x64xi32> -> tensor<64x64xi32>

%2 = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>} : tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<64x64xf32> -> tensor<64x64xf32>
%3 = nv_tileas.dot %i, %i, %j {atom = #nv_tileas<atom mma_s4_u4_s32>} : tensor<64x64xi4>, tensor<64x64xi4>, tensor<64x64xi32> -> tensor<64x64xi32>

// -----

// `wgmma` without an atom names one after the elements of its operands.

%a, %c = "test.op"() : () -> (tensor<64x64xcomplex<f32>>, tensor<64x64xf32>)
// expected-error@+1 {{no wgmma multiplies elements of type complex<f32>}}
%0 = nv_tileas.wgmma %a, %a, %c : tensor<64x64xf32>

// -----

// Several tiles are of one shape, and there is a result for each.

%t, %u, %v = "test.op"() : () -> (tensor<32xf32>, tensor<32xi32>, tensor<16xi32>)
// expected-error@+1 {{'nv_tileas.reduce' op combines tiles of one shape, not tensor<32xf32> and tensor<16xi32>}}
%0, %1 = nv_tileas.reduce %t, %v {axis = 0 : i32} : tensor<32xf32>, tensor<16xi32> -> tensor<f32>, tensor<i32> {
^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
  nv_tileas.yield %c, %d : f32, i32
}
// expected-error@+1 {{'nv_tileas.scan' op gives 1 tiles for 2 that it takes}}
%2 = nv_tileas.scan %t, %u {axis = 0 : i32} : tensor<32xf32>, tensor<32xi32> -> tensor<32xf32> {
^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
  nv_tileas.yield %c, %d : f32, i32
}
// expected-error@+1 {{'nv_tileas.reduce' op the body combines two f32 and two i32, not (f32, f32, i32, i32)}}
%3, %4 = nv_tileas.reduce %t, %u {axis = 0 : i32} : tensor<32xf32>, tensor<32xi32> -> tensor<f32>, tensor<i32> {
^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
  nv_tileas.yield %b, %d : f32, i32
}
%5, %6 = nv_tileas.reduce %t, %u {axis = 0 : i32} : tensor<32xf32>, tensor<32xi32> -> tensor<f32>, tensor<i32> {
^bb0(%a: f32, %b: i32, %c: f32, %d: i32):
  nv_tileas.yield %c, %d : f32, i32
}
