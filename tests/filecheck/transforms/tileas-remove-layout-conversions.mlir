// Conversions between layouts that `tileas-remove-layout-conversions` saves, each case followed by
// what it must leave alone.

// RUN: tileas-opt %s -p tileas-remove-layout-conversions | filecheck %s
// RUN: tileas-opt %s -p tileas-remove-layout-conversions,tileas-remove-layout-conversions | filecheck %s
// RUN: xdsl-opt %s -p tileas-remove-layout-conversions,verify-dominance | filecheck %s --check-prefix PLAIN

#a = #nv_tileas.blocked<"(16,16):(1@thread,1@value)">
#b = #nv_tileas.blocked<"(16,16):(1@value,1@thread)">
#a1 = #nv_tileas.blocked<"(1,16,16):(0,1@thread,1@value)">
#b1 = #nv_tileas.blocked<"(1,16,16):(0,1@value,1@thread)">
#smem = #nv_tileas<space smem>
#rows = #nv_tileas.shared<(16,16),(16,1)>
#rows_named_twice = #nv_tileas.shared<(16,(4,4)),(16,(1,4))>
#swizzled = #nv_tileas.shared<(16,16),(16,1),swizzle<1,4,3>>
#smem_blocked = #nv_tileas.shared<(128,64),(64,1)>
#smem_swizzled = #nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>
#any = #nv_tileas<atom unknown_copy>
!a = tensor<16x16xf32, #a>
!b = tensor<16x16xf32, #b>
!a1 = tensor<1x16x16xf32, #a1>
!b1 = tensor<1x16x16xf32, #b1>
!open = tensor<16x16xf32, #smem>
!rows = tensor<16x16xf32, #rows>
!same = tensor<16x16xf32, #rows_named_twice>
!swizzled = tensor<16x16xf32, #swizzled>
!lanes = tensor<16x16xf32, #nv_tileas.linear<"(16,16):(1@lane,1@column)">>
!pairs = tensor<16x16xf32, #nv_tileas.linear<"(16,16):(2@lane,1@column)">>
!cons = !nv_tileas.async.pipeline.consumer_token
!prod = !nv_tileas.async.pipeline.producer_token

// Input and output shape: the producer of a tile in shared memory makes it as it is asked for.

func.func @output(%src: memref<128x64xf16>, %w: tensor<64x128xf16, #smem>, %acc: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %c0 = arith.constant 0 : index
  %t = nv_tileas.tiled_load %src[%c0, %c0] {atom = #any} : memref<128x64xf16> -> tensor<128x64xf16, #smem_blocked>
  %c = nv_tileas.convert_layout %t : tensor<128x64xf16, #smem_blocked> -> tensor<128x64xf16, #smem_swizzled>
  %r = nv_tileas.wgmma %c, %w, %acc : tensor<128x128xf32>
  func.return %r : tensor<128x128xf32>
}

// CHECK-LABEL: func.func @output(%src: memref<128x64xf16>, %w: tensor<64x128xf16, #smem>, %acc: tensor<128x128xf32>) -> tensor<128x128xf32> {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %t = nv_tileas.tiled_load %src[%c0, %c0] {atom = #any} : memref<128x64xf16> -> tensor<128x64xf16, #smem_swizzled>
// CHECK-NEXT:    %r = nv_tileas.dot %t, %w, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #smem_swizzled>, tensor<64x128xf16, #smem>, tensor<128x128xf32> -> tensor<128x128xf32>
// CHECK-NEXT:    func.return %r : tensor<128x128xf32>
// CHECK-NEXT:  }

// PLAIN:      %t = nv_tileas.tiled_load %src[%c0, %c0] {atom = #nv_tileas<atom unknown_copy>} : memref<128x64xf16> -> tensor<128x64xf16, #nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>>
// PLAIN-NEXT: %r = nv_tileas.dot %t, %w, %acc

// The same layout, and a layout and back.

func.func @identity(%x: !a) -> !a {
  %0 = nv_tileas.convert_layout %x : !a -> !a
  func.return %0 : !a
}

// CHECK-LABEL: func.func @identity(%x: !a) -> !a {
// CHECK-NEXT:    func.return %x : !a
// CHECK-NEXT:  }

func.func @there_and_back(%x: !a) -> !a {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  %1 = nv_tileas.convert_layout %0 : !b -> !a
  func.return %1 : !a
}

// CHECK-LABEL: func.func @there_and_back(%x: !a) -> !a {
// CHECK-NEXT:    func.return %x : !a
// CHECK-NEXT:  }

// A conversion on the way to another memory, or from there.

func.func @on_the_way(%x: !a, %y: !swizzled) -> (!swizzled, !b) {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  %1 = nv_tileas.convert_layout %0 : !b -> !swizzled
  %2 = nv_tileas.convert_layout %y : !swizzled -> !a
  %3 = nv_tileas.convert_layout %2 : !a -> !b
  func.return %1, %3 : !swizzled, !b
}

// CHECK-LABEL: func.func @on_the_way(%x: !a, %y: !swizzled) -> (!swizzled, !b) {
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x : !a -> !swizzled
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %y : !swizzled -> !b
// CHECK-NEXT:    func.return %0, %1 : !swizzled, !b
// CHECK-NEXT:  }

// Not: through another memory and back, nor what is not laid out yet.

func.func @through_memory(%x: !a, %y: tensor<16x16xf32>) -> (!a, !b, !a) {
  %0 = nv_tileas.convert_layout %x : !a -> !swizzled
  %1 = nv_tileas.convert_layout %0 : !swizzled -> !a
  %2 = nv_tileas.convert_layout %0 : !swizzled -> !b
  %3 = nv_tileas.convert_layout %y : tensor<16x16xf32> -> !a
  func.return %1, %2, %3 : !a, !b, !a
}

// CHECK-LABEL: func.func @through_memory(%x: !a, %y: tensor<16x16xf32>) -> (!a, !b, !a) {
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x : !a -> !swizzled
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %0 : !swizzled -> !a
// CHECK-NEXT:    %2 = nv_tileas.convert_layout %0 : !swizzled -> !b
// CHECK-NEXT:    %3 = nv_tileas.convert_layout %y : tensor<16x16xf32> -> !a
// CHECK-NEXT:    func.return %1, %2, %3 : !a, !b, !a
// CHECK-NEXT:  }

// Not: what is computed in registers of two tiles of memory, and goes to memory, stays computed there.

func.func @computed(%x: !rows, %y: !rows) -> !rows {
  %0 = nv_tileas.convert_layout %x : !rows -> !b
  %1 = nv_tileas.convert_layout %y : !rows -> !b
  %2 = arith.addf %0, %1 : !b
  %3 = nv_tileas.convert_layout %2 : !b -> !rows
  func.return %3 : !rows
}

// CHECK-LABEL: func.func @computed(%x: !rows, %y: !rows) -> !rows {
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x : !rows -> !b
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %y : !rows -> !b
// CHECK-NEXT:    %2 = arith.addf %0, %1 : !b
// CHECK-NEXT:    %3 = nv_tileas.convert_layout %2 : !b -> !rows
// CHECK-NEXT:    func.return %3 : !rows
// CHECK-NEXT:  }

// Not: a conversion that another pass has planned with.

func.func @planned(%x: !a) -> (!a, !a) {
  %0 = nv_tileas.convert_layout %x {plancta.direction = "forward"} : !a -> !b
  %1 = nv_tileas.convert_layout %0 : !b -> !a
  %2 = nv_tileas.convert_layout %x {atom_plan} : !a -> !a
  func.return %1, %2 : !a, !a
}

// CHECK-LABEL: func.func @planned(%x: !a) -> (!a, !a) {
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x {plancta.direction = "forward"} : !a -> !b
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %0 : !b -> !a
// CHECK-NEXT:    %2 = nv_tileas.convert_layout %x {atom_plan} : !a -> !a
// CHECK-NEXT:    func.return %1, %2 : !a, !a
// CHECK-NEXT:  }

// A conversion that was made before, or that nothing uses.

func.func @twice(%x: !a) -> (!b, !b) {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  %1 = nv_tileas.convert_layout %x : !a -> !b
  %2 = nv_tileas.convert_layout %x : !a -> !b
  func.return %0, %2 : !b, !b
}

// CHECK-LABEL: func.func @twice(%x: !a) -> (!b, !b) {
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x : !a -> !b
// CHECK-NEXT:    func.return %0, %0 : !b, !b
// CHECK-NEXT:  }

// What is made of nothing is made in the other layout.

func.func @constants(%f: f32) -> (!b, !b, !b, !swizzled) {
  %0 = arith.constant dense<1.0> : !a
  %1 = tensor.splat %f : !a
  %2 = nv_tileas.generate : !a {
  ^bb0(%i: index, %j: index):
    nv_tileas.yield %f : f32
  }
  %3 = arith.constant dense<2.0> : !rows
  %4 = nv_tileas.convert_layout %0 : !a -> !b
  %5 = nv_tileas.convert_layout %1 : !a -> !b
  %6 = nv_tileas.convert_layout %2 : !a -> !b
  %7 = nv_tileas.convert_layout %3 : !rows -> !swizzled
  func.return %4, %5, %6, %7 : !b, !b, !b, !swizzled
}

// CHECK-LABEL: func.func @constants(%f: f32) -> (!b, !b, !b, !swizzled) {
// CHECK-NEXT:    %0 = arith.constant dense<2.000000e+00> : !swizzled
// CHECK-NEXT:    %1 = arith.constant dense<1.000000e+00> : !b
// CHECK-NEXT:    %2 = tensor.splat %f : !b
// CHECK-NEXT:    %3 = nv_tileas.generate : !b {
// CHECK-NEXT:    ^bb0(%i: index, %j: index):
// CHECK-NEXT:      nv_tileas.yield %f : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %1, %2, %3, %0 : !b, !b, !b, !swizzled
// CHECK-NEXT:  }

// Buffers, backwards.  Others see the tile through a view, if it is the same memory to them: its
// type left the layout open, or has the elements at the same addresses.

func.func @views(%m: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %0 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !open
  %1 = nv_tileas.convert_layout %0 : !open -> !swizzled
  "test.op"(%0, %1) : (!open, !swizzled) -> ()
  %2 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !rows
  %3 = nv_tileas.convert_layout %2 : !rows -> !same
  "test.op"(%2, %3) : (!rows, !same) -> ()
  func.return
}

// CHECK-LABEL: func.func @views(%m: memref<16x16xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !swizzled
// CHECK-NEXT:    %1 = nv_tileas.view %0 : !swizzled -> !open
// CHECK-NEXT:    "test.op"(%1, %0) : (!open, !swizzled) -> ()
// CHECK-NEXT:    %2 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !same
// CHECK-NEXT:    %3 = nv_tileas.view %2 : !same -> !rows
// CHECK-NEXT:    "test.op"(%3, %2) : (!rows, !same) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Not: a view moves nothing, so that a swizzled tile is never seen as one that is not.

func.func @no_view(%m: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %0 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !rows
  %1 = nv_tileas.convert_layout %0 : !rows -> !swizzled
  "test.op"(%0, %1) : (!rows, !swizzled) -> ()
  func.return
}

// CHECK-LABEL: func.func @no_view(%m: memref<16x16xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !rows
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %0 : !rows -> !swizzled
// CHECK-NEXT:    "test.op"(%0, %1) : (!rows, !swizzled) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Two layouts are asked for: the producer makes one of them.

func.func @two_layouts(%m: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %0 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !open
  %1 = nv_tileas.convert_layout %0 : !open -> !swizzled
  %2 = nv_tileas.convert_layout %0 : !open -> !rows
  "test.op"(%1, %2) : (!swizzled, !rows) -> ()
  func.return
}

// CHECK-LABEL: func.func @two_layouts(%m: memref<16x16xf32>) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !swizzled
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %0 : !swizzled -> !rows
// CHECK-NEXT:    "test.op"(%0, %1) : (!swizzled, !rows) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Not: a load whose layout was assigned, a load into registers, a load that a wait is behind, a
// buffer that is written before it is converted.

func.func @kept_buffers(%m: memref<16x16xf32>, %token: !nv_tileas.token, %x: !a) {
  %c0 = arith.constant 0 : index
  %0 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any, nv_tileas.layout = <(16,16),(16,1)>} : memref<16x16xf32> -> !rows
  %1 = nv_tileas.convert_layout %0 : !rows -> !swizzled
  %2 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !a
  %3 = nv_tileas.convert_layout %2 : !a -> !b
  %4 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !rows
  nv_tileas.async.wait %token : !nv_tileas.token
  %5 = nv_tileas.convert_layout %4 : !rows -> !swizzled
  %6 = nv_tileas.alloc_tensor : !rows
  nv_tileas.copy %x, %6 {atom = #any} : !a, !rows
  %7 = nv_tileas.convert_layout %6 : !rows -> !swizzled
  "test.op"(%1, %3, %5, %7) : (!swizzled, !b, !swizzled, !swizzled) -> ()
  func.return
}

// CHECK-LABEL: func.func @kept_buffers(%m: memref<16x16xf32>, %token: !nv_tileas.token, %x: !a) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = nv_tileas.tiled_load %m[%c0, %c0] {nv_tileas.layout = #nv_tileas.layout<(16,16),(16,1)>, atom = #any} : memref<16x16xf32> -> !rows
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %0 : !rows -> !swizzled
// CHECK-NEXT:    %2 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !a
// CHECK-NEXT:    %3 = nv_tileas.convert_layout %2 : !a -> !b
// CHECK-NEXT:    %4 = nv_tileas.tiled_load %m[%c0, %c0] {atom = #any} : memref<16x16xf32> -> !rows
// CHECK-NEXT:    nv_tileas.async.wait %token : !nv_tileas.token
// CHECK-NEXT:    %5 = nv_tileas.convert_layout %4 : !rows -> !swizzled
// CHECK-NEXT:    %6 = nv_tileas.alloc_tensor : !rows
// CHECK-NEXT:    nv_tileas.copy %x, %6 {atom = #any} : !a, !rows
// CHECK-NEXT:    %7 = nv_tileas.convert_layout %6 : !rows -> !swizzled
// CHECK-NEXT:    "test.op"(%1, %3, %5, %7) : (!swizzled, !b, !swizzled, !swizzled) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Not: a conversion to its own layout keeps what a buffer holds before it is overwritten.

func.func @snapshot(%x: !a, %y: !a) -> !rows {
  %0 = nv_tileas.alloc_tensor : !rows
  nv_tileas.copy %x, %0 {atom = #any} : !a, !rows
  %1 = nv_tileas.convert_layout %0 : !rows -> !rows
  nv_tileas.copy %y, %0 {atom = #any} : !a, !rows
  func.return %1 : !rows
}

// CHECK-LABEL: func.func @snapshot(%x: !a, %y: !a) -> !rows {
// CHECK-NEXT:    %0 = nv_tileas.alloc_tensor : !rows
// CHECK-NEXT:    nv_tileas.copy %x, %0 {atom = #any} : !a, !rows
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %0 : !rows -> !rows
// CHECK-NEXT:    nv_tileas.copy %y, %0 {atom = #any} : !a, !rows
// CHECK-NEXT:    func.return %1 : !rows
// CHECK-NEXT:  }

func.func @snapshot_of_a_new_buffer(%x: !a) -> !swizzled {
  %0 = nv_tileas.alloc_tensor : !open
  %1 = nv_tileas.convert_layout %0 : !open -> !swizzled
  nv_tileas.copy %x, %0 {atom = #any} : !a, !open
  func.return %1 : !swizzled
}

// CHECK-LABEL: func.func @snapshot_of_a_new_buffer(%x: !a) -> !swizzled {
// CHECK-NEXT:    %0 = nv_tileas.alloc_tensor : !open
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %0 : !open -> !swizzled
// CHECK-NEXT:    nv_tileas.copy %x, %0 {atom = #any} : !a, !open
// CHECK-NEXT:    func.return %1 : !swizzled
// CHECK-NEXT:  }

// Tensor memory is a buffer too.

func.func @tensor_memory() {
  %0 = nv_tileas.alloc_tensor : !lanes
  %1 = nv_tileas.convert_layout %0 : !lanes -> !pairs
  "test.op"(%1) : (!pairs) -> ()
  func.return
}

// CHECK-LABEL: func.func @tensor_memory() {
// CHECK-NEXT:    %0 = nv_tileas.alloc_tensor : !pairs
// CHECK-NEXT:    "test.op"(%0) : (!pairs) -> ()
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Registers, forwards: what computes element by element does so in the layout before the conversion,
// or in the layout behind it, whichever saves one.

func.func @before_the_conversion(%x: !a, %y: f32) -> !a {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  %1 = tensor.splat %y : !b
  %2 = arith.addf %0, %1 : !b
  %3 = math.exp %2 : !b
  %4 = nv_tileas.convert_layout %3 : !b -> !a
  func.return %4 : !a
}

// CHECK-LABEL: func.func @before_the_conversion(%x: !a, %y: f32) -> !a {
// CHECK-NEXT:    %0 = tensor.splat %y : !a
// CHECK-NEXT:    %1 = arith.addf %x, %0 : !a
// CHECK-NEXT:    %2 = math.exp %1 : !a
// CHECK-NEXT:    func.return %2 : !a
// CHECK-NEXT:  }

func.func @behind_the_conversion(%x: !a) -> (!b, !b) {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  %1 = arith.mulf %x, %x : !a
  %2 = nv_tileas.convert_layout %1 : !a -> !b
  func.return %0, %2 : !b, !b
}

// CHECK-LABEL: func.func @behind_the_conversion(%x: !a) -> (!b, !b) {
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x : !a -> !b
// CHECK-NEXT:    %1 = arith.mulf %0, %0 : !b
// CHECK-NEXT:    func.return %0, %1 : !b, !b
// CHECK-NEXT:  }

func.func @both_operands(%x: !a, %y: !a) -> !b {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  %1 = nv_tileas.convert_layout %y : !a -> !b
  %2 = arith.addf %0, %1 : !b
  func.return %2 : !b
}

// CHECK-LABEL: func.func @both_operands(%x: !a, %y: !a) -> !b {
// CHECK-NEXT:    %0 = arith.addf %x, %y : !a
// CHECK-NEXT:    %1 = nv_tileas.convert_layout %0 : !a -> !b
// CHECK-NEXT:    func.return %1 : !b
// CHECK-NEXT:  }

// Other element types have the same layout.

func.func @types(%x: !a, %y: !a, %p: i1) -> tensor<16x16xf16, #a> {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  %1 = nv_tileas.convert_layout %y : !a -> !b
  %3 = arith.select %p, %0, %1 : !b
  %4 = arith.truncf %3 : !b to tensor<16x16xf16, #b>
  %5 = nv_tileas.convert_layout %4 : tensor<16x16xf16, #b> -> tensor<16x16xf16, #a>
  func.return %5 : tensor<16x16xf16, #a>
}

// CHECK-LABEL: func.func @types(%x: !a, %y: !a, %p: i1) -> tensor<16x16xf16, #a> {
// CHECK-NEXT:    %0 = arith.select %p, %x, %y : !a
// CHECK-NEXT:    %1 = arith.truncf %0 : !a to tensor<16x16xf16, #a>
// CHECK-NEXT:    func.return %1 : tensor<16x16xf16, #a>
// CHECK-NEXT:  }

// A new dimension takes the layout along.

func.func @dimension(%x: !a) -> !a1 {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  %1 = nv_tileas.expand_dims %0 {axis = 0 : i32} : !b -> !b1
  %2 = nv_tileas.convert_layout %1 : !b1 -> !a1
  func.return %2 : !a1
}

// CHECK-LABEL: func.func @dimension(%x: !a) -> !a1 {
// CHECK-NEXT:    %0 = nv_tileas.expand_dims %x {axis = 0 : i32} : !a -> !a1
// CHECK-NEXT:    func.return %0 : !a1
// CHECK-NEXT:  }

// Not: products, stores, reductions and shuffles fix their layouts, and as many conversions would
// be left.

func.func @fixed(%x: !a, %m: memref<16x16xf32>) -> !b {
  %c0 = arith.constant 0 : index
  %0 = nv_tileas.convert_layout %x : !a -> !b
  %1 = math.exp %0 : !b
  nv_tileas.tiled_store %1, %m[%c0, %c0] {atom = #any} : !b, memref<16x16xf32>
  %2 = nv_tileas.shuffle %1 : !b -> !a
  %3 = nv_tileas.convert_layout %2 : !a -> !b
  func.return %3 : !b
}

// CHECK-LABEL: func.func @fixed(%x: !a, %m: memref<16x16xf32>) -> !b {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x : !a -> !b
// CHECK-NEXT:    %1 = math.exp %0 : !b
// CHECK-NEXT:    nv_tileas.tiled_store %1, %m[%c0, %c0] {atom = #any} : !b, memref<16x16xf32>
// CHECK-NEXT:    %2 = nv_tileas.shuffle %1 : !b -> !a
// CHECK-NEXT:    %3 = nv_tileas.convert_layout %2 : !a -> !b
// CHECK-NEXT:    func.return %3 : !b
// CHECK-NEXT:  }

// Not: an operation that orders memory is between the conversion and what would take its tile.

func.func @ordered(%x: !a, %token: !nv_tileas.token) -> (!a, !a, !a) {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  nv_tileas.async.wait %token : !nv_tileas.token
  %1 = math.exp %0 : !b
  %2 = nv_tileas.convert_layout %1 : !b -> !a
  %3 = nv_tileas.convert_layout %x : !a -> !b
  %4 = math.sin %3 : !b
  "test.op"() : () -> ()
  %5 = nv_tileas.convert_layout %4 : !b -> !a
  %6 = nv_tileas.convert_layout %x : !a -> !b
  nv_tileas.fence release gpu
  %7 = math.cos %6 : !b
  %8 = nv_tileas.convert_layout %7 : !b -> !a
  func.return %2, %5, %8 : !a, !a, !a
}

// CHECK-LABEL: func.func @ordered(%x: !a, %token: !nv_tileas.token) -> (!a, !a, !a) {
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x : !a -> !b
// CHECK-NEXT:    nv_tileas.async.wait %token : !nv_tileas.token
// CHECK-NEXT:    %1 = math.exp %0 : !b
// CHECK-NEXT:    %2 = nv_tileas.convert_layout %1 : !b -> !a
// CHECK-NEXT:    %3 = nv_tileas.convert_layout %x : !a -> !b
// CHECK-NEXT:    %4 = math.sin %3 : !b
// CHECK-NEXT:    "test.op"() : () -> ()
// CHECK-NEXT:    %5 = nv_tileas.convert_layout %4 : !b -> !a
// CHECK-NEXT:    %6 = nv_tileas.convert_layout %x : !a -> !b
// CHECK-NEXT:    nv_tileas.fence release gpu
// CHECK-NEXT:    %7 = math.cos %6 : !b
// CHECK-NEXT:    %8 = nv_tileas.convert_layout %7 : !b -> !a
// CHECK-NEXT:    func.return %2, %5, %8 : !a, !a, !a
// CHECK-NEXT:  }

// Branches: the arms get one layout, and the conversion is past the merge point.

func.func @arms(%p: i1, %x: !a, %y: !a) -> !b {
  %0 = scf.if %p -> (!b) {
    %1 = nv_tileas.convert_layout %x : !a -> !b
    scf.yield %1 : !b
  } else {
    %2 = math.exp %y : !a
    %3 = nv_tileas.convert_layout %2 : !a -> !b
    scf.yield %3 : !b
  }
  func.return %0 : !b
}

// CHECK-LABEL: func.func @arms(%p: i1, %x: !a, %y: !a) -> !b {
// CHECK-NEXT:    %0 = scf.if %p -> (!a) {
// CHECK-NEXT:      scf.yield %x : !a
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %1 = math.exp %y : !a
// CHECK-NEXT:      scf.yield %1 : !a
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = nv_tileas.convert_layout %0 : !a -> !b
// CHECK-NEXT:    func.return %2 : !b
// CHECK-NEXT:  }

func.func @into_the_arms(%p: i1, %x: !b, %y: !a) -> !a {
  %0 = scf.if %p -> (!b) {
    %1 = arith.constant dense<0.0> : !b
    scf.yield %1 : !b
  } else {
    %3 = nv_tileas.convert_layout %y : !a -> !b
    scf.yield %3 : !b
  }
  %4 = nv_tileas.convert_layout %0 : !b -> !a
  func.return %4 : !a
}

// CHECK-LABEL: func.func @into_the_arms(%p: i1, %x: !b, %y: !a) -> !a {
// CHECK-NEXT:    %0 = scf.if %p -> (!a) {
// CHECK-NEXT:      %1 = arith.constant dense<0.000000e+00> : !a
// CHECK-NEXT:      scf.yield %1 : !a
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %y : !a
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : !a
// CHECK-NEXT:  }

// Not: one arm has the layout that is asked for.

func.func @one_arm(%p: i1, %x: !b, %y: !a) -> !b {
  %0 = scf.if %p -> (!b) {
    scf.yield %x : !b
  } else {
    %1 = nv_tileas.convert_layout %y : !a -> !b
    scf.yield %1 : !b
  }
  func.return %0 : !b
}

// CHECK-LABEL: func.func @one_arm(%p: i1, %x: !b, %y: !a) -> !b {
// CHECK-NEXT:    %0 = scf.if %p -> (!b) {
// CHECK-NEXT:      scf.yield %x : !b
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %1 = nv_tileas.convert_layout %y : !a -> !b
// CHECK-NEXT:      scf.yield %1 : !b
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : !b
// CHECK-NEXT:  }

// Loops: what is carried has the layout that the body computes in, and conversions are around the
// loop.

func.func @carried(%n: index, %u: tensor<16x16xf16, #smem>, %first: !b) -> !b {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first) -> (!b) {
    %0 = nv_tileas.convert_layout %sum : !b -> !a
    %1 = nv_tileas.wgmma %u, %u, %0 : !a
    %2 = nv_tileas.convert_layout %1 : !a -> !b
    scf.yield %2 : !b
  }
  func.return %r : !b
}

// CHECK-LABEL: func.func @carried(%n: index, %u: tensor<16x16xf16, #smem>, %first: !b) -> !b {
// CHECK-NEXT:    %first_1 = nv_tileas.convert_layout %first : !b -> !a
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first_1) -> (!a) {
// CHECK-NEXT:      %0 = nv_tileas.dot %u, %u, %sum {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<16x16xf16, #smem>, tensor<16x16xf16, #smem>, !a -> !a
// CHECK-NEXT:      scf.yield %0 : !a
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1 = nv_tileas.convert_layout %r : !a -> !b
// CHECK-NEXT:    func.return %r_1 : !b
// CHECK-NEXT:  }

func.func @carried_from_a_constant(%n: index, %u: tensor<16x16xf16, #smem>) -> !b {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : !b
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %nothing) -> (!b) {
    %0 = nv_tileas.convert_layout %sum : !b -> !a
    %1 = nv_tileas.wgmma %u, %u, %0 : !a
    %2 = nv_tileas.convert_layout %1 : !a -> !b
    %3 = arith.addf %2, %2 : !b
    scf.yield %3 : !b
  }
  func.return %r : !b
}

// CHECK-LABEL: func.func @carried_from_a_constant(%n: index, %u: tensor<16x16xf16, #smem>) -> !b {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %nothing = arith.constant dense<0.000000e+00> : !a
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %nothing) -> (!a) {
// CHECK-NEXT:      %0 = nv_tileas.dot %u, %u, %sum {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<16x16xf16, #smem>, tensor<16x16xf16, #smem>, !a -> !a
// CHECK-NEXT:      %1 = arith.addf %0, %0 : !a
// CHECK-NEXT:      scf.yield %1 : !a
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1 = nv_tileas.convert_layout %r : !a -> !b
// CHECK-NEXT:    func.return %r_1 : !b
// CHECK-NEXT:  }

func.func @carried_while(%n: i32, %x: !a, %first: !b) -> !b {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %k, %r = scf.while (%i = %c0, %sum = %first) : (i32, !b) -> (i32, !b) {
    %p = arith.cmpi slt, %i, %n : i32
    %0 = nv_tileas.convert_layout %sum : !b -> !a
    %1 = arith.addf %0, %x : !a
    %2 = nv_tileas.convert_layout %1 : !a -> !b
    scf.condition(%p) %i, %2 : i32, !b
  } do {
  ^bb0(%i: i32, %sum: !b):
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %sum : i32, !b
  }
  func.return %r : !b
}

// CHECK-LABEL: func.func @carried_while(%n: i32, %x: !a, %first: !b) -> !b {
// CHECK-NEXT:    %x_1 = nv_tileas.convert_layout %x : !a -> !b
// CHECK-NEXT:    %c0 = arith.constant 0 : i32
// CHECK-NEXT:    %c1 = arith.constant 1 : i32
// CHECK-NEXT:    %k, %r = scf.while (%i = %c0, %sum = %first) : (i32, !b) -> (i32, !b) {
// CHECK-NEXT:      %p = arith.cmpi slt, %i, %n : i32
// CHECK-NEXT:      %0 = arith.addf %sum, %x_1 : !b
// CHECK-NEXT:      scf.condition(%p) %i, %0 : i32, !b
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%i_1: i32, %sum_1: !b):
// CHECK-NEXT:      %j = arith.addi %i_1, %c1 : i32
// CHECK-NEXT:      scf.yield %j, %sum_1 : i32, !b
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : !b
// CHECK-NEXT:  }

// Not: the body and what is behind the loop agree.

func.func @agreed(%n: index, %m: memref<16x16xf32>, %first: !a) -> !b {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = nv_tileas.convert_layout %first : !a -> !b
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %0) -> (!b) {
    %1 = nv_tileas.tiled_load %m[%i, %c0] {atom = #any} : memref<16x16xf32> -> !b
    %2 = arith.addf %1, %sum : !b
    scf.yield %2 : !b
  }
  func.return %r : !b
}

// CHECK-LABEL: func.func @agreed(%n: index, %m: memref<16x16xf32>, %first: !a) -> !b {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %first : !a -> !b
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %0) -> (!b) {
// CHECK-NEXT:      %1 = nv_tileas.tiled_load %m[%i, %c0] {atom = #any} : memref<16x16xf32> -> !b
// CHECK-NEXT:      %2 = arith.addf %1, %sum : !b
// CHECK-NEXT:      scf.yield %2 : !b
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %r : !b
// CHECK-NEXT:  }

// A pragma forwards what its body yields.

func.func @pragma(%x: !a) -> !a {
  %0 = nv_tileas.pragma {ocgEnterDirectives = "x", ocgLeaveDirectives = "y"} -> !b {
    %1 = nv_tileas.convert_layout %x : !a -> !b
    nv_tileas.yield %1 : !b
  }
  %2 = nv_tileas.convert_layout %0 : !b -> !a
  func.return %2 : !a
}

// CHECK-LABEL: func.func @pragma(%x: !a) -> !a {
// CHECK-NEXT:    %0 = nv_tileas.pragma {ocgEnterDirectives = "x", ocgLeaveDirectives = "y"} -> !a {
// CHECK-NEXT:      nv_tileas.yield %x : !a
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : !a
// CHECK-NEXT:  }

// A pair of them around an operation keeps nothing apart.

func.func @pragmas(%x: !a) -> !a {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  nv_tileas.pragma {ocgEnterDirectives = "x"}
  %1 = math.exp %0 : !b
  nv_tileas.pragma {ocgLeaveDirectives = "x"}
  %2 = nv_tileas.convert_layout %1 : !b -> !a
  func.return %2 : !a
}

// CHECK-LABEL: func.func @pragmas(%x: !a) -> !a {
// CHECK-NEXT:    nv_tileas.pragma {ocgEnterDirectives = "x"}
// CHECK-NEXT:    %0 = math.exp %x : !a
// CHECK-NEXT:    nv_tileas.pragma {ocgLeaveDirectives = "x"}
// CHECK-NEXT:    func.return %0 : !a
// CHECK-NEXT:  }

// The consumer of a single-stage pipeline forwards what its body yields, too.

func.func @one_stage(%x: !a) -> !a {
  %buffer = nv_tileas.alloc_tensor : tensor<1x256xf32, #smem>
  %slots = nv_tileas.view %buffer : tensor<1x256xf32, #smem> -> !nv_tileas.tiled_view<1x256xf32, smem>
  %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<1x256xf32, smem> -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %c : !cons -> !nv_tileas.async.pipeline.iterator<tensor<256xf32>, 1>
  %t, %0 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<256xf32>]} : (!cons, !nv_tileas.async.pipeline.iterator<tensor<256xf32>, 1>) -> (!cons, !b) {
  ^bb0(%s: tensor<256xf32>):
    %1 = nv_tileas.convert_layout %x : !a -> !b
    nv_tileas.async.pipeline.yield %1 : !b
  }
  %2 = nv_tileas.convert_layout %0 : !b -> !a
  func.return %2 : !a
}

// CHECK-LABEL: func.func @one_stage(%x: !a) -> !a {
// CHECK-NEXT:    %buffer = nv_tileas.alloc_tensor : tensor<1x256xf32, #smem>
// CHECK-NEXT:    %slots = nv_tileas.view %buffer : tensor<1x256xf32, #smem> -> !nv_tileas.tiled_view<1x256xf32, smem>
// CHECK-NEXT:    %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<1x256xf32, smem> -> !prod, !cons
// CHECK-NEXT:    %i = nv_tileas.async.pipeline.create_iterator %c : !cons -> !nv_tileas.async.pipeline.iterator<tensor<256xf32>, 1>
// CHECK-NEXT:    %t, %0 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<256xf32>]} : (!cons, !nv_tileas.async.pipeline.iterator<tensor<256xf32>, 1>) -> (!cons, !a) {
// CHECK-NEXT:    ^bb0(%s: tensor<256xf32>):
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %x : !a
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %0 : !a
// CHECK-NEXT:  }

// Not: the consumer of a pipeline with work in flight, from which no conversion moves out.

func.func @three_stages(%x: !a) -> !a {
  %buffer = nv_tileas.alloc_tensor : tensor<3x256xf32, #smem>
  %slots = nv_tileas.view %buffer : tensor<3x256xf32, #smem> -> !nv_tileas.tiled_view<3x256xf32, smem>
  %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 3 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<3x256xf32, smem> -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %c : !cons -> !nv_tileas.async.pipeline.iterator<tensor<256xf32>, 3>
  %t, %0 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<256xf32>]} : (!cons, !nv_tileas.async.pipeline.iterator<tensor<256xf32>, 3>) -> (!cons, !b) {
  ^bb0(%s: tensor<256xf32>):
    %1 = nv_tileas.convert_layout %x : !a -> !b
    nv_tileas.async.pipeline.yield %1 : !b
  }
  %2 = nv_tileas.convert_layout %0 : !b -> !a
  func.return %2 : !a
}

// CHECK-LABEL: func.func @three_stages(%x: !a) -> !a {
// CHECK-NEXT:    %buffer = nv_tileas.alloc_tensor : tensor<3x256xf32, #smem>
// CHECK-NEXT:    %slots = nv_tileas.view %buffer : tensor<3x256xf32, #smem> -> !nv_tileas.tiled_view<3x256xf32, smem>
// CHECK-NEXT:    %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 3 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<3x256xf32, smem> -> !prod, !cons
// CHECK-NEXT:    %i = nv_tileas.async.pipeline.create_iterator %c : !cons -> !nv_tileas.async.pipeline.iterator<tensor<256xf32>, 3>
// CHECK-NEXT:    %t, %0 = nv_tileas.async.pipeline.consume_one %c, %i {consumer_idx = 0 : i32, consumer_types = [tensor<256xf32>]} : (!cons, !nv_tileas.async.pipeline.iterator<tensor<256xf32>, 3>) -> (!cons, !b) {
// CHECK-NEXT:    ^bb0(%s: tensor<256xf32>):
// CHECK-NEXT:      %1 = nv_tileas.convert_layout %x : !a -> !b
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %1 : !b
// CHECK-NEXT:    }
// CHECK-NEXT:    %2 = nv_tileas.convert_layout %0 : !b -> !a
// CHECK-NEXT:    func.return %2 : !a
// CHECK-NEXT:  }

// Not: an agent has registers of its own, and blocks of a graph hand over what they like.

func.func @elsewhere(%x: !a, %p: i1) -> !a {
  %0 = nv_tileas.convert_layout %x : !a -> !b
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 40>, isolated = false} agent 0 {
    %1 = math.exp %0 : !b
    %2 = nv_tileas.convert_layout %1 : !b -> !a
    "test.op"(%2) : (!a) -> ()
  }, agent 1 {
  }
  cf.cond_br %p, ^bb1(%0 : !b), ^bb2(%0 : !b)
^bb1(%3: !b):
  cf.br ^bb2(%3 : !b)
^bb2(%4: !b):
  %5 = nv_tileas.convert_layout %4 : !b -> !a
  func.return %5 : !a
}

// CHECK-LABEL: func.func @elsewhere(%x: !a, %p: i1) -> !a {
// CHECK-NEXT:    %0 = nv_tileas.convert_layout %x : !a -> !b
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 40>, isolated = false} agent 0 {
// CHECK-NEXT:      %1 = math.exp %0 : !b
// CHECK-NEXT:      %2 = nv_tileas.convert_layout %1 : !b -> !a
// CHECK-NEXT:      "test.op"(%2) : (!a) -> ()
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:    }
// CHECK-NEXT:    cf.cond_br %p, ^bb1(%0 : !b), ^bb2(%0 : !b)
// CHECK-NEXT:  ^bb1(%3: !b):
// CHECK-NEXT:    cf.br ^bb2(%3 : !b)
// CHECK-NEXT:  ^bb2(%4: !b):
// CHECK-NEXT:    %5 = nv_tileas.convert_layout %4 : !b -> !a
// CHECK-NEXT:    func.return %5 : !a
// CHECK-NEXT:  }

// Unregistered operations, dynamic extents.

func.func private @declaration(!a) -> !a

func.func @unknown(%x: tensor<?x16xf32, #smem>) -> tensor<?x16xf32, #rows> {
  %0 = "test.op"() : () -> !a
  %1 = "test.op"() ({
    %2 = nv_tileas.convert_layout %0 : !a -> !b
    "test.termop"(%2) : (!b) -> ()
  }) : () -> !b
  %3 = nv_tileas.convert_layout %x : tensor<?x16xf32, #smem> -> tensor<?x16xf32, #rows>
  func.return %3 : tensor<?x16xf32, #rows>
}

// CHECK-LABEL: func.func @unknown(%x: tensor<?x16xf32, #smem>) -> tensor<?x16xf32, #rows> {
// CHECK-NEXT:    %0 = "test.op"() : () -> !a
// CHECK-NEXT:    %1 = "test.op"() ({
// CHECK-NEXT:      %2 = nv_tileas.convert_layout %0 : !a -> !b
// CHECK-NEXT:      "test.termop"(%2) : (!b) -> ()
// CHECK-NEXT:    }) : () -> !b
// CHECK-NEXT:    %3 = nv_tileas.convert_layout %x : tensor<?x16xf32, #smem> -> tensor<?x16xf32, #rows>
// CHECK-NEXT:    func.return %3 : tensor<?x16xf32, #rows>
// CHECK-NEXT:  }

// A stage that threads alone read has no layout of its own: what moves its tile into registers stays,
// for the stage is released before the tile is used.

func.func @read_stage() -> tensor<64x64xf16> {
  %memory = nv_tileas.alloc_tensor : tensor<2x4096xf16, #nv_tileas<space smem>>
  %slots = nv_tileas.view %memory : tensor<2x4096xf16, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<2x4096xf16, smem>
  %fill, %empty = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x4096xf16, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
  %at = nv_tileas.async.pipeline.create_iterator %empty : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.iterator<tensor<64x64xf16>, 2, smem>
  %token = nv_tileas.async.pipeline.consumer_wait %empty, %at {consumer_idx = 0 : i32} : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<64x64xf16>, 2, smem> -> !nv_tileas.async.pipeline.consumer_token
  %read, %tile = nv_tileas.async.pipeline.consumer_read %token, %at {consumer_idx = 0 : i32} : !nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<64x64xf16>, 2, smem> -> !nv_tileas.async.pipeline.consumer_token, tensor<64x64xf16> {
  ^bb0(%stage: tensor<64x64xf16>):
    %registers = nv_tileas.convert_layout %stage : tensor<64x64xf16> -> tensor<64x64xf16>
    nv_tileas.async.pipeline.yield %registers : tensor<64x64xf16>
  }
  %free = nv_tileas.async.pipeline.consumer_release %read : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.consumer_token
  func.return %tile : tensor<64x64xf16>
}

// CHECK-LABEL: func.func @read_stage
// CHECK:         %registers = nv_tileas.convert_layout %stage
// CHECK-NEXT:    nv_tileas.async.pipeline.yield %registers
