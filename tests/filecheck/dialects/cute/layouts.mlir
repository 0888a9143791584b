// Layouts and their algebra; the result types are inferred.

// RUN: tileas-opt %s --split-input-file | filecheck %s
// RUN: tileas-opt %s --split-input-file | tileas-opt --split-input-file | filecheck %s

// Layouts: functions of coordinates to offsets; the static part is in the type.

func.func @made(%M: i32, %s: i64) {
  %S = cute.make_shape(%M) : (i32) -> !cute.shape<"(4,?)">
  %a = cute.make_layout(%S) : !cute.layout
  %b = cute.make_layout(shape = (4, 3)) : !cute.layout
  %c = cute.make_layout(shape = (%M, 64), stride = (%s, 1)) : !cute.layout
  %o = cute.static : !cute.int_tuple<"(1,0)">
  %d = cute.make_ordered_layout(%S, %o) : !cute.layout
  %e = cute.make_identity_layout(%S) : !cute.layout
  %f = cute.make_identity_tensor(%S) : !cute.view
  %g = cute.make_layout_like(%b) : !cute.layout
  func.return
}

// CHECK-LABEL: @made
// CHECK-NEXT: %S = cute.make_shape(%M) : (i32) -> !cute.shape<"(4,?)">
// CHECK-NEXT: %a = cute.make_layout(%S) : (!cute.shape<"(4,?)">) -> !cute.layout<"(4,?):(1,4)">
// CHECK-NEXT: %b = cute.make_layout(shape = (4, 3)) : () -> !cute.layout<"(4,3):(1,4)">
// CHECK-NEXT: %c = cute.make_layout(shape = (%M, 64), stride = (%s, 1)) : (i32, i64) -> !cute.layout<"(?,64):(?{i64},1)">
// CHECK-NEXT: %o = cute.static : !cute.int_tuple<"(1,0)">
// CHECK-NEXT: %d = cute.make_ordered_layout(%S, %o) : (!cute.shape<"(4,?)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(4,?):(?,1)">
// CHECK-NEXT: %e = cute.make_identity_layout(%S) : (!cute.shape<"(4,?)">) -> !cute.layout<"(4,?):(1@0,1@1)">
// CHECK-NEXT: %f = cute.make_identity_tensor(%S) : (!cute.shape<"(4,?)">) -> !cute.coord_tensor<"(0,0)", "(4,?):(1@0,1@1)">
// CHECK-NEXT: %g = cute.make_layout_like(%b) : (!cute.layout<"(4,3):(1,4)">) -> !cute.layout<"(4,3):(1,4)">
// CHECK-NEXT: func.return

// -----

// The algebra, with the numbers of CuTe.

func.func @algebra() {
  %a = cute.static : !cute.layout<"(4,2):(1,4)">
  %b = cute.coalesce(%a) : !cute.layout
  %c = cute.static : !cute.layout<"8:2">
  %d = cute.static : !cute.layout<"4:1">
  %e = cute.composition(%c, %d) : !cute.layout
  %f = cute.composition(%d, %c) : !cute.layout
  %g = cute.static : !cute.layout<"4:32">
  %n = cute.static : !cute.int_tuple<"256">
  %h = cute.complement(%g, %n) : !cute.layout
  %i = cute.static : !cute.layout<"(4,3):(1,0)">
  %j = cute.filter_zeros(%i) : !cute.layout
  %k = cute.filter(%i) : !cute.layout
  %l = cute.static : !cute.layout<"(4,2):(2,1)">
  %m = cute.right_inverse(%l) : !cute.layout
  %sw = cute.make_swizzle 3, 3, 3 : !cute.swizzle
  %p = cute.composition(%sw, %a) : !cute.composed_layout
  func.return
}

// CHECK-LABEL: @algebra
// CHECK-NEXT: %a = cute.static : !cute.layout<"(4,2):(1,4)">
// CHECK-NEXT: %b = cute.coalesce(%a) : (!cute.layout<"(4,2):(1,4)">) -> !cute.layout<"8:1">
// CHECK-NEXT: %c = cute.static : !cute.layout<"8:2">
// CHECK-NEXT: %d = cute.static : !cute.layout<"4:1">
// CHECK-NEXT: %e = cute.composition(%c, %d) : (!cute.layout<"8:2">, !cute.layout<"4:1">) -> !cute.layout<"4:2">
// CHECK-NEXT: %f = cute.composition(%d, %c) : (!cute.layout<"4:1">, !cute.layout<"8:2">) -> !cute.layout<"8:2">
// CHECK-NEXT: %g = cute.static : !cute.layout<"4:32">
// CHECK-NEXT: %n = cute.static : !cute.int_tuple<"256">
// CHECK-NEXT: %h = cute.complement(%g, %n) : (!cute.layout<"4:32">, !cute.int_tuple<"256">) -> !cute.layout<"(32,2):(1,128)">
// CHECK-NEXT: %i = cute.static : !cute.layout<"(4,3):(1,0)">
// CHECK-NEXT: %j = cute.filter_zeros(%i) : (!cute.layout<"(4,3):(1,0)">) -> !cute.layout<"(4,1):(1,0)">
// CHECK-NEXT: %k = cute.filter(%i) : (!cute.layout<"(4,3):(1,0)">) -> !cute.layout<"4:1">
// CHECK-NEXT: %l = cute.static : !cute.layout<"(4,2):(2,1)">
// CHECK-NEXT: %m = cute.right_inverse(%l) : (!cute.layout<"(4,2):(2,1)">) -> !cute.layout<"(2,4):(4,1)">
// CHECK-NEXT: %sw = cute.make_swizzle 3, 3, 3 : !cute.swizzle<"S<3,3,3>">
// CHECK-NEXT: %p = cute.composition(%sw, %a) : (!cute.swizzle<"S<3,3,3>">, !cute.layout<"(4,2):(1,4)">) -> !cute.composed_layout<"S<3,3,3> o 0 o (4,2):(1,4)">
// CHECK-NEXT: func.return

// -----

// Divides: a layout divides the whole domain, a tile mode by mode.

func.func @divides(%M: i32) {
  %a = cute.static : !cute.layout<"128:2">
  %b = cute.static : !cute.layout<"32:1">
  %c = cute.logical_divide(%a, %b) : !cute.layout
  %d = cute.static : !cute.layout<"(128,128):(1,128)">
  %t = cute.static : !cute.tile<"[64:1;64:1]">
  %e = cute.tiled_divide(%d, %t) : !cute.layout
  %f = cute.zipped_divide(%d, %t) : !cute.layout
  %g = cute.flat_divide(%d, %t) : !cute.layout
  %tl = cute.static : !cute.layout<"(64,64):(1,64)">
  %h = cute.tiled_divide(%d, %tl) : !cute.layout
  %i = cute.make_layout(shape = (%M, 128), stride = (1, %M)) : !cute.layout
  %j = cute.zipped_divide(%i, %t) : !cute.layout
  %k = cute.ceil_div(%i, %t) : !cute.shape
  func.return
}

// CHECK-LABEL: @divides
// CHECK-NEXT: %a = cute.static : !cute.layout<"128:2">
// CHECK-NEXT: %b = cute.static : !cute.layout<"32:1">
// CHECK-NEXT: %c = cute.logical_divide(%a, %b) : (!cute.layout<"128:2">, !cute.layout<"32:1">) -> !cute.layout<"(32,4):(2,64)">
// CHECK-NEXT: %d = cute.static : !cute.layout<"(128,128):(1,128)">
// CHECK-NEXT: %t = cute.static : !cute.tile<"[64:1;64:1]">
// CHECK-NEXT: %e = cute.tiled_divide(%d, %t) : (!cute.layout<"(128,128):(1,128)">, !cute.tile<"[64:1;64:1]">) -> !cute.layout<"((64,64),2,2):((1,128),64,8192)">
// CHECK-NEXT: %f = cute.zipped_divide(%d, %t) : (!cute.layout<"(128,128):(1,128)">, !cute.tile<"[64:1;64:1]">) -> !cute.layout<"((64,64),(2,2)):((1,128),(64,8192))">
// CHECK-NEXT: %g = cute.flat_divide(%d, %t) : (!cute.layout<"(128,128):(1,128)">, !cute.tile<"[64:1;64:1]">) -> !cute.layout<"(64,64,2,2):(1,128,64,8192)">
// CHECK-NEXT: %tl = cute.static : !cute.layout<"(64,64):(1,64)">
// CHECK-NEXT: %h = cute.tiled_divide(%d, %tl) : (!cute.layout<"(128,128):(1,128)">, !cute.layout<"(64,64):(1,64)">) -> !cute.layout<"((64,64),4):((1,64),4096)">
// CHECK-NEXT: %i = cute.make_layout(shape = (%M, 128), stride = (1, %M)) : (i32, i32) -> !cute.layout<"(?,128):(1,?)">
// CHECK-NEXT: %j = cute.zipped_divide(%i, %t) : (!cute.layout<"(?,128):(1,?)">, !cute.tile<"[64:1;64:1]">) -> !cute.layout<"((64,64),(?,2)):((1,?),(64,?{div=64}))">
// CHECK-NEXT: %k = cute.ceil_div(%i, %t) : (!cute.layout<"(?,128):(1,?)">, !cute.tile<"[64:1;64:1]">) -> !cute.shape<"(?,2)">
// CHECK-NEXT: func.return

// -----

// Products.

func.func @products() {
  %a = cute.static : !cute.layout<"128:1">
  %b = cute.static : !cute.layout<"4:1">
  %c = cute.logical_product(%a, %b) : !cute.layout
  %d = cute.static : !cute.layout<"4:32">
  %e = cute.logical_product(%a, %d) : !cute.layout
  %f = cute.static : !cute.layout<"(2,2):(1,2)">
  %g = cute.blocked_product(%f, %f) : !cute.layout
  %h = cute.raked_product(%f, %f) : !cute.layout
  %i = cute.static : !cute.layout<"(8,64):(64,1)">
  %s = cute.static : !cute.shape<"(128,64)">
  %o = cute.static : !cute.int_tuple<"(0,1)">
  %j = cute.tile_to_shape(%i, %s, %o) : !cute.layout
  func.return
}

// CHECK-LABEL: @products
// CHECK-NEXT: %a = cute.static : !cute.layout<"128:1">
// CHECK-NEXT: %b = cute.static : !cute.layout<"4:1">
// CHECK-NEXT: %c = cute.logical_product(%a, %b) : (!cute.layout<"128:1">, !cute.layout<"4:1">) -> !cute.layout<"(128,4):(1,128)">
// CHECK-NEXT: %d = cute.static : !cute.layout<"4:32">
// CHECK-NEXT: %e = cute.logical_product(%a, %d) : (!cute.layout<"128:1">, !cute.layout<"4:32">) -> !cute.layout<"(128,4):(1,4096)">
// CHECK-NEXT: %f = cute.static : !cute.layout<"(2,2):(1,2)">
// CHECK-NEXT: %g = cute.blocked_product(%f, %f) : (!cute.layout<"(2,2):(1,2)">, !cute.layout<"(2,2):(1,2)">) -> !cute.layout<"((2,2),(2,2)):((1,4),(2,8))">
// CHECK-NEXT: %h = cute.raked_product(%f, %f) : (!cute.layout<"(2,2):(1,2)">, !cute.layout<"(2,2):(1,2)">) -> !cute.layout<"((2,2),(2,2)):((4,1),(8,2))">
// CHECK-NEXT: %i = cute.static : !cute.layout<"(8,64):(64,1)">
// CHECK-NEXT: %s = cute.static : !cute.shape<"(128,64)">
// CHECK-NEXT: %o = cute.static : !cute.int_tuple<"(0,1)">
// CHECK-NEXT: %j = cute.tile_to_shape(%i, %s, %o) : (!cute.layout<"(8,64):(64,1)">, !cute.shape<"(128,64)">, !cute.int_tuple<"(0,1)">) -> !cute.layout<"((8,16),(64,1)):((64,512),(1,0))">
// CHECK-NEXT: func.return

// -----

// Windows of 3 by 3 that move by 2 along the first mode; a view begins in its padding.

func.func @stencils(%v: !cute.coord_tensor<"(0,0)", "(16,8):(1@0,1@1)">) {
  %a = cute.static : !cute.layout<"(16,8):(8,1)">
  %w = cute.static : !cute.shape<"(3,3)">
  %p = cute.static : !cute.int_tuple<"(1,1)">
  %s = cute.static : !cute.int_tuple<"(2,1)">
  %b = cute.stencil_divide(%a, %w, %s) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0>}> : !cute.layout
  %c = cute.stencil_divide(%v, %w, %p, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> : !cute.view
  func.return
}

// CHECK-LABEL: @stencils
// CHECK-NEXT: %a = cute.static : !cute.layout<"(16,8):(8,1)">
// CHECK-NEXT: %w = cute.static : !cute.shape<"(3,3)">
// CHECK-NEXT: %p = cute.static : !cute.int_tuple<"(1,1)">
// CHECK-NEXT: %s = cute.static : !cute.int_tuple<"(2,1)">
// CHECK-NEXT: %b = cute.stencil_divide(%a, %w, %s) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0>}> : (!cute.layout<"(16,8):(8,1)">, !cute.shape<"(3,3)">, !cute.int_tuple<"(2,1)">) -> !cute.layout<"((3,3),(7,6)):((8,1),(16,1))">
// CHECK-NEXT: %c = cute.stencil_divide(%v, %w, %p, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> : (!cute.coord_tensor<"(0,0)", "(16,8):(1@0,1@1)">, !cute.shape<"(3,3)">, !cute.int_tuple<"(1,1)">, !cute.int_tuple<"(1,1)">) -> !cute.coord_tensor<"(-1,-1)", "((3,3),(16,8)):((1@0,1@1),(1@0,1@1))">
// CHECK-NEXT: func.return

// -----

// Modes.

func.func @modes(%L: !cute.layout<"(4,?,8):(1,4,?)">, %i: i32) {
  %a = cute.group_modes(%L) <{begin = 1 : i32, end = 3 : i32}> : !cute.layout
  %b = cute.group_modes(%L) <{begin = -3 : i32, end = -1 : i32}> : !cute.layout
  %c = cute.select(%L) <{mode = [2, 0, 0]}> : !cute.layout
  %k = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,?,_)">
  %d = cute.slice(%L, %k) : !cute.layout
  %e = cute.dice(%L, %k) : !cute.layout
  %f = cute.append_to_rank(%L) <{rank = 4 : i32}> : !cute.layout
  %g = cute.prepend_to_rank(%L) <{rank = 4 : i32}> : !cute.layout
  %h = cute.get(%L) <{mode = [1]}> : !cute.layout
  %m = cute.static : !cute.layout<"(8,4):(1,8)">
  %n = cute.recast_layout(%m) <{new_type_bits = 8 : i32, old_type_bits = 16 : i32}> : !cute.layout
  %p = cute.static : !cute.layout<"(6,4):(1,6)">
  %q = cute.recast_layout(%p) <{new_type_bits = 24 : i32, old_type_bits = 16 : i32}> : !cute.layout
  func.return
}

// CHECK-LABEL: @modes
// CHECK-NEXT: %a = cute.group_modes(%L) <{begin = 1 : i32, end = 3 : i32}> : (!cute.layout<"(4,?,8):(1,4,?)">) -> !cute.layout<"(4,(?,8)):(1,(4,?))">
// CHECK-NEXT: %b = cute.group_modes(%L) <{begin = -3 : i32, end = -1 : i32}> : (!cute.layout<"(4,?,8):(1,4,?)">) -> !cute.layout<"((4,?),8):((1,4),?)">
// CHECK-NEXT: %c = cute.select(%L) <{mode = [2 : i64, 0 : i64, 0 : i64]}> : (!cute.layout<"(4,?,8):(1,4,?)">) -> !cute.layout<"(8,4,4):(?,1,1)">
// CHECK-NEXT: %k = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,?,_)">
// CHECK-NEXT: %d = cute.slice(%L, %k) : (!cute.layout<"(4,?,8):(1,4,?)">, !cute.coord<"(_,?,_)">) -> !cute.layout<"(4,8):(1,?)">
// CHECK-NEXT: %e = cute.dice(%L, %k) : (!cute.layout<"(4,?,8):(1,4,?)">, !cute.coord<"(_,?,_)">) -> !cute.layout<"(?):(4)">
// CHECK-NEXT: %f = cute.append_to_rank(%L) <{rank = 4 : i32}> : (!cute.layout<"(4,?,8):(1,4,?)">) -> !cute.layout<"(4,?,8,1):(1,4,?,0)">
// CHECK-NEXT: %g = cute.prepend_to_rank(%L) <{rank = 4 : i32}> : (!cute.layout<"(4,?,8):(1,4,?)">) -> !cute.layout<"(1,4,?,8):(0,1,4,?)">
// CHECK-NEXT: %h = cute.get(%L) <{mode = [1 : i64]}> : (!cute.layout<"(4,?,8):(1,4,?)">) -> !cute.layout<"?:4">
// CHECK-NEXT: %m = cute.static : !cute.layout<"(8,4):(1,8)">
// CHECK-NEXT: %n = cute.recast_layout(%m) <{new_type_bits = 8 : i32, old_type_bits = 16 : i32}> : (!cute.layout<"(8,4):(1,8)">) -> !cute.layout<"(16,4):(1,16)">
// CHECK-NEXT: %p = cute.static : !cute.layout<"(6,4):(1,6)">
// CHECK-NEXT: %q = cute.recast_layout(%p) <{new_type_bits = 24 : i32, old_type_bits = 16 : i32}> : (!cute.layout<"(6,4):(1,6)">) -> !cute.layout<"(4,4):(1,4)">
// CHECK-NEXT: func.return
