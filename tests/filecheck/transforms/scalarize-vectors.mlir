// `scalarize-vectors` computes elements where they are read, of vectors that are read in no other
// way.

// RUN: tileas-opt %s -p scalarize-vectors --split-input-file | filecheck %s

// Each address is computed in front of its access.

func.func @addresses(%base: i64, %offsets: vector<2xi64>) {
  %all = vector.broadcast %base : i64 to vector<2xi64>
  %sums = arith.addi %all, %offsets : vector<2xi64>
  %first = vector.extract %sums[0] : i64 from vector<2xi64>
  "test.op"(%first) : (i64) -> ()
  %second = vector.extract %sums[1] : i64 from vector<2xi64>
  "test.op"(%second) : (i64) -> ()
  func.return
}

// CHECK-LABEL: func.func @addresses
// CHECK-NEXT:    %0 = vector.extract %offsets[0]
// CHECK-NEXT:    %first = arith.addi %base, %0 : i64
// CHECK-NEXT:    "test.op"(%first)
// CHECK-NEXT:    %1 = vector.extract %offsets[1]
// CHECK-NEXT:    %second = arith.addi %base, %1 : i64
// CHECK-NEXT:    "test.op"(%second)
// CHECK-NEXT:    func.return

// -----

// Constants are those of the element, and flags that were computed one by one go to their reader.

func.func @flags(%a: i32, %b: i32, %n: i32) {
  %one = arith.cmpi ult, %a, %n : i32
  %other = arith.cmpi ult, %b, %n : i32
  %inside = "cute.fragment.make"(%one, %other) : (i1, i1) -> vector<2xi1>
  %known = arith.constant dense<[true, false]> : vector<2xi1>
  %flags = arith.andi %inside, %known : vector<2xi1>
  "test.op"() : () -> ()
  %second = vector.extract %flags[1] : i1 from vector<2xi1>
  "test.op"(%second) : (i1) -> ()
  func.return
}

// CHECK-LABEL: func.func @flags
// CHECK-NEXT:    "test.op"()
// CHECK-NEXT:    %0 = arith.constant false
// CHECK-NEXT:    %other = arith.cmpi ult, %b, %n
// CHECK-NEXT:    %second = arith.andi %other, %0 : i1
// CHECK-NEXT:    "test.op"(%second)

// -----

// A vector that something reads whole stays, and its elements are taken from it.

func.func @whole(%x: vector<2xi64>) {
  %sums = arith.addi %x, %x : vector<2xi64>
  %first = vector.extract %sums[0] : i64 from vector<2xi64>
  "test.op"(%sums, %first) : (vector<2xi64>, i64) -> ()
  func.return
}

// CHECK-LABEL: func.func @whole
// CHECK-NEXT:    %sums = arith.addi %x, %x : vector<2xi64>
// CHECK-NEXT:    %first = vector.extract %sums[0]
// CHECK-NEXT:    "test.op"(%sums, %first)

// -----

// A loop would compute the element in each iteration.

func.func @loop(%x: vector<2xi64>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sums = arith.addi %x, %x : vector<2xi64>
  scf.for %i = %zero to %n step %one : i32 {
    %first = vector.extract %sums[0] : i64 from vector<2xi64>
    "test.op"(%first) : (i64) -> ()
  }
  func.return
}

// CHECK-LABEL: func.func @loop
// CHECK:         %sums = arith.addi
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      vector.extract %sums[0]

// -----

// Which element is read may be known only when the kernel runs.

func.func @dynamic(%x: vector<2xi64>, %k: index) {
  %sums = arith.addi %x, %x : vector<2xi64>
  %one = vector.extract %sums[%k] : i64 from vector<2xi64>
  "test.op"(%one) : (i64) -> ()
  func.return
}

// CHECK-LABEL: func.func @dynamic
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    vector.extract %sums[%k]

// -----

// A byte that was packed into a word is read as it was, also out of a longer vector.

func.func @packed(%loaded: vector<4xi8>, %low: i8, %high: i8) {
  %eight = arith.constant 8 : i32
  %a = arith.extui %low : i8 to i32
  %b = arith.extui %high : i8 to i32
  %moved = arith.shli %b, %eight : i32
  %word = arith.ori %a, %moved : i32
  %one = "cute.fragment.make"(%word) : (i32) -> vector<1xi32>
  %bytes = vector.bitcast %one : vector<1xi32> to vector<4xi8>
  %whole = "cute.fragment.make"(%loaded, %bytes) : (vector<4xi8>, vector<4xi8>) -> vector<8xi8>
  %x = vector.extract %whole[5] : i8 from vector<8xi8>
  "test.op"(%x) : (i8) -> ()
  func.return
}

// CHECK-LABEL: func.func @packed
// CHECK-NEXT:    "test.op"(%high) : (i8) -> ()
// CHECK-NEXT:    func.return

// -----

// What else a word has is read out of it: nothing put the byte there, or terms overlap.

func.func @not_packed(%loaded: vector<4xi8>, %low: i8, %high: i8) {
  %four = arith.constant 4 : i32
  %a = arith.extui %low : i8 to i32
  %b = arith.extui %high : i8 to i32
  %moved = arith.shli %b, %four : i32
  %word = arith.ori %a, %moved : i32
  %one = "cute.fragment.make"(%word) : (i32) -> vector<1xi32>
  %bytes = vector.bitcast %one : vector<1xi32> to vector<4xi8>
  %whole = "cute.fragment.make"(%loaded, %bytes) : (vector<4xi8>, vector<4xi8>) -> vector<8xi8>
  %x = vector.extract %whole[1] : i8 from vector<8xi8>
  %y = vector.extract %whole[4] : i8 from vector<8xi8>
  "test.op"(%x, %y) : (i8, i8) -> ()
  func.return
}

// CHECK-LABEL: func.func @not_packed
// CHECK:         %x = vector.extract %whole[1]
// CHECK-NEXT:    %y = vector.extract %whole[4]
// CHECK-NEXT:    "test.op"(%x, %y)

// -----

// Halves of loaded bytes are computed four at a time.

func.func @halves(%q: !cute.ptr<i8, smem, align<4>>) {
  %mask = arith.constant dense<15> : vector<4xi8>
  %four = arith.constant dense<4> : vector<4xi8>
  %bytes = cute.ptr.load %q : !cute.ptr<i8, smem, align<4>> -> vector<4xi8>
  %low = arith.andi %bytes, %mask : vector<4xi8>
  %high = arith.shrui %bytes, %four : vector<4xi8>
  %x = vector.extract %low[0] : i8 from vector<4xi8>
  %y = vector.extract %high[0] : i8 from vector<4xi8>
  "test.op"(%x, %y) : (i8, i8) -> ()
  func.return
}

// CHECK-LABEL: func.func @halves
// CHECK:         %low = arith.andi %bytes, %mask : vector<4xi8>
// CHECK-NEXT:    %high = arith.shrui %bytes, %four : vector<4xi8>
// CHECK-NEXT:    %x = vector.extract %low[0]
// CHECK-NEXT:    %y = vector.extract %high[0]
