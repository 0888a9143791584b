// What no architecture decides of `cute` becomes the `llvm` dialect.

// RUN: tileas-opt %s --split-input-file -p cute-to-llvm | filecheck %s

// A tuple is a struct of what run time knows; what the type knows is not there.

func.func @tuples(%a: !cute.int_tuple<"(1,?)">, %b: !cute.int_tuple<"(2,?{i64})">, %c: !cute.shape<"(4,8)">) -> !cute.int_tuple<"(3,?{i64})"> {
  %s = cute.tuple_add(%a, %b) : !cute.int_tuple
  func.return %s : !cute.int_tuple<"(3,?{i64})">
}

// CHECK-LABEL: @tuples
// CHECK-NEXT: %[[V0:.+]] = llvm.extractvalue %a[0] : !llvm.struct<(i32)>
// CHECK-NEXT: %[[V1:.+]] = llvm.sext %[[V0]] : i32 to i64
// CHECK-NEXT: %[[V2:.+]] = llvm.extractvalue %b[0] : !llvm.struct<(i64)>
// CHECK-NEXT: %[[V3:.+]] = llvm.add %[[V1]], %[[V2]] : i64
// CHECK-NEXT: %[[V4:.+]] = llvm.mlir.undef : !llvm.struct<(i64)>
// CHECK-NEXT: %s = llvm.insertvalue %[[V3]], %[[V4]][0] : !llvm.struct<(i64)>
// CHECK-NEXT: llvm.return %s : !llvm.struct<(i64)>

// -----

// A layout is a struct of extents and one of strides.

func.func @layout(%M: i32, %d: i32, %i: i32) -> (!cute.layout<"(?,8):(?,1)">, i32) {
  %S = cute.make_int_tuple(%M) : (i32) -> !cute.shape<"(?,8)">
  %D = cute.make_int_tuple(%d) : (i32) -> !cute.stride<"(?,1)">
  %L = cute.make_layout_raw(%S, %D) : !cute.layout
  %c = cute.make_int_tuple(%i) : (i32) -> !cute.coord<"(?,3)">
  %x = cute.crd2idx(%c, %L) : !cute.int_tuple
  %r = cute.get_scalars(%x) : i32
  func.return %L, %r : !cute.layout<"(?,8):(?,1)">, i32
}

// CHECK-LABEL: @layout
// CHECK-NEXT: %[[V0:.+]] = llvm.mlir.undef : !llvm.struct<(!llvm.struct<(i32)>, !llvm.struct<(i32)>)>
// CHECK-NEXT: %[[V1:.+]] = llvm.insertvalue %M, %[[V0]][0, 0] : !llvm.struct<(!llvm.struct<(i32)>, !llvm.struct<(i32)>)>
// CHECK-NEXT: %L = llvm.insertvalue %d, %[[V1]][1, 0] : !llvm.struct<(!llvm.struct<(i32)>, !llvm.struct<(i32)>)>
// CHECK-NEXT: %[[V2:.+]] = llvm.mul %i, %d : i32
// CHECK-NEXT: %[[V3:.+]] = llvm.mlir.constant(3 : i32) : i32
// CHECK-NEXT: %r = llvm.add %[[V2]], %[[V3]] : i32
// CHECK-NEXT: %[[V4:.+]] = llvm.mlir.undef : !llvm.struct<(!llvm.struct<(!llvm.struct<(i32)>, !llvm.struct<(i32)>)>, i32)>
// CHECK-NEXT: %[[V5:.+]] = llvm.insertvalue %L, %[[V4]][0] : !llvm.struct<(!llvm.struct<(!llvm.struct<(i32)>, !llvm.struct<(i32)>)>, i32)>
// CHECK-NEXT: %[[V6:.+]] = llvm.insertvalue %r, %[[V5]][1] : !llvm.struct<(!llvm.struct<(!llvm.struct<(i32)>, !llvm.struct<(i32)>)>, i32)>
// CHECK-NEXT: llvm.return %[[V6]] : !llvm.struct<(!llvm.struct<(!llvm.struct<(i32)>, !llvm.struct<(i32)>)>, i32)>

// -----

// Loads and stores follow the layout of a view, and the swizzle of its pointer.

func.func @views(%p: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>, %i: i32) -> f16 {
  %L = cute.static : !cute.layout<"(8,64):(64,1)">
  %v = cute.make_view(%p, %L) : !cute.view
  %c = cute.make_int_tuple(%i) : (i32) -> !cute.coord<"(?,0)">
  %e = cute.memref.load(%v, %c) : f16
  func.return %e : f16
}

// CHECK-LABEL: @views
// CHECK-NEXT: %[[V0:.+]] = llvm.mlir.constant(64 : i32) : i32
// CHECK-NEXT: %[[V1:.+]] = llvm.mul %i, %[[V0]] : i32
// CHECK-NEXT: %[[V2:.+]] = llvm.getelementptr %p[%[[V1]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f16
// CHECK-NEXT: %[[V3:.+]] = llvm.ptrtoint %[[V2]] : !llvm.ptr<3> to i64
// CHECK-NEXT: %[[V4:.+]] = llvm.mlir.constant(896) : i64
// CHECK-NEXT: %[[V5:.+]] = llvm.and %[[V3]], %[[V4]] : i64
// CHECK-NEXT: %[[V6:.+]] = llvm.mlir.constant(3) : i64
// CHECK-NEXT: %[[V7:.+]] = llvm.lshr %[[V5]], %[[V6]] : i64
// CHECK-NEXT: %[[V8:.+]] = llvm.xor %[[V3]], %[[V7]] : i64
// CHECK-NEXT: %[[V9:.+]] = llvm.inttoptr %[[V8]] : i64 to !llvm.ptr<3>
// CHECK-NEXT: %e = llvm.load %[[V9]] : !llvm.ptr<3> -> f16
// CHECK-NEXT: llvm.return %e : f16

// -----

// Casts and arithmetic of pointers.

func.func @pointers(%p: !cute.ptr<f32, gmem>, %o: !cute.int_tuple<"?">) -> !cute.ptr<f32, gmem> {
  %q = cute.add_offset %p, %o : !cute.ptr<f32, gmem>, !cute.int_tuple<"?"> -> !cute.ptr<f32, gmem>
  %i = cute.ptrtoint %q : !cute.ptr<f32, gmem> -> i64
  %r = cute.inttoptr %i : i64 -> !cute.ptr<f32, gmem>
  func.return %r : !cute.ptr<f32, gmem>
}

// CHECK-LABEL: @pointers
// CHECK-NEXT: %[[V0:.+]] = llvm.extractvalue %o[0] : !llvm.struct<(i32)>
// CHECK-NEXT: %q = llvm.getelementptr %p[%[[V0]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
// CHECK-NEXT: %i = llvm.ptrtoint %q : !llvm.ptr<1> to i64
// CHECK-NEXT: %r = llvm.inttoptr %i : i64 to !llvm.ptr<1>
// CHECK-NEXT: llvm.return %r : !llvm.ptr<1>

// -----

// A descriptor iterator is one struct: pointer, shape, stride, swizzle and rank.

func.func @descriptor(%p: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>, %M: i32) -> !cute.desc_iter<f16, smem, align<1024>, S<3,4,3>, "(?,64):(64,1)"> {
  %S = cute.make_int_tuple(%M) : (i32) -> !cute.shape<"(?,64)">
  %D = cute.static : !cute.stride<"(64,1)">
  %L = cute.make_layout_raw(%S, %D) : !cute.layout
  %v = cute.make_view(%p, %L) : !cute.view
  %d = cute.make_desc_iter(%v) : !cute.iter
  func.return %d : !cute.desc_iter<f16, smem, align<1024>, S<3,4,3>, "(?,64):(64,1)">
}

// CHECK-LABEL: @descriptor
// CHECK-NEXT: %[[V0:.+]] = llvm.mlir.constant(64 : i32) : i32
// CHECK-NEXT: %[[V1:.+]] = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT: %[[V2:.+]] = llvm.mlir.constant(3 : i32) : i32
// CHECK-NEXT: %[[V3:.+]] = llvm.mlir.constant(4 : i32) : i32
// CHECK-NEXT: %[[V4:.+]] = llvm.mlir.constant(2 : i32) : i32
// CHECK-NEXT: %[[V5:.+]] = llvm.mlir.undef : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>
// CHECK-NEXT: %[[V6:.+]] = llvm.insertvalue %p, %[[V5]][0] : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>
// CHECK-NEXT: %[[V7:.+]] = llvm.insertvalue %M, %[[V6]][1, 0] : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>
// CHECK-NEXT: %[[V8:.+]] = llvm.insertvalue %[[V0]], %[[V7]][1, 1] : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>
// CHECK-NEXT: %[[V9:.+]] = llvm.insertvalue %[[V0]], %[[V8]][2, 0] : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>
// CHECK-NEXT: %[[V10:.+]] = llvm.insertvalue %[[V1]], %[[V9]][2, 1] : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>
// CHECK-NEXT: %[[V11:.+]] = llvm.insertvalue %[[V2]], %[[V10]][3, 0] : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>
// CHECK-NEXT: %[[V12:.+]] = llvm.insertvalue %[[V3]], %[[V11]][3, 1] : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>
// CHECK-NEXT: %[[V13:.+]] = llvm.insertvalue %[[V2]], %[[V12]][3, 2] : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>
// CHECK-NEXT: %d = llvm.insertvalue %[[V4]], %[[V13]][4] : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>
// CHECK-NEXT: llvm.return %d : !llvm.struct<(!llvm.ptr<3>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32, i32)>, i32)>

// -----

// Values go through branches as structs; those that are known do not.

func.func @branch(%c: i1, %a: !cute.int_tuple<"(?,4)">, %s: !cute.shape<"8">) -> !cute.int_tuple<"(?,4)"> {
  cf.cond_br %c, ^one(%a, %s : !cute.int_tuple<"(?,4)">, !cute.shape<"8">), ^two
^one(%x: !cute.int_tuple<"(?,4)">, %y: !cute.shape<"8">):
  func.return %x : !cute.int_tuple<"(?,4)">
^two:
  func.return %a : !cute.int_tuple<"(?,4)">
}

// CHECK-LABEL: @branch
// CHECK-NEXT: llvm.cond_br %c, ^bb1(%a : !llvm.struct<(i32)>), ^bb2
// CHECK-NEXT: ^bb1(%x: !llvm.struct<(i32)>):
// CHECK-NEXT: llvm.return %x : !llvm.struct<(i32)>
// CHECK-NEXT: ^bb2:
// CHECK-NEXT: llvm.return %a : !llvm.struct<(i32)>
