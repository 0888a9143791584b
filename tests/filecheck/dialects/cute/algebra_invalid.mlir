// What types and operations of layouts refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// A layout has a stride for each extent,

// expected-error@+1 {{expects no error(`stride 1 is not congruent to shape (4,2)`) in layout, but got "(4,2):1"}}
func.func @f(%v: !cute.layout<"(4,2):1">) {
  func.return
}

// -----

// and nothing behind it.

// expected-error@+1 {{unexpected '8' after the layout}}
func.func @f(%v: !cute.layout<"(4,2):(1,4) 8">) {
  func.return
}

// -----

// Malformed text is an error, never an empty layout.

// expected-error@+1 {{expected an extent, found 'h'}}
func.func @f(%v: !cute.layout<"hello">) {
  func.return
}

// -----

// Composed layouts have a type of their own,

// expected-error@+1 {{S<3,4,3> o 0 o (8,64):(64,1) is composed: its type is !cute.composed_layout}}
func.func @f(%v: !cute.layout<"S<3,4,3> o 0 o (8,64):(64,1)">) {
  func.return
}

// -----

// and so have plain ones.

// expected-error@+1 {{(8,64):(64,1) is not composed: its type is !cute.layout}}
func.func @f(%v: !cute.composed_layout<"(8,64):(64,1)">) {
  func.return
}

// -----

// What is inside is written first: flipped, a swizzle has no extents.

// expected-error@+1 {{expected 'o' and an offset after the outer layout, found the end}}
func.func @f(%v: !cute.composed_layout<"(8,64):(64,1) o 0 o S<3,4,3>">) {
  func.return
}

// -----

// Shapes have no underscores.

// expected-error@+1 {{expected a stride, found '_'}}
func.func @f(%v: !cute.shape<"(4,_)">) {
  func.return
}

// -----

// A swizzle moves bits past one another.

// expected-error@+1 {{S<3,4,1>: the shift must be at least the number of bits}}
func.func @f(%v: !cute.swizzle<"S<3,4,1>">) {
  func.return
}

// -----

// It has three numbers.

// expected-error@+1 {{a swizzle is S<B,M,S>}}
func.func @f(%v: !cute.ptr<f16, smem, S<3,4>>) {
  func.return
}

// -----

// Behind the space of a pointer stand its alignment and its swizzle.

// expected-error@+1 {{expects one of {`memspace`, `align`, `swizzle`, } after `,`}}
func.func @f(%v: !cute.ptr<f16, smem, aligned<16>>) {
  func.return
}

// -----

// Fractions are multiples of basis vectors.

// expected-error@+1 {{the fraction 1/2 is no multiple of an axis}}
func.func @f(%v: !cute.stride<"(1/2,1)">) {
  func.return
}

// -----

// Nothing is divided by zero.

// expected-error@+1 {{a denominator is not 0}}
func.func @f(%v: !cute.stride<"(1/0@0,1)">) {
  func.return
}

// -----

// A memory view has integer strides: coordinates are no offsets.

// expected-error@+1 {{expected iterator and layout codomain to have congruent profiles, but got iterator '!cute.ptr<f16, gmem>' and layout layout: (4,2):(1@0,1@1) with co-domain profile (0,0)}}
func.func @f(%v: !cute.memref<f16, gmem, "(4,2):(1@0,1@1)">) {
  func.return
}

// -----

// A view of coordinates begins at a coordinate.

// expected-error@+1 {{expected iterator and layout codomain to have congruent profiles, but got iterator '!cute.arith_tuple_iter<"0">' and layout layout: (4,2):(1@0,1@1) with co-domain profile (0,0)}}
func.func @f(%v: !cute.coord_tensor<"0", "(4,2):(1@0,1@1)">) {
  func.return
}

// -----

// Divisors are at least one.

// expected-error@+1 {{a divisor is at least 1}}
func.func @f(%v: !cute.i32<divby 0>) {
  func.return
}

// -----

// Fast division is of 32 bits.

// expected-error@+1 {{fast division is of 32 bits, not 64}}
func.func @f(%v: !cute.fast_divmod_divisor<64>) {
  func.return
}

// -----

// Tiles are written in brackets.

// expected-error@+1 {{expected '[' before a tile, found '('}}
func.func @f(%v: !cute.tile<"(64:1)">) {
  func.return
}

// -----

// Flipping what is inside and outside is caught.

func.func @f(%outer: !cute.layout<"(8,64):(64,1)">, %o: !cute.int_tuple<"0">) {
  %sw = cute.make_swizzle 3, 4, 3 : !cute.swizzle<"S<3,4,3>">
  // expected-error@+2 {{compose_layout: the inner component is a swizzle or a layout and the outer one a layout, but got inner !cute.layout<"(8,64):(64,1)"> and outer !cute.swizzle<"S<3,4,3>">}}
  // expected-error@+1 {{'cute.make_composed_layout_raw' op failed to infer returned types}}
  %r = cute.make_composed_layout_raw(%sw, %outer, %o) : (!cute.swizzle<"S<3,4,3>">, !cute.layout<"(8,64):(64,1)">, !cute.int_tuple<"0">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
  func.return
}

// -----

// So it is of two layouts, whose composition is another one.

func.func @f(%a: !cute.layout<"8:2">, %b: !cute.layout<"(4,2):(1,4)">, %o: !cute.int_tuple<"0">) {
  // expected-error@+1 {{'cute.make_composed_layout_raw' op inferred type(s) '!cute.composed_layout<"(4,2):(1,4) o 0 o 8:2">' are incompatible with return type(s) of operation '!cute.composed_layout<"8:2 o 0 o (4,2):(1,4)">'}}
  %r = cute.make_composed_layout_raw(%a, %b, %o) : (!cute.layout<"8:2">, !cute.layout<"(4,2):(1,4)">, !cute.int_tuple<"0">) -> !cute.composed_layout<"8:2 o 0 o (4,2):(1,4)">
  func.return
}

// -----

// A tuple takes its unknown leaves,

func.func @f(%a: i32, %b: i32) {
  // expected-error@+1 {{'cute.make_int_tuple' op has 2 dynamic leaves, but !cute.shape<"(?,4)"> has 1}}
  %r = cute.make_int_tuple(%a, %b) : (i32, i32) -> !cute.shape<"(?,4)">
  func.return
}

// -----

// as wide as they are,

func.func @f(%a: i64) {
  // expected-error@+1 {{'cute.make_int_tuple' op cannot give ?{i64} as the leaf ?}}
  %r = cute.make_int_tuple(%a) : (i64) -> !cute.shape<"(?,4)">
  func.return
}

// -----

// and multiples of what they should be.

func.func @f(%a: i32) {
  // expected-error@+1 {{'cute.make_int_tuple' op cannot give ? as the leaf ?{div=8}}}
  %r = cute.make_int_tuple(%a) : (i32) -> !cute.shape<"(?{div=8},4)">
  func.return
}

// -----

// A shape is no stride.

func.func @f(%a: i32) {
  // expected-error@+1 {{'cute.make_shape' op makes !cute.shape, not !cute.stride<"(?,4)">}}
  %r = cute.make_shape(%a) : (i32) -> !cute.stride<"(?,4)">
  func.return
}

// -----

// A static value has no leaves that run time knows.

func.func @f(%a: i32) {
  // expected-error@+1 {{'cute.static' op gives what a type says whole, not !cute.shape<"(?,4)">}}
  %r = cute.static : !cute.shape<"(?,4)">
  func.return
}

// -----

// Numbers are forgotten, not invented.

func.func @f(%a: !cute.shape<"(?,4)">) {
  // expected-error@+1 {{'cute.derefine' op forgets numbers, and cannot turn !cute.shape<"(?,4)"> into !cute.shape<"(8,4)">}}
  %r = cute.derefine(%a) : (!cute.shape<"(?,4)">) -> !cute.shape<"(8,4)">
  func.return
}

// -----

// More is assumed of the same integer.

func.func @f(%a: i64) {
  // expected-error@+1 {{'cute.assume' op says more of an integer, and cannot turn i64 into !cute.i32<divby 8>}}
  %r = cute.assume(%a) : (i64) -> !cute.i32<divby 8>
  func.return
}

// -----

// Elements of the view are stored.

func.func @f(%v: !cute.memref<f32, gmem, "8:1">, %c: !cute.coord<"1">, %x: f16) {
  // expected-error@+1 {{'cute.memref.store' op stores f32, not f16}}
  cute.memref.store(%v, %c, %x) : (!cute.memref<f32, gmem, "8:1">, !cute.coord<"1">, f16) -> ()
  func.return
}

// -----

// A swizzle is composed with a layout, not with what has one.

func.func @f(%v: !cute.memref<f32, smem, "8:1">) {
  %sw = cute.make_swizzle 3, 4, 3 : !cute.swizzle<"S<3,4,3>">
  // expected-error@+1 {{a swizzle is composed with a layout, not !cute.memref<f32, smem, "8:1">}}
  %r = cute.composition(%sw, %v) : !cute.composed_layout
  func.return
}

// -----

// Registers are allocated as registers.

func.func @f() {
  // expected-error@+1 {{'cute.memref.alloca' op allocates rmem, not smem}}
  %r = cute.memref.alloca() : () -> !cute.memref<f32, smem, "8:1">
  func.return
}

// -----

// Plain accesses do not follow a swizzle.

func.func @f(%p: !cute.ptr<f32, smem, S<3,4,3>>) {
  // expected-error@+1 {{'cute.ptr.load' op accesses plain addresses: apply the swizzle of !cute.ptr<f32, smem, S<3,4,3>> before}}
  %r = cute.ptr.load %p : !cute.ptr<f32, smem, S<3,4,3>> -> f32
  func.return
}

// -----

// They reach memory that threads share.

func.func @f(%p: !cute.ptr<f32, tmem>) {
  // expected-error@+1 {{'cute.ptr.load' op accesses gmem, smem, generic, not tmem}}
  %r = cute.ptr.load %p : !cute.ptr<f32, tmem> -> f32
  func.return
}

// -----

// One view is printed, or numbers.

func.func @f(%v: !cute.memref<f32, gmem, "8:1">, %c: i32) {
  // expected-error@+1 {{'cute.print' op prints one view, or numbers}}
  cute.print(%c, %v) : (i32, !cute.memref<f32, gmem, "8:1">) -> ()
  func.return
}

// -----

// What has no size in the type cannot decide an inverse.

func.func @f(%L: !cute.layout<"(?,4):(1,?)">, %t: !cute.layout<"4:1">) {
  // expected-error@+2 {{failed to perform a valid division of '!cute.layout<"(?,4):(1,?)">' by 4:1: ?{div=4} is known at run time only: it cannot be compared with ?{div=4}}}
  // expected-error@+1 {{'cute.logical_divide' op failed to infer returned types}}
  %r = cute.logical_divide(%L, %t) : (!cute.layout<"(?,4):(1,?)">, !cute.layout<"4:1">) -> !cute.layout<"1:0">
  func.return
}

// -----

// An atom's type is asked.

func.func @f() {
  // expected-error@+1 {{'cute.make_atom' op i32 does not implement the interface of atoms}}
  %r = cute.make_atom() : () -> i32
  func.return
}

// -----

// Its attributes are what the type says.

!wgmma = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
func.func @f() {
  // expected-error@+1 {{'cute.make_atom' op gives {shape_mnk = array<i32: 64, 16, 16>}, which are not the attributes of !cute_nvgpu.sm90.mma}}
  %r = "cute.make_atom"() <{atom = {shape_mnk = array<i32: 64, 16, 16>}}> : () -> !wgmma
  func.return
}
