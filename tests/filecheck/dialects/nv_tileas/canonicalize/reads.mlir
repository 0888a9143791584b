// What reads tiles in memory is not merged across a write, nor moved out of a loop that writes; what
// reads values is.

// RUN: tileas-opt %s -p cse,licm | filecheck %s

#smem = #nv_tileas<space smem>
#any = #nv_tileas<atom unknown_copy>
#r = #nv_tileas.blocked<"(16,8):(8@thread,1@thread)">

func.func @written_between(%x: tensor<16x8xf32, #r>) -> (tensor<16x8xf32, #r>, tensor<16x8xf32, #r>, tensor<16x8xf32, #r>) {
  %b = nv_tileas.alloc_tensor : tensor<16x8xf32, #smem>
  nv_tileas.copy %x, %b {atom = #any} : tensor<16x8xf32, #r>, tensor<16x8xf32, #smem>
  %0 = nv_tileas.convert_layout %b : tensor<16x8xf32, #smem> -> tensor<16x8xf32, #r>
  %1 = nv_tileas.convert_layout %b : tensor<16x8xf32, #smem> -> tensor<16x8xf32, #r>
  %2 = arith.addf %0, %1 : tensor<16x8xf32, #r>
  nv_tileas.copy %2, %b {atom = #any} : tensor<16x8xf32, #r>, tensor<16x8xf32, #smem>
  %3 = nv_tileas.convert_layout %b : tensor<16x8xf32, #smem> -> tensor<16x8xf32, #r>
  func.return %0, %1, %3 : tensor<16x8xf32, #r>, tensor<16x8xf32, #r>, tensor<16x8xf32, #r>
}

// CHECK-LABEL: @written_between
// CHECK:         nv_tileas.copy %x, %b
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %b
// CHECK-NEXT:    %1 = arith.addf %0, %0
// CHECK-NEXT:    nv_tileas.copy %1, %b
// CHECK-NEXT:    %2 = nv_tileas.convert_layout %b
// CHECK-NEXT:    func.return %0, %0, %2

func.func @in_a_loop(%x: tensor<16x8xf32, #r>, %n: index) -> tensor<16x8xf32, #r> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.addf %x, %x : tensor<16x8xf32, #r>
  %b = nv_tileas.alloc_tensor : tensor<16x8xf32, #smem>
  nv_tileas.copy %x, %b {atom = #any} : tensor<16x8xf32, #r>, tensor<16x8xf32, #smem>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<16x8xf32, #r>) {
    %0 = nv_tileas.convert_layout %v : tensor<16x8xf32, #r> -> tensor<16x8xf32>
    %1 = nv_tileas.convert_layout %b : tensor<16x8xf32, #smem> -> tensor<16x8xf32>
    nv_tileas.copy %t, %b {atom = #any} : tensor<16x8xf32, #r>, tensor<16x8xf32, #smem>
    %2 = arith.addf %0, %1 : tensor<16x8xf32>
    %3 = nv_tileas.convert_layout %2 : tensor<16x8xf32> -> tensor<16x8xf32, #r>
    scf.yield %3 : tensor<16x8xf32, #r>
  }
  func.return %r : tensor<16x8xf32, #r>
}

// CHECK-LABEL: @in_a_loop
// CHECK:         %0 = nv_tileas.convert_layout %v
// CHECK-NEXT:    %r = scf.for
// CHECK-NEXT:      %1 = nv_tileas.convert_layout %b

// Storage that is not laid out yet is memory too; what arithmetic gives is a value.

func.func @not_laid_out(%x: tensor<16x8xf32>) -> (tensor<16x8xf32, #r>, tensor<16x8xf32, #r>, tensor<16x8xf32, #r>) {
  %b = nv_tileas.alloc_tensor : tensor<16x8xf32>
  nv_tileas.copy %x, %b {atom = #any} : tensor<16x8xf32>, tensor<16x8xf32>
  %0 = nv_tileas.convert_layout %b : tensor<16x8xf32> -> tensor<16x8xf32, #r>
  nv_tileas.copy %x, %b {atom = #any} : tensor<16x8xf32>, tensor<16x8xf32>
  %1 = nv_tileas.convert_layout %b : tensor<16x8xf32> -> tensor<16x8xf32, #r>
  %y = math.absf %x : tensor<16x8xf32>
  %2 = nv_tileas.convert_layout %y : tensor<16x8xf32> -> tensor<16x8xf32, #r>
  nv_tileas.copy %x, %b {atom = #any} : tensor<16x8xf32>, tensor<16x8xf32>
  %3 = nv_tileas.convert_layout %y : tensor<16x8xf32> -> tensor<16x8xf32, #r>
  %4 = arith.addf %2, %3 : tensor<16x8xf32, #r>
  func.return %0, %1, %4 : tensor<16x8xf32, #r>, tensor<16x8xf32, #r>, tensor<16x8xf32, #r>
}

// CHECK-LABEL: @not_laid_out
// CHECK:         %0 = nv_tileas.convert_layout %b
// CHECK:         %1 = nv_tileas.convert_layout %b
// CHECK:         %2 = nv_tileas.convert_layout %y
// CHECK:         %3 = arith.addf %2, %2
