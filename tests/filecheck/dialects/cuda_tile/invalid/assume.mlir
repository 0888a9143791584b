// Assumptions that a value cannot have.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Divisors.

%t_f32 = "test.op"() : () -> !cuda_tile.tile<f32>
%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
%tv = "test.op"() : () -> !cuda_tile.tensor_view<64x64xf32, strides=[64,1]>
%t4_i32 = "test.op"() : () -> !cuda_tile.tile<4xi32>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.div_by' is valid only for tile of integer/pointer or tensor_view values}}
cuda_tile.assume div_by<2>, %t_f32 : tile<f32>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.div_by' divisor must be a power of 2}}
cuda_tile.assume div_by<3>, %t_i32 : tile<i32>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.div_by' divisor is too large}}
cuda_tile.assume div_by<9223372036854775808>, %t_i32 : tile<i32>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.div_by' 'every'/'along' cannot be used if the constrained value is a tensor_view}}
cuda_tile.assume div_by<2, every 2 along 0>, %tv : tensor_view<64x64xf32, strides=[64,1]>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.div_by' 'every'/'along' cannot be used if the constrained value is a 0D tile}}
cuda_tile.assume div_by<2, every 2 along 0>, %t_i32 : tile<i32>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.div_by' every_dim (1) must be >= 0 and < tile rank (1)}}
cuda_tile.assume div_by<2, every 2 along 1>, %t4_i32 : tile<4xi32>
// expected-error@+1 {{'cuda_tile.assume' op expected 'cuda_tile.div_by' every_dim to be within 0 and the size of the respective dimension (4)}}
cuda_tile.assume div_by<2, every 8 along 0>, %t4_i32 : tile<4xi32>

// -----

// Equal elements and bounds.

%t4_f32 = "test.op"() : () -> !cuda_tile.tile<4xf32>
%t4_i32 = "test.op"() : () -> !cuda_tile.tile<4xi32>
%t_i8 = "test.op"() : () -> !cuda_tile.tile<i8>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.same_elements' is valid only for tile of integer/pointer values}}
cuda_tile.assume same_elements<[1]>, %t4_f32 : tile<4xf32>
// expected-error@+1 {{'cuda_tile.assume' op expected number of values in 'cuda_tile.same_elements' (2) to match rank of constrained tile (1)}}
cuda_tile.assume same_elements<[1, 1]>, %t4_i32 : tile<4xi32>
// expected-error@+1 {{'cuda_tile.assume' op expected 'cuda_tile.same_elements' value 0 to be within 0 and the size of the respective dimension (4)}}
cuda_tile.assume same_elements<[8]>, %t4_i32 : tile<4xi32>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.bounded' is valid only for tile of integer values}}
cuda_tile.assume bounded<0, 1>, %t4_f32 : tile<4xf32>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.bounded' expects lower bound to be within [-128, 127]}}
cuda_tile.assume bounded<-129, ?>, %t_i8 : tile<i8>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.bounded' expects upper bound to be within [-128, 127]}}
cuda_tile.assume bounded<?, 128>, %t_i8 : tile<i8>
// expected-error@+1 {{'cuda_tile.assume' op 'cuda_tile.bounded' expects lower bound to be less than or equal to upper bound}}
cuda_tile.assume bounded<2, 1>, %t_i8 : tile<i8>

// -----

// A divisor that is no number.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{failed to parse parameter 'divisor' which is expected to be an integer}}
cuda_tile.assume div_by<x>, %t_i32 : tile<i32>

// -----

// No predicate.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{expected attribute name}}
cuda_tile.assume %t_i32 : tile<i32>

// -----

// A predicate of another name.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{unknown assume predicate attribute: even (expected 'div_by', 'same_elements', or 'bounded')}}
cuda_tile.assume even, %t_i32 : tile<i32>

// -----

// An attribute that is no predicate.

%t_i32 = "test.op"() : () -> !cuda_tile.tile<i32>
// expected-error@+1 {{expected assume predicate attribute}}
cuda_tile.assume #cuda_tile.signedness<signed>, %t_i32 : tile<i32>
