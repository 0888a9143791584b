// What `tileas-assign-load-store-layouts` writes: encodings of tiles, layouts and atoms of accesses.

// RUN: tileas-opt %s -p tileas-assign-load-store-layouts | filecheck %s
// RUN: tileas-opt %s -p tileas-assign-load-store-layouts,tileas-assign-load-store-layouts | filecheck %s
// RUN: xdsl-opt %s -p tileas-assign-load-store-layouts,verify-dominance -o /dev/null

#open = #nv_tileas<atom unknown_copy>
!smem = memref<128x64xf16, #nv_tileas<space smem>>

// 1. A line: four warps, as many adjacent elements for each thread as an access takes.

func.func @line(%x: memref<1024xf16>, %y: memref<1024xf16>) {
  %zero = arith.constant 0 : index
  %a = nv_tileas.tiled_load %x[%zero] {atom = #open, in_bounds = array<i1: true>} : memref<1024xf16> -> tensor<1024xf16>
  nv_tileas.tiled_store %a, %y[%zero] {atom = #open, in_bounds = array<i1: true>} : tensor<1024xf16>, memref<1024xf16>
  func.return
}

// CHECK-LABEL: func.func @line(%x: memref<1024xf16>, %y: memref<1024xf16>) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %a = nv_tileas.tiled_load %x[%zero] {nv_tileas.layout = #nv_tileas.layout<(1024),(1)>, atom = #nv_tileas<atom ldg>, in_bounds = array<i1: true>} : memref<1024xf16> -> tensor<1024xf16, #nv_tileas.blocked<"((8,128)):((1@value,1@thread))">>
// CHECK-NEXT:    nv_tileas.tiled_store %a, %y[%zero] {nv_tileas.layout = #nv_tileas.layout<(1024),(1)>, atom = #nv_tileas<atom stg>, in_bounds = array<i1: true>} : tensor<1024xf16, #nv_tileas.blocked<"((8,128)):((1@value,1@thread))">>, memref<1024xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 2. Rows: a warp for each, or several warps for one.  A tile of values for each row is laid out so
// that a reduction leaves them where they are.

func.func @rows(%x: !nv_tileas.tiled_view<16x256xf32, gmem>, %y: !nv_tileas.tiled_view<16xf32, gmem>) {
  %zero = arith.constant 0 : index
  %a = nv_tileas.tiled_load %x[%zero, %zero] {atom = #open} : !nv_tileas.tiled_view<16x256xf32, gmem> -> tensor<16x256xf32>
  %s = nv_tileas.reduce %a {axis = 1 : i32} : tensor<16x256xf32> -> tensor<16xf32> {
  ^bb0(%l: f32, %r: f32):
    %m = arith.addf %l, %r : f32
    nv_tileas.yield %m : f32
  }
  nv_tileas.tiled_store %s, %y[%zero] {atom = #open} : tensor<16xf32>, !nv_tileas.tiled_view<16xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @rows(%x: !nv_tileas.tiled_view<16x256xf32, gmem>, %y: !nv_tileas.tiled_view<16xf32, gmem>) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %a = nv_tileas.tiled_load %x[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(16,256),(256,1)>, atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<16x256xf32, gmem> -> tensor<16x256xf32, #nv_tileas.blocked<"((4,4),(4,32,2)):((32@thread,8@value),(1@value,1@thread,4@value))">>
// CHECK-NEXT:    %s = nv_tileas.reduce %a {axis = 1 : i32} : tensor<16x256xf32, #nv_tileas.blocked<"((4,4),(4,32,2)):((32@thread,8@value),(1@value,1@thread,4@value))">> -> tensor<16xf32, #nv_tileas.linear<"((4,4),32):((32@thread,1@value),1@thread)">> {
// CHECK-NEXT:    ^bb0(%l: f32, %r: f32):
// CHECK-NEXT:      %m = arith.addf %l, %r : f32
// CHECK-NEXT:      nv_tileas.yield %m : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    nv_tileas.tiled_store %s, %y[%zero] {nv_tileas.layout = #nv_tileas.layout<(16),(1)>, atom = #nv_tileas<atom stg>} : tensor<16xf32, #nv_tileas.linear<"((4,4),32):((32@thread,1@value),1@thread)">>, !nv_tileas.tiled_view<16xf32, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 3. Rows that are known to begin at multiples of 4 bytes are accessed by 4 bytes.

func.func @narrow(%x: memref<100x258xf16>, %y: memref<100x258xf16>) {
  %zero = arith.constant 0 : index
  %of_x = nv_tileas.view %x : memref<100x258xf16> -> !nv_tileas.tiled_view<4x256xf16, gmem>
  %of_y = nv_tileas.view %y : memref<100x258xf16> -> !nv_tileas.tiled_view<4x256xf16, gmem>
  %a = nv_tileas.tiled_load %of_x[%zero, %zero] {atom = #open} : !nv_tileas.tiled_view<4x256xf16, gmem> -> tensor<4x256xf16>
  nv_tileas.tiled_store %a, %of_y[%zero, %zero] {atom = #open} : tensor<4x256xf16>, !nv_tileas.tiled_view<4x256xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @narrow(%x: memref<100x258xf16>, %y: memref<100x258xf16>) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %of_x = nv_tileas.view %x : memref<100x258xf16> -> !nv_tileas.tiled_view<4x256xf16, gmem>
// CHECK-NEXT:    %of_y = nv_tileas.view %y : memref<100x258xf16> -> !nv_tileas.tiled_view<4x256xf16, gmem>
// CHECK-NEXT:    %a = nv_tileas.tiled_load %of_x[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(4,256),(256,1)>, atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<4x256xf16, gmem> -> tensor<4x256xf16, #nv_tileas.blocked<"(4,(2,32,4)):(32@thread,(1@value,1@thread,2@value))">>
// CHECK-NEXT:    nv_tileas.tiled_store %a, %of_y[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(4,256),(256,1)>, atom = #nv_tileas<atom stg>} : tensor<4x256xf16, #nv_tileas.blocked<"(4,(2,32,4)):(32@thread,(1@value,1@thread,2@value))">>, !nv_tileas.tiled_view<4x256xf16, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 4. What is computed element by element has one layout, loops and branches included; constants are
// made anew in it.  Stores decide: a piece of 8 wide elements is two stores, of half of each sector.

func.func @elements(%x: !nv_tileas.tiled_view<8x512xf16, gmem>, %y: !nv_tileas.tiled_view<8x512xf32, gmem>, %n: index, %c: i1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<8x512xf32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%before = %none) -> (tensor<8x512xf32>) {
    %a = nv_tileas.tiled_load %x[%i, %zero] {atom = #open} : !nv_tileas.tiled_view<8x512xf16, gmem> -> tensor<8x512xf16>
    %b = arith.extf %a : tensor<8x512xf16> to tensor<8x512xf32>
    %d = scf.if %c -> (tensor<8x512xf32>) {
      %e = arith.addf %b, %before : tensor<8x512xf32>
      scf.yield %e : tensor<8x512xf32>
    } else {
      scf.yield %none : tensor<8x512xf32>
    }
    scf.yield %d : tensor<8x512xf32>
  }
  nv_tileas.tiled_store %sum, %y[%zero, %zero] {atom = #open} : tensor<8x512xf32>, !nv_tileas.tiled_view<8x512xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @elements(%x: !nv_tileas.tiled_view<8x512xf16, gmem>, %y: !nv_tileas.tiled_view<8x512xf32, gmem>, %n: index, %c: i1) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %one = arith.constant 1 : index
// CHECK-NEXT:    %none = arith.constant dense<0.000000e+00> : tensor<8x512xf32, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">>
// CHECK-NEXT:    %sum = scf.for %i = %zero to %n step %one iter_args(%before = %none) -> (tensor<8x512xf32, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">>) {
// CHECK-NEXT:      %a = nv_tileas.tiled_load %x[%i, %zero] {nv_tileas.layout = #nv_tileas.layout<(8,512),(512,1)>, atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<8x512xf16, gmem> -> tensor<8x512xf16, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">>
// CHECK-NEXT:      %b = arith.extf %a : tensor<8x512xf16, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">> to tensor<8x512xf32, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">>
// CHECK-NEXT:      %d = scf.if %c -> (tensor<8x512xf32, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">>) {
// CHECK-NEXT:        %e = arith.addf %b, %before : tensor<8x512xf32, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">>
// CHECK-NEXT:        scf.yield %e : tensor<8x512xf32, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">>
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %none : tensor<8x512xf32, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">>
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %d : tensor<8x512xf32, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">>
// CHECK-NEXT:    }
// CHECK-NEXT:    nv_tileas.tiled_store %sum, %y[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(8,512),(512,1)>, atom = #nv_tileas<atom stg>} : tensor<8x512xf32, #nv_tileas.blocked<"((4,2),(4,32,4)):((32@thread,16@value),(1@value,1@thread,4@value))">>, !nv_tileas.tiled_view<8x512xf32, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 5. Worked Example: Load of tensor<128x64xf16> from SMEM.  Nobody binds the tile to registers: it is
// cheapest where it is, and only the layout of the memory is written.

func.func @worked_example(%src: !smem) {
  %zero = arith.constant 0 : index
  %a = nv_tileas.tiled_load %src[%zero, %zero] {atom = #open} : !smem -> tensor<128x64xf16>
  func.return
}

// CHECK-LABEL: func.func @worked_example(%src: !smem) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %a = nv_tileas.tiled_load %src[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(128,64),(64,1),swizzle<3,4,3>>, atom = #open} : !smem -> tensor<128x64xf16>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 5, bound to registers: ldmatrix loads the operand, and the conversion is left to the next pass.
// Input / Output Shape of the assignment.

#dot_a = #nv_tileas.dot_operand<"((8,2,4),(2,4,8)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">

func.func @input_output_shape(%src: memref<64x64xf16, #nv_tileas<space smem>>, %other: memref<64x128xf16, #nv_tileas<space smem>>, %out: !nv_tileas.tiled_view<64x128xf32, gmem>) {
  %zero = arith.constant 0 : index
  %acc = arith.constant dense<0.0> : tensor<64x128xf32>
  %w = nv_tileas.view %other : memref<64x128xf16, #nv_tileas<space smem>> -> tensor<64x128xf16, #nv_tileas<space smem>>
  %a = nv_tileas.tiled_load %src[%zero, %zero] {atom = #open} : memref<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16>
  %b = nv_tileas.convert_layout %a : tensor<64x64xf16> -> tensor<64x64xf16, #dot_a>
  %r = nv_tileas.dot %b, %w, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #dot_a>, tensor<64x128xf16, #nv_tileas<space smem>>, tensor<64x128xf32> -> tensor<64x128xf32>
  nv_tileas.tiled_store %r, %out[%zero, %zero] {atom = #open} : tensor<64x128xf32>, !nv_tileas.tiled_view<64x128xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @input_output_shape(%src: memref<64x64xf16, #nv_tileas<space smem>>, %other: memref<64x128xf16, #nv_tileas<space smem>>, %out: !nv_tileas.tiled_view<64x128xf32, gmem>) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %acc = arith.constant dense<0.000000e+00> : tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:    %w = nv_tileas.view %other : memref<64x128xf16, #nv_tileas<space smem>> -> tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
// CHECK-NEXT:    %a = nv_tileas.tiled_load %src[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(64,64),(64,1),swizzle<3,4,3>>, atom = #open} : memref<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16, #dot_a>
// CHECK-NEXT:    %b = nv_tileas.convert_layout %a : tensor<64x64xf16, #dot_a> -> tensor<64x64xf16, #dot_a>
// CHECK-NEXT:    %r = nv_tileas.dot %b, %w, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #dot_a>, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>, tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">> -> tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:    nv_tileas.tiled_store %r, %out[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(64,128),(128,1)>, atom = #nv_tileas<atom stg>} : tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>, !nv_tileas.tiled_view<64x128xf32, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 6. A pipeline: the tiles of its stages lie alike for whoever fills and reads them.  Products find
// their instruction; what a body reads as values is brought into registers first.

!a = tensor<64x64xf16>
!b = tensor<64x128xf16>
!acc = tensor<64x128xf32>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, !b>, 2, smem>
!slots = !nv_tileas.tiled_view<2x12288xf16, smem>
!desc = !nv_tileas.tma_desc

func.func @pipeline(%x: memref<?x?xf16>, %y: memref<?x?xf16>, %z: !nv_tileas.tiled_view<64x128xf32, gmem>, %u: !nv_tileas.tiled_view<64x64xf16, gmem>) {
  %zero = arith.constant 0 : index
  %n64 = arith.constant 64 : index
  %n128 = arith.constant 128 : index
  %none = arith.constant dense<0.0> : !acc
  %of_x = nv_tileas.make_tiled_tma_desc %x box[%n64, %n64] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x?xf16> -> !desc
  %of_y = nv_tileas.make_tiled_tma_desc %y box[%n128, %n64] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x?xf16> -> !desc
  %bar = nv_tileas.create_none : !nv_tileas.mem_token
  %buffer = nv_tileas.alloc_tensor : tensor<2x12288xf16, #nv_tileas<space smem>>
  %slots = nv_tileas.view %buffer : tensor<2x12288xf16, #nv_tileas<space smem>> -> !slots
  %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false, num_warps = array<i32: 4, 4>} agent 0 {
    %i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
    %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [!a, !b]} : (!prod, !iter) -> !prod {
    ^bb0(%sa: !a, %sb: !b):
      %la = nv_tileas.async.tiled_tma_load %of_x, %sa[%zero, %zero] barrier %bar {atom = #nv_tileas<atom tma_load_2d>} : !desc, !a, index, index, !nv_tileas.mem_token -> !nv_tileas.token
      %lb = nv_tileas.async.tiled_tma_load %of_y, %sb[%zero, %zero] barrier %bar {atom = #nv_tileas<atom tma_load_2d>} : !desc, !b, index, index, !nv_tileas.mem_token -> !nv_tileas.token
      nv_tileas.async.pipeline.yield %sa, %sb : !a, !b
    }
  }, agent 1 {
    %j = nv_tileas.async.pipeline.create_iterator %c : !cons -> !iter
    %c1, %sums, %negated = nv_tileas.async.pipeline.consume_one %c, %j {consumer_idx = 0 : i32, consumer_types = [!a, !b]} : (!cons, !iter) -> (!cons, !acc, !a) {
    ^bb0(%sa: !a, %sb: !b):
      %dot = nv_tileas.async.dot %sa, %sb, %none : !a, !b, !acc -> !nv_tileas.token<!acc>
      %done = nv_tileas.async.wait %dot : !nv_tileas.token<!acc> -> !acc
      %minus = arith.negf %sa : !a
      nv_tileas.async.pipeline.yield %done, %minus : !acc, !a
    }
    nv_tileas.tiled_store %sums, %z[%zero, %zero] {atom = #open} : !acc, !nv_tileas.tiled_view<64x128xf32, gmem>
    nv_tileas.tiled_store %negated, %u[%zero, %zero] {atom = #open} : !a, !nv_tileas.tiled_view<64x64xf16, gmem>
  }
  func.return
}

// CHECK-LABEL: func.func @pipeline(%x: memref<?x?xf16>, %y: memref<?x?xf16>, %z: !nv_tileas.tiled_view<64x128xf32, gmem>, %u: !nv_tileas.tiled_view<64x64xf16, gmem>) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %n64 = arith.constant 64 : index
// CHECK-NEXT:    %n128 = arith.constant 128 : index
// CHECK-NEXT:    %none = arith.constant dense<0.000000e+00> : tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:    %of_x = nv_tileas.make_tiled_tma_desc %x box[%n64, %n64] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x?xf16> -> !desc
// CHECK-NEXT:    %of_y = nv_tileas.make_tiled_tma_desc %y box[%n128, %n64] {atom = #nv_tileas<atom tma_load_2d>} : memref<?x?xf16> -> !desc
// CHECK-NEXT:    %bar = nv_tileas.create_none : !nv_tileas.mem_token
// CHECK-NEXT:    %buffer = nv_tileas.alloc_tensor : tensor<2x12288xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %slots = nv_tileas.view %buffer : tensor<2x12288xf16, #nv_tileas<space smem>> -> !slots
// CHECK-NEXT:    %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false, num_warps = array<i32: 4, 4>} agent 0 {
// CHECK-NEXT:      %i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>>, 2, smem>
// CHECK-NEXT:      %p1 = nv_tileas.async.pipeline.produce_one %p, %i {producer_types = [tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>]} : (!prod, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>>, 2, smem>) -> !prod {
// CHECK-NEXT:      ^bb0(%sa: tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, %sb: tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>):
// CHECK-NEXT:        %la = nv_tileas.async.tiled_tma_load %of_x, %sa[%zero, %zero] barrier %bar {nv_tileas.layout = #nv_tileas.layout<(64,64),(64,1),swizzle<3,4,3>>, atom = #nv_tileas<atom tma_load_2d>} : !desc, tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
// CHECK-NEXT:        %lb = nv_tileas.async.tiled_tma_load %of_y, %sb[%zero, %zero] barrier %bar {nv_tileas.layout = #nv_tileas.layout<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>, atom = #nv_tileas<atom tma_load_2d>} : !desc, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %sa, %sb : tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
// CHECK-NEXT:      }
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %j = nv_tileas.async.pipeline.create_iterator %c : !cons -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>>, 2, smem>
// CHECK-NEXT:      %c1, %sums, %negated = nv_tileas.async.pipeline.consume_one %c, %j {consumer_idx = 0 : i32, consumer_types = [tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>]} : (!cons, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>>, 2, smem>) -> (!cons, tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>, tensor<64x64xf16, #nv_tileas.blocked<"((16,4),(8,8)):((8@thread,8@value),(1@value,1@thread))">>) {
// CHECK-NEXT:      ^bb0(%sa_1: tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, %sb_1: tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>):
// CHECK-NEXT:        %dot = nv_tileas.async.dot %sa_1, %sb_1, %none {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>, tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">> -> !nv_tileas.token<tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>>
// CHECK-NEXT:        %done = nv_tileas.async.wait %dot : !nv_tileas.token<tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>> -> tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>
// CHECK-NEXT:        %0 = nv_tileas.convert_layout %sa_1 : tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>> -> tensor<64x64xf16, #nv_tileas.blocked<"((16,4),(8,8)):((8@thread,8@value),(1@value,1@thread))">>
// CHECK-NEXT:        %minus = arith.negf %0 : tensor<64x64xf16, #nv_tileas.blocked<"((16,4),(8,8)):((8@thread,8@value),(1@value,1@thread))">>
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %done, %minus : tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>, tensor<64x64xf16, #nv_tileas.blocked<"((16,4),(8,8)):((8@thread,8@value),(1@value,1@thread))">>
// CHECK-NEXT:      }
// CHECK-NEXT:      nv_tileas.tiled_store %sums, %z[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(64,128),(128,1)>, atom = #nv_tileas<atom stg>} : tensor<64x128xf32, #nv_tileas.dot_operand<"((8,2,4),(2,4,16)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>, !nv_tileas.tiled_view<64x128xf32, gmem>
// CHECK-NEXT:      nv_tileas.tiled_store %negated, %u[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(64,64),(64,1)>, atom = #nv_tileas<atom stg>} : tensor<64x64xf16, #nv_tileas.blocked<"((16,4),(8,8)):((8@thread,8@value),(1@value,1@thread))">>, !nv_tileas.tiled_view<64x64xf16, gmem>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 7. A view moves no data: what it shows of a tile in registers is there, too, though a product could
// read it from shared memory.

func.func @view_of_registers(%x: !nv_tileas.tiled_view<1x16x16xf32, gmem>, %b: tensor<16x32xf32>, %z: !nv_tileas.tiled_view<16x32xf32, gmem>) {
  %zero = arith.constant 0 : index
  %sums = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = nv_tileas.tiled_load %x[%zero, %zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x16x16xf32, gmem> -> tensor<1x16x16xf32>
  %c = arith.negf %a : tensor<1x16x16xf32>
  %rows = nv_tileas.view %c : tensor<1x16x16xf32> -> tensor<16x16xf32>
  %d = nv_tileas.dot %rows, %b, %sums {atom = #nv_tileas<atom fma_f32_f32_f32>} : tensor<16x16xf32>, tensor<16x32xf32>, tensor<16x32xf32> -> tensor<16x32xf32>
  nv_tileas.tiled_store %d, %z[%zero, %zero] {atom = #open} : tensor<16x32xf32>, !nv_tileas.tiled_view<16x32xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @view_of_registers
// CHECK:         %rows = nv_tileas.view %c : tensor<1x16x16xf32, #nv_tileas.blocked<"(1,16,(2,8)):(0,8@thread,(1@value,1@thread))">> -> tensor<16x16xf32, #nv_tileas.blocked<"(16,(2,8)):(8@thread,(1@value,1@thread))">>{{$}}

// 8. What goes to shared memory is laid out like the tile that it is a view of, whatever extents of 1
// it has: like accumulators, here.

func.func @view_of_accumulators(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %z: !nv_tileas.tiled_view<1x1x64x64xf16, gmem>) {
  %zero = arith.constant 0 : index
  %sums = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = nv_tileas.dot %a, %b, %sums {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  %v = nv_tileas.view %d : tensor<64x64xf32> -> tensor<1x1x64x64xf32>
  %t = arith.truncf %v : tensor<1x1x64x64xf32> to tensor<1x1x64x64xf16>
  %staging = nv_tileas.alloc_tensor : tensor<1x1x64x64xf16, #nv_tileas<space smem>>
  nv_tileas.copy %t, %staging {atom = #open} : tensor<1x1x64x64xf16>, tensor<1x1x64x64xf16, #nv_tileas<space smem>>
  nv_tileas.tiled_store %staging, %z[%zero, %zero, %zero, %zero] {atom = #nv_tileas<atom tma_store_4d>, allow_tma = true} : tensor<1x1x64x64xf16, #nv_tileas<space smem>>, !nv_tileas.tiled_view<1x1x64x64xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @view_of_accumulators
// CHECK:         %t = arith.truncf %v : {{.*}} to tensor<1x1x64x64xf16, #nv_tileas.dot_operand<"(1,1,(8,2,4),(2,4,8)):(0,0,(4@thread,2@value,32@thread),(1@value,1@thread,4@value))">>

// 9. Parts of a tile, and tiles side by side, are made where their elements are: the threads
// that load the bytes make the 16-bit halves of words. Nothing is exchanged.

func.func @halves_of_words(%a: !nv_tileas.tiled_view<32x16xi8, gmem>, %z: !nv_tileas.tiled_view<32x32xf16, gmem>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %mask = arith.constant dense<15> : tensor<32x16xi8>
  %t = nv_tileas.tiled_load %a[%zero, %zero] {atom = #open} : !nv_tileas.tiled_view<32x16xi8, gmem> -> tensor<32x16xi8>
  %low = arith.andi %t, %mask : tensor<32x16xi8>
  %both = nv_tileas.generate : tensor<32x16x2xf16> {
  ^bb0(%i: index, %j: index, %k: index):
    %is_low = arith.cmpi slt, %k, %one : index
    %l = tensor.extract %low[%i, %j] : tensor<32x16xi8>
    %h = tensor.extract %t[%i, %j] : tensor<32x16xi8>
    %e = arith.select %is_low, %l, %h : i8
    %f = arith.uitofp %e : i8 to f16
    nv_tileas.yield %f : f16
  }
  %v = nv_tileas.view %both : tensor<32x16x2xf16> -> tensor<32x32xf16>
  %staging = nv_tileas.alloc_tensor : tensor<32x32xf16, #nv_tileas<space smem>>
  nv_tileas.copy %v, %staging {atom = #open} : tensor<32x32xf16>, tensor<32x32xf16, #nv_tileas<space smem>>
  nv_tileas.tiled_store %staging, %z[%zero, %zero] {atom = #nv_tileas<atom tma_store_2d>, allow_tma = true} : tensor<32x32xf16, #nv_tileas<space smem>>, !nv_tileas.tiled_view<32x32xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @halves_of_words
// CHECK:         nv_tileas.tiled_load {{.*}} -> tensor<32x16xi8, #nv_tileas.blocked<"(32,(4,4)):(4@thread,(1@value,1@thread))">>
// CHECK:         %both = nv_tileas.generate : tensor<32x16x2xf16, #nv_tileas.linear<"(32,(4,4),2):(4@thread,(2@value,1@thread),1@value)">> {
// CHECK:         %v = nv_tileas.view %both : {{.*}} -> tensor<32x32xf16, #nv_tileas.linear<"(32,(8,4)):(4@thread,(1@value,1@thread))">>

// 10. A tile that is cut into parts is brought to where threads hold all of them: one exchange.

func.func @halves_of_rows(%x: !nv_tileas.tiled_view<4x128xf32, gmem>, %y: !nv_tileas.tiled_view<4x1x64xf32, gmem>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = nv_tileas.tiled_load %x[%zero, %zero] {atom = #open} : !nv_tileas.tiled_view<4x128xf32, gmem> -> tensor<4x128xf32>
  %v = nv_tileas.view %t : tensor<4x128xf32> -> tensor<4x2x64xf32>
  %sums = nv_tileas.generate : tensor<4x1x64xf32> {
  ^bb0(%i: index, %j: index, %k: index):
    %l = tensor.extract %v[%i, %zero, %k] : tensor<4x2x64xf32>
    %h = tensor.extract %v[%i, %one, %k] : tensor<4x2x64xf32>
    %e = arith.addf %l, %h : f32
    nv_tileas.yield %e : f32
  }
  nv_tileas.tiled_store %sums, %y[%zero, %zero, %zero] {atom = #open} : tensor<4x1x64xf32>, !nv_tileas.tiled_view<4x1x64xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @halves_of_rows
// CHECK:         %v = nv_tileas.view %t : {{.*}} -> tensor<4x2x64xf32, #nv_tileas.linear<"((2,2),2,64):((64@thread,1@value),2@value,1@thread)">>

// Parts of several columns are dealt to threads, too: of 8x64 a thread has two elements of each half.

func.func @halves_of_columns(%x: !nv_tileas.tiled_view<4x128xf32, gmem>, %y: !nv_tileas.tiled_view<8x32xf32, gmem>) {
  %zero = arith.constant 0 : index
  %half = arith.constant 32 : index
  %t = nv_tileas.tiled_load %x[%zero, %zero] {atom = #open} : !nv_tileas.tiled_view<4x128xf32, gmem> -> tensor<4x128xf32>
  %v = nv_tileas.view %t : tensor<4x128xf32> -> tensor<8x64xf32>
  %sums = nv_tileas.generate : tensor<8x32xf32> {
  ^bb0(%i: index, %j: index):
    %right = arith.addi %j, %half : index
    %l = tensor.extract %v[%i, %j] : tensor<8x64xf32>
    %h = tensor.extract %v[%i, %right] : tensor<8x64xf32>
    %e = arith.addf %l, %h : f32
    nv_tileas.yield %e : f32
  }
  nv_tileas.tiled_store %sums, %y[%zero, %zero] {atom = #open} : tensor<8x32xf32>, !nv_tileas.tiled_view<8x32xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @halves_of_columns
// CHECK:         %v = nv_tileas.view %t : {{.*}} -> tensor<8x64xf32, #nv_tileas.linear<"((4,2),(32,2)):((32@thread,1@value),(1@thread,2@value))">>

// Single elements are no parts that a tile would be laid out for: each thread would hold it whole.

func.func @single_elements(%x: !nv_tileas.tiled_view<64x32x2xf32, gmem>, %y: !nv_tileas.tiled_view<1x1xf32, gmem>) {
  %zero = arith.constant 0 : index
  %t = nv_tileas.tiled_load %x[%zero, %zero, %zero] {atom = #open} : !nv_tileas.tiled_view<64x32x2xf32, gmem> -> tensor<64x32x2xf32>
  %v = nv_tileas.view %t : tensor<64x32x2xf32> -> tensor<128x32xf32>
  %e = nv_tileas.generate : tensor<1x1xf32> {
  ^bb0(%i: index, %j: index):
    %three = arith.constant 3 : index
    %f = tensor.extract %v[%i, %three] : tensor<128x32xf32>
    nv_tileas.yield %f : f32
  }
  nv_tileas.tiled_store %e, %y[%zero, %zero] {atom = #open} : tensor<1x1xf32>, !nv_tileas.tiled_view<1x1xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @single_elements
// CHECK:         %v = nv_tileas.view %t : {{.*}} -> tensor<128x32xf32, #nv_tileas.linear<"((8,16),(2,16)):((16@thread,2@value),(1@value,1@thread))">>

// A tile of which no element is taken says nothing of the layout.

func.func @never_taken(%x: !nv_tileas.tiled_view<8x16xf32, gmem>, %y: !nv_tileas.tiled_view<8x16xf32, gmem>) {
  %zero = arith.constant 0 : index
  %t = nv_tileas.tiled_load %x[%zero, %zero] {atom = #open} : !nv_tileas.tiled_view<8x16xf32, gmem> -> tensor<8x16xf32>
  %g = nv_tileas.generate : tensor<8x8x16xf32> {
  ^bb0(%i: index, %j: index, %k: index):
    %p = arith.cmpi slt, %j, %zero : index
    %a = tensor.extract %t[%i, %k] : tensor<8x16xf32>
    %b = arith.constant 1.0 : f32
    %s = arith.select %p, %a, %b : f32
    nv_tileas.yield %s : f32
  }
  nv_tileas.tiled_store %t, %y[%zero, %zero] {atom = #open} : tensor<8x16xf32>, !nv_tileas.tiled_view<8x16xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @never_taken
// CHECK:         %g = nv_tileas.generate : tensor<8x8x16xf32> {

// 11. Chunks are no longer than what a tile has for each thread: with 16 bytes, half of the threads
// would compute what the other half has.

func.func @bytes_for_all_threads(%x: !nv_tileas.tiled_view<1x1024xi8, gmem>, %y: !nv_tileas.tiled_view<1x1024xi8, gmem>) {
  %zero = arith.constant 0 : index
  %a = nv_tileas.tiled_load %x[%zero, %zero] {atom = #open} : !nv_tileas.tiled_view<1x1024xi8, gmem> -> tensor<1x1024xi8>
  %b = arith.muli %a, %a : tensor<1x1024xi8>
  nv_tileas.tiled_store %b, %y[%zero, %zero] {atom = #open} : tensor<1x1024xi8>, !nv_tileas.tiled_view<1x1024xi8, gmem>
  func.return
}

// CHECK-LABEL: func.func @bytes_for_all_threads
// CHECK:         %b = arith.muli %a, %a : tensor<1x1024xi8, #nv_tileas.blocked<"(1,(8,128)):(0,(1@value,1@thread))">>

// 12. Short rows that are reduced share a warp: 16 lanes have one of 128 elements, 16 bytes each.

func.func @heads(%x: !nv_tileas.tiled_view<32x128xf16, gmem>, %y: !nv_tileas.tiled_view<32xf16, gmem>) {
  %zero = arith.constant 0 : index
  %a = nv_tileas.tiled_load %x[%zero, %zero] {atom = #open} : !nv_tileas.tiled_view<32x128xf16, gmem> -> tensor<32x128xf16>
  %most = nv_tileas.reduce %a {axis = 1 : i32, atom = #nv_tileas<atom reduce_max>} : tensor<32x128xf16> -> tensor<32xf16> {
  ^bb0(%u: f16, %v: f16):
    %w = arith.maximumf %u, %v : f16
    nv_tileas.yield %w : f16
  }
  nv_tileas.tiled_store %most, %y[%zero] {atom = #open} : tensor<32xf16>, !nv_tileas.tiled_view<32xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @heads
// CHECK:         %most = nv_tileas.reduce %a {axis = 1 : i32, atom = #nv_tileas<atom reduce_max>} : tensor<32x128xf16, #nv_tileas.blocked<"((8,4),(8,16)):((16@thread,8@value),(1@value,1@thread))">> -> tensor<32xf16, #nv_tileas.linear<"((8,4),16):((16@thread,1@value),1@thread)">> {

// Reduced along columns as well, a row has a warp.

func.func @rows_and_columns(%x: !nv_tileas.tiled_view<32x128xf16, gmem>, %y: !nv_tileas.tiled_view<32xf16, gmem>, %z: !nv_tileas.tiled_view<128xf16, gmem>) {
  %zero = arith.constant 0 : index
  %a = nv_tileas.tiled_load %x[%zero, %zero] {atom = #open} : !nv_tileas.tiled_view<32x128xf16, gmem> -> tensor<32x128xf16>
  %rows = nv_tileas.reduce %a {axis = 1 : i32, atom = #nv_tileas<atom reduce_max>} : tensor<32x128xf16> -> tensor<32xf16> {
  ^bb0(%u: f16, %v: f16):
    %w = arith.maximumf %u, %v : f16
    nv_tileas.yield %w : f16
  }
  %columns = nv_tileas.reduce %a {axis = 0 : i32, atom = #nv_tileas<atom reduce_max>} : tensor<32x128xf16> -> tensor<128xf16> {
  ^bb0(%u: f16, %v: f16):
    %w = arith.maximumf %u, %v : f16
    nv_tileas.yield %w : f16
  }
  nv_tileas.tiled_store %rows, %y[%zero] {atom = #open} : tensor<32xf16>, !nv_tileas.tiled_view<32xf16, gmem>
  nv_tileas.tiled_store %columns, %z[%zero] {atom = #open} : tensor<128xf16>, !nv_tileas.tiled_view<128xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @rows_and_columns
// CHECK:         %rows = nv_tileas.reduce %a {axis = 1 : i32, atom = #nv_tileas<atom reduce_max>} : tensor<32x128xf16, #nv_tileas.blocked<"((4,8),(4,32)):((32@thread,4@value),(1@value,1@thread))">>

// 13. Left alone: what no operation says anything of, what comes from or goes to other functions,
// extents that are no powers of two, and layouts that are there already.

func.func @tiles_of_callers(%t: tensor<4x8xf32>, %y: !nv_tileas.tiled_view<4x8xf32, gmem>) -> tensor<4x8xf32> {
  %zero = arith.constant 0 : index
  %u = arith.negf %t : tensor<4x8xf32>
  nv_tileas.tiled_store %u, %y[%zero, %zero] {atom = #open} : tensor<4x8xf32>, !nv_tileas.tiled_view<4x8xf32, gmem>
  func.return %u : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @tiles_of_callers(%t: tensor<4x8xf32>, %y: !nv_tileas.tiled_view<4x8xf32, gmem>) -> tensor<4x8xf32> {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %u = arith.negf %t : tensor<4x8xf32>
// CHECK-NEXT:    nv_tileas.tiled_store %u, %y[%zero, %zero] {atom = #open} : tensor<4x8xf32>, !nv_tileas.tiled_view<4x8xf32, gmem>
// CHECK-NEXT:    func.return %u : tensor<4x8xf32>
// CHECK-NEXT:  }

func.func @left_alone(%x: !nv_tileas.tiled_view<4x8xf32, gmem>, %y: !nv_tileas.tiled_view<4x8xf32, gmem>, %t: tensor<4x8xf32>) {
  %zero = arith.constant 0 : index
  %u = "test.op"(%t) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = nv_tileas.tiled_load %x[%zero, %zero] {atom = #open} : !nv_tileas.tiled_view<4x8xf32, gmem> -> tensor<4x8xf32, #nv_tileas.blocked<"(4,8):(1@thread,1@value)">>
  nv_tileas.tiled_store %a, %y[%zero, %zero] {atom = #open} : tensor<4x8xf32, #nv_tileas.blocked<"(4,8):(1@thread,1@value)">>, !nv_tileas.tiled_view<4x8xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @left_alone(%x: !nv_tileas.tiled_view<4x8xf32, gmem>, %y: !nv_tileas.tiled_view<4x8xf32, gmem>, %t: tensor<4x8xf32>) {
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %u = "test.op"(%t) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %a = nv_tileas.tiled_load %x[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(4,8),(8,1)>, atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<4x8xf32, gmem> -> tensor<4x8xf32, #nv_tileas.blocked<"(4,8):(1@thread,1@value)">>
// CHECK-NEXT:    nv_tileas.tiled_store %a, %y[%zero, %zero] {nv_tileas.layout = #nv_tileas.layout<(4,8),(8,1)>, atom = #nv_tileas<atom stg>} : tensor<4x8xf32, #nv_tileas.blocked<"(4,8):(1@thread,1@value)">>, !nv_tileas.tiled_view<4x8xf32, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// 14. What is read in shared memory is read by all threads that need it: a word by the two that
// have four of its eight parts each.

func.func @words(%out: !nv_tileas.tiled_view<128x128xi32, gmem>, %i: index) {
  %s = nv_tileas.alloc_tensor : tensor<128x16xi32, #nv_tileas<space smem>>
  %l = nv_tileas.convert_layout %s : tensor<128x16xi32, #nv_tileas<space smem>> -> tensor<128x16xi32>
  %e = nv_tileas.generate : tensor<128x16x8xi32> {
  ^bb0(%a: index, %b: index, %c: index):
    %x = tensor.extract %l[%a, %b] : tensor<128x16xi32>
    nv_tileas.yield %x : i32
  }
  %r = nv_tileas.view %e : tensor<128x16x8xi32> -> tensor<128x128xi32>
  nv_tileas.tiled_store %r, %out[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<128x128xi32>, !nv_tileas.tiled_view<128x128xi32, gmem>
  func.return
}

// CHECK-LABEL: func.func @words
// CHECK:         nv_tileas.convert_layout %{{.*}} -> tensor<128x16xi32, #nv_tileas.linear<"((4,32),16,2):((32@thread,1@value),2@thread,1@thread)">>
// CHECK-NEXT:    nv_tileas.generate : tensor<128x16x8xi32, #nv_tileas.linear<"((4,32),16,(4,2)):((32@thread,4@value),2@thread,(1@value,1@thread))">> {

// 15. Short rows that begin anywhere: each thread has as many words as there are, not all rows.

func.func @short_rows(%x: !nv_tileaa.ptr<f32, 1>, %n: i32, %y: !nv_tileas.tiled_view<32xf32, gmem>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 1>} {
  %base = tensor.splat %x : tensor<32x4x!nv_tileaa.ptr<f32, 1>>
  %at = nv_tileas.generate : tensor<32x4xi32> {
  ^bb0(%r: index, %c: index):
    %row = arith.index_cast %r : index to i32
    %column = arith.index_cast %c : index to i32
    %begin = arith.muli %row, %n : i32
    %offset = arith.addi %begin, %column : i32
    nv_tileas.yield %offset : i32
  }
  %p = nv_tileaa.addptr %base, %at : tensor<32x4x!nv_tileaa.ptr<f32, 1>>, tensor<32x4xi32>
  %a = nv_tileas.load %p {atom = #nv_tileas<atom ldg>} : tensor<32x4x!nv_tileaa.ptr<f32, 1>> -> tensor<32x4xf32>
  %s = nv_tileas.reduce %a {axis = 1 : i32} : tensor<32x4xf32> -> tensor<32xf32> {
  ^bb0(%l: f32, %r: f32):
    %m = arith.addf %l, %r : f32
    nv_tileas.yield %m : f32
  }
  nv_tileas.tiled_store %s, %y[%i] {atom = #nv_tileas<atom stg>} : tensor<32xf32>, !nv_tileas.tiled_view<32xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @short_rows
// CHECK:         %a = nv_tileas.load {{.*}} -> tensor<32x4xf32, #nv_tileas.blocked<"((8,4),4):((4@thread,1@value),1@thread)">>

// 16. A few values that a tile is multiplied by: each thread loads those of its own rows, though others
// load them as well, and no thread has to wait for another one.

func.func @scaled(%x: !nv_tileas.tiled_view<64x16xf32, gmem>, %s: !nv_tileas.tiled_view<1x64xf32, gmem>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %a = nv_tileas.tiled_load %x[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x16xf32, gmem> -> tensor<64x16xf32>
  %line = nv_tileas.tiled_load %s[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x64xf32, gmem> -> tensor<1x64xf32>
  %column = nv_tileas.view %line : tensor<1x64xf32> -> tensor<64x1xf32>
  %all = nv_tileas.generate : tensor<64x16xf32> {
  ^bb0(%r: index, %c: index):
    %none = arith.constant 0 : index
    %one = tensor.extract %column[%r, %none] : tensor<64x1xf32>
    nv_tileas.yield %one : f32
  }
  %p = arith.mulf %a, %all : tensor<64x16xf32>
  nv_tileas.tiled_store %p, %x[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x16xf32>, !nv_tileas.tiled_view<64x16xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @scaled
// CHECK:         %a = nv_tileas.tiled_load {{.*}} -> tensor<64x16xf32, #nv_tileas.blocked<"((32,2),(4,4)):((4@thread,4@value),(1@value,1@thread))">>
// CHECK-NEXT:    %line = nv_tileas.tiled_load {{.*}} -> tensor<1x64xf32, #nv_tileas.linear<"(1,(32,2),4):(0,(4@thread,1@value),1@thread)">>

// So is a value for each row of a product, made a column, by the threads that have its accumulators.

func.func @scaled_product(%a: tensor<64x64xf8E4M3FN, #nv_tileas.shared<(64,64),(64,1),swizzle<2,4,3>>>, %b: tensor<64x64xf8E4M3FN, #nv_tileas.shared<(64,64),(1,64),swizzle<2,4,3>>>, %s: !nv_tileas.tiled_view<64xf32, gmem>, %x: !nv_tileas.tiled_view<64x64xf32, gmem>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %v = nv_tileas.tiled_load %s[%i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64xf32, gmem> -> tensor<64xf32>
  %column = nv_tileas.expand_dims %v {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %d = nv_tileas.dot %a, %b, %zero {atom = #nv_tileas<atom wgmma_f8e4m3_f8e4m3_f32>} : tensor<64x64xf8E4M3FN, #nv_tileas.shared<(64,64),(64,1),swizzle<2,4,3>>>, tensor<64x64xf8E4M3FN, #nv_tileas.shared<(64,64),(1,64),swizzle<2,4,3>>>, tensor<64x64xf32> -> tensor<64x64xf32>
  %all = nv_tileas.generate : tensor<64x64xf32> {
  ^bb0(%r: index, %c: index):
    %none = arith.constant 0 : index
    %one = tensor.extract %column[%r, %none] : tensor<64x1xf32>
    nv_tileas.yield %one : f32
  }
  %p = arith.mulf %d, %all : tensor<64x64xf32>
  nv_tileas.tiled_store %p, %x[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @scaled_product
// CHECK:         %v = nv_tileas.tiled_load {{.*}} -> tensor<64xf32, #nv_tileas.linear<"((8,2,4),4):((4@thread,1@value,32@thread),1@thread)">>
// CHECK-NEXT:    %column = nv_tileas.expand_dims {{.*}} -> tensor<64x1xf32, #nv_tileas.linear<"((8,2,4),1,4):((4@thread,1@value,32@thread),0,1@thread)">>

// 17. What is only stored, as a view, is stored by the threads that have it: rows by chunks, and values of
// rows, as a line or a column, by one of the threads that share a row.

func.func @stored(%x: !nv_tileaa.ptr<f16, 1>, %y: !nv_tileas.tiled_view<1x16x128xf16, gmem>, %z: !nv_tileas.tiled_view<1x16xf16, gmem>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %pitch = arith.constant 128 : i32
  %p = nv_tileaa.assume %x, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %base = tensor.splat %p : tensor<16x128x!nv_tileaa.ptr<f16, 1>>
  %at = nv_tileas.generate : tensor<16x128xi32> {
  ^bb0(%r: index, %c: index):
    %row = arith.index_cast %r : index to i32
    %column = arith.index_cast %c : index to i32
    %begin = arith.muli %row, %pitch : i32
    %offset = arith.addi %begin, %column : i32
    nv_tileas.yield %offset : i32
  }
  %q = nv_tileaa.addptr %base, %at : tensor<16x128x!nv_tileaa.ptr<f16, 1>>, tensor<16x128xi32>
  %a = nv_tileas.load %q {atom = #nv_tileas<atom ldg>} : tensor<16x128x!nv_tileaa.ptr<f16, 1>> -> tensor<16x128xf16>
  %s = nv_tileas.reduce %a {axis = 1 : i32} : tensor<16x128xf16> -> tensor<16xf16> {
  ^bb0(%l: f16, %r: f16):
    %m = arith.maximumf %l, %r : f16
    nv_tileas.yield %m : f16
  }
  %box = nv_tileas.view %a : tensor<16x128xf16> -> tensor<1x16x128xf16>
  nv_tileas.tiled_store %box, %y[%i, %i, %i] {atom = #nv_tileas<atom stg>} : tensor<1x16x128xf16>, !nv_tileas.tiled_view<1x16x128xf16, gmem>
  %line = nv_tileas.view %s : tensor<16xf16> -> tensor<1x16xf16>
  nv_tileas.tiled_store %line, %z[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<1x16xf16>, !nv_tileas.tiled_view<1x16xf16, gmem>
  %column = nv_tileas.expand_dims %s {axis = 1 : i32} : tensor<16xf16> -> tensor<16x1xf16>
  %twice = arith.addf %column, %column : tensor<16x1xf16>
  %sum = nv_tileas.view %twice : tensor<16x1xf16> -> tensor<1x16xf16>
  nv_tileas.tiled_store %sum, %z[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<1x16xf16>, !nv_tileas.tiled_view<1x16xf16, gmem>
  func.return
}

// CHECK-LABEL: func.func @stored
// CHECK:         %a = nv_tileas.load {{.*}} -> tensor<16x128xf16, #nv_tileas.blocked<"((8,2),(8,16)):((16@thread,8@value),(1@value,1@thread))">>
// CHECK:         nv_tileas.tiled_store %box, {{.*}} : tensor<1x16x128xf16, #nv_tileas.blocked<"(1,(8,2),(8,16)):(0,(16@thread,8@value),(1@value,1@thread))">>
// CHECK:         nv_tileas.tiled_store %line, {{.*}} : tensor<1x16xf16, #nv_tileas.linear<
// CHECK:         nv_tileas.tiled_store %sum, {{.*}} : tensor<1x16xf16, #nv_tileas.linear<
