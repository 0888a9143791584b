// What `cute.reduce` refuses.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// The elements have the shape,

func.func @f(%x: vector<4xf32>, %s: !cute.shape<"(4,2)">, %i: f32) {
  // expected-error@+1 {{'cute.reduce' op has elements of the shape (4,2), not vector<4xf32>}}
  %y = cute.reduce(%x, %s, %i) <{reduction_op = "ADD"}> : (vector<4xf32>, !cute.shape<"(4,2)">, f32) -> f32
  func.return
}

// -----

// which is known,

func.func @f(%x: vector<4xf32>, %s: !cute.shape<"(?,2)">, %i: f32) {
  // expected-error@+1 {{'cute.reduce' op expects a shape that is known before run time, not !cute.shape<"(?,2)">}}
  %y = cute.reduce(%x, %s, %i) <{reduction_op = "ADD"}> : (vector<4xf32>, !cute.shape<"(?,2)">, f32) -> f32
  func.return
}

// -----

// and a profile that says of each mode what becomes of it.

func.func @f(%x: vector<8xf32>, %s: !cute.shape<"(4,2)">, %i: f32) {
  // expected-error@+1 {{'cute.reduce' op has a profile weakly congruent to (4,2), not (_,1,_)}}
  %y = cute.reduce(%x, %s, %i) <{reduction_op = "ADD", reduction_profile = #cute.coord<"(_,1,_)">}> : (vector<8xf32>, !cute.shape<"(4,2)">, f32) -> f32
  func.return
}

// -----

// Reductions are those of the DSL.

func.func @f(%x: vector<8xi32>, %s: !cute.shape<"(4,2)">, %i: i32) {
  // expected-error@+1 {{'cute.reduce' op combines by ADD, MUL, MAX, MIN, not XOR}}
  %y = cute.reduce(%x, %s, %i) <{reduction_op = "XOR"}> : (vector<8xi32>, !cute.shape<"(4,2)">, i32) -> i32
  func.return
}

// -----

// An integer has no sign of its own.

func.func @f(%x: vector<8xi32>, %s: !cute.shape<"(4,2)">, %i: i32) {
  // expected-error@+1 {{'cute.reduce' op has MAX of floats: i32 does not say if it has a sign}}
  %y = cute.reduce(%x, %s, %i) <{reduction_op = "MAX"}> : (vector<8xi32>, !cute.shape<"(4,2)">, i32) -> i32
  func.return
}

// -----

// The first value is an element.

func.func @f(%x: vector<8xf16>, %s: !cute.shape<"(4,2)">, %i: f32) {
  // expected-error@+1 {{'cute.reduce' op begins with a value of f16, not f32}}
  %y = cute.reduce(%x, %s, %i) <{reduction_op = "ADD"}> : (vector<8xf16>, !cute.shape<"(4,2)">, f32) -> f16
  func.return
}

// -----

// Registers are a fragment.

func.func @f(%x: vector<4x2xf32>, %s: !cute.shape<"(4,2)">, %i: f32) {
  // expected-error@+1 {{'cute.reduce' op expects a fragment vector<NxT> as the input, but got vector<4x2xf32>}}
  %y = cute.reduce(%x, %s, %i) <{reduction_op = "ADD"}> : (vector<4x2xf32>, !cute.shape<"(4,2)">, f32) -> f32
  func.return
}

// -----

// The semantics of predicated reductions is undocumented.

func.func @f(%x: vector<8xf32>, %s: !cute.shape<"(4,2)">, %i: f32, %p: vector<8xi1>) {
  // expected-error@+1 {{'cute.reduce' op is not supported with a predication}}
  %y = cute.reduce(%x, %s, %i, %p) <{reduction_op = "ADD"}> : (vector<8xf32>, !cute.shape<"(4,2)">, f32, vector<8xi1>) -> f32
  func.return
}

// -----

// One number has no shape.

func.func @f(%x: vector<8xf32>, %s: !cute.shape<"(4,2)">, %i: f32) {
  // expected-error@+1 {{'cute.reduce' op keeps no mode, and one number has no shape}}
  %y, %t = cute.reduce(%x, %s, %i) <{reduction_op = "ADD"}> : (vector<8xf32>, !cute.shape<"(4,2)">, f32) -> (f32, !cute.shape<"(4)">)
  func.return
}

// -----

// The result is what is kept.

func.func @f(%x: vector<8xf32>, %s: !cute.shape<"(4,2)">, %i: f32) {
  // expected-error@+1 {{'cute.reduce' op inferred type(s) 'vector<4xf32>' are incompatible with return type(s) of operation 'vector<2xf32>'}}
  %y = cute.reduce(%x, %s, %i) <{reduction_op = "ADD", reduction_profile = #cute.coord<"(_,1)">}> : (vector<8xf32>, !cute.shape<"(4,2)">, f32) -> vector<2xf32>
  func.return
}
