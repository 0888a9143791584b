// What pointers and fragments refuse, with the nearest thing that they accept.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Elements have a size in memory.

// expected-error@+1 {{no pointer to index: it has no size in memory}}
func.func @index(%p: !cute.ptr<index, gmem>) {
  func.return
}

// -----

// Single bits have none.

// expected-error@+1 {{no pointer to i1: it has no size in memory}}
func.func @bit(%p: !cute.ptr<i1, gmem>) {
  func.return
}

// -----

// Alignments are powers of two.

// expected-error@+1 {{the alignment of a pointer is a power of two, not 24}}
func.func @odd(%p: !cute.ptr<f16, gmem, align<24>>) {
  func.return
}

// -----

// Alignments are not below that of an element.

// expected-error@+1 {{a pointer to f32 is aligned to 4 bytes at least, not to 2}}
func.func @low(%p: !cute.ptr<f32, gmem, align<2>>) {
  func.return
}

// -----

// A pointer requires a memory space.

// expected-error@+1 {{expected ',': a pointer says where it points to}}
func.func @space(%p: !cute.ptr<f32>) {
  func.return
}

// -----

// Arithmetic keeps element and space, and cannot promise an alignment that is known to be wrong.

func.func @pointers(%p: !cute.ptr<f16, gmem, align<16>>, %i: i32, %s: i16, %v: vector<2xf32>) {
  // expected-error@+1 {{'cute.add_offset' op expects a pointer as the base, but got i32}}
  %0 = cute.add_offset %i, %i : i32, i32 -> !cute.ptr<f16, gmem>
  // expected-error@+1 {{'cute.add_offset' op expects i32 or i64 or index as the offset, but got i16}}
  %1 = cute.add_offset %p, %s : !cute.ptr<f16, gmem, align<16>>, i16 -> !cute.ptr<f16, gmem>
  // expected-error@+1 {{'cute.add_offset' op moves !cute.ptr<f16, gmem, align<16>>, and cannot turn it into !cute.ptr<f16, smem>}}
  %2 = cute.add_offset %p, %i : !cute.ptr<f16, gmem, align<16>>, i32 -> !cute.ptr<f16, smem>
  // expected-error@+1 {{'cute.add_offset' op moves !cute.ptr<f16, gmem, align<16>>, and cannot turn it into !cute.ptr<f32, gmem>}}
  %3 = cute.add_offset %p, %i : !cute.ptr<f16, gmem, align<16>>, i32 -> !cute.ptr<f32, gmem>
  %c = arith.constant 4 : i32
  // expected-error@+1 {{'cute.add_offset' op moves !cute.ptr<f16, gmem, align<16>> by 8 bytes, which is not aligned to 16}}
  %4 = cute.add_offset %p, %c : !cute.ptr<f16, gmem, align<16>>, i32 -> !cute.ptr<f16, gmem, align<16>>
  %5 = cute.add_offset %p, %c : !cute.ptr<f16, gmem, align<16>>, i32 -> !cute.ptr<f16, gmem, align<8>>
  // expected-error@+1 {{'cute.recast_iter' op keeps !cute.ptr<f16, gmem, align<16>> in gmem: !cute.ptr<f16, smem, align<16>> is not}}
  %6 = cute.recast_iter %p : !cute.ptr<f16, gmem, align<16>> -> !cute.ptr<f16, smem, align<16>>
  // expected-error@+1 {{'cute.recast_iter' op expects a pointer as the base, but got i32}}
  %7 = cute.recast_iter %i : i32 -> !cute.ptr<f16, smem, align<16>>
  // expected-error@+1 {{'cute.ptrtoint' op gives an address of gmem, i64, not i32}}
  %8 = cute.ptrtoint %p : !cute.ptr<f16, gmem, align<16>> -> i32
  // expected-error@+1 {{'cute.ptrtoint' op expects a pointer as the base, but got vector<2xf32>}}
  %9 = cute.ptrtoint %v : vector<2xf32> -> i64
  // expected-error@+1 {{'cute.inttoptr' op takes an address of gmem, i64, not i32}}
  %10 = cute.inttoptr %i : i32 -> !cute.ptr<f16, gmem>
  func.return
}

// -----

// Accesses move elements of the pointer, to and from memory.

func.func @accesses(%p: !cute.ptr<f16, gmem, align<16>>, %r: !cute.ptr<f16, rmem>, %v: vector<2x2xf16>, %f: f32) {
  // expected-error@+1 {{'cute.ptr.load' op accesses f16 through !cute.ptr<f16, gmem, align<16>>, not f32}}
  %0 = cute.ptr.load %p : !cute.ptr<f16, gmem, align<16>> -> f32
  // expected-error@+1 {{'cute.ptr.load' op accesses f16 through !cute.ptr<f16, gmem, align<16>>, not vector<4xbf16>}}
  %1 = cute.ptr.load %p : !cute.ptr<f16, gmem, align<16>> -> vector<4xbf16>
  // expected-error@+1 {{'cute.ptr.load' op accesses memory, and rmem is registers: use the fragment itself}}
  %2 = cute.ptr.load %r : !cute.ptr<f16, rmem> -> f16
  // expected-error@+1 {{'cute.ptr.load' op expects an element or a fragment vector<NxT>, but got i1}}
  %3 = cute.ptr.load %p : !cute.ptr<f16, gmem, align<16>> -> i1
  // expected-error@+1 {{'cute.ptr.load' op expects a pointer as the address, but got f32}}
  %4 = cute.ptr.load %f : f32 -> f32
  // expected-error@+1 {{'cute.ptr.store' op expects an element or a fragment vector<NxT>, but got vector<2x2xf16>}}
  cute.ptr.store %v, %p : vector<2x2xf16>, !cute.ptr<f16, gmem, align<16>>
  // expected-error@+1 {{'cute.ptr.load' op fills what a predicate leaves out, and has none}}
  %8 = cute.ptr.load %p fill 1.000000e+00 : f16 : !cute.ptr<f16, gmem, align<16>> -> f16
  %true = arith.constant true
  // expected-error@+1 {{'cute.ptr.load' op fills f16, not 1 : i16}}
  %9 = cute.ptr.load %p if %true fill 1 : i16 : !cute.ptr<f16, gmem, align<16>> -> f16
  // expected-error@+1 {{'cute.ptr.load' op has cache mode always or global or streaming or last_use or none, not write_back}}
  %5 = cute.ptr.load %p cache "write_back" : !cute.ptr<f16, gmem, align<16>> -> f16
  %6 = cute.ptr.load %p : !cute.ptr<f16, gmem, align<16>> -> f16
  // expected-error@+1 {{'cute.ptr.store' op has cache mode write_back or global or streaming or write_through, not last_use}}
  cute.ptr.store %6, %p cache "last_use" : f16, !cute.ptr<f16, gmem, align<16>>
  func.return
}

// -----

// Fragments have one dimension, elements of one type, and as many as are given.

func.func @fragments(%a: f32, %i: i32, %v: vector<4xf32>, %w: vector<2x2xf32>, %m: vector<4xi1>) {
  // expected-error@+1 {{'cute.fragment.make' op gives 5 elements, not vector<4xf32>}}
  %0 = cute.fragment.make %a, %v : f32, vector<4xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute.fragment.make' op puts f32 together, but got i32}}
  %1 = cute.fragment.make %a, %i : f32, i32 -> vector<2xf32>
  // expected-error@+1 {{'cute.fragment.make' op expects a fragment vector<NxT> as the part, but got vector<2x2xf32>}}
  %2 = cute.fragment.make %w : vector<2x2xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute.fragment.make' op expects a fragment vector<NxT> as the result, but got f32}}
  %3 = cute.fragment.make %a : f32 -> f32
  // expected-error@+1 {{'cute.fragment.slice' op takes elements 3 to 4 of 4}}
  %4 = cute.fragment.slice %v[3] : vector<4xf32> -> vector<2xf32>
  %5 = cute.fragment.slice %v[2] : vector<4xf32> -> vector<2xf32>
  // expected-error@+1 {{'cute.fragment.slice' op cuts vector<4xf32>, and cannot turn it into vector<2xi32>}}
  %6 = cute.fragment.slice %v[0] : vector<4xf32> -> vector<2xi32>
  // expected-error@+1 {{'cute.fragment.slice' op expects a fragment vector<NxT> as the source, but got f32}}
  %7 = cute.fragment.slice %a[0] : f32 -> vector<1xf32>
  // expected-error@+1 {{'cute.fragment.undef' op expects a fragment vector<NxT> as the result, but got f32}}
  %8 = cute.fragment.undef : f32
  // expected-error@+1 {{'cute.fragment.select' op selects vector<4xf32>, but got vector<4xf32> and vector<2xf32>}}
  %9 = cute.fragment.select %m, %v, %5 : vector<4xi1>, vector<4xf32>, vector<2xf32> -> vector<4xf32>
  // expected-error@+1 {{'cute.fragment.select' op expects a mask vector<4xi1>, but got vector<4xf32>}}
  %10 = cute.fragment.select %v, %v, %v : vector<4xf32>, vector<4xf32>, vector<4xf32> -> vector<4xf32>
  func.return
}

// -----

// A body says what it gives.

func.func @map(%v: vector<4xf32>, %w: vector<2xf32>) {
  // expected-error@+1 {{'cute.fragment.map' op has a body that ends with cute.fragment.yield}}
  %0 = cute.fragment.map %v : vector<4xf32> -> vector<4xf32> {
  ^bb0(%x: f32):
    ptx.ret
  }
  func.return
}

// -----

// It goes through something.

func.func @map(%v: vector<4xf32>, %w: vector<2xf32>) {
  // expected-error@+1 {{'cute.fragment.map' op goes through at least one fragment}}
  "cute.fragment.map"() ({
  ^bb0:
    "cute.fragment.yield"() : () -> ()
  }) : () -> ()
  func.return
}

// -----

// It computes, and does not branch.

func.func @map(%v: vector<4xf32>, %w: vector<2xf32>) {
  // expected-error@+1 {{'cute.fragment.map' op has a body without branches and loops}}
  %0 = cute.fragment.map %v : vector<4xf32> -> vector<4xf32> {
  ^bb0(%x: f32):
    %c = arith.cmpf olt, %x, %x : f32
    scf.if %c {
    }
    cute.fragment.yield %x : f32
  }
  func.return
}

// -----

// Each fragment is an argument.

func.func @map(%v: vector<4xf32>, %w: vector<2xf32>) {
  // expected-error@+1 {{'cute.fragment.map' op has 2 inputs and 1 in its body}}
  %0 = cute.fragment.map %v, %v : vector<4xf32>, vector<4xf32> -> vector<4xf32> {
  ^bb0(%x: f32):
    cute.fragment.yield %x : f32
  }
  func.return
}

// -----

// Of its elements.

func.func @map(%v: vector<4xf32>, %w: vector<2xf32>) {
  // expected-error@+1 {{'cute.fragment.map' op has output vector<4xi32>, but f32 in its body}}
  %0 = cute.fragment.map %v : vector<4xf32> -> vector<4xi32> {
  ^bb0(%x: f32):
    cute.fragment.yield %x : f32
  }
  func.return
}

// -----

// All are as long.

func.func @map(%v: vector<4xf32>, %w: vector<2xf32>) {
  // expected-error@+1 {{'cute.fragment.map' op goes through fragments of one length}}
  %0 = cute.fragment.map %v, %w : vector<4xf32>, vector<2xf32> -> vector<4xf32> {
  ^bb0(%x: f32, %y: f32):
    cute.fragment.yield %x : f32
  }
  func.return
}

// -----

// Globals are in global memory; values are as their formats read them.

func.func @module(%i: i32) {
  // expected-error@+1 {{'cute.address_of' op is in global memory, not !cute.ptr<f32, smem>}}
  %0 = cute.address_of @table : !cute.ptr<f32, smem>
  // expected-error@+1 {{'cute.print_text' op prints by '%p'}}
  cute.print_text "%p", %i : i32
  // expected-error@+1 {{'cute.print_text' op has 0 formats for 1 values}}
  cute.print_text "%%", %i : i32
  // expected-error@+1 {{'cute.print_text' op prints i64 by '%lld', not i32}}
  cute.print_text "%lld", %i : i32
  // expected-error@+1 {{'cute.print_text' op prints 32 values at most, not 33}}
  cute.print_text "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i, %i : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  func.return
}
