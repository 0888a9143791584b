// `tileas-remove-buffer-alias`: aliases become views at an offset; each case is followed by what it must leave alone.

// RUN: tileas-opt %s -p tileas-remove-buffer-alias | filecheck %s
// RUN: tileas-opt %s -p tileas-remove-buffer-alias,tileas-remove-buffer-alias | filecheck %s
// RUN: xdsl-opt %s -p tileas-remove-buffer-alias,verify-dominance | filecheck %s

// Remove Buffer Aliases, Select-on-Condition Aliases: both arms are parts of one allocation; what is
// selected is where the part begins.

func.func @select(%flag: i1) {
  %a = nv_tileas.alloc_tensor : tensor<128x64xf16, #nv_tileas<space smem>>
  %b = nv_tileas.view %a {offset = 8192} : tensor<128x64xf16, #nv_tileas<space smem>>
  %buf = tile.select %flag, %a, %b : tensor<128x64xf16, #nv_tileas<space smem>>
  "test.op"(%buf) : (tensor<128x64xf16, #nv_tileas<space smem>>) -> ()
  func.return
}

// CHECK-LABEL: func.func @select(%flag: i1) {
// CHECK-NEXT:    %a = nv_tileas.alloc_tensor
// CHECK-NEXT:    %0 = arith.constant 0 : index
// CHECK-NEXT:    %1 = arith.constant 8192 : index
// CHECK-NEXT:    %buf_offset = arith.select %flag, %0, %1 : index
// CHECK-NEXT:    %buf = nv_tileas.view %a[%buf_offset]
// CHECK-NEXT:    "test.op"(%buf)
// CHECK-NEXT:    func.return

// Remove Buffer Aliases, Loop-Carried Aliases: every iteration yields the same allocation, which the
// body then names directly.

func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = nv_tileas.alloc_tensor : tensor<128x64xf16, #nv_tileas<space smem>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%buf = %a) -> (tensor<128x64xf16, #nv_tileas<space smem>>) {
    %x = "test.op"(%buf) : (tensor<128x64xf16, #nv_tileas<space smem>>) -> i32
    scf.yield %a : tensor<128x64xf16, #nv_tileas<space smem>>
  }
  func.return
}

// CHECK-LABEL: func.func @loop(%n: index) {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %a = nv_tileas.alloc_tensor
// CHECK-NEXT:    scf.for %i = %c0 to %n step %c1 {
// CHECK-NEXT:      %x = "test.op"(%a)
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return

// Not: tiles in registers are values and may be chosen, and so may be views of global memory.

func.func @no_buffers(%c: i1, %n: index, %x: tensor<4xf32>, %y: tensor<4xf32>, %v: !nv_tileas.tiled_view<4xf32, gmem>, %w: !nv_tileas.tiled_view<4xf32, gmem>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = arith.select %c, %x, %y : tensor<4xf32>
  %u = arith.select %c, %v, %w : !nv_tileas.tiled_view<4xf32, gmem>
  "test.op"(%u) : (!nv_tileas.tiled_view<4xf32, gmem>) -> ()
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %s) -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_buffers
// CHECK:         %s = arith.select %c, %x, %y
// CHECK-NEXT:    %u = arith.select %c, %v, %w
// CHECK-NEXT:    "test.op"(%u)
// CHECK-NEXT:    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %s)
// CHECK-NEXT:      scf.yield %x

// Not: a tile that a loop computes anew is a value, in shared memory too.

func.func @computed(%n: index, %x: tensor<4xf32>) -> tensor<4xf32, #nv_tileas<space smem>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = nv_tileas.convert_layout %x : tensor<4xf32> -> tensor<4xf32, #nv_tileas<space smem>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (tensor<4xf32, #nv_tileas<space smem>>) {
    %y = arith.addf %t, %t : tensor<4xf32, #nv_tileas<space smem>>
    scf.yield %y : tensor<4xf32, #nv_tileas<space smem>>
  }
  func.return %r : tensor<4xf32, #nv_tileas<space smem>>
}

// CHECK-LABEL: func.func @computed
// CHECK:         %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first)
// CHECK-NEXT:      %y = arith.addf %t, %t
// CHECK-NEXT:      scf.yield %y

// A chain: a selection of a view of a view.  One view is left, its beginning is the sum.

func.func @chain(%c: i1, %k: index) {
  %z = arith.constant 0 : index
  %a = nv_tileas.alloc_tensor : tensor<4x8x16xf16, #nv_tileas<space smem>>
  %half = nv_tileas.view %a[%k, %z, %z] : tensor<4x8x16xf16, #nv_tileas<space smem>> -> tensor<2x128xf16, #nv_tileas<space smem>>
  %quarter = nv_tileas.view %half {offset = 128} : tensor<2x128xf16, #nv_tileas<space smem>> -> tensor<8x16xf16, #nv_tileas<space smem>>
  %first = nv_tileas.view %a : tensor<4x8x16xf16, #nv_tileas<space smem>> -> tensor<8x16xf16, #nv_tileas<space smem>>
  %buf = arith.select %c, %quarter, %first : tensor<8x16xf16, #nv_tileas<space smem>>
  "test.op"(%buf) : (tensor<8x16xf16, #nv_tileas<space smem>>) -> ()
  func.return
}

// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %z = arith.constant 0 : index
// CHECK-NEXT:    %a = nv_tileas.alloc_tensor
// CHECK-NEXT:    %0 = arith.constant 128 : index
// CHECK-NEXT:    %1 = arith.muli %k, %0 : index
// CHECK-NEXT:    %2 = arith.constant 128 : index
// CHECK-NEXT:    %3 = arith.addi %1, %2 : index
// CHECK-NEXT:    %4 = arith.constant 0 : index
// CHECK-NEXT:    %buf_offset = arith.select %c, %3, %4 : index
// CHECK-NEXT:    %buf = nv_tileas.view %a[%buf_offset]
// CHECK-NEXT:    "test.op"(%buf)

// Equal arms: the beginning is known, and no selection is left.

func.func @equal(%c: i1) {
  %a = nv_tileas.alloc_tensor : tensor<2x64xf16, #nv_tileas<space smem>>
  %v = nv_tileas.view %a {offset = 64} : tensor<2x64xf16, #nv_tileas<space smem>> -> tensor<64xf16, #nv_tileas<space smem>>
  %w = nv_tileas.view %a {offset = 64} : tensor<2x64xf16, #nv_tileas<space smem>> -> tensor<64xf16, #nv_tileas<space smem>>
  %buf = arith.select %c, %v, %w : tensor<64xf16, #nv_tileas<space smem>>
  "test.op"(%buf) : (tensor<64xf16, #nv_tileas<space smem>>) -> ()
  func.return
}

// CHECK-LABEL: func.func @equal
// CHECK-NEXT:    %a = nv_tileas.alloc_tensor
// CHECK-NEXT:    %buf = nv_tileas.view %a {offset = 64 : i64}
// CHECK-NEXT:    "test.op"(%buf)

// Two halves of one allocation that change places: the loop carries where they begin.

func.func @rotate(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = nv_tileas.alloc_tensor : tensor<2x64xf16, #nv_tileas<space smem>>
  %x = nv_tileas.view %a : tensor<2x64xf16, #nv_tileas<space smem>> -> tensor<64xf16, #nv_tileas<space smem>>
  %y = nv_tileas.view %a {offset = 64} : tensor<2x64xf16, #nv_tileas<space smem>> -> tensor<64xf16, #nv_tileas<space smem>>
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%now = %x, %next = %y) -> (tensor<64xf16, #nv_tileas<space smem>>, tensor<64xf16, #nv_tileas<space smem>>) {
    "test.op"(%now, %next) : (tensor<64xf16, #nv_tileas<space smem>>, tensor<64xf16, #nv_tileas<space smem>>) -> ()
    scf.yield %next, %now : tensor<64xf16, #nv_tileas<space smem>>, tensor<64xf16, #nv_tileas<space smem>>
  }
  "test.op"(%r) : (tensor<64xf16, #nv_tileas<space smem>>) -> ()
  func.return
}

// CHECK-LABEL: func.func @rotate
// CHECK:         %a = nv_tileas.alloc_tensor
// CHECK-NEXT:    %0 = arith.constant 0 : index
// CHECK-NEXT:    %1 = arith.constant 64 : index
// CHECK-NEXT:    %r_offset, %s_offset = scf.for %i = %c0 to %n step %c1 iter_args(%now_offset = %0, %next_offset = %1) -> (index, index) {
// CHECK-NEXT:      %now = nv_tileas.view %a[%now_offset]
// CHECK-NEXT:      %next = nv_tileas.view %a[%next_offset]
// CHECK-NEXT:      "test.op"(%now, %next)
// CHECK-NEXT:      scf.yield %next_offset, %now_offset : index, index
// CHECK-NEXT:    }
// CHECK-NEXT:    %r = nv_tileas.view %a[%r_offset]
// CHECK-NEXT:    "test.op"(%r)

// scf.while: a buffer that stays the same, and one that moves on.

func.func @while(%n: i32) {
  %one = arith.constant 1 : i32
  %a = nv_tileas.alloc_tensor : tensor<64x64xf16, #nv_tileas<space tmem>>
  %x = nv_tileas.view %a : tensor<64x64xf16, #nv_tileas<space tmem>> -> tensor<64xf16, #nv_tileas<space tmem>>
  %r:3 = scf.while (%same = %a, %row = %x, %i = %one) : (tensor<64x64xf16, #nv_tileas<space tmem>>, tensor<64xf16, #nv_tileas<space tmem>>, i32) -> (tensor<64x64xf16, #nv_tileas<space tmem>>, tensor<64xf16, #nv_tileas<space tmem>>, i32) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %same, %row, %i : tensor<64x64xf16, #nv_tileas<space tmem>>, tensor<64xf16, #nv_tileas<space tmem>>, i32
  } do {
  ^bb0(%b: tensor<64x64xf16, #nv_tileas<space tmem>>, %old: tensor<64xf16, #nv_tileas<space tmem>>, %j: i32):
    "test.op"(%b, %old) : (tensor<64x64xf16, #nv_tileas<space tmem>>, tensor<64xf16, #nv_tileas<space tmem>>) -> ()
    %new = nv_tileas.view %old {offset = 64} : tensor<64xf16, #nv_tileas<space tmem>>
    %k = arith.addi %j, %one : i32
    scf.yield %a, %new, %k : tensor<64x64xf16, #nv_tileas<space tmem>>, tensor<64xf16, #nv_tileas<space tmem>>, i32
  }
  "test.op"(%r#0, %r#1) : (tensor<64x64xf16, #nv_tileas<space tmem>>, tensor<64xf16, #nv_tileas<space tmem>>) -> ()
  func.return
}

// CHECK-LABEL: func.func @while
// CHECK:         %a = nv_tileas.alloc_tensor
// CHECK-NEXT:    %0 = arith.constant 0 : index
// CHECK-NEXT:    %r_offset, %r = scf.while (%row_offset = %0, %i = %one) : (index, i32) -> (index, i32) {
// CHECK-NEXT:      %c = arith.cmpi slt, %i, %n : i32
// CHECK-NEXT:      scf.condition(%c) %row_offset, %i : index, i32
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^{{.*}}(%old_offset: index, %j: i32):
// CHECK-NEXT:      %old = nv_tileas.view %a[%old_offset]
// CHECK-NEXT:      "test.op"(%a, %old)
// CHECK-NEXT:      %k = arith.addi %j, %one : i32
// CHECK-NEXT:      %1 = arith.constant 64 : index
// CHECK-NEXT:      %2 = arith.addi %old_offset, %1 : index
// CHECK-NEXT:      scf.yield %2, %k : index, i32
// CHECK-NEXT:    }
// CHECK-NEXT:    %r_1 = nv_tileas.view %a[%r_offset]
// CHECK-NEXT:    "test.op"(%a, %r_1)

// Branches that give parts of one allocation, one inside a loop and a selection behind it.

func.func @branches(%c: i1, %k: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = nv_tileas.alloc_tensor : tensor<2x64xf16, #nv_tileas<space smem>>
  %x = nv_tileas.view %a : tensor<2x64xf16, #nv_tileas<space smem>> -> tensor<64xf16, #nv_tileas<space smem>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %x) -> (tensor<64xf16, #nv_tileas<space smem>>) {
    %v = scf.if %c -> (tensor<64xf16, #nv_tileas<space smem>>) {
      scf.yield %u : tensor<64xf16, #nv_tileas<space smem>>
    } else {
      %y = nv_tileas.view %a[%k] : tensor<2x64xf16, #nv_tileas<space smem>> -> tensor<64xf16, #nv_tileas<space smem>>
      scf.yield %y : tensor<64xf16, #nv_tileas<space smem>>
    }
    scf.yield %v : tensor<64xf16, #nv_tileas<space smem>>
  }
  %s = arith.select %c, %r, %x : tensor<64xf16, #nv_tileas<space smem>>
  "test.op"(%s) : (tensor<64xf16, #nv_tileas<space smem>>) -> ()
  func.return
}

// CHECK-LABEL: func.func @branches
// CHECK:         %a = nv_tileas.alloc_tensor
// CHECK-NEXT:    %0 = arith.constant 0 : index
// CHECK-NEXT:    %r_offset = scf.for %i = %c0 to %n step %c1 iter_args(%u_offset = %0) -> (index) {
// CHECK-NEXT:      %v_offset = scf.if %c -> (index) {
// CHECK-NEXT:        scf.yield %u_offset : index
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %k : index
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %v_offset : index
// CHECK-NEXT:    }
// CHECK-NEXT:    %1 = arith.constant 0 : index
// CHECK-NEXT:    %s_offset = arith.select %c, %r_offset, %1 : index
// CHECK-NEXT:    %s = nv_tileas.view %a[%s_offset]
// CHECK-NEXT:    "test.op"(%s)

// Parts with gaps begin where no single number tells: the selection moves behind the slice, and what
// is selected then are the numbers of the slice and the buffer that it is cut from.

func.func @slices(%c: i1, %i: index, %j: index) {
  %a = nv_tileas.alloc_tensor : tensor<2x32x32xf16, #nv_tileas<space smem>>
  %v = nv_tileas.view %a : tensor<2x32x32xf16, #nv_tileas<space smem>> -> tensor<32x32xf16, #nv_tileas<space smem>>
  %w = nv_tileas.view %a {offset = 1024} : tensor<2x32x32xf16, #nv_tileas<space smem>> -> tensor<32x32xf16, #nv_tileas<space smem>>
  %x = nv_tileas.extract_slice %v[%i, 0][16, 16][1, 1] : tensor<32x32xf16, #nv_tileas<space smem>> -> tensor<16x16xf16, #nv_tileas<space smem>>
  %y = nv_tileas.extract_slice %w[%j, 0][16, 16][1, 1] : tensor<32x32xf16, #nv_tileas<space smem>> -> tensor<16x16xf16, #nv_tileas<space smem>>
  %s = arith.select %c, %x, %y : tensor<16x16xf16, #nv_tileas<space smem>>
  "test.op"(%s) : (tensor<16x16xf16, #nv_tileas<space smem>>) -> ()
  func.return
}

// CHECK-LABEL: func.func @slices
// CHECK-NEXT:    %a = nv_tileas.alloc_tensor
// CHECK-NEXT:    %0 = arith.constant 0 : index
// CHECK-NEXT:    %1 = arith.constant 1024 : index
// CHECK-NEXT:    %2 = arith.select %c, %0, %1 : index
// CHECK-NEXT:    %3 = nv_tileas.view %a[%2]
// CHECK-NEXT:    %4 = arith.select %c, %i, %j : index
// CHECK-NEXT:    %s = nv_tileas.extract_slice %3[%4, 0][16, 16][1, 1]
// CHECK-NEXT:    "test.op"(%s)

// What a stage of a pipeline holds is a buffer like an allocation.

func.func @stage(%view: !nv_tileas.tiled_view<2x128xf32, smem>, %c: i1) {
  %p, %q = nv_tileas.async.pipeline.create_pipeline %view {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x128xf32, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
  %i = nv_tileas.async.pipeline.create_iterator %q : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.iterator<tensor<2x64xf32, #nv_tileas<space smem>>, 2, smem>
  %t = nv_tileas.async.pipeline.consume_one %q, %i {consumer_idx = 0 : i32, consumer_types = [tensor<2x64xf32, #nv_tileas<space smem>>]} : (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tensor<2x64xf32, #nv_tileas<space smem>>, 2, smem>) -> (!nv_tileas.async.pipeline.consumer_token) {
  ^bb0(%b: tensor<2x64xf32, #nv_tileas<space smem>>):
    %v = nv_tileas.view %b : tensor<2x64xf32, #nv_tileas<space smem>> -> tensor<64xf32, #nv_tileas<space smem>>
    %w = nv_tileas.view %b {offset = 64} : tensor<2x64xf32, #nv_tileas<space smem>> -> tensor<64xf32, #nv_tileas<space smem>>
    %s = arith.select %c, %v, %w : tensor<64xf32, #nv_tileas<space smem>>
    "test.op"(%s) : (tensor<64xf32, #nv_tileas<space smem>>) -> ()
    nv_tileas.async.pipeline.yield %b : tensor<2x64xf32, #nv_tileas<space smem>>
  }
  func.return
}

// CHECK-LABEL: func.func @stage
// CHECK:           %s_offset = arith.select %c, %{{.*}}, %{{.*}} : index
// CHECK-NEXT:      %s = nv_tileas.view %b[%s_offset]
// CHECK-NEXT:      "test.op"(%s)

// Layouts that agree: slots of a buffer whose layout is theirs, one behind the other.

func.func @same_layout(%c: i1) {
  %a = nv_tileas.alloc_tensor : tensor<16x64xf16, #nv_tileas.shared<(16,64),(64,1),swizzle<3,4,3>>>
  %v = nv_tileas.view %a : tensor<16x64xf16, #nv_tileas.shared<(16,64),(64,1),swizzle<3,4,3>>> -> tensor<8x64xf16, #nv_tileas.shared<(8,64),(64,1),swizzle<3,4,3>>>
  %w = nv_tileas.view %a {offset = 512} : tensor<16x64xf16, #nv_tileas.shared<(16,64),(64,1),swizzle<3,4,3>>> -> tensor<8x64xf16, #nv_tileas.shared<(8,64),(64,1),swizzle<3,4,3>>>
  %s = arith.select %c, %v, %w : tensor<8x64xf16, #nv_tileas.shared<(8,64),(64,1),swizzle<3,4,3>>>
  "test.op"(%s) : (tensor<8x64xf16, #nv_tileas.shared<(8,64),(64,1),swizzle<3,4,3>>>) -> ()
  func.return
}

// CHECK-LABEL: func.func @same_layout
// CHECK:         %s = nv_tileas.view %a[%s_offset]
// CHECK-NEXT:    "test.op"(%s)

// Layouts that differ: each user gets a copy in the layout that it sees, made when it reads.

func.func @other_layout(%c: i1) -> tensor<8x16xf32> {
  %a = nv_tileas.alloc_tensor : tensor<2x8x16xf32, #nv_tileas.shared<(2,8,16),(128,16,1)>>
  %v = nv_tileas.view %a : tensor<2x8x16xf32, #nv_tileas.shared<(2,8,16),(128,16,1)>> -> tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>>
  %w = nv_tileas.view %a {offset = 128} : tensor<2x8x16xf32, #nv_tileas.shared<(2,8,16),(128,16,1)>> -> tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>>
  %s = arith.select %c, %v, %w : tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>>
  "test.op"() : () -> ()
  %x = nv_tileas.convert_layout %s : tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>> -> tensor<8x16xf32>
  func.return %x : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @other_layout
// CHECK:         %s_offset = arith.select %c, %{{.*}}, %{{.*}} : index
// CHECK-NEXT:    "test.op"()
// CHECK-NEXT:    %[[W:.*]] = nv_tileas.view %a[%s_offset] : {{.*}} -> tensor<8x16xf32, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[R:.*]] = nv_tileas.alloc_tensor : tensor<8x16xf32, #nv_tileas<space rmem>>
// CHECK-NEXT:    nv_tileas.copy %[[W]], %[[R]] {atom = #nv_tileas<atom unknown_copy>}
// CHECK-NEXT:    %s = nv_tileas.alloc_tensor : tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>>
// CHECK-NEXT:    nv_tileas.copy %[[R]], %s {atom = #nv_tileas<atom unknown_copy>}
// CHECK-NEXT:    %x = nv_tileas.convert_layout %s

// Layouts that differ, where the user may write or read later: it sees the buffer under that layout,
// as it did before.

func.func @kept_layout(%c: i1, %zero: index, %slot: index) {
  %a = nv_tileas.alloc_tensor : tensor<2x8x16xf32, #nv_tileas.shared<(2,8,16),(128,16,1)>>
  %v = nv_tileas.view %a[%zero] : tensor<2x8x16xf32, #nv_tileas.shared<(2,8,16),(128,16,1)>> -> tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>>
  %w = nv_tileas.view %a[%slot] : tensor<2x8x16xf32, #nv_tileas.shared<(2,8,16),(128,16,1)>> -> tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>>
  %s = arith.select %c, %v, %w : tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>>
  "test.op"(%s) : (tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>>) -> ()
  func.return
}

// CHECK-LABEL: func.func @kept_layout
// CHECK:         %s_offset = arith.select %c, %zero, %slot : index
// CHECK-NEXT:    %s = nv_tileas.view %a[%s_offset] : {{.*}} -> tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>>
// CHECK-NEXT:    "test.op"(%s)

// Not dropped: what a loop counts by position.  The number takes the place of the buffer.

func.func @counted(%n: index, %x: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = nv_tileas.alloc_tensor : tensor<64xf16, #nv_tileas<space smem>>
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%buf = %a, %t = %x) -> (tensor<64xf16, #nv_tileas<space smem>>, i32) {
    %y = "test.op"(%buf, %t) : (tensor<64xf16, #nv_tileas<space smem>>, i32) -> i32
    scf.yield %buf, %y : tensor<64xf16, #nv_tileas<space smem>>, i32
  } {token_iter_idx = 1 : i32}
  func.return
}

// CHECK-LABEL: func.func @counted
// CHECK:         %r_offset, %s = scf.for %i = %c0 to %n step %c1 iter_args(%buf_offset = %0, %t = %x) -> (index, i32) {
// CHECK-NEXT:      %y = "test.op"(%a, %t)
// CHECK-NEXT:      %1 = arith.constant 0 : index
// CHECK-NEXT:      scf.yield %1, %y : index, i32
// CHECK-NEXT:    } {token_iter_idx = 1 : i32}

// Not: functions without tiles, unstructured control flow without buffers, views that nobody merges.

func.func @others(%c: i1, %x: f32) -> f32 {
  %a = nv_tileas.alloc_tensor : tensor<2x64xf16, #nv_tileas<space smem>>
  %v = nv_tileas.view %a {offset = 64} : tensor<2x64xf16, #nv_tileas<space smem>> -> tensor<64xf16, #nv_tileas<space smem>>
  "test.op"(%v) : (tensor<64xf16, #nv_tileas<space smem>>) -> ()
  cf.br ^next(%x : f32)
^next(%y: f32):
  func.return %y : f32
}

// CHECK-LABEL: func.func @others
// CHECK-NEXT:    %a = nv_tileas.alloc_tensor
// CHECK-NEXT:    %v = nv_tileas.view %a {offset = 64 : i64}
// CHECK-NEXT:    "test.op"(%v)
// CHECK-NEXT:    cf.br
