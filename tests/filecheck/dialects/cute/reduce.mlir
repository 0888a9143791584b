// What one thread holds is reduced along modes of its shape.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s
// RUN: tileas-opt %s -p convert-cute-to-nvgpu,canonicalize,cse | filecheck %s --check-prefix=LOWERED

// Without a profile everything is: the result is one number.

func.func @total(%x: vector<4xf32>, %init: f32) -> f32 {
  %shape = cute.static : !cute.shape<"(2,2)">
  %y = cute.reduce(%x, %shape, %init) <{reduction_op = "ADD"}>
  func.return %y : f32
}

// CHECK-LABEL: func.func @total
// CHECK:         %y = cute.reduce(%x, %shape, %init) <{reduction_op = "ADD"}> : (vector<4xf32>, !cute.shape<"(2,2)">, f32) -> f32

// Elements are combined with the first value in their order.

// LOWERED-LABEL: func.func @total
// LOWERED-NEXT:    %0 = vector.extract %x[0] : f32 from vector<4xf32>
// LOWERED-NEXT:    %1 = arith.addf %init, %0 : f32
// LOWERED-NEXT:    %2 = vector.extract %x[1] : f32 from vector<4xf32>
// LOWERED-NEXT:    %3 = arith.addf %1, %2 : f32
// LOWERED-NEXT:    %4 = vector.extract %x[2] : f32 from vector<4xf32>
// LOWERED-NEXT:    %5 = arith.addf %3, %4 : f32
// LOWERED-NEXT:    %6 = vector.extract %x[3] : f32 from vector<4xf32>
// LOWERED-NEXT:    %y = arith.addf %5, %6 : f32
// LOWERED-NEXT:    func.return %y : f32

// An integer reduces a mode, an underscore keeps it; the shape of what is kept may be asked for.

func.func @rows(%x: vector<40xf16>, %init: f16) -> vector<20xf16> {
  %shape = cute.static : !cute.shape<"(4,(5,2))">
  %y, %s = cute.reduce(%x, %shape, %init) <{reduction_op = "MAX", reduction_profile = #cute.coord<"(_,(_,1))">}> : vector<20xf16>, !cute.shape
  func.return %y : vector<20xf16>
}

// CHECK-LABEL: func.func @rows
// CHECK:         %y, %s = cute.reduce(%x, %shape, %init) <{reduction_op = "MAX", reduction_profile = #cute.coord<"(_,(_,1))">}> : (vector<40xf16>, !cute.shape<"(4,(5,2))">, f16) -> (vector<20xf16>, !cute.shape<"(4,5)">)

// All that are kept take a step at once.

// LOWERED-LABEL: func.func @rows
// LOWERED:         %[[A:.+]] = cute.fragment.slice %x[0] : vector<40xf16> -> vector<20xf16>
// LOWERED-NEXT:    %[[B:.+]] = arith.maximumf %{{.+}}, %[[A]] : vector<20xf16>
// LOWERED-NEXT:    %[[C:.+]] = cute.fragment.slice %x[20] : vector<40xf16> -> vector<20xf16>
// LOWERED-NEXT:    %y = arith.maximumf %[[B]], %[[C]] : vector<20xf16>

// One underscore is no reduction: the first value is left out.

func.func @all(%x: vector<8xf16>, %init: f16) -> vector<8xf16> {
  %shape = cute.static : !cute.shape<"(1,8)">
  %y = cute.reduce(%x, %shape, %init) <{reduction_op = "ADD", reduction_profile = #cute.coord<"_">}>
  func.return %y : vector<8xf16>
}

// CHECK-LABEL: func.func @all
// CHECK:         -> vector<8xf16>

// LOWERED-LABEL: func.func @all
// LOWERED-NEXT:    func.return %x : vector<8xf16>
