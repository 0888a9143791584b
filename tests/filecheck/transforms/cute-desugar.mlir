// The sugar of `cute` becomes primitives, in three ordered phases.

// RUN: tileas-opt %s --split-input-file -p cute-desugar | filecheck %s

// make_layout -> make_int_tuple + make_layout_raw: a tuple for the shape and one for the strides,
// operands in their order (seed 002, "Per-Atom Desugar Rewrites").

func.func @make_layout(%M: i32, %N: i32, %K: i32, %s_M: i32, %s_N: i32, %s_K: i32) -> !cute.layout<"(?,?,?):(?,?,?)"> {
  %L = cute.make_layout(shape = (%M, %N, %K), stride = (%s_M, %s_N, %s_K)) : !cute.layout
  func.return %L : !cute.layout<"(?,?,?):(?,?,?)">
}

// CHECK-LABEL: @make_layout
// CHECK-NEXT: %[[V0:.+]] = cute.make_int_tuple(%M, %N, %K) : (i32, i32, i32) -> !cute.int_tuple<"(?,?,?)">
// CHECK-NEXT: %[[V1:.+]] = cute.make_int_tuple(%s_M, %s_N, %s_K) : (i32, i32, i32) -> !cute.int_tuple<"(?,?,?)">
// CHECK-NEXT: %L = cute.make_layout_raw(%[[V0]], %[[V1]]) : (!cute.int_tuple<"(?,?,?)">, !cute.int_tuple<"(?,?,?)">) -> !cute.layout<"(?,?,?):(?,?,?)">
// CHECK-NEXT: func.return %L : !cute.layout<"(?,?,?):(?,?,?)">

// -----

// make_shape and make_stride -> tuple construction: the kind stands in the result type.

func.func @make_shape(%M: i32, %N: i32) -> (!cute.shape<"(?,?)">, !cute.stride<"(?,?)">) {
  %S = cute.make_shape (%M, %N) : !cute.shape
  %D = cute.make_stride (%N, %M) : !cute.stride
  func.return %S, %D : !cute.shape<"(?,?)">, !cute.stride<"(?,?)">
}

// CHECK-LABEL: @make_shape
// CHECK-NEXT: %S = cute.make_int_tuple(%M, %N) : (i32, i32) -> !cute.shape<"(?,?)">
// CHECK-NEXT: %D = cute.make_int_tuple(%N, %M) : (i32, i32) -> !cute.stride<"(?,?)">
// CHECK-NEXT: func.return %S, %D : !cute.shape<"(?,?)">, !cute.stride<"(?,?)">

// -----

// make_coord and make_tile -> tuple construction + kind tag.

func.func @make_coord(%i: i32, %j: i32, %k: i32, %M: i32, %N: i32, %K: i32) -> (!cute.coord<"(?,?,?)">, !cute.tile<"[?:1;?:1;?:1]">) {
  %C = cute.make_coord %i, %j, %k : !cute.coord
  %T = cute.make_tile %M, %N, %K : !cute.tile
  func.return %C, %T : !cute.coord<"(?,?,?)">, !cute.tile<"[?:1;?:1;?:1]">
}

// CHECK-LABEL: @make_coord
// CHECK-NEXT: %C = cute.make_int_tuple(%i, %j, %k) : (i32, i32, i32) -> !cute.coord<"(?,?,?)">
// CHECK-NEXT: %T = cute.make_int_tuple(%M, %N, %K) : (i32, i32, i32) -> !cute.tile<"[?:1;?:1;?:1]">
// CHECK-NEXT: func.return %C, %T : !cute.coord<"(?,?,?)">, !cute.tile<"[?:1;?:1;?:1]">

// -----

// make_composed_layout -> outer + inner + offset: the only sugar that emits more than one primitive
// of its own.  The offset is a coordinate of the outer layout.

func.func @make_composed_layout(%outer: !cute.layout<"(8,64):(64,1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)"> {
  %C = cute.make_composed_layout(outer = %outer, swizzle = swizzle<3, 4, 3>, offset = (0, 0)) : !cute.layout
  func.return %C : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
}

// CHECK-LABEL: @make_composed_layout
// CHECK-NEXT: %[[V0:.+]] = cute.make_swizzle 3, 4, 3 : !cute.swizzle<"S<3,4,3>">
// CHECK-NEXT: %[[V1:.+]] = cute.make_int_tuple() : () -> !cute.int_tuple<"(0,0)">
// CHECK-NEXT: %C = cute.make_composed_layout_raw(%outer, %[[V0]], %[[V1]]) : (!cute.layout<"(8,64):(64,1)">, !cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"(0,0)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
// CHECK-NEXT: func.return %C : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">

// -----

// View construction -> layout extraction + make_view.

func.func @make_tensor(%tensor: !cute.memref<f32, gmem, "(?,4):(4,1)">) -> !cute.memref<f32, gmem, "(?,4):(4,1)"> {
  %v = cute.make_tensor %tensor : !cute.view
  func.return %v : !cute.memref<f32, gmem, "(?,4):(4,1)">
}

// CHECK-LABEL: @make_tensor
// CHECK-NEXT: %[[V0:.+]] = cute.get_layout(%tensor) : (!cute.memref<f32, gmem, "(?,4):(4,1)">) -> !cute.layout<"(?,4):(4,1)">
// CHECK-NEXT: %[[V1:.+]] = cute.get_iter(%tensor) : (!cute.memref<f32, gmem, "(?,4):(4,1)">) -> !cute.ptr<f32, gmem>
// CHECK-NEXT: %v = cute.make_view(%[[V1]], %[[V0]]) : (!cute.ptr<f32, gmem>, !cute.layout<"(?,4):(4,1)">) -> !cute.memref<f32, gmem, "(?,4):(4,1)">
// CHECK-NEXT: func.return %v : !cute.memref<f32, gmem, "(?,4):(4,1)">

// -----

// equal over views or layouts -> shape equality + stride equality + andi.

func.func @equal(%L1: !cute.layout<"(?,4):(?,1)">, %L2: !cute.layout<"(?,4):(8,1)">) -> i1 {
  %r = cute.equal(%L1, %L2) : i1
  func.return %r : i1
}

// CHECK-LABEL: @equal
// CHECK-NEXT: %[[V0:.+]] = cute.get_shape(%L1) : (!cute.layout<"(?,4):(?,1)">) -> !cute.shape<"(?,4)">
// CHECK-NEXT: %[[V1:.+]] = cute.get_shape(%L2) : (!cute.layout<"(?,4):(8,1)">) -> !cute.shape<"(?,4)">
// CHECK-NEXT: %[[V2:.+]] = cute.get_stride(%L1) : (!cute.layout<"(?,4):(?,1)">) -> !cute.stride<"(?,1)">
// CHECK-NEXT: %[[V3:.+]] = cute.get_stride(%L2) : (!cute.layout<"(?,4):(8,1)">) -> !cute.stride<"(8,1)">
// CHECK-NEXT: %[[V4:.+]] = cute.tuple_eq(%[[V0]], %[[V1]]) : (!cute.shape<"(?,4)">, !cute.shape<"(?,4)">) -> i1
// CHECK-NEXT: %[[V5:.+]] = cute.tuple_eq(%[[V2]], %[[V3]]) : (!cute.stride<"(?,1)">, !cute.stride<"(8,1)">) -> i1
// CHECK-NEXT: %r = arith.andi %[[V4]], %[[V5]] : i1
// CHECK-NEXT: func.return %r : i1

// -----

// Dynamic print -> coord loop, over the flat indices of the view.

func.func @print(%v: !cute.memref<f32, gmem, "(?,4):(4,1)">) {
  cute.print(%v) <{fmt = "(%d,%d) = %f"}> : (!cute.memref<f32, gmem, "(?,4):(4,1)">) -> ()
  func.return
}

// CHECK-LABEL: @print
// CHECK-NEXT: %[[V0:.+]] = cute.get_shape(%v) : (!cute.memref<f32, gmem, "(?,4):(4,1)">) -> !cute.shape<"(?,4)">
// CHECK-NEXT: %[[V1:.+]] = cute.size(%[[V0]]) : (!cute.shape<"(?,4)">) -> !cute.int_tuple<"?{div=4}">
// CHECK-NEXT: %[[V2:.+]] = cute.get_scalars(%[[V1]]) : (!cute.int_tuple<"?{div=4}">) -> i32
// CHECK-NEXT: %[[V3:.+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[V4:.+]] = arith.constant 1 : i32
// CHECK-NEXT: scf.for %[[V5:.+]] = %[[V3]] to %[[V2]] step %[[V4]] : i32 {
// CHECK-NEXT: %[[V6:.+]] = cute.make_int_tuple(%[[V5]]) : (i32) -> !cute.int_tuple<"?">
// CHECK-NEXT: %[[V7:.+]] = cute.idx2crd(%[[V6]], %[[V0]]) : (!cute.int_tuple<"?">, !cute.shape<"(?,4)">) -> !cute.coord<"(?,?)">
// CHECK-NEXT: %[[V8:.+]] = cute.memref.load(%v, %[[V7]]) : (!cute.memref<f32, gmem, "(?,4):(4,1)">, !cute.coord<"(?,?)">) -> f32
// CHECK-NEXT: %[[V9:.+]], %[[V10:.+]] = cute.get_scalars(%[[V7]]) : (!cute.coord<"(?,?)">) -> (i32, i32)
// CHECK-NEXT: cute.print(%[[V9]], %[[V10]], %[[V8]]) <{fmt = "(%d,%d) = %f"}> : (i32, i32, f32) -> ()
// CHECK-NEXT: }
// CHECK-NEXT: func.return

// -----

// Equal static tuples are one value, wherever they are made: both layouts are one, too.

func.func @one_value(%c: i1) -> (!cute.layout<"(2,3):(1,2)">, !cute.layout<"(2,3):(1,2)">) {
  %a = cute.make_shape() : () -> !cute.shape<"(2,3)">
  %b = cute.static : !cute.shape<"(2,3)">
  %La = cute.make_layout(%a) : !cute.layout
  %Lb = cute.make_layout(%b) : !cute.layout
  func.return %La, %Lb : !cute.layout<"(2,3):(1,2)">, !cute.layout<"(2,3):(1,2)">
}

// CHECK-LABEL: @one_value
// CHECK-NEXT: %a = cute.make_int_tuple() : () -> !cute.shape<"(2,3)">
// CHECK-NEXT: %[[V0:.+]] = cute.make_int_tuple() : () -> !cute.int_tuple<"(1,2)">
// CHECK-NEXT: %La = cute.make_layout_raw(%a, %[[V0]]) : (!cute.shape<"(2,3)">, !cute.int_tuple<"(1,2)">) -> !cute.layout<"(2,3):(1,2)">
// CHECK-NEXT: func.return %La, %La : !cute.layout<"(2,3):(1,2)">, !cute.layout<"(2,3):(1,2)">

// -----

// Strides that are left out are computed; what they are multiples of is kept.

func.func @compact(%M: i32, %N: i32) -> !cute.layout<"(4,?,?):(1,4,?{div=4})"> {
  %L = cute.make_layout(shape = (4, %M, %N)) : !cute.layout
  func.return %L : !cute.layout<"(4,?,?):(1,4,?{div=4})">
}

// CHECK-LABEL: @compact
// CHECK-NEXT: %[[V0:.+]] = cute.make_int_tuple(%M, %N) : (i32, i32) -> !cute.int_tuple<"(4,?,?)">
// CHECK-NEXT: %[[V1:.+]] = arith.constant 4 : i32
// CHECK-NEXT: %[[V2:.+]] = arith.muli %M, %[[V1]] : i32
// CHECK-NEXT: %[[V3:.+]] = cute.assume(%[[V2]]) : (i32) -> !cute.i32<divby 4>
// CHECK-NEXT: %[[V4:.+]] = cute.make_int_tuple(%[[V3]]) : (!cute.i32<divby 4>) -> !cute.int_tuple<"(1,4,?{div=4})">
// CHECK-NEXT: %L = cute.make_layout_raw(%[[V0]], %[[V4]]) : (!cute.int_tuple<"(4,?,?)">, !cute.int_tuple<"(1,4,?{div=4})">) -> !cute.layout<"(4,?,?):(1,4,?{div=4})">
// CHECK-NEXT: func.return %L : !cute.layout<"(4,?,?):(1,4,?{div=4})">

// -----

// make_atom: what the type says becomes attributes, once: the extents and elements of a product, the
// bits and threads of a copy.

!mma = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!load = !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x16>

func.func @make_atom() -> (!mma, !load) {
  %product = cute.make_atom() : () -> !mma
  %copy = cute.make_atom() : () -> !load
  func.return %product, %copy : !mma, !load
}

// CHECK-LABEL: @make_atom
// CHECK-NEXT: %product = cute.make_atom() <{atom = {shape_mnk = array<i32: 64, 8, 16>, elem_a = f16, elem_b = f16, elem_c = f32, elem_d = f32}}> : () -> !mma
// CHECK-NEXT: %copy = cute.make_atom() <{atom = {copy_bits = 512 : i32, threads = 32 : i32}}> : () -> !load
// CHECK-NEXT: func.return %product, %copy
