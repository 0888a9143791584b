// `expand-int-to-float` puts the bits of small integers below the exponent of a power of two.

// RUN: tileas-opt %s -p expand-int-to-float,canonicalize,cse --split-input-file | filecheck %s

// Both halves of a word at once: bits 4 to 7 and 20 to 23, less 8.

func.func @pair(%w: vector<1xi32>) -> vector<2xf16> {
  %word = vector.extract %w[0] : i32 from vector<1xi32>
  %words = vector.broadcast %word : i32 to vector<2xi32>
  %counts = arith.constant dense<[4, 20]> : vector<2xi32>
  %mask = arith.constant dense<15> : vector<2xi32>
  %eight = arith.constant dense<8> : vector<2xi32>
  %s = arith.shrsi %words, %counts : vector<2xi32>
  %q = arith.andi %s, %mask : vector<2xi32>
  %d = arith.subi %q, %eight : vector<2xi32>
  %f = cute.fragment.map %d : vector<2xi32> -> vector<2xf16> {
  ^bb0(%x: i32):
    %y = arith.sitofp %x : i32 to f16
    cute.fragment.yield %y : f16
  }
  func.return %f : vector<2xf16>
}

// CHECK-LABEL: func.func @pair
// CHECK:         %[[S:.*]] = arith.shrui %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:    %[[V:.*]] = cute.fragment.make %[[S]] : i32 -> vector<1xi32>
// CHECK-NEXT:    %[[M:.*]] = arith.constant dense<983055> : vector<1xi32>
// CHECK-NEXT:    %[[B:.*]] = arith.andi %[[V]], %[[M]] : vector<1xi32>
// CHECK-NEXT:    %[[E:.*]] = arith.constant dense<1677747200> : vector<1xi32>
// CHECK-NEXT:    %[[P:.*]] = arith.xori %[[B]], %[[E]] : vector<1xi32>
// CHECK-NEXT:    %[[F:.*]] = vector.bitcast %[[P]] : vector<1xi32> to vector<2xf16>
// CHECK:         %[[C:.*]] = arith.constant dense<1.032000e+03> : vector<2xf16>
// CHECK-NEXT:    %{{.*}} = arith.subf %{{.*}}, %[[C]] : vector<2xf16>

// -----

// Neighbours of one byte: the other half of each is a shift away, and a permutation puts both
// where they belong. The last of four bits is a sign.

func.func @bytes(%b: vector<4xi8>) -> vector<4xf16> {
  %four = arith.constant dense<4> : vector<4xi8>
  %h = arith.shrsi %b, %four : vector<4xi8>
  %f = cute.fragment.map %h : vector<4xi8> -> vector<4xf16> {
  ^bb0(%x: i8):
    %y = arith.sitofp %x : i8 to f16
    cute.fragment.yield %y : f16
  }
  func.return %f : vector<4xf16>
}

// CHECK-LABEL: func.func @bytes
// CHECK:         %[[W:.*]] = vector.bitcast %b : vector<4xi8> to vector<1xi32>
// CHECK:         %[[S:.*]] = arith.shrui %{{.*}}, %{{.*}} : i32
// CHECK:         cute_nvgpu.arch.prmt %[[S]], %[[S]] by
// CHECK:         cute_nvgpu.arch.prmt %[[S]], %[[S]] by
// CHECK:         arith.constant dense<1.032000e+03> : vector<4xf16>

// -----

// Words whose size is not known stay.

func.func @words(%w: vector<2xi32>) -> vector<2xf16> {
  %f = cute.fragment.map %w : vector<2xi32> -> vector<2xf16> {
  ^bb0(%x: i32):
    %y = arith.sitofp %x : i32 to f16
    cute.fragment.yield %y : f16
  }
  func.return %f : vector<2xf16>
}

// CHECK-LABEL: func.func @words
// CHECK-NEXT:    cute.fragment.map
