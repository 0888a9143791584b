// Values by names, which only run time knows.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s

// The algebra takes them as any other unknown number.

func.func @symbols() {
  %m = cute.symbolic() <{name = "M"}> : !cute.shape<"(?{div=8},64)">
  %i = cute.symbolic() <{name = "i"}> : i32
  %l = cute.make_layout(%m) : !cute.layout
  %s = cute.size(%l) : !cute.int_tuple
  func.return
}

// CHECK-LABEL: func.func @symbols
// CHECK-NEXT:    %m = cute.symbolic() <{name = "M"}> : () -> !cute.shape<"(?{div=8},64)">
// CHECK-NEXT:    %i = cute.symbolic() <{name = "i"}> : () -> i32
// CHECK-NEXT:    %l = cute.make_layout(%m) : (!cute.shape<"(?{div=8},64)">) -> !cute.layout<"(?{div=8},64):(1,?{div=8})">
// CHECK-NEXT:    %s = cute.size(%l) : (!cute.layout<"(?{div=8},64):(1,?{div=8})">) -> !cute.int_tuple<"?{div=512}">
