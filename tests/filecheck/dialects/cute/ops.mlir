// Pointers and fragments of one thread.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s

// Types: what is pointed to, where, and how it is aligned; the alignment of one element goes unsaid.

func.func @types(%a: !cute.ptr<f16, gmem>, %b: !cute.ptr<f32, smem, align<128>>, %c: !cute.ptr<i8, generic>, %d: !cute.ptr<f8E4M3FN, rmem, align<16>>, %e: !cute.ptr<i64, smem, align<8>>) {
  func.return
}

// CHECK-LABEL: func.func @types(%a: !cute.ptr<f16, gmem>, %b: !cute.ptr<f32, smem, align<128>>, %c: !cute.ptr<i8, generic>, %d: !cute.ptr<f8E4M3FN, rmem, align<16>>, %e: !cute.ptr<i64, smem>) {
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Arithmetic counts elements; what is known of the result's alignment may be said.

func.func @pointers(%p: !cute.ptr<f16, gmem, align<16>>, %i: i32, %j: i64, %k: index) {
  %0 = cute.add_offset %p, %i : !cute.ptr<f16, gmem, align<16>>, i32 -> !cute.ptr<f16, gmem>
  %1 = cute.add_offset %p, %j : !cute.ptr<f16, gmem, align<16>>, i64 -> !cute.ptr<f16, gmem, align<16>>
  %2 = cute.add_offset %p, %k : !cute.ptr<f16, gmem, align<16>>, index -> !cute.ptr<f16, gmem, align<4>>
  %c = arith.constant 4 : i32
  %3 = cute.add_offset %p, %c : !cute.ptr<f16, gmem, align<16>>, i32 -> !cute.ptr<f16, gmem, align<8>>
  %4 = cute.recast_iter %p : !cute.ptr<f16, gmem, align<16>> -> !cute.ptr<i32, gmem, align<16>>
  %5 = cute.ptrtoint %p : !cute.ptr<f16, gmem, align<16>> -> i64
  %6 = cute.inttoptr %5 : i64 -> !cute.ptr<f16, gmem>
  func.return
}

// CHECK-LABEL: func.func @pointers(%p: !cute.ptr<f16, gmem, align<16>>, %i: i32, %j: i64, %k: index) {
// CHECK-NEXT:    %0 = cute.add_offset %p, %i : !cute.ptr<f16, gmem, align<16>>, i32 -> !cute.ptr<f16, gmem>
// CHECK-NEXT:    %1 = cute.add_offset %p, %j : !cute.ptr<f16, gmem, align<16>>, i64 -> !cute.ptr<f16, gmem, align<16>>
// CHECK-NEXT:    %2 = cute.add_offset %p, %k : !cute.ptr<f16, gmem, align<16>>, index -> !cute.ptr<f16, gmem, align<4>>
// CHECK-NEXT:    %c = arith.constant 4 : i32
// CHECK-NEXT:    %3 = cute.add_offset %p, %c : !cute.ptr<f16, gmem, align<16>>, i32 -> !cute.ptr<f16, gmem, align<8>>
// CHECK-NEXT:    %4 = cute.recast_iter %p : !cute.ptr<f16, gmem, align<16>> -> !cute.ptr<i32, gmem, align<16>>
// CHECK-NEXT:    %5 = cute.ptrtoint %p : !cute.ptr<f16, gmem, align<16>> -> i64
// CHECK-NEXT:    %6 = cute.inttoptr %5 : i64 -> !cute.ptr<f16, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// An element or a fragment; a predicate, and a hint for the caches.

func.func @accesses(%p: !cute.ptr<f16, gmem, align<16>>, %s: !cute.ptr<f32, smem>, %c: i1) {
  %0 = cute.ptr.load %p : !cute.ptr<f16, gmem, align<16>> -> f16
  %1 = cute.ptr.load %p if %c cache "streaming" : !cute.ptr<f16, gmem, align<16>> -> vector<8xf16>
  %2 = cute.ptr.load %s : !cute.ptr<f32, smem> -> f32
  cute.ptr.store %1, %p if %c : vector<8xf16>, !cute.ptr<f16, gmem, align<16>>
  cute.ptr.store %2, %s cache "write_back" : f32, !cute.ptr<f32, smem>
  %3 = cute.ptr.load %p if %c fill 0xFC00 : f16 : !cute.ptr<f16, gmem, align<16>> -> vector<8xf16>
  %4 = cute.ptr.load %p offset 8 if %c cache "global" : !cute.ptr<f16, gmem, align<16>> -> vector<8xf16>
  cute.ptr.store %4, %p offset -8 if %c : vector<8xf16>, !cute.ptr<f16, gmem, align<16>>
  %5 = cute.ptr.load %s order "acquire" scope "gpu" : !cute.ptr<f32, smem> -> f32
  cute.ptr.store %5, %s order "release" scope "sys" : f32, !cute.ptr<f32, smem>
  func.return
}

// CHECK-LABEL: func.func @accesses(%p: !cute.ptr<f16, gmem, align<16>>, %s: !cute.ptr<f32, smem>, %c: i1) {
// CHECK-NEXT:    %0 = cute.ptr.load %p : !cute.ptr<f16, gmem, align<16>> -> f16
// CHECK-NEXT:    %1 = cute.ptr.load %p if %c cache "streaming" : !cute.ptr<f16, gmem, align<16>> -> vector<8xf16>
// CHECK-NEXT:    %2 = cute.ptr.load %s : !cute.ptr<f32, smem> -> f32
// CHECK-NEXT:    cute.ptr.store %1, %p if %c : vector<8xf16>, !cute.ptr<f16, gmem, align<16>>
// CHECK-NEXT:    cute.ptr.store %2, %s cache "write_back" : f32, !cute.ptr<f32, smem>
// CHECK-NEXT:    %3 = cute.ptr.load %p if %c fill 0x{{(fc|FC)00}} : f16 : !cute.ptr<f16, gmem, align<16>> -> vector<8xf16>
// CHECK-NEXT:    %4 = cute.ptr.load %p offset 8 if %c cache "global" : !cute.ptr<f16, gmem, align<16>> -> vector<8xf16>
// CHECK-NEXT:    cute.ptr.store %4, %p offset -8 if %c : vector<8xf16>, !cute.ptr<f16, gmem, align<16>>
// CHECK-NEXT:    %5 = cute.ptr.load %s order "acquire" scope "gpu" : !cute.ptr<f32, smem> -> f32
// CHECK-NEXT:    cute.ptr.store %5, %s order "release" scope "sys" : f32, !cute.ptr<f32, smem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Fragments are put together, cut, selected element by element, or hold nothing yet.

func.func @fragments(%a: f32, %v: vector<4xf32>, %m: vector<2xi1>) {
  %0 = cute.fragment.make %a, %v, %a : f32, vector<4xf32>, f32 -> vector<6xf32>
  %1 = cute.fragment.slice %0[1] : vector<6xf32> -> vector<2xf32>
  %2 = cute.fragment.undef : vector<2xf32>
  %3 = cute.fragment.select %m, %1, %2 : vector<2xi1>, vector<2xf32>, vector<2xf32> -> vector<2xf32>
  func.return
}

// CHECK-LABEL: func.func @fragments(%a: f32, %v: vector<4xf32>, %m: vector<2xi1>) {
// CHECK-NEXT:    %0 = cute.fragment.make %a, %v, %a : f32, vector<4xf32>, f32 -> vector<6xf32>
// CHECK-NEXT:    %1 = cute.fragment.slice %0[1] : vector<6xf32> -> vector<2xf32>
// CHECK-NEXT:    %2 = cute.fragment.undef : vector<2xf32>
// CHECK-NEXT:    %3 = cute.fragment.select %m, %1, %2 : vector<2xi1>, vector<2xf32>, vector<2xf32> -> vector<2xf32>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A body of scalars goes through all elements; it may use scalars from outside.

func.func @map(%v: vector<4xf32>, %limit: f32) {
  %0, %1 = cute.fragment.map %v : vector<4xf32> -> vector<4xi32>, vector<4xi1> {
  ^bb0(%x: f32):
    %2 = arith.cmpf olt, %x, %limit : f32
    %3 = arith.fptosi %x : f32 to i32
    cute.fragment.yield %3, %2 : i32, i1
  }
  func.return
}

// CHECK-LABEL: func.func @map(%v: vector<4xf32>, %limit: f32) {
// CHECK-NEXT:    %0, %1 = cute.fragment.map %v : vector<4xf32> -> vector<4xi32>, vector<4xi1> {
// CHECK-NEXT:    ^bb0(%x: f32):
// CHECK-NEXT:      %2 = arith.cmpf olt, %x, %limit : f32
// CHECK-NEXT:      %3 = arith.fptosi %x : f32 to i32
// CHECK-NEXT:      cute.fragment.yield %3, %2 : i32, i1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Globals of the module, and text of one thread.

func.func @module(%i: i32, %j: i64, %x: f64) {
  %0 = cute.address_of @table : !cute.ptr<f32, gmem, align<16>>
  cute.print_text "hi"
  cute.print_text "%d %lld %.3e", %i, %j, %x : i32, i64, f64
  func.return
}

// CHECK-LABEL: func.func @module(
// CHECK-NEXT:    %0 = cute.address_of @table : !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:    cute.print_text "hi"
// CHECK-NEXT:    cute.print_text "%d %lld %.3e", %i, %j, %x : i32, i64, f64
