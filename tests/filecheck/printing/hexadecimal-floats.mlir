// Infinities and NaN have no decimal form: their bits are printed, and read back as bits.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s

%0 = arith.constant dense<0xff800000> : vector<4xf32>
%1 = arith.constant dense<[0xfc00, 1.0]> : tensor<2xf16>
%2 = arith.constant dense<0x7fc0> : tensor<2xbf16>
%3 = arith.constant dense<0xff> : tensor<2xi32>

// CHECK:      arith.constant dense<0xFF800000> : vector<4xf32>
// CHECK-NEXT: arith.constant dense<[0xFC00, 1.000000e+00]> : tensor<2xf16>
// CHECK-NEXT: arith.constant dense<0x7FC0> : tensor<2xbf16>
// CHECK-NEXT: arith.constant dense<255> : tensor<2xi32>
