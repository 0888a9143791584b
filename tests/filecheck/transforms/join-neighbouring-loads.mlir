// `join-neighbouring-loads` loads elements beside one another by vectors.

// RUN: tileas-opt %s -p join-neighbouring-loads --split-input-file | filecheck %s

// Words side by side, under no condition but that they are aligned.

func.func @words(%address: i64) -> (f32, f32, f32, f32) {
  %p = cute.inttoptr %address : i64 -> !cute.ptr<f32, gmem>
  %a = cute.ptr.load %p : !cute.ptr<f32, gmem> -> f32
  %b = cute.ptr.load %p offset 1 : !cute.ptr<f32, gmem> -> f32
  %c = cute.ptr.load %p offset 2 : !cute.ptr<f32, gmem> -> f32
  %d = cute.ptr.load %p offset 3 : !cute.ptr<f32, gmem> -> f32
  func.return %a, %b, %c, %d : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @words
// CHECK:         %[[LAST:.*]] = arith.constant 15 : i64
// CHECK:         arith.andi %address, %[[LAST]] : i64
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:         scf.if %[[ALIGNED]] -> (f32, f32, f32, f32)
// CHECK:           cute.ptr.load %{{.*}} : !cute.ptr<f32, gmem, align<16>> -> vector<4xf32>
// CHECK:         } else {
// CHECK-COUNT-4:   cute.ptr.load {{.*}} -> f32

// -----

// A stencil of two taps over bytes: a vector is in bounds or not at all if its ends are, of an array
// that is no shorter, and what both taps load is loaded once.  Bytes are put together again by a permutation of words; what takes
// that apart takes the byte that was loaded.

func.func @taps(%base: i64, %x: i32, %n: i32) -> (i32, i8, i8) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %four = arith.constant 4 : i32
  %i = arith.muli %x, %four : i32
  %w = arith.extsi %i : i32 to i64
  %address = arith.addi %base, %w : i64
  %p = cute.inttoptr %address : i64 -> !cute.ptr<i8, gmem>
  %i1 = arith.addi %i, %c1 : i32
  %i2 = arith.addi %i, %c2 : i32
  %i3 = arith.addi %i, %c3 : i32
  %i4 = arith.addi %i, %c4 : i32
  %ok0 = arith.cmpi ult, %i, %n : i32
  %ok1 = arith.cmpi ult, %i1, %n : i32
  %ok2 = arith.cmpi ult, %i2, %n : i32
  %ok3 = arith.cmpi ult, %i3, %n : i32
  %ok4 = arith.cmpi ult, %i4, %n : i32
  %a0 = cute.ptr.load %p if %ok0 : !cute.ptr<i8, gmem> -> i8
  %a1 = cute.ptr.load %p offset 1 if %ok1 : !cute.ptr<i8, gmem> -> i8
  %a2 = cute.ptr.load %p offset 2 if %ok2 : !cute.ptr<i8, gmem> -> i8
  %a3 = cute.ptr.load %p offset 3 if %ok3 : !cute.ptr<i8, gmem> -> i8
  %b1 = cute.ptr.load %p offset 1 if %ok1 : !cute.ptr<i8, gmem> -> i8
  %b2 = cute.ptr.load %p offset 2 if %ok2 : !cute.ptr<i8, gmem> -> i8
  %b3 = cute.ptr.load %p offset 3 if %ok3 : !cute.ptr<i8, gmem> -> i8
  %b4 = cute.ptr.load %p offset 4 if %ok4 : !cute.ptr<i8, gmem> -> i8
  %s8 = arith.constant 8 : i32
  %s16 = arith.constant 16 : i32
  %s24 = arith.constant 24 : i32
  %e1 = arith.extui %b1 : i8 to i32
  %e2 = arith.extui %b2 : i8 to i32
  %e3 = arith.extui %b3 : i8 to i32
  %e4 = arith.extui %b4 : i8 to i32
  %t2 = arith.shli %e2, %s8 : i32
  %t3 = arith.shli %e3, %s16 : i32
  %t4 = arith.shli %e4, %s24 : i32
  %o2 = arith.ori %e1, %t2 : i32
  %o3 = arith.ori %o2, %t3 : i32
  %o4 = arith.ori %o3, %t4 : i32
  %s = arith.addi %a0, %a1 : i8
  %t = arith.addi %a2, %a3 : i8
  %u = arith.addi %s, %t : i8
  %f = cute.fragment.make %o4 : i32 -> vector<1xi32>
  %v = vector.bitcast %f : vector<1xi32> to vector<4xi8>
  %again = vector.extract %v[2] : i8 from vector<4xi8>
  func.return %o4, %u, %again : i32, i8, i8
}

// CHECK-LABEL: func.func @taps
// CHECK:         %ok4 = arith.cmpi ult, %i4, %n : i32
// CHECK-NEXT:    %[[BEGIN:.*]] = arith.cmpi ult, %i, %n : i32
// CHECK-NEXT:    %[[THREE:.*]] = arith.constant 3 : i32
// CHECK-NEXT:    %[[LAST:.*]] = arith.addi %i, %[[THREE]] : i32
// CHECK-NEXT:    %[[END:.*]] = arith.cmpi ult, %[[LAST]], %n : i32
// CHECK-NEXT:    arith.xori %[[BEGIN]], %[[END]] : i1
// CHECK:         arith.cmpi ule, %{{.*}}, %n : i32
// CHECK:         %[[WORD:.*]], %[[NEXT:.*]] = scf.if {{.*}} -> (i32, i8)
// CHECK:           cute.ptr.load %{{.*}} if %ok0 : !cute.ptr<i32, gmem> -> vector<1xi32>
// CHECK:           cute.ptr.load %{{.*}} offset 4 if %ok4 : !cute.ptr<i8, gmem> -> i8
// CHECK:         } else {
// CHECK-COUNT-5:   cute.ptr.load {{.*}} if {{.*}} -> i8
// CHECK:         %[[BYTES:.*]] = vector.bitcast
// CHECK:         %[[THIRD:.*]] = vector.extract %[[BYTES]][3] : i8
// CHECK:         %[[FIFTH:.*]] = arith.extui %[[NEXT]] : i8 to i32
// CHECK:         %[[PICKED:.*]] = arith.constant 17185 : i32
// CHECK-NEXT:    %[[SHIFTED:.*]] = cute_nvgpu.arch.prmt %[[WORD]], %[[FIFTH]] by %[[PICKED]]
// CHECK:         func.return %[[SHIFTED]], %u, %[[THIRD]]

// -----

// What is stored between two loads may be what the second one loads, and loads behind a condition
// that the others do not have stay.

func.func @ordered(%address: i64, %x: f32, %c: i1) -> (f32, f32, f32, f32) {
  %p = cute.inttoptr %address : i64 -> !cute.ptr<f32, gmem>
  %a = cute.ptr.load %p : !cute.ptr<f32, gmem> -> f32
  %b = cute.ptr.load %p offset 1 : !cute.ptr<f32, gmem> -> f32
  cute.ptr.store %x, %p offset 2 : f32, !cute.ptr<f32, gmem>
  %d = cute.ptr.load %p offset 2 : !cute.ptr<f32, gmem> -> f32
  %e = cute.ptr.load %p offset 3 if %c : !cute.ptr<f32, gmem> -> f32
  func.return %a, %b, %d, %e : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @ordered
// CHECK-NOT:     vector
// CHECK:         func.return

// -----

// Addresses that are known to lie between vectors are loaded as they are.

func.func @apart(%base: i64, %x: i32) -> (f32, f32, f32, f32) {
  %w = arith.extsi %x : i32 to i64
  %four = arith.constant 4 : i64
  %s = arith.muli %w, %four : i64
  %address = arith.addi %base, %s : i64
  %p = cute.inttoptr %address : i64 -> !cute.ptr<f32, gmem>
  %a = cute.ptr.load %p : !cute.ptr<f32, gmem> -> f32
  %b = cute.ptr.load %p offset 1 : !cute.ptr<f32, gmem> -> f32
  %c = cute.ptr.load %p offset 2 : !cute.ptr<f32, gmem> -> f32
  %d = cute.ptr.load %p offset 3 : !cute.ptr<f32, gmem> -> f32
  func.return %a, %b, %c, %d : f32, f32, f32, f32
}

// CHECK-LABEL: func.func @apart
// CHECK-NOT:     vector
// CHECK:         func.return
